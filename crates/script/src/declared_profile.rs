//! Reads the profile of a kind for pictures of its entities: seat, side, numbers and position.

use std::collections::BTreeSet;
use std::sync::Arc;

use mlua::{Result, Table, Value as Lv};

use super::conversion::{sort_of, whole_of};
use super::declared_kinds::{DeclarationMistake, Read, wrong};
use super::loader::{Loader, kept};
use super::merge::sorted;
use riskbreaker_ruleset::{Cure, instead_or, likeliest};
use riskbreaker_state::{
    FieldId, Kind, KindId, MostRule, NumberRule, NumberSource, PositionRule, ProfileRule, Schema, SideRule, Type,
};

const NUMBERS_CURE: &str = "write numbers = { { \"health\", of = \"max_health\" }, \"speed\" }: names of whole numbers among the fields \
                            and derived values";
const OF_CURE: &str = "`of` is the maximum: a whole number, or the name of a field or derived value";
const SIDE_CURE: &str = "write side = \"party\", the name of a text, a list of choices or a reference; or side = { by = \"side\", words \
                         = { pc = \"players\" } }";
const SEAT_CURE: &str = "write seat = \"seat\", the name of a text field, or \"side.seat\" behind a reference";
const POSITION_CURE: &str = "write position = { x = \"x\", y = \"y\", unit = \"m\", per = 100 } with the names of number fields, or \
                             position = { place = \"place\" } with that of a reference";

/// The most numbers of a kind.
const MOST_NUMBERS: usize = 32;

impl Loader<'_> {
    /// Reads the profile of a kind with known fields and derived values.
    pub(super) fn profile(&mut self, kind: &Kind, body: &Table) -> ProfileRule {
        let mut profile = ProfileRule::default();
        let mut put = |part: &str, read: Read<()>| {
            if let Err(DeclarationMistake { message, cure, .. }) = read {
                self.problem(
                    "kinds",
                    &format!("{}/{part}", kind.name),
                    format!("the kind `{}` {message}", kind.name),
                    cure,
                );
            }
        };
        put("numbers", read_numbers(kind, body).map(|numbers| profile.numbers = numbers));
        put("side", read_side(kind, body).map(|side| profile.side = side));
        put("position", read_position(kind, body).map(|position| profile.position = position));
        put("seat", read_seat(body).map(|seat| profile.seat = seat));
        profile
    }

    /// Checks the paths to seats, which go through other kinds.
    pub(super) fn check_seats(&mut self, schema: &mut Schema) {
        for at in 0..schema.kinds.len() {
            let Err(wrong) = schema.check_seat(KindId(at as u16)) else { continue };
            let fits = |ty: &Type| match wrong.is_last {
                true => matches!(ty, Type::Text | Type::Enum(_)),
                false => matches!(ty, Type::Ref(Some(_))),
            };
            let owner = schema.kind(wrong.kind);
            let has_seat = owner.field_named("seat").is_some_and(|seat| fits(&owner.field(seat).ty));
            let cure = match likeliest(
                &wrong.field,
                owner.fields.iter().filter(|field| fits(&field.ty)).map(|field| &*field.name),
            ) {
                Some(near) => Cure::meant(&*wrong.field, near),
                None if has_seat => Cure::meant(&*wrong.field, "seat"),
                None => field_meant(owner, &wrong.field, fits, SEAT_CURE),
            };
            let kind = &mut schema.kinds[at];
            kind.profile.seat.clear();
            let (path, message) =
                (format!("{}/seat", kind.name), format!("the kind `{}` {}", kind.name, wrong.message));
            self.problem("kinds", &path, message, cure);
        }
    }
}

fn text_in(table: &Table, key: &str, of: &str, cure: &str) -> Read<Option<Arc<str>>> {
    match table.raw_get::<Lv>(key)? {
        Lv::Nil => Ok(None),
        Lv::String(text) => Ok(Some(kept(&text.to_string_lossy())?)),
        other => wrong(format!("has {of} with a `{key}` that is a {}, not a text", sort_of(&other)), cure),
    }
}

fn only_keys(table: &Table, known: &[&str], of: &str, cure: &str) -> Read<()> {
    for (key, _) in sorted(table)? {
        if !known.contains(&&*key) && !key.starts_with('[') {
            let cure = instead_or(&key, known.iter().copied(), cure);
            return wrong(format!("has {of} with an unknown key `{key}`"), cure);
        }
    }
    Ok(())
}

