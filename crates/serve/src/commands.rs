//! Handles each request at a table or at the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::error::Failure;
use super::frames::{QuestionName, RoleSight, VoteOutcome};
use super::job::Apart;
use super::keeper::{Keeper, is_campaign};
use super::messages::*;
use super::methods::MethodName;
use super::options::{LONGEST_DELAY, TableOptions};
use super::params::{must_have_seat, read, written};
use super::random::random_seed;
use super::role::Role;
use super::saved::Saves;
use super::table::TableGame;
use super::viewer::TableViewer;
use riskbreaker_lab::{
    AdviceLimits, Encounter, EncounterMember, EncounterSide, Limits, Odds, OddsQuery, Rate, SessionExt as _,
    kinds_of_outcomes,
};
use riskbreaker_play::{
    Answering, Ask, DiceSource, Driver, Edit, Given, Machines, Migration, MigrationFate, MigrationNote, Question,
    QuestionId, Refusal, ReloadReport, Remedy, Ruleset, Scenario, Seat, Session, Setup, SheetRow, Undone, event_lines,
};
use riskbreaker_ruleset::{CreationPart, Library};
use riskbreaker_state::{EntityId, LARGEST_NUMBER, OutcomeKind, Value};
use riskbreaker_store::{AmendReport, Amendment, HostChange};

/// A request to one table, by somebody with a role.
///
/// It has many methods, one for each request of the protocol.
pub(super) struct TableCommand<'r> {
    pub method: MethodName,
    pub params: Json,
    pub role: &'r Role,
    /// The name of the sender at this table.
    pub name: Option<Arc<str>>,
    /// The viewer that it is sent for; `None` for an operator without a viewer.
    pub viewer: Option<&'r Arc<TableViewer>>,
    pub table: &'r str,
    pub library: &'r Library,
    pub saves: &'r Saves,
    /// The machines for the scripts of other rules.
    pub machines: Machines,
    /// The flag that ends the request once it is set.
    pub interrupt: &'r Arc<AtomicBool>,
}

/// The outcome of a request.
pub(super) enum RequestOutcome {
    Result(Json),
    /// The game has changed: it plays on, everybody is notified, and the result names the step.
    Changed {
        cause: &'static str,
        result: ResultWriter,
    },
    /// Looking ahead works on a copy of the game while the table continues.
    Apart(Apart),
}

/// Builds the result from the number of the step.
pub(super) type ResultWriter = Box<dyn FnOnce(u64) -> Result<Json, Failure> + Send>;

/// The most answers that are listed.
const MOST_ANSWERS: usize = 1_000;
/// The work of scripts and dice for one query of odds: about a quarter of a second on an idle machine.
const ODDS_WORK: u64 = 25_000_000;

