//! What a sweep changes in the rules: a fact of a card, a field at the start of a game, or a derived number. Each value is a
//! layer of one file over the rules.

use std::sync::Arc;

use anyhow::Result;
use riskbreaker::ruleset::instead;
use riskbreaker::state::EntityId;
use riskbreaker::{Driver, Library, Refusal, Ruleset, Session, Setup};

use super::{call_error, library};

/// The id of the layer that sets the value.
pub const LAYER: &str = "swept-fact";

/// Something that a layer gives another value.
#[derive(Clone, Debug, PartialEq)]
pub enum SweptMember {
    /// A number, text or yes-or-no on the card with this id.
    Fact { card: String, fact: String },
    /// The value of a field after `start`.
    Field(EntityMember),
    /// A derived value, in the whole game.
    Derived(EntityMember),
}

/// A field or a derived value of an entity that exists from the start.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityMember {
    kind: String,
    id: EntityId,
    name: String,
}

/// The game of a setup before its first decision, with a person on every seat.
pub fn before_first_decision(rules: &Arc<Ruleset>, mut setup: Setup) -> Result<Session> {
    setup.seats_in_scenario = false;
    for seat in rules.seats().keys() {
        setup = setup.seat(seat, Driver::Human);
    }
    let mut session = Session::start(rules, setup).map_err(|error| call_error(error.to_string()))?;
    match session.advance() {
        Ok(riskbreaker::Step::Fault(fault)) => Err(call_error(fault.to_string())),
        Ok(_) => Ok(session),
        Err(error) => Err(call_error(error.to_string())),
    }
}

impl SweptMember {
    /// The field or the derived value of this name of an entity that exists before the first decision.
    ///
    /// # Errors
    ///
    /// Nothing has this name, or it has no such value.
    pub fn of_entity(session: &Session, name: &str, member: &str) -> Result<SweptMember, Refusal> {
        let view = session.view();
        let id = view.find_typed(name)?;
        let kind = view.kind(id).unwrap_or_default().to_owned();
        let of = |name: &str| EntityMember { kind: kind.clone(), id, name: name.to_owned() };
        let fields: Vec<Arc<str>> = view.fields(id).map(|(field, _)| field.name.clone()).collect();
        if fields.iter().any(|field| **field == *member) {
            return Ok(SweptMember::Field(of(member)));
        }
        let derived = view.derived_names(id);
        if derived.iter().any(|derived| **derived == *member) {
            return Ok(SweptMember::Derived(of(member)));
        }
        let known = fields.iter().chain(derived).map(|name| &**name);
        Err(Refusal::new(format!("{} has no `{member}`; {}", view.title(id), instead(member, known))))
    }

    /// The rules with another value: a layer of one file over the ruleset `id` with `layers`.
    pub fn rules(&self, id: &str, layers: &[String], library: &Library, value: &str) -> Result<Arc<Ruleset>> {
        let base = id.split('+').next().unwrap_or(id);
        let manifest = format!(
            "id = \"{LAYER}\"\ntitle = \"A value that is swept\"\nversion = \"1.0.0\"\nengine = \"0.1\"\nover = [\"{base}\"]\n\
             summary = \"{value}.\"\n",
            value = value.replace(['"', '\\'], "")
        );
        let (path, script) = self.script(&written(value));
        let files = [
            (format!("{LAYER}/ruleset.toml"), manifest),
            (format!("{LAYER}/RULES.md"), "# A value that is swept\n".to_owned()),
            (format!("{LAYER}/{path}"), format!("local rb = require(\"@riskbreaker\")\n\nreturn {script}\n")),
        ];
        let library = Library::overlay(Library::from_files(files), library.clone());
        let mut layers = layers.to_vec();
        layers.push(LAYER.to_owned());
        library::load(&library, id, &layers)
    }

    /// The file of the layer and what it returns. `value`: as a script writes it.
    fn script(&self, value: &str) -> (String, String) {
        match self {
            SweptMember::Fact { card, fact } => (
                format!("maneuvers/{card}.luau"),
                format!("rb.extend(rb.maneuver({{ id = \"{card}\", {fact} = {value} }}))"),
            ),
            SweptMember::Field(EntityMember { kind, id, name }) => (
                "play.luau".to_owned(),
                format!(
                    "rb.extend(rb.play({{ start = rb.wrapped(function(below, ...)\n\
                     below(...)\n\
                     for _, one in rb.each(\"{kind}\") do\n\
                     if one.id == {id} then one:set(\"{name}\", {value}) end\n\
                     end\nend) }}))",
                    id = id.0
                ),
            ),
            SweptMember::Derived(EntityMember { kind, id, name }) => (
                "kinds.luau".to_owned(),
                format!(
                    "rb.kinds({{ {kind} = rb.extend({{ derived = {{ {name} = rb.wrapped(function(below, self, ...)\n\
                     return if self.id == {id} then {value} else below(self, ...)\n\
                     end) }} }}) }})",
                    id = id.0
                ),
            ),
        }
    }
}

/// A typed value as a script writes it.
fn written(value: &str) -> String {
    match value {
        "yes" | "true" => "true".to_owned(),
        "no" | "false" => "false".to_owned(),
        value if value.parse::<i64>().is_ok() => value.to_owned(),
        text => format!("{text:?}"),
    }
}
