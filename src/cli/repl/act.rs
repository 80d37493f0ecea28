//! The commands that play: answers, free acts, undo.

use std::sync::Arc;

use riskbreaker::dice::Dice;
use riskbreaker::names::{fold, spelling, typed};
use riskbreaker::play::{DecisionCount, Mark, number_in_words, retyped};
use riskbreaker::state::readable_name;
use riskbreaker::store::Campaign;
use riskbreaker::{
    Answer, Ask, Choice, Driver, Edit, Event, Happening, Question, Refusal, Remedy, Step, Undone, Value,
};
use serde_json::json;

use super::difference::{FieldDifference, FieldSnapshot};
use super::line::{Phrase, phrases, split_first, words};
use super::names::ambiguous;
use super::question::with_capital;
use super::reader::{answers, without_articles};
use super::refused::{TypedAnswers, ended, example_of};
use super::session_slot::SessionSlot;
use super::vocabulary::Vocabulary;
use super::{Complaint, Done, Repl};
use crate::cli::roll::roll_by;
use crate::cli::row::{Row, Tone};

/// The most typed names in one line that are replaced by labels.
pub(super) const MOST_RETYPED: usize = 20;

impl Phrase {
    pub(super) fn value(&self) -> Value {
        match self.items.as_deref() {
            None => Value::text(&self.text),
            Some([only]) => Value::text(only),
            Some(items) => Value::list(items.iter().map(Value::text)),
        }
    }
}

/// The answers of a line to the questions of the open action, and the rest of the line, which answers later questions.
pub(super) struct LineAnswers {
    pub replies: Vec<(String, Value)>,
    pub rest: Option<String>,
}

/// Finds the longest prefix of a text that answers a question. Returns the answer and the offset of its end.
pub(super) fn longest_answer(question: &Question, text: &str) -> Option<(Answer, usize)> {
    let ends: Vec<usize> = words(text).iter().map(|word| word.end).collect();
    ends.into_iter().rev().find_map(|end| Some((question.read_typed(&Value::text(&text[..end])).ok()?, end)))
}

/// An answer as the session reads it: by its labels if they say it, or else as it was typed.
fn exactly_typed(question: &Question, answer: &Answer, typed: &str) -> Value {
    let told = Value::text(question.tell(answer));
    match question.read(&told) {
        Ok(read) if read == *answer => told,
        _ => Value::text(typed),
    }
}

/// True if a text begins with a number that would select from a list that was not shown: the question does not ask for
/// a number, and no option has this name.
pub(super) fn is_blind_number(question: &Question, text: &str) -> bool {
    let Some(first) = words(text).into_iter().next().filter(|word| !word.quoted) else { return false };
    let takes_numbers = matches!(
        question.ask,
        Ask::Number { .. } | Ask::Allot { .. } | Ask::Dice { .. } | Ask::Line { .. } | Ask::Choose { other: true, .. }
    );
    let is_name = |option: &Choice| split_first(&option.label).0 == first.text || *option.id == *first.text;
    first.text.parse::<i64>().is_ok() && !takes_numbers && !question.ask.options().iter().any(is_name)
}

/// True if a text is the whole name of an option, or answers a question without options.
fn names_exactly(question: &Question, text: &str) -> bool {
    let is_name =
        |option: &Choice| [&option.label, &option.id].into_iter().any(|name| spelling(name) == spelling(text));
    let options = question.ask.options();
    options.is_empty() || text.parse::<usize>().is_ok() || options.iter().any(is_name)
}

/// What an option does now if its name has alternatives, as in `Lie down, or get up`, a typed text is one of them, and the note
/// begins with another one.
fn other_alternative(question: &Question, typed: &str) -> Option<String> {
    question.ask.options().iter().filter(|option| option.enabled).find_map(|option| {
        let alternatives: Vec<String> =
            option.label.split(" or ").map(|name| fold(name.trim_matches([' ', ',']))).collect();
        let note = fold(option.note.as_deref()?);
        let now = alternatives.iter().find(|name| note.starts_with(name.as_str()))?;
        (*now != fold(typed) && alternatives.contains(&fold(typed))).then(|| now.clone())
    })
}

/// True if a text is a point: at least two numbers, such as `10, 0`.
fn is_point(text: &str) -> bool {
    let mut numbers = text.split([',', ' ']).filter(|part| !part.is_empty()).map(|part| part.parse::<f64>().is_ok());
    numbers.clone().count() > 1 && numbers.all(|is_number| is_number)
}

/// Why a number is no answer: the options stand on the screen without numbers, since an answer in one's own words may be one.
fn unnumbered(question: &Question, head: &Phrase) -> Option<String> {
    let Ask::Choose { options, other: true } = &question.ask else { return None };
    let number: usize = head.text.trim().parse().ok().filter(|_| head.items.is_none())?;
    let is_name = options.iter().any(|option| *option.label == *head.text || *option.id == *head.text);
    let first = options.iter().find(|option| option.enabled).filter(|_| number <= options.len() && !is_name)?;
    Some(format!(
        "The answers here have no numbers. Type a name, for example `{}`; a number that is the answer goes in quotes: `\"{number}\"`.",
        first.label
    ))
}

/// The answers of a line without small words that have no answer of their own: `guard with risk 1` has only a risk, and `cast
/// spell` is the name of an option.
fn without_idle_words(
    question: &Question,
    line: &str,
    head: Phrase,
    mut named: Vec<(String, Phrase)>,
) -> (Phrase, Vec<(String, Phrase)>) {
    let Some((last, others)) = named.split_last() else { return (head, named) };
    // `with sword and dagger`, where no question for a tool is open.
    let answers_alone =
        |line: &str| question.read_typed(&Value::text(line)).is_ok_and(|answer| !question.is_own_text(&answer));
    if head.is_empty() && others.is_empty() && *last.0 != *question.topic && answers_alone(line.trim()) {
        return (Phrase { text: line.trim().to_owned(), items: None }, Vec::new());
    }
    let is_read = |text: &str| match question.read_typed(&Value::text(text)) {
        Ok(answer) => !question.is_own_text(&answer),
        Err(refusal) => matches!(refusal, Refusal::Greyed { .. } | Refusal::Ambiguous { .. }),
    };
    if last.1.is_empty() && others.is_empty() && is_read(line) {
        return (Phrase { text: line.trim().to_owned(), items: None }, Vec::new());
    }
    let count = named.len();
    let mut at = 0;
    named.retain(|(topic, phrase)| {
        at += 1;
        at == count || !phrase.is_empty() || *topic == *question.topic
    });
    (head, named)
}

