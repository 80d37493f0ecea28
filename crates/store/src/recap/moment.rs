use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use riskbreaker_play::{Cause, Event, Happening, Profile, Ruleset, Session, Viewer};
use riskbreaker_ruleset::Card;
use riskbreaker_state::{EntityId, OutcomeKind, Value};

/// A sentence about an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub text: String,
    /// The sentence without names, for a sentence of the rules; `None` for any other. Frequent patterns are left out of
    /// the recap.
    pub pattern: Option<String>,
}

impl From<String> for Told {
    fn from(text: String) -> Told {
        Told { text, pattern: None }
    }
}

/// An action as the recap describes it.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// The sentences, in order.
    pub sentences: Vec<Told>,
    /// The cards that were played: actor, card, and success, if it is known.
    pub cards: Vec<(Arc<str>, Arc<str>, Option<bool>)>,
    /// The largest gain of the game's value for a side, and that side; `None` if no side has gained.
    pub swing: Option<(i64, Arc<str>)>,
    /// The changes of the first number of each entity.
    pub effects: Vec<Effect>,
    /// True if the recap must contain it: a person wrote it, or it ended the game.
    pub is_fixed: bool,
    /// True if it ended the game.
    pub is_end: bool,
}

/// A change of the first number of an entity.
#[derive(Clone, Debug)]
pub struct Effect {
    pub title: Arc<str>,
    pub label: Arc<str>,
    pub by: i64,
    /// True if a higher number is worse.
    pub harm: bool,
    now: i64,
    max: Option<i64>,
    reason: Option<Arc<str>>,
}

/// The facts of a scene up to the last action, from which the next one is described.
#[derive(Default)]
pub struct Watched {
    /// The titles of the characters, the longest first, so that a title is not found inside a longer one.
    titles: Vec<Arc<str>>,
    sides: BTreeMap<Arc<str>, Arc<str>>,
    first_sides: BTreeMap<Arc<str>, Arc<str>>,
    worth: BTreeMap<Arc<str>, i64>,
    /// The title of the side of each seat.
    seats: BTreeMap<Arc<str>, Arc<str>>,
}

/// A card that was played in an action.
struct Play<'r> {
    actor: Arc<str>,
    card: &'r Card,
    answers: Vec<(Arc<str>, String)>,
    success: Option<bool>,
}

impl Watched {
    /// Returns the characters, by their first side.
    pub fn cast(&self) -> BTreeMap<Arc<str>, Vec<Arc<str>>> {
        let mut cast: BTreeMap<Arc<str>, Vec<Arc<str>>> = BTreeMap::new();
        for (title, side) in &self.first_sides {
            cast.entry(side.clone()).or_default().push(title.clone());
        }
        cast
    }

    /// Describes the last action of the session. `None` if the viewer may not see anything of it.
    pub fn see(&mut self, session: &mut Session, viewer: &Viewer, cause: &Cause) -> Option<Moment> {
        let events = session.take_events();
        let seen: Vec<Event> = events.into_iter().filter(|event| viewer.sees(&event.audience)).collect();
        let profiles = session.seen_by(viewer.clone()).profiles();
        let rules = session.ruleset().clone();
        self.know(session, &rules, viewer, &profiles);
        let swing = self.measure(session, &rules);
        let by_hand = matches!(cause, Cause::Edit { .. });
        let effects = effects_of(session, &rules, &seen, &profiles);
        let mut moment = Moment { effects, swing, ..Moment::default() };
        let mut plays: Vec<Play<'_>> = Vec::new();
        let mut lines: Vec<(String, bool)> = Vec::new();
        for event in &seen {
            let mark = if event.audience.is_everybody() { "" } else { "(secret) " };
            match &event.happening {
                Happening::Answered { seat, topic, about, text } => {
                    answered(&rules, &mut plays, about.as_ref().unwrap_or(seat), topic, text);
                }
                Happening::Rolled { label, success, result, .. } => {
                    let success = success.or_else(|| of_result(&rules, result.as_deref()?));
                    if let Some(success) = success {
                        self.rolled(&mut plays, label, success);
                    }
                }
                Happening::Said { text } => {
                    moment.is_fixed |= by_hand;
                    lines.push((format!("{mark}{}", text.trim()), by_hand));
                }
                Happening::Edited { text } if viewer.is_master() => {
                    moment.is_fixed = true;
                    lines.push((format!("{mark}{text}"), true));
                }
                Happening::Over { .. } => (moment.is_fixed, moment.is_end) = (true, true),
                // Changes of values are the effects of the action, which are found below.
                Happening::Changed { .. }
                | Happening::Spawned { .. }
                | Happening::Removed { .. }
                | Happening::Edited { .. }
                | Happening::Notice { .. }
                | Happening::Cut { .. }
                | Happening::Back { .. }
                | Happening::Aside { .. }
                | Happening::Withdrawn { .. } => {}
            }
        }
        self.tell(&mut moment, plays, lines);
        for event in &seen {
            if let Happening::Over { text } = &event.happening {
                moment.sentences.push(format!("It ended. {}", sentence(text)).into());
            }
        }
        let is_empty = moment.sentences.is_empty() && moment.cards.is_empty();
        (!is_empty).then_some(moment)
    }