fn read_numbers(kind: &Kind, body: &Table) -> Read<Vec<NumberRule>> {
    let listed = match body.raw_get::<Lv>("numbers")? {
        Lv::Nil => return Ok(Vec::new()),
        Lv::Table(listed) => listed,
        other => return wrong(format!("has `numbers` that are a {}, not a list", sort_of(&other)), NUMBERS_CURE),
    };
    only_keys(&listed, &[], "`numbers`", NUMBERS_CURE)?;
    let (mut numbers, mut names) = (Vec::new(), BTreeSet::new());
    for one in listed.sequence_values::<Lv>() {
        let number = match one? {
            Lv::String(name) => number_named(kind, &name.to_string_lossy())?,
            Lv::Table(table) => read_number(kind, &table)?,
            other => return wrong(format!("has a number that is a {}", sort_of(&other)), NUMBERS_CURE),
        };
        if !names.insert(number.name.clone()) {
            return wrong(format!("names the number `{}` twice", number.name), "name each number once");
        }
        numbers.push(number);
        if numbers.len() > MOST_NUMBERS {
            return wrong(format!("has more than {MOST_NUMBERS} numbers"), "name those that matter at a glance");
        }
    }
    Ok(numbers)
}

fn read_number(kind: &Kind, table: &Table) -> Read<NumberRule> {
    let Lv::String(name) = table.raw_get::<Lv>(1)? else {
        return wrong("has a number without a name", NUMBERS_CURE);
    };
    let name = name.to_string_lossy();
    let mut number = kind.number_named(&name).or_else(|message| {
        // The label of a number is most often the name of its field.
        let label =
            text_in(table, "label", "the number", NUMBERS_CURE)?.map(|label| label.to_lowercase().replace(' ', "_"));
        let labelled = label.filter(|label| kind.number_named(label).is_ok());
        wrong(
            message,
            labelled.map_or_else(|| cure_of_number(kind, &name, NUMBERS_CURE), |label| Cure::meant(&*name, label)),
        )
    })?;
    let of = format!("the number `{}`", number.name);
    only_keys(
        table,
        &["of", "label", "unit", "harm", "nonzero"],
        &of,
        "a number takes of, label, unit, harm and nonzero",
    )?;
    number.label = text_in(table, "label", &of, NUMBERS_CURE)?.unwrap_or(number.label);
    number.unit = text_in(table, "unit", &of, NUMBERS_CURE)?;
    let flag = |key: &str, cure: &str| match table.raw_get::<Lv>(key)? {
        Lv::Nil => Ok(false),
        Lv::Boolean(flag) => Ok(flag),
        other => wrong(format!("has {of} with a `{key}` that is a {}, not true or false", sort_of(&other)), cure),
    };
    number.harm = flag("harm", "write harm = true if more of it is worse")?;
    number.nonzero = flag("nonzero", "write nonzero = true if it is left out while it is 0")?;
    number.most = match table.raw_get::<Lv>("of")? {
        Lv::Nil => number.most,
        Lv::String(name) => Some(MostRule::Of(source_named(kind, &name.to_string_lossy(), OF_CURE)?)),
        other => match whole_of(&other) {
            Some(most) => Some(MostRule::Fixed(most)),
            None => return wrong(format!("has {of} with an `of` that is a {}", sort_of(&other)), OF_CURE),
        },
    };
    Ok(number)
}

fn number_named(kind: &Kind, name: &str) -> Read<NumberRule> {
    kind.number_named(name).or_else(|message| wrong(message, cure_of_number(kind, name, NUMBERS_CURE)))
}

fn source_named(kind: &Kind, name: &str, cure: &str) -> Read<NumberSource> {
    kind.number_source(name).or_else(|message| wrong(message, cure_of_number(kind, name, cure)))
}

/// The number of a kind that a wrong name means: one of a similar name, or the only one.
fn cure_of_number(kind: &Kind, name: &str, otherwise: &str) -> Cure {
    let numbers = kind.members().filter(|member| kind.number_source(member).is_ok());
    meant_or_only(name, numbers.collect(), otherwise)
}

/// The field of a kind that a wrong name means: one of a similar name, or the only one whose type fits.
fn field_meant(kind: &Kind, name: &str, fits: impl Fn(&Type) -> bool, otherwise: &str) -> Cure {
    let fields = kind.fields.iter().filter(|field| fits(&field.ty)).map(|field| &*field.name);
    meant_or_only(name, fields.collect(), otherwise)
}

/// The correction of an unknown word: the likeliest name, the only one, or else the text `otherwise`.
pub(super) fn meant_or_only(word: &str, names: Vec<&str>, otherwise: &str) -> Cure {
    match names.as_slice() {
        [only] => Cure::meant(word, *only),
        _ => instead_or(word, names, otherwise),
    }
}

