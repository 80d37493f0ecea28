//! The commands `odds` and `hint`.

use std::time::Duration;

use riskbreaker::dice::{Fraction, float};
use riskbreaker::lab::{Advice, Advised, Effect, Limits, Odds, OddsQuery, PlayedOut};
use riskbreaker::play::{Answering, Given, Source};
use riskbreaker::state::readable_name;
use riskbreaker::{Question, Refusal, Viewer};
use serde_json::json;

use super::act::given_by;
use super::event_rows::Untold;
use super::meaning::answers;
use super::vocabulary::Vocabulary;
use super::{Complaint, Done, Repl};
use crate::cli::figures::{chance_json, counted, likeliest, percent};
use crate::cli::interrupt::Watch;
use crate::cli::odds;
use crate::cli::row::{Row, Span};

/// The most ways that `odds` explores at the prompt.
const ODDS_WAYS: u64 = 200_000;
/// The time limit of `hint`.
const TIME: Duration = Duration::from_secs(1);
/// The most outcomes that a hint lists for an answer.
const NAMED: usize = 2;
/// The most answers that a hint lists.
const MOST_ROWS: usize = 8;

impl Repl {
    /// `odds ANSWER [TOPIC ANSWER]... [--until ENTRY] [--compare SWITCH=VALUE]...`: the possible outcomes of an answer.
    pub(super) fn odds(&mut self, rest: &str, words: &Vocabulary) -> Done {
        let question = self.wanted_question()?;
        let (rest, until) = taken_out(rest, "--until")?;
        let mut parts = rest.split("--compare");
        let rest = parts.next().unwrap_or_default().trim();
        let compared = parts.map(|part| switch_value(part.trim())).collect::<Result<Vec<_>, _>>()?;
        let further = Further { until, compared };
        if rest.is_empty() {
            return self.odds_of_each(&question);
        }
        let head = answers(rest, words).head;
        let Some(sentence) = self.asked_first(&question, &head) else {
            let told = self.odds_of(&question, rest, words, &further);
            // Later questions are not open yet; the rules know their topics.
            let wider = words.with_topics(self.session.ruleset().topics());
            let read = |words: &Vocabulary| given_by(&question, rest, words).ok();
            let (narrow, wide) = (read(words), read(&wider));
            return match told {
                Err(Complaint::Wrong(_) | Complaint::Refused(_)) if wide.is_some() && wide != narrow => {
                    self.odds_of(&question, rest, &wider, &further)
                }
                told => told,
            };
        };
        // Another question comes first: the odds are those of the moment when the card can be played.
        // Except where hidden information of others would decide what comes before.
        let told_all = self.viewer().is_master() || !self.session.ruleset().schema().has_secrets();
        let ahead = self.card_meant(&head).filter(|_| told_all);
        let ahead = ahead.and_then(|card| Some((self.session.ahead_to(&card).ok()?, card)));
        let Some(((ahead, way, rolled), card)) = ahead else { return Err(Complaint::Wrong(sentence)) };
        let offers = |question: &&Question| question.ask.options().iter().any(|option| *option.id == *card);
        let question = ahead.questions().iter().find(offers).cloned().expect("it is asked there");
        let here = self.session.lend();
        self.session.give_back(ahead);
        let told = self.odds_of(&question, rest, words, &further);
        self.session.give_back(here);
        if matches!(told, Err(Complaint::Wrong(_) | Complaint::Refused(_))) && rolled {
            return Err(Complaint::Wrong(sentence));
        }
        told?;
        if !self.screen.json() {
            let way: Vec<String> =
                way.iter().map(|(who, topic, answer)| format!("{who} {}: {answer}", readable_name(topic))).collect();
            let dice = if rolled { "; dice rolled on the way are not the real ones" } else { "" };
            self.screen.row(&Row::at(2).faint(format!("Assumed before it: {}{dice}.", way.join("; "))))?;
        }
        Ok(())
    }