    /// Composes the sentences of an action: those of each card, then the effects on others.
    fn tell(&self, moment: &mut Moment, plays: Vec<Play<'_>>, mut lines: Vec<(String, bool)>) {
        lines.retain(|(text, by_hand)| *by_hand || self.tells_a_story(text));
        let hurts_another =
            |actor: &str| moment.effects.iter().any(|effect| *effect.title != *actor && effect.is_bad());
        for play in &plays {
            // An actor that has hurt somebody has succeeded, even if the target has parried a part of it.
            let success = if hurts_another(&play.actor) { Some(true) } else { play.success };
            moment.cards.push((play.actor.clone(), play.card.title.clone(), success));
            let whom = self.counterpart(play, moment, &lines);
            let told = play.card.recap.told(success, (&*play.actor, whom.as_deref()), |topic| play.answer(topic));
            let own_line = lines.iter().position(|(text, by_hand)| !by_hand && self.subject(text) == Some(&play.actor));
            let own_line = own_line.map(|at| lines.remove(at).0);
            let text = match (told, own_line) {
                (Some(told), _) => told,
                (None, Some(line)) => sentence(&line),
                (None, None) => play.in_words(success, whom.as_deref()),
            };
            moment.sentences.push(text.into());
        }
        // Text by a person is copied unchanged.
        let written = lines.iter().filter(|(_, by_hand)| *by_hand).map(|(text, _)| Told::from(ended(text)));
        moment.sentences.extend(written);
        moment.sentences.extend(moment.effects.iter().map(|effect| Told::from(effect.in_words())));
        let of_rules = lines.iter().filter(|(_, by_hand)| !by_hand);
        moment
            .sentences
            .extend(of_rules.map(|(text, _)| Told { text: sentence(text), pattern: Some(self.without_titles(text)) }));
    }

    /// Returns the target of a card: the characters that an answer names, or else the only other character that the
    /// action names or changes, or the only one on another side.
    fn counterpart(&self, play: &Play<'_>, moment: &Moment, lines: &[(String, bool)]) -> Option<String> {
        let is_named = |text: &&str| text.split(", ").flat_map(|part| part.split(" and ")).all(|name| self.knows(name));
        if let Some(named) = play.answers.iter().map(|(_, text)| text.as_str()).find(is_named) {
            return Some(named.to_owned());
        }
        let mut named: BTreeSet<Arc<str>> = moment.effects.iter().map(|effect| effect.title.clone()).collect();
        named.extend(lines.iter().flat_map(|(text, _)| self.titles_in(text)));
        named.remove(&play.actor);
        let others = || {
            let own = self.sides.get(&play.actor)?;
            Some(self.sides.iter().filter(|(_, side)| *side != own).map(|(title, _)| title.clone()).collect())
        };
        if named.is_empty() {
            named = others().unwrap_or_default();
        }
        match named.len() {
            1 => named.pop_first().map(|title| title.to_string()),
            _ => None,
        }
    }

