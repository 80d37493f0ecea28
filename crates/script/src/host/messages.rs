use std::collections::BTreeSet;
use std::rc::Rc;

use mlua::{Lua, Result, Table, Value as Lv};

use super::super::api::{ENTITY_FIELDS, ENTITY_METHODS};
use super::super::conversion::from_lua;
use super::super::declared_kinds::read_type;
use super::super::handles::Handles;
use super::cost::MOST_NAMED;
use super::refusal::stopped;
use super::state::{HostState, host_function};
use riskbreaker_play::ActionContext;
use riskbreaker_ruleset::instead;
use riskbreaker_state::{Field, Kind, Type, Unfit};

pub(super) fn add(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    host_function!(lua, host, table, "fault", |_, b, (message, cure): (String, Option<String>)| {
        let context = b.context()?;
        Err::<(), _>(stopped(context.fault_with(message, cure)))
    });
    // The same because of a value of another type than the declared one.
    host_function!(lua, host, table, "fault_of_value", |_,
                                                        b,
                                                        (message, cure, declared, value): (
        String,
        Option<String>,
        Lv,
        Lv
    )| {
        let context = b.context()?;
        let ty = declared.as_table().and_then(|declared| read_type(declared, &BTreeSet::new()).ok());
        let given = from_lua(&value, &Handles::default()).ok();
        let stop = match ty.zip(given) {
            Some((ty, given)) => {
                let unfit = Unfit::with_clause(&ty, &given, message.clone());
                context.fault_of_value(message, cure, unfit)
            }
            None => context.fault_with(message, cure),
        };
        Err::<(), _>(stopped(stop))
    });
    host_function!(lua, host, table, "join", |_, b, (a, c): (Table, Table)| {
        let mut names: Vec<String> = Vec::new();
        for pair in a.pairs::<String, Lv>().chain(c.pairs::<String, Lv>()).take(MOST_NAMED) {
            names.push(pair?.0);
        }
        names.sort();
        Ok(names.join(", "))
    });
    host_function!(lua, host, table, "no_such", |_, b, (what, name): (String, String)| {
        let known = b.lent().and_then(|context| context.rules.names_of(&what)).unwrap_or_default();
        Ok(match known.is_empty() {
            true => format!("there is no {what} `{name}`; the ruleset has none"),
            false => format!("there is no {what} `{name}`; {}", instead(&name, known)),
        })
    });
    host_function!(lua, host, table, "no_member", |_, b, (kind, name): (String, String)| {
        let context = b.context()?;
        Ok(no_member(context, &kind, &name))
    });
    host_function!(lua, host, table, "no_number", |_, b, (kind, name): (String, String)| {
        let context = b.context()?;
        let schema = context.rules.schema();
        let known = schema.kind_named(&kind).and_then(|kind| schema.kind(kind).field_named(&name));
        Ok(match known {
            Some(_) => format!("the field `{name}` of {kind} is not a number; add is for number fields"),
            None => no_member(context, &kind, &name),
        })
    });
    Ok(())
}

pub(super) fn no_member(context: &ActionContext, kind: &str, name: &str) -> String {
    let schema = context.rules.schema();
    let Some(kind) = schema.kind_named(kind).map(|kind| schema.kind(kind)) else {
        return format!("there is no kind `{kind}`");
    };
    // If another kind has exactly that field, an entity of the wrong kind is more likely than a misspelling.
    let has = |other: &&Kind| other.name != kind.name && other.field_named(name).is_some();
    let refers_to = |field: &Field| match &field.ty {
        Type::Ref(Some(to)) => schema.kind_named(to).map(|to| schema.kind(to)).filter(has),
        _ => None,
    };
    if let Some(field) = kind.fields.iter().find(|field| refers_to(field).is_some()) {
        return format!("{} has no field `{name}`; did you mean `{}.{name}`?", kind.name, field.name);
    }
    if let Some(other) = schema.kinds.iter().find(has) {
        return format!("{} has no field `{name}`, {} has; did you mean a {}?", kind.name, other.name, other.name);
    }
    if kind.derived.iter().any(|derived| **derived == *name) {
        return format!("`{name}` of {} is a derived value, and no field", kind.name);
    }
    let names = kind.members().chain(ENTITY_FIELDS.iter().chain(ENTITY_METHODS).copied());
    format!("{} has no field `{name}`; {}", kind.name, instead(name, names))
}