/// Returns the answers of a phrase and of named phrases, by topic.
pub(super) fn replies_of(
    question: &Question,
    head: Phrase,
    named: Vec<(String, Phrase)>,
) -> Result<Vec<(String, Value)>, Complaint> {
    let mut replies: Vec<(String, Value)> = Vec::new();
    if !head.is_empty() {
        replies.push((question.topic.to_string(), head.value()));
    }
    for (topic, phrase) in named {
        if replies.iter().any(|(known, _)| *known == topic) {
            let short = without_articles(&phrase.text);
            if topic == *question.topic && !short.is_empty() && question.read_typed(&Value::text(&short)).is_ok() {
                return Err(Complaint::Wrong(format!(
                    "The open question is: {} `{short}` alone answers it.",
                    ended(&with_capital(&question.why))
                )));
            }
            let first = replies.iter().find(|(known, _)| *known == *question.topic).map(|(_, value)| value);
            if let Some(Err(refusal @ Refusal::NotAnOption { .. })) = first.map(|value| question.read_typed(value)) {
                return Err(Complaint::Unread(format!("{refusal} `hint` advises.")));
            }
            return Err(Complaint::Unread(format!(
                "`{}` has two answers in this line. Type one answer; `options` lists them.",
                readable_name(&topic)
            )));
        }
        if phrase.is_empty() {
            let word = readable_name(&topic);
            if matches!(question.ask, Ask::Confirm) {
                return Err(Complaint::Wrong(format!(
                    "Please answer yes or no: {}",
                    ended(&with_capital(&question.why))
                )));
            }
            let is_head = replies
                .first()
                .is_some_and(|(known, value)| *known == *question.topic && question.read_typed(value).is_err());
            // `damage` alone is no answer to another question.
            if (is_head || replies.is_empty()) && topic != *question.topic && !question.ask.options().is_empty() {
                let head = replies.first().and_then(|(_, value)| value.as_text()).unwrap_or_default();
                let typed = format!("{head} {word}").trim_start().to_owned();
                if let Err(refusal) = question.read_typed(&Value::text(typed)) {
                    return Err(Complaint::Unread(format!("{refusal} `hint` advises.")));
                }
            }
            let example = if topic == *question.topic { example_of(question) } else { None };
            let example = example.map_or(String::new(), |example| format!(", for example `{word} {example}`"));
            let head = replies.first().filter(|(known, _)| *known == *question.topic);
            let head = head.filter(|(_, value)| question.read_typed(value).is_ok());
            let alone = head.and_then(|(_, value)| Some(format!(" Type `{}` alone, or", value.as_text()?)));
            let alone = alone.unwrap_or_default();
            return Err(Complaint::Unread(format!(
                "`{word}` needs an answer after it{example}.{alone} `help {word}` explains the word."
            )));
        }
        replies.push((topic, phrase.value()));
    }
    Ok(replies)
}

/// Like [`replies_of`], from a typed line.
pub(super) fn given_by(question: &Question, line: &str, words: &Vocabulary) -> Result<Vec<(String, Value)>, Complaint> {
    let cut = answers(line, words);
    replies_of(question, cut.head, cut.named)
}

impl Repl {
    /// Answers the open question by `head`, and later ones by topic: all of them, or none. `line`: the typed text.
    pub(super) fn reply(&mut self, line: &str, head: Phrase, named: Vec<(String, Phrase)>) -> Done {
        self.reply_behind("", line, head, named)
    }

    /// Like [`Repl::reply`], for a line that begins with a free act, which has asked the question. A refusal repeats
    /// the whole line.
    fn reply_behind(&mut self, act: &str, line: &str, head: Phrase, named: Vec<(String, Phrase)>) -> Done {
        let question = self.wanted_question()?;
        if let Some(complaint) = self.asked_first(&question, line, &head) {
            return Err(complaint);
        }
        // A list or a number may have small words in it: `1 on Ann and 2 on Bob`.
        let takes_words = matches!(question.ask, Ask::Choose { .. } | Ask::Line { .. });
        let is_quoted = head.items.is_some();
        let (head, named) = match !takes_words && !is_quoted && question.read_typed(&Value::text(line.trim())).is_ok() {
            true => (Phrase { text: line.trim().to_owned(), items: None }, Vec::new()),
            false => (head, named),
        };
        let typed = TypedAnswers { act: act.to_owned(), head: head.text.clone(), named: named.clone() };
        if let Some(sentence) = unnumbered(&question, &head) {
            return Err(Complaint::Wrong(sentence));
        }
        if let Some(now) = other_alternative(&question, line.trim()) {
            return Err(Complaint::Wrong(format!("`{}` is not possible now, only `{now}`.", line.trim())));
        }
        let (head, named) = self.cut_at_later_topics(&question, head, named);
        let (head, named) = without_idle_words(&question, line, head, named);
        let replies = replies_of(&question, head.clone(), named.clone());
        let refusal = match replies.and_then(|replies| self.reply_all(&question, replies)) {
            Err(Complaint::Refused(refusal)) => refusal,
            done => return done,
        };
        // This looks ahead, so it is only for a screen that may see everything.
        if self.masters()
            && matches!(refusal, Refusal::NotAnOption { .. } | Refusal::WrongType { .. } | Refusal::Ambiguous { .. })
            && let Some(plan) = self.plan_of_line(&question, line, &head, &named)?
        {
            self.forget_attempt()?;
            return match plan.rest {
                Some(rest) => {
                    let typed = line.trim().strip_suffix(rest.as_str()).unwrap_or_default().trim_end().to_owned();
                    self.reply_then(|repl| repl.give(&question, plan.replies), &question, &typed, &rest)
                }
                None => match self.reply_all(&question, plan.replies) {
                    Err(Complaint::Refused(refusal)) => Err(self.advised(&question, &typed, refusal)),
                    done => done,
                },
            };
        }
        Err(self.advised(&question, &typed, refusal))
    }

