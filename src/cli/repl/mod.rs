//! The prompt: reads a line, parses and executes it, and prints the result.

mod act;
mod advise;
mod amend;
mod campaign;
mod chosen_name;
mod command;
mod complaint;
mod complete;
mod curtain;
mod difference;
mod editor;
mod encounter;
mod event_rows;
mod glossary;
mod guess;
#[cfg(target_os = "linux")]
mod hangup;
mod help;
mod inspection;
mod line;
mod lines;
mod lua;
mod master;
mod migration;
mod names;
mod pending;
mod prompt;
mod question;
mod reader;
mod refused;
mod reload;
mod replay_at_save;
mod rules_watcher;
mod save_file;
mod session_slot;
mod sheet_entry;
mod spec_file;
mod status;
mod table;
mod unclear_name;
mod vocabulary;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use riskbreaker::dice::{DiceRng, float};
use riskbreaker::lab::{Encounter, SessionExt as _};
use riskbreaker::names::typed;
use riskbreaker::play::{DecisionCount, MissingRoll, TurnNotices};
use riskbreaker::script::Table;
use riskbreaker::state::readable_name;
use riskbreaker::state::{Field, Kind};
use riskbreaker::store::Campaign;
use riskbreaker::{
    Answer, Ask, Audience, Driver, EntityId, Event, Fault, Happening, Library, Question, QuestionId, Session, Setup,
    Step, Viewer,
};
use serde_json::json;

pub use self::campaign::sheet_lines;
use self::command::{Command, Word};
pub use self::complaint::{Complaint, Done};
pub use self::editor::{Editor, Recall};
use self::event_rows::EventFilter;
pub use self::lines::Lines;
use self::lines::Next;
use self::pending::{PlannedAmendment, ReplayedCourse, Saved, SheetEntry};
use self::prompt::Prompt;
use self::reader::{Meaning, addressed, answers};
use self::rules_watcher::RulesWatcher;
use self::session_slot::SessionSlot;
use self::unclear_name::UnclearName;
pub use self::vocabulary::Vocabulary;
use super::call::is_call;
use super::figures::percent;
use super::known_entries::KnownEntries;
use super::library;
use super::notify::Notifier;
use super::report;
use super::row::{Row, Span, Tone};
use super::rule_text;
use super::screen::Screen;

/// A game at the prompt.
///
/// It has many fields and methods, since each command of the prompt is a method and most change several fields: the
/// game, its campaign, the screen and the reader. Each file of this folder has the commands of one subject.
pub struct Repl {
    session: SessionSlot,
    library: Library,
    screen: Screen,
    words: Arc<Mutex<Vocabulary>>,
    step: Step,
    /// The question for an answer without a name; `None` for the first open one.
    focus: Option<QuestionId>,
    /// The question printed last. The same question is not printed twice.
    asked: Option<Question>,
    /// The entity that the last question was about.
    about: Option<EntityId>,
    /// Topics that were asked in this game.
    topics: BTreeSet<String>,
    /// Answers typed in the current line, which are not printed again.
    own: Vec<(Arc<str>, Arc<str>)>,
    /// The printed events of the last action.
    told: Vec<Event>,
    /// The dice for rolls outside of the game.
    chance: DiceRng,
    /// The number of decisions before each line that `undo` can take back, oldest first.
    done: Vec<DecisionCount>,
    /// The number of decisions after each line that `redo` can repeat.
    undone: Vec<DecisionCount>,
    /// True if the current line is an undo, a redo or a change to another game, so that `undo` skips it.
    turned: bool,
    machine: Option<Table>,
    /// An ambiguous name in the last line.
    unclear: Option<UnclearName>,
    /// The lines of an incomplete Lua program.
    chunk: String,
    left: bool,
    /// The state in which the game was last saved.
    saved: Saved,
    /// The campaign file that stores every line.
    campaign: Option<Campaign>,
    /// The path of the campaign if it is unnamed.
    unnamed: Option<PathBuf>,
    /// The entries of the campaign that were acknowledged on this machine.
    known_entries: Option<KnownEntries>,
    /// The sheet that is being written.
    sheet_entry: Option<SheetEntry>,
    /// The scene that was prepared but has not begun.
    encounter: Option<Encounter>,
    /// The amendment that was shown but not applied.
    amendment: Option<PlannedAmendment>,
    /// The entry of the campaign before the last amendment.
    before_amend: Option<u32>,
    /// The setup of the game, for a rematch; `None` for a loaded game.
    setup: Option<Setup>,
    /// True if the end of the game was printed.
    ended: bool,
    /// True if a person uses a terminal. A command that cannot be undone then asks for confirmation.
    attended: bool,
    /// The watcher of the rule files.
    lookout: Option<RulesWatcher>,
    /// The hash of rules that are stored in the campaign and differ from those on disk. While they are in force, no
    /// files are watched.
    kept: Option<String>,
    /// The flag that interrupts the editor when rule files change; `None` if they are not watched.
    bell: Option<Arc<AtomicBool>>,
    /// True if a save replays the game from its start, instead of reloading the rules in place.
    replays: bool,
    /// The course that was to be replayed at the last save.
    replayed: Option<ReplayedCourse>,
    /// True if the seats take turns at the screen.
    curtain: bool,
    /// True if the screen stays empty until the next player is there.
    drawn: bool,
    /// The command that is notified of turns, and the notified questions.
    notifier: Option<Notifier>,
    turns: TurnNotices,
    /// The turn whose heading was printed: its action, its entity, and the status of the game.
    turn: Option<(u32, Option<EntityId>, String)>,
}