    /// Updates the titles, sides and seats of the characters.
    fn know(
        &mut self,
        session: &mut Session,
        rules: &Ruleset,
        viewer: &Viewer,
        profiles: &BTreeMap<EntityId, Profile>,
    ) {
        let mut seat = session.seen_by(viewer.clone());
        let view = seat.view();
        let schema = rules.schema();
        let plays = |id: &EntityId| {
            let kind = view.kind(*id).and_then(|kind| schema.kind_named(kind));
            kind.is_some_and(|kind| schema.kind(kind).profile.side.is_some() || schema.kind(kind).sheet)
        };
        let ids: Vec<EntityId> = view.entities().filter(plays).collect();
        self.titles = ids.iter().map(|id| view.title(*id)).filter(|title| !title.is_empty()).collect();
        self.titles.sort_by_key(|title| std::cmp::Reverse(title.len()));
        self.sides.clear();
        for profile in profiles.values() {
            if let (Some(seat), Some(side)) = (&profile.seat, &profile.side) {
                self.seats.entry(seat.clone()).or_insert_with(|| side.title.clone());
            }
        }
        for (title, profile) in ids.iter().filter_map(|id| Some((view.title(*id), profiles.get(id)?))) {
            let Some(side) = profile.side.as_ref().map(|side| side.title.clone()).or(profile.seat.clone()) else {
                continue;
            };
            self.first_sides.entry(title.clone()).or_insert_with(|| side.clone());
            self.sides.insert(title, side);
        }
    }

    /// Computes the largest gain of the game's value for a side since the last call. `None` if the ruleset does not
    /// measure it.
    fn measure(&mut self, session: &mut Session, rules: &Ruleset) -> Option<(i64, Arc<str>)> {
        if !rules.measures() {
            return None;
        }
        let before = std::mem::take(&mut self.worth);
        for (seat, side) in &self.seats {
            if let Ok(Some(worth)) = session.worth(seat) {
                self.worth.insert(side.clone(), worth);
            }
        }
        let gains = self.worth.iter().filter_map(|(side, worth)| Some((worth - before.get(side)?, side.clone())));
        gains.max_by_key(|(gain, _)| *gain).filter(|(gain, _)| *gain > 0)
    }

    /// Assigns a roll to the last card of the one who rolls. If only another character has played a card, that card
    /// fails if the roll succeeds.
    fn rolled(&self, plays: &mut [Play<'_>], label: &str, success: bool) {
        let who = self.titles_in(label).into_iter().next();
        let own = plays.iter().rposition(|play| who.as_ref() == Some(&play.actor));
        let (at, success) = match own {
            Some(at) => (at, success),
            None if plays.len() == 1 => (0, success == who.is_none()),
            None => return,
        };
        plays[at].success.get_or_insert(success);
    }

    /// Returns the characters that a text names, in the order of the text.
    fn titles_in(&self, text: &str) -> Vec<Arc<str>> {
        let mut found: Vec<(usize, Arc<str>)> = Vec::new();
        let mut taken: Vec<(usize, usize)> = Vec::new();
        for title in &self.titles {
            for (at, _) in text.match_indices(&**title) {
                let end = at + title.len();
                let whole =
                    !text[..at].ends_with(char::is_alphanumeric) && !text[end..].starts_with(char::is_alphanumeric);
                if whole && taken.iter().all(|(from, to)| end <= *from || at >= *to) {
                    taken.push((at, end));
                    found.push((at, title.clone()));
                }
            }
        }
        found.sort();
        found.into_iter().map(|(_, title)| title).collect()
    }

    fn knows(&self, title: &str) -> bool {
        self.titles.iter().any(|known| **known == *title)
    }

    /// Returns the character with whose title a line begins.
    fn subject(&self, text: &str) -> Option<&Arc<str>> {
        self.titles.iter().find(|title| text.strip_prefix(&***title).is_some_and(|rest| rest.starts_with(' ')))
    }

    /// Returns a text with `X` in place of each character's title.
    fn without_titles(&self, text: &str) -> String {
        self.titles.iter().fold(text.to_owned(), |text, title| text.replace(&**title, "X"))
    }

    /// True if a line of the rules is a sentence. Bookkeeping has figures, colons or headings.
    fn tells_a_story(&self, text: &str) -> bool {
        let rest = self.without_titles(text.trim_start_matches("(secret) "));
        let is_plain = !rest.contains([':', '(', '=']) && !rest.contains(|letter: char| letter.is_ascii_digit());
        is_plain && rest.split_whitespace().count() >= 3
    }
}

impl Play<'_> {
    fn answer(&self, topic: &str) -> Option<&str> {
        self.answers.iter().rev().find(|(known, _)| **known == *topic).map(|(_, text)| text.as_str())
    }

