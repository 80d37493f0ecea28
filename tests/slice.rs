//! Four very different games, one small turn of each, on one core.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use riskbreaker::{
    Answer, Ask, DiceSource, Driver, EntityId, Library, Question, Ruleset, Session, Setup, Step, Value,
};

// The table at which the games are played

fn rules(id: &str) -> Arc<Ruleset> {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let library = LIBRARY
        .get_or_init(|| Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets")).unwrap());
    Ruleset::load(library, id).unwrap_or_else(|error| panic!("{error}"))
}

/// A game with written dice, in which nobody sits at the game master's seat.
struct Table {
    session: Session,
}

impl Table {
    fn new(id: &str, scenario: &str, dice: &[u32]) -> Table {
        let setup = Setup::scenario(scenario).dice(DiceSource::Written(dice.to_vec())).seat("gm", Driver::Absent);
        Table::with(id, setup)
    }

    fn with(id: &str, setup: Setup) -> Table {
        let mut table = Table { session: Session::start(&rules(id), setup).unwrap() };
        let step = table.session.advance().unwrap();
        assert_eq!(step, Step::Ask, "{}", table.story());
        table
    }

    /// Answers what is asked of `about` by topic, one after the other; whoever else is asked at the same time waits.
    fn say(&mut self, about: &str, replies: &[(&str, Value)]) -> Step {
        let mut step = Step::Ask;
        for (topic, value) in replies {
            let question = self.asked(about, topic);
            let answer = question.read(value).unwrap_or_else(|refusal| panic!("{refusal}\n{}", self.story()));
            self.session.answer(question.id, answer).unwrap();
            step = self.session.advance().unwrap();
            assert!(!matches!(step, Step::Fault(_)), "{step:?}\n{}", self.story());
        }
        step
    }

    fn asked(&self, about: &str, topic: &str) -> Question {
        let view = self.session.view();
        let open = self.session.questions();
        let found = open.iter().find(|question| {
            *question.topic == *topic && question.about.is_some_and(|of| *view.title(of) == *about)
        });
        found.cloned().unwrap_or_else(|| {
            let open: Vec<String> = open
                .iter()
                .map(|q| format!("{} of {}", q.topic, q.about.map_or("nobody".into(), |of| view.title(of).to_string())))
                .collect();
            panic!("nothing asks `{topic}` of {about}; open: {}\n{}", open.join(", "), self.story())
        })
    }

    fn refused(&self, about: &str, topic: &str, value: impl Into<Value>) -> String {
        self.asked(about, topic).read(&value.into()).unwrap_err().message
    }

    fn id(&self, title: &str) -> EntityId {
        self.session.view().find(title).unwrap()
    }

    fn field(&self, title: &str, field: &str) -> Value {
        self.session.view().field(self.id(title), field).unwrap_or_else(|| panic!("{title} has no {field}")).clone()
    }

    fn int(&self, title: &str, field: &str) -> i64 {
        self.field(title, field).as_int().unwrap()
    }

    fn derived(&mut self, title: &str, name: &str) -> i64 {
        let id = self.id(title);
        self.session.derived(id, name, &[]).unwrap().as_int().unwrap()
    }

    fn story(&self) -> String {
        self.session.log().iter().map(|event| event.happening.line()).collect::<Vec<_>>().join("\n")
    }

    fn told(&self, text: &str) -> bool {
        self.story().contains(text)
    }

    /// Every face that was written has been rolled.
    fn done(&self) {
        assert_eq!(self.session.unrolled(), 0, "dice are left over\n{}", self.story());
    }
}

/// Some answer that the question takes, another one for another `n`.
fn any_answer(question: &Question, n: u64) -> Answer {
    let open: Vec<_> = question.ask.options().iter().filter(|option| option.enabled).collect();
    let one = |n: u64| open[n as usize % open.len()].id.clone();
    match &question.ask {
        Ask::Choose { .. } => Answer::Choice(one(n)),
        Ask::ChooseMany { min, .. } => Answer::Choices(open.iter().take(*min).map(|option| option.id.clone()).collect()),
        Ask::Number { min, max } => Answer::Number(min + (n % (max - min + 1) as u64) as i64),
        Ask::Allot { total, .. } => {
            let (mut left, mut parts) = (*total, Vec::new());
            for at in 0..open.len() {
                let option = open[(at + n as usize) % open.len()];
                let points = left.min(option.max.unwrap_or(left));
                parts.push((option.id.clone(), points));
                left -= points;
            }
            Answer::Allotment(parts.into_iter().filter(|(_, points)| *points > 0).collect())
        }
        Ask::Confirm => Answer::Confirm(n % 2 == 0),
        Ask::Order { .. } => Answer::Order(open.iter().map(|option| option.id.clone()).collect()),
        Ask::Line { .. } => Answer::Line(format!("line {n}")),
        Ask::Dice { sides, .. } => Answer::Faces(sides.iter().map(|sides| n as u32 % sides + 1).collect()),
    }
}

/// Plays with people at every seat who answer anything, and take any free act now and then; undoes every decision, does
/// each of them again, and compares the state at each.
fn undo_and_redo(id: &str, scenario: &str, seed: u64, decisions: usize) {
    let mut session = Session::start(&rules(id), Setup::scenario(scenario).seed(seed)).unwrap();
    let mut n = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut states = Vec::new();
    let mut free = 0;
    let last = loop {
        let step = session.advance().unwrap();
        let now = (session.state_bytes(), session.log());
        match step {
            Step::Fault(fault) => panic!("{id} {scenario} {seed}: {fault}"),
            Step::Over(_) => break now,
            Step::Ask if states.len() == decisions => break now,
            Step::Ask => states.push(now),
        }
        n ^= n << 13;
        n ^= n >> 7;
        n ^= n << 17;
        let act = session.free_acts().into_iter().find(|act| act.enabled && n % 4 == 0);
        if let Some(act) = act {
            session.act(&act.seat, &act.name).unwrap();
            free += 1;
            continue;
        }
        let questions = session.questions();
        let question = questions[(n >> 8) as usize % questions.len()].clone();
        session.answer(question.id, any_answer(&question, n >> 16)).unwrap();
    };
    assert!(states.len() > 4, "{id} {scenario} {seed}: only {} decisions", states.len());
    for (at, state) in states.iter().enumerate().rev() {
        session.undo().unwrap();
        assert_eq!(session.advance().unwrap(), Step::Ask);
        let now = (session.state_bytes(), session.log());
        assert!(now.0 == state.0, "{id} {scenario} {seed}: another state after undoing decision {at} ({free} free acts)");
        assert!(now.1 == state.1, "{id} {scenario} {seed}: another log after undoing decision {at} ({free} free acts)");
    }
    assert!(session.undo().is_err());
    for _ in &states {
        session.redo().unwrap();
    }
    let _ = session.advance().unwrap();
    assert!((session.state_bytes(), session.log()) == last, "{id} {scenario} {seed}: another end after redoing all");
}

/// Plays whole games by the policy `simple` at every seat.
fn play_out(id: &str, scenarios: &[&str]) {
    let rules = rules(id);
    for seed in 0..200 {
        let mut setup = Setup::scenario(scenarios[seed as usize % scenarios.len()]).seed(seed);
        for seat in rules.seats().keys() {
            setup = setup.seat(seat, Driver::Policy("simple".into()));
        }
        let mut session = Session::start(&rules, setup).unwrap();
        match session.advance().unwrap() {
            Step::Over(outcome) => assert!(outcome != "nothing is left to do", "{id}, seed {seed}: {outcome}"),
            other => panic!("{id}, seed {seed}: {other:?}"),
        }
    }
}

// contest

fn injuries(table: &Table) -> Vec<(String, bool)> {
    let view = table.session.view();
    let landed = |id| view.field(id, "landed") == Some(&Value::Bool(true));
    view.of_kind("injury").map(|id| (view.title(id).to_string(), landed(id))).collect()
}

#[test]
fn contest_two_fighters_wound_each_other_and_both_wounds_land_when_the_round_ends() {
    // The shot: 21 + 16 - 11 = 26, +2. The strike: 20 + 16 - 13 = 23, +1; it would miss if the shot counted already.
    let mut table = Table::new("contest", "point_blank", &[7, 7, 7, 6, 7, 7]);
    table.say("Knight", &[("target", "Archer".into())]);
    table.say("Archer", &[("target", "nobody".into()), ("answer", "shoot".into())]);
    assert_eq!(injuries(&table), [("serious injury of Knight".to_string(), false)]);
    assert_eq!(table.derived("Knight", "melee_attack"), 14);
    table.say("Knight", &[("advantage", "melee strike".into())]);
    assert_eq!(injuries(&table), [("serious injury of Knight".into(), true), ("flesh wound of Archer".into(), true)]);
    assert_eq!((table.derived("Knight", "melee_attack"), table.derived("Archer", "melee_combat")), (11, 12));
    assert_eq!(table.field("Archer", "loaded"), Value::Bool(false));
    table.done();
}

#[test]
fn contest_a_mortal_wound_lets_its_bearer_finish_the_round() {
    // The Melee: 23, +1. P strikes: 32 + 16 - 14, +4. Q strikes with 14 + 2: 20 + 16 - 14 = 22, +1. Then the second round.
    let mut table = Table::new("contest", "mortal", &[7, 8, 8, 10, 11, 11, 6, 7, 7, 6, 7, 7]);
    table.say("P", &[("target", "Q".into())]);
    table.say("Q", &[("target", "R".into())]);
    table.say("R", &[("target", "Q".into())]);
    table.say("Q", &[("answer", "press on".into())]);
    table.say("R", &[("answer", "melee".into())]);
    table.say("P", &[("advantage", "melee strike".into())]);
    assert_eq!(injuries(&table), [("critical injury of Q".to_string(), false)]);
    assert_eq!(table.derived("Q", "melee_attack"), 14);
    table.say("Q", &[("advantage", "melee strike".into())]);
    assert_eq!(injuries(&table), [("critical injury of Q".to_string(), true), ("flesh wound of R".to_string(), true)]);
    assert_eq!((table.derived("Q", "melee_combat"), table.derived("R", "melee_combat")), (4, 13));
    // What was -10 a moment ago counts in the next contest: 20 + 13 - 4 = 29 is decisive.
    table.say("P", &[("target", "nobody".into())]);
    table.say("Q", &[("target", "nobody".into())]);
    table.say("R", &[("target", "Q".into())]);
    table.say("Q", &[("answer", "melee".into())]);
    assert!(table.told("13 against 4: result 2"), "{}", table.story());
    table.done();
}

#[test]
fn contest_who_is_not_in_reach_is_greyed_with_the_distance() {
    let setup = Setup::scenario("three").switch("melee_range_m", 1).seat("gm", Driver::Absent);
    let mut table = Table::with("contest", setup);
    table.say("Archer", &[("target", "Raider".into())]);
    table.say("Raider", &[("target", "Archer".into())]);
    assert_eq!(
        table.refused("Brute", "target", "knight"),
        "Knight is not open: Knight is 2 metres away (CON-040)"
    );
}

#[test]
fn contest_undo_and_redo_meet_the_same_bytes() {
    for seed in 1..=6 {
        undo_and_redo("contest", "three", seed, 60);
    }
}

#[test]
fn contest_plays_itself() {
    play_out("contest", &["three", "point_blank", "mortal"]);
}