/// The random stream for dice outside of the game, whose own dice are in stream 0 of the seed.
const OUTSIDE: u64 = u64::MAX;

impl Repl {
    pub fn new(session: Session, library: Library, screen: Screen, words: Arc<Mutex<Vocabulary>>) -> Repl {
        Repl {
            chance: DiceRng::stream(session.seed(), OUTSIDE),
            session: SessionSlot::new(session),
            library,
            screen,
            words,
            step: Step::Ask,
            focus: None,
            asked: None,
            about: None,
            topics: BTreeSet::new(),
            own: Vec::new(),
            told: Vec::new(),
            done: Vec::new(),
            undone: Vec::new(),
            turned: false,
            machine: None,
            unclear: None,
            chunk: String::new(),
            left: false,
            saved: Saved::default(),
            campaign: None,
            unnamed: None,
            known_entries: None,
            sheet_entry: None,
            encounter: None,
            amendment: None,
            before_amend: None,
            setup: None,
            ended: false,
            attended: false,
            lookout: None,
            kept: None,
            bell: None,
            replays: false,
            replayed: None,
            curtain: false,
            drawn: false,
            notifier: None,
            turns: TurnNotices::default(),
            turn: None,
        }
    }

    /// Sets the command that is notified of turns.
    pub fn telling(mut self, notifier: Option<Notifier>) -> Repl {
        self.notifier = notifier;
        self
    }

    /// Notifies the user's command of turns, and prints an error if it failed.
    fn tell_turns(&mut self) -> Result<()> {
        let Some(notifier) = &self.notifier else { return Ok(()) };
        let name = self.campaign.as_ref().filter(|_| self.unnamed.is_none()).map(|campaign| campaign.name());
        for notice in self.turns.new_in(&self.session) {
            notifier.tell(name, &notice);
        }
        match notifier.failure() {
            Some(failure) if self.screen.json() => Ok(self.screen.event("notify", &json!({ "message": failure }))?),
            Some(failure) => Ok(self.screen.row(&Row::at(0).with(failure, Tone::Note))?),
            None => Ok(()),
        }
    }

    /// Stores the setup of the game for a rematch.
    pub fn started_by(mut self, setup: Option<Setup>) -> Repl {
        self.setup = setup;
        self
    }

    /// Sets whether each save replays the game from its start.
    pub fn replaying(mut self, replays: bool) -> Repl {
        self.replays = replays;
        self
    }

    /// Plays line by line to the end of the input or until `quit`. A script stops at its first wrong line.
    pub fn run(mut self, mut lines: Lines) -> Result<ExitCode> {
        let scripted = lines.scripted();
        self.attended = !scripted;
        if let Err(complaint) = self.open_table(scripted) {
            complaint.told(&mut self.screen, &lines.place(), scripted)?;
        }
        let mut interrupted = false;
        while !self.left {
            self.screen.measure();
            self.tell_turns()?;
            self.gather_words();
            let prompt = if self.screen.json() { Prompt::default() } else { self.prompt() };
            let width = self.screen.width().unwrap_or(usize::MAX);
            let line = match lines.next(&prompt, width)? {
                Next::Line(line) => line,
                Next::Interrupted if !self.chunk.is_empty() => {
                    self.chunk.clear();
                    continue;
                }
                Next::Interrupted if interrupted => break,
                Next::Interrupted => {
                    interrupted = true;
                    self.screen.row(&Row::at(0).faint("Press Ctrl-C again to leave, or type `quit`."))?;
                    continue;
                }
                Next::Called => {
                    if let Err(complaint) = self.take_news(true) {
                        complaint.told(&mut self.screen, &lines.place(), scripted)?;
                    }
                    continue;
                }
                Next::Unable => continue,
                Next::End => break,
            };
            interrupted = false;
            self.stays(&line);
            if scripted && self.chunk.is_empty() && !self.drawn && reader::is_comment(&line) {
                continue;
            }
            if scripted {
                self.screen.row(&Row::at(0).plain(format!("» {}", line.trim_end())))?;
                let opens = self.drawn && line.trim().is_empty();
                if let Step::Fault(fault) = &self.step
                    && !opens
                    && !remedies(&line)
                {
                    Complaint::Wrong(self.stopped_by(fault)).told(&mut self.screen, &lines.place(), true)?;
                    return Ok(ExitCode::FAILURE);
                }
            }
            // A pasted text can contain several lines.
            let carried_out = if let Err(complaint) = self.take_news_before(&line) {
                Err(complaint)
            } else if line.is_empty() {
                self.line_or_number("")
            } else {
                line.lines().try_for_each(|line| self.line_or_number(line))
            };
            let carried_out = carried_out.and_then(|()| self.keep());
            if let Err(complaint) = carried_out {
                // A refused line may have closed the question for a moment. It has no effect, so nothing is printed.
                self.step = self.session.advance()?;
                self.session.take_events();
                self.own.clear();
                if let Complaint::Unclear(unclear) = complaint {
                    unclear.tell(&mut self.screen)?;
                    self.unclear = Some(unclear);
                    self.remember_entries();
                    continue;
                }
                complaint.told(&mut self.screen, &lines.place(), scripted)?;
                if scripted {
                    return Ok(ExitCode::FAILURE);
                }
            }
            self.remember_entries();
        }
        self.close_unnamed();
        self.close(&lines)
    }