impl TableCommand<'_> {
    /// Handles the request up to the point from which the game plays on.
    pub fn run(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        let result = match self.method {
            MethodName::Answer => return self.answer(game),
            MethodName::Reply => return self.reply(game),
            MethodName::Act => return self.act(game),
            MethodName::Undo => return self.undo(game),
            MethodName::Redo => return self.redo(game),
            MethodName::Vote => return self.vote(game),
            MethodName::UndoPreview => self.undo_preview(game),
            MethodName::Edit => {
                let EditParams { edit } = self.master()?;
                game.session.edit(edit)?;
                return Ok(accepted("edit"));
            }
            MethodName::Switch => {
                let SwitchParams { name, value } = self.master()?;
                game.session.edit(Edit::Switch { name, value })?;
                return Ok(accepted("switch"));
            }
            MethodName::Remedy => return self.remedy(game),
            MethodName::Dice => return self.next_faces(game),
            MethodName::RulesPreview | MethodName::RulesChange => return self.rules(game),
            MethodName::RulesKeep => {
                self.role.must_be_master()?;
                game.session.keep_rules()?;
                return Ok(accepted("rules.keep"));
            }
            MethodName::Seat => return self.seat(game),
            MethodName::Pause => {
                let PauseParams { paused } = self.master()?;
                game.pause(paused);
                return Ok(accepted("pause"));
            }
            MethodName::Options => return self.options(game),
            MethodName::Goto => return self.go_to(game),
            MethodName::Amend | MethodName::AmendPreview => return self.amend(game),
            MethodName::View => {
                let ViewParams { since, seq } = self.read()?;
                written(game.shown_to(self.table, self.role, self.viewer, since, seq))
            }
            MethodName::Acts => {
                self.role.must_play()?;
                written(Acts { acts: self.seat_of(game).free_acts() })
            }
            MethodName::Answers => self.answers(game),
            MethodName::Find => self.find(game),
            MethodName::Suggest => self.suggest(game),
            MethodName::Odds => return self.odds(game).map(RequestOutcome::Apart),
            MethodName::Hint => return self.hint(game).map(RequestOutcome::Apart),
            MethodName::Why => self.why(game),
            MethodName::Sheet => {
                game.options().must_show_now(self.role)?;
                let EntityParams { entity } = self.read()?;
                self.must_see(&game.session, entity)?;
                let rows = self.seat_of(game).sheet_rows(entity).map_err(Refusal::fault)?;
                written(Sheet { lines: rows.iter().cloned().map(SheetRow::line).collect(), rows })
            }
            MethodName::Card => self.card(game),
            MethodName::Say => self.say(game),
            MethodName::Notice => {
                self.role.must_be_operator()?;
                let NoticeParams { text } = self.read()?;
                game.tell_masters("notice", &TableNotice { table: self.table.to_owned(), text });
                written(Done {})
            }
            MethodName::Entries => self.entries(game),
            MethodName::Roster => self.roster(game),
            MethodName::Recap => self.recap(game),
            MethodName::Scenes => self.scenes(game),
            MethodName::Encounter => return self.encounter(game).map(RequestOutcome::Apart),
            MethodName::Scene => return self.scene(game),
            MethodName::Offers => self.offers(game),
            MethodName::TableSave => self.save(game),
            // The host answers these before.
            MethodName::Hello
            | MethodName::Bye
            | MethodName::Ping
            | MethodName::Cancel
            | MethodName::Invite
            | MethodName::Revoke
            | MethodName::Admit
            | MethodName::People
            | MethodName::Person
            | MethodName::Name
            | MethodName::Lobby
            | MethodName::TableNew
            | MethodName::TableLoad
            | MethodName::TableList
            | MethodName::TableClose
            | MethodName::Rulesets
            | MethodName::Schema
            | MethodName::Shutdown => {
                let name = self.method.method().name;
                Err(Failure::internal(format!("`{name}` is no request to a table")))
            }
        };
        result.map(RequestOutcome::Result)
    }

    /// Says how the game continues after a fault.
    fn remedy(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        let RemedyParams { remedy } = self.master()?;
        let retried = match (&mut game.keeper, remedy) {
            (Some(keeper), Remedy::Retry) => keeper.retry()?,
            _ => None,
        };
        match retried {
            Some(session) => game.put(session, "the campaign file is as it was"),
            None => game.session.remedy(remedy)?,
        }
        Ok(accepted("remedy"))
    }

    /// Gives the faces of the next rolls, or none.
    fn next_faces(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        let DiceParams { faces } = self.master()?;
        if faces.is_empty() {
            game.session.clear_faces();
        }
        game.session.push_faces(&faces)?;
        Ok(accepted("dice"))
    }

    /// Says who plays a seat.
    fn seat(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        let SeatParams { seat, driver } = self.master()?;
        must_have_seat(game.session.ruleset(), &seat)?;
        game.session.set_seat(&seat, driver)?;
        Ok(accepted("seat"))
    }

    fn read<T: DeserializeOwned + JsonSchema>(&self) -> Result<T, Failure> {
        read(&self.params)
    }

    /// Parses the parameters of a method that only a game master may call.
    fn master<T: DeserializeOwned + JsonSchema>(&self) -> Result<T, Failure> {
        self.role.must_be_master()?;
        self.read()
    }

    /// The session from the point of view of the role.
    fn seat_of<'g>(&self, game: &'g mut TableGame) -> Seat<'g> {
        game.session.seen_by(RoleSight::of(self.role).viewer())
    }

    // Deciding

    /// The open question with this name in the numbering of the role. The role must be allowed to answer it.
    fn own_question<'g>(&self, game: &'g TableGame, name: QuestionName) -> Result<&'g Question, Failure> {
        self.role.must_play()?;
        let viewer = RoleSight::of(self.role).viewer();
        let number = name.within(game.generation());
        self.may_decide(game, number.and_then(|number| game.session.question_of(&viewer, number)))
    }

    /// Like [`TableCommand::own_question`]; returns the role's own number of the question.
    fn own_number(&self, game: &TableGame, name: QuestionName) -> Result<QuestionId, Failure> {
        self.own_question(game, name)?;
        name.within(game.generation()).ok_or_else(|| Failure::internal("a question without a number"))
    }

    /// Returns an open question if the role may answer it. A question that the role may not see is refused as not open.
    fn may_decide<'g>(&self, game: &'g TableGame, question: Option<&'g Question>) -> Result<&'g Question, Failure> {
        let sight = RoleSight::of(self.role);
        let Some(question) = question.filter(|question| sight.sees_question(question)) else {
            let known = sight.known(&game.session);
            let questions = sight.questions(&game.session, &known.view(&game.session), game.generation());
            return Err(Failure::Stale { questions });
        };
        match self.role.seat() {
            Some(acting) if !sight.plays(&question.seat) => {
                Err(Refusal::NotYourSeat { seat: question.seat.clone(), acting: acting.clone() }.into())
            }
            _ => Ok(question),
        }
    }

    fn answer(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        let AnswerParams { question: id, value, acting } = self.read()?;
        let question = self.own_question(game, id)?;
        self.acts_for(acting.as_deref(), &question.seat)?;
        bounded(&value)?;
        let (id, answer) = (question.id, question.exact_answer(&value)?);
        game.session.answer(id, answer)?;
        Ok(accepted("answer"))
    }

    /// Checks the parameter `as`: the seat that is asked, and a role that may act for it.
    fn acts_for(&self, acting: Option<&str>, seat: &Arc<str>) -> Result<(), Failure> {
        match acting {
            Some(acting) if *acting != **seat || !RoleSight::of(self.role).plays(seat) => {
                Err(Refusal::NotYourSeat { seat: seat.clone(), acting: Arc::from(acting) }.into())
            }
            _ => Ok(()),
        }
    }

    fn reply(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        self.role.must_play()?;
        let ReplyParams { pairs } = self.read()?;
        for (_, value) in &pairs {
            bounded(value)?;
        }
        if pairs.is_empty() {
            return Err(Failure::BadParams { message: "`pairs` is empty: name a topic and an answer".into() });
        }
        self.seat_of(game).take_replies(&pairs)?;
        Ok(accepted("reply"))
    }

    fn act(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        self.role.must_play()?;
        let ActParams { name, acting } = self.read()?;
        let seat: Arc<str> = match (&acting, self.role) {
            (Some(acting), _) => Arc::from(acting.as_str()),
            (None, Role::Seat(seat)) => seat.clone(),
            (None, Role::Seats(_)) => {
                return Err(Failure::BadParams { message: "`as` names which of your seats acts".into() });
            }
            (None, _) => return Err(Failure::BadParams { message: "`as` names the seat that acts".into() }),
        };
        self.acts_for(acting.as_deref(), &seat)?;
        self.seat_of(game).act(&seat, &name)?;
        Ok(accepted("act"))
    }

    fn undo(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        let UndoParams { expect, to } = self.read()?;
        expected(game, expect)?;
        if to.is_none() && game.session.decisions() == 0 {
            return self.turn(game, true);
        }
        let steps = self.steps_back(game, to)?;
        // All of them or none.
        game.must_not_stand(self.role, steps)?;
        if game.asks_table(self.role) {
            let vote = game.begin_vote(self.table, (self.role.clone(), self.name.clone()), (to, steps))?;
            if vote.is_some() {
                let asked = UndoReport { seq: game.seq, undone: Vec::new(), vote };
                return written(asked).map(RequestOutcome::Result);
            }
        }
        match self.take_back(game, self.role, (to, steps)) {
            // The game was opened from a checkpoint; older decisions are only in the campaign file.
            Err(Failure::Refused { refusal: Refusal::NothingToUndo }) if to.is_none() => self.turn(game, true),
            undone => Ok(turned("undo", undone?)),
        }
    }

    /// Takes decisions back for `by`: down to where the game stood after the step `to`, or else the last `steps` ones.
    fn take_back(
        &self,
        game: &mut TableGame,
        by: &Role,
        (to, steps): (Option<u64>, u32),
    ) -> Result<Vec<Undone>, Failure> {
        let target = to.and_then(|to| game.decisions_at(to));
        let (mut undone, viewer) = (Vec::new(), RoleSight::of(by).viewer());
        loop {
            undone.push(game.session.undo_for(&viewer)?);
            let is_there = match target {
                Some(target) => game.session.decision_count() <= target,
                None => undone.len() >= steps as usize,
            };
            if is_there {
                break;
            }
        }
        game.last_undo_by(by);
        Ok(undone)
    }

    fn vote(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        self.role.must_play()?;
        let VoteParams { id, agree } = self.read()?;
        let (outcome, over) = game.vote(self.table, id, self.role, agree)?;
        match over.filter(|_| outcome == VoteOutcome::Accepted) {
            Some(vote) => {
                self.take_back(game, &vote.by, (vote.to, vote.steps))?;
                Ok(changed("undo", move |seq| written(VoteResult { outcome, seq: Some(seq) })))
            }
            None => written(VoteResult { outcome, seq: None }).map(RequestOutcome::Result),
        }
    }

    fn options(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        let OptionsParams { undo, odds, delay } = self.master()?;
        if delay.is_some_and(|delay| delay > LONGEST_DELAY) {
            return Err(Failure::BadParams { message: format!("`delay` is at most {LONGEST_DELAY} seconds") });
        }
        let before = game.options();
        let options = TableOptions {
            undo: undo.unwrap_or(before.undo),
            odds: odds.unwrap_or(before.odds),
            delay: delay.unwrap_or(before.delay),
        };
        game.set_options(options);
        Ok(accepted("options"))
    }

    fn undo_preview(&self, game: &mut TableGame) -> Result<Json, Failure> {
        self.role.must_play()?;
        let UndoPreviewParams { to } = self.read()?;
        let steps = self.steps_back(game, to)?;
        let viewer = RoleSight::of(self.role).viewer();
        game.must_not_stand(self.role, steps)?;
        let takes_back = game.session.would_take_back(&viewer, steps as usize);
        written(UndoPreview { seq: game.seq, decisions: steps, takes_back })
    }

    /// The number of decisions that an undo takes back, at least one. The role must be allowed to take back all of
    /// them.
    fn steps_back(&self, game: &TableGame, to: Option<u64>) -> Result<u32, Failure> {
        let unknown = |to: u64| Failure::BadParams { message: format!("step {to} was undone or does not exist") };
        let target = to.map(|to| game.decisions_at(to).ok_or_else(|| unknown(to))).transpose()?;
        let now = game.session.decision_count();
        let steps = target.map_or(1, |target| if target < now { now.since(target) } else { 0 });
        if steps == 0 || game.session.decisions() == 0 {
            return Err(Refusal::NothingToUndo.into());
        }
        if !game.may_undo(self.role, steps) {
            return Err(game.no_undo(self.role));
        }
        Ok(steps)
    }

    fn redo(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        let RedoParams { expect } = self.read()?;
        expected(game, expect)?;
        if !game.may_redo(self.role) {
            return Err(Failure::forbidden(self.role.word(), "the game master, or the seat that undid it"));
        }
        let undone = match game.session.redo_for(&RoleSight::of(self.role).viewer()) {
            Err(Refusal::NothingToRedo { .. }) if game.keeper.is_some() => return self.turn(game, false),
            undone => vec![undone?],
        };
        Ok(turned("redo", undone))
    }

    /// An undo or redo beyond the decisions in memory: the table moves to another entry of its campaign.
    fn turn(&self, game: &mut TableGame, back: bool) -> Result<RequestOutcome, Failure> {
        let nothing =
            || Failure::from(if back { Refusal::NothingToUndo } else { Refusal::NothingToRedo { diverged: false } });
        let keeper = game.keeper.as_mut().filter(|_| self.role.is_master()).ok_or_else(nothing)?;
        let entry = keeper.next(back)?.ok_or_else(nothing)?;
        let session = keeper.campaign.turn_to(entry)?;
        game.put(session, ANOTHER_MOMENT);
        Ok(turned(if back { "undo" } else { "redo" }, Vec::new()))
    }

    fn entries(&self, game: &TableGame) -> Result<Json, Failure> {
        let EntriesParams { all, most } = self.master()?;
        let most = most.unwrap_or(MOST_ENTRIES).min(MOST_ENTRIES);
        written(Entries { entries: game.keeper.as_ref().ok_or_else(no_campaign)?.campaign.log(all, most)? })
    }

    fn roster(&self, game: &TableGame) -> Result<Json, Failure> {
        let Nothing {} = self.master()?;
        written(game.keeper.as_ref().ok_or_else(no_campaign)?.campaign.roster()?)
    }

    fn offers(&self, game: &TableGame) -> Result<Json, Failure> {
        let Nothing {} = self.master()?;
        let rules = game.session.ruleset();
        written(Offers {
            rulesets: self.library.ids(),
            policies: rules.policies().to_vec(),
            switches: rules.switches().map(OfferedSwitch::from).collect(),
            scenarios: rules.scenarios().iter().map(|(name, position)| offered_scenario(name, position)).collect(),
            cast: match rules.creates(CreationPart::Position) {
                true => rules.cast().keys().cloned().collect(),
                false => Vec::new(),
            },
        })
    }

    fn scenes(&self, game: &TableGame) -> Result<Json, Failure> {
        let Nothing {} = self.master()?;
        written(Scenes { scenes: game.keeper.as_ref().ok_or_else(no_campaign)?.campaign.scenes()? })
    }

    fn recap(&self, game: &TableGame) -> Result<Json, Failure> {
        game.options().must_show_now(self.role)?;
        let RecapParams { all } = self.read()?;
        if all {
            self.role.must_be_master()?;
        }
        let viewer = RoleSight::of(self.role).viewer();
        let campaign = &game.keeper.as_ref().ok_or_else(no_campaign)?.campaign;
        let recap = if all { campaign.recap_all(&viewer)? } else { campaign.recap(&viewer)? };
        written(RecapText { paragraphs: recap.paragraphs() })
    }

    /// Builds an encounter from sheets of the roster and the cast, with the seats and house rules of the game.
    fn prepared(&self, game: &TableGame, sides: Vec<SideParams>) -> Result<Encounter, Failure> {
        let rules = game.session.ruleset();
        let roster = game.keeper.as_ref().map(|keeper| keeper.campaign.roster()).transpose()?.unwrap_or_default();
        let member = |MemberParams { name, count }: MemberParams| {
            let of_roster = roster.characters.get(&name).and_then(|character| character.sheet.as_ref());
            let Some(sheet) = of_roster.or_else(|| rules.cast().get(&name)).cloned() else {
                let sentence = format!("There is no sheet `{name}` in the roster or the cast.");
                let known = roster.characters.keys().chain(rules.cast().keys()).map(String::as_str);
                return Err(Failure::from(Refusal::unknown_among_many(sentence, &name, known)));
            };
            Ok(EncounterMember { name, count: count.max(1), sheet })
        };
        let side = |SideParams { title, members }: SideParams| {
            Ok(EncounterSide { title, members: members.into_iter().map(member).collect::<Result<_, Failure>>()? })
        };
        let sides = sides.into_iter().map(side).collect::<Result<_, Failure>>()?;
        Ok(Encounter::prepare(rules, game.session.switches(), next_setup(&game.session), sides)?)
    }

    fn encounter(&self, game: &TableGame) -> Result<Apart, Failure> {
        let EncounterParams { sides, seats } = self.master()?;
        let encounter = self.prepared(game, sides)?;
        let rules = game.session.ruleset().clone();
        let mut played_by = Encounter::usual_drivers(&rules);
        for (seat, policy) in seats {
            must_have_seat(&rules, &seat)?;
            let Some(known) = rules.policies().iter().find(|known| ***known == *policy) else {
                let names = rules.policies().iter().map(|policy| &**policy);
                return Err(Refusal::unknown(format!("{} has no policy `{policy}`", rules.id()), &policy, names).into());
            };
            played_by.insert(seat.into(), Driver::Policy(known.clone()));
        }
        let interrupt = self.interrupt.clone();
        Ok(Box::new(move || {
            let odds = encounter.foretell(&rules, played_by, &|| !interrupt.load(Ordering::Relaxed))?;
            let result = |(result, rate): (&String, Rate)| {
                let Rate { count, share, low, high, .. } = rate;
                EncounterResult { result: result.clone(), count, share, low, high }
            };
            written(EncounterReport {
                title: encounter.title,
                games: odds.tally.trials,
                undecided: odds.tally.left_out.len(),
                results: odds.results().into_iter().map(result).collect(),
                partial: odds.is_partial(),
                seats: odds.played_by,
                notes: encounter.notes,
            })
        }))
    }

    fn scene(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        let SceneParams { scenario, sides, seed } = self.master()?;
        let rules = game.session.ruleset().clone();
        let (setup, title) = match (scenario, sides) {
            (None, Some(sides)) => {
                let encounter = self.prepared(game, sides)?;
                (encounter.setup, encounter.title)
            }
            (Some(name), None) => {
                let Some(position) = rules.scenarios().get(&name) else {
                    let known = rules.scenarios().keys().map(String::as_str);
                    return Err(
                        Refusal::unknown(format!("{} has no scenario `{name}`", rules.id()), &name, known).into()
                    );
                };
                let title = offered_scenario(&name, position).title;
                (Setup { scenario: Scenario::Named(name), ..next_setup(&game.session) }, title)
            }
            (None, None) => (next_setup(&game.session), rules.title().to_owned()),
            (Some(_), Some(_)) => return Err(Refusal::new("give either `scenario` or `sides`").into()),
        };
        let setup = Setup { seed: seed.map_or(setup.seed, |seed| seed.min(LARGEST_NUMBER.unsigned_abs())), ..setup };
        let session = match &mut game.keeper {
            Some(keeper) => keeper.campaign.begin(&rules, setup, &title)?,
            None => Session::start(&rules, setup)?,
        };
        game.put(session, "another scene has begun");
        Ok(changed("scene", |seq| written(SceneBegun { seq, title })))
    }

    fn go_to(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        let GotoParams { entry } = self.master()?;
        let session = game.keeper.as_mut().ok_or_else(no_campaign)?.campaign.turn_to(entry)?;
        game.put(session, ANOTHER_MOMENT);
        Ok(accepted("goto"))
    }

    fn amend(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        let AmendParams { entry, answer, faces, edit } = self.master()?;
        let campaign = &mut game.keeper.as_mut().ok_or_else(no_campaign)?.campaign;
        let amendment = match (answer, faces, edit) {
            (Some(answer), None, None) => Amendment::Answer(answer),
            (None, Some(faces), None) => Amendment::Dice(faces),
            (None, None, Some(edit)) => Amendment::Edit(edit),
            _ => return Err(Failure::from(Refusal::new("give one of `answer`, `faces` and `edit`"))),
        };
        let amended = |report: AmendReport| {
            let AmendReport { text, kept, other, made_again, left_out, ends, .. } = report;
            let (kept, other) = (event_lines(&kept), event_lines(&other));
            Amended { text, kept, other, made_again, left_out, ends, before: None, seq: None }
        };
        if self.method == MethodName::AmendPreview {
            return written(amended(campaign.preview_amendment(entry, &amendment)?)).map(RequestOutcome::Result);
        }
        let before = Some(campaign.head());
        let (session, report) = campaign.turn_amended(entry, &amendment)?;
        game.put(session, ANOTHER_MOMENT);
        let report = amended(report);
        Ok(changed("amend", move |seq| written(Amended { before, seq: Some(seq), ..report })))
    }

    fn rules(&self, game: &mut TableGame) -> Result<RequestOutcome, Failure> {
        let RulesParams { ruleset, layers } = self.master()?;
        let to = load(self.machines, self.library, &ruleset, &layers)?;
        let change = self.method == MethodName::RulesChange;
        let session = &mut game.session;
        let rules = session.ruleset();
        let reloads = session.fault().is_some() && to.name() == rules.name() && to.hash() != rules.hash();
        let migration = match (reloads, change) {
            (true, true) => reload(session, to)?,
            (true, false) => Migration { waits_for: None, ..session.preview_rules(&to)? },
            (false, true) => session.change_rules(&to)?,
            (false, false) => session.preview_rules(&to)?,
        };
        let Migration { from, to, changes, mut notes, waits_for } = migration;
        if !reloads {
            notes.extend(in_the_way(session));
            notes.sort_by_key(|note| note.fate);
        }
        let preview = RulesPreview { from, to, changes, notes, waits_for, seq: None };
        Ok(match change {
            true => changed("rules.change", |seq| written(RulesPreview { seq: Some(seq), ..preview })),
            false => RequestOutcome::Result(written(preview)?),
        })
    }

    // Looking

    fn answers(&self, game: &TableGame) -> Result<Json, Failure> {
        let AnswersParams { question, most } = self.read()?;
        let most = most.unwrap_or(MOST_ANSWERS).min(MOST_ANSWERS);
        let answers = self.own_question(game, question)?.answers(most);
        written(Answers {
            answers: answers.map(|answers| answers.iter().map(riskbreaker_play::Answer::to_value).collect()),
        })
    }

    fn find(&self, game: &TableGame) -> Result<Json, Failure> {
        let FindParams { question, text } = self.read()?;
        let mut found = self.own_question(game, question)?.ask.search(&text);
        let all = found.len();
        found.sort_by_key(|option| !option.enabled);
        found.truncate(Ask::MOST_SHOWN);
        written(Found { more: all - found.len(), options: found.into_iter().cloned().collect() })
    }

    fn suggest(&self, game: &mut TableGame) -> Result<Json, Failure> {
        let SuggestParams { question, policy } = self.read()?;
        let number = self.own_number(game, question)?;
        let answer = self.seat_of(game).suggest(number, &policy)?;
        written(Suggestion { value: answer.map(|answer| answer.to_value()) })
    }

    fn odds(&self, game: &mut TableGame) -> Result<Apart, Failure> {
        game.options().must_show_odds(self.role)?;
        let OddsParams { question, given, until } = self.read()?;
        let (asked, viewer) = (self.own_question(game, question)?.clone(), RoleSight::of(self.role).viewer());
        let given = Given::all(&asked, &viewer, given);
        let query = OddsQuery {
            given,
            answering: Answering::Default,
            viewer: Some(viewer.clone()),
            interrupt: Some(self.interrupt.clone()),
            limits: Limits { work: ODDS_WORK, ..Limits::default() },
            ..OddsQuery::default()
        };
        let mut ahead = game.copy_to_look_ahead(asked.id, self.interrupt);
        Ok(Box::new(move || {
            let _ = ahead.advance()?;
            let odds = ahead.odds_ahead(asked.id, query, until.as_deref())?;
            let kinds = kinds_of_outcomes(&ahead, &odds, &asked, &viewer);
            written(report(&odds, kinds))
        }))
    }

    fn hint(&self, game: &mut TableGame) -> Result<Apart, Failure> {
        game.options().must_show_odds(self.role)?;
        let HintParams { question, games } = self.read()?;
        let (asked, viewer) = (self.own_question(game, question)?.id, RoleSight::of(self.role).viewer());
        let usual = AdviceLimits::default();
        let limits = AdviceLimits { games: games.unwrap_or(usual.games).min(usual.games), ..usual };
        let (mut ahead, interrupt) = (game.copy_to_look_ahead(asked, self.interrupt), self.interrupt.clone());
        Ok(Box::new(move || {
            let _ = ahead.advance()?;
            written(ahead.advise_for(asked, limits, &viewer, Some(&interrupt))?.report())
        }))
    }

    fn why(&self, game: &mut TableGame) -> Result<Json, Failure> {
        game.options().must_show_now(self.role)?;
        let WhyParams { entity, name, with } = self.read()?;
        for one in std::iter::once(entity).chain(with.iter().copied()) {
            self.must_see(&game.session, one)?;
        }
        let args: Vec<Value> = with.into_iter().map(Value::Entity).collect();
        written(WhyReport { explanation: self.seat_of(game).why_of(entity, &name, &args)? })
    }

    fn must_see(&self, session: &Session, entity: EntityId) -> Result<(), Failure> {
        if RoleSight::of(self.role).sees_entity(session, entity) {
            return Ok(());
        }
        Err(Refusal::NoEntity { entity }.into())
    }

    fn card(&self, game: &TableGame) -> Result<Json, Failure> {
        let CardParams { card } = self.read()?;
        let rules = game.session.ruleset();
        let Some(found) = rules.card(&card) else {
            let ids = rules.cards().iter().map(|card| &*card.id);
            let sentence = format!("{} has no card `{card}`", rules.id());
            return Err(Refusal::unknown_among_many(sentence, &card, ids).into());
        };
        let (id, title) = (found.id.clone(), found.title.clone());
        written(CardReport { id, title, text: found.text.clone(), rules: found.rules.clone() })
    }

    fn say(&self, game: &mut TableGame) -> Result<Json, Failure> {
        self.role.must_play()?;
        let SayParams { text } = self.read()?;
        let plain: String = text.chars().filter(|c| *c == '\n' || !is_control(*c)).collect();
        let plain = plain.trim();
        if !(1..=MOST_SAID).contains(&plain.chars().count()) {
            return Err(Failure::BadParams { message: format!("`text` has 1 to {MOST_SAID} characters") });
        }
        written(SaidReport { id: game.say(self.table, self.role, self.name.clone(), plain) })
    }

    fn save(&self, game: &mut TableGame) -> Result<Json, Failure> {
        self.role.must_be_operator()?;
        let SaveTable { path: named } = self.read()?;
        let path = named.as_deref().map(|path| self.saves.place(path)).transpose()?;
        if let Some(path) = path.clone().filter(|path| is_campaign(path)) {
            let keeper = match &game.keeper {
                Some(keeper) => keeper.copied_to(&path)?,
                None => Keeper::create(self.library, &path, &mut game.session)?,
            };
            game.keeper = Some(Box::new(keeper));
            if game.is_paused() {
                game.note_change(HostChange::Paused(true))?;
            }
            if *game.options() != TableOptions::default() {
                game.note_change(game.options().change())?;
            }
            return written(SavedTable { path: named, game: None, seq: game.seq });
        }
        // A game resumed from a checkpoint of its campaign has only its last part in memory.
        let whole = match game.keeper.as_ref().filter(|_| game.session.is_resumed()) {
            Some(keeper) => Some(keeper.campaign.whole()?),
            None => None,
        };
        let text = super::saved::write(game, whole.as_ref());
        let seq = game.seq;
        match path {
            None => written(SavedTable { path: None, game: Some(text), seq }),
            Some(path) => {
                super::saved::put(&path, &text)?;
                written(SavedTable { path: named, game: None, seq })
            }
        }
    }
}