    /// What an answer to a question can come to, with what follows it on the line.
    fn odds_of(&mut self, question: &Question, rest: &str, words: &Vocabulary, further: &Further) -> Done {
        let Further { until, compared } = further;
        let replies = given_by(question, rest, words)?;
        let answer = replies.iter().find(|(topic, _)| *topic == *question.topic);
        let heading = match answer {
            Some((_, value)) => {
                let answer = question.read(value).map_err(|refusal| self.with_opening(question, refusal))?;
                question.tell(&answer)
            }
            None => readable_name(&question.topic),
        };
        // Whoever sits at a screen that is everybody's may answer every seat.
        let giver = if self.masters() { Viewer::master() } else { self.viewer() };
        let given = Given::all(question, &giver, replies);
        let limits = Limits { ways: ODDS_WAYS, ..Limits::default() };
        let (answering, viewer) = (Answering::Default, Some(self.viewer()));
        let watch = Watch::begin();
        let interrupt = Some(watch.wanted());
        let query = OddsQuery { given, answering, viewer, limits, interrupt, ..OddsQuery::default() };
        let found = self.session.odds_ahead(question.id, query.clone(), until.as_deref())?;
        if !compared.is_empty() {
            let query = OddsQuery { until: found.until.clone(), ..query };
            let mut columns = vec![("as it is".to_owned(), found)];
            for (switch, value) in compared {
                let odds = self.session.odds_by(question.id, query.clone(), switch, value)?;
                columns.push((format!("{switch}={value}"), odds));
            }
            if self.screen.json() {
                let columns: Vec<_> = columns
                    .iter()
                    .map(|(name, odds)| json!({ "column": name, "odds": odds::OddsJson(odds) }))
                    .collect();
                return Ok(self.screen.event("odds", &json!({ "of": heading, "compared": columns }))?);
            }
            let columns: Vec<odds::Compared> =
                columns.iter().map(|(name, odds)| odds::Compared { name, odds, known: None }).collect();
            return odds::show_compared(&mut self.screen, &heading, &columns).map_err(Complaint::Broken);
        }
        if self.screen.json() {
            return Ok(self.screen.event("odds", &json!({ "of": heading, "odds": odds::OddsJson(&found) }))?);
        }
        odds::show(&mut self.screen, &heading, &found).map_err(Complaint::Broken)
    }

    /// A refusal of a closed option with the change by hand that opens it, where the screen may know that.
    fn with_opening(&self, question: &Question, refusal: Refusal) -> Complaint {
        let Refusal::Greyed { label, .. } = &refusal else { return refusal.into() };
        let option = question.ask.options().iter().find(|option| *option.label == **label);
        let opening = option.filter(|_| self.viewer().is_master());
        let Some((entity, field, value)) = opening.and_then(|option| self.session.opening(question.id, &option.id))
        else {
            return refusal.into();
        };
        let view = self.session.view();
        let known = view.fields(entity).find(|(known, _)| *known.name == *field);
        let field = known.map_or(field.clone(), |(known, _)| known.label.clone());
        let change = format!("set {} {field} {}", view.title(entity), view.words(&value));
        Complaint::Wrong(format!("{refusal}. `{change}` opens it; `undo` takes that back."))
    }

    /// `odds` alone: what each answer can come to, in the order in which they are offered.
    fn odds_of_each(&mut self, question: &Question) -> Done {
        let viewer = self.viewer();
        let watch = Watch::begin();
        let found = self.session.odds_of_each(question.id, Some(viewer), Some(&watch.wanted()))?;
        if self.screen.json() {
            let rows: Vec<_> = found
                .iter()
                .map(|(answer, odds)| json!({ "answer": question.tell(answer), "odds": odds.as_ref().ok().map(odds::OddsJson) }))
                .collect();
            return Ok(self.screen.event("odds", &json!({ "question": question.topic, "answers": rows }))?);
        }
        let cells = found
            .iter()
            .map(|(answer, odds)| vec![Span::plain(question.tell(answer)), Span::plain(summary(odds))])
            .collect();
        self.screen.columns(2, cells)?;
        if let Some(odds) = found.iter().find_map(|(_, odds)| odds.as_ref().ok()) {
            self.tell_unseen(odds.unseen_in_words())?;
        }
        let until = found.iter().find_map(|(_, odds)| odds.as_ref().ok()?.until_in_words());
        let until = until.map(|until| format!("From here {until}. ")).unwrap_or_default();
        let text = format!(
            "{until}Later questions take their defaults. `odds ANSWER WORD ANSWER ...` shows one answer in full."
        );
        Ok(self.screen.row(&Row::at(2).faint(text))?)
    }

