//! Whole games, compared with a separate solver.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use riskbreaker::dice::{self, Fraction, ratio as of};
use riskbreaker::lab::{GameLimits, GameOdds, game_odds};
use riskbreaker::{Driver, Library, Ruleset, Session, Setup, Step};

/// The chance to win for the next to strike, by the health of both: a blow hits half of the time, for 1 to 3.
fn wins(own: i64, other: i64, known: &mut BTreeMap<(i64, i64), Fraction>) -> Fraction {
    if let Some(chance) = known.get(&(own, other)) {
        return chance.clone();
    }
    // Both miss with a chance of a quarter, which changes nothing. `hits`: the sum over the own hits, `missed`: over
    // the other's hits alone.
    let (mut hits, mut missed) = (Fraction::ZERO, Fraction::ZERO);
    for harm in 1..=3 {
        let lost = if other - harm <= 0 { Fraction::ZERO } else { wins(other - harm, own, known) };
        hits += of(1, 6) * (Fraction::ONE - lost);
        if own - harm > 0 {
            missed += of(1, 6) * wins(own - harm, other, known);
        }
    }
    let chance = (hits + of(1, 2) * missed) / of(3, 4);
    known.insert((own, other), chance.clone());
    chance
}

#[test]
fn a_small_game_is_solved_exactly() {
    let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets")).unwrap();
    let rules = Ruleset::load(&library, "skirmish").unwrap_or_else(|error| panic!("{error}"));
    let odds = game_odds(&rules, Setup::default(), GameLimits::default(), None).unwrap();
    let ann = wins(6, 5, &mut BTreeMap::new());
    let results: BTreeMap<String, Fraction> = odds.results.iter().cloned().collect();
    assert_eq!(results["Ann wins"], ann);
    assert_eq!(results["Bea wins"], Fraction::ONE - ann);
    assert!(odds.remaining.is_zero());
    // The turns of both, by the health of both, and the ends.
    assert!(odds.states <= 120, "{}", odds.states);
    let few = GameLimits { states: 10, ..GameLimits::default() };
    let bounds = game_odds(&rules, Setup::default(), few, None).unwrap();
    assert!(bounds.limit.as_ref().unwrap().contains("more states") && !bounds.remaining.is_zero(), "{bounds:?}");
    // The proven bounds contain the exact chances, and so does the estimate.
    let estimate = bounds.estimate.unwrap();
    assert_eq!((estimate.games, estimate.left_out, estimate.results.len()), (2_000, 0, 2));
    for (result, exact) in &results {
        let least =
            bounds.results.iter().find(|(own, _)| own == result).map_or(Fraction::ZERO, |(_, least)| least.clone());
        assert!(least <= *exact && *exact <= least + &bounds.remaining, "{result}: {:?}", bounds.results);
        let (_, rate) = estimate.results.iter().find(|(own, _)| own == result).unwrap();
        assert!(rate.low < dice::float(exact) && dice::float(exact) < rate.high, "{result}: {rate:?}");
    }
}

/// The chance that the next to roll wins Pig, by the scores of both, from the highest down. A turn ends at 20, or at
/// the goal.
fn pig(goal: usize) -> Fraction {
    // The chances of the gain of a turn: nothing after a 1.
    let turn = |need: usize| {
        let (mut gains, mut open) = (BTreeMap::<usize, Fraction>::new(), BTreeMap::from([(0_usize, Fraction::ONE)]));
        while let Some((pot, chance)) = open.pop_first() {
            if pot >= 20 || pot >= need {
                *gains.entry(pot).or_default() += chance;
                continue;
            }
            *gains.entry(0).or_default() += &chance * of(1, 6);
            (2..=6).for_each(|face| *open.entry(pot + face).or_default() += &chance * of(1, 6));
        }
        gains
    };
    let mut wins = vec![vec![Fraction::ZERO; goal]; goal];
    for own in (0..goal).rev() {
        for other in (own..goal).rev() {
            // The chance of the player with `from` points, if the turn gains nothing with the chance `stays`: known +
            // stays * (1 - the other's).
            let known = |from: usize, against: usize, wins: &[Vec<Fraction>]| {
                let (mut sum, mut stays) = (Fraction::ZERO, Fraction::ZERO);
                for (gain, chance) in turn(goal - from) {
                    match from + gain {
                        _ if gain == 0 => stays = chance,
                        reached if reached >= goal => sum += chance,
                        reached => sum += chance * (Fraction::ONE - &wins[against][reached]),
                    }
                }
                (sum, stays)
            };
            let (mine, i_stay) = known(own, other, &wins);
            let (theirs, they_stay) = known(other, own, &wins);
            let both = &i_stay * &they_stay;
            let first = (&mine + &i_stay * (Fraction::ONE - &theirs - &they_stay)) / (Fraction::ONE - &both);
            wins[other][own] = &theirs + &they_stay * (Fraction::ONE - &first);
            wins[own][other] = first;
        }
    }
    wins[0][0].clone()
}