fn changed(cause: &'static str, result: impl FnOnce(u64) -> Result<Json, Failure> + Send + 'static) -> RequestOutcome {
    RequestOutcome::Changed { cause, result: Box::new(result) }
}

fn accepted(cause: &'static str) -> RequestOutcome {
    changed(cause, |seq| written(Accepted { seq }))
}

fn turned(cause: &'static str, undone: Vec<Undone>) -> RequestOutcome {
    changed(cause, |seq| written(UndoReport { seq, undone, vote: None }))
}

/// True for control characters, invisible characters and those that change the direction of writing.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The reason sent to viewers when the game moves to another entry.
const ANOTHER_MOMENT: &str = "the game stands at another moment of its campaign";

/// The setup of the next scene of a game: with its seats and house rules, and with new dice.
fn next_setup(session: &Session) -> Setup {
    let dice = match session.dice() {
        DiceSource::Written(_) => DiceSource::Seeded,
        other => other.clone(),
    };
    let switches = session.switches().iter();
    let switches = switches.map(|(name, value)| (name.clone(), Value::text(value.to_string()))).collect();
    Setup { seed: random_seed(), dice, seats: session.seats().clone(), switches, ..Setup::default() }
}

fn offered_scenario(name: &str, position: &Value) -> OfferedScenario {
    OfferedScenario { name: name.to_owned(), title: Scenario::title_of(position).unwrap_or(name).to_owned() }
}