    /// `hint`: ranks the answers, the best first.
    pub(super) fn hint(&mut self) -> Done {
        let question = self.wanted_question()?;
        let watch = Watch::begin();
        let advised = self.session.advise(question.id, TIME, Some(&watch.wanted()))?;
        let measured = self.session.ruleset().measures();
        if self.screen.json() {
            let rows: Vec<_> = advised.answers.iter().map(|one| advice_json(one, &question.topic)).collect();
            let now = advised.now.as_ref().map(played_json);
            let told = json!({
                "question": question.topic, "now": now, "answers": rows, "unseen": advised.unseen, "dealt": advised.dealt,
            });
            return Ok(self.screen.event("hint", &told)?);
        }
        self.show_advice(&advised, &question.topic, measured)?;
        self.tell_unseen(advised.unseen_in_words())
    }

    /// Prints what this screen may not see, and what was assumed for it.
    fn tell_unseen(&mut self, unseen: Option<String>) -> Done {
        match unseen {
            Some(text) => Ok(self.screen.row(&Row::at(2).faint(text))?),
            None => Ok(()),
        }
    }

    /// One ranking by one number, the odds of the next step below each answer, at most a screen of it.
    fn show_advice(&mut self, Advised { answers, now, .. }: &Advised, topic: &str, measured: bool) -> Done {
        if !measured {
            let text = format!(
                "{} does not say what a position is worth, so this is no ranking.",
                self.session.ruleset().id()
            );
            self.screen.row(&Row::at(2).faint(text))?;
        }
        let wins = answers.iter().filter_map(|one| one.played).any(|played| played.win_rate().is_some());
        let untold = self.untold();
        let games: u64 = answers.iter().filter_map(|one| one.played).chain(*now).map(|played| played.games).sum();
        // The shares of a few games mean nothing.
        let ranked = measured && !now.iter().chain(answers.iter().filter_map(|one| one.played.as_ref())).any(too_few);
        let mut rows: Vec<Ranked> = Vec::new();
        for mut one in answers.iter().map(|one| Ranked::of(one, topic, &untold)) {
            // All answers are ranked by the same number: if some were played to the end, the value of the next step is not used.
            if games > 0 && one.played.is_none() || !ranked {
                one.number = None;
            }
            match rows.iter_mut().find(|row| !row.differs_from(&one, ranked)) {
                Some(row) => row.join(one),
                None => rows.push(one),
            }
        }
        let more = rows.len().saturating_sub(MOST_ROWS);
        for (at, row) in rows.iter().take(MOST_ROWS).enumerate() {
            let mut line = Row::at(2);
            line = if at == 0 && ranked { line.strong(&row.answer) } else { line.plain(&row.answer) };
            if let Some(number) = &row.number {
                let from = if at == 0 && wins { " of games from here" } else { "" };
                let give = match &row.margin {
                    Some(margin) => format!(", give or take {margin}"),
                    None => String::new(),
                };
                line = line.plain(format!(": {number}{from}{give}"));
            }
            self.screen.row(&line)?;
            if let Some(odds) = &row.odds {
                // The games were played with the answers of policies; these are the odds with the best ones.
                let with = if row.best.is_empty() { String::new() } else { format!("with {}: ", row.best.join(", ")) };
                self.screen.row(&Row::prose(6).faint(format!("{with}{odds}")))?;
            }
        }
        if more > 0 {
            self.screen.row(&Row::at(2).faint(format!("and {more} more answers, no better than these")))?;
        }
        if measured {
            if let Some(now) = now.filter(|_| ranked) {
                let (number, margin) = in_words(&now);
                let text = format!("If the computer chooses for everybody from here: {number}, give or take {margin}.");
                self.screen.row(&Row::at(2).plain(text))?;
            }
            let text = match games {
                0 => {
                    let ranked = match rows.len() {
                        1 => {
                            "After the next step no answer is better than another. `odds ANSWER` shows what one leads to."
                        }
                        _ => {
                            "Ranked by the average value of the position after the next step. The ruleset defines the value."
                        }
                    };
                    format!("No game could be played to its end from here. {ranked}")
                }
                games if !ranked => {
                    let games = counted(games, "game", "games");
                    format!(
                        "Only {games} could be played to the end in a second, too few to rank the answers. Below each answer: the odds of the next step."
                    )
                }
                games => format!("From {games} games played to the end. Below each answer: the odds of the next step."),
            };
            self.screen.row(&Row::at(2).faint(text))?;
        }
        Ok(())
    }
}