/// Pig by a separate solver: as fractions, and if these may not grow long, as decimals with a proven error.
#[test]
fn a_game_with_long_fractions_gets_decimals_with_a_proven_error() {
    let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets")).unwrap();
    let rules = Ruleset::load(&library, "pig").unwrap_or_else(|error| panic!("{error}"));
    let setup = || Setup::default().switch("goal", 12);
    let exact = game_odds(&rules, setup(), GameLimits::default(), None).unwrap();
    let ann = pig(12);
    let chance = |odds: &GameOdds, name: &str| odds.results.iter().find(|(own, _)| own == name).unwrap().1.clone();
    assert!(exact.remaining.is_zero() && !exact.decimal);
    assert_eq!((chance(&exact, "Ann wins"), chance(&exact, "Bea wins")), (ann.clone(), Fraction::ONE - &ann));
    let short = GameLimits { fractions: 10_000, ..GameLimits::default() };
    for (goal, ann) in [(12, ann), (27, pig(27))] {
        let decimals = game_odds(&rules, Setup::default().switch("goal", goal), short, None).unwrap();
        assert!(decimals.decimal && decimals.limit.is_none(), "{goal}: {decimals:?}");
        assert!(decimals.remaining > Fraction::ZERO && decimals.remaining < of(1, 1_000_000_000_000_i64));
        for (name, exact) in [("Ann wins", ann.clone()), ("Bea wins", Fraction::ONE - &ann)] {
            let least = chance(&decimals, name);
            assert!(least <= exact && exact <= &least + &decimals.remaining, "{goal}, {name}: {decimals:?}");
        }
    }
    let off = dice::float(&exact.actions) - dice::float(&game_odds(&rules, setup(), short, None).unwrap().actions);
    assert!(off.abs() < 1e-9, "{off}");
}

/// Values that scripts compute once and keep, such as lists of cards, are no reason to refuse a game.
#[test]
fn the_ready_duel_is_solved_as_often_as_it_is_asked() {
    let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets")).unwrap();
    let rules = Ruleset::load(&library, "riskbreaker-0.0.1").unwrap_or_else(|error| panic!("{error}"));
    let seat = |name: &str, policy: &str| (name.to_owned(), Driver::Policy(policy.into()));
    let seats = [seat("players", "bold"), seat("foes", "careful"), ("gm".into(), Driver::Absent)];
    let setup = seats.into_iter().fold(Setup::scenario("duel"), |setup, (name, who)| setup.seat(&name, who));
    let found = [(); 2].map(|()| game_odds(&rules, setup.clone(), GameLimits::default(), None).unwrap());
    assert_eq!(found[0].results, found[1].results);
    assert!(found[0].remaining.is_zero());
    let sum = dice::sum(found[0].results.iter().map(|(_, chance)| chance));
    assert!(sum.is_one() && found[0].results.len() == 3, "{:?}", found[0].results);
}

