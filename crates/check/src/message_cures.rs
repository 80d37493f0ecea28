//! Edits for problems whose messages come from loading, or from the scripts of the ruleset.

use std::ops::Range;

use crate::lints::argument_type::nearest_bound;
use crate::syntax::is_of_name;
use riskbreaker_ruleset::{Cure, Problem, TextChange, find_whole, likeliest, slips};

/// The edits of a problem, the likeliest first, and the sentence that says what to write if it is more exact than the
/// problem's own.
struct Found {
    sentence: Option<String>,
    changes: Vec<TextChange>,
}

impl Found {
    fn of(changes: Vec<TextChange>) -> Found {
        Found { sentence: None, changes }
    }

    fn told(sentence: String, change: TextChange) -> Found {
        Found { sentence: Some(sentence), changes: vec![change] }
    }
}

/// A problem with the text of its file and that of `kinds.luau` in the same ruleset.
struct Place<'p> {
    problem: &'p Problem,
    text: &'p str,
    kinds: &'p str,
}

/// Gives a problem without an edit the one that its message describes, as far as the place is certain. Moves the problem
/// to the value that a script of the ruleset has named.
pub(crate) fn cure_by_message(problem: &mut Problem, text: &str, kinds: &str) {
    // What the label of a number or the fields of a kind say is surer than a name that is near.
    let is_of_profile = problem.message.contains(" names the number `") || problem.message.starts_with("`hit` names `");
    if !is_of_profile && problem.changes_in(text).all().next().is_some() {
        return;
    }
    let place = Place { problem, text, kinds };
    let found = (place.bound())
        .or_else(|| place.one_of())
        .or_else(|| place.point())
        .or_else(|| place.truth_or_number())
        .or_else(|| place.redeclared())
        .or_else(|| place.relation())
        .or_else(|| place.number_at_a_glance())
        .or_else(|| place.seat())
        .or_else(|| place.hit())
        .or_else(|| place.result())
        .or_else(|| place.least())
        .or_else(|| place.own_parent())
        .or_else(|| place.exchanged_rating());
    if let Some(Found { sentence, changes }) = found {
        let mut changes = changes.into_iter();
        problem.change = changes.next();
        problem.choices = changes.collect();
        if let Some(sentence) = sentence {
            problem.cure = Some(sentence.into());
        }
        return;
    }
    let is_of_script = matches!(problem.lint, Some("cast-fails" | "scenario-fails"));
    if let Some((span, meant)) = Some(&place).filter(|_| is_of_script).and_then(Place::suggested) {
        let begin = text[..span.start].rfind('\n').map_or(0, |end| end + 1);
        problem.line = Some(text[..begin].matches('\n').count() as u32 + 1);
        problem.column = Some(text[begin..span.start].chars().count() as u32 + 1);
        problem.cure = Some(Cure::meant_text(&text[span.clone()], &*meant));
        problem.change = Some(TextChange { begin: span.start, end: span.end, text: meant });
    }
}