/// Whether so few games were played out that their share of wins may be off by a quarter, or their average by anything.
fn too_few(played: &PlayedOut) -> bool {
    played.win_rate().map_or(!played.margin().is_finite(), |(_, margin)| margin > 0.25)
}

/// One row of the ranking: an answer, or several with the same outcomes, and the number that ranks it.
struct Ranked {
    answer: String,
    /// The best answers to the questions that follow; none for a row of several answers.
    best: Vec<String>,
    played: Option<PlayedOut>,
    /// `wins 64 %`, or the average worth, and how far it may be off.
    number: Option<String>,
    margin: Option<String>,
    /// The odds of the next step in a few words; none for several answers with different odds.
    odds: Option<String>,
}

impl Ranked {
    fn of(advice: &Advice, topic: &str, untold: &Untold) -> Ranked {
        let (number, margin) = match (&advice.played, &advice.worth) {
            (Some(played), _) => {
                let (number, margin) = in_words(played);
                (Some(number), Some(margin))
            }
            (None, Some(worth)) => (Some(format!("worth {:.1} after the next step", float(worth))), None),
            (None, None) => (None, None),
        };
        let odds = match &advice.odds {
            Ok(odds) => next_step(odds, untold),
            Err(refusal) => refusal.to_string(),
        };
        Ranked {
            answer: advice.text.clone(),
            best: with_best(advice, topic),
            played: advice.played,
            number,
            margin,
            odds: Some(odds),
        }
    }

    /// Whether two answers get a row each. Answers with the same odds share a row if their numbers differ by less than the
    /// margin.
    fn differs_from(&self, other: &Ranked, measured: bool) -> bool {
        match (&self.played, &other.played) {
            _ if !measured => self.odds != other.odds,
            (Some(one), Some(two)) => {
                let margin = |played: &PlayedOut| played.win_rate().map_or(played.margin(), |(_, margin)| margin);
                self.odds != other.odds || (one.score() - two.score()).abs() > margin(one).max(margin(two))
            }
            (None, None) => self.number != other.number,
            _ => true,
        }
    }

    /// Adds an answer with the same outcomes.
    fn join(&mut self, other: Ranked) {
        self.answer = format!("{}, {}", self.answer, other.answer);
        self.best.clear();
        self.odds = self.odds.take().filter(|odds| Some(odds) == other.odds.as_ref());
    }
}

/// The likeliest outcomes of the next step, as the log would print them.
fn next_step(odds: &Odds, untold: &Untold) -> String {
    let mut told: Vec<(String, Fraction)> = Vec::new();
    for (outcome, chance) in &odds.outcomes {
        let hidden = |effect: &&Effect| match effect {
            Effect::Came { kind, .. } | Effect::Gone { kind, .. } => untold.kinds.contains(kind),
            effect => !effect.is_shown(),
        };
        let lines: Vec<String> = outcome.effects.iter().filter(|effect| !hidden(effect)).map(Effect::line).collect();
        let line = if lines.is_empty() { "nothing changes yet".to_owned() } else { lines.join(" \u{b7} ") };
        match told.iter_mut().find(|(known, _)| *known == line) {
            Some((_, sum)) => *sum += chance,
            None => told.push((line, chance.clone())),
        }
    }
    told.sort_by(|(_, one), (_, two)| two.cmp(one));
    let named = told.iter().take(NAMED).map(|(line, chance)| format!("{:.0} % {line}", 100.0 * float(chance)));
    let mut parts: Vec<String> = named.collect();
    if told.len() > NAMED {
        parts.push(format!("{} more", told.len() - NAMED));
    }
    parts.join("; ")
}