    /// Begins the game. For a person, prints the table first.
    fn open_table(&mut self, scripted: bool) -> Done {
        if scripted {
            return self.settle();
        }
        self.play_on()?;
        self.tell_unnamed()?;
        self.show_table()
    }

    /// Prints everybody at the table and the question; in a script only the question.
    fn show_table(&mut self) -> Done {
        self.step = self.session.advance()?;
        if self.attended && matches!(self.step, Step::Ask) && !self.screen.json() && !self.drawn {
            self.gather_words();
            self.who("")?;
            self.show_positions()?;
        }
        self.show_standing()
    }

    /// Ends the program, with a message if the game is not in order.
    fn close(self, lines: &Lines) -> Result<ExitCode> {
        let complaint = match &self.step {
            _ if !lines.scripted() || self.left => None,
            _ if !self.chunk.is_empty() => Some("the Lua code above is not complete".to_owned()),
            Step::Fault(fault) => Some(self.stopped_by(fault)),
            _ => None,
        };
        let Some(complaint) = complaint else { return Ok(ExitCode::SUCCESS) };
        let mut screen = self.screen;
        Complaint::Wrong(complaint).told(&mut screen, &lines.place(), true)?;
        Ok(ExitCode::FAILURE)
    }

    /// Returns the error text of a fault.
    fn stopped_by(&self, fault: &Fault) -> String {
        if self.drawn || !self.masters() {
            return self.session.fault_for_seats().unwrap_or_default().message;
        }
        match self.session.missing_roll() {
            Some(roll) => {
                let what = missing_in_words(roll);
                format!("the written dice have run out: {what}; write its face after the others in `--dice`")
            }
            None => format!("the game is stopped by an error: {fault}"),
        }
    }

    /// Reports that the written dice have run out: the roll, and what to type.
    fn show_missing_roll(&mut self, roll: &MissingRoll) -> Done {
        let text = format!("The written dice have run out: {}.", missing_in_words(roll));
        self.screen.row(&Row::at(0).with(text, Tone::Bad))?;
        let text = format!(
            "Type the face that fell, 1 to {}: `roll 1`. In a script, write it after the others in `--dice`. Or `undo`.",
            roll.sides
        );
        Ok(self.screen.row(&Row::at(2).with(text, Tone::Note))?)
    }

    /// Executes one line and records its decisions for `undo`.
    fn line(&mut self, line: &str) -> Done {
        let before = self.session.decision_count();
        self.turned = false;
        let done = self.carry_out(line);
        if self.turned || before != self.session.decision_count() {
            self.replayed = None;
        }
        if !self.turned {
            let now = self.session.decision_count();
            // A Lua program may have undone more decisions than it made.
            self.done.retain(|mark| *mark < now);
            if before < now {
                self.done.push(before);
                self.undone.clear();
            }
        }
        done
    }

    fn carry_out(&mut self, line: &str) -> Done {
        if self.drawn {
            return self.open_curtain(line);
        }
        if !self.chunk.is_empty() {
            let end = line.trim().is_empty();
            return self.go_on_with_lua(line, end);
        }
        if let Some(done) = self.sheet_line(line) {
            return done;
        }
        self.carry_out_or_reread(line)
    }

