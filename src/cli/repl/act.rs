//! The commands by which a player plays.

use std::sync::Arc;

use riskbreaker::{Ask, Dice, Driver, Event, Happening, Question, Refusal, Remedy, Session, Step, Undone, Value};
use serde_json::json;

use super::difference::{Difference, Picture};
use super::line::{Phrase, split_first};
use super::meaning::answers;
use super::vocabulary::Vocabulary;
use super::{Complaint, Done, Repl};
use crate::cli::roll::roll_by;
use crate::cli::row::{Row, Tone};

impl Phrase {
    fn value(&self) -> Value {
        match self.items.as_deref() {
            None => Value::text(&self.text),
            Some([only]) => Value::text(only),
            Some(items) => Value::list(items.iter().map(Value::text)),
        }
    }
}

impl Repl {
    /// Answers the open question by `head`, and what follows by topic: all of it, or nothing.
    pub(super) fn reply(&mut self, head: Phrase, named: Vec<(String, Phrase)>) -> Done {
        let question = self.wanted_question()?;
        let mut replies: Vec<(String, Value)> = Vec::new();
        if !head.is_empty() {
            replies.push((question.topic.to_string(), head.value()));
        }
        for (topic, phrase) in named {
            if replies.iter().any(|(known, _)| *known == topic) {
                return Err(Complaint::Wrong(format!("`{}` is answered twice in one line", topic.replace('_', " "))));
            }
            if phrase.is_empty() {
                return Err(Complaint::Wrong(format!("nothing stands behind `{}`", topic.replace('_', " "))));
            }
            replies.push((topic, phrase.value()));
        }
        self.reply_all(&question, replies)
    }

    pub(super) fn reply_all(&mut self, question: &Question, mut replies: Vec<(String, Value)>) -> Done {
        if replies.is_empty() {
            return Err(Complaint::Wrong(format!("{} is wanted; `options` shows what is open", question.ask.wanted())));
        }
        let whom = self.whom(question);
        self.own = replies.iter().map(|(topic, _)| (topic.as_str().into(), whom.as_str().into())).collect();
        let first_of_topic = self.session.questions().iter().find(|other| other.topic == question.topic);
        let decisions = replies.len();
        let goes_elsewhere = first_of_topic.is_some_and(|first| first.id != question.id);
        if *replies[0].0 == *question.topic && (replies.len() == 1 || goes_elsewhere) {
            let (_, value) = replies.remove(0);
            let answer = question.read(&value)?;
            self.session.answer(question.id, answer)?;
            if replies.is_empty() {
                return self.settle_after(decisions);
            }
            self.step = self.session.advance()?;
            if let Err(refusal) = self.session.reply(&replies) {
                self.session.undo()?;
                let _ = self.session.advance()?;
                self.session.take_events();
                return Err(refusal.into());
            }
            return self.settle_after(decisions);
        }
        let _ = self.session.reply(&replies)?;
        self.settle_after(decisions)
    }

    /// The question that can be answered now.
    fn wanted_question(&self) -> Result<Question, Complaint> {
        match (&self.step, self.focused()) {
            (Step::Fault(_), _) => {
                Err(Complaint::wrong("an action failed: mend its script and `retry`, `skip` it, or `undo`"))
            }
            (Step::Over(_), _) => Err(Complaint::wrong("the game is over; `undo` takes the last decision back")),
            (Step::Ask, Some(question)) => Ok(question.clone()),
            (Step::Ask, None) => Err(Complaint::wrong("nothing is asked now")),
        }
    }

    /// `ok`: takes the default of the question, or of all that are open.
    pub(super) fn take_default(&mut self, rest: &str) -> Done {
        let question = self.wanted_question()?;
        let all = rest.eq_ignore_ascii_case("all");
        if !all && !rest.is_empty() {
            return Err(Complaint::wrong("`ok` takes the answer marked `*`; `ok all` does for every open question"));
        }
        let chosen: Vec<Question> = if all { self.session.questions().to_vec() } else { vec![question] };
        let mut taken = 0;
        for question in chosen {
            if let Some(default) = question.default.clone() {
                self.session.answer(question.id, default)?;
                taken += 1;
            }
        }
        if taken == 0 {
            return Err(Complaint::wrong("nothing is suggested here; `options` shows what is open"));
        }
        self.settle_after(taken)
    }