/// The one number of games that were played out, and how far it may be off: `wins 64 %` and `3`.
fn in_words(played: &PlayedOut) -> (String, String) {
    match played.win_rate() {
        Some((rate, margin)) => {
            (format!("wins {:.0} %", 100.0 * rate), format!("{:.0}", (100.0 * margin).ceil().max(1.0)))
        }
        None => (format!("ends with {:.1} on the average", played.average), format!("{:.1}", played.margin().max(0.1))),
    }
}

fn played_json(played: &PlayedOut) -> serde_json::Value {
    let wins = played.win_rate().map(|(share, margin)| json!({ "share": share, "margin": margin }));
    json!({ "games": played.games, "wins": wins, "average": played.average, "margin": played.margin() })
}

/// The best answers to the questions that follow. Those of the question's own topic are orders of others, given at the same
/// time.
fn with_best(advice: &Advice, own: &str) -> Vec<String> {
    let Ok(odds) = &advice.odds else { return Vec::new() };
    let best = odds.answers.iter().filter(|one| *one.topic != *own && one.source == Source::Best);
    best.map(|one| format!("{} {}", readable_name(&one.topic), readable_name(&one.answer))).collect()
}

/// What follows an answer on the line of `odds`.
struct Further {
    /// How far the odds look ahead; `None`: to the horizon of the ruleset.
    until: Option<String>,
    compared: Vec<(String, String)>,
}

/// A line without an option and its value, and the value.
fn taken_out(line: &str, option: &str) -> Result<(String, Option<String>), Complaint> {
    let mut words = line.split(' ');
    let mut rest: Vec<&str> = Vec::new();
    let mut value = None;
    while let Some(word) = words.next() {
        let given = match word.strip_prefix(option) {
            Some("") => words.by_ref().find(|word| !word.is_empty()).map(str::to_owned),
            Some(joined) if joined.starts_with('=') => Some(joined[1..].to_owned()),
            _ => {
                rest.push(word);
                continue;
            }
        };
        let Some(given) = given.filter(|given| !given.is_empty()) else {
            return Err(Complaint::Wrong(format!("`{option}` needs a name, for example `{option} action`.")));
        };
        value = Some(given);
    }
    Ok((rest.join(" "), value))
}

/// The value of `--compare` at the prompt: house rules only, since other rulesets have no such position.
fn switch_value(text: &str) -> Result<(String, String), Complaint> {
    match text.split_once('=') {
        Some((switch, value)) if !switch.trim().is_empty() => Ok((switch.trim().into(), value.trim().into())),
        _ => Err(Complaint::Wrong(format!(
            "Write `--compare SWITCH=VALUE` instead of `--compare {text}`. Another ruleset is compared at the shell: `riskbreaker odds \
             CARD --compare RULESET:CARD`."
        ))),
    }
}

/// The likeliest outcomes, or the reason why they are unknown.
fn summary(odds: &Result<Odds, Refusal>) -> String {
    let odds = match odds {
        Ok(odds) => odds,
        Err(refusal) => return refusal.to_string(),
    };
    let mut parts = likeliest(odds, NAMED);
    if odds.estimate.is_some() {
        parts.push("an estimate".to_owned());
    }
    if !odds.remaining.is_zero() {
        parts.push(format!("{} not followed", percent(float(&odds.remaining))));
    }
    parts.join("; ")
}

/// The likeliest outcomes, and the answers assumed for later questions.
fn why(advice: &Advice, topic: &str) -> String {
    let best = with_best(advice, topic);
    let with = if best.is_empty() { String::new() } else { format!("with {}: ", best.join(", ")) };
    format!("{with}{}", summary(&advice.odds))
}

fn advice_json(advice: &Advice, topic: &str) -> serde_json::Value {
    json!({
        "answer": advice.answer,
        "text": advice.text,
        "worth": advice.worth.as_ref().map(chance_json),
        "at_the_end": advice.played.as_ref().map(played_json),
        "why": why(advice, topic),
        "odds": advice.odds.as_ref().ok().map(odds::OddsJson),
    })
}