    /// The plan of a line that is split at small words, or else of the whole line, since the name of a later option may
    /// contain a small word, as in `move next to Ann`.
    fn plan_of_line(
        &self,
        question: &Question,
        line: &str,
        head: &Phrase,
        named: &[(String, Phrase)],
    ) -> Result<Option<LineAnswers>, Refusal> {
        let cut = self.plan_of(question, line, head, named.to_vec());
        if named.is_empty() || matches!(cut, Ok(Some(_))) {
            return cut;
        }
        let whole = Phrase { text: line.trim().to_owned(), items: None };
        match self.plan_of(question, line, &whole, Vec::new()) {
            Ok(Some(plan)) => Ok(Some(plan)),
            _ => cut,
        }
    }

    /// Parses a line in which further answers follow without small words. Each answers the next question to the same
    /// seat, found by playing a copy of the game with other dice. `None` if they do not.
    ///
    /// `move 10, 0` is the option `move` and then a place; `yes strike 2` answers two questions and begins a third.
    /// Words that match no option never become free text: they may have been meant for something else.
    ///
    /// # Errors
    ///
    /// An answer with its small word that the named question refuses.
    pub(super) fn plan_of(
        &self,
        question: &Question,
        line: &str,
        head: &Phrase,
        mut named: Vec<(String, Phrase)>,
    ) -> Result<Option<LineAnswers>, Refusal> {
        let mut ahead = self.session.fork();
        if !matches!(ahead.advance(), Ok(Step::Ask)) {
            return Ok(None);
        }
        let line = line.trim();
        let (mut loose, mut is_head) = (head.text.as_str().to_owned(), line.starts_with(&head.text));
        let mut replies: Vec<(String, Value)> = Vec::new();
        let mut asked = Some(question.clone());
        let mut known = 0;
        while let Some(next) = asked.take() {
            let at = named.iter().position(|(topic, _)| **topic == *next.topic);
            let text = match at {
                Some(at) => named.remove(at).1.text,
                None if loose.is_empty() => break,
                None if !replies.is_empty() && is_blind_number(&next, &loose) => return Ok(None),
                None => std::mem::take(&mut loose),
            };
            let Some((answer, end)) = longest_answer(&next, &text) else {
                // The small word names the question, so its own reason is reported.
                let refusal = next.read_typed(&text.as_str().into()).err().filter(|_| at.is_some());
                return refusal.map_or(Ok(None), Err);
            };
            if at.is_none() && !replies.is_empty() && next.is_own_text(&answer) && !is_point(&text) {
                return Ok(None);
            }
            replies.push((next.topic.to_string(), exactly_typed(&next, &answer, &text[..end])));
            let rest = text[end..].trim_start_matches([' ', ',']);
            if !rest.is_empty() {
                if !loose.is_empty() {
                    return Ok(None);
                }
                (loose, is_head) = (rest.to_owned(), is_head && at.is_none());
            }
            let step = match ahead.answer(next.id, answer).map(|_| ahead.advance()) {
                Ok(Ok(step)) => step,
                _ => return Ok(None),
            };
            // A question that was not asked, because only one answer was possible, may be answered all the same.
            let only = ahead.only_answers(question.id.action);
            for (unasked, answer) in only.iter().skip(known) {
                if !loose.is_empty()
                    && !is_blind_number(unasked, &loose)
                    && let Some((read, end)) = longest_answer(unasked, &loose)
                    && read == *answer
                {
                    replies.push((unasked.topic.to_string(), Value::text(&loose[..end])));
                    loose = loose[end..].trim_start_matches([' ', ',']).to_owned();
                }
            }
            known = only.len();
            let mut open = ahead.questions().iter().filter(|open| open.id.action == question.id.action);
            asked = open.find(|open| open.seat == question.seat).filter(|_| matches!(step, Step::Ask)).cloned();
        }
        if loose.is_empty() {
            replies.extend(named.into_iter().map(|(topic, phrase)| (topic, phrase.value())));
            return Ok(Some(LineAnswers { replies, rest: None }));
        }
        // The action has ended: the rest of the line answers later questions.
        let rest = head.text.len().checked_sub(loose.len()).and_then(|start| line.get(start..));
        // The beginning of a name may be another word: `take a shot` is not `Take cover`.
        let is_whole = || {
            let first = line.get(..line.len() - rest.map_or(0, str::len)).unwrap_or_default();
            names_exactly(question, first.trim_end_matches([' ', ',']))
        };
        let rest = rest.filter(|_| is_head && replies.len() == 1 && is_whole());
        Ok(rest.map(|rest| LineAnswers { replies, rest: Some(rest.to_owned()) }))
    }

