//! Reads the files in `convert/`.

use std::collections::BTreeMap;
use std::sync::Arc;

use mlua::{Result, Table, Value as Lv};

use super::loader::{Loader, kept};
use super::merge::sorted;
use riskbreaker_ruleset::{Conversion, ConversionStep, Declarations, DroppedName, VersionRange, instead};
use riskbreaker_state::{RenameStep, Renames, Schema};

/// The keys of a step.
const STEP: [&str; 4] = ["from", "renamed", "dropped", "run"];

impl Loader<'_> {
    /// Reads the conversions. Returns a list of functions by ruleset: the function of each step, false where it has none.
    pub(super) fn converts(&mut self, declarations: &mut Declarations) -> Result<Table> {
        let converts = self.lua.create_table()?;
        for (id, convert) in self.merger.all("convert") {
            let mut known = vec!["id", "title", "text", "rules", "steps"];
            known.extend(STEP);
            self.known_keys("convert", &id, &convert, &known, None)?;
            let functions = self.lua.create_table()?;
            let mut steps = Vec::new();
            let listed = self.table_at("convert", &id, &convert, "steps")?;
            let of_file = STEP.iter().find(|key| convert.raw_get::<Lv>(**key).is_ok_and(|value| !value.is_nil()));
            match (&listed, of_file) {
                (Some(_), Some(key)) => {
                    let message = format!("convert `{id}` has `steps`, and `{key}` beside it");
                    self.problem(
                        "convert",
                        &format!("{id}/{key}"),
                        message,
                        format!("move `{key}` into one of the steps"),
                    );
                }
                (Some(list), None) => {
                    for (number, step) in list.sequence_values::<Lv>().enumerate() {
                        let at = format!("{id}/steps");
                        let Lv::Table(step) = step? else {
                            let message = format!("step {} of convert `{id}` is not a table", number + 1);
                            self.problem(
                                "convert",
                                &at,
                                message,
                                "write { from = \"<2\", run = function(change) ... end }",
                            );
                            continue;
                        };
                        self.known_keys("convert", &at, &step, &STEP, None)?;
                        steps.push(self.step(&at, &step, &functions)?);
                    }
                    if list.raw_len() == 0 {
                        self.missing("convert", &id, "run", "a function(change)");
                    }
                }
                (None, _) => steps.push(self.step(&id, &convert, &functions)?),
            }
            self.known_targets(&id, &steps, &declarations.schema);
            let ruleset: Arc<str> = Arc::from(self.stack.id_here(&id));
            converts.raw_set(&*ruleset, functions)?;
            declarations.converts.push(Conversion { ruleset, steps });
        }
        Ok(converts)
    }

    /// Reads a step, and adds its function to the list.
    fn step(&mut self, at: &str, body: &Table, functions: &Table) -> Result<ConversionStep> {
        let run = body.raw_get::<Lv>("run")?;
        let mut step = ConversionStep { runs: run.is_function(), ..ConversionStep::default() };
        match body.raw_get::<Lv>("from")? {
            Lv::Nil => {}
            Lv::String(text) => match VersionRange::parse(&text.to_string_lossy()) {
                Ok(range) => step.from = Some(range),
                Err(message) => self.problem("convert", &format!("{at}/from"), message, VersionRange::CURE),
            },
            other => self.refuse_other("convert", at, ("from", "range of versions", "\"<2\""), &other),
        }
        if let Some(renamed) = self.table_at("convert", at, body, "renamed")? {
            step.names = self.renamed(at, &renamed)?;
        }
        if let Some(dropped) = self.table_at("convert", at, body, "dropped")? {
            step.dropped = self.dropped(at, &dropped)?;
        }
        match &run {
            Lv::Function(_) => functions.raw_push(&run)?,
            Lv::Nil if !step.names.is_empty() || !step.dropped.is_empty() => functions.raw_push(false)?,
            Lv::Nil => self.missing("convert", at, "run", "a function(change)"),
            other => self.refuse_other("convert", at, ("run", "function", "function(change) ... end"), other),
        }
        Ok(step)
    }

    /// Reads `renamed`: the new name of a kind, or the new names of the fields of a kind.
    fn renamed(&mut self, at: &str, renamed: &Table) -> Result<RenameStep> {
        let mut names = RenameStep::default();
        for (kind, value) in sorted(renamed)? {
            match value {
                Lv::String(new) => {
                    names.kinds.insert(kept(&kind)?, kept(&new.to_string_lossy())?);
                }
                Lv::Table(fields) => {
                    for (old, new) in sorted(&fields)? {
                        let Some(text) = new.as_string().map(|text| text.to_string_lossy()) else {
                            let message = format!("the new name of `{old}` is not a text");
                            let path = format!("{at}/renamed/{kind}/{old}");
                            self.problem("convert", &path, message, format!("write {old} = \"its new name\""));
                            continue;
                        };
                        names.fields.insert((kept(&kind)?, kept(&old)?), kept(&text)?);
                    }
                }
                _ => {
                    let message = format!("`renamed` has neither a name nor fields for `{kind}`");
                    let cure = format!("write {kind} = {{ old_field = \"new_field\" }}, or {kind} = \"its new name\"");
                    self.problem("convert", &format!("{at}/renamed/{kind}"), message, cure);
                }
            }
        }
        let mut first: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        let fields = names.fields.iter().map(|((kind, old), new)| (&**kind, &**old, &**new));
        for (kind, old, new) in fields.chain(names.kinds.iter().map(|(old, new)| ("", &**old, &**new))) {
            if let Some(other) = first.insert((kind, new), old) {
                let message = format!("`{other}` and `{old}` both become `{new}`");
                let cure = "one of them has another new name, or a function carries it over";
                self.problem("convert", &format!("{at}/renamed/{old}"), message, cure);
            }
        }
        Ok(names)
    }

    /// Reads `dropped`: true for a kind, or a list of its fields.
    fn dropped(&mut self, at: &str, dropped: &Table) -> Result<Vec<DroppedName>> {
        let mut names = Vec::new();
        for (kind, value) in sorted(dropped)? {
            match value {
                Lv::Boolean(true) => names.push(DroppedName { kind: kept(&kind)?, field: None }),
                Lv::Table(fields) => {
                    for field in fields.sequence_values::<String>() {
                        names.push(DroppedName { kind: kept(&kind)?, field: Some(kept(&field?)?) });
                    }
                }
                _ => {
                    let message = format!("`dropped` has neither true nor a list of fields for `{kind}`");
                    let cure = format!("write {kind} = {{ \"field\" }}, or {kind} = true for the whole kind");
                    self.problem("convert", &format!("{at}/dropped/{kind}"), message, cure);
                }
            }
        }
        Ok(names)
    }

    /// Reports new names that these rules do not declare.
    fn known_targets(&mut self, id: &str, steps: &[ConversionStep], schema: &Schema) {
        for (number, step) in steps.iter().enumerate() {
            let mut later = Renames::default();
            steps[number + 1..].iter().for_each(|step| later.push(&step.names));
            for new in step.names.kinds.values() {
                let (kind, _) = later.field(new, new);
                if schema.kind_named(&kind).is_none() {
                    let cure = instead(new, schema.kinds.iter().map(|kind| &*kind.name));
                    self.problem("convert", &format!("{id}/{new}"), format!("there is no kind `{kind}`"), cure);
                }
            }
            for ((kind, old), new) in &step.names.fields {
                let (kind, field) = later.field(kind, new);
                let Some(place) = schema.kind_named(&kind) else {
                    let cure = instead(&kind, schema.kinds.iter().map(|kind| &*kind.name));
                    self.problem("convert", &format!("{id}/{kind}"), format!("there is no kind `{kind}`"), cure);
                    continue;
                };
                let known = schema.kind(place);
                if known.field_named(&field).is_none() {
                    let cure = instead(&field, known.fields.iter().map(|field| &*field.name));
                    let message = format!("`{kind}` has no field `{field}`");
                    self.problem("convert", &format!("{id}/{old}"), message, cure);
                }
            }
        }
    }
}
