use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::exploration::{Detail, explore};
use super::{Compared, Limits, Odds, OddsQuery, check_compared};
use riskbreaker_dice::Fraction;
use riskbreaker_play::{
    Answer, Ask, Driver, Edit, Game, Given, Machine, Question, QuestionId, Refusal, Ruleset, Session, Setup, Slot,
    Step, Viewer, read_typed, typed_form,
};
use riskbreaker_ruleset::instead;
use riskbreaker_state::{EntityId, Field, Type, Value};
use riskbreaker_work::is_set;

/// A card about to be played, in a position that a scenario leads to.
#[derive(Clone, Debug, Default)]
pub struct Position {
    /// The position: a scenario and house rules.
    pub setup: Setup,
    /// The card, by id.
    pub card: String,
    /// The actor by title; `None` for the first that is asked.
    pub actor: Option<String>,
    /// Answers to earlier questions, each given when its topic is asked and it fits: topic, answer.
    pub way: Vec<(String, String)>,
    /// Manual edits before the card is played: name, field, value.
    pub edits: Vec<(String, String, String)>,
    /// Fields and derived values to read at the end of the action, in addition to those of the query: name, field.
    pub watch: Vec<(String, String)>,
    /// The comparisons of conditions. Each names one of `watch`.
    pub compared: Vec<Compared>,
    /// The query for the odds of the card.
    pub query: OddsQuery,
}

/// The place where a card is about to be played.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The actor, by title.
    pub actor: Option<Arc<str>>,
    /// The answers given on the way to the card: seat or title, topic, answer.
    pub way: Way,
    /// Every number that these rules have, as title and label.
    pub known: BTreeSet<(Arc<str>, Arc<str>)>,
    /// Manual edits that name what these rules do not have; only if [`OddsQuery::lenient`] allows it.
    pub left_out: Vec<String>,
}

/// The most answers to one question that are examined together.
pub(super) const MOST: usize = 40;

/// The limit on runs over all answers of a question, and on random plays of each if these runs are too few.
const FOR_ALL: u64 = 60_000;
const SAMPLES: u64 = 2_000;

/// The most targets whose chances are shown.
const MOST_TARGETS: usize = 12;
/// The work for the exact chances of all targets of a question, and then for the estimates of the rest.
const FOR_TARGETS: u64 = 60_000_000;
const FOR_ESTIMATES: u64 = 60_000_000;

/// The number of earlier questions after which a card counts as out of reach.
const WAY: usize = 1_000;

/// The answers given on the way to a card: seat or title, topic, answer.
pub type Way = Vec<(String, String, String)>;

/// Called with each question on the way to a card and the answer to it.
pub(super) type AnswerListener<'n> = dyn FnMut(&Session, &Question, &Answer) + 'n;