/// The most entries of a campaign that are listed at once.
const MOST_ENTRIES: usize = 1_000;

fn no_campaign() -> Failure {
    let reason = "this table is kept in no campaign; `table.save` with a path that ends in `.rbsave` makes one";
    Failure::Unavailable { reason: reason.into() }
}

/// Refuses a command from a viewer that has not seen the last step.
fn expected(game: &TableGame, expect: u64) -> Result<(), Failure> {
    if expect == game.seq { Ok(()) } else { Err(Failure::Moved { expected: expect, seq: game.seq }) }
}

/// Refuses numbers that not every client can read back.
fn bounded(value: &Value) -> Result<(), Failure> {
    match value {
        Value::Int(n) if n.unsigned_abs() > LARGEST_NUMBER.unsigned_abs() => {
            Err(Failure::BadParams { message: format!("{n} is beyond {LARGEST_NUMBER}, the largest whole number") })
        }
        Value::List(items) => items.iter().try_for_each(bounded),
        Value::Map(items) => items.values().try_for_each(bounded),
        _ => Ok(()),
    }
}

pub(super) fn load(
    machines: Machines,
    library: &Library,
    id: &str,
    layers: &[String],
) -> Result<Arc<Ruleset>, Failure> {
    Ruleset::shared_on(machines, library, id, layers)
        .map_err(|error| Failure::NotStarted { message: error.to_string() })
}