    /// Executes a line without correcting it.
    fn carry_out_as_typed(&mut self, line: &str) -> Done {
        let words = self.words();
        let mut line = line;
        self.focus = None;
        // `Ann: 2` divides points.
        let is_answer =
            self.focused().is_some_and(|asked| matches!(asked.ask, Ask::Allot { .. }) && knows(asked, line));
        if let Some((name, rest)) = addressed(line)
            && !is_answer
            && let Some(question) = self.question_about(name)?
        {
            self.focus = Some(question);
            line = rest;
            self.gather_words();
        }
        let words = if self.focus.is_some() { self.words() } else { words };
        let is_command = Command::find(line::split_first(line).0).is_some();
        let by_verb = words.with_option_of_verb(line).filter(|_| !is_command);
        let line = by_verb.as_deref().unwrap_or(line);
        let accepts = |text: &str| self.focused().is_some_and(|question| knows(question, text));
        let meaning = reader::read(line, &words, accepts);
        if matches!(self.step, Step::Over(_)) && meaning.plays(line) {
            return Err(self.over());
        }
        match meaning {
            Meaning::Nothing => Ok(()),
            Meaning::Command(command, rest) => self.paged(command, &rest, &words),
            Meaning::Answer { head, named, otherwise } => {
                let before = self.session.decision_count();
                match (self.reply(line, head, named), otherwise) {
                    (
                        Err(Complaint::Wrong(_) | Complaint::Unread(_) | Complaint::Refused(_)),
                        Some((command, rest)),
                    ) if self.session.decision_count() == before => {
                        self.forget_attempt()?;
                        self.paged(command, &rest, &words)
                    }
                    (done, _) => done,
                }
            }
            Meaning::Free { act, rest } => self.take_free_act(&act, &rest, false),
            Meaning::View(name) => self.view(&name),
            Meaning::Lua(_) if !self.masters() => Err(self.not_here()),
            Meaning::Lua(_) | Meaning::Unknown { .. } if is_call(line) => Err(Complaint::Wrong(format!(
                "`{0}` is a command of the program, not of a game. `quit` leaves the game; then type `riskbreaker {0}`.",
                line.trim().trim_start_matches("riskbreaker ")
            ))),
            Meaning::Lua(source) if is_bare_word(line) => self.variable(&source),
            Meaning::Lua(source) => self.lua(&source),
            Meaning::Pair { name, value, is_switch } => Err(Complaint::Wrong(match is_switch {
                true => format!("`{name}` is a house rule. Type `switches {name} {value}`."),
                false => format!("Type `{name} {value}` to answer, or `= {name} = {value}` to set a variable of Lua."),
            })),
            Meaning::Unknown { word, near } => Err(unknown_word(&word, near)),
        }
    }

    /// Executes a command. At a terminal, output longer than the screen is shown in pages.
    fn paged(&mut self, command: &Command, rest: &str, words: &Vocabulary) -> Done {
        if self.attended && command.only_shows() {
            self.screen.begin_page();
        }
        let done = self.command(command, rest, words);
        self.screen.end_page()?;
        done
    }

    fn command(&mut self, command: &Command, rest: &str, words: &Vocabulary) -> Done {
        if command.takes.is_empty() && !rest.is_empty() {
            let name = command.name;
            return Err(Complaint::Unread(format!(
                "`{name}` takes no words after it: type `{name}` alone, or see `help {name}`."
            )));
        }
        if !self.masters() && command.needs_master(rest) {
            return Err(self.not_here());
        }
        match command.word {
            Word::Do => {
                let cut = answers(rest, words);
                self.reply(rest, cut.head, cut.named)
            }
            Word::Options => self.show_options(rest),
            Word::Ok => self.take_default(rest),
            Word::Pass => self.pass(words),
            Word::Auto => self.auto(rest),
            Word::Free => self.free(rest, words),
            Word::Roll => self.roll(rest),
            Word::Undo => self.undo(rest),
            Word::Redo => self.redo(rest),
            Word::Retry if self.retry_campaign()? => Ok(()),
            Word::Retry => self.remedy(riskbreaker::Remedy::Retry),
            // If there is no error to skip, the turn is skipped.
            Word::Skip if rest.is_empty() && matches!(self.step, Step::Ask) => self.pass(words),
            Word::Skip if rest.is_empty() => self.remedy(riskbreaker::Remedy::SkipAction),
            Word::Skip => self.leave_out(rest, true),
            Word::Restore => self.leave_out(rest, false),
            Word::Odds => self.odds(rest, words),
            Word::Hint => self.hint(rest),
            Word::Sheet => self.sheet(rest),
            Word::Who => self.who(rest),
            Word::Why => self.why(rest, words),
            Word::Log if rest == "--all" => self.entries(false),
            Word::Log => self.log(rest),
            Word::Reroll => self.reroll(),
            Word::Roster => self.roster(rest),
            Word::Encounter => self.encounter(rest),
            Word::Note => self.note(rest),
            Word::Recap => self.recap(rest),
            Word::Goto => self.go_to(rest),
            Word::Amend => self.amend(rest),
            Word::Branch => self.entries(true),
            Word::Cards => self.cards(rest),
            Word::Rules => self.rules(rest),
            Word::Switches => self.switches(rest),
            Word::Set => self.set(rest),
            Word::Say => self.say(rest),
            Word::Seat => self.seat(rest),
            Word::Save => self.save(name_to_save(rest)),
            Word::Spec => self.write_spec(rest),
            Word::Load => self.load(rest),
            Word::Recover => self.recover(rest),
            Word::Look => self.look(),
            Word::New => self.new_game(rest),
            Word::Rematch => self.rematch(),
            Word::Help => self.help(rest, words),
            Word::Quit => {
                self.left = true;
                Ok(())
            }
        }
    }