impl Position {
    /// Computes the odds of the card.
    ///
    /// Each earlier question gets its default, or else the first possible answer.
    ///
    /// # Errors
    ///
    /// A message. A card, name, answer or house rule does not fit, the scenario never asks for the card, a script fails, or
    /// there are more paths than the limits allow.
    pub fn odds(&self, rules: &Arc<Ruleset>) -> Result<(Odds, Place), Refusal> {
        if rules.card(&self.card).is_none() {
            let ids = rules.cards().iter().map(|card| &*card.id);
            let meant = instead(&self.card, ids);
            return Err(Refusal::new(format!("{} has no card `{}`; {meant}", rules.id(), self.card)));
        }
        let (mut session, mut way) = (with_people(rules, self.setup.clone())?, Way::new());
        self.go_to(&mut session, &mut noted_in(&mut way))?;
        let left_out = self.edit_by_hand(&mut session, &mut noted_in(&mut way))?;
        let question =
            self.found(&session).cloned().ok_or_else(|| Refusal::new("the edits lead away from the card"))?;
        let actor = question.about.map(|id| session.view().title(id));
        // A greyed card is refused with its reason.
        question.read(&Value::text(&self.card))?;
        let mut query = self.query.clone();
        let value = Value::text(&self.card);
        query.given.push(Given::to(&question, value));
        for (name, field) in &self.watch {
            query.watch.push(watched(&session, name, field)?);
        }
        let view = session.view();
        let mut known = BTreeSet::new();
        for id in view.entities() {
            known.extend(view.fields(id).map(|(field, _)| (view.title(id), field.label.clone())));
        }
        let looked_at = query.watch.clone();
        let odds = odds_at(&mut session, question.id, query)?;
        for compared in &self.compared {
            let named = |(title, field): &(String, String)| *title == compared.title && *field == compared.field;
            let Some(at) = self.watch.iter().position(named) else { continue };
            let at = self.query.watch.len() + at;
            let (entity, name) = &looked_at[at];
            let view = session.view();
            let declared = view.fields(*entity).map(|(field, _)| field).find(|field| field.name == *name);
            let value = match declared.map(|field| &field.ty) {
                // Lists and maps are compared as they are printed.
                Some(Type::List(_) | Type::Map(_)) => continue,
                Some(Type::Ref(_)) => Value::text(&compared.value),
                Some(ty) => read_typed(&view, ty, &compared.value).unwrap_or_else(|| Value::text(&compared.value)),
                None => plain(&compared.value),
            };
            let found = odds.outcomes.iter().filter_map(|(outcome, _)| outcome.watched.get(at));
            check_compared(&session, (*entity, name), &value, compared.by_order, found)?;
        }
        Ok((odds, Place { actor, way, known, left_out }))
    }

    /// Replaces the names that a person typed by labels (see [`View::find_typed`]): the actor, the targets, and the
    /// entities of edits. The actor is looked up at the start of the scenario, the others where the card is asked for,
    /// so that entities created before then can be named. A name that fits nobody stays unchanged.
    ///
    /// # Errors
    ///
    /// [`Refusal::Ambiguous`] with the labels that a name fits.
    ///
    /// [`View::find_typed`]: riskbreaker_play::View::find_typed
    pub fn named_by_typing(mut self, rules: &Arc<Ruleset>) -> Result<Position, Refusal> {
        let Ok(mut session) = with_people(rules, self.setup.clone()) else { return Ok(self) };
        let _ = session.advance();
        if let Some(actor) = &mut self.actor
            && !session.seats().keys().any(|seat| seat.eq_ignore_ascii_case(actor))
        {
            *actor = typed_label(&session, actor)?;
        }
        if self.edits.is_empty() && self.query.against.is_none() {
            return Ok(self);
        }
        // If the card is out of reach, `odds` reports it; the names are looked up where the game stopped.
        let _ = self.go_to(&mut session, &mut |_, _, _| {});
        let label = |name: &str| typed_label(&session, name);
        for (name, _, _) in &mut self.edits {
            *name = label(name)?;
        }
        let view = session.view();
        if let Some(Value::Text(names)) = &self.query.against {
            let names: Vec<&str> = match view.find(names) {
                // A single name may contain a comma.
                Ok(_) => vec![names],
                Err(_) => names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect(),
            };
            let labels = names.into_iter().map(label).collect::<Result<Vec<_>, _>>()?;
            self.query.against = match labels.as_slice() {
                [] => self.query.against,
                [label] => Some(Value::text(label)),
                labels => Some(Value::list(labels.iter().map(Value::text))),
            };
        }
        Ok(self)
    }

    /// Applies the manual edits and plays on to the card. Returns the edits that do not fit, if leaving them out is
    /// allowed.
    pub(super) fn edit_by_hand(
        &self,
        session: &mut Session,
        note: &mut AnswerListener,
    ) -> Result<Vec<String>, Refusal> {
        let mut left_out = Vec::new();
        for (name, field, value) in &self.edits {
            let edited = read_edit(session, name, field, value).and_then(|edit| session.edit(edit));
            match edited {
                Err(_) if self.query.lenient => left_out.push(format!("{name}.{field}={value}")),
                edited => edited?,
            }
        }
        if !self.edits.is_empty() {
            self.go_to(session, note)?;
        }
        Ok(left_out)
    }