    /// `pass`: the option, the act or the empty answer that means doing nothing.
    pub(super) fn pass(&mut self, words: &Vocabulary) -> Done {
        let question = self.wanted_question()?;
        let named = |name: &str| name.eq_ignore_ascii_case("pass");
        let option = question.ask.options().iter().find(|option| named(&option.id) || named(&option.label));
        if let Some(option) = option {
            let reply = vec![(question.topic.to_string(), Value::text(&option.id))];
            return self.reply_all(&question, reply);
        }
        if words.free.iter().any(|(id, _)| named(id)) {
            return self.take_free_act("pass", "", words);
        }
        match question.ask {
            Ask::ChooseMany { min: 0, .. } => {
                self.reply_all(&question, vec![(question.topic.to_string(), Value::text("none"))])
            }
            _ => Err(Complaint::wrong("the rules offer no pass here; `options` shows what is open")),
        }
    }

    /// `free`: lists the acts that are nobody's turn, or does one.
    pub(super) fn free(&mut self, rest: &str, words: &Vocabulary) -> Done {
        if !rest.is_empty() {
            return match words.free_act(rest) {
                Some((act, rest)) => {
                    let (act, rest) = (act.to_owned(), rest.to_owned());
                    self.take_free_act(&act, &rest, words)
                }
                None => {
                    let (first, _) = split_first(rest);
                    let seat = self.person().unwrap_or_default();
                    self.session.act(&seat, first)?;
                    self.settle_after(1)
                }
            };
        }
        self.show_free_acts()
    }

    /// Does an act that is nobody's turn, for the seat that is named, asked, or played by a person; `rest` answers what it asks.
    pub(super) fn take_free_act(&mut self, act: &str, rest: &str, words: &Vocabulary) -> Done {
        let acts = self.session.free_acts();
        // Where nobody may, one who could is told why not.
        let nobody = !acts.iter().any(|free| *free.name == *act && free.enabled);
        let may = acts.iter().filter(|free| *free.name == *act && (free.enabled || nobody));
        let may: Vec<String> = may.map(|free| free.seat.to_string()).collect();
        let (first, after) = split_first(rest);
        let (seat, rest) = match may.iter().find(|seat| seat.eq_ignore_ascii_case(first)) {
            Some(seat) => (seat.clone(), after),
            None => {
                let asked = self.focused().map(|question| question.seat.to_string());
                let seat =
                    asked.filter(|seat| may.contains(seat)).or_else(|| self.person().filter(|seat| may.contains(seat)));
                (seat.or_else(|| may.first().cloned()).unwrap_or_default(), rest)
            }
        };
        self.session.act(&seat, act)?;
        if rest.is_empty() {
            return self.settle_after(1);
        }
        self.step = self.session.advance()?;
        self.done.push(1);
        self.undone.clear();
        let cut = answers(rest, words);
        let answered = self.reply(cut.head, cut.named);
        match answered {
            Ok(()) => {
                // The act and its answers came in one line.
                let answers = self.done.pop().unwrap_or(0);
                let act = self.done.pop().unwrap_or(0);
                self.done.push(act + answers);
            }
            Err(_) => {
                self.done.pop();
                self.session.undo()?;
                self.settle()?;
            }
        }
        answered
    }

    /// A seat that a person plays.
    fn person(&self) -> Option<String> {
        self.seats_of_people().first().map(ToString::to_string)
    }

    fn seats_of_people(&self) -> Vec<Arc<str>> {
        let seats = self.session.seats().iter().filter(|(_, driver)| **driver == Driver::Human);
        seats.map(|(seat, _)| seat.clone()).collect()
    }

    /// `undo`: takes back what the last line did, or the last N lines.
    pub(super) fn undo(&mut self, rest: &str) -> Done {
        let lines = count(rest, 1)?;
        self.turn(lines, Session::undo, |repl| (&mut repl.done, &mut repl.undone), true)
    }

    /// `redo`: does again what was taken back.
    pub(super) fn redo(&mut self, rest: &str) -> Done {
        let lines = count(rest, 1)?;
        self.turn(lines, Session::redo, |repl| (&mut repl.undone, &mut repl.done), false)
    }