    /// Plays on after a decision, and prints the events and the next question.
    fn settle_decided(&mut self) -> Done {
        self.step = self.session.advance()?;
        self.follow_rules();
        let events = self.session.take_events();
        let silent = events.is_empty() && matches!(self.step, Step::Ask) && !self.screen.json();
        self.tell(&events, false)?;
        self.own.clear();
        let throws = |question: &Question| matches!(question.ask, riskbreaker::Ask::Dice { .. });
        if silent && self.session.questions().iter().any(throws) {
            // More dice of the same roll are asked for, perhaps in the same words.
            self.asked = None;
        } else if silent {
            // Nothing happens until the other open questions are answered as well.
            let names: Vec<String> = self.session.questions().iter().map(|question| self.whom(question)).collect();
            let is_printed = self.focused() == self.asked.as_ref();
            if !names.is_empty() && (is_printed || names.len() > 1) {
                self.screen.row(&Row::at(2).faint(format!("Noted. Still to answer: {}.", names.join(", "))))?;
            }
        }
        self.show_standing()
    }

    /// Plays on until the next question, and prints the events and the question.
    fn settle(&mut self) -> Done {
        self.play_on()?;
        self.show_standing()
    }

    /// Plays on until the next question, and prints the events.
    fn play_on(&mut self) -> Done {
        self.step = self.session.advance()?;
        self.follow_rules();
        // While the curtain is closed, the events wait.
        let events = if self.drawn { Vec::new() } else { self.session.take_events() };
        self.tell(&events, false)?;
        self.own.clear();
        Ok(())
    }

    /// Prints the state of the game: the question, the fault, or the outcome.
    fn show_standing(&mut self) -> Done {
        match self.step.clone() {
            Step::Ask => {
                self.ended = false;
                self.ask(false)
            }
            Step::Fault(_) if self.drawn || !self.masters() => {
                self.call_master()?;
                let fault = self.session.fault_for_seats().unwrap_or_default();
                if self.screen.json() {
                    return Ok(self.screen.event("fault", &json!({ "fault": fault }))?);
                }
                Ok(self.screen.row(&Row::at(2).with(fault.message, Tone::Note))?)
            }
            Step::Fault(fault) => {
                self.asked = None;
                if self.screen.json() {
                    return Ok(self.screen.event("fault", &json!({ "fault": fault }))?);
                }
                if let Some(roll) = self.session.missing_roll().cloned() {
                    return self.show_missing_roll(&roll);
                }
                let told = report::fault(&fault, self.screen.coloured(), self.screen.width());
                self.screen.verbatim(&told)?;
                let hint = match fault.is_wrong_face() {
                    true => {
                        "The action is taken back. Start the game again with faces in `--dice` that these dice have; or `undo`."
                    }
                    false => {
                        "The action is taken back. Correct the file and type `retry`; or `skip` the action, `skip NAME` a hook or a card, or `undo`."
                    }
                };
                Ok(self.screen.row(&Row::at(2).with(hint, Tone::Note))?)
            }
            Step::Over(_) => {
                self.asked = None;
                self.show_end()
            }
        }
    }

    /// Discards the events and answers of a refused line.
    fn forget_attempt(&mut self) -> Done {
        self.step = self.session.advance()?;
        self.session.take_events();
        self.own.clear();
        Ok(())
    }

