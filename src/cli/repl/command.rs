use Group::*;

/// A word that the prompt itself understands, in every game.
#[derive(Debug)]
pub struct Command {
    pub word: Word,
    pub name: &'static str,
    /// Other spellings.
    pub also: &'static [&'static str],
    /// What follows the name.
    pub takes: &'static str,
    /// One line for the list.
    pub short: &'static str,
    /// What `help NAME` adds.
    pub long: &'static str,
    pub group: Group,
}

/// Which command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Do,
    Options,
    Ok,
    Pass,
    Auto,
    Roll,
    Undo,
    Redo,
    Retry,
    Skip,
    Restore,
    Odds,
    Hint,
    Sheet,
    Who,
    Why,
    Log,
    Cards,
    Rules,
    Switches,
    Free,
    Set,
    Say,
    Seat,
    Save,
    Load,
    Help,
    Quit,
}

/// Under which heading `help` lists it.
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
    /// The command that a word names, in any case.
    pub fn find(word: &str) -> Option<&'static Command> {
        let word = word.to_lowercase();
        COMMANDS.iter().find(|command| command.name == word || command.also.contains(&word.as_str()))
    }

    /// All words that name a command.
    pub fn names() -> impl Iterator<Item = &'static str> {
        COMMANDS.iter().flat_map(|command| std::iter::once(command.name).chain(command.also.iter().copied()))
    }

    /// The name with what follows it.
    pub fn usage(&self) -> String {
        format!("{} {}", self.name, self.takes).trim_end().to_owned()
    }
}

macro_rules! command {
    ($word:ident, $group:ident, $name:literal $(| $also:literal)*, $takes:literal, $short:literal, $long:literal) => {
        Command { word: Word::$word, group: $group, name: $name, also: &[$($also),*], takes: $takes, short: $short, long: $long }
    };
}