/// Reloads the files of the rules in force. A failed action is tried again.
fn reload(session: &mut Session, rules: Arc<Ruleset>) -> Result<Migration, Failure> {
    let name = rules.name();
    let ReloadReport { changed: changes, state, warnings, .. } = session.reload(rules)?;
    // A pending request for an earlier version of these rules would replace them at the boundary.
    if session.pending_rules().is_some_and(|pending| pending.name() == name) {
        session.keep_rules()?;
    }
    let note = |fate, topic: &str, text| MigrationNote { fate, topic: topic.to_owned(), text, rule: None };
    let lists = [
        (MigrationFate::Defaulted, "new fields", state.defaulted),
        (MigrationFate::Returned, "there again", state.returned),
        (MigrationFate::Dormant, "kept aside", state.kept_aside),
        (MigrationFate::Dormant, "gone", state.gone),
    ];
    let lists = lists.into_iter().filter(|(.., list)| !list.is_empty());
    let mut notes: Vec<MigrationNote> =
        warnings.into_iter().map(|warning| note(MigrationFate::Decide, "rules", warning)).collect();
    notes.extend(lists.map(|(fate, topic, list)| note(fate, topic, list.join(", "))));
    Ok(Migration {
        from: name.clone(),
        to: name,
        changes: changes.iter().map(ToString::to_string).collect(),
        notes,
        waits_for: None,
    })
}