    /// Prints the events that this screen may see. With `whole`, routine events as well.
    fn tell(&mut self, events: &[Event], whole: bool) -> Done {
        self.keep()?;
        let mut seen: Vec<Event> = events.iter().filter(|event| self.may_see(&event.audience)).cloned().collect();
        for event in &seen {
            if let Happening::Answered { topic, .. } = &event.happening {
                self.topics.insert(topic.to_string());
            }
        }
        if self.screen.json() {
            return Ok(seen.iter().try_for_each(|event| self.screen.object(event))?);
        }
        if !self.screen.rule_ids() {
            seen.iter_mut().for_each(|event| hide_rule_ids(&mut event.happening));
        }
        let absent = self.absent_seats();
        let untold = if whole { EventFilter::default() } else { self.untold() };
        let shown = (self.masters(), self.screen.width());
        let mut rows = event_rows::tell(&seen, &mut self.told, &mut self.own, &absent, &untold, shown);
        if !whole {
            event_rows::leave_out_first(&mut rows);
        }
        Ok(self.screen.rows(&rows)?)
    }

    /// Formats events that did not happen in this game.
    fn rows_of(&self, events: &[Event]) -> Vec<Row> {
        let mut seen: Vec<Event> = events.iter().filter(|event| self.may_see(&event.audience)).cloned().collect();
        if !self.screen.rule_ids() {
            seen.iter_mut().for_each(|event| hide_rule_ids(&mut event.happening));
        }
        let shown = (self.masters(), self.screen.width());
        event_rows::tell(&seen, &mut Vec::new(), &mut Vec::new(), &self.absent_seats(), &self.untold(), shown)
    }

    fn absent_seats(&self) -> Vec<Arc<str>> {
        let seats = self.session.seats().iter().filter(|(_, driver)| **driver == Driver::Absent);
        seats.map(|(seat, _)| seat.clone()).collect()
    }

    /// The filter for entities of kinds that the ruleset hides from players.
    fn untold(&self) -> EventFilter {
        let schema = self.session.ruleset().schema();
        let hidden = |kind: &&Kind| kind.title.is_none_or(|title| !kind.field(title).show);
        let kinds: Vec<Arc<str>> = schema.kinds.iter().filter(hidden).map(|kind| kind.name.clone()).collect();
        let view = self.session.view();
        let titles = kinds.iter().flat_map(|kind| view.of_kind(kind)).map(|id| view.title(id)).collect();
        let numbers = schema.kinds.iter().filter(|kind| kind.profile.side.is_some()).flat_map(|kind| {
            let first = kind.profile.numbers.first().map(|number| (number.name.clone(), number.harm));
            first
                .into_iter()
                .chain(kind.profile.numbers.iter().filter(|one| one.harm).map(|one| (one.name.clone(), true)))
        });
        let fields = schema.kinds.iter().flat_map(|kind| &kind.fields);
        let (shown, unshown): (Vec<&Field>, Vec<&Field>) = fields.partition(|field| field.show);
        let mut fields: BTreeSet<Arc<str>> = unshown.into_iter().map(|field| field.name.clone()).collect();
        for field in shown {
            fields.remove(&field.name);
        }
        EventFilter { kinds, titles, fields, harm: numbers.collect() }
    }

    /// Prints the open question, unless it was just printed; `anew` prints it in any case. In JSON mode, all open
    /// questions are printed after each line with an effect, so that a client need not remember them.
    fn ask(&mut self, anew: bool) -> Done {
        self.ask_with(anew, "")
    }

    /// Prints the open question as [`Repl::ask`] does, with the options that contain some words; with all if there are none.
    fn ask_with(&mut self, anew: bool, words: &str) -> Done {
        if self.is_hidden()? {
            return Ok(());
        }
        let Some(question) = self.focused().cloned() else { return self.wait_for_others() };
        self.topics.insert(question.topic.to_string());
        if !anew && self.asked.as_ref() == Some(&question) && !self.screen.json() {
            return Ok(());
        }
        if !anew {
            self.begin_turn(&question)?;
        }
        self.about = question.about.or(self.about);
        let about = question.about.map(|id| self.session.view().label(id));
        if self.screen.json() {
            for question in self.session.questions().to_vec() {
                let proposal = self.session.propose(&question);
                let about = question.about.map(|id| self.session.view().label(id));
                let question = self.session.as_told(&question);
                let told = json!({ "question": question, "about": about, "proposal": proposal });
                self.screen.event("question", &told)?;
            }
        } else {
            let proposal = self.session.propose(&question);
            let told = self.with_chances(question.clone());
            let told = if self.screen.rule_ids() { told } else { without_rule_ids(told) };
            let (proposal, about) = (proposal.as_ref(), about.as_deref());
            let shown = question::QuestionStyle { proposal, about, whole: anew, words };
            let rows = question::ask(&told, &shown, self.screen.width());
            self.screen.rows(&rows)?;
            if let Some(row) = self.also_open(&question) {
                self.screen.row(&row)?;
            }
        }
        self.asked = Some(question);
        Ok(())
    }