    /// Plays on to the question for the card. `note` is called with each answer.
    pub(super) fn go_to(&self, session: &mut Session, note: &mut AnswerListener) -> Result<(), Refusal> {
        let mut asked: Vec<String> = Vec::new();
        for _ in 0..WAY {
            match session.advance()? {
                Step::Fault(fault) => return Err(Refusal::fault(fault)),
                Step::Over(outcome) => {
                    return Err(self.out_of_reach(session, &format!("is over before ({outcome})"), &asked));
                }
                Step::Ask => {}
            }
            if let Some(actor) = &self.actor
                && let Err(refusal @ Refusal::Ambiguous { .. }) = session.view().find(actor)
            {
                return Err(refusal);
            }
            if self.found(session).is_some() {
                return Ok(());
            }
            let Some(question) = session.questions().first().cloned() else { break };
            let told = self.way.iter().filter(|(topic, _)| *topic == *question.topic);
            let told = told.filter_map(|(_, answer)| question.read(&Value::text(answer)).ok()).next();
            let answer = told.or_else(|| question.usual_answer());
            let Some(answer) = answer else {
                return Err(Refusal::new(format!("`{}` before the card has no default answer", question.topic)));
            };
            let whom = whom(session, &question);
            if has_card(&question, &self.card) && !asked.contains(&whom) {
                asked.push(whom);
            }
            note(session, &question, &answer);
            session.answer(question.id, answer)?;
        }
        Err(self.out_of_reach(session, "continues without that", &asked))
    }

    fn out_of_reach(&self, session: &Session, how: &str, asked: &[String]) -> Refusal {
        if let Some(actor) = &self.actor
            && !session.seats().keys().any(|seat| seat.eq_ignore_ascii_case(actor))
            && let Err(unknown) = session.view().find(actor)
        {
            let of = if asked.is_empty() || matches!(unknown, Refusal::UnknownName { near: Some(_), .. }) {
                String::new()
            } else {
                format!("; those who are asked for `{}`: {}", self.card, asked.join(", "))
            };
            return Refusal::new(format!("{unknown}{of}"));
        }
        let card = &self.card;
        Refusal::new(match &self.actor {
            _ if asked.is_empty() => format!(
                "nobody is asked for `{card}` in this scenario, which {how}; name another with `--scenario`, or another way \
                 through this one with `--way TOPIC=ANSWER`"
            ),
            Some(actor) => {
                let meant = instead(actor, asked.iter().map(String::as_str));
                format!("{actor} is never asked for `{card}`: the scenario {how}; {meant}")
            }
            None => format!("the question for `{card}` is never reached: the scenario {how}"),
        })
    }

    /// The open question that offers the card to the actor.
    pub(super) fn found<'s>(&self, session: &'s Session) -> Option<&'s Question> {
        let named = self.actor.as_ref().map(|actor| (actor, session.view().find(actor).ok()));
        session.questions().iter().find(|question| {
            let fits = match (&named, question.about) {
                (None, _) => true,
                (Some((_, entity)), Some(about)) => *entity == Some(about),
                (Some((actor, _)), None) => question.seat.eq_ignore_ascii_case(actor),
            };
            fits && has_card(question, &self.card)
        })
    }
}

/// The label of the entity that a typed `name` means; the name itself if it fits nobody.
fn typed_label(session: &Session, name: &str) -> Result<String, Refusal> {
    let view = session.view();
    match view.find_typed(name) {
        Ok(id) => Ok(view.label(id).to_string()),
        Err(refusal @ Refusal::Ambiguous { .. }) => Err(refusal),
        Err(_) => Ok(name.to_owned()),
    }
}

