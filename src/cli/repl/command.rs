use Group::*;

/// A command of the prompt.
#[derive(Debug)]
pub struct Command {
    pub word: Word,
    pub name: &'static str,
    /// Alternative names.
    pub also: &'static [&'static str],
    /// The arguments, as shown in `help`.
    pub takes: &'static str,
    /// The line in the list of commands.
    pub short: &'static str,
    /// The further text of `help NAME`.
    pub long: &'static str,
    pub group: Group,
    /// The completion of the words after the name.
    pub completes: Completes,
    /// True if it answers the open question.
    pub answers: bool,
    /// True if words that say nothing may follow: `undo that`, `hint please`.
    pub takes_idle_words: bool,
    /// True if the words after it are a text or a name of the user's own, which are kept as they are typed.
    pub takes_own_words: bool,
    right: Right,
    is_essential: bool,
}

/// Who may use a command. A seat may use it where the game master's right is not needed.
#[derive(Clone, Copy, Debug)]
pub enum Right {
    Everybody,
    Master,
    /// Only the game master without words after the command.
    MasterAlone,
    /// Only the game master with words after the command.
    MasterWithWords,
    /// Only the game master with exactly these words after the command.
    MasterFor(&'static str),
}

/// What can follow the name of a command, for the completion of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completes {
    Nothing,
    /// These words.
    Words(&'static [&'static str]),
    /// Answers to the open question and the ones after it.
    Answers,
    FreeActs,
    /// The names of everybody at the table.
    Names,
    /// A name and one of its fields.
    NameAndField,
    Kinds,
    Cards,
    Switches,
    Rulesets,
    Policies,
    /// The subcommands of `roster` and their names.
    Roster,
    /// The characters of the roster and of the ruleset.
    Characters,
    /// Cards and free acts, which can be disabled.
    Parts,
    /// A seat and who plays it.
    Seats,
    /// The subjects of `help`.
    Subjects,
}

/// The heading under which `help` lists a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Play,
    Look,
    Master,
    Table,
}

impl Group {
    pub const ALL: [Group; 4] = [Play, Look, Master, Table];

    pub fn title(self) -> &'static str {
        match self {
            Play => "play",
            Look => "look",
            Master => "game master",
            Table => "table",
        }
    }
}

impl Command {
    /// Finds a command by name, in any case.
    pub fn find(word: &str) -> Option<&'static Command> {
        let word = word.to_lowercase();
        COMMANDS.iter().find(|command| command.name == word || command.also.contains(&word.as_str()))
    }

    /// Returns the command with this identity.
    pub fn of(word: Word) -> &'static Command {
        &COMMANDS[word as usize]
    }

    /// Finds the only command with a name that begins with `text`. Needs three letters or more.
    pub fn beginning_with(text: &str) -> Option<&'static Command> {
        let text = text.to_lowercase();
        let begins = |command: &&Command| {
            let mut names = std::iter::once(command.name).chain(command.also.iter().copied());
            names.any(|name| name.starts_with(&text))
        };
        let mut found = COMMANDS.iter().filter(begins);
        found.next().filter(|_| text.len() > 2 && found.next().is_none())
    }

    /// All names of commands.
    pub fn names() -> impl Iterator<Item = &'static str> {
        COMMANDS.iter().flat_map(|command| std::iter::once(command.name).chain(command.also.iter().copied()))
    }

    /// True if the command changes nothing and may print much.
    pub fn only_shows(&self) -> bool {
        self.group == Look || matches!(self.word, Word::Help | Word::Rules | Word::Switches)
    }

    /// True if an option of the same name takes precedence. Essential commands always win.
    pub fn gives_way(&self) -> bool {
        !self.is_essential
    }

    /// True if only the game master may use the command with `rest` after it.
    pub fn needs_master(&self, rest: &str) -> bool {
        match self.right {
            Right::Everybody => false,
            Right::Master => true,
            Right::MasterAlone => rest.is_empty(),
            Right::MasterWithWords => !rest.is_empty(),
            Right::MasterFor(words) => rest == words,
        }
    }

    /// The name with its arguments.
    pub fn usage(&self) -> String {
        format!("{} {}", self.name, self.takes).trim_end().to_owned()
    }

    /// A command that everybody may use, that gives way to an option of its name, and that completes nothing.
    const fn new(word: Word, group: Group, names: &'static [&'static str], texts: [&'static str; 3]) -> Command {
        let [takes, short, long] = texts;
        let Some((name, also)) = names.split_first() else { panic!("a command has a name") };
        Command {
            word,
            name,
            also,
            takes,
            short,
            long,
            group,
            completes: Completes::Nothing,
            answers: false,
            takes_idle_words: takes.is_empty(),
            // The game master writes texts and names things.
            takes_own_words: matches!(group, Master),
            right: Right::Everybody,
            is_essential: false,
        }
    }

    const fn essential(self) -> Command {
        Command { is_essential: true, ..self }
    }

    const fn answering(self) -> Command {
        Command { answers: true, ..self }
    }

    const fn with_idle_words(self) -> Command {
        Command { takes_idle_words: true, ..self }
    }

    const fn with_own_words(self) -> Command {
        Command { takes_own_words: true, ..self }
    }

    const fn right(self, right: Right) -> Command {
        Command { right, ..self }
    }

    const fn completes(self, completes: Completes) -> Command {
        Command { completes, ..self }
    }
}