/// Finds a field by name and checks it with `fits`.
fn field_named(kind: &Kind, name: &str, part: &str, fits: fn(&Type) -> bool, cure: &str) -> Read<FieldId> {
    let Some(field) = kind.field_named(name) else {
        return wrong(format!("has {part} `{name}`, and no such field"), field_meant(kind, name, fits, cure));
    };
    match &kind.field(field).ty {
        ty if fits(ty) => Ok(field),
        other => wrong(format!("has {part} `{name}`, and that field takes {}", other.wanted()), cure),
    }
}

fn read_side(kind: &Kind, body: &Table) -> Read<Option<SideRule>> {
    let fits = |ty: &Type| matches!(ty, Type::Text | Type::Enum(_) | Type::Ref(Some(_)));
    let named = |name: &str| field_named(kind, name, "the side", fits, SIDE_CURE);
    match body.raw_get::<Lv>("side")? {
        Lv::Nil => Ok(None),
        Lv::String(name) => Ok(Some(SideRule { field: named(&name.to_string_lossy())?, words: Vec::new() })),
        Lv::Table(table) => {
            only_keys(&table, &["by", "words"], "a side", SIDE_CURE)?;
            let Some(by) = text_in(&table, "by", "a side", SIDE_CURE)? else {
                return wrong("has a side without `by`", SIDE_CURE);
            };
            let field = named(&by)?;
            let words = match table.raw_get::<Lv>("words")? {
                Lv::Nil => Vec::new(),
                Lv::Table(words) => read_words(kind, field, &words)?,
                other => return wrong(format!("has a side with `words` that are a {}", sort_of(&other)), SIDE_CURE),
            };
            Ok(Some(SideRule { field, words }))
        }
        other => wrong(format!("has a side that is a {}", sort_of(&other)), SIDE_CURE),
    }
}

/// Reads the names of a field's values.
fn read_words(kind: &Kind, field: FieldId, words: &Table) -> Read<Vec<(Arc<str>, Arc<str>)>> {
    let mut named = Vec::new();
    for (value, word) in sorted(words)? {
        let Lv::String(word) = word else {
            return wrong(format!("has a side with a word for `{value}` that is a {}", sort_of(&word)), SIDE_CURE);
        };
        if let Type::Enum(values) = &kind.field(field).ty
            && !values.iter().any(|known| **known == *value)
        {
            let cure = instead_or(&value, values.iter().map(|value| &**value), SIDE_CURE);
            let name = &kind.field(field).name;
            return wrong(format!("has a word for the side `{value}`, and the field `{name}` has no such value"), cure);
        }
        named.push((kept(&value)?, kept(&word.to_string_lossy())?));
    }
    Ok(named)
}

fn read_seat(body: &Table) -> Read<Vec<Arc<str>>> {
    match body.raw_get::<Lv>("seat")? {
        Lv::Nil => Ok(Vec::new()),
        Lv::String(path) => Ok(path.to_string_lossy().split('.').map(kept).collect::<Result<_>>()?),
        other => wrong(format!("has a `seat` that is a {}, not a text", sort_of(&other)), SEAT_CURE),
    }
}

fn read_position(kind: &Kind, body: &Table) -> Read<Option<PositionRule>> {
    let table = match body.raw_get::<Lv>("position")? {
        Lv::Nil => return Ok(None),
        Lv::Table(table) => table,
        other => return wrong(format!("has a position that is a {}", sort_of(&other)), POSITION_CURE),
    };
    only_keys(&table, &["x", "y", "h", "place", "unit", "per"], "a position", POSITION_CURE)?;
    let field = |key: &str, fits: fn(&Type) -> bool| {
        let named = text_in(&table, key, "a position", POSITION_CURE)?;
        named.map(|name| field_named(kind, &name, &format!("the position {key}"), fits, POSITION_CURE)).transpose()
    };
    let is_number: fn(&Type) -> bool = |ty| matches!(ty, Type::Int { .. });
    let plane = match (field("x", is_number)?, field("y", is_number)?) {
        (Some(x), Some(y)) => Some((x, y)),
        (None, None) => None,
        _ => return wrong("has a position with only one of x and y", POSITION_CURE),
    };
    let place = field("place", |ty| matches!(ty, Type::Ref(Some(_))))?;
    if plane.is_none() && place.is_none() {
        return wrong("has a position that says nothing", POSITION_CURE);
    }
    let per = match table.raw_get::<Lv>("per")? {
        Lv::Nil => 1,
        other => match whole_of(&other).and_then(|per| u32::try_from(per).ok()).filter(|per| *per > 0) {
            Some(per) => per,
            None => return wrong("has a position with a `per` that is no whole number of at least 1", POSITION_CURE),
        },
    };
    let unit = text_in(&table, "unit", "a position", POSITION_CURE)?;
    Ok(Some(PositionRule { plane, height: field("h", is_number)?, place, unit, per }))
}
