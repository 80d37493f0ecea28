//! The commands `odds` and `hint`.

use riskbreaker::dice::{Fraction, float};
use riskbreaker::lab::{
    Advice, AdviceLimits, Advised, Effect, Limits, Odds, OddsQuery, PlayedOut, SessionExt as _, kinds_of_outcomes,
};
use riskbreaker::play::{Answering, Given, Source};
use riskbreaker::state::{OutcomeKind, readable_name};
use riskbreaker::{Question, Refusal, Value, Viewer};
use serde_json::json;

use super::act::given_by;
use super::event_rows::EventFilter;
use super::reader::answers;
use super::vocabulary::Vocabulary;
use super::{Complaint, Done, Repl};
use crate::cli::figures::{counted, full_bar, percent};
use crate::cli::interrupt::CtrlCWatch;
use crate::cli::odds;
use crate::cli::row::{Row, Span};
use crate::cli::rule_text::without_ids;

/// The most paths that `odds` explores at the prompt.
const ODDS_WAYS: u64 = 200_000;
/// The most outcomes that a hint lists for an answer.
const NAMED: usize = 2;
/// The longest time that a hint takes, in seconds.
const MOST_SECONDS: u64 = 600;
/// The width of a bar.
const BAR: usize = 10;
/// The most answers that a hint lists.
const MOST_ROWS: usize = 8;

