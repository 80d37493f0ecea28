//! Amending an entry: see `Campaign::amend`.

use super::*;
use riskbreaker::store::Amendment;
use riskbreaker::{Answer, Ask};

/// The typed form of an answer that is one word.
fn typed(answer: &Answer) -> Option<String> {
    match answer {
        Answer::Choice(id) => Some(id.to_string()),
        Answer::Number(number) => Some(number.to_string()),
        Answer::Confirm(yes) => Some(if *yes { "yes" } else { "no" }.to_owned()),
        _ => None,
    }
}

/// Plays a scene with people at all seats. Returns the entries with the typed answers.
fn with_answers(campaign: &mut Campaign, rules: &Arc<Ruleset>, decisions: u64) -> Vec<(u32, String)> {
    let mut setup = Setup::default().seed(11);
    for seat in rules.seats().keys() {
        setup = setup.seat(seat, Driver::Human);
    }
    let mut session = campaign.begin(rules, setup, "scene").unwrap();
    let _ = session.advance().unwrap();
    campaign.keep(&mut session).unwrap();
    let mut answers = Vec::new();
    for n in 0..decisions {
        let Step::Ask = session.advance().unwrap() else { break };
        let question = session.questions()[0].clone();
        let answer = any_answer(&question, n);
        let is_open = |id: &str| !matches!(&question.ask, Ask::Choose { options, .. } if options.iter().all(|option| *option.id != *id));
        if session.answer(question.id, answer.clone()).is_err() {
            break;
        }
        let _ = session.advance().unwrap();
        let Kept::New(entry) = campaign.keep(&mut session).unwrap() else { panic!("nothing was kept") };
        answers.extend(typed(&answer).filter(|text| is_open(text)).map(|text| (entry, text)));
    }
    answers
}

/// An entry amended to its own value leads to the same last entry, whatever was rolled after it.
#[test]
fn the_same_answer_and_the_same_dice_lead_to_the_same_game() {
    let (shipped, own) = (library("rulesets"), library("tests/rulesets"));
    let games =
        [(&own, "tug"), (&shipped, "riskbreaker-0.0.1"), (&shipped, "riskbreaker-0.0.3"), (&shipped, "contest")];
    let games = games.into_iter().chain([(&shipped, "silent-winter"), (&shipped, "rbf")]);
    let path = folder("amend-same").join("games.rbsave");
    let store = Store::open(&path, &shipped).unwrap();
    for (library, id) in games {
        let rules = Ruleset::load(library, id).unwrap_or_else(|error| panic!("{id}: {error}"));
        let mut campaign = store.create(id).unwrap();
        let answers = with_answers(&mut campaign, &rules, 14);
        let (end, bytes) = (campaign.head(), campaign.session().unwrap().state_bytes());
        assert!(answers.len() > 2, "{id}");
        for (entry, text) in answers.iter().step_by(3) {
            let amendment = Amendment::Answer(text.clone());
            let report = campaign.preview_amendment(*entry, &amendment).unwrap_or_else(|error| panic!("{id}: {error}"));
            assert!(report.kept.is_empty() && report.other.is_empty(), "{id}, entry {entry}: {:?}", report.other);
            assert_eq!(report.left_out, Vec::new(), "{id}, entry {entry}");
            assert_eq!(campaign.head(), end);
            let (session, _) = campaign.amend(*entry, &amendment).unwrap_or_else(|error| panic!("{id}: {error}"));
            assert_eq!(session.state_bytes(), bytes, "{id}, entry {entry}");
            assert_eq!(campaign.head(), end, "{id}, entry {entry}: it is the same course");
        }
    }
}

/// Answers the open question of tug: everybody pulls with a risk of 2.
fn pull(campaign: &mut Campaign, session: &mut Session) -> u32 {
    let question = session.questions()[0].clone();
    let answer = if &*question.topic == "risk" { Answer::Number(2) } else { Answer::Choice("pull".into()) };
    session.answer(question.id, answer).unwrap();
    let _ = session.advance().unwrap();
    campaign.keep(session).unwrap();
    campaign.head()
}