/// The states of a growing game become large long before they become many.
#[test]
fn a_game_with_growing_states_is_refused_by_size() {
    let files = [
        ("ruleset.toml", "id = \"grows\"\ntitle = \"Grows\"\nversion = \"1.0.0\"\nscenario = \"start\"\n"),
        ("scenarios/start.toml", "title = \"Start\"\n"),
        (
            "kinds.luau",
            "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ thing = { fields = { text = rb.text() } } })",
        ),
        (
            "play.luau",
            "local rb = require(\"@riskbreaker\")\nreturn rb.play({ start = function() rb.schedule(\"act\", 0, rb.spawn(\"thing\", {})) end, \
             entries = { act = function(x) x:set(\"text\", x.text .. rb.roll(\"1d2\", \"face\")) rb.schedule(\"act\", 0, x) end } })",
        ),
    ];
    let library = Library::from_files(files.map(|(path, text)| (format!("grows/{path}"), text.as_bytes().to_vec())));
    let rules = Ruleset::load(&library, "grows").unwrap_or_else(|error| panic!("{error}"));
    let limits = GameLimits { bytes: 64 << 10, ..GameLimits::default() };
    let limit_of = |limits| {
        let found = game_odds(&rules, Setup::default(), limits, None).unwrap();
        assert!(found.is_partial() && found.results.is_empty() && found.remaining.is_one(), "{found:?}");
        found.limit.unwrap()
    };
    let refusal = limit_of(limits);
    let states = refusal.strip_prefix("the game has more states than the ").and_then(|rest| rest.split(' ').next());
    let states: u32 = states.unwrap_or_else(|| panic!("{refusal}")).parse().unwrap();
    assert!((100..4_000).contains(&states), "{refusal}");
    // So is one whose paths take much work; a quarter of it has to lead to some end.
    let little = GameLimits { work: 4_000_000, ..GameLimits::default() };
    let refusals = [(); 2].map(|()| limit_of(little));
    let told = "none of them is an end, and no random game came to one";
    assert!(refusals[0].ends_with(told), "{}", refusals[0]);
    assert_eq!(refusals[0], refusals[1]);
}

