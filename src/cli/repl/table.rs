//! Commands about whole games: looking, starting another game, and the end of a game.

use riskbreaker::names::typed;
use riskbreaker::{Ruleset, Scenario, Session, Setup, Step};
use serde_json::json;

use super::names::ambiguous;
use super::{Complaint, Done, Repl};

use crate::cli::roll::random_seed;
use crate::cli::row::{Row, Span, Tone};
use crate::cli::rules::{scenario_of, scenario_text, scenario_title};

impl Repl {
    /// The command `look`: prints the state of the game, and everybody in rows.
    pub(super) fn look(&mut self) -> Done {
        let standing = self.session.prompt();
        if !self.screen.json() && !standing.is_empty() {
            self.screen.row(&Row::at(0).strong(standing))?;
        }
        self.who("")?;
        self.show_positions()
    }

    /// The command `new [SCENARIO]`: lists the scenarios, or starts one.
    pub(super) fn new_game(&mut self, rest: &str) -> Done {
        let rules = self.session.ruleset().clone();
        if rest.is_empty() {
            return self.show_scenarios(&rules);
        }
        let names: Vec<&String> = rules.scenarios().keys().collect();
        let titled = |name: &str| rules.scenarios().get(name).and_then(scenario_title).unwrap_or(name).to_owned();
        let number = rest.parse::<usize>().ok().and_then(|number| names.get(number.wrapping_sub(1)).copied());
        let spellings = || names.iter().flat_map(|name| [(*name, (*name).clone()), (*name, titled(name))]);
        let found = if number.is_some() { Vec::new() } else { typed(rest, spellings) };
        if found.len() > 1 {
            return Err(ambiguous(rest, found));
        }
        let name = match number.or(found.first().copied()) {
            Some(name) => name,
            None => {
                let known = names.iter().map(|name| name.as_str());
                let sentence = format!("There is no scenario `{rest}`.");
                return Err(Complaint::unknown(sentence, rest, known, "`new` lists them."));
            }
        };
        let setup = Setup { scenario: Scenario::Named(name.clone()), ..self.next_setup() };
        self.begin(setup)
    }

    /// The command `rematch`: starts the same scenario with other dice.
    pub(super) fn rematch(&mut self) -> Done {
        if self.setup.is_none() {
            return Err(Complaint::wrong("This game was loaded from a file. `new` lists the scenarios to start from."));
        }
        let setup = self.next_setup();
        self.begin(setup)
    }

    /// The setup of the next game: that of this one, with other dice. A script that is run again gets the same dice
    /// again.
    pub(super) fn next_setup(&self) -> Setup {
        let setup = self.setup.clone().unwrap_or_default();
        let seed = if self.attended { random_seed() } else { self.session.seed().wrapping_add(1) };
        let dice = match setup.dice {
            riskbreaker::DiceSource::Written(_) => riskbreaker::DiceSource::Seeded,
            other => other,
        };
        Setup { seed, dice, ..setup }
    }

    pub(super) fn begin(&mut self, setup: Setup) -> Done {
        let rules = self.session.ruleset().clone();
        let mut session = Session::start(&rules, setup.clone()).map_err(|error| Complaint::Wrong(error.to_string()))?;
        let (name, scenario) = scenario_of(&rules, &setup);
        let title = scenario.and_then(scenario_title).unwrap_or(name).to_owned();
        if self.screen.json() {
            self.screen.event("start", &json!({ "rules": rules.id(), "scenario": title, "seed": setup.seed }))?;
        }
        self.screen.row(&Row::at(0).faint(format!("{title} · seed {}", setup.seed)))?;
        if let Some(text) = scenario.and_then(scenario_text) {
            self.screen.row(&Row::prose(0).plain(text))?;
        }
        if let Some(campaign) = &mut self.campaign {
            session = campaign.begin(&rules, setup.clone(), &title).map_err(super::campaign::wrong)?;
        }
        self.setup = Some(setup);
        self.go_over_to(session, None)
    }

    fn show_scenarios(&mut self, rules: &Ruleset) -> Done {
        let rows: Vec<(&String, String, String)> = rules
            .scenarios()
            .iter()
            .map(|(name, scenario)| {
                let title = scenario_title(scenario).unwrap_or(name).to_owned();
                (name, title, scenario_text(scenario).unwrap_or_default().to_owned())
            })
            .collect();
        if self.screen.json() {
            let rows: Vec<_> =
                rows.iter().map(|(name, title, text)| json!({ "id": name, "title": title, "text": text })).collect();
            return Ok(self.screen.event("scenarios", &json!({ "scenarios": rows }))?);
        }
        for (at, (name, title, text)) in rows.iter().enumerate() {
            self.screen.row(&Row::at(1).plain(format!("{} ", at + 1)).strong(title).faint(format!("  {name}")))?;
            if !text.is_empty() {
                self.screen.row(&Row::prose(4).plain(text))?;
            }
        }
        Ok(self.screen.row(&Row::at(2).with("`new NUMBER` or `new NAME` starts one.", Tone::Faint))?)
    }

    /// Prints the end of the game: the final status, once, and what can be done next.
    pub(super) fn show_end(&mut self) -> Done {
        let told = std::mem::replace(&mut self.ended, true);
        if self.attended && !told && !self.screen.json() {
            let rounds = self.session.prompt();
            if !rounds.is_empty() {
                self.screen.row(&Row::at(2).faint(rounds))?;
            }
            self.who("")?;
        }
        let rows = [
            ("rematch", "plays it again with other dice"),
            ("new", "lists the scenarios to start from"),
            ("log all", "shows the whole game"),
            ("undo", "takes the last line back"),
            ("save NAME, quit", ""),
        ];
        if self.screen.json() || !self.attended {
            let text = "`rematch` plays it again, `new` lists other scenarios, `log all` shows the whole game, `undo` takes the last line back";
            return Ok(self.screen.row(&Row::at(2).faint(text))?);
        }
        let cells = rows.iter().map(|(word, what)| vec![Span::strong(word), Span::plain(what)]).collect();
        Ok(self.screen.columns(2, cells)?)
    }

    /// The complaint that the game is over.
    pub(super) fn over(&self) -> Complaint {
        let outcome = match &self.step {
            Step::Over(outcome) if !outcome.is_empty() => format!(": {outcome}"),
            _ => String::new(),
        };
        Complaint::Wrong(format!(
            "The game is over{outcome}. `rematch` plays it again, `undo` takes the last line back."
        ))
    }
}