/// Declares each command once: its word, group and names, what it takes, its line in `help all`, the rest of its help, and how it
/// differs from a command that everybody may use and that completes nothing. What it does is the match in `Repl::command`.
macro_rules! commands {
    ($($word:ident: $group:ident $name:literal $(| $also:literal)* $takes:literal, $short:literal, $long:literal
        $(, $with:ident($($value:expr)?))*;)*) => {
        /// The identity of a command.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Word {
            $($word),*
        }

        /// The commands, in the order of their words.
        pub static COMMANDS: &[Command] = &[
            $(Command::new(Word::$word, $group, &[$name $(, $also)*], [$takes, $short, $long])$(.$with($($value)?))*),*
        ];
    };
}

commands! {
    Do: Play "do" "ANSWER [TOPIC ANSWER]...",
        "answers the open question, and the ones after it, in one line",
        "An answer is the number of an option, its name or the beginning of it; `yes` or `no`; a number; `a 1, b 2` to \
         divide points; names with commas where several are allowed. You can leave `do` out. `NAME: ANSWER` answers the \
         question of NAME where several are open. A line takes effect as a whole or not at all.",
        essential(), answering(), completes(Completes::Answers);

    Options: Play "options" | "opt" "[WORDS]",
        "shows all answers to the open question, and why some are closed",
        "`-` marks a closed option, with the reason. `*` marks the proposal that `ok` takes. `options fire wall` lists the \
         options that contain both words; of more than a hundred options only the first are listed without words.",
        essential();

    Ok: Play "ok" "[all | ANSWER]",
        "takes the proposal, marked `*`",
        "It is what the first policy of the ruleset would answer. `ok all` takes the proposals of all open questions. An \
         answer after `ok` answers the question that follows.",
        essential(), answering(), completes(Completes::Words(&["all"]));

    Pass: Play "pass" "",
        "does nothing this turn, where the rules allow it",
        "",
        essential(), answering();

    Auto: Play "auto" "[N] [POLICY]",
        "lets a policy answer for you to the end of this action, or N times",
        "Without a name, the first policy of the ruleset answers. `seat` hands a seat over for the rest of the game. One \
         `undo` takes back everything the line did.",
        essential(), answering(), right(Right::Master), completes(Completes::Policies);

    Free: Play "free" "[NAME]",
        "lists what can be done out of turn, or does it",
        "`free NAME` does the act. NAME alone shows first what it will do, if it asks no question; `NAME yes` does it.",
        completes(Completes::FreeActs);

    Undo: Play "undo" "[N]",
        "takes back the last line, or the last N lines",
        "A line of Lua and an `auto` are taken back as a whole. Dice are kept: the same choice gets the same dice again.",
        essential(), with_idle_words();

    Redo: Play "redo" "[N]",
        "does again what `undo` took back",
        "",
        essential(), with_idle_words();

    Roll: Play "roll" "DICE | FACES",
        "rolls dice outside the game, or enters dice that you rolled",
        "`roll 3d6+1`, `roll 4d6kh3`. With `--dice typed` the game asks for your dice: `roll 4, 2`, or just the numbers.";

    Look: Look "look" "",
        "shows the table: where the game is and how everybody stands",
        "",
        essential();

    Sheet: Look "sheet" "[NAME]",
        "shows the sheet of NAME, or of whoever must answer",
        "",
        completes(Completes::Names);

    Who: Look "who" | "list" "[KIND]",
        "lists everybody, one row each, or all values of one kind",
        "",
        completes(Completes::Kinds);

    Why: Look "why" "[roll [N] | NAME FIELD | OPTION | WORD]",
        "explains a roll, a number, an option or a word; alone: the question and the last roll",
        "`why roll` lists what the number that was needed is made of; `why roll 2` explains the roll before. `why NAME \
         FIELD` lists the terms of a number, each with the file and line it comes from. `why OPTION` says why an option \
         is closed. A card or a word of the rules is explained as `help WORD` does.",
        essential(), completes(Completes::NameAndField);

    Odds: Look "odds" "[ANSWER [TOPIC ANSWER]...] [--until ENTRY] [--compare SWITCH=VALUE]",
        "shows what an answer can lead to and how likely that is; plays nothing",
        "Typed like an answer: `odds strike risk 2 on Foe`. Alone it goes through all answers. `--compare` adds a column \
         for another value of a house rule. `--until round` looks ahead to the next agenda entry `round`, `--until \
         action` no further than this action; without it the ruleset decides. The odds are exact where every roll can be \
         followed. What the line does not answer takes its default, or else the first possible answer, and is named.",
        completes(Completes::Answers);

    Hint: Look "hint" "[SECONDS]",
        "ranks the answers, the best first, with their odds",
        "Each answer is played to the end of the game many times: 4,000 games in all, for 3 seconds at most. `hint 20` \
         takes up to 20 seconds, and more games. The ranking uses the average result by the ruleset's own measure; below \
         it stand the odds.",
        essential(), with_idle_words();

    Log: Look "log" "[N]",
        "shows the last N events (20)",
        "`log all` shows the whole game. `log --all` lists the entries of a campaign, those that were undone included.",
        right(Right::MasterFor("--all")), completes(Completes::Words(&["all"]));

    Cards: Look "cards" "[NAME]",
        "lists the cards, or shows the text of one",
        "",
        completes(Completes::Cards);

    Rules: Master "rules" "[ID[+LAYER] [yes] | off | aside]",
        "shows the rules in force; `rules ID` shows what other rules would change",
        "ID is a ruleset, LAYER a ruleset of house rules to put on it: `rules riskbreaker-0.0.1+house-armour`. `rules ID` \
         changes nothing: it lists what is carried over, what is new, what is set aside and what you must decide. `rules \
         ID yes` changes the rules at the end of the round; `rules off` cancels that. `undo` takes a change back. What \
         the new rules have no place for is set aside (`rules aside`) and returns with rules that have one.",
        right(Right::MasterWithWords), completes(Completes::Rulesets);

    Switches: Master "switches" | "switch" "[NAME [VALUE]]",
        "lists the house rules and their values, or sets one",
        "`switch NAME VALUE` sets a house rule in the running game. The open action runs again under it. `undo` takes it \
         back.",
        right(Right::MasterWithWords), completes(Completes::Switches);

    Set: Master "set" "NAME FIELD VALUE",
        "changes a field",
        "VALUE is a number, `yes` or `no`, a text, a name, a list with commas, or `none`. `set Foe harm +1` adds 1. The \
         change is logged and can be undone.",
        right(Right::Master), completes(Completes::NameAndField);

    Seat: Master "seat" "[NAME human|absent|POLICY]",
        "shows who plays which seat, or changes it",
        "An `absent` seat takes the default of each question.",
        right(Right::Master), completes(Completes::Seats);

    Say: Master "say" "TEXT",
        "writes a line into the log",
        "",
        right(Right::Master);

    Retry: Master "retry" "",
        "runs the action again after a script error",
        "Correct the file first. Dice and answers stay as they are. Where another program has changed the campaign file, \
         `retry` checks it and continues with it if it still ends with the last line.",
        right(Right::Master);

    Skip: Master "skip" "[NAME]",
        "after a script error: skips the action, or disables a hook, card or entry",
        "Nothing that the action did remains; correct the result with `set`. `skip NAME` disables that hook, item, card, \
         entry or free act until `restore NAME`.",
        with_idle_words(), right(Right::Master), completes(Completes::Parts);

    Restore: Master "restore" "NAME",
        "enables again what `skip NAME` disabled",
        "",
        right(Right::Master), completes(Completes::Parts);

    New: Table "new" "[SCENARIO]",
        "lists the scenarios, or starts one",
        "The rules, seats and house rules stay as they are; the dice are new.",
        right(Right::Master);

    Rematch: Table "rematch" | "restart" | "again" "",
        "starts the same scenario again with other dice",
        "",
        right(Right::Master);

    Save: Table "save" "[NAME]",
        "gives the game a name",
        "It is kept in the campaign file NAME.rbsave of the current folder, with all that was undone, and each line from \
         now on; no other campaign is replaced. Of a campaign it makes a copy and plays on there. `save NAME.json` \
         exports the game as it stands.",
        with_own_words();

    Spec: Table "spec" "[NAME]",
        "writes what was played as a spec",
        "The spec gives the same answers and dice, and expects each value that has changed since the start. It stands in \
         `specs/played/` of the ruleset, or of the topmost layer, that lies on the disk; `riskbreaker test` runs it.";

    Load: Table "load" "FILE",
        "continues an exported game",
        "In a campaign it becomes the next scene.",
        with_own_words(), right(Right::Master);

    Recover: Table "recover" "[N]",
        "lists the games without a name, or continues one",
        "At a terminal every game is kept from its first line, also without a name: the newest 20. `recover` lists them \
         with their rules, round and time, and `recover N` continues game N.",
        right(Right::Master);

    Reroll: Master "reroll" "",
        "plays the last line again with other dice",
        "It is recorded as the game master's act. `undo` and `redo` alone never change the dice.";

    Roster: Master "roster" "[new NAME [as SHEET] | edit NAME | keep NAME [FIELD, ...] | use NAME [for NAME] | drop NAME]",
        "lists the characters that the campaign keeps; writes, keeps or drops one, or brings one into the scene",
        "`roster new NAME` writes a sheet step by step, and says what each step costs; `as SHEET` begins with a copy of \
         one. `roster keep NAME` keeps what the sheet shows now, or only the fields that are named. `roster use NAME` \
         writes that into the character of the same name in the current scene, also under other rules: fields that these \
         do not have stay in the roster.",
        right(Right::Master), completes(Completes::Roster);

    Encounter: Master "encounter" "NAMES against NAMES [--seat SEAT=POLICY] | yes",
        "puts a new scene together and says how likely each side wins; `encounter yes` begins it",
        "Names are those of the roster and of the ruleset's cast, with commas: `encounter Ann, Bob against 3 x NAME`. \
         `Heroes: Ann` names a side; there may be more than two. The first side is that of the players. For a second, \
         games are played out by one policy on all sides, or by those that `--seat` names; the range is where the true \
         share lies in 95 of 100 cases. Notes say who is out, who breaks a rule of creation, and who of the roster is not \
         there.",
        right(Right::Master), completes(Completes::Characters);

    Note: Table "note" | "notes" "[TEXT]",
        "writes a note into the campaign, with the date; alone: lists them",
        "A note does not belong to the game, so `undo` does not remove it. `note edit N TEXT` replaces the text of note \
         N, and `note drop N` removes it. `say` writes into the log.",
        with_own_words(), right(Right::MasterAlone);

    Recap: Table "recap" "[all] [gm]",
        "tells what happened since you sat down to play",
        "It is for the players. `recap all` tells the whole campaign, `recap gm` and `recap all gm` also notes, edits and \
         secrets.";

    Goto: Table "goto" "N",
        "goes to entry N of the campaign",
        "`log --all` lists the entries. Later decisions and other branches stay in the file.",
        right(Right::Master);

    Amend: Table "amend" "N ANSWER|N dice FACES|N NAME FIELD VALUE|yes|back",
        "decides entry N of the campaign in another way, and makes the later decisions again",
        "It first shows what would be different and which later decisions are no longer possible; `amend yes` does it. \
         `amend 12 guard risk 1` changes several answers of one line, and `amend 12 risk 1` only one of them. Rolls keep \
         their faces where the same roll is made. `amend 12 dice 6, 5` changes the first faces that were rolled after \
         entry 12. `amend back` returns to the game as it was. `log --all` lists the entries.",
        right(Right::Master);

    Branch: Table "branch" | "branches" "",
        "lists the ends of all branches of the campaign",
        "Another decision after an `undo` or a `goto` begins a branch.",
        right(Right::Master);

    Help: Table "help" | "?" "[all|words|WORD]",
        "explains the game, or a WORD: a command, a card, a house rule, a term, a rule's id",
        "",
        essential(), completes(Completes::Subjects);

    Quit: Table "quit" | "exit" | "bye" "",
        "leaves the table",
        "",
        essential();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_names_one_command() {
        let mut names: Vec<_> = Command::names().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn a_command_is_found_by_its_identity_and_completes_only_what_it_takes() {
        for command in COMMANDS {
            assert_eq!(Command::of(command.word).name, command.name);
            let completes = command.completes != Completes::Nothing;
            assert!(!completes || !command.takes.is_empty(), "{}", command.name);
        }
    }

    #[test]
    fn case_does_not_count() {
        assert_eq!(Command::find("Undo").map(|command| command.word), Some(Word::Undo));
        assert!(Command::find("undone").is_none());
    }
}