/// The game in its starting position, with a person on every seat.
pub(super) fn with_people(rules: &Arc<Ruleset>, mut setup: Setup) -> Result<Session, Refusal> {
    // Seats read by the scenario's scripts stay as they are.
    setup.seats_in_scenario = false;
    for seat in rules.seats().keys() {
        setup = setup.seat(seat, Driver::Human);
    }
    Session::start(rules, setup).map_err(|error| Refusal::new(error.to_string()))
}

/// Returns a listener that records each question and its answer in `way`.
fn noted_in(way: &mut Way) -> impl FnMut(&Session, &Question, &Answer) {
    move |session, question, answer| {
        way.push((whom(session, question), question.topic.to_string(), question.tell(answer)));
    }
}

/// The entity that a question is about, by title, or else the seat.
pub(super) fn whom(session: &Session, question: &Question) -> String {
    match question.about {
        Some(about) => session.view().title(about).to_string(),
        None => question.seat.to_string(),
    }
}

pub(super) fn has_card(question: &Question, card: &str) -> bool {
    matches!(&question.ask, Ask::Choose { options, .. } if options.iter().any(|option| &*option.id == card))
}

/// Finds a field or derived value by its name or by its label at the table.
fn watched(session: &Session, title: &str, name: &str) -> Result<(EntityId, Arc<str>), Refusal> {
    let view = session.view();
    let entity = view.find(title)?;
    let derived = view.derived_names(entity);
    let mut names: Vec<Arc<str>> = view.fields(entity).map(|(field, _)| field.name.clone()).collect();
    names.extend(derived.iter().cloned());
    if let Some(known) = names.iter().find(|known| ***known == *name) {
        return Ok((entity, known.clone()));
    }
    if let Some((field, _)) = view.fields(entity).find(|(field, _)| field.label.eq_ignore_ascii_case(name)) {
        return Ok((entity, field.name.clone()));
    }
    let title = view.title(entity);
    let meant = instead(name, names.iter().map(|name| &**name));
    Err(Refusal::new(format!("{title} has no `{name}`; {meant}")))
}

/// Converts typed text to a value if no type is known.
fn plain(text: &str) -> Value {
    match text {
        "yes" | "true" => Value::Bool(true),
        "no" | "false" => Value::Bool(false),
        "none" => Value::None,
        text => text.parse().map_or_else(|_| Value::text(text), Value::Int),
    }
}

/// Parses a typed value for a field.
fn read_edit(session: &Session, name: &str, field: &str, value: &str) -> Result<Edit, Refusal> {
    let view = session.view();
    let entity = view.find(name)?;
    let declared = view.fields(entity).map(|(declared, _)| declared).find(|declared| &*declared.name == field);
    let value = match declared {
        None => plain(value),
        Some(Field { ty: Type::Ref(_), .. }) if value != "none" => Value::Entity(view.find(value)?),
        Some(Field { ty, .. }) => read_typed(&view, ty, value).ok_or_else(|| Refusal::BadValue {
            field: field.into(),
            problem: format!("takes {}, not `{value}`", typed_form(ty)),
        })?,
    };
    Ok(Edit::Set { entity, field: field.into(), value })
}

pub(super) fn odds_at(session: &mut Session, question: QuestionId, query: OddsQuery) -> Result<Odds, Refusal> {
    let asked = decided(session.open_question(question)?)?;
    let (seat, query) = (asked.seat.clone(), OddsQuery { by: query.by.or(asked.about), ..query }.must_fit()?);
    session.lend(move |game, vm| odds_of(game, vm, query, &seat)).map_err(Refusal::from)?
}

pub(super) fn ahead_to(session: &Session, card: &str) -> Result<(Session, Way, bool), Refusal> {
    let position = Position { card: card.into(), ..Position::default() };
    let mut ahead = session.fork();
    let (before, mut way) = (ahead.game().context.dice.position(), Way::new());
    position.go_to(&mut ahead, &mut noted_in(&mut way))?;
    let rolled = ahead.game().context.dice.position() != before;
    Ok((ahead, way, rolled))
}