    /// Answers `question` by `first`, which was typed as `typed`, and then the next question to the same seat by the rest of the
    /// line: both, or none. A line about somebody answers no question about somebody else.
    fn reply_then(
        &mut self,
        first: impl FnOnce(&mut Repl) -> Done,
        question: &Question,
        typed: &str,
        rest: &str,
    ) -> Done {
        let seat = question.seat.clone();
        // A side declares, and then its people act.
        let is_confirm = matches!(question.ask, Ask::Confirm);
        let mark = self.session.mark();
        first(self)?;
        self.step = self.session.advance()?;
        self.focus = None;
        self.gather_words();
        let cut = answers(rest, &self.words());
        let next = self.focused().cloned();
        let done = match (&self.step, next) {
            (Step::Fault(_), _) => self.settle_decided(),
            (Step::Ask, Some(next)) if !is_confirm && question.about.is_some() && next.about != question.about => {
                let whom = self.whom(&next);
                Err(Complaint::Unread(format!("The next question is for {whom}: leave out `{rest}`.")))
            }
            (Step::Ask, Some(next)) if *next.seat == *seat && is_blind_number(&next, rest) => {
                Err(self.unseen_number(&next, typed, rest))
            }
            (Step::Ask, Some(next)) if *next.seat == *seat => self.reply_behind(typed, rest, cut.head, cut.named),
            (_, next) => Err(Complaint::Unread(match next {
                Some(next) => format!("The next question is for {}: leave out `{rest}`.", next.seat),
                None => format!("Nothing else is asked: leave out `{rest}`."),
            })),
        };
        if done.is_err() && self.masters() {
            self.session.back_to(mark)?;
            self.forget_attempt()?;
        }
        match done {
            // The refusal names answers of a question that nobody has seen.
            Err(Complaint::Refused(Refusal::NotAnOption { near: None, .. }) | Complaint::Unread(_)) => {
                let typed = typed.trim_end_matches(',');
                Err(Complaint::Unread(format!(
                    "`{typed}` answers this question, and `{rest}` does not answer the next one. Type `{typed}` alone."
                )))
            }
            done => done,
        }
    }

    /// Splits the answer to the open question at the topics of later questions as well, if it can be parsed only in
    /// this way. Those questions are not open yet, but the rules declare their topics.
    fn cut_at_later_topics(
        &self,
        question: &Question,
        head: Phrase,
        mut named: Vec<(String, Phrase)>,
    ) -> (Phrase, Vec<(String, Phrase)>) {
        let reads = |phrase: &Phrase| question.read_typed(&phrase.value()).is_ok();
        let wider = self.words().with_topics(self.session.ruleset().topics());
        let own = named.iter().position(|(topic, _)| head.is_empty() && **topic == *question.topic);
        let answer = own.map_or(&head, |at| &named[at].1);
        let cut = match own {
            // As a phrase after its own topic: its first words are the answer, even if they name topics.
            Some(_) => phrases(&answer.text, 0..1, |all, at| wider.words_of_name(all, at), |word| wider.topic_of(word)),
            None => answers(&answer.text, &wider),
        };
        if reads(answer) || !reads(&cut.head) {
            return (head, named);
        }
        match own {
            Some(at) => {
                let topic = named[at].0.clone();
                named.splice(at..=at, std::iter::once((topic, cut.head)).chain(cut.named));
                (head, named)
            }
            None => (cut.head, cut.named.into_iter().chain(named).collect()),
        }
    }

    /// Answers the open question and later ones by topic, and prints the events.
    pub(super) fn reply_all(&mut self, question: &Question, replies: Vec<(String, Value)>) -> Done {
        self.give(question, replies)?;
        self.settle_decided()
    }

    /// Like [`Repl::reply_all`], without printing anything yet.
    pub(super) fn give(&mut self, question: &Question, mut replies: Vec<(String, Value)>) -> Done {
        if replies.is_empty() {
            return Err(Complaint::Wrong(format!("Type {}. `options` lists the answers.", question.ask.wanted())));
        }
        let whom = self.whom(question);
        self.own = replies.iter().map(|(topic, _)| (topic.as_str().into(), whom.as_str().into())).collect();
        let first_of_topic = self.session.questions().iter().find(|other| other.topic == question.topic);
        let goes_elsewhere = first_of_topic.is_some_and(|first| first.id != question.id);
        let (before, decisions) = (self.session.mark(), self.session.decisions());
        if *replies[0].0 == *question.topic && (replies.len() == 1 || goes_elsewhere) {
            let (_, value) = replies.remove(0);
            let answer = question.read_typed(&value)?;
            self.session.answer(question.id, answer)?;
            if replies.is_empty() && !question.checked {
                return Ok(());
            }
            self.step = self.session.advance()?;
            // The rules have read the answer and do not take it: the question is open again.
            if let Some(refusal) = self.session.take_refusal() {
                return Err(refusal.into());
            }
            if replies.is_empty() {
                return Ok(());
            }
        }
        // If a script failed at the first answer, no other question is open.
        let replied = if matches!(self.step, Step::Fault(_)) { Ok(()) } else { self.reply_together(question, replies) };
        if let Err(complaint) = replied {
            if !self.masters() && self.session.decisions() > decisions {
                // The effects of the first answer were shown, so a wrong later answer does not undo it.
                self.settle_decided()?;
                return Err(complaint);
            }
            self.session.back_to(before)?;
            self.step = self.session.advance()?;
            return Err(complaint);
        }
        Ok(())
    }

    /// Gives answers together. If a script fails meanwhile, gives them one after the other, so that the failed action
    /// stays open as if they had been typed line by line: it can be corrected, saved, skipped and undone.
    fn reply_together(&mut self, first: &Question, mut replies: Vec<(String, Value)>) -> Done {
        // Each round replaces one typed name by the label of the option, since the session accepts only labels.
        for _ in 0..MOST_RETYPED {
            match self.session.reply(&replies) {
                Err(Refusal::Fault { .. }) => {
                    self.session.take_events();
                    return self.give_one_by_one(first, replies);
                }
                Err(refusal @ Refusal::NotAnOption { .. }) => {
                    let topic = refusal.topic().unwrap_or_default().to_owned();
                    let reply = replies.iter_mut().find(|(known, _)| *known == topic);
                    let better = reply.as_ref().map_or(Ok(None), |(_, value)| retyped(value, &refusal))?;
                    let (Some((_, value)), Some(better)) = (reply, better) else { return Err(refusal.into()) };
                    *value = better;
                }
                Err(refusal @ Refusal::WrongType { .. }) => {
                    let topic = refusal.topic().unwrap_or_default().to_owned();
                    let reply = replies.iter_mut().find(|(known, _)| *known == topic);
                    let in_digits = reply.as_ref().and_then(|(_, value)| number_in_words(value));
                    let (Some((_, value)), Some(in_digits)) = (reply, in_digits) else { return Err(refusal.into()) };
                    *value = in_digits;
                }
                replied => return Ok(replied.map(|_| ())?),
            }
        }
        Ok(self.session.reply(&replies).map(|_| ())?)
    }

