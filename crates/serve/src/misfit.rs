//! Error messages for parameters of the wrong form, in the words of the protocol.
//!
//! The host's types parse the parameters. If they refuse, the schema of the same types says what is wrong, so that a
//! client never sees the name of a Rust type.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize as _;
use serde_json::{Map, Value as Json};

use super::error::Failure;
use super::messages::COMMON;
use riskbreaker_ruleset::{instead, quoted::quoted};
use riskbreaker_state::Value;

/// Returns the refusal of parameters that do not have the form of `T`.
pub(super) fn misfit<T: JsonSchema>(params: &Json) -> Failure {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let schema = generator.subschema_for::<T>().to_value();
    let found = Form { definitions: &generator.take_definitions(true), schema: &schema }.misfit("", params);
    let other = || "these parameters do not fit the method; `schema` says what it takes".to_owned();
    Failure::BadParams { message: found.unwrap_or_else(other) }
}

/// Returns the refusal of one parameter.
pub(super) fn takes(name: &str, what: &str, value: &Json) -> Failure {
    Failure::BadParams { message: format!("`{name}` takes {what}, not {}", shown(value)) }
}

/// The expected form of a value, as a schema.
#[derive(Clone, Copy)]
struct Form<'s> {
    definitions: &'s Map<String, Json>,
    schema: &'s Json,
}

impl<'s> Form<'s> {
    /// Describes what is wrong with a value; `None` if it fits. `place`: its path in the parameters.
    fn misfit(self, place: &str, value: &Json) -> Option<String> {
        if self.schema["$ref"] == "#/$defs/Value" {
            return Value::deserialize(value).err().map(|error| format!("`{place}`: {error}"));
        }
        let form = self.resolved();
        let options = form.options();
        if !options.is_empty() {
            if options.iter().any(|option| option.misfit(place, value).is_none()) {
                return None;
            }
            // Of several objects with one member each, the one with the same member is meant.
            let alone = value.as_object().is_some_and(|fields| fields.len() == 1);
            let same = |option: &&Form<'_>| alone && option.tag().is_some_and(|name| value.get(name).is_some());
            return options
                .iter()
                .find(same)
                .map_or_else(|| Some(form.refusal(place, value)), |meant| meant.misfit(place, value));
        }
        if !form.takes(value) {
            return Some(form.refusal(place, value));
        }
        match value {
            Json::Object(fields) => form.misfit_inside(place, fields),
            Json::Array(items) => items.iter().enumerate().find_map(|(n, item)| {
                let each = form.schema["prefixItems"].get(n).or(form.schema.get("items"))?;
                form.of(each).misfit(&format!("{place}[{n}]"), item)
            }),
            _ => None,
        }
    }

    fn refusal(self, place: &str, value: &Json) -> String {
        format!("`{place}` takes {}, not {}", self.words(), shown(value))
    }

    fn misfit_inside(self, place: &str, fields: &Map<String, Json>) -> Option<String> {
        let inside = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
        let is_known = |name: &str| self.properties().any(|(known, _)| known == name);
        let unknown = fields.keys().find(|name| self.schema["additionalProperties"] == false && !is_known(name));
        if let Some(name) = unknown {
            let common = COMMON.iter().map(|(name, ..)| *name).filter(|_| place.is_empty());
            let known = self.properties().map(|(name, _)| name).chain(common);
            let what = if place.is_empty() { "there is no parameter".into() } else { format!("`{place}` has no") };
            return Some(format!("{what} {}; {}", quoted(name), instead(name, known)));
        }
        let missing = self.required().find(|name| !fields.contains_key(*name));
        if let Some(name) = missing {
            let form = self.properties().find(|(known, _)| *known == name).map(|(_, form)| form.words());
            return Some(format!("`{}` is missing: it is {}", inside(name), form.unwrap_or_default()));
        }
        fields.iter().find_map(|(name, value)| {
            let known = self.schema["properties"].get(name).or(self.schema.get("additionalProperties"))?;
            self.of(known).misfit(&inside(name), value)
        })
    }

    fn of(self, schema: &'s Json) -> Form<'s> {
        Form { schema, ..self }
    }

    fn resolved(self) -> Form<'s> {
        let name = self.schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        name.and_then(|name| self.definitions.get(name)).map_or(self, |schema| self.of(schema))
    }