/// A game that never ends in some states is followed as far as possible: the chance of its ends is bounded, and the
/// rest is open.
#[test]
fn a_game_that_may_go_on_for_ever_is_partial() {
    let play = "local rb = require(\"@riskbreaker\")
return rb.play({
    start = function() rb.recur(\"act\", { 1, 1 }, { 1, 0 }, rb.spawn(\"thing\", {})) end,
    entries = {
        act = function(x)
            if x.a == 0 and rb.roll(\"1d4\", \"end\") == 1 then return rb.finish(\"done\") end
            x:set(\"a\", 1)
        end,
    },
})";
    let files = [
        ("ruleset.toml", "id = \"idle\"\ntitle = \"Idle\"\nversion = \"1.0.0\"\nscenario = \"start\"\n"),
        ("scenarios/start.toml", "title = \"Start\"\n"),
        (
            "kinds.luau",
            "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ thing = { fields = { a = rb.int() } } })",
        ),
        ("play.luau", play),
    ];
    let library = Library::from_files(files.map(|(path, text)| (format!("idle/{path}"), text.as_bytes().to_vec())));
    let rules = Ruleset::load(&library, "idle").unwrap_or_else(|error| panic!("{error}"));
    let found = game_odds(&rules, Setup::default(), GameLimits::default(), None).unwrap();
    assert!(found.is_partial() && found.never_ends && !found.interrupted, "{found:?}");
    let [(name, least)] = found.results.as_slice() else { panic!("{found:?}") };
    assert_eq!(name, "done");
    // Proven chances are rounded down.
    assert!(*least <= of(1, 4) && *least > of(249, 1000), "{least}");
    assert_eq!(least + &found.remaining, Fraction::ONE);
}

/// The host's records of rolls are charged, whether they are rolled or explored.
#[test]
fn an_action_has_the_same_memory_in_a_game_and_in_its_odds() {
    let manifest = "id = \"full\"\ntitle = \"Full\"\nversion = \"1.0.0\"\nscenario = \"start\"\n\
        [switches.n]\nmin = 0\nmax = 100000\ndefault = 1\ntext = \"How often.\"\n";
    let kinds = "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ thing = { fields = { a = rb.int() } } })";
    let play = "local rb = require(\"@riskbreaker\")
return rb.play({
    start = function() rb.schedule(\"act\", 0, rb.spawn(\"thing\", {})) end,
    entries = {
        act = function(x)
            for _ = 1, 20 do rb.roll(\"1d2\", \"r\") end
            local e = rb.schedule(\"over\", 90, x)
            for i = 1, rb.switches.n do rb.rekey(e, 90 + i) end
        end,
        over = function() rb.finish(\"done\") end,
    },
})";
    let files = [
        ("ruleset.toml", manifest),
        ("scenarios/start.toml", "title = \"Start\"\n"),
        ("kinds.luau", kinds),
        ("play.luau", play),
    ];
    let library = Library::from_files(files.map(|(path, text)| (format!("full/{path}"), text.as_bytes().to_vec())));
    let rules = Ruleset::load(&library, "full").unwrap_or_else(|error| panic!("{error}"));
    for (n, fits) in [(17_440, true), (17_460, false)] {
        let setup = || Setup::default().switch("n", n);
        let step = Session::start(&rules, setup()).unwrap().advance().unwrap();
        assert_eq!(matches!(step, Step::Over(_)), fits, "{n}: {step:?}");
        let odds = game_odds(&rules, setup(), GameLimits::default(), None);
        assert_eq!(odds.is_ok(), fits, "{n}: {odds:?}");
        assert!(odds.is_ok() || odds.unwrap_err().to_string().contains("used up its memory"));
    }
}

/// The garbage of an action is collected between runs, in its odds as well.
#[test]
fn garbage_of_an_action_is_collected_in_its_odds_too() {
    let play = "local rb = require(\"@riskbreaker\")
return rb.play({
    start = function() rb.schedule(\"act\", 0, rb.spawn(\"thing\", {})) end,
    entries = {
        act = function(x)
            local first = rb.roll(\"1d2\", \"first\")
            for _ = 1, 240000 do rb.each(\"thing\", { a = 0 }) end
            rb.finish(\"{} {}\", first, rb.roll(\"1d2\", \"last\"))
        end,
    },
})";
    let files = [
        ("ruleset.toml", "id = \"much\"\ntitle = \"Much\"\nversion = \"1.0.0\"\nscenario = \"start\"\n"),
        ("scenarios/start.toml", "title = \"Start\"\n"),
        (
            "kinds.luau",
            "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ thing = { fields = { a = rb.int() } } })",
        ),
        ("play.luau", play),
    ];
    let library = Library::from_files(files.map(|(path, text)| (format!("much/{path}"), text.as_bytes().to_vec())));
    let rules = Ruleset::load(&library, "much").unwrap_or_else(|error| panic!("{error}"));
    let found =
        game_odds(&rules, Setup::default(), GameLimits::default(), None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.results.len(), 4);
}

/// A game of one die each round that ends at a 2, with other parts of play.luau and another policy.
fn rounds(more: &str, policy: &str) -> Arc<Ruleset> {
    let entry = "entries = { e = function() if rb.at_least(\"1d2\", 2, \"x\") then rb.finish(\"rolled\") end end },";
    rounds_of(&format!("{entry} {more}"), "rb.recur(\"e\", { 1 }, { 1 })", policy)
}

/// Likewise with other entries.
fn rounds_of(parts: &str, start: &str, policy: &str) -> Arc<Ruleset> {
    let play =
        format!("local rb = require(\"@riskbreaker\")\nreturn rb.play({{ start = function() {start} end, {parts} }})");
    let policy = format!(
        "local rb = require(\"@riskbreaker\")\nreturn rb.policy({{ id = \"p\", answer = function(q) return nil end, act = function(seat, acts) {policy} end }})"
    );
    let files = [
        (
            "ruleset.toml",
            "id = \"timed\"\ntitle = \"Timed\"\nversion = \"1.0.0\"\nscenario = \"start\"\n[seats]\nfirst = \"First\"\n",
        ),
        ("scenarios/start.toml", "title = \"Start\"\n"),
        (
            "kinds.luau",
            "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ thing = { fields = { a = rb.int() } } })",
        ),
        ("play.luau", &play),
        ("policies/p.luau", &policy),
    ];
    let library = Library::from_files(files.map(|(path, text)| (format!("timed/{path}"), text.as_bytes().to_vec())));
    Ruleset::load(&library, "timed").unwrap_or_else(|error| panic!("{error}"))
}

fn by_policy(rules: &Arc<Ruleset>) -> Result<BTreeMap<String, Fraction>, String> {
    let setup = Setup::default().seat("first", Driver::Policy("p".into()));
    let odds = game_odds(rules, setup, GameLimits::default(), None).map_err(|error| error.to_string())?;
    Ok(odds.results.into_iter().collect())
}

/// States that differ only in the time of entries are not merged if a script reads it outside of the entries, too.
#[test]
fn the_time_of_an_entry_counts_wherever_a_script_reads_it() {
    let round = "rb.agenda({ what = \"e\" })[1].key[1]";
    let free = |when: &str| {
        format!(
            "free = {{ stop = {{ title = \"Stop\", seats = {{ \"first\" }}, {when} run = function() rb.finish(\"stopped\") end }} }},"
        )
    };
    let in_act = rounds(&free(""), &format!("return if {round} >= 3 then acts[1] else nil"));
    let in_when = rounds(&free(&format!("when = function() return {round} >= 3 end,")), "return acts[1]");
    for rules in [in_act, in_when] {
        let found = by_policy(&rules).unwrap();
        assert_eq!((&found["rolled"], &found["stopped"]), (&of(3, 4), &of(1, 4)));
    }
    let found = by_policy(&rounds(&format!("result = function() return `{{{round}}}` end,"), "return nil")).unwrap();
    assert!(found["2"] < of(1, 2) + of(1, 1_000_000) && found["3"] < of(1, 4) + of(1, 1_000_000), "{found:?}");
    // Two entries at one time run in one order before the third round, and in the other from then on: 7/12 for the
    // second.
    let tie = "entries = { e = { run = function(_, args) if rb.at_least(\"1d2\", 2, \"x\") then rb.finish(\"{}\", args.n) end end, \
               tie = function(entries) return if entries[1].key[1] >= 3 then 1 else 2 end } },";
    let found = by_policy(&rounds_of(
        tie,
        "rb.recur(\"e\", { 1 }, { 1 }, nil, { n = 0 }) rb.recur(\"e\", { 1 }, { 1 }, nil, { n = 1 })",
        "return nil",
    ))
    .unwrap();
    let off = &found["1"] - of(7, 12);
    assert!(off < of(1, 1_000_000) && off > of(-1, 1_000_000), "{found:?}");
}

/// A game whose states never repeat, since a script reads the time, is followed until hardly any chance is left.
#[test]
fn counting_rounds_does_not_change_the_odds_of_a_game() {
    let [counted, blind] = ["key[1] > 0 and ", ""].map(|seen| {
        let key = if seen.is_empty() { "" } else { ", _, key" };
        let parts = format!(
            "entries = {{ e = function(x{key}) if {seen}rb.under(\"1d3\", 3, \"x\") then x:add(\"a\", 2) end end, \
             f = function(x) if x.a > 0 then x:add(\"a\", -1) end if x.a >= 8 then rb.finish(\"up\") \
             elseif x.a == 0 and rb.under(\"1d2\", 2, \"y\") then rb.finish(\"down\") end end }},"
        );
        let start = "local x = rb.spawn(\"thing\", {}) rb.recur(\"e\", 1, 1, x) rb.recur(\"f\", { 1, 1 }, { 1, 0 }, x)";
        by_policy(&rounds_of(&parts, start, "return nil")).unwrap()
    });
    assert_eq!(dice::sum(blind.values()), Fraction::ONE);
    for (result, chance) in &blind {
        let missing = chance - &counted[result];
        assert!(missing >= Fraction::ZERO && missing < of(1, 1_000_000_000), "{result}: {missing}");
    }
}

/// The start and each entry that ran are actions, as in a simulation. The empty agenda is none.
#[test]
fn the_end_of_the_agenda_is_no_action() {
    let rules =
        |e: &str| rounds_of(&format!("entries = {{ e = function() {e} end }},"), "rb.schedule(\"e\", 1)", "return nil");
    for e in ["", "if rb.under(\"1d2\", 2, \"x\") then rb.finish(\"rolled\") end"] {
        let setup = Setup::default().seat("first", Driver::Policy("p".into()));
        let odds = game_odds(&rules(e), setup, GameLimits::default(), None).unwrap();
        assert_eq!(odds.actions, of(2, 1), "{e}: {odds:?}");
    }
}

/// A policy's decision about a free act is outside of the explored dice.
#[test]
fn a_policy_that_draws_for_a_free_act_is_refused() {
    let free =
        "free = { stop = { title = \"Stop\", seats = { \"first\" }, run = function() rb.finish(\"stopped\") end } },";
    let told =
        by_policy(&rounds(free, "return if rb.pick({ seat = seat }, 2) == 1 then acts[1] else nil")).unwrap_err();
    assert_eq!(told, "a policy decides by chance whether it takes a free act: `sim` plays the game instead");
}