    fn give_one_by_one(&mut self, first: &Question, mut replies: Vec<(String, Value)>) -> Done {
        loop {
            self.step = self.session.advance()?;
            let mut open = self.session.questions().iter().filter(|open| open.id.action == first.id.action);
            let next = open.find_map(|open| {
                let at = replies.iter().position(|(topic, _)| **topic == *open.topic)?;
                Some((at, open.clone()))
            });
            let Some((at, question)) = next else { return Ok(()) };
            let (_, value) = replies.remove(at);
            let answer = question.read_typed(&value)?;
            self.session.answer(question.id, answer)?;
        }
    }

    /// The question that can be answered now.
    pub(super) fn wanted_question(&self) -> Result<Question, Complaint> {
        match (&self.step, self.focused()) {
            (Step::Fault(_), _) => Err(Complaint::wrong(
                "A script error stopped the game. Correct the script and `retry`, or `skip` the action, or `undo`.",
            )),
            (Step::Over(_), _) => Err(self.over()),
            (Step::Ask, Some(question)) => Ok(question.clone()),
            (Step::Ask, None) => Err(Complaint::wrong("No question is open.")),
        }
    }

    /// The command `ok`: takes the default of the question, or of all open questions.
    pub(super) fn take_default(&mut self, rest: &str) -> Done {
        let question = self.wanted_question()?;
        let all = rest.eq_ignore_ascii_case("all");
        let rest = if all { "" } else { rest.trim_start_matches([',', ' ']) };
        if !rest.is_empty() && rest.split([' ', ',']).all(|word| word.is_empty() || word.eq_ignore_ascii_case("ok")) {
            // `ok ok` takes two defaults.
            self.take_default("")?;
            return self.take_default(rest.get(2..).unwrap_or_default());
        }
        let pass = question.ask.options().iter().any(|option| is_pass(&option.id) || is_pass(&option.label));
        let chosen: Vec<Question> = if all { self.session.questions().to_vec() } else { vec![question] };
        let mut taken = Vec::new();
        for question in chosen {
            if let Some(answer) = self.session.propose(&question) {
                taken.push((question, answer));
            }
        }
        if let (false, [(question, answer)]) = (rest.is_empty(), taken.as_slice()) {
            let first = |repl: &mut Repl| Ok(repl.session.answer(question.id, answer.clone())?);
            return self.reply_then(first, question, "ok", rest);
        }
        if taken.is_empty() {
            let pass = if pass { ", or `pass`" } else { "" };
            return Err(Complaint::Wrong(format!(
                "There is no proposal here. Type the number or name of an option (`options` lists them), or `auto`{pass}."
            )));
        }
        for (question, answer) in taken {
            self.session.answer(question.id, answer)?;
        }
        self.settle_decided()
    }

    /// The command `pass`: chooses the option, act or empty answer that means doing nothing.
    pub(super) fn pass(&mut self, words: &Vocabulary) -> Done {
        let question = self.wanted_question()?;
        let option = question.ask.options().iter().find(|option| is_pass(&option.id) || is_pass(&option.label));
        if let Some(option) = option {
            let reply = vec![(question.topic.to_string(), Value::text(&option.id))];
            return self.reply_all(&question, reply);
        }
        if words.free.iter().any(|(id, _)| is_pass(id)) {
            return self.take_free_act("pass", "", false);
        }
        match question.ask {
            Ask::ChooseMany { min: 0, .. } => {
                self.reply_all(&question, vec![(question.topic.to_string(), Value::text("none"))])
            }
            _ => Err(Complaint::wrong("You cannot pass here. `options` lists the answers.")),
        }
    }

    /// The command `free`: lists the free acts, or takes one.
    pub(super) fn free(&mut self, rest: &str, words: &Vocabulary) -> Done {
        if !rest.is_empty() {
            return match words.free_act(rest) {
                Some((act, rest)) => {
                    let (act, rest) = (act.to_owned(), rest.to_owned());
                    // With the command it is clear that an act is meant.
                    self.take_free_act(&act, &rest, true)
                }
                None => {
                    let (first, _) = split_first(rest);
                    let seat = self.person().unwrap_or_default();
                    self.session.act(&seat, first)?;
                    self.settle_decided()
                }
            };
        }
        self.show_free_acts()
    }