/// Names the failed action that other rules have to wait for; `None` if no action has failed.
fn in_the_way(session: &Session) -> Option<MigrationNote> {
    let fault = session.fault().filter(|_| !session.is_at_boundary())?;
    let topic = fault.action.as_deref().unwrap_or("the open action").to_owned();
    let text = "has failed, and other rules wait for its end: `skip_action` leaves it out, `undo` takes it back, and \
                `retry` runs it by the rules in force";
    Some(MigrationNote { fate: MigrationFate::Decide, topic, text: text.to_owned(), rule: None })
}

fn report(odds: &Odds, kinds: Vec<OutcomeKind>) -> OddsReport {
    let outcomes = odds.lines().into_iter().zip(&odds.outcomes).zip(kinds);
    OddsReport {
        exact: odds.is_exact(),
        partial: odds.is_partial(),
        estimate: odds
            .estimate
            .as_ref()
            .map(|estimate| EstimateReport { samples: estimate.samples, why: estimate.why.clone() }),
        outcomes: outcomes
            .map(|((text, (_, of)), kind)| OutcomeReport { text, chance: odds.stated(of), kind })
            .collect(),
        remaining: odds.stated_remaining(),
        answers: odds
            .answers
            .iter()
            .map(|one| AssumedReport {
                who: one.who.clone(),
                topic: one.topic.clone(),
                answer: one.answer.clone(),
                source: one.source.to_string(),
            })
            .collect(),
        hits: odds.hits().into_iter().map(|(target, of)| (target.to_string(), odds.stated(&of))).collect(),
        until: odds.until.clone(),
        no_further: odds.no_further.clone(),
        unseen: odds.unseen.clone(),
        dealt: odds.dealt,
    }
}
