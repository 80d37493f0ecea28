//! The quality of the advice of `hint`, and whether the shipped policies play well.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use riskbreaker::dice::Fraction;
use riskbreaker::lab::{AdviceLimits, Advised, Limits, Odds, OddsQuery, SessionExt as _};
use riskbreaker::play::{Answering, Given};
use riskbreaker::{Answer, Driver, Library, Question, Ruleset, Session, Setup, Step};

const GAMES: [&str; 5] = ["riskbreaker-0.0.1", "riskbreaker-0.0.3", "contest", "silent-winter", "rbf"];

fn shipped(id: &str) -> Arc<Ruleset> {
    let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets")).unwrap();
    Ruleset::load(&library, id).unwrap_or_else(|error| panic!("{error}"))
}

/// A limit that even a slow machine does not reach.
const LONG: Duration = Duration::from_secs(600);

/// The number in an environment variable, for longer runs.
fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Starts a game with people on all seats.
fn begun(rules: &Arc<Ruleset>, scenario: &str, seed: u64) -> Session {
    let mut setup = Setup { scenario: riskbreaker::Scenario::Named(scenario.into()), ..Setup::default().seed(seed) };
    for seat in rules.seats().keys() {
        setup = setup.seat(seat, Driver::Human);
    }
    Session::start(rules, setup).unwrap_or_else(|error| panic!("{scenario}: {error}"))
}

/// The policy's answer; the default if it gives none, and for the game master.
fn usual(session: &mut Session, question: &Question, policy: &str) -> Option<Answer> {
    let own = if &*question.seat == "gm" { None } else { session.suggest(question.id, policy).ok().flatten() };
    own.or_else(|| question.default.clone()).or_else(|| question.answers(1_000)?.into_iter().next())
}

/// Plays up to `most` decisions by a policy. `look` is called with each decision before the policy's answer is given.
fn walk(session: &mut Session, policy: &str, most: usize, look: &mut dyn FnMut(&mut Session, &Question, &Answer)) {
    let mut decisions = 0;
    for _ in 0..20 * most {
        if decisions == most || !matches!(session.advance(), Ok(Step::Ask)) {
            return;
        }
        let Some(question) = session.questions().first().cloned() else { return };
        let Some(answer) = usual(session, &question, policy) else { return };
        if &*question.seat != "gm" && question.answers(40).is_some_and(|answers| answers.len() > 1) {
            decisions += 1;
            look(session, &question, &answer);
        }
        if session.answer(question.id, answer).is_err() {
            return;
        }
    }
}

fn odds_by(session: &mut Session, question: &Question, answer: &Answer, answering: Answering) -> Option<Odds> {
    let given = vec![Given::to(question, answer.to_value())];
    let limits = Limits { ways: 500, samples: 1, work: 5_000_000, ..Limits::default() };
    let query = OddsQuery { given, answering, limits, lenient: true, ..OddsQuery::default() };
    session.odds_at(question.id, query).ok().filter(Odds::is_exact)
}

/// True if an answer changes nothing: the value to the seat is the same in every outcome, and so is each shown field,
/// except for changes that every answer makes, such as that an actor has acted.
fn does_nothing(own: &Odds, others: &[(Answer, Odds)]) -> bool {
    own.fields.iter().filter(|field| field.shown).all(|field| {
        let alike = |odds: &Odds| {
            odds.fields
                .iter()
                .any(|other| (other.entity, &other.field, &other.to) == (field.entity, &field.field, &field.to))
        };
        !others.is_empty() && others.iter().all(|(_, odds)| alike(odds))
    })
}