    /// Takes a free act for the seat that is named, asked, or played by a person. `rest` answers its questions. Unless
    /// the person is `sure`, an act without questions is first shown with its effects.
    pub(super) fn take_free_act(&mut self, act: &str, rest: &str, sure: bool) -> Done {
        let acts = self.session.free_acts();
        // If no seat may take the act, the first one gets the reason.
        let nobody = !acts.iter().any(|free| *free.name == *act && free.enabled);
        let may = acts.iter().filter(|free| *free.name == *act && (free.enabled || nobody));
        let may: Vec<String> = may.map(|free| free.seat.to_string()).collect();
        let (first, after) = split_first(rest);
        let (seat, rest) = match typed(first, || may.iter().map(|seat| (seat, seat))).as_slice() {
            [seat] => ((*seat).clone(), after),
            _ => {
                let asked = self.focused().map(|question| question.seat.to_string());
                let seat =
                    asked.filter(|seat| may.contains(seat)).or_else(|| self.person().filter(|seat| may.contains(seat)));
                (seat.or_else(|| may.first().cloned()).unwrap_or_default(), rest)
            }
        };
        let title = acts.iter().find(|free| *free.name == *act).map_or(act, |free| &*free.title);
        if self.attended && !self.masters() && !nobody && rest.is_empty() && !sure {
            // Its effects may depend on secrets and dice, so it is not tried out.
            let text = format!("{title}. Type `{} yes` to do it.", readable_name(act));
            return Ok(self.screen.row(&Row::at(2).plain(text))?);
        }
        let before = self.attended.then(|| FieldSnapshot::of(&self.session.view()));
        let last = self.session.questions().iter().map(|question| question.id.action).max().unwrap_or_default();
        let mark = self.session.mark();
        self.session.act(&seat, act)?;
        let yes = sure || rest.eq_ignore_ascii_case("yes");
        if rest.is_empty() || rest.eq_ignore_ascii_case("yes") {
            self.step = self.session.advance()?;
            // The act asks questions of its own, and `undo` is possible until they are answered.
            let asks = self.session.questions().iter().any(|question| question.id.action > last);
            match before {
                Some(before) if !yes && !asks => return self.preview_free_act(act, title, &before, mark),
                _ if rest.is_empty() || !asks => return self.settle_decided(),
                _ => {}
            }
        }
        self.step = self.session.advance()?;
        // The options of the act's questions are known only now.
        self.gather_words();
        let cut = answers(rest, &self.words());
        let answered = self.reply_behind(&readable_name(act), rest, cut.head, cut.named);
        if answered.is_err() && !self.masters() {
            // The act's questions were shown, so a wrong answer does not undo it.
            self.settle_decided()?;
        } else if answered.is_err() {
            self.session.back_to(mark)?;
            let _ = self.session.advance()?;
            self.session.take_events();
        }
        answered
    }

    /// Takes a free act back and prints what it would change. `mark`: the decisions before it.
    fn preview_free_act(&mut self, act: &str, title: &str, before: &FieldSnapshot, mark: Mark) -> Done {
        let changes = before.changes(&FieldSnapshot::of(&self.session.view()));
        let rolled = self.session.take_events().iter().any(|event| matches!(event.happening, Happening::Rolled { .. }));
        self.session.back_to(mark)?;
        self.step = self.session.advance()?;
        self.session.take_events();
        let name = readable_name(act);
        self.screen.row(&Row::at(2).plain(format!("{title}. Type `{name} yes` to do it.")))?;
        if !rolled {
            self.screen.columns(4, changes.iter().map(FieldDifference::cells).collect())?;
        }
        Ok(())
    }

    /// A seat that a person plays.
    pub(super) fn person(&self) -> Option<String> {
        self.seats_of_people().first().map(ToString::to_string)
    }

    fn seats_of_people(&self) -> Vec<Arc<str>> {
        let seats = self.session.seats().iter().filter(|(_, driver)| **driver == Driver::Human);
        seats.map(|(seat, _)| seat.clone()).collect()
    }

    /// The command `undo`: takes back the last line, or the last N lines.
    pub(super) fn undo(&mut self, rest: &str) -> Done {
        let lines = count(rest, 1)?;
        self.turn(lines, SessionSlot::undo, true)
    }

    /// Prints the scene of the game if it is another one than before.
    fn tell_new_scene(&mut self, before: Option<&(u32, String)>) -> Done {
        match self.scene().filter(|scene| before != Some(scene)) {
            Some((_, scene)) => Ok(self.screen.row(&Row::at(2).plain(format!("The game is in “{scene}” now.")))?),
            None => Ok(()),
        }
    }

    /// The current scene of the campaign: its number and title.
    fn scene(&self) -> Option<(u32, String)> {
        let campaign = self.campaign.as_ref()?;
        Some((campaign.scene_number(), campaign.scene_title().ok()?))
    }

    /// The command `redo`: redoes what was undone.
    pub(super) fn redo(&mut self, rest: &str) -> Done {
        let lines = count(rest, 1)?;
        self.turn(lines, SessionSlot::redo, false)
    }

    /// The mark at which the last line began. Marks from `now` on are dropped: their lines have nothing left to undo,
    /// such as a request for rules whose change was undone.
    pub(super) fn last_mark(&mut self, now: DecisionCount) -> Option<DecisionCount> {
        while self.done.pop_if(|mark| *mark >= now).is_some() {}
        self.done.pop()
    }