impl<'p> Place<'p> {
    fn message(&self) -> &'p str {
        &self.problem.message
    }

    /// The names between backticks in the message.
    fn named(&self) -> Vec<&'p str> {
        self.message().split('`').skip(1).step_by(2).collect()
    }

    /// The bytes of the line of the problem.
    fn line(&self) -> Option<Range<usize>> {
        let line = self.text.split_inclusive('\n').nth(self.problem.line?.checked_sub(1)? as usize)?;
        let begin = line.as_ptr() as usize - self.text.as_ptr() as usize;
        Some(begin..begin + line.trim_end().len())
    }

    /// A change of a word in the line of the problem, from a mark in the line on.
    fn in_line(&self, mark: &str, written: &str, code: &str) -> Option<TextChange> {
        let line = self.line()?;
        let from = line.start + self.text[line.clone()].find(mark)?;
        let begin = from + find_whole(&self.text[from..line.end], written)?;
        Some(TextChange { begin, end: begin + written.len(), text: code.to_owned() })
    }

    /// A number that is out of bounds: the nearest bound, or another bound.
    fn bound(&self) -> Option<Found> {
        let message = self.message();
        let (wanted, given) = match message.split_once(" a whole number ") {
            Some((_, rest)) => rest.split_once(", not ").or_else(|| rest.split_once(", and this is the number "))?,
            None => {
                let (given, wanted) = message.strip_prefix("default ")?.split_once(" is not ")?;
                (wanted, given)
            }
        };
        let given: i64 = given.split(' ').next()?.parse().ok()?;
        let number = |mark: &str| {
            let rest = &wanted[wanted.find(mark)? + mark.len()..];
            rest.split([' ', ',']).next()?.parse::<i64>().ok()
        };
        let (least, most) =
            (number("from ").or_else(|| number("at least ")), number(" to ").or_else(|| number("at most ")));
        let bound = nearest_bound(given, (least, most));
        if bound == given {
            return None;
        }
        let written = given.to_string();
        let own = self.in_line("default", &written, &bound.to_string());
        let own = own.or_else(|| self.in_line("", &written, &bound.to_string()))?;
        let (key, old) = if bound > given { ("min", least?) } else { ("max", most?) };
        let key = format!("{key} = ");
        let other = self.in_line(&key, &old.to_string(), &written).or_else(|| {
            let table = self.table()?;
            let begin = table.start + self.text[table].find(&format!("\n{key}{old}"))? + 1 + key.len();
            Some(TextChange { begin, end: begin + old.to_string().len(), text: written.clone() })
        });
        let is_default = message.contains("default");
        Some(Found::of([Some(own), other.filter(|_| is_default)].into_iter().flatten().collect()))
    }

    /// The bytes of the table of a TOML file around the problem.
    fn table(&self) -> Option<Range<usize>> {
        let line = self.line()?;
        let begin = self.text[..line.end].rfind("\n[").map_or(0, |at| at + 1);
        let end = self.text[line.end..].find("\n[").map_or(self.text.len(), |at| line.end + at);
        Some(begin..end)
    }

    /// A text that is none of a list of values.
    fn one_of(&self) -> Option<Found> {
        let (_, rest) = self.message().split_once(" takes one of ")?;
        let (values, given) = rest.rsplit_once(", not ")?;
        let given = given.trim_matches(['`', '"']);
        let values: Vec<&str> = values.split(", ").collect();
        let mark = format!("\"{given}\"");
        let change = |value: &&str| self.in_line(&mark, given, value);
        let meant = likeliest(given, values.iter().copied())?;
        let first = change(&meant)?;
        let others = values.iter().filter(|value| **value != meant).filter_map(change);
        Some(Found::told(format!("did you mean \"{meant}\"?"), first.clone()).or(others))
    }

    /// A number with a point: the whole numbers beside it.
    fn point(&self) -> Option<Found> {
        self.message().strip_prefix("a number with a point")?;
        let line = self.line()?;
        let column = self.problem.column?.checked_sub(1)? as usize;
        let begin = line.start + self.text[line.clone()].char_indices().nth(column)?.0;
        let rest = &self.text[begin..line.end];
        let end = rest
            .find(|letter: char| !(letter.is_ascii_digit() || matches!(letter, '.' | '-' | '_')))
            .unwrap_or(rest.len());
        let number: f64 = rest[..end].replace('_', "").parse().ok()?;
        let change = |number: f64| TextChange { begin, end: begin + end, text: format!("{number:.0}") };
        let (below, above) = (change(number.floor()), change(number.ceil()));
        Some(Found::of(if below == above { vec![below] } else { vec![below, above] }))
    }

    /// A text in quotes for true, false or a number, perhaps with its unit.
    fn truth_or_number(&self) -> Option<Found> {
        let message = self.message();
        let is_truth = message.contains(" is a boolean, not a string") || message.contains(" is not true or false,");
        let is_number = message.contains(" is a number, not a string") || message.contains(" is not a number, as ");
        if !is_truth && !is_number {
            return None;
        }
        let key = *self.named().first()?;
        let line = self.line()?;
        let from = line.start + find_whole(&self.text[line.clone()], key)?;
        let begin = from + self.text[from..line.end].find('"')?;
        let inside = self.text[begin + 1..line.end].split('"').next()?;
        let code = match inside.trim().to_lowercase().as_str() {
            "yes" | "true" | "on" if is_truth => "true".to_owned(),
            "no" | "false" | "off" if is_truth => "false".to_owned(),
            other if is_number => {
                let end = other.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(other.len());
                let unit = other[end..].trim();
                let is_unit = end > 0 && unit.chars().all(|letter| letter.is_alphabetic() || letter == '%');
                is_unit.then(|| other[..end].to_owned())?
            }
            _ => return None,
        };
        let change = TextChange { begin, end: begin + inside.len() + 2, text: code.clone() };
        Some(Found::told(format!("write {key} = {code}, without quotes"), change))
    }

    /// A declaration that should extend the one below it.
    fn redeclared(&self) -> Option<Found> {
        let (_, rest) = self.message().split_once(" is already declared in ")?;
        // Another file of the same folder declares it, too.
        let own = self.problem.path.split('/').next()?;
        let below = rest.split([' ', '/', ',']).next()?;
        if own == below {
            return None;
        }
        let line = self.line()?;
        let key = *self.named().first()?;
        let assigned = line.start + self.text[line.clone()].find(key)? + key.len();
        let value = assigned + self.text[assigned..line.end].find('=')? + 1;
        let begin = value + self.text[value..].len() - self.text[value..].trim_start().len();
        let sentence = "write rb.extend(...) around it, or rb.replace(...) to declare it anew".to_owned();
        match self.text[begin..].chars().next()? {
            '(' => Some(Found::told(sentence, TextChange { begin, end: begin, text: "rb.extend".into() })),
            '{' => {
                let end = begin + 1 + closing_brace(&self.text[begin + 1..])? + 1;
                let text = format!("rb.extend({})", &self.text[begin..end]);
                Some(Found::told(sentence, TextChange { begin, end, text }))
            }
            _ => None,
        }
    }

    /// The fields of a kind whose declaration begins with a code such as `rb.ref(`.
    fn fields(&self, kind: &str, ty: &str) -> Vec<&'p str> {
        let Some(block) = block_of(self.kinds, kind) else { return Vec::new() };
        let declared = self.kinds[block].lines().filter_map(|line| {
            let (name, value) = line.trim().trim_start_matches("fields = {").trim().split_once('=')?;
            let is_name = name.trim().chars().all(is_of_name);
            (is_name && value.trim_start().starts_with(ty)).then_some(name.trim())
        });
        declared.collect()
    }

    /// The ends of a relation: the only other reference of the kind.
    fn relation(&self) -> Option<Found> {
        let names = self.named();
        let (kind, is_twice) = (*names.first()?, self.message().ends_with(" relates the same field twice"));
        if !is_twice && !self.message().contains(" relates `") {
            return None;
        }
        let block = block_of(self.text, kind)?;
        let begin = block.start + self.text[block.clone()].find("relates =")?;
        let list = begin..begin + self.text[begin..].find('}')?;
        let quoted: Vec<&str> = self.text[list.clone()].split('"').skip(1).step_by(2).collect();
        let wrong = if is_twice { *quoted.first()? } else { *names.get(1)? };
        let free: Vec<&str> =
            self.fields(kind, "rb.ref(").into_iter().filter(|field| !quoted.contains(field)).collect();
        let meant = match free.as_slice() {
            [only] => *only,
            several => likeliest(wrong, several.iter().copied())?,
        };
        let mark = format!("\"{wrong}\"");
        let at = begin + self.text[list].rfind(&mark)? + 1;
        let change = TextChange { begin: at, end: at + wrong.len(), text: meant.to_owned() };
        Some(Found::told(format!("did you mean `{meant}`? It is a reference of `{kind}`"), change))
    }

    /// A number at a glance: the field of its label.
    fn number_at_a_glance(&self) -> Option<Found> {
        self.message().contains(" names the number `").then_some(())?;
        let [kind, wrong, ..] = self.named()[..] else { return None };
        let line = self.line()?;
        let mark = format!("\"{wrong}\"");
        let behind = line.start + self.text[line.clone()].find(&mark)? + mark.len();
        let label = self.text[behind..line.end].split('}').next()?.split_once("label = \"").map(|(_, label)| label);
        let label = label.and_then(|label| label.split('"').next()).unwrap_or_default();
        let label = label.to_lowercase().replace(' ', "_");
        let numbers = self.fields(kind, "rb.int(");
        let declares = |block: Range<usize>| {
            let block = &self.kinds[block];
            block.lines().any(|line| line.trim_start().strip_prefix(&*label).is_some_and(|rest| rest.starts_with(" =")))
        };
        let meant = (!label.is_empty() && block_of(self.kinds, kind).is_some_and(declares)).then_some(&*label);
        let meant = meant.or_else(|| likeliest(wrong, numbers.iter().copied())).or(match numbers.as_slice() {
            [only] => Some(*only),
            _ => None,
        })?;
        let change = self.in_line(&mark, wrong, meant)?;
        Some(Found::told(format!("did you mean `{meant}`?"), change))
    }

    /// The field of a seat behind a reference.
    fn seat(&self) -> Option<Found> {
        let (_, rest) = self.message().split_once("`, but a ")?;
        let (kind, _) = rest.split_once(" has no field `")?;
        let wrong = *self.named().last()?;
        let texts = self.fields(kind, "rb.text(");
        let meant = texts.iter().find(|field| **field == "seat").copied();
        let meant = meant.or_else(|| likeliest(wrong, texts.iter().copied())).or(match texts.as_slice() {
            [only] => Some(*only),
            _ => None,
        })?;
        let change = self.in_line("seat", wrong, meant)?;
        Some(Found::told(format!("did you mean `{meant}`? It is a text of `{kind}`"), change))
    }

    /// A part of `hit` that is no field: the only other reference of the kind.
    fn hit(&self) -> Option<Found> {
        self.message().strip_prefix("`hit` names `")?;
        let told = *self.named().get(1)?;
        let parts: Vec<(&str, &str)> = told.split(' ').filter_map(|part| part.split_once('.')).collect();
        for (kind, field) in &parts {
            let kind = kind.trim_start_matches('-');
            let refs = self.fields(kind, "rb.ref(");
            let numbers = self.fields(kind, "rb.int(");
            if refs.is_empty() && numbers.is_empty() || refs.contains(field) || numbers.contains(field) {
                continue;
            }
            let free: Vec<&str> =
                refs.iter().copied().filter(|name| parts.iter().all(|(_, used)| used != name)).collect();
            let meant = likeliest(field, refs.iter().chain(&numbers).copied()).or(match free.as_slice() {
                [only] => Some(*only),
                _ => None,
            })?;
            let mark = format!("{kind}.{field}");
            let change = self.in_line(&mark, field, meant)?;
            return Some(Found::told(format!("`{kind}` has no field `{field}`: write `{kind}.{meant}`"), change));
        }
        None
    }

    /// The kind of a result: what its word means.
    fn result(&self) -> Option<Found> {
        self.message().contains(" is a success, a failure or other, not ").then_some(())?;
        let wrong = self.named().last()?.to_lowercase();
        const SUCCESS: [&str; 8] = ["win", "won", "hit", "good", "yes", "pass", "victory", "true"];
        const FAILURE: [&str; 9] = ["loss", "lose", "lost", "miss", "bad", "no", "fail", "defeat", "false"];
        let kinds = ["success", "failure", "other"];
        let meant = match likeliest(&wrong, kinds) {
            Some(near) => near,
            None if SUCCESS.contains(&wrong.as_str()) => "success",
            None if FAILURE.contains(&wrong.as_str()) => "failure",
            None => "other",
        };
        let mark = format!("\"{wrong}\"");
        let change = |kind: &&str| self.in_line(&mark, &wrong, kind);
        let others = kinds.iter().filter(|kind| **kind != meant).filter_map(change);
        Some(Found::told(format!("write \"{meant}\""), change(&meant)?).or(others))
    }

    /// A least value above the greatest: the default, if that is within the bounds.
    fn least(&self) -> Option<Found> {
        let (least, most) = self.message().strip_prefix("min ")?.split_once(" is more than max ")?;
        let most: i64 = most.parse().ok()?;
        let table = self.text[self.table()?].to_owned();
        let default = table.split_once("default = ").and_then(|(_, rest)| {
            let end = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '-')).unwrap_or(rest.len());
            rest[..end].parse::<i64>().ok()
        });
        let meant = default.filter(|default| *default <= most)?;
        let change = self.in_line("min", least, &meant.to_string())?;
        Some(Found::told(format!("write min = {meant}, or exchange them"), change))
    }

    /// A file of a layer that requires itself: the file of the ruleset below.
    fn own_parent(&self) -> Option<Found> {
        let (_, through) = self.message().strip_prefix("files require each other")?.split_once(", through ")?;
        let (ruleset, inside) = self.problem.path.split_once('/')?;
        let module = inside.strip_suffix(".luau")?;
        if !through.starts_with(ruleset) || !self.problem.path.starts_with(through.trim_end_matches(".luau")) {
            return None;
        }
        let written = format!("require(\"{module}\")");
        let begin = self.text.find(&written)?;
        let text = format!("require(\"@parent/{module}\")");
        let sentence = format!("the file requires itself: write {text} for the file of the ruleset below");
        Some(Found::told(sentence, TextChange { begin, end: begin + written.len(), text }))
    }

    /// A value with its number behind it, where the file has the number first: `"Axe: 5"` for `"5: Axe"`.
    fn exchanged_rating(&self) -> Option<Found> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let line = self.line()?;
        let code = &self.text[line.clone()];
        let begin = line.start + code.find('"')? + 1;
        let value = self.text[begin..line.end].split('"').next()?;
        let (words, number) = value.rsplit_once(':')?;
        let has_first = |line: &str| {
            let value = line.split('"').nth(1).unwrap_or_default();
            value.split_once(':').is_some_and(|(number, _)| is_number(number.trim()))
        };
        let fits = self.message().contains(value) && is_number(number.trim()) && self.text.lines().any(has_first);
        let text = format!("{}: {}", number.trim(), words.trim());
        let change = TextChange { begin, end: begin + value.len(), text: text.clone() };
        fits.then(|| Found::told(format!("write \"{text}\""), change))
    }

    /// The place of the wrong word in the file and the right one, where a script suggests it or lists the possible words.
    fn suggested(&self) -> Option<(Range<usize>, String)> {
        let message = self.message();
        if let Some((before, meant)) = message.rsplit_once("did you mean ") {
            let meant = meant.split('?').next()?.trim_matches(['`', '"']);
            let words: Vec<&str> =
                before.split([' ', ',', ':', ';', '`', '"']).filter(|word| !word.is_empty()).collect();
            let spans = (1..=3).flat_map(|length| words.windows(length).map(|words| words.join(" ")));
            let near = |word: String| Some((slips(&word, meant, 4)?, word)).filter(|(slips, _)| *slips > 0);
            let (distance, wrong) = spans.filter_map(near).filter(|(_, word)| self.only(word).is_some()).min()?;
            let span = self.only(&wrong)?;
            // A name of the same file that is about as near goes before others.
            let begins = |word: &str| word.chars().next() == wrong.chars().next();
            let is_as_near =
                |word: &&str| **word != *wrong && begins(word) && slips(word, &wrong, distance + 1).is_some();
            let own = self.text.split(|letter| !is_of_name(letter)).filter(|word| word.len() > 2).find(is_as_near);
            let own = own.filter(|_| !wrong.contains(' ') && !self.text.contains(meant));
            return Some((span, own.unwrap_or(meant).to_owned()));
        }
        let (before, list) = message.rsplit_once(": ")?;
        let list = list.split(" (").next()?;
        let names =
            [" have ", " are ", "known "].iter().find_map(|mark| list.split_once(*mark).map(|(_, rest)| rest))?;
        let names: Vec<&str> = names.split(", ").flat_map(|name| name.split(" and ")).map(str::trim).collect();
        let wrong = before.rsplit(' ').next()?.trim_matches(['`', '"']);
        let span = self.only(wrong)?;
        let is_small = wrong.chars().all(|letter| !letter.is_uppercase());
        let small: Vec<String> =
            names.iter().map(|name| if is_small { name.to_lowercase() } else { (*name).to_owned() }).collect();
        let free: Vec<&str> =
            small.iter().map(String::as_str).filter(|name| find_whole(self.text, name).is_none()).collect();
        let near = likeliest(wrong, small.iter().map(String::as_str));
        let meant = near.or(match free.as_slice() {
            [only] => Some(*only),
            _ => None,
        })?;
        Some((span, meant.to_owned()))
    }

    /// The only place in the file where a word occurs, outside of comments.
    fn only(&self, word: &str) -> Option<Range<usize>> {
        let begin = find_whole(self.text, word)?;
        let end = begin + word.len();
        let is_once = find_whole(&self.text[end..], word).is_none();
        is_once.then_some(begin..end)
    }
}

impl Found {
    /// Adds further changes, which are less likely.
    fn or(mut self, others: impl Iterator<Item = TextChange>) -> Found {
        self.changes.extend(others);
        self
    }
}

/// The bytes of the declaration of a kind in `kinds.luau`, between its braces.
fn block_of(text: &str, kind: &str) -> Option<Range<usize>> {
    let declares =
        |line: &&str| line.trim_start().strip_prefix(kind).is_some_and(|rest| rest.trim_start().starts_with('='));
    let line = text.lines().find(declares)?;
    let begin = line.as_ptr() as usize - text.as_ptr() as usize;
    let opened = begin + text[begin..].find('{')? + 1;
    Some(opened..opened + closing_brace(&text[opened..])?)
}

/// The byte of the brace that closes the one before a text.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}