pub(super) fn odds_ahead(
    session: &mut Session,
    question: QuestionId,
    query: OddsQuery,
    until: Option<&str>,
) -> Result<Odds, Refusal> {
    let names = super::until(session.ruleset(), until)?;
    let limits = if names.is_empty() { query.limits } else { query.limits.ahead() };
    let further = OddsQuery { until: names, limits, ..query.clone() };
    if until.is_some() || further.until.is_empty() {
        return odds_at(session, question, further);
    }
    odds_at(session, question, further).or_else(|refusal| {
        let odds = odds_at(session, question, OddsQuery { until: Vec::new(), ..query })?;
        Ok(Odds { no_further: Some(refusal.to_string()), ..odds })
    })
}

pub(super) fn hit_chances(
    session: &mut Session,
    question: &Question,
    viewer: &Viewer,
) -> Vec<(Arc<str>, Fraction, bool)> {
    let Ask::Choose { options, .. } = &question.ask else { return Vec::new() };
    // A free act targets nobody: a later hit happens without it.
    if session.game().is_free_act(question.id.action) {
        return Vec::new();
    }
    let can_be_hit = |entity: EntityId| session.ruleset().can_be_hit(&session.game().context.state, entity);
    let targets: Vec<Arc<str>> = options
        .iter()
        .filter(|option| option.enabled && option.entity.is_some_and(can_be_hit))
        .map(|option| option.id.clone())
        .collect();
    if targets.len() > MOST_TARGETS {
        return Vec::new();
    }
    let share = |work: u64| work / targets.len().max(1) as u64;
    let exactly = Limits { ways: 4_000, samples: 1, work: share(FOR_TARGETS), ..Limits::default() };
    // One run, so that all the work goes into samples: an estimate takes up to a quarter of the work.
    let at_random = Limits { ways: 1, samples: 400, work: 4 * share(FOR_ESTIMATES), ..Limits::default() };
    let mut limits = exactly;
    let mut chances = Vec::new();
    for id in targets {
        let given = vec![Given::to(question, Value::Text(id.clone()))];
        let query = OddsQuery { given, viewer: Some(viewer.clone()), limits, ..OddsQuery::default() };
        let Ok(mut odds) = odds_ahead(session, question.id, query.clone(), None) else { return Vec::new() };
        if !odds.is_exact() && limits == exactly {
            // The other targets of a question are as costly as the first.
            limits = at_random;
            let query = OddsQuery { limits, ..query };
            let Ok(estimate) = odds_ahead(session, question.id, query, None) else { return Vec::new() };
            odds = estimate;
        }
        // A target that is never hit was not aimed at: the question is about something else.
        let Some((_, chance)) = odds.hits().pop() else { return Vec::new() };
        chances.push((id, chance, odds.is_exact()));
    }
    if chances.iter().all(|(_, chance, _)| chance.is_zero()) { Vec::new() } else { chances }
}

pub(super) fn odds_by(
    session: &mut Session,
    question: QuestionId,
    query: OddsQuery,
    switch: &str,
    value: &str,
) -> Result<Odds, Refusal> {
    let seat = decided(session.open_question(question)?)?.seat.clone();
    let rules = session.ruleset();
    let Some(declared) = rules.switch(switch) else {
        let meant = instead(switch, rules.switches().map(|switch| &*switch.name));
        return Err(Refusal::new(format!("{} has no switch `{switch}`; {meant}", rules.id())));
    };
    let query = query.must_fit()?;
    let value = declared.parse(value).map_err(|error| Refusal::new(error.to_string()))?.as_value();
    let name = declared.name.to_string();
    session
        .lend(move |game, vm| {
            let mut other = game.fork();
            Arc::make_mut(&mut other.context.switches).insert(name, value);
            odds_of(&other, vm, query, &seat)
        })
        .map_err(Refusal::from)?
}