    /// Undoes or redoes by lines. A line may contain several decisions.
    fn turn(&mut self, lines: usize, step: fn(&mut SessionSlot) -> Result<Undone, Refusal>, back: bool) -> Done {
        self.turned = true;
        let scene_before = self.scene();
        let before = FieldSnapshot::of(&self.session.view());
        // The decisions of each line.
        let mut lines_turned: Vec<Vec<Undone>> = Vec::new();
        // The error at which the campaign stopped. The steps before it remain done, and are printed first.
        let mut stuck: Done = Ok(());
        for _ in 0..lines {
            if back {
                // Events of the previous step are obsolete.
                self.session.take_events();
            }
            let mut turned = Vec::new();
            let from = self.session.decision_count();
            // The start or end of the line; without a mark, one decision is turned.
            let goal = if back { self.last_mark(from) } else { self.undone.pop() };
            if back && self.masters() && self.campaign.as_ref().is_some_and(Campaign::stands_beside) {
                let text = match self.turn_in_campaign(true) {
                    Ok(Some(text)) => text,
                    Ok(None) => break,
                    Err(complaint) => {
                        stuck = Err(complaint);
                        break;
                    }
                };
                lines_turned.push(vec![Undone { text, changes: Vec::new(), seat: None }]);
                continue;
            }
            let mut arrived = false;
            while !arrived {
                match step(&mut self.session) {
                    Ok(undone) => turned.push(undone),
                    // Older decisions are in the campaign file.
                    Err(refusal) => match self.turn_in_campaign(back) {
                        Ok(Some(text)) => {
                            if turned.is_empty() {
                                turned.push(Undone { text, seat: None, changes: Vec::new() });
                            }
                            arrived = true;
                        }
                        Ok(None) if turned.is_empty() && lines_turned.is_empty() => return Err(refusal.into()),
                        Ok(None) => break,
                        Err(complaint) => {
                            stuck = Err(complaint);
                            break;
                        }
                    },
                }
                let now = self.session.decision_count();
                // After a redo, other rules requested by the line may still wait for the game to continue.
                let reached = |goal: DecisionCount| if back { now <= goal } else { now.total() >= goal.total() };
                arrived = arrived || goal.is_none_or(reached);
            }
            if !arrived && self.session.decision_count() == from {
                break;
            }
            if back {
                // Printed in the order of the decisions.
                turned.reverse();
            }
            lines_turned.push(turned);
            if back { &mut self.undone } else { &mut self.done }.push(from);
            if !arrived {
                break;
            }
            self.step = self.session.advance()?;
            self.keep()?;
        }
        if lines_turned.is_empty() && stuck.is_err() {
            return stuck;
        }
        self.step = self.session.advance()?;
        self.follow_rules();
        // The undone decisions were just printed. Redone events are printed as before; of an undo, only the result is
        // printed.
        let people: Vec<Arc<str>> = self.seats_of_people();
        let events = self.session.take_events().into_iter().filter(|event| match &event.happening {
            Happening::Withdrawn { .. } => false,
            Happening::Changed { .. } => !back,
            Happening::Answered { seat, .. } => !people.contains(seat),
            _ => true,
        });
        let events: Vec<Event> = events.collect();
        let changes = before.changes(&FieldSnapshot::of(&self.session.view()));
        if back {
            lines_turned.reverse();
        }
        let texts: Vec<String> = lines_turned.iter().map(|line| sentence(line)).collect();
        if self.screen.json() {
            self.screen.event("turned", &json!({ "text": texts.join("\n"), "changes": changes }))?;
        }
        for text in texts.iter().take(TOLD_TURNED) {
            self.screen.row(&Row::at(2).plain(text))?;
        }
        if let Some(more @ 1..) = texts.len().checked_sub(TOLD_TURNED) {
            self.screen.row(&Row::at(2).plain(format!("and {more} more lines")))?;
        }
        self.tell_new_scene(scene_before.as_ref())?;
        self.tell(&events, false)?;
        if back && !self.screen.json() {
            self.screen.columns(2, changes.iter().map(FieldDifference::cells).collect())?;
        }
        let open = self.session.questions().first().map(|question| question.id.action);
        self.told = self.session.log().into_iter().filter(|event| Some(event.action) == open).collect();
        self.asked = None;
        self.settle()?;
        stuck
    }

    /// The commands `retry` and `skip`: continue after a fault.
    pub(super) fn remedy(&mut self, remedy: Remedy) -> Done {
        if !matches!(self.step, Step::Fault(_)) {
            return Err(Complaint::wrong("No script error is open. `retry` and `skip` are for after one."));
        }
        self.session.remedy(remedy)?;
        self.settle()
    }

    /// The commands `skip NAME` and `restore NAME`: turn a part of the rules off or on, and retry the failed action.
    pub(super) fn leave_out(&mut self, rest: &str, out: bool) -> Done {
        let sorts = ["hook ", "item ", "card ", "entry ", "act "];
        let name = sorts.iter().find_map(|sort| rest.strip_prefix(sort)).unwrap_or(rest).trim().to_string();
        if name.is_empty() {
            let out: Vec<&str> = self.session.left_out().collect();
            let which = if out.is_empty() {
                "nothing is disabled".to_string()
            } else {
                format!("disabled: {}", out.join(", "))
            };
            return Err(Complaint::Wrong(format!("Say what to restore: `restore NAME` ({which}).")));
        }
        let name = self.part_named(&name, out)?;
        self.session.edit(if out { Edit::LeaveOut { name } } else { Edit::TakeIn { name } })?;
        self.settle()
    }

    /// Resolves a part of the rules that a person names: a card, an item, a hook, an agenda entry or an act, by id or
    /// title. To turn one on, only parts that are off count. If there is none, returns the name itself, which the
    /// session refuses.
    fn part_named(&self, name: &str, out: bool) -> Result<String, Complaint> {
        let rules = self.session.ruleset();
        let cards = rules.cards().iter().chain(rules.items());
        let cards = cards.flat_map(|card| [(&*card.id, &*card.id), (&*card.id, &*card.title)]);
        let acts = rules.free_acts().iter().flat_map(|act| [(&*act.name, &*act.name), (&*act.name, &*act.title)]);
        let others = rules.hooks().iter().map(|hook| &**hook).chain(rules.entries()).map(|id| (id, id));
        let known: Vec<(&str, &str)> = cards.chain(acts).chain(others).collect();
        let is_out = |id: &str| self.session.left_out().any(|other| other == id);
        let wanted = || known.iter().copied().filter(|(id, _)| out || is_out(id));
        match typed(name, wanted).as_slice() {
            [] => Ok(name.to_owned()),
            [id] => Ok((*id).to_owned()),
            several => Err(ambiguous(name, several)),
        }
    }