    /// Describes the card in a sentence of the host, for cards without a sentence of their own.
    fn in_words(&self, success: Option<bool>, whom: Option<&str>) -> String {
        let on = whom.map(|whom| format!(" on {whom}")).unwrap_or_default();
        let outcome = match success {
            Some(true) => " and succeeds",
            Some(false) => " and fails",
            None => "",
        };
        format!("{} plays {}{on}{outcome}.", self.actor, self.card.title)
    }
}

impl Effect {
    fn is_bad(&self) -> bool {
        (self.by > 0) == self.harm
    }

    fn in_words(&self) -> String {
        let (title, label, by) = (&self.title, &self.label, self.by.abs());
        let change = match (self.harm, self.by > 0) {
            (true, true) => format!("{title} takes {by} {label}"),
            (true, false) => format!("{title} is rid of {by} {label}"),
            (false, true) => format!("{title} gains {by} {label}"),
            (false, false) => format!("{title} loses {by} {label}"),
        };
        let rest = match (self.max, self.harm) {
            (Some(max), true) => format!(" ({} of {max})", self.now),
            (Some(max), false) => format!(" ({} of {max} left)", self.now.max(0)),
            (None, _) => String::new(),
        };
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{change}{rest}{reason}.")
    }
}

/// Adds the card that was chosen, or an answer to a question of the actor's last card.
fn answered<'r>(rules: &'r Ruleset, plays: &mut Vec<Play<'r>>, who: &Arc<str>, topic: &Arc<str>, text: &str) {
    let of_actor = plays.iter_mut().rfind(|play| play.actor == *who);
    match (rules.cards().iter().find(|card| *card.title == *text), of_actor) {
        (Some(card), None) => {
            plays.push(Play { actor: who.clone(), card, answers: Vec::new(), success: None });
        }
        (_, Some(play)) => play.answers.push((topic.clone(), listed(text))),
        (None, None) => {}
    }
}

/// Formats an answer of several names: `Ann, Bob and Cid`.
fn listed(text: &str) -> String {
    match text.rsplit_once(", ") {
        Some((before, last)) => format!("{before} and {last}"),
        None => text.to_owned(),
    }
}

/// True if a result of a roll, in the words of the rules, is a success; `None` if the rules do not name it.
fn of_result(rules: &Ruleset, result: &str) -> Option<bool> {
    let (_, kind) = rules.results().iter().find(|(word, _)| result.starts_with(&**word))?;
    match kind {
        OutcomeKind::Success => Some(true),
        OutcomeKind::Failure => Some(false),
        OutcomeKind::Other => None,
    }
}

/// Returns the changes of the first number of each entity, summed over the action.
fn effects_of(
    session: &mut Session,
    rules: &Ruleset,
    seen: &[Event],
    profiles: &BTreeMap<EntityId, Profile>,
) -> Vec<Effect> {
    let (view, schema) = (session.view(), rules.schema());
    let mut effects: Vec<(EntityId, Effect)> = Vec::new();
    for event in seen {
        let Happening::Changed { entity, title, field, from, to, reason, .. } = &event.happening else { continue };
        let kind = view.kind(*entity).and_then(|kind| schema.kind_named(kind)).map(|kind| schema.kind(kind));
        let Some(rule) = kind.filter(|kind| kind.profile.side.is_some()).and_then(|kind| kind.profile.numbers.first())
        else {
            continue;
        };
        let (Value::Int(from), Value::Int(to)) = (from, to) else { continue };
        if *rule.name != **field {
            continue;
        }
        if let Some((_, known)) = effects.iter_mut().find(|(id, _)| id == entity) {
            (known.by, known.now) = (known.by + to - from, *to);
            continue;
        }
        let shown =
            profiles.get(entity).and_then(|profile| profile.numbers.iter().find(|number| number.name == rule.name));
        let max = shown.and_then(|number| number.max);
        let (title, label, reason) = (title.clone(), rule.label.clone(), reason.clone());
        effects.push((*entity, Effect { title, label, by: to - from, harm: rule.harm, now: *to, max, reason }));
    }
    effects.into_iter().map(|(_, effect)| effect).filter(|effect| effect.by != 0).collect()
}

/// Returns a text as a sentence: with a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut letters = text.chars();
    let text: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    ended(&text)
}

/// Returns a text with a full stop at its end.
fn ended(text: &str) -> String {
    let text = text.trim();
    match text.chars().last() {
        Some('.' | '!' | '?' | ':' | '”') => text.to_owned(),
        _ => format!("{text}."),
    }
}