pub static COMMANDS: &[Command] = &[
    command!(
        Do,
        Play,
        "do",
        "ANSWER [TOPIC ANSWER]...",
        "answers the open question, and the ones that follow, in one line",
        "An answer is the number of an option, its name or an unambiguous beginning of it; `yes` or `no`; a number; `a 1, b 2` where \
         points are given out; names with commas between them where several are wanted. `do` itself may be left out. `NAME: ANSWER` \
         answers the question that is open for NAME, where several are. All of the line is taken, or nothing."
    ),
    command!(
        Options,
        Play,
        "options" | "opt",
        "",
        "what can be answered now, and why the rest cannot",
        "A `-` marks what is not open, with the reason; a `*` what `ok` takes."
    ),
    command!(
        Ok,
        Play,
        "ok",
        "[all]",
        "takes what is proposed, marked `*`",
        "`ok all` takes it for every question that is open and has one."
    ),
    command!(Pass, Play, "pass", "", "chooses to do nothing, where the rules offer that", ""),
    command!(
        Auto,
        Play,
        "auto",
        "[N] [POLICY]",
        "lets a policy answer for you to the end of the action, or N answers",
        "Without a name the first policy of the ruleset answers. `seat` hands a seat over for good; `undo` takes back all that one line did."
    ),
    command!(
        Free,
        Play,
        "free",
        "[NAME]",
        "acts that are nobody's turn: lists them, or does one",
        "Their names are commands of their own: typed first, they are done."
    ),
    command!(
        Undo,
        Play,
        "undo",
        "[N]",
        "takes back what the last line did, or the last N lines",
        "A line of Lua and an `auto` are taken back whole, whatever they did. Dice that were rolled stay rolled: the same choice meets the same dice."
    ),
    command!(Redo, Play, "redo", "[N]", "does again what was taken back", ""),
    command!(
        Roll,
        Play,
        "roll",
        "DICE | FACES",
        "rolls dice outside the game, or gives the faces of dice you rolled",
        "`roll 3d6+1`, `roll 4d6kh3`. With `--dice typed` the game asks for faces: `roll 4, 2`, or just the numbers."
    ),
    command!(
        Odds,
        Look,
        "odds",
        "[ANSWER [TOPIC ANSWER]...] [--compare SWITCH=VALUE]",
        "what an answer can come to, and how likely that is; nothing is played",
        "Typed like `do`: `odds strike risk 2 on Foe`; alone it goes through all answers, and `--compare` sets another value of a \
         house rule beside it. Every way is gone through that the dice can fall; what the line does not \
         answer takes its default, or the first answer that is possible, and is named."
    ),
    command!(
        Hint,
        Look,
        "hint",
        "",
        "what each answer is worth, the best first, and why",
        "By the measure of the ruleset: the worth after the action over every way it can go, and at the end of games that are played \
         out from there for a second."
    ),
    command!(Sheet, Look, "sheet", "[NAME]", "the sheet of NAME, or of whoever is asked", ""),
    command!(Who, Look, "who" | "list", "[KIND]", "how everybody stands, in a row each; all numbers of a kind", ""),
    command!(
        Why,
        Look,
        "why",
        "[NAME FIELD]",
        "how a number came about, term by term; alone: why you are asked this",
        "Terms come with the file and line that gave them, a plain field with what changed it."
    ),
    command!(Log, Look, "log", "[N]", "the last N things that happened (20)", "`log all` tells the whole game."),
    command!(Cards, Look, "cards", "[NAME]", "the cards of the rules, or the text of one", ""),
    command!(
        Rules,
        Master,
        "rules",
        "[ID[+LAYER] [yes] | off | aside]",
        "which rules are played; `rules ID` shows what other rules would change",
        "`rules ID` only looks: what is carried over, what is new, what is kept aside, what the game master has to decide. \
         `rules ID yes` asks for them: they come into force at the end of the round, `rules off` calls them off before, `undo` takes \
         the change back whole. What the other rules have no place for is kept aside (`rules aside`) and returns with the rules that do."
    ),
    command!(
        Switches,
        Master,
        "switches" | "switch",
        "[NAME [VALUE]]",
        "the house rules in force, and their other values; turns one",
        "`switch NAME VALUE` turns a house rule in the running game: from the open action on, which runs again. It can be undone."
    ),
    command!(
        Set,
        Master,
        "set",
        "NAME FIELD VALUE",
        "writes a field by hand",
        "Numbers, `yes` and `no`, texts, names, lists with commas, `none`. `set Foe harm +1` adds. It stands in the log and can be undone."
    ),
    command!(
        Seat,
        Master,
        "seat",
        "[NAME human|absent|POLICY]",
        "who plays which seat; hands one over",
        "`absent` takes each question's default."
    ),
    command!(Say, Master, "say", "TEXT", "writes a line into the log", ""),
    command!(
        Retry,
        Master,
        "retry",
        "",
        "after a broken script: runs the action again",
        "Mend the file first; what was rolled and answered is kept."
    ),
    command!(
        Skip,
        Master,
        "skip",
        "[NAME]",
        "after a broken script: goes on without that action, or without a hook, card or entry from now on",
        "Nothing that the action had done stands. Put right by hand with `set` what it should have done. `skip NAME` leaves that hook, item, card, entry or free act out of the game until `restore NAME`."
    ),
    command!(
        Restore,
        Master,
        "restore",
        "NAME",
        "takes a hook, item, card, entry or free act in again that was left out by `skip`",
        ""
    ),
    command!(Save, Table, "save", "FILE", "writes the game to a file", ""),
    command!(
        Load,
        Table,
        "load",
        "FILE",
        "goes on with a saved game",
        "The game that is open now is left; save it first if you want it back."
    ),
    command!(
        Help,
        Table,
        "help" | "?",
        "[all|words|WORD]",
        "how to play; what WORD means: a command, a card, a house rule, a rule's id",
        ""
    ),
    command!(Quit, Table, "quit" | "exit" | "bye", "", "leaves the table", ""),
];

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
    fn case_does_not_count() {
        assert_eq!(Command::find("Undo").map(|command| command.word), Some(Word::Undo));
        assert!(Command::find("undone").is_none());
    }
}