    /// The command `roll`: the faces of real dice if the game asks for them, otherwise dice outside of the game.
    pub(super) fn roll(&mut self, rest: &str) -> Done {
        if let Some(question) = self.focused().cloned()
            && let Ask::Dice { sides, .. } = &question.ask
        {
            let faces = match rest {
                "" => sides.iter().map(|sides| self.chance.face(*sides).to_string()).collect::<Vec<_>>().join(", "),
                typed => typed.split([',', ' ']).filter(|face| !face.is_empty()).collect::<Vec<_>>().join(", "),
            };
            if faces.split(", ").all(|face| face.parse::<u32>().is_ok()) {
                if rest.is_empty() {
                    self.screen.row(&Row::at(2).faint(format!("rolled {faces}")))?;
                }
                return self.reply_all(&question, vec![(question.topic.to_string(), Value::text(faces))]);
            }
        }
        let typed: Option<Vec<u32>> =
            rest.split([',', ' ']).filter(|face| !face.is_empty()).map(|face| face.parse().ok()).collect();
        if let (Some(missing), Some(faces)) = (self.session.missing_roll(), typed)
            && !faces.is_empty()
        {
            let sides = missing.sides;
            // A ten-sided die shows 10 as 0.
            let faces: Vec<u32> = faces
                .into_iter()
                .map(|face| if face == 0 && matches!(sides, 10 | 100) { sides } else { face })
                .collect();
            if let Some(wrong) = faces.iter().find(|face| **face < 1 || **face > sides) {
                return Err(Complaint::Wrong(format!(
                    "A face of {} is a number from 1 to {sides}, not {wrong}.",
                    missing.dice
                )));
            }
            self.session.push_faces(&faces)?;
            return self.remedy(Remedy::Retry);
        }
        if rest.is_empty() {
            return Err(Complaint::wrong("Say which dice: `roll 3d6+1`."));
        }
        let dice = Dice::parse(rest).map_err(|error| Complaint::Wrong(format!("{rest}: {error}")))?;
        let roll = roll_by(&dice, &mut self.chance).map_err(Complaint::Broken)?;
        if self.screen.json() {
            let told = json!({ "dice": dice.to_string(), "total": roll.total(), "explain": roll.explain() });
            return Ok(self.screen.event("roll", &told)?);
        }
        Ok(self.screen.row(&Row::at(2).plain(roll.explain()))?)
    }

    /// The command `auto`: lets a policy answer the questions to people, to the end of the action or a number of times.
    pub(super) fn auto(&mut self, rest: &str) -> Done {
        let first = self.wanted_question()?;
        let rules = self.session.ruleset().clone();
        let mut times = None;
        let mut policy = None;
        for word in rest.split_whitespace() {
            let known = typed(word, || rules.policies().iter().map(|policy| (policy, policy)));
            if let ([known], true) = (known.as_slice(), policy.is_none()) {
                policy = Some(known.to_string());
            } else if known.len() > 1 {
                return Err(ambiguous(word, known));
            } else if times.is_none() && word.chars().all(|letter| letter.is_ascii_digit() || letter == '-') {
                times = Some(count(word, 1)?);
            } else {
                let known: Vec<&str> = rules.policies().iter().map(|policy| &**policy).collect();
                let usage = format!("Type `auto`, `auto 3` or `auto POLICY`: {}.", known.join(", "));
                return Err(Complaint::unknown(format!("There is no policy `{word}`."), word, known, &usage));
            }
        }
        let Some(policy) = policy.or_else(|| rules.policies().first().map(ToString::to_string)) else {
            return Err(Complaint::Wrong(format!("{} has no policy. `ok` takes the proposal.", rules.id())));
        };
        let mut events = Vec::new();
        let mut taken = 0;
        let mut stopped = None;
        let goes_on = |repl: &Repl, taken: usize| match times {
            Some(times) => taken < times,
            None => repl.focused().is_some_and(|question| question.id.action == first.id.action),
        };
        while matches!(self.step, Step::Ask) && goes_on(self, taken) {
            if let Err(complaint) = self.answer_by(&policy) {
                stopped = Some(complaint);
                break;
            }
            self.step = self.session.advance()?;
            events.extend(self.session.take_events());
            taken += 1;
        }
        self.tell(&events, false)?;
        match stopped {
            Some(complaint) if taken == 0 => Err(complaint),
            Some(Complaint::Wrong(message) | Complaint::Unread(message)) => {
                self.screen.row(&Row::at(2).with(message, Tone::Note))?;
                self.show_standing()
            }
            Some(Complaint::Refused(refusal)) => {
                self.screen.row(&Row::at(2).with(refusal.to_string(), Tone::Note))?;
                self.show_standing()
            }
            Some(broken) => Err(broken),
            None => self.show_standing(),
        }
    }

    fn answer_by(&mut self, policy: &str) -> Done {
        let question = self.wanted_question()?;
        let answer = self.session.suggest(question.id, policy)?.or_else(|| question.default.clone());
        let answer = answer.ok_or_else(|| {
            Complaint::Wrong(format!("The policy `{policy}` does not answer this question; it is yours."))
        })?;
        self.session.answer(question.id, answer)?;
        Ok(())
    }
}

/// True if the name of an option or act means doing nothing.
fn is_pass(name: &str) -> bool {
    const NAMES: [&str; 4] = ["pass", "end turn", "end the turn", "do nothing"];
    NAMES.contains(&&*name.to_lowercase().replace('_', " "))
}

/// The summary of several undone or redone decisions.
fn sentence(turned: &[Undone]) -> String {
    let texts: Vec<&str> = turned.iter().map(|undone| undone.text.as_str()).collect();
    let word = texts.first().and_then(|text| text.split_once(' ')).map_or("", |(word, _)| word);
    let rest: Vec<&str> = texts.iter().map(|text| text.strip_prefix(word).map_or(*text, str::trim_start)).collect();
    match rest.len().checked_sub(TOLD_TURNED) {
        Some(more @ 1..) => format!("{word} {} · and {more} more", rest[..TOLD_TURNED].join(" · ")),
        _ => format!("{word} {}", rest.join(" · ")),
    }
}

/// The most lines that are listed after an undo or redo, and the most decisions of each.
const TOLD_TURNED: usize = 8;

/// Parses a count after a command; `default` for an empty text.
pub(super) fn count(rest: &str, default: usize) -> Result<usize, Complaint> {
    match rest {
        "" => Ok(default),
        "all" => Ok(usize::MAX),
        rest => match rest.parse() {
            Ok(0) | Err(_) => Err(Complaint::Wrong(format!("Type a number from 1 upwards instead of `{rest}`."))),
            Ok(n) => Ok(n),
        },
    }
}