    /// Goes back or forth, line by line: a line may have held several decisions.
    fn turn(
        &mut self,
        lines: usize,
        step: fn(&mut Session) -> Result<Undone, Refusal>,
        stacks: fn(&mut Repl) -> (&mut Vec<usize>, &mut Vec<usize>),
        back: bool,
    ) -> Done {
        let before = Picture::of(&self.session.view());
        let mut turned = Vec::new();
        for line in 0..lines {
            let decisions = stacks(self).0.pop().unwrap_or(1);
            let mut in_line = 0;
            for _ in 0..decisions {
                match step(&mut self.session) {
                    Ok(undone) => turned.push(undone),
                    Err(refusal) if line == 0 && in_line == 0 => return Err(refusal.into()),
                    Err(_) => break,
                }
                in_line += 1;
            }
            if in_line == 0 {
                break;
            }
            stacks(self).1.push(in_line);
        }
        self.step = self.session.advance()?;
        // What people decided, and what does not stand any more, has just been said.
        let people: Vec<Arc<str>> = self.seats_of_people();
        let events = self.session.take_events().into_iter().filter(|event| match &event.happening {
            Happening::Withdrawn { .. } | Happening::Changed { .. } => false,
            Happening::Answered { seat, .. } => !people.contains(seat),
            _ => true,
        });
        let events: Vec<Event> = events.collect();
        let changes = before.changes(&Picture::of(&self.session.view()));
        if back {
            // Told in the order in which it was decided.
            turned.reverse();
        }
        let text = sentence(&turned);
        if self.screen.json() {
            self.screen.event("turned", &json!({ "text": text, "changes": changes }))?;
        }
        self.screen.row(&Row::at(2).plain(text))?;
        self.tell(&events)?;
        if !self.screen.json() {
            self.screen.columns(2, changes.iter().map(Difference::cells).collect())?;
        }
        self.asked = None;
        self.settle()
    }

    /// `retry`, `skip`: goes on after a fault.
    pub(super) fn remedy(&mut self, remedy: Remedy) -> Done {
        if !matches!(self.step, Step::Fault(_)) {
            return Err(Complaint::wrong("no action has failed: there is nothing to go on from"));
        }
        self.session.remedy(remedy)?;
        self.settle()
    }

    /// `roll`: the faces of real dice where the game asks for them, otherwise dice beside the game.
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
        if rest.is_empty() {
            return Err(Complaint::wrong("roll what? `roll 3d6+1`, for example"));
        }
        let dice = Dice::parse(rest).map_err(|error| Complaint::Wrong(format!("{rest}: {error}")))?;
        let roll = roll_by(&dice, &mut self.chance).map_err(Complaint::Broken)?;
        if self.screen.json() {
            let told = json!({ "dice": dice.to_string(), "total": roll.total(), "explain": roll.explain() });
            return Ok(self.screen.event("roll", &told)?);
        }
        Ok(self.screen.row(&Row::at(2).plain(roll.explain()))?)
    }

    /// `auto`: lets a policy answer what people are asked, a number of times.
    pub(super) fn auto(&mut self, rest: &str) -> Done {
        let mut times = 1;
        let mut policy = None;
        for word in rest.split_whitespace() {
            match word.parse::<u32>() {
                Ok(n) => times = n,
                Err(_) => policy = Some(word.to_owned()),
            }
        }
        let rules = self.session.ruleset().clone();
        let Some(policy) = policy.or_else(|| rules.policies().first().map(ToString::to_string)) else {
            return Err(Complaint::Wrong(format!("{} has no policy; `ok` takes what is suggested", rules.id())));
        };
        let mut events = Vec::new();
        let mut taken = 0;
        let mut stopped = None;
        while taken < times && matches!(self.step, Step::Ask) {
            if let Err(complaint) = self.answer_by(&policy) {
                stopped = Some(complaint);
                break;
            }
            self.step = self.session.advance()?;
            events.extend(self.session.take_events());
            taken += 1;
        }
        self.tell(&events)?;
        match stopped {
            Some(complaint) if taken == 0 => Err(complaint),
            Some(Complaint::Wrong(message)) => {
                self.screen.row(&Row::at(2).with(message, Tone::Note))?;
                self.show_standing()
            }
            Some(broken) => Err(broken),
            None => self.show_standing(),
        }
    }

    fn answer_by(&mut self, policy: &str) -> Done {
        let question = self.wanted_question()?;
        let answer = self.session.suggest(question.id, policy)?.or_else(|| question.default.clone());
        let answer = answer.ok_or_else(|| Complaint::Wrong(format!("`{policy}` leaves this to you")))?;
        self.session.answer(question.id, answer)?;
        self.done.push(1);
        self.undone.clear();
        Ok(())
    }
}

/// What several steps back or forth did, the word for it said once.
fn sentence(turned: &[Undone]) -> String {
    let texts: Vec<&str> = turned.iter().map(|undone| undone.text.as_str()).collect();
    let word = texts.first().and_then(|text| text.split_once(' ')).map_or("", |(word, _)| word);
    let rest: Vec<&str> = texts.iter().map(|text| text.strip_prefix(word).map_or(*text, str::trim_start)).collect();
    format!("{word} {}", rest.join(" · "))
}

/// A count behind a command: nothing means `default`.
pub(super) fn count(rest: &str, default: usize) -> Result<usize, Complaint> {
    match rest {
        "" => Ok(default),
        "all" => Ok(usize::MAX),
        rest => rest.parse().map_err(|_| Complaint::Wrong(format!("a number is wanted, not `{rest}`"))),
    }
}
