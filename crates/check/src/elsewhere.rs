//! Idioms of other environments that run Lua, with what a ruleset writes instead.

use super::known::Mistake;
use super::script::ScriptReader;
use riskbreaker_script::syntax::{Location, TextPosition};

/// Globals of other environments: games on a platform, Tabletop Simulator, other versions of Lua.
pub(super) const GLOBALS: &[(&str, &str)] = &[
    ("task", "a rule does not wait: what comes later stands on the agenda, `rb.schedule(\"ENTRY\", \"+1\")`"),
    ("delay", "a rule does not wait: what comes later stands on the agenda, `rb.schedule(\"ENTRY\", \"+1\")`"),
    ("spawn", "a new entity is made by `rb.spawn(\"KIND\", { ... })`"),
    ("tick", "a game has no clock: what comes later stands on the agenda, `rb.schedule(\"ENTRY\", \"+1\")`"),
    ("Instance", "a new entity is made by `rb.spawn(\"KIND\", { ... })`"),
    ("game", "all entities of a kind are `rb.each(\"KIND\")`; a fact of the whole game is a field of an entity"),
    ("workspace", "all entities of a kind are `rb.each(\"KIND\")`; a fact of the whole game is a field of an entity"),
    ("script", "another file is read by `require(\"lib/NAME\")`"),
    ("warn", "use rb.say, which the log keeps"),
    ("module", "a file returns what the others are to have: `return NAME`"),
    (
        "getObjectFromGUID",
        "an entity is a handle: find it by `rb.first(\"KIND\")` or `rb.each(\"KIND\")` and keep it in a field",
    ),
    ("getAllObjects", "an entity is a handle: all of a kind are `rb.each(\"KIND\")`"),
    ("getObjects", "an entity is a handle: all of a kind are `rb.each(\"KIND\")`"),
    ("spawnObject", "a new entity is made by `rb.spawn(\"KIND\", { ... })`"),
    ("destroyObject", "an entity goes by `rb.remove(entity)`"),
    ("Player", "a seat is a text, such as `ctx.actor.seat`; the player is asked by `rb.choose({ seat = ... })`"),
    (
        "getSeatedPlayers",
        "a seat is a text, such as `ctx.actor.seat`; the player is asked by `rb.choose({ seat = ... })`",
    ),
    ("broadcastToAll", "use rb.say, which the log keeps"),
    ("broadcastToColor", "use rb.whisper(\"SEAT\", text), which the log keeps"),
    ("printToAll", "use rb.say, which the log keeps"),
    ("printToColor", "use rb.whisper(\"SEAT\", text), which the log keeps"),
    ("Wait", "a rule does not wait: what comes later stands on the agenda, `rb.schedule(\"ENTRY\", \"+1\")`"),
    ("startLuaCoroutine", "a question stops the action by itself"),
    ("Turns", "the order of turns is the agenda: `rb.recur(\"ENTRY\", key, step, entity)`"),
    ("JSON", "a value is kept in a field of an entity as it is"),
];

/// Functions of libraries that other versions of Lua have.
pub(super) const MEMBERS: &[(&str, &str, &str)] = &[
    ("table", "getn", "the length of a list is `#list`"),
    ("table", "setn", "a list is as long as what stands in it: leave it out"),
    ("table", "foreach", "write `for key, value in list do`"),
    ("table", "foreachi", "write `for at, value in list do`"),
    ("string", "gfind", "write `string.gmatch`"),
    ("math", "mod", "write `a % b`"),
];

impl ScriptReader<'_> {
    /// An idiom of another Lua at the place of a syntax error, or before it in the same line: `goto`, `<const>`, `&`.
    pub(super) fn idiom_of_another_lua(&self, at: Location) -> Option<(Location, Mistake)> {
        let line = self.text.lines().nth(at.begin.line as usize)?;
        let place = |column: usize| {
            let begin = TextPosition::new(at.begin.line, column as u32);
            Location::new(begin, begin)
        };
        let told = |column: usize, wrong: &str, cure: &str| Some((place(column), (wrong.to_owned(), cure.to_owned())));
        let code = line.split("--").next().unwrap_or_default();
        if let Some(begin) = word_in(code, "goto") {
            let label: String = code[begin + 4..]
                .trim_start()
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                .collect();
            return told(begin, &format!("Luau has no `goto {label}`"), "write `continue`");
        }
        if let Some(begin) = code.find("::").filter(|_| code.trim().starts_with("::") && code.trim().len() > 4) {
            return told(
                begin,
                "Luau has no labels, since it has no `goto`",
                "leave the label out; `continue` ends a round of a loop",
            );
        }
        for attribute in ["<const>", "<close>"] {
            if let Some(begin) = code.find(attribute) {
                let wrong = format!("Luau has no `{attribute}`");
                return told(begin, &wrong, &format!("leave out `{attribute}`: `local` is enough"));
            }
        }
        let rest = code.get(at.begin.column as usize..)?;
        let before = code.get(..at.begin.column as usize)?.trim_end();
        let (sign, function) =
            [("<<", "lshift"), (">>", "rshift"), ("&", "band"), ("|", "bor")].into_iter().find(|(sign, _)| {
                // The parser complains of the second of two equal signs, or of what follows both.
                let is_doubled = before.ends_with(sign) || before.ends_with(&sign[..1]) && rest.starts_with(&sign[..1]);
                if sign.len() == 2 { is_doubled } else { rest.starts_with(sign) && !is_doubled }
            })?;
        let column = match sign.len() {
            1 => at.begin.column as usize,
            _ => code[..(at.begin.column as usize + 1).min(code.len())].rfind(sign)?,
        };
        let wrong = format!("Luau has no `{sign}` between numbers");
        told(column, &wrong, &format!("write `bit32.{function}(a, b)`; for two conditions write `and` or `or`"))
    }
}

/// Where a whole word begins in a line.
fn word_in(line: &str, word: &str) -> Option<usize> {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '"' | '\'' | '.');
    let whole = |at: &usize| !line[..*at].ends_with(part) && line[at + word.len()..].starts_with(char::is_whitespace);
    line.match_indices(word).map(|(at, _)| at).find(whole)
}