    /// Adds the chance of each target to be hit to the options of a question.
    fn with_chances(&mut self, mut question: Question) -> Question {
        let viewer = self.viewer();
        let chances = self.session.hit_chances(&question, &viewer);
        if let Ask::Choose { options, .. } = &mut question.ask {
            for (id, chance, is_exact) in chances {
                let Some(option) = options.iter_mut().find(|option| option.id == id) else { continue };
                // An estimate from a hundred games has no meaningful decimals.
                let told = match is_exact {
                    true => format!("{} to hit", percent(float(&chance))),
                    false => format!("about {:.0} % to hit", 100.0 * float(&chance)),
                };
                option.note = Some(option.note.take().map_or(told.clone(), |note| format!("{note}, {told}")));
            }
        }
        question
    }

    /// A row with the other open questions.
    fn also_open(&self, focused: &Question) -> Option<Row> {
        let names: Vec<String> = self
            .session
            .questions()
            .iter()
            .filter(|question| question.id != focused.id)
            .map(|question| self.whom(question))
            .collect();
        let first = names.first()?;
        Some(
            Row::at(2).faint(format!("Also open: {}. Type `{first}: ANSWER` to answer for {first}.", names.join(", "))),
        )
    }

    /// The question for an answer without a name.
    fn focused(&self) -> Option<&Question> {
        let open = self.session.questions();
        open.iter().find(|question| Some(question.id) == self.focus).or_else(|| open.first())
    }

    /// Finds the open question for a character, by its name or label, or for a seat. `None` if the name is unknown.
    ///
    /// # Errors
    ///
    /// The name is ambiguous, or no question is open for it.
    fn question_about(&self, name: &str) -> Result<Option<QuestionId>, Complaint> {
        let (view, open) = (self.session.view(), self.session.questions());
        let spellings = |question: &Question| {
            let title = question.about.map(|id| view.title(id).to_string());
            let number = question.about.map(|id| id.to_string());
            [Some(self.whom(question)), title, number]
                .into_iter()
                .flatten()
                .map(|name| (question.id, name))
                .collect::<Vec<_>>()
        };
        match typed(name, || open.iter().flat_map(spellings)).as_slice() {
            [] if view.find(name).is_ok() || self.session.seats().contains_key(name) => Err(self.not_asked(name)),
            [] => Ok(None),
            // The questions of one character are answered in order.
            [first, more @ ..] if more.is_empty() || self.share_one(*first, more) => Ok(Some(*first)),
            several => {
                let asked = open.iter().filter(|question| several.contains(&question.id));
                Err(names::ambiguous(name, asked.map(|question| self.whom(question))))
            }
        }
    }

    fn share_one(&self, first: QuestionId, more: &[QuestionId]) -> bool {
        let whom = |id: QuestionId| {
            let question = self.session.questions().iter().find(|question| question.id == id);
            question.map(|question| (question.about, question.seat.clone()))
        };
        more.iter().all(|other| whom(*other) == whom(first))
    }

    fn not_asked(&self, name: &str) -> Complaint {
        let asked: Vec<String> = self.session.questions().iter().map(|question| self.whom(question)).collect();
        Complaint::Wrong(match asked.as_slice() {
            [] => format!("`{name}` has no open question."),
            asked => format!("`{name}` has no open question; {} has.", asked.join(", ")),
        })
    }

    fn whom(&self, question: &Question) -> String {
        question::whom(&self.session, question)
    }

    /// The viewer at this prompt.
    fn viewer(&self) -> Viewer {
        self.session.viewer()
    }

    /// The refusal of a command that is only for the game master, or for a screen that shows everything.
    fn not_here(&self) -> Complaint {
        Complaint::Wrong(format!("Only the game master may do that; this screen is for {}.", self.viewer().words()))
    }

    /// True if this screen has the rights of the game master: it shows everything, or the game master uses it.
    fn masters(&self) -> bool {
        !self.session.is_restricted() || self.viewer().is_master()
    }

    fn may_see(&self, audience: &Audience) -> bool {
        self.viewer().sees(audience)
    }

    fn prompt(&mut self) -> Prompt {
        if !self.chunk.is_empty() {
            return Prompt { continued: true, ..Prompt::default() };
        }
        if self.drawn {
            return Prompt::default();
        }
        if let Some(parts) = self.sheet_prompt() {
            return Prompt { parts, continued: false };
        }
        // The status is already in the line above the turn.
        let mut parts = Vec::new();
        match &self.step {
            Step::Ask => parts.extend(self.focused().map(|question| self.whom(question))),
            Step::Fault(_) => parts.push("broken script".into()),
            Step::Over(_) => parts.push("over".into()),
        }
        parts.extend(self.session.pending_rules().map(|rules| format!("then {}", rules.name())));
        Prompt { parts, continued: false }
    }

    fn words(&self) -> Vocabulary {
        self.words.lock().map(|words| words.clone()).unwrap_or_default()
    }

