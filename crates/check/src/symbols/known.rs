use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::report::CheckReport;
use crate::symbols::misnumbered::{Misnumbered, misnumbered};
use crate::symbols::names::{NamesOfFiles, WORK_OF_COMPARISON};
use riskbreaker_ruleset::{Cure, Rulebook, Source, Stack, nearest, slips};
use riskbreaker_spec::leading_ids;
use riskbreaker_state::{ENDING, Kind, Schema, Type};
use riskbreaker_work::WorkBudget;

/// The most letters in which a rule id differs from one that may be meant.
const MOST_SLIPS_OF_ID: usize = 4;
/// The most rules that are about as near as the nearest one, if that one is most likely meant.
const FEW_IDS: usize = 2;

/// The names of a ruleset that scripts may use, as far as the check can know them.
pub(crate) struct KnownNames<'r> {
    pub stack: &'r Stack,
    pub rules: Option<&'r Rulebook>,
    pub names: Arc<NamesOfFiles>,
    /// The ids of the rule texts.
    ids: BTreeSet<String>,
    /// The rules with another id than their place in the text says, if scripts name that one.
    pub misnumbered: Vec<Misnumbered>,
    /// The rule texts, which may mention more ids.
    texts: Vec<&'r str>,
    dynamic_switches: AtomicBool,
    /// The work that the check may still do.
    pub budget: WorkBudget,
    /// Rule ids that scripts name although the ruleset has no `RULES.md`.
    pub unwritten: Mutex<BTreeSet<String>>,
}

/// The message of a problem, and its cure.
pub(crate) type Mistake = (String, Cure);

