//! Idioms of other environments that run Lua, with what a ruleset writes instead.

/// Globals of other environments: games on a platform, Tabletop Simulator, other versions of Lua.
pub(crate) const GLOBALS: &[(&str, &str)] = &[
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
    ("ChatMessage", "use rb.say, or rb.whisper(\"SEAT\", text), which the log keeps"),
    ("ui", "use rb.say, or rb.whisper(\"SEAT\", text), which the log keeps"),
    ("canvas", "all entities of a kind are `rb.each(\"KIND\")`; a place is a field of an entity"),
    ("Wait", "a rule does not wait: what comes later stands on the agenda, `rb.schedule(\"ENTRY\", \"+1\")`"),
    ("startLuaCoroutine", "a question stops the action by itself"),
    ("Turns", "the order of turns is the agenda: `rb.recur(\"ENTRY\", key, step, entity)`"),
    ("JSON", "a value is kept in a field of an entity as it is"),
    ("len", "`#` before it counts a list: #list"),
    (
        "self",
        "`self` is there in derived values; functions of cards take `ctx`, and the card is its parameter or `rb.card(id)`",
    ),
    ("range", "a loop counts by itself: `for n = 1, 10 do`"),
];

/// Functions of libraries that other versions of Lua have.
pub(crate) const MEMBERS: &[(&str, &str, &str)] = &[
    ("table", "getn", "the length of a list is `#list`"),
    ("table", "setn", "a list is as long as what stands in it: leave it out"),
    ("table", "foreach", "write `for key, value in list do`"),
    ("table", "foreachi", "write `for at, value in list do`"),
    ("table", "join", "write `table.concat(list, \", \")`"),
    ("table", "push", "write `table.insert(list, value)`"),
    ("table", "append", "write `table.insert(list, value)`"),
    ("table", "add", "write `table.insert(list, value)`"),
    ("table", "length", "the length of a list is `#list`"),
    ("table", "size", "the length of a list is `#list`"),
    ("table", "count", "the length of a list is `#list`"),
    ("table", "contains", "write `table.find(list, value) ~= nil`"),
    ("table", "indexOf", "write `table.find(list, value)`"),
    ("string", "gfind", "write `string.gmatch`"),
    ("math", "mod", "write `a % b`"),
];
