//! Reads the declarations of `play.luau`.

use std::collections::BTreeSet;
use std::sync::Arc;

use mlua::{Result, Table, Value as Lv};

use super::budget::hold;
use super::conversion::sort_of;
use super::declared_kinds::OfKinds;
use super::loader::{Loader, kept, title_of};
use super::merge::sorted;
use riskbreaker_ruleset::quoted::quoted;
use riskbreaker_ruleset::{
    Cure, Declarations, EntryName, FreeName, HitCount, HitSign, LetStand, Problem, Replacement, Statistic, Subject,
    instead, instead_or, likeliest,
};
use riskbreaker_state::{ENDING, OutcomeKind, Schema, Type};

/// The horizon that ends with the open action.
const ACTION: &str = "action";

impl Loader<'_> {
    pub(super) fn play(&mut self, play: &Table, of_kinds: OfKinds, declarations: &mut Declarations) -> Result<Table> {
        let lua = self.lua;
        let known = [
            "start",
            "entries",
            "free",
            "boundary",
            "horizon",
            "hit",
            "prompt",
            "card",
            "item",
            "printed",
            "value",
            "deal",
            "result",
            "statistics",
            "views",
            "stands",
            "order",
            "results",
            "context",
            "topics",
        ];
        self.known_keys("play", "", play, &known, None)?;
        let declared_in = self.merger.a_path("play");
        // Do not report a file whose reading already failed.
        let is_unread =
            declared_in.is_none() && self.problems.iter().any(|problem| problem.path.ends_with("/play.luau"));
        if !is_unread && !matches!(play.raw_get::<Lv>("start")?, Lv::Function(_)) {
            let path = declared_in.unwrap_or_else(|| format!("{}/play.luau", self.stack.main().id()));
            let message = "play.luau needs `start`, a function(scenario) that builds the starting state";
            let cure = "add start = function(scenario) ... end, or name a ruleset that has it in `extends`";
            self.problems.push(Problem::new(path, message).with_cure(cure).about(Subject::Undeclared));
        }
        let made = lua.create_table()?;
        made.raw_set("start", play.raw_get::<Lv>("start")?)?;
        made.raw_set("sheets", of_kinds.sheets)?;
        made.raw_set("overviews", of_kinds.overviews)?;
        made.raw_set("timed", &of_kinds.timed)?;
        declarations.boundary = play.raw_get::<Option<String>>("boundary").ok().flatten().map(Arc::from);
        let functions = [
            ("value", &mut declarations.value, "function(seat) return ... end"),
            ("result", &mut declarations.result, "function() return ... end"),
            ("deal", &mut declarations.deal, "function(seat) ... end"),
            ("prompt", &mut declarations.prompt, "function(about, seat) return ... end"),
            ("order", &mut declarations.order, "function(seat) return { turns = { ... } } end"),
        ];
        for (name, found, written) in functions {
            *found = self.has_function("play", "", play, (name, written))?;
            made.raw_set(name, play.raw_get::<Lv>(name)?)?;
        }
        if let Some(context) = self.table_at("play", "", play, "context")? {
            declarations.context = self.named_types("play", "context", &context, declarations)?;
        }
        if let Some(topics) = self.table_at("play", "", play, "topics")? {
            declarations.topics = self.named_types("play", "topics", &topics, declarations)?;
        }
        declarations.card_facts = facts_of(play, "card")?;
        declarations.item_facts = facts_of(play, "item")?;
        declarations.stands = self.stands(play)?;
        declarations.results = self.results(play)?;
        declarations.printed = self.printed(play, declarations)?;
        made.raw_set("statistics", self.statistics(play, declarations)?)?;
        let entries = self.entries(play, declarations)?;
        if !of_kinds.timed.is_empty() {
            if declarations.entries.iter().any(|entry| *entry.name == *ENDING) {
                let message = format!("if a kind is timed, the host declares the entry `{ENDING}`");
                self.problem("play", &format!("entries/{ENDING}"), message, "choose another name");
            }
            declarations.entries.push(EntryName { name: Arc::from(ENDING), key: false, tie: false });
        }
        declarations.horizon = self.horizon(play, declarations)?;
        declarations.hit = self.hit(play, declarations)?;
        made.raw_set("entries", entries)?;
        made.raw_set("free", self.free(play, declarations)?)?;
        made.raw_set("views", self.views(play, declarations)?)?;
        Ok(made)
    }

    /// Reads how far odds look ahead: the names of entries, separated by commas; `action` for the end of the action.
    fn horizon(&mut self, play: &Table, declarations: &Declarations) -> Result<Vec<Arc<str>>> {
        const CURE: &str = "write horizon = \"round\", with the entry before which the effects of a card are known";
        let names = match play.raw_get::<Lv>("horizon")? {
            Lv::Nil => return Ok(Vec::new()),
            Lv::String(names) => names.to_string_lossy(),
            other => {
                let message = format!("`horizon` in play.luau is the name of an entry, not a {}", sort_of(&other));
                self.problem("play", "horizon", message, CURE);
                return Ok(Vec::new());
            }
        };
        hold(names.len())?;
        let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let known = || declarations.entries.iter().map(|entry| &*entry.name);
        if names == [ACTION] && !known().any(|entry| entry == ACTION) {
            return Ok(Vec::new());
        }
        if names.is_empty() {
            self.problem("play", "horizon", "`horizon` in play.luau names no entry", CURE);
        }
        for name in &names {
            // A ruleset made to be extended may leave the entries to others.
            if known().next().is_some() && !known().any(|entry| entry == *name) {
                let message = format!("`horizon` names {}, and there is no such entry", quoted(name));
                self.problem("play", "horizon", message, instead(name, known()));
            }
        }
        Ok(names.into_iter().map(Arc::from).collect())
    }

    /// Reads the fields that show a hit, as `kind.field` separated by commas. A number increases with a hit, or
    /// decreases if preceded by `-`; a reference is set by more entities. In `scar.bearer by scar.cause`, the second
    /// field refers to the attacker.
    fn hit(&mut self, play: &Table, declarations: &Declarations) -> Result<Vec<HitSign>> {
        const CURE: &str = "write hit = \"-character.health\": a number that falls with a hit, one that rises, or a reference to \
                            the one who was hit, such as \"scar.bearer\"; \"scar.bearer by scar.cause\" names the field \
                            for whoever has hit as well";
        let text = match play.raw_get::<Lv>("hit")? {
            Lv::Nil => return Ok(Vec::new()),
            Lv::String(text) => text.to_string_lossy(),
            other => {
                let message = format!("`hit` in play.luau is a text, not a {}", sort_of(&other));
                self.problem("play", "hit", message, CURE);
                return Ok(Vec::new());
            }
        };
        hold(text.len())?;
        let schema = &declarations.schema;
        let mut signs = Vec::new();
        for name in text.split(',').map(str::trim) {
            let (name, falls) = name.strip_prefix('-').map_or((name, false), |name| (name.trim(), true));
            let named = |name: &str| {
                let (kind, field) = name.trim().split_once('.')?;
                let kind = schema.kind_named(kind)?;
                Some((kind, schema.kind(kind).field_named(field)?))
            };
            let (hit, by) = name.split_once(" by ").map_or((name, None), |(hit, by)| (hit, Some(by)));
            let found = named(hit).and_then(|(kind, field)| {
                let counts = match &schema.kind(kind).field(field).ty {
                    Type::Int { .. } if falls => HitCount::Falls,
                    Type::Int { .. } => HitCount::Rises,
                    Type::Ref(Some(_)) if !falls => HitCount::Refers,
                    _ => return None,
                };
                let by = match by {
                    Some(by) => {
                        let (of, by) = named(by)?;
                        let refers = matches!(schema.kind(of).field(by).ty, Type::Ref(Some(_)));
                        Some((of == kind && refers && counts == HitCount::Refers).then_some(by)?)
                    }
                    None => None,
                };
                Some(HitSign { kind, field, counts, by })
            });
            match found {
                Some(sign) => signs.push(sign),
                None => {
                    let message =
                        format!("`hit` names {}, which is no number field and no reference to a kind", quoted(name));
                    let cure = cure_of_hit(schema, name).unwrap_or_else(|| CURE.into());
                    self.problem("play", "hit", message, cure);
                }
            }
        }
        Ok(signs)
    }

    /// Reads the agenda entries that scripts schedule by name.
    fn entries(&mut self, play: &Table, declarations: &mut Declarations) -> Result<Table> {
        let entries = self.lua.create_table()?;
        let Some(table) = self.table_at("play", "", play, "entries")? else { return Ok(entries) };
        for (name, entry) in sorted(&table)? {
            let path = format!("entries/{name}");
            let mut known = EntryName { name: Arc::from(&*name), key: false, tie: false };
            match &entry {
                Lv::Function(_) => {}
                Lv::Table(body) => {
                    self.known_keys("play", &path, body, &["run", "key", "tie"], None)?;
                    if !matches!(body.raw_get::<Lv>("run")?, Lv::Function(_)) {
                        self.missing("play", &path, "run", "a function(owner, args)");
                    }
                    known.key = self.has_function("play", &path, body, ("key", "function(entry) return ... end"))?;
                    known.tie = self.has_function("play", &path, body, ("tie", "function(entries) return 1 end"))?;
                }
                other => {
                    let message = format!("the entry `{name}` is a function(owner, args), not {}", sort_of(other));
                    let cure = format!("write {name} = function(owner, args) ... end");
                    self.problem("play", &path, message, cure);
                }
            }
            entries.raw_set(&*name, entry)?;
            declarations.entries.push(known);
        }
        Ok(entries)
    }

    /// Reads the free acts.
    fn free(&mut self, play: &Table, declarations: &mut Declarations) -> Result<Table> {
        let free = self.lua.create_table()?;
        let known = ["title", "text", "rules", "seats", "when", "run"];
        for (name, body) in self.titled(play, ("free", "free act", "run"), &known, &mut declarations.free)? {
            let seats = body.raw_get::<Lv>("seats")?;
            if !matches!(seats, Lv::Nil | Lv::Table(_)) {
                let message = format!("`seats` of the free act `{name}` is a list");
                let seat = seats.as_string().map_or("left".into(), |text| text.to_string_lossy());
                let list = format!("{{ {seat:?} }}");
                let cure = Cure::rewrite(format!("{seat:?}"), &*list, format!("put it in braces: seats = {list}"));
                self.problem("play", &format!("free/{name}/seats"), message, cure);
            }
            let when = ("when", "function(seat) return ... end");
            self.has_function("play", &format!("free/{name}"), &body, when)?;
            free.raw_set(name, body)?;
        }
        Ok(free)
    }

    /// Reads the views: `{ title, show = function(seat) }`, by name.
    fn views(&mut self, play: &Table, declarations: &mut Declarations) -> Result<Table> {
        let views = self.lua.create_table()?;
        for (name, body) in self.titled(play, ("views", "view", "show"), &["title", "show"], &mut declarations.views)? {
            views.raw_set(name, body.raw_get::<Lv>("show")?)?;
        }
        Ok(views)
    }

    /// Reads the tables under a key of `play.luau`, by name, each with a function of the seat. `titles`: gets their
    /// titles.
    fn titled(
        &mut self,
        play: &Table,
        (key, sort, function): (&str, &str, &str),
        known: &[&str],
        titles: &mut Vec<FreeName>,
    ) -> Result<Vec<(String, Table)>> {
        let mut bodies = Vec::new();
        let Some(table) = self.table_at("play", "", play, key)? else { return Ok(bodies) };
        for (name, declared) in sorted(&table)? {
            let path = format!("{key}/{name}");
            let Lv::Table(body) = declared else {
                let cure = format!("write {name} = {{ title = \"...\", {function} = function(seat) ... end }}");
                self.problem("play", &path, format!("the {sort} `{name}` is a table with `{function}`"), cure);
                continue;
            };
            self.known_keys("play", &path, &body, known, None)?;
            if !matches!(body.raw_get::<Lv>(function)?, Lv::Function(_)) {
                self.missing("play", &path, function, "a function(seat)");
            }
            titles.push(FreeName { name: Arc::from(&*name), title: title_of(&body, &name)? });
            bodies.push((name, body));
        }
        Ok(bodies)
    }

    /// Reads which decisions a seat cannot undo.
    fn stands(&mut self, play: &Table) -> Result<LetStand> {
        let word = match play.raw_get::<Lv>("stands")? {
            Lv::Nil => return Ok(LetStand::default()),
            Lv::String(word) => word.to_string_lossy(),
            other => format!("a {}", sort_of(&other)),
        };
        if let Some((_, stands)) = LetStand::WORDS.iter().find(|(known, _)| **known == *word) {
            return Ok(*stands);
        }
        let message = format!("`stands` in play.luau says what a seat cannot take back; it is not {}", quoted(&word));
        let cure = instead(&word, LetStand::WORDS.iter().map(|(word, _)| *word));
        self.problem("play", "stands", message, cure);
        Ok(LetStand::default())
    }

    /// Reads the kinds of results of `rb.result`, by their first words: `{ Hit = "success", Miss = "failure" }`.
    fn results(&mut self, play: &Table) -> Result<Vec<(Arc<str>, OutcomeKind)>> {
        const CURE: &str = "write results = { Hit = \"success\", Miss = \"failure\", Graze = \"other\" }, with the first words of results";
        let Some(table) = self.table_at("play", "", play, "results")? else { return Ok(Vec::new()) };
        let mut results: Vec<(Arc<str>, OutcomeKind)> = Vec::new();
        for (words, kind) in sorted(&table)? {
            let word = match &kind {
                Lv::String(word) => word.to_string_lossy(),
                other => format!("a {}", sort_of(other)),
            };
            match OutcomeKind::WORDS.iter().find(|(known, _)| **known == *word) {
                Some(_) if words.starts_with('[') => {
                    self.problem(
                        "play",
                        "results",
                        "`results` in play.luau is a list, not words with their kinds",
                        CURE,
                    );
                }
                Some((_, kind)) => results.push((kept(&words)?, *kind)),
                None => {
                    let message = format!(
                        "the result {} is a success, a failure or other, not {}",
                        quoted(&words),
                        quoted(&word)
                    );
                    let cure = kind.as_string().map_or_else(|| CURE.into(), |_| cure_of_result(&word));
                    self.problem("play", &format!("results/{words}"), message, cure);
                }
            }
        }
        results.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        Ok(results)
    }

    /// Reads the facts of cards to print, with their labels on paper: `{ { "max_risk", "Risk up to" } }`.
    fn printed(&mut self, play: &Table, declarations: &Declarations) -> Result<Option<Vec<(String, String)>>> {
        const CURE: &str = "write printed = { { \"fact\", \"What it is called\" } }";
        let listed = match play.raw_get::<Lv>("printed")? {
            Lv::Nil => return Ok(None),
            Lv::Table(listed) => listed,
            other => {
                let message = format!("`printed` in play.luau is a list, not a {}", sort_of(&other));
                self.problem("play", "printed", message, CURE);
                return Ok(None);
            }
        };
        let cards = declarations.cards.iter().chain(&declarations.items);
        let mut known: BTreeSet<String> = cards.flat_map(|card| card.facts.keys().cloned()).collect();
        for key in ["card", "item"] {
            if let Lv::Table(declared) = play.raw_get::<Lv>(key)? {
                known.extend(sorted(&declared)?.into_iter().map(|(name, _)| name));
            }
        }
        // A ruleset without cards leaves them to those above it, and those above may remove cards. The facts of an
        // invalid card are unknown.
        let highest = self.stack.parts().last().map_or("", |part| part.id());
        let is_highest =
            self.merger.origin("play", "printed").is_some_and(|file| file.starts_with(&format!("{highest}/")));
        let is_complete = is_highest && !known.is_empty() && self.problems.is_empty();
        let mut facts = Vec::new();
        for pair in listed.sequence_values::<Lv>() {
            let words = match &pair? {
                Lv::Table(pair) => (pair.raw_get::<String>(1).ok()).zip(pair.raw_get::<String>(2).ok()),
                _ => None,
            };
            match words {
                Some((fact, _)) if is_complete && !known.contains(&fact) => {
                    let message = format!("`printed` names {}, and no card and no item has such a fact", quoted(&fact));
                    let cure = instead(&fact, known.iter().map(String::as_str));
                    self.problem("play", "printed", message, cure);
                }
                Some(words) => {
                    hold(words.0.len() + words.1.len())?;
                    facts.push(words);
                }
                None => {
                    let message = "`printed` in play.luau holds pairs: a fact of cards, and what it is called on paper";
                    self.problem("play", "printed", message, CURE);
                }
            }
        }
        Ok(Some(facts))
    }

    /// Reads the statistics of a ruleset: `"kind.field"`, or a function that computes a number, by label.
    fn statistics(&mut self, play: &Table, declarations: &mut Declarations) -> Result<Table> {
        let functions = self.lua.create_table()?;
        let Some(table) = self.table_at("play", "", play, "statistics")? else { return Ok(functions) };
        for (name, value) in sorted(&table)? {
            let path = format!("statistics/{name}");
            match value {
                Lv::Function(function) => {
                    declarations.statistics.push(Statistic { label: Arc::from(&*name), field: None });
                    functions.raw_set(&*name, function)?;
                }
                Lv::String(text) => {
                    let text = text.to_string_lossy();
                    let schema = &declarations.schema;
                    let found = text.split_once('.').and_then(|(kind, field)| {
                        let kind = schema.kind_named(kind)?;
                        let field = schema.kind(kind).field_named(field)?;
                        matches!(schema.kind(kind).field(field).ty, Type::Int { .. }).then_some((kind, field))
                    });
                    let Some((kind, field)) = found else {
                        let message = format!("`{text}` is no number field; statistics are `kind.field` or functions");
                        let kinds = schema.kinds.iter();
                        let fields = kinds.flat_map(|kind| {
                            let whole = kind.fields.iter().filter(|field| matches!(field.ty, Type::Int { .. }));
                            whole.map(|field| format!("{}.{}", kind.name, field.name))
                        });
                        let fields: Vec<String> = fields.collect();
                        let otherwise = "name a kind and a field of it that rb.int declares";
                        let cure = instead_or(&text, fields.iter().map(String::as_str), otherwise);
                        let at = if name.starts_with('[') { "statistics" } else { path.as_str() };
                        self.problem("play", at, message, cure);
                        continue;
                    };
                    let listed = name.starts_with('[');
                    let own = &schema.kind(kind).field(field).label;
                    let label = if listed { own.clone() } else { Arc::from(&*name) };
                    declarations.statistics.push(Statistic { label, field: Some((kind, field)) });
                }
                other => {
                    let message = format!("the statistic `{name}` is a text or a function, not a {}", sort_of(&other));
                    let cure = format!("write {name} = \"kind.field\", or a function that gives a number");
                    self.problem("play", &path, message, cure);
                }
            }
        }
        Ok(functions)
    }
}

