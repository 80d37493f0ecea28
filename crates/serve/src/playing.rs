//! Games that play on: a new one up to its first question, and one that has accepted a command up to its next question.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value as Json;

use super::commands::{ResultWriter, load};
use super::error::Failure;
use super::host::{Host, lock};
use super::job::{Extent, JobProgress};
use super::keeper::Keeper;
use super::messages::{NewTable, TableOpened};
use super::params::{needs, written};
use super::random::random_seed;
use super::role::Role;
use super::table::{GameTable, TableGame};
use riskbreaker_play::{Driver, Machines, Scenario, Session, Setup};
use riskbreaker_ruleset::Library;
use riskbreaker_state::Value;
use riskbreaker_store::KeptResult;

/// A game that plays on to its first question and is then put on its table.
pub(super) struct OpeningGame {
    pub host: Host,
    pub game: Box<TableGame>,
    /// The campaign file to store it in.
    pub campaign: Option<String>,
}

impl OpeningGame {
    fn play(mut self, table: &Arc<GameTable>, extent: Extent) -> Result<JobProgress, Failure> {
        while !self.game.play()? {
            if extent == Extent::Slice {
                return Ok(JobProgress::Rest(Box::new(move |table, extent| self.play_or_forget(table, extent))));
            }
        }
        let mut game = self.game;
        game.begin();
        if let Some(path) = self.campaign {
            let keeper = Keeper::create(&self.host.shared.library, &path, &mut game.session)?;
            game.keeper = Some(Box::new(keeper));
        }
        let remembered = game.remember()?;
        game.tell_turns_to(&table.name, self.host.shared.turns.get().cloned());
        game.keep_view_for_later(&table.name, Instant::now());
        let opened = begun(table, *game)?;
        lock(&self.host.shared.entrance).remember(table, remembered);
        self.host.people_changed(table);
        Ok(JobProgress::Done(opened))
    }

    /// Like `play`; frees the table's name if that fails.
    pub fn play_or_forget(self, table: &Arc<GameTable>, extent: Extent) -> Result<JobProgress, Failure> {
        let host = self.host.clone();
        self.play(table, extent).inspect_err(|_| host.forget(table))
    }
}

/// An accepted command whose game plays on.
pub(super) struct PlayingGame {
    pub cause: &'static str,
    pub result: ResultWriter,
    pub by: Role,
    /// The idempotency key, with the fingerprint of the request.
    pub key: Option<(i64, String)>,
}

impl PlayingGame {
    pub fn play(self, table: &Arc<GameTable>, game: &mut TableGame, extent: Extent) -> Result<JobProgress, Failure> {
        while !game.play()? {
            if extent == Extent::Slice {
                let rest = move |table: &Arc<GameTable>, extent| table.with(|game| self.play(table, game, extent));
                return Ok(JobProgress::Rest(Box::new(rest)));
            }
        }
        // The result is on disk together with the effects of the command: a repeated key never runs it twice.
        let result = (self.result)(game.seq + 1);
        let kept = match (&self.key, &result) {
            (Some((request, key)), Ok(result)) => Some(KeptResult {
                by: (self.by.word().to_owned(), self.by.seats_in_one()),
                key: key.clone(),
                request: *request,
                result: result.clone(),
            }),
            _ => None,
        };
        game.publish(&table.name, self.cause, &self.by, kept)?;
        let result = result?;
        if let Some((request, key)) = self.key {
            game.keep(&self.by, &key, request, result.clone());
        }
        Ok(JobProgress::Done(result))
    }
}

/// Puts a game on its table.
fn begun(table: &GameTable, game: TableGame) -> Result<Json, Failure> {
    let rules = game.session.ruleset();
    let opened = TableOpened {
        table: table.name.clone(),
        seq: game.seq,
        ruleset: rules.name(),
        hash: rules.hash(),
        seed: game.session.seed(),
        seats: game.session.seats().clone(),
    };
    table.begin(game);
    written(opened)
}

/// Starts a session for a new game.
pub(super) fn begin(machines: Machines, library: &Library, new: NewTable) -> Result<Session, Failure> {
    let id = match new.ruleset.or_else(|| library.default_id()) {
        Some(id) => id,
        None => return Err(needs("`ruleset`")),
    };
    let rules = load(machines, library, &id, &new.layers)?;
    let scenario = match (new.scenario, new.position) {
        (None, None) => Scenario::Default,
        (Some(name), None) => Scenario::Named(name),
        (None, Some(position)) => Scenario::Table(Value::map(position)),
        (Some(_), Some(_)) => return Err(needs("either `scenario` or `position`, not both")),
    };
    let mut setup = Setup { scenario, dice: new.dice, ..Setup::default() }.seed(new.seed.unwrap_or_else(random_seed));
    for (seat, driver) in new.seats {
        let Ok(driver) = driver.parse::<Driver>();
        setup = setup.seat(seat, driver);
    }
    for (switch, value) in new.switches {
        setup = setup.switch(switch, Value::text(value.to_string()));
    }
    Ok(Session::start(&rules, setup)?)
}
