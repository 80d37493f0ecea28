//! Parses the parameters of requests and writes their results.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::error::Failure;
use super::misfit::misfit;
use super::role::{Role, RoleName};
use riskbreaker_play::{Refusal, Ruleset};

/// Parses the parameters of a method.
pub(super) fn read<T: DeserializeOwned + JsonSchema>(params: &Json) -> Result<T, Failure> {
    T::deserialize(params).map_err(|_| misfit::<T>(params))
}

pub(super) fn written(result: impl Serialize) -> Result<Json, Failure> {
    serde_json::to_value(result).map_err(|error| Failure::internal(error.to_string()))
}

pub(super) fn needs(what: &str) -> Failure {
    Failure::BadParams { message: format!("the request needs {what}") }
}

pub(super) fn role_of(name: RoleName, seat: Option<&str>) -> Result<Role, Failure> {
    Ok(match (name, seat) {
        (RoleName::Operator, _) => Role::Operator,
        (RoleName::GameMaster, _) => Role::GameMaster,
        (RoleName::Watcher, _) => Role::Watcher,
        (RoleName::Seat, Some(seat)) => Role::Seat(Arc::from(seat)),
        (RoleName::Seat, None) => return Err(needs("`seat`")),
    })
}

pub(super) fn must_have_seat(rules: &Ruleset, seat: &str) -> Result<(), Failure> {
    if rules.seats().contains_key(seat) {
        return Ok(());
    }
    let known = rules.seats().keys().map(String::as_str);
    Err(Refusal::unknown(format!("{} has no seat `{seat}`", rules.id()), seat, known).into())
}