    fn options(self) -> Vec<Form<'s>> {
        let options = self.schema.get("oneOf").or(self.schema.get("anyOf")).and_then(Json::as_array);
        options.into_iter().flatten().map(|option| self.of(option)).collect()
    }

    fn properties(self) -> impl Iterator<Item = (&'s str, Form<'s>)> {
        let known = self.schema["properties"].as_object().into_iter().flatten();
        known.map(move |(name, schema)| (name.as_str(), self.of(schema)))
    }

    /// The name of the only allowed member, if it is required: the object is then one of several alternatives.
    fn tag(self) -> Option<&'s str> {
        let mut names = self.required().filter(|_| self.schema["additionalProperties"] == false);
        names.next().filter(|_| names.next().is_none())
    }

    fn required(self) -> impl Iterator<Item = &'s str> {
        self.schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str)
    }

    fn types(self) -> Vec<&'s str> {
        match &self.schema["type"] {
            Json::Array(types) => types.iter().filter_map(Json::as_str).collect(),
            ty => ty.as_str().into_iter().collect(),
        }
    }

    /// The texts that are allowed, if the form lists them.
    fn texts(self) -> Vec<&'s str> {
        let one = self.schema.get("const").into_iter();
        one.chain(self.schema["enum"].as_array().into_iter().flatten()).filter_map(Json::as_str).collect()
    }

    fn takes(self, value: &Json) -> bool {
        let (types, texts) = (self.types(), self.texts());
        let fits = |ty: &str| match ty {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.as_u64().is_some_and(|n| n <= self.largest()),
            "string" => value.as_str().is_some_and(|text| texts.is_empty() || texts.contains(&text)),
            "array" => value.as_array().is_some_and(|items| {
                let exactly = self.schema["prefixItems"].as_array().map(Vec::len);
                exactly.is_none_or(|wanted| wanted == items.len())
            }),
            _ => value.is_object(),
        };
        types.is_empty() || types.into_iter().any(fits)
    }

    /// The largest number of its integer type.
    fn largest(self) -> u64 {
        if self.schema["format"] == "uint32" { u64::from(u32::MAX) } else { u64::MAX }
    }

    /// Describes the form as a phrase.
    fn words(self) -> String {
        if self.schema["$ref"] == "#/$defs/Value" {
            return "a value".to_owned();
        }
        let form = self.resolved();
        let texts = form.texts();
        if !texts.is_empty() {
            return texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(" or ");
        }
        let (tagged, others): (Vec<_>, Vec<_>) = form.options().into_iter().partition(|form| form.tag().is_some());
        let tags: Vec<String> = tagged.into_iter().filter_map(Form::tag).map(|tag| format!("`{tag}`")).collect();
        let one = match tags.as_slice() {
            [] => None,
            [tag] => Some(format!("an object with {tag}")),
            tags => Some(format!("an object with one of {}", tags.join(", "))),
        };
        let options = others.into_iter().map(Form::words).filter(|words| words != "null").chain(one);
        let options: Vec<String> = options.collect();
        if !options.is_empty() {
            return options.join(" or ");
        }
        let types = form.types();
        match types.first().copied().unwrap_or_default() {
            "null" => "null".to_owned(),
            "boolean" => "true or false".to_owned(),
            "integer" if form.largest() < u64::MAX => format!("a whole number from 0 to {}", form.largest()),
            "integer" => "a whole number from 0".to_owned(),
            "string" => "a text".to_owned(),
            "array" => match form.schema["prefixItems"].as_array() {
                Some(items) => {
                    let parts: Vec<String> = items.iter().map(|item| form.of(item).words()).collect();
                    format!("a list of {}", parts.join(" and "))
                }
                None => format!("a list, each of which is {}", form.of(&form.schema["items"]).words()),
            },
            "object" => {
                let names = form.properties().map(|(name, _)| format!("`{name}`"));
                match names.collect::<Vec<_>>().join(", ") {
                    names if names.is_empty() => "an object".to_owned(),
                    names => format!("an object with {names}"),
                }
            }
            _ => "a value".to_owned(),
        }
    }
}

/// A value as it was sent, shortened to 40 characters.
fn shown(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{} ...", &text[..at]),
        None => text,
    }
}