#[allow(clippy::type_complexity)] // each answer with its odds, or why they cannot be told
pub(super) fn odds_of_each(
    session: &mut Session,
    question: QuestionId,
    viewer: Option<Viewer>,
    interrupt: Option<&Arc<AtomicBool>>,
) -> Result<Vec<(Answer, Result<Odds, Refusal>)>, Refusal> {
    let open = decided(session.open_question(question)?)?.clone();
    let Some(answers) = open.answers(MOST) else {
        let message = format!("`{}` has more than {MOST} possible answers: `odds ANSWER` tells one", open.topic);
        return Err(Refusal::new(message));
    };
    let ways = FOR_ALL / answers.len().max(1) as u64;
    let work = Limits::default().work / 2 / answers.len().max(1) as u64;
    let limits = Limits { ways, samples: SAMPLES, work, ..Limits::default() };
    let tell = |answer: Answer| {
        if is_set(interrupt.map(|interrupt| &**interrupt)) {
            return (answer, Err(Refusal::new("it was interrupted before there was a result")));
        }
        let given = vec![Given::to(&open, answer.to_value())];
        let interrupt = interrupt.cloned();
        let query = OddsQuery { given, viewer: viewer.clone(), limits, interrupt, ..OddsQuery::default() };
        (answer, odds_ahead(session, question, query, None))
    };
    Ok(answers.into_iter().map(tell).collect())
}

/// Returns the question if a player decides it.
///
/// # Errors
///
/// The faces of real dice are no decision, so there is nothing to weigh.
pub(super) fn decided(question: &Question) -> Result<&Question, Refusal> {
    match question.ask {
        Ask::Dice { .. } => Err(Refusal::new("real dice decide that: throw them, and type the faces")),
        _ => Ok(question),
    }
}

pub(super) fn odds_of(
    game: &Game,
    vm: &mut dyn Machine,
    mut query: OddsQuery,
    seat: &Arc<str>,
) -> Result<Odds, Refusal> {
    let viewer = game.looks_ahead(query.viewer.take().unwrap_or_else(Viewer::master), seat);
    query.given.extend(answered_behind(game, &viewer).iter().filter_map(|(_, slot)| given_in(slot)));
    query.viewer = Some(viewer.clone());
    game.look_ahead(&viewer, |known| {
        let odds = explore(known.fork(), vm, &query, std::slice::from_ref(seat), Detail::Outcomes)?;
        Ok(Odds { unseen: known.unseen(), dealt: known.context.knowledge.deals_for.is_some(), ..odds })
    })
}

/// Returns the answers after the first open question of the open action that a viewer knows, with their places. A fork
/// does not have them and would ask again, so they are passed to it as given.
pub(super) fn answered_behind(game: &Game, viewer: &Viewer) -> Vec<(usize, Slot)> {
    let Some(open) = &game.open else { return Vec::new() };
    let sees = |place: usize| open.is_seen(place as u32, viewer);
    let slots = &open.tape.slots;
    let known = (0..slots.len()).take_while(|at| slots[*at].is_some() && sees(*at)).count();
    let behind = slots.iter().enumerate().skip(known).filter(|(at, _)| sees(*at));
    let answers = behind.filter_map(|(at, slot)| Some((at, slot.clone()?)));
    answers.filter(|(_, slot)| matches!(slot, Slot::Answer { .. })).collect()
}

/// Converts the answer in a slot of a tape to one that is given in advance.
pub(super) fn given_in(slot: &Slot) -> Option<Given> {
    let Slot::Answer { topic, seat, about, answer, .. } = slot else { return None };
    let (topic, seat, about) = (topic.to_string(), Some(seat.clone()), *about);
    Some(Given { topic, seat, about, value: answer.to_value(), once: true })
}