/// A campaign of tug with three alternating pulls: the entries of card and risk.
fn three_pulls(name: &str) -> (Campaign, Session, Vec<u32>) {
    let library = library("tests/rulesets");
    let rules = tug(&library);
    let store = Store::open(folder(name).join("tug.rbsave"), &library).unwrap();
    let mut campaign = store.create("tug").unwrap();
    let setup = Setup::default().seed(5).switch("wins_at", 20).seat("left", Driver::Human).seat("right", Driver::Human);
    let mut session = campaign.begin(&rules, setup, "tug").unwrap();
    let _ = session.advance().unwrap();
    campaign.keep(&mut session).unwrap();
    let entries = (0..6).map(|_| pull(&mut campaign, &mut session)).collect();
    (campaign, session, entries)
}

#[test]
fn other_faces_change_what_follows_and_the_old_course_stays() {
    let (mut campaign, _, entries) = three_pulls("amend-dice");
    let (end, before) = (campaign.head(), campaign.session().unwrap().state_bytes());
    let changes = (1..=10).filter(|face| {
        let report = campaign.preview_amendment(entries[1], &Amendment::Dice(vec![*face])).unwrap();
        assert_eq!((report.made_again, report.left_out.len()), (4, 0), "both later pulls are made again");
        assert_eq!(report.kept.is_empty(), report.other.is_empty());
        !report.kept.is_empty()
    });
    let changes: Vec<u32> = changes.collect();
    assert_eq!(changes.len(), 9, "one face is the one that was rolled: {changes:?}");
    let other = |face: &&u32| {
        let (session, _) = campaign.amend(entries[1], &Amendment::Dice(vec![**face])).unwrap();
        let differs = session.state_bytes() != before;
        // The branch opens like any other, and the old course still exists.
        campaign.replay(None, |_| ControlFlow::Continue(())).unwrap();
        assert_ne!(campaign.head(), end);
        assert_eq!(campaign.go_to(end).unwrap().state_bytes(), before);
        differs
    };
    let differ = changes.iter().filter(other).count();
    assert!((1..9).contains(&differ), "a pull is won or lost: {differ}");
}

#[test]
fn decisions_that_no_longer_apply_are_listed() {
    let (mut campaign, mut session, entries) = three_pulls("amend-left-out");
    let report = campaign.preview_amendment(entries[0], &Amendment::Answer("rest".into())).unwrap();
    let left_out: Vec<(u32, &str)> = report.left_out.iter().map(|left| (left.entry, &*left.why)).collect();
    assert_eq!(left_out, [(entries[1], "nothing asks left for risk there")]);
    assert_eq!(report.made_again, 4);
    // A manual edit, and two decisions after it.
    let rope = session.view().entities().find(|id| session.view().kind(*id) == Some("rope")).unwrap();
    session.edit(Edit::Set { entity: rope, field: "at".into(), value: 0.into() }).unwrap();
    let _ = session.advance().unwrap();
    campaign.keep(&mut session).unwrap();
    let edit = campaign.head();
    let end = (0..2).map(|_| pull(&mut campaign, &mut session)).last().unwrap();
    assert!(campaign.is_edit(edit).unwrap() && !campaign.is_edit(entries[0]).unwrap());
    let far = Amendment::Edit(Edit::Set { entity: rope, field: "at".into(), value: 7.into() });
    let report = campaign.preview_amendment(edit, &far).unwrap();
    assert!(!report.kept.is_empty() && !report.other.is_empty());
    assert_eq!(report.made_again, 2);
    for (entry, amendment, wanted) in [
        (1, Amendment::Answer("pull".into()), "entry 1 begins a scene, and nothing is decided there"),
        (99, Amendment::Answer("pull".into()), "there is no entry 99; they go from 1 to"),
        (entries[0], Amendment::Answer("fly".into()), "fly"),
        (entries[1], Amendment::Dice(vec![11]), "do not fit"),
        (entries[1], Amendment::Dice(vec![1, 2, 3]), "3 faces are too many"),
        (entries[0], Amendment::Dice(vec![1]), "nothing was rolled after entry"),
        (edit, Amendment::Answer("pull".into()), "answers no question"),
        (entries[0], far.clone(), "is no manual edit"),
    ] {
        let refused = campaign.preview_amendment(entry, &amendment).unwrap_err().to_string();
        assert!(refused.contains(wanted), "{refused}");
        assert_eq!(campaign.amend(entry, &amendment).err().unwrap().to_string(), refused);
        assert_eq!(campaign.head(), end, "nothing has changed");
    }
}

