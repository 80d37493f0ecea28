//! The commands by which a player plays.

use riskbreaker::{Ask, Dice, Event, Happening, Question, Remedy, Step, Value};

use super::line::{Phrase, split_first};
use super::meaning::answers;
use super::vocabulary::Vocabulary;
use super::{Complaint, Done, Repl};
use crate::cli::roll::roll_by;
use crate::cli::screen::Row;

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
        let goes_elsewhere = first_of_topic.is_some_and(|first| first.id != question.id);
        if *replies[0].0 == *question.topic && (replies.len() == 1 || goes_elsewhere) {
            let (_, value) = replies.remove(0);
            let answer = question.read(&value)?;
            self.session.answer(question.id, answer)?;
            if replies.is_empty() {
                return self.settle();
            }
            self.step = self.session.advance()?;
            if let Err(refusal) = self.session.reply(&replies) {
                self.session.undo()?;
                let _ = self.session.advance()?;
                self.session.take_events();
                return Err(refusal.into());
            }
            return self.settle();
        }
        let _ = self.session.reply(&replies)?;
        self.settle()
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
        self.settle()
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
                    self.settle()
                }
            };
        }
        self.show_free_acts()
    }

    /// Does an act that is nobody's turn, for the seat that is named, asked, or played by a person; `rest` answers what it asks.
    pub(super) fn take_free_act(&mut self, act: &str, rest: &str, words: &Vocabulary) -> Done {
        let acts = self.session.free_acts();
        let may: Vec<String> =
            acts.iter().filter(|free| *free.name == *act && free.enabled).map(|free| free.seat.to_string()).collect();
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
            return self.settle();
        }
        self.step = self.session.advance()?;
        let cut = answers(rest, words);
        let answered = self.reply(cut.head, cut.named);
        if answered.is_err() {
            self.session.undo()?;
            self.settle()?;
        }
        answered
    }

    /// A seat that a person plays.
    fn person(&self) -> Option<String> {
        let mut seats = self.session.seats().iter().filter(|(_, driver)| **driver == riskbreaker::Driver::Human);
        seats.next().map(|(seat, _)| seat.to_string())
    }

    /// `undo`: takes back one decision, or several.
    pub(super) fn undo(&mut self, rest: &str) -> Done {
        let times = count(rest, 1)?;
        for time in 0..times {
            match self.session.undo() {
                Ok(undone) => self.tell_undone(&undone.text, undone.changes)?,
                Err(refusal) if time == 0 => return Err(refusal.into()),
                Err(_) => break,
            }
        }
        self.asked = None;
        self.settle()
    }

    /// `redo`: does again what was taken back.
    pub(super) fn redo(&mut self, rest: &str) -> Done {
        let times = count(rest, 1)?;
        for time in 0..times {
            match self.session.redo() {
                Ok(redone) => self.tell_undone(&redone.text, redone.changes)?,
                Err(refusal) if time == 0 => return Err(refusal.into()),
                Err(_) => break,
            }
        }
        self.asked = None;
        self.settle()
    }

    fn tell_undone(&mut self, text: &str, changes: Vec<Happening>) -> Done {
        if self.screen.json() {
            let object = serde_json::json!({ "event": "turned", "text": text, "changes": changes });
            return Ok(self.screen.object(&object)?);
        }
        self.screen.row(&Row::at(2).plain(text))?;
        let changes: Vec<Event> =
            (0..).zip(changes).map(|(n, happening)| Event { action: 0, n, audience: None, happening }).collect();
        self.tell(&changes)
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
            let object = serde_json::json!({ "event": "roll", "dice": dice.to_string(), "total": roll.total(), "explain": roll.explain() });
            return Ok(self.screen.object(&object)?);
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
        for _ in 0..times {
            let question = self.wanted_question()?;
            let answer = self.session.suggest(question.id, &policy)?.or_else(|| question.default.clone());
            let Some(answer) = answer else {
                return Err(Complaint::Wrong(format!("`{policy}` leaves this to you")));
            };
            self.session.answer(question.id, answer)?;
            self.settle()?;
            if !matches!(self.step, Step::Ask) {
                break;
            }
        }
        Ok(())
    }
}

/// A count behind a command: nothing means `default`.
pub(super) fn count(rest: &str, default: usize) -> Result<usize, Complaint> {
    match rest {
        "" => Ok(default),
        "all" => Ok(usize::MAX),
        rest => rest.parse().map_err(|_| Complaint::Wrong(format!("a number is wanted, not `{rest}`"))),
    }
}