    /// Updates the known words.
    fn gather_words(&mut self) {
        let mut words = Vocabulary::of(&mut self.session, &self.topics, self.focus);
        words.rulesets = library::listed(&self.library).unwrap_or_default();
        if self.masters() {
            // A stored sheet has all fields of a character.
            words.roster = self.campaign_roster().map_or(Vec::new(), |roster| roster.characters.into_keys().collect());
            words.cast = self.session.ruleset().cast().keys().map(|id| readable_name(id)).collect();
        }
        if let Ok(mut shared) = self.words.lock() {
            *shared = words;
        }
    }

    /// Prints lines of label and text, or a JSON object with them.
    fn show_pairs(&mut self, event: &str, title: &str, pairs: &[(String, String)]) -> Done {
        if self.screen.json() {
            return Ok(self.screen.event(event, &json!({ "title": title, "lines": pairs }))?);
        }
        self.screen.row(&Row::at(0).strong(title))?;
        let cells = pairs.iter().map(|(label, text)| vec![Span::plain(label), Span::plain(text)]).collect();
        Ok(self.screen.columns(2, cells)?)
    }
}

/// Removes the rule ids from the texts of a question; `why` prints them.
fn without_rule_ids(mut question: Question) -> Question {
    question.why = rule_text::without_ids(&question.why).into_owned();
    if let Ask::Choose { options, .. }
    | Ask::ChooseMany { options, .. }
    | Ask::Allot { options, .. }
    | Ask::Order { options } = &mut question.ask
    {
        for text in options.iter_mut().flat_map(|option| [&mut option.reason, &mut option.note]).flatten() {
            *text = rule_text::without_ids(text).into_owned();
        }
    }
    question
}

/// Removes the rule ids from the texts and labels of an event; `why` prints them.
fn hide_rule_ids(happening: &mut Happening) {
    let texts: Vec<&mut String> = match happening {
        Happening::Said { text } | Happening::Over { text } | Happening::Cut { reason: text } => vec![text],
        Happening::Rolled { label, need, result, explain, terms, .. } => {
            let told = [Some(label), need.as_mut(), result.as_mut(), explain.as_mut()];
            told.into_iter().flatten().chain(terms.iter_mut().map(|term| &mut term.label)).collect()
        }
        Happening::Changed { .. }
        | Happening::Spawned { .. }
        | Happening::Removed { .. }
        | Happening::Answered { .. }
        | Happening::Edited { .. }
        | Happening::Notice { .. }
        | Happening::Back { .. }
        | Happening::Aside { .. }
        | Happening::Withdrawn { .. } => Vec::new(),
    };
    for text in texts {
        if let Cow::Owned(plain) = rule_text::without_ids(text) {
            *text = plain;
        }
    }
}

/// True if a question accepts a text as an answer other than free text.
fn knows(question: &Question, text: &str) -> bool {
    match question.read_typed(&text.into()) {
        Ok(Answer::Choice(id)) => question.ask.options().iter().any(|option| option.id == id),
        Ok(_) => true,
        Err(_) => false,
    }
}

/// The name in `save as evening` and `save this game as evening`; empty if there is none.
fn name_to_save(rest: &str) -> &str {
    let whole =
        |text: &'_ str, word: &str| text == word || text.strip_prefix(word).is_some_and(|end| end.starts_with(' '));
    let what = ["my game", "the game", "this game", "game", "it"].into_iter().find(|what| whole(rest, what));
    let name = what.map_or(rest, |what| rest[what.len()..].trim_start());
    if whole(name, "as") { name[2..].trim_start() } else { name }
}

/// True if a line is one word that could be the name of a Lua variable.
fn is_bare_word(line: &str) -> bool {
    let line = line.trim();
    !line.starts_with(|letter: char| letter.is_ascii_digit()) && line.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The complaint about an unknown word. `near`: a command that may be meant.
fn unknown_word(word: &str, near: Option<&str>) -> Complaint {
    Complaint::Unread(match near {
        Some(near) => format!("There is no command `{word}`. Did you mean `{near}`?"),
        None => {
            format!("`{word}` is neither a command nor an answer here. `help` lists the commands; Lua begins with `=`.")
        }
    })
}

/// Describes a roll that lacks faces: its purpose, its dice and the number it needs.
fn missing_in_words(roll: &MissingRoll) -> String {
    let need = roll.need.iter().map(|need| format!(", needs {need}")).collect::<String>();
    format!("{} ({}{need})", roll.what, roll.dice)
}

/// True if a script may contain this line while an action has failed.
fn remedies(line: &str) -> bool {
    let (first, _) = line::split_first(line);
    Command::find(first).is_some_and(|command| !command.answers)
}