/// The facts that a table of play.luau declares, with their types. Wrong entries are reported where cards are read.
fn facts_of(play: &Table, key: &str) -> Result<Vec<(String, String)>> {
    let Lv::Table(facts) = play.raw_get::<Lv>(key)? else { return Ok(Vec::new()) };
    let facts = sorted(&facts)?.into_iter();
    let declared = facts.filter_map(|(name, ty)| Some((name, ty.as_string()?.to_string_lossy())));
    let declared: Vec<(String, String)> = declared.collect();
    hold(declared.iter().map(|(name, ty)| name.len() + ty.len()).sum())?;
    Ok(declared)
}

/// The correction of a part of `hit`: a field of the kind that it names, a similar one or the only one that is not in the
/// part yet; or else a number of any kind that is written alike.
fn cure_of_hit(schema: &Schema, told: &str) -> Option<Cure> {
    let parts: Vec<(&str, &str)> = told.split(' ').filter_map(|part| part.split_once('.')).collect();
    let counts = |ty: &Type| matches!(ty, Type::Int { .. } | Type::Ref(Some(_)));
    for (of, name) in &parts {
        let Some(kind) = schema.kind_named(of.trim_start_matches('-')).map(|kind| schema.kind(kind)) else { continue };
        let fields = kind.fields.iter().filter(|field| counts(&field.ty));
        if fields.clone().any(|field| *field.name == **name) {
            continue;
        }
        let references = fields.clone().filter(|field| !matches!(field.ty, Type::Int { .. })).map(|field| &*field.name);
        let free: Vec<&str> = references.filter(|field| parts.iter().all(|(_, used)| used != field)).collect();
        let near = likeliest(name, fields.clone().map(|field| &*field.name));
        // Beside `by`, and in a kind without numbers, a reference is meant; otherwise a number, as the profile names it.
        let numbers: Vec<&str> =
            fields.filter(|field| matches!(field.ty, Type::Int { .. })).map(|field| &*field.name).collect();
        let counts: Vec<&str> = match parts.len() {
            1 if !numbers.is_empty() => {
                let shown =
                    numbers.iter().filter(|name| kind.profile.numbers.iter().any(|number| *number.name == ***name));
                if let [only] = numbers.as_slice() { vec![*only] } else { shown.copied().collect() }
            }
            _ => free,
        };
        let meant = near.or(if let [only] = counts.as_slice() { Some(*only) } else { None })?;
        let (written, code) = (format!("{}.{name}", kind.name), format!("{}.{meant}", kind.name));
        let sentence = format!("`{}` has no such field `{name}`: write `{code}`", kind.name);
        return Some(Cure::rewrite(written, code, sentence));
    }
    let numbers = schema.kinds.iter().flat_map(|kind| {
        let fields = kind.fields.iter().filter(|field| matches!(field.ty, Type::Int { .. }));
        fields.map(|field| format!("{}.{}", kind.name, field.name))
    });
    let numbers: Vec<String> = numbers.collect();
    let wanted = told.trim_start_matches('-');
    likeliest(wanted, numbers.iter().map(String::as_str)).map(|near| Cure::meant(wanted, near))
}

/// The correction of the kind of a result: what its word means, or else one of the three.
fn cure_of_result(word: &str) -> Cure {
    const SUCCESS: [&str; 8] = ["win", "won", "hit", "good", "yes", "pass", "victory", "true"];
    const FAILURE: [&str; 9] = ["loss", "lose", "lost", "miss", "bad", "no", "fail", "defeat", "false"];
    let lower = word.to_lowercase();
    let kinds = OutcomeKind::WORDS.map(|(kind, _)| kind);
    let meant = match likeliest(&lower, kinds) {
        Some(near) => near,
        None if SUCCESS.contains(&&*lower) => "success",
        None if FAILURE.contains(&&*lower) => "failure",
        None => "other",
    };
    let all = std::iter::once(meant).chain(kinds.into_iter().filter(|kind| *kind != meant));
    let choices = all.map(|kind| Replacement::of(format!("\"{word}\""), format!("\"{kind}\"")));
    Cure::one_of(choices, format!("write \"{meant}\""))
}