/// An entry that holds several answers: each may be amended alone, or several together, by the topic of its question.
#[test]
fn several_answers_of_one_entry_are_amended_by_their_topics() {
    let library = library("tests/rulesets");
    let rules = tug(&library);
    let store = Store::open(folder("amend-several").join("tug.rbsave"), &library).unwrap();
    let mut campaign = store.create("tug").unwrap();
    let setup = Setup::default().seed(5).switch("wins_at", 20).seat("left", Driver::Human).seat("right", Driver::Human);
    let mut session = campaign.begin(&rules, setup, "tug").unwrap();
    let _ = session.advance().unwrap();
    campaign.keep(&mut session).unwrap();
    let texts = |replies: &[(&str, &str)]| -> Vec<(String, String)> {
        replies.iter().map(|(topic, text)| ((*topic).to_owned(), (*text).to_owned())).collect()
    };
    let both = texts(&[("card", "pull"), ("risk", "2")]);
    let both: Vec<(String, riskbreaker::Value)> =
        both.into_iter().map(|(topic, text)| (topic, riskbreaker::Value::text(text))).collect();
    let _ = session.reply(&both).unwrap();
    let _ = session.advance().unwrap();
    campaign.keep(&mut session).unwrap();
    let entry = campaign.head();
    let told = |campaign: &Campaign, first: Option<&str>, named: &[(&str, &str)]| {
        let amendment = Amendment::Answers { first: first.map(str::to_owned), named: texts(named) };
        campaign.preview_amendment(entry, &amendment).map(|report| format!("{:?}", report.other))
    };
    assert_eq!(told(&campaign, None, &[("risk", "2")]).unwrap(), "[]", "the same answer changes nothing");
    let risky = told(&campaign, None, &[("risk", "3")]).unwrap();
    assert_ne!(risky, "[]");
    assert_eq!(told(&campaign, Some("pull"), &[("risk", "3")]).unwrap(), risky);
    assert!(told(&campaign, Some("rest"), &[]).unwrap().contains("rests"));
    assert!(told(&campaign, None, &[("colour", "red")]).unwrap_err().to_string().contains("colour"));
    assert!(told(&campaign, None, &[("risk", "9")]).is_err());
}

/// An amended course is written atomically: after a write that fails at any place nothing of it exists, and the
/// campaign plays on, in this program and in the next.
#[test]
fn a_write_that_fails_leaves_nothing_of_an_amended_course() {
    let _alone = failing_disk::alone();
    failing_disk::works_again();
    let (mut campaign, _, entries) = three_pulls("failing-disk-amend");
    let library = library("tests/rulesets");
    let (end, before) = (campaign.head(), campaign.session().unwrap().state_bytes());
    let decisions = campaign.session().unwrap().decisions();
    let path = folder_of("failing-disk-amend").join("tug.rbsave");
    let (mut failed, mut done) = (0, 0);
    for n in 0..16 {
        // The number of pages that a course takes depends on how well its rows compress, so the limits go far beyond it.
        match n % 2 {
            0 => failing_disk::fail_after_syncs(n / 2 % 5 * 2),
            _ => failing_disk::full_after_writes(n / 2 % 7 * 12),
        }
        let face = u32::try_from(n % 2).unwrap() * 9 + 1;
        let amended = campaign.amend(entries[1], &Amendment::Dice(vec![face])).map(drop);
        failing_disk::works_again();
        if let Err(error) = amended {
            failed += 1;
            assert!(error.may_pass(), "{n}: {error}");
            if n % 3 == 0 {
                drop(campaign);
                campaign = Store::open(&path, &library).unwrap().first().unwrap().unwrap();
            }
            // If the last sync failed, all of it may be in the file, but never a part.
            assert_eq!(campaign.session().unwrap().decisions(), decisions, "{n}");
            assert!(n % 3 == 0 || campaign.head() == end, "{n}");
        } else {
            done += 1;
        }
        assert_eq!(campaign.go_to(end).unwrap().state_bytes(), before, "{n}");
    }
    assert!(failed > 3 && done > 1, "{failed} {done}");
    campaign.replay(None, |_| ControlFlow::Continue(())).unwrap();
    drop(campaign);
    assert_eq!(Store::open(&path, &library).unwrap().verify().unwrap().problems, Vec::<String>::new());
}