/// The decisions in which a policy chose an answer that changes nothing, while another could raise the value.
fn idle_decisions(rules: &Arc<Ruleset>, scenario: &str, policy: &str, seed: u64, most: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut session = begun(rules, scenario, seed);
    walk(&mut session, policy, most, &mut |session, question, answer| {
        let seat = &question.seat;
        let Some(own) = odds_by(session, question, answer, Answering::Policy(policy.into())) else { return };
        let Ok(Some(now)) = session.worth(seat) else { return };
        let kept = own.worth.get(seat).is_some_and(|worth| *worth == Fraction::from(now));
        if !kept || own.highest.get(seat) != Some(&now) {
            return;
        }
        let mut others = Vec::new();
        for other in question.answers(40).unwrap_or_default() {
            let odds = odds_by(session, question, &other, Answering::Best)
                .or_else(|| odds_by(session, question, &other, Answering::Policy(policy.into())));
            others.extend(odds.filter(|_| other != *answer).map(|odds| (other, odds)));
        }
        let best =
            others.iter().filter_map(|(other, odds)| Some((*odds.highest.get(seat)?, other))).max_by_key(|best| best.0);
        if let Some((most, other)) = best.filter(|best| best.0 > now)
            && does_nothing(&own, &others)
        {
            let who = question.about.map_or_else(|| seat.to_string(), |id| session.view().title(id).to_string());
            found.push(format!(
                "{} {scenario} {policy} seed {seed}: {who} answers `{}` with {}, which changes nothing; {} may raise the value from \
                 {now} to {most}",
                rules.id(),
                question.topic,
                question.tell(answer),
                question.tell(other)
            ));
        }
    });
    found
}

#[test]
fn a_policy_does_not_idle_while_another_answer_may_raise_the_value() {
    let (seeds, most) = (number("SEEDS", 1), number("DECISIONS", 2) as usize);
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut found = Vec::new();
    for id in GAMES.iter().filter(|id| id.contains(&only)) {
        let rules = shipped(id);
        for policy in rules.policies().iter().filter(|policy| ***policy != *"random") {
            let place = std::env::var("SCENARIO").unwrap_or_default();
            for scenario in rules.scenarios().keys().filter(|name| name.contains(&place)) {
                for seed in 0..seeds {
                    found.extend(idle_decisions(&rules, scenario, policy, seed, most));
                }
            }
        }
    }
    assert!(found.is_empty(), "{} decisions:\n{}", found.len(), found.join("\n"));
}

/// The parts of the advice that do not depend on machine, threads and time.
fn told(advised: &Advised) -> Vec<(String, Option<usize>, Option<String>)> {
    let row = |one: &riskbreaker::lab::Advice| {
        (one.text.clone(), one.place, one.played.map(|played| format!("{played:?} {:?}", one.behind)))
    };
    advised.answers.iter().map(row).collect()
}

#[test]
fn one_seed_gives_one_ranking_for_any_number_of_threads_and_any_clock() {
    for (id, scenario, games) in [("tug", "two", 400), ("riskbreaker-0.0.1", "duel", 64)] {
        let rules = super::rules(id);
        let mut session = begun(&rules, scenario, 3);
        let policy = rules.policies()[0].to_string();
        let mut weighed = 0;
        walk(&mut session, &policy, 1, &mut |session, question, _| {
            let limits = AdviceLimits { games, ..AdviceLimits::within(LONG) };
            let mut first = None;
            for (threads, time) in [(Some(1), LONG), (Some(2), LONG / 2), (None, LONG * 2)] {
                let advised = session.advise(question.id, AdviceLimits { threads, time, ..limits }, None).unwrap();
                assert!(!advised.out_of_time, "{id}: {} took too long", question.topic);
                let rows = (told(&advised), advised.margin.map(|margin| margin.to_string()), advised.games);
                assert_eq!(*first.get_or_insert(rows.clone()), rows, "{id}: {}", question.topic);
            }
            weighed += 1;
        });
        assert!(weighed > 0, "{id}");
    }
}

/// The numbers of wrong hints, and of hints that named only a clearly best answer.
#[derive(Default, Debug)]
struct Judged {
    hints: u64,
    late: u64,
    /// The number of hints whose first answer is worse than another by more than the printed margin.
    wrong: u64,
    /// The number of positions in which one answer leads by at least ten points, and in which the hint names it alone.
    clear: u64,
    named: u64,
    games: u64,
}