impl Repl {
    /// The command `odds ANSWER [TOPIC ANSWER]... [--until ENTRY] [--compare SWITCH=VALUE]...`: prints the odds of an
    /// answer.
    pub(super) fn odds(&mut self, rest: &str, words: &Vocabulary) -> Done {
        let question = self.wanted_question()?;
        let (rest, until) = taken_out(rest, "--until")?;
        let mut parts = rest.split("--compare");
        let rest = parts.next().unwrap_or_default().trim();
        // Accepts `odds of X`, unless an option begins with these words.
        let spoken = ["of ", "for ", "to "].iter().find_map(|word| rest.strip_prefix(word));
        let rest = spoken.filter(|_| words.words_of_option(rest) == 0).unwrap_or(rest);
        let by_verb = words.with_option_of_verb(rest);
        let rest = by_verb.as_deref().unwrap_or(rest);
        let compared = parts.map(|part| switch_value(part.trim())).collect::<Result<Vec<_>, _>>()?;
        let further = Further { until, compared };
        if rest.is_empty() {
            return self.odds_of_each(&question);
        }
        let head = answers(rest, words).head;
        let Some(sentence) = self.asked_first(&question, rest, &head) else {
            return self.odds_of_line(&question, rest, words, &further);
        };
        // Another question comes first: the odds are those in the position in which the card can be played, unless
        // hidden information of others would affect the way there.
        let told_all = self.viewer().is_master() || !self.session.ruleset().schema().has_secrets();
        let ahead = self.card_meant(&head).filter(|_| told_all);
        let ahead = ahead.and_then(|card| Some((self.session.ahead_to(&card).ok()?, card)));
        let Some(((ahead, way, rolled), card)) = ahead else { return Err(sentence) };
        let offers = |question: &&Question| question.ask.options().iter().any(|option| *option.id == *card);
        let question = ahead.questions().iter().find(offers).cloned().expect("it is asked there");
        let here = self.session.lend();
        self.session.give_back(ahead);
        let told = self.odds_of_line(&question, rest, words, &further);
        self.session.give_back(here);
        if matches!(told, Err(Complaint::Wrong(_) | Complaint::Unread(_) | Complaint::Refused(_))) && rolled {
            return Err(sentence);
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

    /// Prints the odds of an answer and the further answers on the line, parsed like a typed answer.
    fn odds_of_line(&mut self, question: &Question, rest: &str, words: &Vocabulary, further: &Further) -> Done {
        let told = given_by(question, rest, words).and_then(|replies| self.odds_of(question, replies, further));
        let Err(complaint @ (Complaint::Wrong(_) | Complaint::Unread(_) | Complaint::Refused(_))) = told else {
            return told;
        };
        // Later questions are not open yet, but the rules declare their topics.
        let wider = words.with_topics(self.session.ruleset().topics());
        let read = |words: &Vocabulary| given_by(question, rest, words).ok();
        let mut complaint = complaint;
        if let Some(wide) = read(&wider).filter(|wide| Some(wide) != read(words).as_ref()) {
            match self.odds_of(question, wide, further) {
                Err(wrong @ (Complaint::Wrong(_) | Complaint::Unread(_) | Complaint::Refused(_))) => complaint = wrong,
                told => return told,
            }
        }
        // Words after the answer may answer later questions without a small word.
        let cut = answers(rest, words);
        let planned = match self.masters() {
            true => self.plan_of(question, rest, &cut.head, cut.named)?,
            false => None,
        };
        match planned.filter(|plan| plan.rest.is_none()) {
            Some(plan) => self.odds_of(question, plan.replies, further),
            None => Err(complaint),
        }
    }

    /// Prints the odds of an answer to a question, with answers to later questions.
    fn odds_of(&mut self, question: &Question, replies: Vec<(String, Value)>, further: &Further) -> Done {
        let Further { until, compared } = further;
        let answer = replies.iter().find(|(topic, _)| *topic == *question.topic);
        let heading = match answer {
            Some((_, value)) => {
                let answer = question.read_typed(value).map_err(|refusal| self.with_opening(question, refusal))?;
                question.tell(&answer)
            }
            None => readable_name(&question.topic),
        };
        // At a screen that shows everything, every seat can be answered for.
        let giver = if self.masters() { Viewer::master() } else { self.viewer() };
        let mut given = Given::all(question, &giver, replies);
        let limits = Limits { ways: ODDS_WAYS, ..Limits::default() };
        let (answering, viewer) = (Answering::Default, Some(self.viewer()));
        let watch = CtrlCWatch::begin();
        let interrupt = Some(watch.wanted());
        let query = OddsQuery { answering, viewer, limits, interrupt, ..OddsQuery::default() };
        let found = Given::typed(&mut given, |given| {
            let query = OddsQuery { given: given.to_vec(), ..query.clone() };
            self.session.odds_ahead(question.id, query, until.as_deref())
        })?;
        let query = OddsQuery { given, ..query };
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
            let columns: Vec<odds::ComparedColumn> =
                columns.iter().map(|(name, odds)| odds::ComparedColumn { name, odds, known: None }).collect();
            return odds::show_compared(&mut self.screen, &heading, &columns).map_err(Complaint::Broken);
        }
        if self.screen.json() {
            return Ok(self.screen.event("odds", &json!({ "of": heading, "odds": odds::OddsJson(&found) }))?);
        }
        let unshown = self.untold().fields;
        odds::show(&mut self.screen, &heading, &found, Some(&unshown)).map_err(Complaint::Broken)
    }

    /// Returns the refusal of a closed option, with the manual edit that opens it if the screen may know that.
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

    /// The command `odds` alone: prints the odds of each answer, in the order of the question.
    fn odds_of_each(&mut self, question: &Question) -> Done {
        let viewer = self.viewer();
        let watch = CtrlCWatch::begin();
        let found = self.session.odds_of_each(question.id, Some(viewer), Some(&watch.wanted()))?;
        if self.screen.json() {
            let rows: Vec<_> = found
                .iter()
                .map(|(answer, odds)| json!({ "answer": question.tell(answer), "odds": odds.as_ref().ok().map(odds::OddsJson) }))
                .collect();
            return Ok(self.screen.event("odds", &json!({ "question": question.topic, "answers": rows }))?);
        }
        let (untold, viewer) = (self.untold(), self.viewer());
        let cells = found.iter().map(|(answer, odds)| {
            let (bar, share) = match odds {
                Ok(odds) => success_of(odds, &kinds_of_outcomes(&self.session, odds, question, &viewer), &untold),
                Err(_) => Default::default(),
            };
            let text = summary(odds, &untold);
            vec![Span::strong(question.tell(answer)), Span::plain(bar), Span::plain(share), Span::plain(text)]
        });
        let cells = cells.collect();
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

    /// The command `hint`: ranks the answers, the best first.
    pub(super) fn hint(&mut self, rest: &str) -> Done {
        let limits = match rest {
            "" => AdviceLimits::default(),
            seconds => match seconds.parse() {
                Ok(seconds @ 1..=MOST_SECONDS) => AdviceLimits::of_seconds(seconds),
                _ => {
                    let text =
                        format!("`hint` takes a number of seconds, 1 to {MOST_SECONDS}: `hint 20`, not `{rest}`.");
                    return Err(Complaint::Wrong(text));
                }
            },
        };
        let question = self.wanted_question()?;
        let watch = CtrlCWatch::begin();
        let advised = self.session.advise(question.id, limits, Some(&watch.wanted()))?;
        if self.screen.json() {
            let mut told = json!(advised.report());
            told["question"] = json!(question.topic);
            for (row, one) in told["answers"].as_array_mut().into_iter().flatten().zip(&advised.answers) {
                row["odds"] = json!(one.odds.as_ref().ok().map(odds::OddsJson));
            }
            return Ok(self.screen.event("hint", &told)?);
        }
        self.show_advice(&advised, &question.topic)?;
        self.tell_unseen(advised.unseen_in_words())
    }

    /// Prints what this screen may not see, and how it was treated.
    fn tell_unseen(&mut self, unseen: Option<String>) -> Done {
        match unseen {
            Some(text) => Ok(self.screen.row(&Row::at(2).faint(text))?),
            None => Ok(()),
        }
    }

    /// Prints the best answers, then the others by how much worse they are; below each answer, the reason or its odds.
    fn show_advice(&mut self, advised: &Advised, topic: &str) -> Done {
        let mut shown = advised.clone();
        if !advised.is_by_games() {
            // Their shares are not meaningful.
            shown.answers.iter_mut().for_each(|one| one.played = None);
        }
        let advised = &shown;
        let untold = self.untold();
        let best = advised.best();
        self.show_bars(advised)?;
        match best {
            [] => {}
            [one] => self.screen.row(&Row::at(2).strong(&one.text).plain(alone(one)))?,
            all if all.len() == advised.answers.len() && all.iter().all(|one| one.played.is_none()) => {
                let text =
                    "After the next step no answer is better than another. `odds ANSWER` shows what one leads to.";
                self.screen.row(&Row::at(2).plain(text))?;
            }
            all => {
                let text = format!("no difference found between these {}", in_number(all.len()));
                let line = Row::at(2).plain(format!("{text}: ")).strong(listed(all)).plain(equal(all, advised.margin));
                self.screen.row(&line)?;
            }
        }
        let told_alone = usize::from(best.len() == 1);
        if let [one] = best {
            self.show_reason(one, topic, &untold)?;
        } else {
            self.show_reasons(best, topic, &untold)?;
        }
        let (rest, unexamined): (Vec<Advice>, Vec<Advice>) =
            advised.answers[best.len()..].iter().cloned().partition(|one| one.examined || one.place.is_some());
        let rest = rest.as_slice();
        let shown = MOST_ROWS.saturating_sub(told_alone);
        for group in by_place(rest).into_iter().take(shown) {
            let line = Row::at(2).plain(format!("{}{}", listed(group), worse(group)));
            self.screen.row(&line)?;
            self.show_reasons(group, topic, &untold)?;
        }
        let more: usize = by_place(rest).into_iter().skip(shown).map(<[Advice]>::len).sum();
        if more > 0 {
            let than = if advised.best().is_empty() { "" } else { ", worse than these" };
            let text = format!("and {}{than}", counted(more as u64, "more answer", "more answers"));
            self.screen.row(&Row::at(2).faint(text))?;
        }
        if !unexamined.is_empty() {
            let text = format!("Not examined, because the work ended before: {}.", listed(&unexamined));
            self.screen.row(&Row::prose(2).faint(text))?;
        }
        if let Some(now) = advised.now.filter(|_| advised.is_by_games()) {
            let (number, margin) = in_words(&now);
            let text = format!("If the computer chooses for everybody from here: {number}, give or take {margin}.");
            self.screen.row(&Row::at(2).plain(text))?;
        }
        let text = how_it_was_found(advised, self.session.ruleset().id(), self.session.ruleset().measures());
        Ok(self.screen.row(&Row::at(2).faint(text))?)
    }

    /// At a terminal, prints a bar for each answer with a known share of won games.
    fn show_bars(&mut self, advised: &Advised) -> Done {
        if !self.attended {
            return Ok(());
        }
        let rate = |one: &Advice| Some((one.text.clone(), one.played.as_ref()?.win_rate()?.0));
        let cells = advised.answers.iter().filter_map(rate).take(MOST_ROWS).map(|(text, share)| {
            let percent = format!("{:.0} %", 100.0 * share);
            vec![Span::strong(text), Span::plain(full_bar(share, BAR)), Span::plain(percent)]
        });
        let cells: Vec<Vec<Span>> = cells.collect();
        Ok(self.screen.columns(2, cells)?)
    }

    /// Prints the reason for an answer, or else its odds.
    fn show_reason(&mut self, advice: &Advice, topic: &str, untold: &EventFilter) -> Done {
        let text = advice.reason.clone().unwrap_or_else(|| after_it(advice, topic, untold));
        let text = without_ids(&text).into_owned();
        Ok(self.screen.row(&Row::prose(6).faint(text))?)
    }

    /// Prints the reasons of several answers; answers with the same reason share a line.
    fn show_reasons(&mut self, all: &[Advice], topic: &str, untold: &EventFilter) -> Done {
        let mut told: Vec<(String, Vec<&str>)> = Vec::new();
        for one in all {
            let text = one.reason.clone().unwrap_or_else(|| after_it(one, topic, untold));
            let text = without_ids(&text).into_owned();
            match told.iter_mut().find(|(known, _)| *known == text) {
                Some((_, answers)) => answers.push(&one.text),
                None => told.push((text, vec![&one.text])),
            }
        }
        let apart = told.len() > 1;
        let more = told.len().saturating_sub(MOST_ROWS);
        for (text, answers) in told.into_iter().take(MOST_ROWS) {
            let of = if apart { format!("{}: ", answers.join(", ")) } else { String::new() };
            self.screen.row(&Row::prose(6).faint(format!("{of}{text}")))?;
        }
        if more > 0 {
            self.screen.row(&Row::prose(6).faint(format!("and {more} more; `odds ANSWER` shows what one leads to")))?;
        }
        Ok(())
    }
}

/// Groups answers by place; answers without a place are alone.
fn by_place(answers: &[Advice]) -> Vec<&[Advice]> {
    answers.chunk_by(|one, other| one.place.is_some() && one.place == other.place).collect()
}

fn listed(answers: &[Advice]) -> String {
    answers.iter().map(|one| &*one.text).collect::<Vec<_>>().join(", ")
}

/// A small number as a word.
fn in_number(count: usize) -> String {
    const WORDS: [&str; 9] = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    count.checked_sub(2).and_then(|at| WORDS.get(at)).map_or_else(|| count.to_string(), ToString::to_string)
}

/// The figure of an answer that is best alone, in words.
fn alone(one: &Advice) -> String {
    match (&one.played, &one.worth) {
        (Some(played), _) => {
            let (number, margin) = in_words(played);
            let from = if played.wins.is_some() { " of games from here" } else { "" };
            format!(": {number}{from}, give or take {margin}{}", drawn(played))
        }
        (None, Some(worth)) => format!(": worth {:.1} after the next step", float(worth)),
        (None, None) => String::new(),
    }
}

/// The common figure of the best answers, in words.
fn equal(all: &[Advice], margin: Option<f64>) -> String {
    let played = || all.iter().filter_map(|one| one.played.as_ref());
    let Some(first) = played().next() else {
        return all[0].worth.as_ref().map_or_else(String::new, |worth| format!(": worth {:.1}", float(worth)));
    };
    let margin = margin.unwrap_or(f64::INFINITY);
    let games: u64 = played().map(|played| played.games).sum();
    let together = |of: fn(&PlayedOut) -> f64| {
        played().map(|played| of(played) * played.games as f64).sum::<f64>() / games.max(1) as f64
    };
    match first.wins {
        Some(_) => format!(
            ": they win {:.0} % of games from here, and differ by {:.0} points at most",
            100.0 * together(|played| played.win_rate().map_or(0.0, |(share, _)| share)),
            (100.0 * margin).ceil()
        ),
        None => format!(
            ": they end with {:.1} on average, and differ by {:.1} at most",
            together(|played| played.average),
            margin
        ),
    }
}

/// Formats the difference between a group of answers and the best one, as one figure or a range.
fn worse(group: &[Advice]) -> String {
    let first = &group[0];
    let behind: Vec<_> = group.iter().filter_map(|one| one.behind).collect();
    let Some(some) = behind.first() else {
        return match (&first.worth, first.place) {
            (Some(worth), Some(_)) if first.played.is_none() => format!(": worth {:.1}", float(worth)),
            _ => String::new(),
        };
    };
    let wins = first.played.is_some_and(|played| played.wins.is_some());
    let least = behind.iter().map(|one| one.average).fold(some.average, f64::min);
    let most = behind.iter().map(|one| one.average).fold(some.average, f64::max);
    let margin = behind.iter().map(|one| one.margin).fold(some.margin, f64::max);
    let number = |value: f64| if wins { format!("{:.0}", 100.0 * value) } else { format!("{value:.1}") };
    let range = match (number(least), number(most)) {
        (least, most) if least == most => least,
        (least, most) => format!("{least} to {most}"),
    };
    let margin = if wins { format!("{:.0}", (100.0 * margin).ceil()) } else { format!("{margin:.1}") };
    let unit = if wins { "points of 100 fewer wins" } else { "less" };
    format!(": {range} {unit}, give or take {margin}")
}

/// The likeliest next events after an answer, with the best answers to later questions.
fn after_it(advice: &Advice, topic: &str, untold: &EventFilter) -> String {
    let odds = match &advice.odds {
        Ok(odds) => next_step(odds, untold),
        Err(refusal) => return refusal.to_string(),
    };
    // The games were played with the answers of policies; these are the odds with the best answers.
    let best = with_best(advice, topic);
    let with = if best.is_empty() { String::new() } else { format!("with {}: ", best.join(", ")) };
    format!("{with}{odds}")
}

/// Describes the origin of the ranking: the number of games, or why there are none, and what ended the work.
fn how_it_was_found(advised: &Advised, rules: &str, measured: bool) -> String {
    let games = counted(advised.games, "game", "games");
    let stopped = match advised.stopped {
        0 => String::new(),
        all => format!(" ({all} of them stopped after {} actions)", AdviceLimits::ACTIONS),
    };
    let time =
        if advised.out_of_time { " The time ended the work; the same seed may give more elsewhere." } else { "" };
    let ranked = !advised.best().is_empty();
    if !measured {
        format!("{rules} does not say what a position is worth, so this is no ranking.")
    } else if advised.is_by_games() {
        format!("From {games} played to the end{stopped}, every answer on the same dice.{time}")
    } else if advised.games > 0 {
        let by = if ranked { "ranked by the exact value after the next step" } else { "too few to rank the answers" };
        format!("Only {games} could be played to the end{stopped}: {by}.{time}")
    } else if ranked {
        format!("No game could be played to its end. Ranked by the exact value after the next step.{time}")
    } else {
        format!("No game could be played to its end, so this is no ranking.{time}")
    }
}

/// The likeliest outcomes of the next step, in the words of the log.
fn next_step(odds: &Odds, untold: &EventFilter) -> String {
    let told = told_outcomes(odds, untold);
    let always = |line: &&String| told.len() > 1 && told.iter().all(|(lines, _)| lines.contains(line));
    let in_any_case: Vec<&String> = told.first().map_or(Vec::new(), |(lines, _)| lines.iter().filter(always).collect());
    let mut parts: Vec<String> = Vec::new();
    if !in_any_case.is_empty() {
        parts.push(format!("in any case {}", shortened(&in_any_case)));
    }
    parts.extend(told.iter().take(NAMED).map(|(lines, chance)| {
        let lines: Vec<&String> = lines.iter().filter(|line| !always(line)).collect();
        let nothing = if in_any_case.is_empty() { "nothing changes yet" } else { "nothing else" };
        let text = if lines.is_empty() { nothing.to_owned() } else { shortened(&lines) };
        format!("{:.0} % {text}", 100.0 * float(chance))
    }));
    if told.len() > NAMED {
        parts.push(format!("{} more", told.len() - NAMED));
    }
    parts.join("; ")
}

/// The most lines of one outcome that are named in a list of answers.
const LINES_OF_OUTCOME: usize = 2;

fn shortened(lines: &[&String]) -> String {
    let named: Vec<&str> = lines.iter().take(LINES_OF_OUTCOME).map(|line| line.as_str()).collect();
    let more = if lines.len() > LINES_OF_OUTCOME { " \u{b7} \u{2026}" } else { "" };
    format!("{}{more}", named.join(" \u{b7} "))
}

/// The outcomes of the next step merged by the lines that are shown at the table, the likeliest first.
fn told_outcomes(odds: &Odds, untold: &EventFilter) -> Vec<(Vec<String>, Fraction)> {
    let mut told: Vec<(Vec<String>, Fraction)> = Vec::new();
    for (outcome, chance) in &odds.outcomes {
        let hidden = |effect: &&Effect| match effect {
            Effect::Came { kind, .. } | Effect::Gone { kind, .. } => untold.kinds.contains(kind),
            Effect::Changed { field, .. } if untold.fields.contains(field) => true,
            effect => !effect.is_shown(),
        };
        let shown = outcome.effects.iter().filter(|effect| !hidden(effect));
        let lines: Vec<String> = shown.map(|effect| without_ids(&effect.line()).into_owned()).collect();
        match told.iter_mut().find(|(known, _)| *known == lines) {
            Some((_, sum)) => *sum += chance,
            None => told.push((lines, chance.clone())),
        }
    }
    told.sort_by(|(_, one), (_, two)| two.cmp(one));
    told
}

/// The score of played-out games and its margin: `wins 64 %` and `3`.
fn in_words(played: &PlayedOut) -> (String, String) {
    match played.win_rate() {
        Some((rate, margin)) => {
            (format!("wins {:.0} %", 100.0 * rate), format!("{:.0}", (100.0 * margin).ceil().max(1.0)))
        }
        None => (format!("ends with {:.1} on average", played.average), format!("{:.1}", played.margin().max(0.1))),
    }
}

/// The share of draws; empty if there are none.
fn drawn(played: &PlayedOut) -> String {
    match played.draws.filter(|draws| *draws > 0) {
        Some(draws) => format!("; {} drawn", percent(draws as f64 / played.games as f64)),
        None => String::new(),
    }
}

/// The best answers to later questions. Answers with the question's own topic are left out: they are orders that other
/// seats give at the same time.
fn with_best(advice: &Advice, own: &str) -> Vec<String> {
    let Ok(odds) = &advice.odds else { return Vec::new() };
    let best = odds.answers.iter().filter(|one| *one.topic != *own && one.source == Source::Best);
    best.map(|one| format!("{} {}", readable_name(&one.topic), readable_name(&one.answer))).collect()
}

/// The options after an answer on the line of `odds`.
struct Further {
    /// The horizon; `None` for that of the ruleset.
    until: Option<String>,
    compared: Vec<(String, String)>,
}

/// Removes an option and its value from a line. Returns the rest and the value.
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

/// Parses the value of `--compare`: house rules only, since other rulesets do not have the same position.
fn switch_value(text: &str) -> Result<(String, String), Complaint> {
    match text.split_once('=') {
        Some((switch, value)) if !switch.trim().is_empty() => Ok((switch.trim().into(), value.trim().into())),
        _ => Err(Complaint::Wrong(format!(
            "Write `--compare SWITCH=VALUE` instead of `--compare {text}`. Another ruleset is compared at the shell: `riskbreaker odds \
             CARD --compare RULESET:CARD`."
        ))),
    }
}

/// The share of outcomes that are good for the asked seat, as a bar and in words. If no outcome is known to be good or
/// bad, a bar of the likeliest one.
fn success_of(odds: &Odds, kinds: &[OutcomeKind], untold: &EventFilter) -> (String, String) {
    if kinds.iter().all(|kind| *kind == OutcomeKind::Other) {
        let likeliest = told_outcomes(odds, untold).first().map_or(0.0, |(_, chance)| float(chance));
        return (full_bar(likeliest, BAR), String::new());
    }
    let good = odds.outcomes.iter().zip(kinds).filter(|(_, kind)| **kind == OutcomeKind::Success);
    let share = good.map(|((_, chance), _)| float(chance)).sum::<f64>().clamp(0.0, 1.0);
    (full_bar(share, BAR), format!("{:.0} % good", 100.0 * share))
}

/// The likeliest outcomes as shown at the table, or why they are unknown.
fn summary(odds: &Result<Odds, Refusal>, untold: &EventFilter) -> String {
    let odds = match odds {
        Ok(odds) => odds,
        Err(refusal) => return refusal.to_string(),
    };
    let mut parts = vec![next_step(odds, untold)];
    if odds.estimate.is_some() {
        parts.push("an estimate".to_owned());
    }
    if !odds.remaining.is_zero() {
        parts.push(format!("{} not followed", percent(float(&odds.remaining))));
    }
    parts.join("; ")
}