impl<'r> KnownNames<'r> {
    /// Returns what is known of a stack with these names of its files.
    pub fn with_names(
        stack: &'r Stack,
        rules: Option<&'r Rulebook>,
        names: Arc<NamesOfFiles>,
        budget: &WorkBudget,
    ) -> KnownNames<'r> {
        let sources = || stack.parts().iter().filter_map(|part| part.folder.file("RULES.md"));
        let texts: Vec<&str> = sources().map(|source| &*source.text).collect();
        let ids: BTreeSet<String> = texts.iter().flat_map(|text| text.lines()).flat_map(leading_ids).collect();
        let missing = |id: &str| names.times(id) > 0 && !ids.contains(id);
        let misnumbered = sources().flat_map(|source| misnumbered(&source.path, &source.text, missing)).collect();
        let (dynamic_switches, budget) = (AtomicBool::new(false), budget.clone());
        KnownNames {
            stack,
            rules,
            names,
            ids,
            misnumbered,
            texts,
            dynamic_switches,
            budget,
            unwritten: Mutex::default(),
        }
    }

    pub fn schema(&self) -> Option<&'r Schema> {
        self.rules.map(Rulebook::schema)
    }

    pub fn kind(&self, name: &str) -> Option<&'r Kind> {
        let schema = self.schema()?;
        Some(schema.kind(schema.kind_named(name)?))
    }

    /// Spends the work of reading a file. False if the budget is spent.
    pub fn spend_on(&self, source: &Source) -> bool {
        self.spend_on_text(&source.text)
    }

    /// Spends the work of reading a text. False if the budget is spent.
    pub fn spend_on_text(&self, text: &str) -> bool {
        self.budget.spend(text.len() as u64 * CheckReport::WORK_OF_BYTE)
    }

    /// Spends the work of comparing an unknown name with that many others. False if the budget is spent.
    pub fn may_compare(&self, names: usize) -> bool {
        self.budget.spend(names as u64 * WORK_OF_COMPARISON)
    }

    /// Returns the name that a misspelt one is nearest to; `None` if none is near or the budget is spent.
    pub fn nearest<'c>(&self, word: &str, names: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
        nearest(word, names.into_iter().take_while(|_| self.may_compare(1)))
    }

    /// Returns the cure for an unknown name: the name to write instead. It is one that is alike, or else the only one that
    /// nothing mentions, since what should mention that may be what has the wrong name.
    pub fn instead(&self, name: &str, names: &[String]) -> Cure {
        self.instead_among(name, names, |_| true)
    }

    /// The same, where only some of the names can be expected to be mentioned.
    pub fn instead_among(&self, name: &str, names: &[String], is_expected: impl Fn(&str) -> bool) -> Cure {
        let cure = self.instead_alike(name, names);
        if matches!(cure, Cure::Meant { .. }) || names.is_empty() || !self.may_compare(names.len()) {
            return cure;
        }
        // An `id` is a text of the file that declares it.
        let own = |known: &str| usize::from(self.is_declared_with_id(known));
        let is_idle = |known: &&String| {
            is_expected(known) && self.names.reads(known) <= own(known) && self.names.said(known) == 0
        };
        let mut idle = names.iter().filter(is_idle);
        match idle.next().filter(|_| idle.next().is_none()) {
            Some(only) => Cure::meant(name, only.as_str()),
            None => cure,
        }
    }

    /// Whether a card, an item, a hook or a policy has this id.
    fn is_declared_with_id(&self, id: &str) -> bool {
        let Some(rules) = self.rules else { return false };
        rules.card(id).is_some() || rules.has_holder(id) || rules.policies().iter().any(|policy| **policy == *id)
    }

    /// The same for a value of a field that is declared with its values: the declaration mentions each of them once.
    pub fn instead_of_value(&self, given: &str, values: &[String]) -> Cure {
        let cure = self.instead_alike(given, values);
        if matches!(cure, Cure::Meant { .. }) || values.is_empty() || !self.may_compare(values.len()) {
            return cure;
        }
        let is_idle = |known: &&String| self.names.times(known) <= 1 && self.names.said(known) == 0;
        let mut idle = values.iter().filter(is_idle);
        match idle.next().filter(|_| idle.next().is_none()) {
            Some(only) => Cure::meant(given, only.as_str()),
            None => cure,
        }
    }

    /// The same by the letters of the names alone, for words that the host knows.
    pub fn instead_alike(&self, name: &str, names: &[String]) -> Cure {
        if !self.may_compare(names.len()) {
            return "declare it, or use another".into();
        }
        let meant = riskbreaker_ruleset::instead(name, names.iter().map(String::as_str));
        let begins = names.iter().filter(|known| known.len() >= 3 && name.starts_with(known.as_str()));
        match names.len() {
            0 => "there are none".into(),
            17.. if matches!(meant, Cure::Known { .. }) => match begins.max_by_key(|known| known.len()) {
                Some(near) => Cure::meant(name, near.as_str()),
                None => "declare it, or use another".into(),
            },
            _ => meant,
        }
    }

    /// Notes that some script reads switches by computed names.
    pub fn note_dynamic_switches(&self) {
        self.dynamic_switches.store(true, Ordering::Relaxed);
    }

    /// Adds whether a script reads switches by computed names, and the rule ids that it names without a `RULES.md`.
    pub fn note(&self, (dynamic, unwritten): (bool, BTreeSet<String>)) {
        self.dynamic_switches.fetch_or(dynamic, Ordering::Relaxed);
        if let Ok(mut all) = self.unwritten.lock() {
            all.extend(unwritten);
        }
    }

    /// Removes what [`KnownNames::note`] has added, and returns it.
    pub fn take_noted(&self) -> (bool, BTreeSet<String>) {
        let unwritten = self.unwritten.lock().map(|mut all| std::mem::take(&mut *all)).unwrap_or_default();
        (self.dynamic_switches.swap(false, Ordering::Relaxed), unwritten)
    }

    /// Returns the text of a file, by its path with the ruleset's id; empty if there is none.
    pub fn text_of(&self, path: &str) -> &'r str {
        self.names.note_file(path);
        self.stack.text_of(path).unwrap_or_default()
    }

    pub fn reads_switches_by_name(&self) -> bool {
        self.dynamic_switches.load(Ordering::Relaxed)
    }

    /// Returns the problem of a rule id that no rule text has; `None` if the id is known or there are no rule texts.
    pub fn wrong_rule(&self, id: &str) -> Option<Mistake> {
        if self.texts.is_empty() {
            if let Ok(mut unwritten) = self.unwritten.lock() {
                unwritten.insert(id.to_string());
            }
            return None;
        }
        if self.ids.contains(id) || self.texts.iter().any(|text| heads(text, id)) {
            return None;
        }
        // The rule that has another id is reported.
        if self.misnumbered.iter().any(|rule| rule.meant == id) {
            return None;
        }
        // Where all rules are written in some other form, a mention is all that can be found.
        if !self.is_numbered_like(id) && self.texts.iter().any(|text| mentions(text, id)) {
            return None;
        }
        // An id without its hyphen is reported in the rule text.
        if self
            .texts
            .iter()
            .any(|text| ["", " ", "_"].iter().any(|mark| text.contains(&format!("**{}**", id.replace('-', mark)))))
        {
            return None;
        }
        if let Some(twice) = self.id_that_stands_twice(id) {
            let cure = format!("RULES.md has `{twice}` twice: one of them may be `{id}`");
            return Some((format!("the rule `{id}` is in no RULES.md"), cure.into()));
        }
        // What several places name is most likely right there, and wrong in the rule text.
        let near = self.nearest(id, self.ids.iter().map(String::as_str)).filter(|_| self.names.times(id) <= 1);
        // Of many rules with another number, none is likelier than the others.
        let is_one_of_many = |near: &str| {
            let distance = slips(id, near, MOST_SLIPS_OF_ID);
            stem_of(id) == stem_of(near)
                && self.ids.iter().filter(|other| slips(id, other, MOST_SLIPS_OF_ID) == distance).count() > FEW_IDS
        };
        let cure = match near {
            Some(near) if is_one_of_many(near) => {
                format!("name another rule, such as `{near}`, or add the rule to RULES.md").into()
            }
            Some(near) => Cure::MeantRule { written: id.to_owned(), meant: near.to_owned() },
            None => "add the rule to RULES.md, as `- **ID** text`".into(),
        };
        Some((format!("the rule `{id}` is in no RULES.md"), cure))
    }

    /// Whether rules of the stack have ids of the same stem: `ABC-1` is numbered like `ABC-20`.
    pub fn is_numbered_like(&self, id: &str) -> bool {
        let own = stem_of(id);
        own.is_some() && self.ids.iter().any(|known| stem_of(known) == own)
    }

    /// Whether some rule text has the id.
    pub fn is_rule(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// The id that two rules have which begin like this one.
    fn id_that_stands_twice(&self, id: &str) -> Option<String> {
        let own = stem_of(id)?;
        let twice_in = |text: &&str| {
            let mut seen = BTreeSet::new();
            let mut ids = text.lines().flat_map(leading_ids);
            ids.find(|other| stem_of(other) == Some(own) && !seen.insert(other.clone()))
        };
        self.texts.iter().find_map(twice_in)
    }

    /// Returns the names of a sort, such as `seat`; `None` if they cannot be known.
    pub fn names(&self, sort: &str) -> Option<Vec<String>> {
        if sort == "seat" {
            let seats = self.stack.seats();
            let gm = (!seats.contains_key("gm")).then(|| "gm".to_string());
            return (!seats.is_empty()).then(|| seats.keys().cloned().chain(gm).collect());
        }
        if sort == "switch" {
            return Some(self.stack.switches().iter().map(|switch| switch.name.clone()).collect());
        }
        Some(self.rules?.names_of(sort)?.into_iter().map(str::to_string).collect())
    }

    /// Returns the problem of an audience that is no seat and no word such as `everybody`.
    pub fn wrong_audience(&self, name: &str) -> Option<Mistake> {
        if matches!(name, "everybody" | "nobody" | "gm") { None } else { self.wrong_name("seat", name) }
    }

    /// Returns the problem of an unknown name of a sort, with the nearest known name; `None` if the name is known.
    pub fn wrong_name(&self, sort: &str, name: &str) -> Option<Mistake> {
        let names = self.names(sort)?;
        if names.iter().any(|known| known == name) {
            return None;
        }
        // A ruleset without entries leaves the agenda to those that extend it.
        if sort == "entry" && names.is_empty() {
            return None;
        }
        let cure = match sort {
            "hook" | "item" if names.is_empty() => format!("write it: `riskbreaker new {sort} {name}`").into(),
            // The host schedules the end of what is timed.
            "entry" => self.instead_among(name, &names, |known| known != ENDING),
            "seat" => self.instead_among(name, &names, |known| known != "gm"),
            // A card is played without being mentioned.
            "card" => self.instead_alike(name, &names),
            _ => self.instead(name, &names),
        };
        // The only switch that nothing reads is most likely the one that is meant.
        let unread: Vec<&String> =
            names.iter().filter(|known| sort == "switch" && self.names.reads(known) == 0).collect();
        let cure = match (cure, unread.as_slice()) {
            (Cure::Advice(_) | Cure::Known { .. }, [only]) => Cure::meant(name, only.as_str()),
            (cure, _) => cure,
        };
        Some((format!("there is no {sort} `{name}`"), cure))
    }

    /// Returns the problem of a kind that has no such field or derived value; `None` if it has one.
    pub fn wrong_member(&self, kind: &Kind, name: &str, methods: &[&str]) -> Option<Mistake> {
        let members: Vec<String> = kind.members().chain(methods.iter().copied()).map(str::to_string).collect();
        if members.iter().any(|known| known == name) {
            return None;
        }
        Some((
            format!("a {} has no `{name}`", kind.name),
            self.instead_among(name, &members, |known| !methods.contains(&known)),
        ))
    }

    /// Whether some kind has a derived value of that name, and no kind has a field of it.
    pub fn is_derived(&self, name: &str) -> bool {
        let Some(schema) = self.schema() else { return false };
        let derived = schema.kinds.iter().any(|kind| kind.has_derived(name));
        derived && schema.kinds.iter().all(|kind| kind.field_named(name).is_none())
    }

    /// Returns the greatest number of values that a derived value takes, whatever its kind; `None` if it is not known.
    pub fn most_for_derived(&self, name: &str) -> Option<usize> {
        self.names.note_file(name);
        let results = self.names.derived_results.get(name)?.iter();
        results.map(|result| result.takes).collect::<Option<Vec<usize>>>()?.into_iter().max()
    }

    /// Returns the types of a field, one for each kind that has it.
    pub fn types_of<'s>(&'s self, field: &'s str) -> impl Iterator<Item = &'r Type> + 's {
        let kinds = self.schema().into_iter().flat_map(|schema| &schema.kinds);
        kinds.filter_map(move |kind| Some(&kind.field(kind.field_named(field)?).ty))
    }

    /// Returns the type of a field if it is the same in all kinds that have the field.
    pub fn type_of_all(&self, field: &str) -> Option<&'r Type> {
        let mut types = self.types_of(field);
        let first = types.next()?;
        types.all(|ty| ty == first).then_some(first)
    }

    /// Whether a field of that name exists and is a reference in all kinds that have it.
    pub fn always_refers(&self, field: &str) -> bool {
        let mut types = self.types_of(field).peekable();
        types.peek().is_some() && types.all(|ty| matches!(ty, Type::Ref(_)))
    }
}

/// Whether a text contains a rule id as a whole word.
fn mentions(text: &str, id: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    text.match_indices(id).any(|(at, _)| !text[..at].ends_with(part) && !text[at + id.len()..].starts_with(part))
}

/// Returns `ABC` of `ABC-12`.
pub(crate) fn stem_of(id: &str) -> Option<&str> {
    id.rsplit_once('-').map(|(stem, _)| stem)
}

/// Whether a line of a text begins with an id, behind the signs of a heading or of bold letters.
fn heads(text: &str, id: &str) -> bool {
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
    text.lines()
        .any(|line| line.trim_start_matches(['#', '*', '_', '`', '[', ' ', '\t']).strip_prefix(id).is_some_and(is_end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_heads_a_line_behind_signs() {
        assert!(heads("x\n## X-1: a rule", "X-1") && heads("**X-1**", "X-1"));
        assert!(!heads("see X-1", "X-1") && !heads("## X-12", "X-1"));
    }

    #[test]
    fn an_id_is_mentioned_whole() {
        assert!(mentions("by X-1, and", "X-1") && mentions("X-1", "X-1"));
        assert!(!mentions("X-12", "X-1") && !mentions("AX-1", "X-1"));
    }
}