impl Judged {
    /// Counts a hint. `truth`: the share of wins of each answer, by its text.
    fn judge(&mut self, advised: &Advised, truth: &BTreeMap<String, f64>) {
        let (Some(first), true) = (advised.answers.first(), advised.is_by_games()) else { return };
        let of = |text: &str| truth.get(text).copied().unwrap_or_default();
        self.hints += 1;
        self.late += u64::from(advised.out_of_time);
        self.games += advised.games;
        let is_wrong = advised.answers[1..].iter().any(|other| {
            let margin = other.behind.map(|behind| behind.margin).or(advised.margin).unwrap_or_default();
            of(&other.text) - of(&first.text) > margin
        });
        self.wrong += u64::from(is_wrong);
        let mut shares: Vec<(f64, &String)> = truth.iter().map(|(text, share)| (*share, text)).collect();
        shares.sort_by(|one, other| other.0.total_cmp(&one.0));
        if let [(best, text), (second, _), ..] = shares.as_slice()
            && best - second >= 0.1
        {
            self.clear += 1;
            self.named += u64::from(advised.best().len() == 1 && first.text == **text);
        }
    }
}

/// Judges hints in positions of a game by estimates from many more games on other dice.
fn judge(id: &str, positions: usize, seeds: u64, truth: u64, limits: AdviceLimits) -> Judged {
    let rules = shipped(id);
    let mut judged = Judged::default();
    let scenarios: Vec<&String> = rules.scenarios().keys().collect();
    for (scenario, number) in scenarios.into_iter().zip(0..) {
        let mut session = begun(&rules, scenario, number);
        let policy = rules.policies()[0].to_string();
        let mut at = 0;
        walk(&mut session, &policy, 4 * positions, &mut |session, question, _| {
            at += 1;
            if at % 4 != 1 {
                return;
            }
            let count = question.answers(40).map_or(0, |answers| answers.len()) as u64;
            let even =
                AdviceLimits { games: truth * count, first: truth, seed: Some(1 << 40), ..AdviceLimits::within(LONG) };
            let Ok(best) = session.advise(question.id, even, None) else { return };
            let share = |one: &riskbreaker::lab::Advice| Some((one.text.clone(), one.played?.win_rate()?.0));
            let known: BTreeMap<String, f64> = best.answers.iter().filter_map(share).collect();
            for seed in 0..seeds {
                let advised = session.advise(question.id, AdviceLimits { seed: Some(seed), ..limits }, None).unwrap();
                judged.judge(&advised, &known);
            }
        });
    }
    judged
}

#[test]
fn a_hint_that_names_one_answer_names_the_best() {
    let limits = AdviceLimits { games: 200, ..AdviceLimits::within(LONG) };
    let rules = super::rules("tug");
    let mut session = begun(&rules, "two", 0);
    let mut judged = Judged::default();
    walk(&mut session, "hasty", 1, &mut |session, question, _| {
        let count = question.answers(40).unwrap().len() as u64;
        let even = AdviceLimits { games: 400 * count, first: 400, seed: Some(1 << 40), ..AdviceLimits::within(LONG) };
        let best = session.advise(question.id, even, None).unwrap();
        let share = |one: &riskbreaker::lab::Advice| Some((one.text.clone(), one.played?.win_rate()?.0));
        let known: BTreeMap<String, f64> = best.answers.iter().filter_map(share).collect();
        for seed in 0..2 {
            let advised = session.advise(question.id, AdviceLimits { seed: Some(seed), ..limits }, None).unwrap();
            judged.judge(&advised, &known);
        }
    });
    assert!(judged.hints > 0 && judged.wrong == 0, "{judged:?}");
}

/// Measures the two rates of the advice: `SEEDS=10 POSITIONS=3 TRUTH=4000 cargo test --test lab -- --ignored measured`.
#[test]
#[ignore = "takes minutes"]
fn the_rates_of_hints_are_measured() {
    let (positions, seeds, truth) = (number("POSITIONS", 2) as usize, number("SEEDS", 5), number("TRUTH", 2_000));
    let only = std::env::var("ONLY").unwrap_or_default();
    let limits = AdviceLimits {
        games: number("GAMES", AdviceLimits::default().games),
        time: Duration::from_millis(number("MILLIS", 1_000)),
        ..AdviceLimits::default()
    };
    for id in GAMES.iter().filter(|id| id.contains(&only)) {
        println!("{id}: {:?}", judge(id, positions, seeds, truth, limits));
    }
}
