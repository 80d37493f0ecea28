//! Typical mistakes of rule authors, planted one at a time in correct rulesets: each is found in its file, at its line
//! or the next, with a remedy.
#![cfg(feature = "check")]

mod files;
#[path = "files/flow_mistakes.rs"]
mod flow_mistakes;
mod parallel;
#[path = "files/planted.rs"]
mod planted;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use flow_mistakes::{FLOW_MISTAKES, Mistake};
use parallel::on_every_core;
use planted::{Planted, all_findings, planted};
use riskbreaker::Library;
use riskbreaker::check::{findings, findings_at_save};

/// The beginning of the function of a card, and the same with a block in it.
const RESOLVE: &str = "resolve = function(ctx)";
macro_rules! in_resolve {
    ($opened:literal) => {
        concat!("resolve = function(ctx) ", $opened, " rb.say(\"yes\") end")
    };
}

const MISTAKES: &[Mistake] = &[
    // Names that one function of a card makes and another reads, a context for an entity, the keys of a table beside another
    (
        "riskbreaker-0.0.3/maneuvers/rescue.luau",
        "ctx.patient = care.ask_patient(ctx.actor)",
        "ctx.wounded = care.ask_patient(ctx.actor)",
        "did you mean `ctx.patient`?",
    ),
    (
        "silent-winter/maneuvers/treat.luau",
        "return { target = pick.target(ctx.actor, pick.others(ctx.actor)",
        "return { foe = pick.target(ctx.actor, pick.others(ctx.actor)",
        "`ask` of this card returns no `target`",
    ),
    (
        "silent-winter/maneuvers/treat.luau",
        "resolve = function(who, plan)\n\t\thealing.treat(who, plan.target)",
        "resolve = function(ctx)\n\t\thealing.treat(ctx.actor, ctx.target)",
        "write function(who, plan), who for ctx.actor, and plan.target for ctx.target",
    ),
    (
        "riskbreaker-0.0.3/lib/sense.luau",
        "sense.CAREFUL = { plenty = 3, stake = 2 }",
        "sense.CAREFUL = { plenty = 3, stakes = 2 }",
        "did you mean `stake`?",
    ),
    ("silent-winter/specs/rules/mounts.luau", "\"is mounted (SW-129)\"", "\"is riding (SW-129)\"", "no script says"),
    // Specs: expectations of nobody, faces of no die, reasons that no card gives, the list of another spec
    (
        "contest/specs/cases/wounds.luau",
        "t:expect({ Bob = { speed = 0 } })",
        "t:expect({ speed = 0 })",
        "`speed = 0` names nobody",
    ),
    ("contest/specs/cases/shots.luau", "t:dice(1)", "t:dice(0)", "no die shows 0"),
    (
        "silent-winter/specs/rules/mounts.luau",
        "\"is mounted (SW-129)\"",
        "\"is monted (SW-129)\"",
        "did you mean \"is mounted (SW-129)\"?",
    ),
    (
        "riskbreaker-0.0.1/specs/play.luau",
        "rb.spec(\"RB1-A-43: the GM removes one of several obstacles\", { \"RB1-A-43\" }",
        "rb.spec(\"RB1-A-43: the GM removes one of several obstacles\", { \"RB1-A-12\" }",
        "did you mean \"RB1-A-43\"?",
    ),
    // A section instead of a list of sections, and a key below the seats
    ("riskbreaker-0.0.1/scenarios/outside-combat.toml", "[[parties]]", "[parties]", "write [[parties]]"),
    (
        "silent-winter/ruleset.toml",
        "foes = \"Their foes\"\n",
        "foes = \"Their foes\"\nhomepage = \"https://example.org\"\n",
        "`homepage` is a key of the manifest, and here it is a seat",
    ),
    // Reports of conversions, keys of breaches, names in titles of cases, words for ids, plurals
    (
        "riskbreaker-0.0.3/convert/riskbreaker-0.0.1.luau",
        "\"level {}: worth {} points\", c.level, worth)",
        "\"level {}: worth {} points\", c.level)",
        "has 2 `{}`, and 1 value",
    ),
    ("silent-winter/creation.luau", "warning = true", "warn = true", "a breach has no `warn`"),
    (
        "rbf/specs/rules/attacks.luau",
        "is impossible with {weapon}",
        "is impossible with {weapons}",
        "did you mean `weapon`?",
    ),
    ("rbf/cast/pc_blade.toml", "\"expert_fighter\"", "\"expert fighter\"", "did you mean `expert_fighter`?"),
    ("riskbreaker-0.0.1/scenarios/outside-combat.toml", "[[parties]]", "[[party]]", "did you mean `parties`?"),
    // A reason that is nil where there is none
    (
        "silent-winter/maneuvers/partial_cover.luau",
        "return reason == nil, reason",
        "return reason",
        "write `return reason == nil, reason`",
    ),
    // A breach without its list, and numbers that nobody can give
    (
        "silent-winter/creation.luau",
        "return breaches",
        "return { rule = \"SW-062\", text = \"Pain needs a normal maximum\", warning = true }",
        "put it into braces",
    ),
    (
        "rbf/lib/by_hand.luau",
        "why = why, min = 0, max = 1000, default = default",
        "why = why, min = 1000, max = 0, default = default",
        "no number is at least 1000 and at most 0",
    ),
    (
        "rbf/lib/by_hand.luau",
        "min = 0, max = 100, default = item.tn",
        "min = 5, max = 100, default = 3",
        "from 5 to 100",
    ),
    // Functions of other files: values too few, of another kind, and texts with places
    (
        "silent-winter/maneuvers/wait.luau",
        "bonds.with(fight.waiting, who)",
        "bonds.with(fight.waiting)",
        "needs `one`, which is not given",
    ),
    (
        "silent-winter/lib/harm.luau",
        "harm.health(who, rb.roll(\"1d6\", \"{} bleeds\", who))",
        "harm.health(rb.roll(\"1d6\", \"{} bleeds\", who), who)",
        "`who` of `harm.health` must be an entity",
    ),
    (
        "contest/maneuvers/flee.luau",
        "tell_deed(\"{} flees\", ctx.unit)",
        "tell_deed(\"{} flees {}\", ctx.unit)",
        "has 2 `{}`, and 1 value",
    ),
    ("riskbreaker-0.0.1/maneuvers/tactics.luau", "-ctx.risk, \"loss\"", "-ctx.risk, \"los\"", "did you mean \"loss\"?"),
    (
        "riskbreaker-0.0.1/maneuvers/special.luau",
        "rb.say(\"{}\", ask.ruling(ctx))",
        "rb.say(ask.ruling(ctx))",
        "this text is computed",
    ),
    // A context where all other cards take a character; a step and a rule that are nowhere else; a value of a field that one
    // of its bounds fixes
    (
        "silent-winter/maneuvers/dismount.luau",
        "resolve = function(who)\n\t\tmounting.down(who)",
        "resolve = function(ctx)\n\t\tmounting.down(ctx.actor)",
        "write function(who), and who for ctx.actor",
    ),
    (
        "contest/maneuvers/reload.luau",
        "{ \"declare\", \"short\" }",
        "{ \"declared\", \"short\" }",
        "did you mean \"declare\"?",
    ),
    ("rbf/CHANGELOG.md", "- RBF-R-2:", "- RBF-R-22:", "the rule `RBF-R-22` is in no RULES.md"),
    ("rbf/verbs.luau", "math.max(0, target.hp - amount)", "math.min(0, target.hp - amount)", "write `math.max`"),
    // A division where a whole number is taken
    (
        "rbf/verbs.luau",
        "math.max(0, target.hp - amount)",
        "math.max(0, target.hp - amount / 2)",
        "`/` may give a fraction",
    ),
    // A function around a verb that drops what the verb gives
    (
        "house-second-roll/hooks/second_roll.luau",
        "return roll(e)\n\t\tend",
        "roll(e)\n\t\tend",
        "write `return` before it",
    ),
    (
        "house-second-roll/hooks/second_roll.luau",
        "return success\n",
        "return\n",
        "returns a value in other cases, and nothing here",
    ),
    ("house-second-roll/hooks/second_roll.luau", "return roll(e)\n\t\tend", "return roll()\n\t\tend", "needs `e`"),
    // Names of an event: those of its verb, `result` once it has run, and what hooks write into it
    ("house-armour/hooks/armour.luau", "e.amount", "e.bonus", "is given no `bonus`"),
    ("house-armour/hooks/armour.luau", "e.amount", "e.result", "is there only after"),
    // A topic that no question has, in a spec
    (
        "riskbreaker-0.0.1/specs/play.luau",
        "t:answer(\"caught\", { \"Y\" })",
        "t:answer(\"inspected\", { \"Y\" })",
        "no question has the topic `inspected`",
    ),
    // An order in which equal elements come before each other
    ("rbf/lib/catalog.luau", "return a.id < b.id", "return a.id <= b.id", "write `<`"),
    // The same field twice in a row
    ("contest/verbs.luau", "unit:set(\"y\", y)", "unit:set(\"x\", y)", "is written twice in a row"),
    // A conversion that asks
    (
        "riskbreaker-0.0.1/convert/riskbreaker-0.0.3.luau",
        "local quiet = not fights.any_running()",
        "local quiet = rb.confirm({ seat = \"gm\", topic = \"declare\", why = \"Well?\", default = true })",
        "can neither ask nor roll",
    ),
    // Facts that no script knows, dice that are none, and a title that was copied
    ("contest/items/sword.luau", "row = \"cutting\"", "row = \"slashing\"", "no script knows the row"),
    ("rbf/maneuvers/telekinesis.luau", "cost = \"bonus\"", "cost = \"bonus action\"", "no script knows the cost"),
    ("silent-winter/items/healing_draught.luau", "heals = \"2d6\"", "heals = \"2w6\"", "is rolled and is no dice"),
    ("contest/items/spear.luau", "title = \"Spear\"", "title = \"Sword\"", "has the title"),
    // Parameters of a card, exchanged
    (
        "silent-winter/maneuvers/treat.luau",
        "resolve = function(who, plan)",
        "resolve = function(plan, who)",
        "write function(who, plan)",
    ),
    // A scenario whose first entry fails
    ("silent-winter/scenarios/wall.toml", "does = \"spark\"", "does = \"sparc\"", "sparc"),
    // Rule texts
    ("silent-winter/RULES.md", "- **SW-160** ", "- **SW-990** ", "write `SW-160`"),
    ("house-critical/RULES.md", "(switch `critical", "(switch `critics", "there is no switch"),
    // Values that may be nil
    (
        "contest/lib/plan.luau",
        "if pair and pair.reach ~= \"plan\" then",
        "if pair.reach ~= \"plan\" then",
        "`if pair then`",
    ),
    (
        "silent-winter/lib/arms.luau",
        "local own = who.attack_bonus[id] or 0",
        "local own = who.attack_bonus[id]",
        "need not have an entry for this key",
    ),
    (
        "rbf/lib/conditions.luau",
        "return if grapple then grapple.by else nil",
        "return grapple.by",
        "gives nil if it finds nothing",
    ),
    // A list of an entity, by the name of the variable that holds the entity
    (
        "silent-winter/lib/items.luau",
        "local kit = table.clone(who.kit)\n\ttable.remove(kit, table.find(kit, id))\n\twho:set(\"kit\", kit)",
        "table.remove(who.kit, table.find(who.kit, id))",
        "copy it by table.clone",
    ),
    (
        "rbf/lib/people.luau",
        "actor.side == \"enemy\" or",
        "actor.side == \"enemies\" or",
        "`side` is never \"enemies\"",
    ),
    // A narrower condition behind a wider one
    (
        "rbf/lib/degree.luau",
        "if margin >= math.max(least, LINE - steps) then\n\t\treturn \"critical\"\n\telseif margin >= least then",
        "if margin >= least then\n\t\treturn \"critical\"\n\telseif margin >= math.max(least, LINE - steps) then",
        "takes all cases of this one",
    ),
    // Characters that no scenario uses, texts that are no ids, topics and faces
    ("contest/cast/dragon.toml", "armor_type = \"plate\"", "armor_type = \"scales\"", "not scales (CON-159)"),
    (
        "contest/policies/nimble.luau",
        "pick_id(q, \"flee\")",
        "pick_id(q, \"run\")",
        "is the id of no card and no option",
    ),
    ("contest/ruleset.toml", "weapon = \"weapon\"", "weapon = \"weapons\"", "did you mean `weapon`?"),
    ("riskbreaker-0.0.1/specs/maneuvers/kill_damage.luau", "t:dice(", "t:dice(27, ", "no die of these rules shows 27"),
    (
        "silent-winter/maneuvers/mount_up.luau",
        "#mounting.free(ctx.actor) > 0",
        "#mounting.free(ctx) > 0",
        "did you mean `ctx.actor`?",
    ),
    // A name without the parameter that has it, and names of other environments
    (
        "contest/maneuvers/flee.luau",
        "tell_deed(\"{} flees\", ctx.unit)",
        "tell_deed(\"{} flees\", unit)",
        "did you mean `ctx.unit`?",
    ),
    (
        "tug/kinds.luau",
        "rb.sum(\"strength\", self.strength)",
        "rb.sum(\"strength\", strength)",
        "did you mean `self.strength`?",
    ),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("ChatMessage.create({}) do"), "use rb.say"),
    ("silent-winter/lib/arms.luau", "local function best(", "function best(", "write `local function best`"),
    // Conditions that are always true, or never
    ("contest/lib/speeds.luau", "if a.speed ~= b.speed then", "if a.speed ~= a.speed then", "both sides are the same"),
    ("contest/maneuvers/attack.luau", "if #turn.in_reach(ctx.unit) == 0", "if not #turn.in_reach(ctx.unit)", "== 0`"),
    (
        "tug/maneuvers/rest.luau",
        RESOLVE,
        in_resolve!("if rb.roll(\"1d6\", \"luck\") > 6 then"),
        "gives 1 to 6, so this is never true",
    ),
    (
        "tug/maneuvers/rest.luau",
        RESOLVE,
        in_resolve!("local n = rb.roll(\"2d6+1\", \"luck\") if 3 <= n then"),
        "gives 3 to 13, so this is always true",
    ),
    // A loop that ends in its first round, and patterns
    (
        "silent-winter/lib/mounting.luau",
        "table.insert(list, other)\n\t\tend\n\tend\n\treturn list\n",
        "table.insert(list, other)\n\t\tend\n\t\treturn list\n\tend\n\treturn list\n",
        "ends the loop in its first round",
    ),
    (
        "tug/maneuvers/rest.luau",
        RESOLVE,
        in_resolve!("if string.match(ctx.actor.name, \"^\\\\d\") then"),
        "write \"^%d\"",
    ),
    // What a list or an attachment has
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if math.min(3, rb.each(\"puller\")) > 2 then"), "`#` before it"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if table.join({ \"a\" }, \", \") == \"a\" then"), "table.concat"),
    (
        "tug/maneuvers/rest.luau",
        RESOLVE,
        in_resolve!("for _, a in rb.attached(ctx.actor) do local _ = a.left"),
        "and no `left`",
    ),
    (
        "tug/maneuvers/rest.luau",
        RESOLVE,
        in_resolve!("for _, a in rb.attached(ctx.actor) do if a.id == \"x\" then return end"),
        "`.hook`",
    ),
    (
        "tug/maneuvers/rest.luau",
        RESOLVE,
        in_resolve!("local _, rest = rb.draw(rb.each(\"puller\")) if rest.name == \"Ann\" then"),
        "is a list, and has no `name`",
    ),
    // Specs
    (
        "silent-winter/specs/rules/other_actions.luau",
        "card = \"treat_self\", dice = { 1, 20 }, ready = 23",
        "card = \"treat_self\", dice = { 1, 20 }, raedy = 23",
        "did you mean `ready`?",
    ),
    (
        "riskbreaker-0.0.3/convert/riskbreaker-0.0.1.luau",
        "change.carried(",
        "change:carried(",
        "write a dot: `.carried(...)`",
    ),
    // Words of data that no other file has there
    ("silent-winter/scenarios/wall.toml", "does = \"spark\"", "does = \"sparc\"", "did you mean `spark`?"),
    ("rbf/cast/thug.toml", "side = \"enemy\"", "side = \"enemies\"", "nothing else has the side `enemies`"),
    ("contest/scenarios/ford.toml", "\"soldier at 25, 2\"", "\"solider at 25, 2\"", "did you mean `soldier`?"),
    ("contest/maneuvers/chase.luau", "steps = { \"declare\" }", "steps = { \"declair\" }", "did you mean \"declare\"?"),
    // Habits of other languages
    (
        "contest/maneuvers/move.luau",
        "is in the reach of {enemy.name} (CON-AMB-43)",
        "is in the reach of ${enemy.name} (CON-AMB-43)",
        "leave out `$`",
    ),
    (
        "contest/lib/speeds.luau",
        "return a.who.joined < b.who.joined",
        "return a.who.joined - b.who.joined",
        "write `a.who.joined < b.who.joined`",
    ),
    (
        "silent-winter/lib/items.luau",
        "table.remove(kit, table.find(kit, id))",
        "table.remove(kit, id)",
        "takes the place",
    ),
    ("silent-winter/lib/arms.luau", "table.insert(list, id)", "list.append(id)", "write `table.insert(list, id)`"),
    ("riskbreaker-0.0.3/lib/chart.luau", "for i = 1, tier do", "for i = 0, tier do", "begin the loop with 1"),
    ("silent-winter/lib/guard.luau", "return not states.can_move(who)", "return not states.can_move", "is a function"),
    ("rbf/maneuvers/reload.luau", "if #empty(ctx.actor) == 0", "if len(empty(ctx.actor)) == 0", "`#` before it"),
    ("contest/maneuvers/flee.luau", "elseif ctx.unit:speed()", "elif ctx.unit:speed()", "write `elseif`"),
    // Defaults of questions
    ("contest/lib/running.luau", "\t\tdefault = true,\n\t}) then", "\t\tdefault = \"no\",\n\t}) then", "write false"),
    ("riskbreaker-0.0.1/lib/free_acts.luau", "default = 0,", "default = \"none\",", "expected a number"),
    ("riskbreaker-0.0.1/lib/calculation.luau", "default = {},", "default = \"none\",", "expected a list"),
    // Missing fields of questions, and answers that no option has
    (
        "contest/lib/running.luau",
        "seat = unit.side.seat,\n\t\ttopic = \"open_melee\"",
        "topic = \"open_melee\"",
        "lacks `seat`",
    ),
    (
        "riskbreaker-0.0.1/play.luau",
        "options = { \"wait\", \"battle\", \"end\" }",
        "options = { wait = \"Wait\", battle = \"A battle\" }",
        "`options` is a list",
    ),
    ("riskbreaker-0.0.1/play.luau", "next_thing == \"battle\"", "next_thing == \"A battle\"", "did you mean `battle`?"),
    (
        "riskbreaker-0.0.1/play.luau",
        "options = { \"wait\", \"battle\", \"end\" }",
        "options = { \"wait\", \"end\", \"end\" }",
        "two options are called `end`",
    ),
    ("riskbreaker-0.0.1/play.luau", "next_thing == \"end\"", "next_thing == \"wait\" or \"end\"", "always true"),
    // House rules cannot be set by scripts
    (
        "house-critical/hooks/critical.luau",
        "rb.say(\"a critical success of {}\", e.actor)",
        "rb.switches.critical_gain = 2",
        "a script changes no house rule",
    ),
    // Hooks
    (
        "house-critical/hooks/critical.luau",
        "rb.say(\"a critical success of {}\", e.actor)",
        "e.needs -= 1",
        "a change of `needs` comes too late",
    ),
    (
        "house-armour/hooks/armour.luau",
        "local soaked =",
        "rb.act.inflict_kill(e.target, 1, e.source)\n\t\t\tlocal soaked =",
        "it is called without end",
    ),
    ("house-armour/hooks/armour.luau", "e.source ~= e.target", "e.target ~= \"Ann\"", "are never equal"),
    ("house-armour/hooks/armour.luau", "inflict_kill = function", "wound = function", "known: "),
    // Declarations of verbs
    (
        "riskbreaker-0.0.1/lib/obstacles.luau",
        "rb.act.bar_way(who, beyond, rounds, what)",
        "rb.act.bar_way(who, beyond, rounds, \"delays\")",
        "did you mean `delay`?",
    ),
    (
        "riskbreaker-0.0.1/maneuvers/maneuver.luau",
        "rb.act.owe(ctx.actor, if success then places.award(ctx) else -ctx.risk, ctx.from)",
        "rb.act.owe_side(ctx.actor, -1)",
        "did you mean `ctx.actor.side`?",
    ),
    (
        "riskbreaker-0.0.3/lib/goals.luau",
        "rb.act.invest(goal, math.min(ctx.risk, goal:remaining()), ctx.actor)",
        "rb.act.invest(goal, \"1\" .. 1, ctx.actor)",
        "must be a whole number, and this is a text",
    ),
    (
        "silent-winter/verbs.luau",
        "rb.act.helpless(who, \"Stunned\")",
        "rb.act.helpless(who, \"Stuned\")",
        "did you mean `Stunned`?",
    ),
    (
        "riskbreaker-0.0.1/verbs.luau",
        "function(below, character)",
        "function(character)",
        "write function(below, character)",
    ),
    // Options of fields
    (
        "silent-winter/kinds.luau",
        "sides = rb.int({ min = 0, show = false })",
        "sides = rb.int({ min = 0, show = \"no\" })",
        "true or false",
    ),
    ("contest/cast/dragon.toml", "agility = 4", "agility = \"4\"", "as it is in every other file of cast/"),
    ("contest/kinds.luau", "\"end\", \"over\" }", "\"end\", \"over\", \"end\" }", "names the value `end` twice"),
    // Arguments in the wrong order, answers that no question takes
    ("contest/policies/nimble.luau", "pick_id(q, \"flee\")", "pick_id(\"flee\", q)", "it is sense.pick_id(q, id)"),
    (
        "silent-winter/maneuvers/treat.luau",
        "pick.target(ctx.actor, pick.others(ctx.actor),",
        "pick.target(pick.others(ctx.actor), ctx.actor,",
        "it is pick.target(",
    ),
    ("rbf/maneuvers/cleave.luau", "choose(ctx, adjacent(ctx))", "choose(adjacent(ctx), ctx)", "it is seconds.choose("),
    ("rbf/verbs.luau", "ground.adjacent(c.who, c.by)", "ground.adjacent(c.who)", "it is ground.adjacent(a, b)"),
    (
        "riskbreaker-0.0.3/maneuvers/delay.luau",
        "for _, c in ipairs(ctx.targets)",
        "for c in ipairs(ctx.targets)",
        "this is a number",
    ),
    ("riskbreaker-0.0.1/verbs.luau", "amount * side.sign", "amount * side", "`*` wants numbers"),
    (
        "riskbreaker-0.0.1/verbs.luau",
        "add(\"owed\", amount)",
        "add(\"owed\", side)",
        "expected a number, found an entity",
    ),
    (
        "contest/lib/sides.luau",
        "table.find(friend.turn.fought, target)",
        "table.find(target, friend.turn.fought)",
        "table.find(list, value)",
    ),
    ("rbf/maneuvers/reload.luau", "insert(list, weapon)", "insert(weapon, list)", "table.insert(list, value)"),
    (
        "silent-winter/verbs.luau",
        "who:set(\"engages\", bonds.with(who.engages, foe))",
        "bonds.with(who.engages, foe)",
        "what it gives back is not used",
    ),
    ("contest/policies/steady.luau", "return sense.detail(q)", "sense.detail(q)", "write `return` before it"),
    (
        "silent-winter/maneuvers/throw.luau",
        "return false, reason",
        "return reason, false",
        "write `return false, reason`",
    ),
    ("rbf/verbs.luau", "rb.each(\"condition\", { by", "rb.each({ by", "is given no kind"),
    ("rbf/verbs.luau", "what = \"grappled\" }", "what = \"grapled\" }", "did you mean \"grappled\"?"),
    ("contest/maneuvers/melee.luau", "steps = { \"answer\" }", "steps = { \"anwser\" }", "did you mean \"answer\"?"),
    ("contest/items/battleaxe.luau", "form = \"blunt\"", "form = \"blutn\"", "did you mean \"blunt\"?"),
    ("contest/policies/random.luau", "\"choose_many\"", "\"choose_meny\"", "did you mean `choose_many`?"),
    ("silent-winter/scenarios/duel.toml", "[seats]", "[seat]", "did you mean `seats`?"),
    // A value of another type instead of an entity, a list or an element of it
    (
        "contest/maneuvers/melee.luau",
        "for _, foe in ipairs(foes) do",
        "for foe in ipairs(foes) do",
        "write `for _, foe in`",
    ),
    (
        "tug/maneuvers/rest.luau",
        RESOLVE,
        "resolve = function(ctx) local function open(n: number) return { n } end rb.choose({ seat = \"left\", topic = \"carda\", options = open })",
        "handed the question",
    ),
    ("silent-winter/lib/focus.luau", "default = held[1]", "default = held", "the default is one of the options"),
    ("silent-winter/maneuvers/treat.luau", "healing.treat(", "healing:treat(", "write a dot"),
    ("rbf/maneuvers/cleave.luau", "{ \"long_blade\" }", "{ \"longblade\" }", "did you mean \"long_blade\"?"),
    ("rbf/maneuvers/draw.luau", "default = \"alone\"", "default = function() end", "this is a function"),
    ("riskbreaker-0.0.1/lib/care.luau", "options = patients,", "options = function() end,", "returns nothing"),
    ("contest/maneuvers/melee.luau", "foes[1])", "foes[#foes + 1])", "always nil"),
    ("silent-winter/lib/focus.luau", "default = held[1]", "default = held[#held + 1]", "list[#list]"),
    ("rbf/maneuvers/cleave.luau", "other ~= ctx.target", "other.id ~= ctx.target", "without `.id`"),
    ("rbf/lib/turns.luau", "{ by = actor, ends", "{ by = actor.id, ends", "the field `by` takes an entity"),
    ("contest/maneuvers/melee.luau", "if new > 0 then", "if foes > 0 then", "count a list with `#`"),
    ("contest/maneuvers/melee.luau", "if new > 0 then", "if ctx.attackers > 2 then", "count a list with `#`"),
    ("riskbreaker-0.0.3/maneuvers/delay.luau", "if ctx.place then", "if ctx.targets > 2 then", "count a list with `#`"),
    ("rbf/maneuvers/attack.luau", "deck = \"action\"", "deck = \"actions\"", "did you mean \"action\"?"),
    ("rbf/maneuvers/blind.luau", "rb.act.lay(", "rb.say(ctx.seat) rb.act.lay(", "`ctx.actor.seat`"),
    (
        "riskbreaker-0.0.3/maneuvers/delay.luau",
        "local function take_effect(ctx)",
        "local function take_effect(ctx) rb.say(\"{}\", ctx.seat)",
        "`ctx.actor.seat`",
    ),
    (
        "silent-winter/maneuvers/treat.luau",
        "return { target =",
        "local plan = { target =",
        "the fact `ask` returns nothing",
    ),
    ("riskbreaker-0.0.1/scenarios/duel.toml", "name = \"Defender\"", "name = 5", "takes a text"),
    ("riskbreaker-0.0.1/scenarios/duel.toml", "seat = \"foes\"", "seat = true", "takes a text"),
    ("riskbreaker-0.0.1/scenarios/duel.toml", "members = [\"fighter\"]", "members = \"fighter\"", "table expected"),
    ("riskbreaker-0.0.3/scenarios/stairway.toml", "at gallery; idle\"]", "at gallery; idleqq\"]", "idleqq belongs to"),
    ("contest/scenarios/duel.toml", "knight at 1, 0", "knight at 1, 0qq", "`at` of Knight"),
    (
        "house-taunt/maneuvers/taunt.luau",
        "rb.act.provoke(ctx.targets[1], ctx.actor)",
        "ctx.targets[1].taunter = ctx.actor",
        "declare it in kinds.luau",
    ),
    (
        "riskbreaker-0.0.3/hooks/watch.luau",
        "rb.act.set_off(holder.owner, { e.target })",
        "rb.act.set_off(holder, { e.target })",
        "`.owner`",
    ),
    ("rbf/verbs.luau", "rb.remove(condition)", "rb.remove(condition.id)", "without `.id`"),
    ("rbf/maneuvers/cleave.luau", "table.insert(list, other)", "list[#list] = other", "table.insert(list, value)"),
    ("rbf/maneuvers/reload.luau", "require(\"lib/gear\")", "require(\"gear\")", "did you mean `lib/gear`?"),
    ("tug/maneuvers/rest.luau", "require(\"@riskbreaker\")", "require(\"riskbreaker\")", "`@riskbreaker`"),
    ("house-armour/hooks/armour.luau", "e.amount -= soaked", "e.amount =- soaked", "write `-=`"),
    ("riskbreaker-0.0.3/hooks/watch.luau", "if #caught > 0 then", "if #caught >= 0 then", "always true"),
    // Mistakes that look plausible
    ("tug/verbs.luau", "rope:add(\"at\", by)", "rope:add(\"at\", math.clamp(by, 2, -2))", "least, greatest"),
    (
        "tug/maneuvers/rest.luau",
        "ctx.actor:add(\"rests\", 1)",
        "local n = table.sort({ 2, 1 })",
        "on a line of its own",
    ),
    (
        "tug/kinds.luau",
        "rb.sum(\"strength\", self.strength) +",
        "rb.sum(\"strength\", self.strength) ..",
        "are added with `+`",
    ),
    ("tug/maneuvers/rest.luau", "rests >= 2", "rests >= \"2\"", "without quotes"),
    ("rbf/verbs.luau", "if actor.overwatch > 0 then", "if actor.overwatch then", "always has a value"),
    ("silent-winter/verbs.luau", "#who.engages > 0 then", "who.engages then", "always has a value"),
    // Syntax errors
    ("contest/play.luau", "unit:melee_combat()", "unit:melee_combat", "`unit:name()`"),
    ("contest/play.luau", "sum += if", "sum =+ if", "`n += 1`"),
    ("silent-winter/maneuvers/attack.luau", "\treturn talent\nend\n", "\treturn talent\n", "`end`"),
    ("tug/maneuvers/pull.luau", "title = \"Pull\",", "title = \"Pull\"", "put a comma"),
    ("tug/maneuvers/pull.luau", "title = \"Pull\",", "title = \"Pull,", "close the text"),
    ("tug/maneuvers/pull.luau", "title = \"Pull\"", "title: \"Pull\"", "around `=`, not `:`"),
    ("tug/maneuvers/rest.luau", "rests >= 2 then", "rests = 2 then", "`==`"),
    ("tug/maneuvers/rest.luau", "rests >= 2 then", "rests >= 2", "ends with `then`"),
    ("tug/maneuvers/rest.luau", "rests >= 2 then", "rests != 2 then", "`~=`"),
    ("tug/maneuvers/rest.luau", "rests >= 2 then", "rests >= 2 && true then", "write `and`"),
    ("tug/maneuvers/rest.luau", "ctx.actor:add(\"rests\", 1)", "ctx.actor.rests++", "n += 1"),
    ("tug/maneuvers/rest.luau", "\t\treturn true", "\t\ttrue", "is `return` missing"),
    ("tug/maneuvers/rest.luau", "resolve = function(ctx)", "resolve = function ctx", "in brackets"),
    ("tug/maneuvers/rest.luau", "return rb.maneuver", "// a card\nreturn rb.maneuver", "a comment begins with `--`"),
    ("tug/specs/maneuvers/rest.luau", "t:given(\"two\")", "t:given(\"two\"", "write `)`"),
    // Names
    ("tug/maneuvers/pull.luau", "(won and", "(wno and", "did you mean `won`?"),
    ("tug/verbs.luau", "finish(\"{} has won\", who)", "finish(\"{} has won\", whom)", "did you mean `who`?"),
    ("tug/maneuvers/rest.luau", "rests >= 2", "rests >= null", "Luau writes `nil` for it"),
    ("contest/play.luau", "local deck = require(\"lib/deck\")\n", "", "require(\"lib/deck\")"),
    ("contest/verbs.luau", "require(\"lib/wounds\")", "require(\"lib/wonds\")", "lib/wounds"),
    ("contest/verbs.luau", "wounds.edged[at]", "wounds.edgd[at]", "did you mean `edged`?"),
    ("silent-winter/maneuvers/attack.luau", "rolls.opposed(", "rolls.oposed(", "did you mean `opposed`?"),
    ("silent-winter/maneuvers/attack.luau", "rb.act.stun(", "rb.act.stunn(", "did you mean `stun`?"),
    ("silent-winter/maneuvers/attack.luau", "actor.engaging\n", "actor.engagin\n", "did you mean `engaging`?"),
    ("silent-winter/maneuvers/attack.luau", "actor:winded()", "actor:widned()", "did you mean `winded`?"),
    ("silent-winter/maneuvers/attack.luau", "actor:winded()", "actor.winded", "`:winded()`"),
    ("silent-winter/kinds.luau", "self.pain <= 0", "self.pian <= 0", "did you mean `pain`?"),
    ("contest/play.luau", "other.seat ~= unit.seat", "other.seet ~= unit.seat", "did you mean `seat`?"),
    ("contest/maneuvers/melee_strike.luau", "ctx.against\n", "ctx.agianst\n", "did you mean `against`?"),
    ("contest/verbs.luau", "unit:set(\"dead\", true)", "unit:set(\"daed\", true)", "did you mean `dead`?"),
    ("contest/play.luau", "\"round_end\", { round, 9 }", "\"round_and\", { round, 9 }", "did you mean `round_end`?"),
    (
        "rbf/hooks/overwatch.luau",
        "e.who:out() then\n\t\t\t\trb.cut(\"{} is out",
        "e.whom:out() then\n\t\t\t\trb.cut(\"{} is out",
        "did you mean `who`?",
    ),
    ("rbf/hooks/overwatch.luau", "\t\tstep = function", "\t\tstepp = function", "did you mean `step`?"),
    ("rbf/hooks/overwatch.luau", "\tafter = {", "\taftr = {", "did you mean `after`?"),
    // Values of the wrong type
    ("tug/maneuvers/rest.luau", "rb.say(\"{} rests\", ctx.actor)", "rb.say(5)", "expected a text"),
    (
        "tug/maneuvers/rest.luau",
        "rb.say(\"{} rests\", ctx.actor)",
        "rb.say(\"rests\" + 1)",
        "texts are put together with `..`",
    ),
    ("tug/maneuvers/rest.luau", "rests >= 2", "rests >= 2 and 2 > \"1\"", "without quotes"),
    ("tug/verbs.luau", "rope:add(\"at\", by)", "rope:add(\"at\", \"by\")", "expected a number"),
    ("tug/verbs.luau", "rope:add(\"at\", by)", "rope:add(\"at\")", "is missing"),
    ("tug/play.luau", "else -rb.first(\"rope\").at", "else -rb.first(\"rope\")", "`-` wants a number"),
    ("tug/kinds.luau", "rb.sum(\"strength\", self.strength) +", "self.name +", "`+` wants numbers"),
    (
        "tug/kinds.luau",
        "rb.sum(\"strength\", self.strength)",
        "rb.sum(self.strength, \"strength\")",
        "comes before its number",
    ),
    ("tug/maneuvers/rest.luau", "return true", "return #2 > 1", "`#` counts"),
    (
        "tug/maneuvers/rest.luau",
        "ctx.actor.rests >= 2",
        "rb.sum(\"rests\", 2) == 2",
        "compare the number of the sum: sum.total",
    ),
    ("tug/kinds.luau", "rb.sum(\"strength\", self.strength) +", "math.max(1, rb.sum(\"a\", 1)) +", "`sum:least(0"),
    ("contest/verbs.luau", "unit:set(\"dead\", true)", "unit:set(\"dead\", \"yes\")", "true or false"),
    ("contest/verbs.luau", "unit:set(\"dead\", true)", "unit.set(\"dead\", true)", "a colon"),
    ("contest/play.luau", "unit:set(\"answer\", \"\")", "unit.answer = \"\"", "write :set(\"answer\", value)"),
    ("contest/play.luau", "decisive_everywhere == \"on\"", "decisive_everywhere == \"no\"", "did you mean \"off\"?"),
    ("contest/play.luau", "decisive_everywhere == \"on\"", "decisive_everywhere == true", "it is off or on"),
    ("contest/lib/armour.luau", "\"none\"", "\"nonne\"", "did you mean `none`?"),
    // Calls
    (
        "tug/maneuvers/pull.luau",
        "ctx.actor.pull, ctx.actor)",
        "ctx.actor.pull, ctx.actor, 1)",
        "takes 3 values, 4 given",
    ),
    (
        "tug/maneuvers/pull.luau",
        "(ctx.rope, (won and risk or -risk) * ctx.actor.pull, ctx.actor)",
        "()",
        "needs `rope`",
    ),
    ("contest/play.luau", "if evades(unit) then", "if evades() then", "needs `unit`"),
    ("contest/play.luau", "attackers_of(unit), enemies", "attackers_of(unit, 2), enemies", "takes one value, 2 given"),
    ("silent-winter/maneuvers/attack.luau", "choose_talent(actor)\n\t\trb", "choose_talent()\n\t\trb", "needs `actor`"),
    ("contest/play.luau", "if evades(unit) then", "if evades then", "so is always true"),
    ("tug/maneuvers/rest.luau", "rb.say(\"{} rests\", ctx.actor)", "rb.say(\"{} rests\")", "one value for each"),
    ("tug/maneuvers/rest.luau", "rb.say(", "rb:say(", "write rb.say"),
    // Cards, hooks, kinds, verbs
    ("tug/maneuvers/rest.luau", "title = \"Rest\"", "title = 5", "in quotes"),
    ("tug/maneuvers/rest.luau", "rules = { \"TUG-2\" }", "rules = \"TUG-2\"", "in braces"),
    ("tug/maneuvers/rest.luau", "id = \"rest\"", "id = \"rset\"", "write id = \"rest\""),
    ("tug/maneuvers/rest.luau", "return rb.maneuver", "return rb.hook", "return rb.maneuver"),
    ("contest/maneuvers/melee_strike.luau", "step = \"advantage\"", "step = 2", "in quotes"),
    ("contest/maneuvers/melee_strike.luau", "step = \"advantage\"", "step = \"advantge\"", "no script knows the step"),
    ("contest/items/sword.luau", "penetration =", "penetraton =", "did you mean `penetration`?"),
    ("contest/items/sword.luau", "\tform = \"edged\",\n", "", "add form"),
    ("rbf/hooks/overwatch.luau", "title = \"Overwatch\"", "title = \"Overwatch\", priority = \"10\"", "priority = 10"),
    (
        "house-armour/kinds.luau",
        "local lines = below(self)",
        "self:set(\"armour\", 2) local lines = below(self)",
        "only read",
    ),
    ("tug/kinds.luau", "default = 5", "default = \"5\"", "write 5 without quotes"),
    ("tug/kinds.luau", "default = 5", "default = 11", "write default = 10, or max = 11"),
    ("tug/kinds.luau", "default = 5", "defalt = 5", "misspelling"),
    ("tug/kinds.luau", "min = 0, max = 10", "min = \"0\", max = 10", "without quotes"),
    ("tug/kinds.luau", "title = \"name\"", "title = \"nmae\"", "did you mean `name`?"),
    ("silent-winter/kinds.luau", "rb.ref(\"character\"),", "rb.ref(\"charakter\"),", "did you mean `character`?"),
    ("silent-winter/kinds.luau", "rb.list(rb.text())", "rb.list(\"text\")", "rb.text()"),
    // Questions and the agenda
    ("tug/maneuvers/pull.luau", "min = 1, max = 3", "min = \"1\", max = 3", "expected a number"),
    ("bluff/play.luau", "audience = \"gm\", why", "audience = 5, why", "expected a text, found a number"),
    ("tug/play.luau", "options = rb.options(rb.card_ids, ctx),\n", "", "lacks `options`"),
    ("contest/play.luau", "ask = \"confirm\"", "ask = \"confrim\"", "did you mean `confirm`?"),
    ("riskbreaker-0.0.1/lib/channelling.luau", "then kept else open", "then kept else opne", "did you mean `open`?"),
    ("tug/play.luau", "\"rope.at\" }", "\"rope.ta\" }", "did you mean `rope.at`?"),
    // The manifest
    ("tug/ruleset.toml", "version = \"1.0.0\"", "version = 1.0.0", "in quotes"),
    ("tug/ruleset.toml", "scenario = \"two\"", "scenaro = \"two\"", "did you mean `scenario`?"),
    ("tug/ruleset.toml", "default = 3", "default = 30", "1 to 20"),
    ("contest/ruleset.toml", "[\"CON-AMB-12\"]", "[\"CON-AMB-99\"]", "RULES.md"),
    // Data
    ("contest/scenarios/three.toml", "agility = 4\narmor = 6", "agilty = 4\narmor = 6", "did you mean `agility`?"),
    ("contest/scenarios/three.toml", "base = 10", "base = \"ten\"", "a whole number"),
    ("contest/scenarios/three.toml", "\"plate\"", "\"plat\"", "plate"),
    ("contest/scenarios/three.toml", "\"sledgehammer\"", "\"sledgehamer\"", "did you mean `sledgehammer`?"),
    ("contest/scenarios/three.toml", "seat = \"left\"", "seat = \"lefft\"", "did you mean `left`?"),
    ("contest/scenarios/three.toml", "missile = \"bow\"", "missile = bow", "in quotes"),
    ("silent-winter/scenarios/duel.toml", "\"power_strike\"", "\"power_strik\"", "did you mean `power_strike`?"),
    ("riskbreaker-0.0.1/scenarios/duel.toml", "foes = \"careful\"", "foes = \"carefull\"", "did you mean `careful`?"),
    ("riskbreaker-0.0.1/scenarios/duel.toml", "[\"fighter\"]", "[\"figther\"]", "fighter"),
    // Specs
    ("tug/specs/maneuvers/pull.luau", "t:play(\"Ann\", \"pull\"", "t:play(\"pull\"", "who plays it is missing"),
    ("tug/specs/maneuvers/pull.luau", "t:play(\"Ann\", \"pull\"", "t:play(\"Ann\", \"pul\"", "did you mean `pull`?"),
    ("tug/specs/maneuvers/pull.luau", "{ risk = 2 }", "{ risc = 2 }", "did you mean `risk`?"),
    ("tug/specs/maneuvers/pull.luau", "rope = { at = -2 }", "rope = { att = -2 }", "did you mean `at`?"),
    ("tug/specs/maneuvers/pull.luau", "Bob = \"unchanged\"", "Bob = \"unchangd\"", "did you mean `unchanged`?"),
    ("tug/specs/maneuvers/pull.luau", "t:dice(5)", "t.dice(5)", "write t:dice"),
    ("tug/specs/maneuvers/rest.luau", "t:given(\"two\")", "t:given(\"twoo\")", "did you mean `two`?"),
    ("contest/specs/strikes.luau", "t:titles(\"injury\"), {", "t:titles(\"injry\"), {", "did you mean `injury`?"),
    ("contest/specs/strikes.luau", "t:run(\"round_end\")", "t:run(\"round_and\")", "did you mean `round_end`?"),
    (
        "house-taunt/specs/riskbreaker-0.0.1/taunt.luau",
        "t:play(\"Foe\", \"pass\")",
        "t:play(\"Fo\", \"pass\")",
        "did you mean `Foe`?",
    ),
    ("house-armour/specs/riskbreaker-0.0.1/armour.luau", "\"armour_limit\", 4", "\"armour_limit\", 9", "1 to 5"),
    // Endless loops, and functions without a result
    ("riskbreaker-0.0.1/lib/test.luau", "\treturn \"muscle\"", "\tlocal _ = \"muscle\"", "must return a value"),
    (
        "riskbreaker-0.0.1/lib/channelling.luau",
        "return channelling",
        "local function five(): number if 1 > 2 then return 5 end end\nreturn channelling",
        "must return a value",
    ),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) local n = 0 while n < 3 do rb.say(\"x\") end",
        "this loop never ends",
    ),
    ("tug/maneuvers/rest.luau", "resolve = function(ctx)", "resolve = function(ctx) local n = 1 + nil", "this is nil"),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) local NAMES = { a = 1 } local n = NAMES[1]",
        "the keys of `NAMES` are texts",
    ),
    ("riskbreaker-0.0.1/lib/test.luau", "DIE = \"1d10\"", "DIE = \"1d1O\"", "are no dice"),
    (
        "riskbreaker-0.0.1/lib/action.luau",
        "ctx.side, ctx.risk, \"risk\"",
        "ctx.risk, ctx.side, \"risk\"",
        "`side` stands in the place of `amount`",
    ),
    (
        "riskbreaker-0.0.1/lib/action.luau",
        "ctx.side, ctx.risk, \"risk\"",
        "ctx.side, \"risk\", ctx.risk",
        "`amount` of `rb.act.shift_advantage` must be a whole number",
    ),
    (
        "riskbreaker-0.0.1/verbs.luau",
        "rb.act.end_fight(side.fight)",
        "rb.act.end_fight(\"fight\")",
        "must be an entity",
    ),
    ("riskbreaker-0.0.1/policies/bold.luau", "q.topic == \"card\"", "q.topic == \"crad\"", "did you mean `card`?"),
    // Misused lists, verbs and functions
    ("riskbreaker-0.0.3/lib/calculation.luau", "local all = {}", "local all", "never gets a value"),
    ("riskbreaker-0.0.3/lib/ending.luau", "quiet > QUIET_ENOUGH", "quiet > nil", "this is nil"),
    ("riskbreaker-0.0.3/lib/calculation.luau", "\treturn math.max(0, own - against)\n", "", "must return a value"),
    ("house-taunt/maneuvers/taunt.luau", "ctx.side, 1, \"failure\"", "1, ctx.side, \"failure\"", "side"),
    ("house-taunt/maneuvers/taunt.luau", "targets = \"opponent\"", "targets = \"oponent\"", "opponent"),
    (
        "house-taunt/maneuvers/taunt.luau",
        "success = function(ctx)",
        "sucess = function(ctx)",
        "did you mean `success`?",
    ),
    ("house-taunt/maneuvers/taunt.luau", "skill = \"any\"", "skil = \"any\"", "did you mean `skill`?"),
    ("house-armour/hooks/armour.luau", "e.target.armour)", "e.target.armor)", "did you mean `armour`?"),
    ("house-armour/hooks/armour.luau", "e.amount -= soaked", "e.amont -= soaked", "did you mean `amount`?"),
    (
        "house-armour/hooks/armour.luau",
        "inflict_kill = function(e)",
        "inflict_kil = function(e)",
        "did you mean `inflict_kill`?",
    ),
    (
        "riskbreaker-0.0.1/play.luau",
        "rb.act.inflict_kill(c, COUNTER_DAMAGE, nil",
        "rb.act.inflict_kill(COUNTER_DAMAGE, c, nil",
        "inflict_kill",
    ),
    ("riskbreaker-0.0.1/play.luau", "default = \"pass\"", "default = \"pas\"", "did you mean `pass`?"),
    (
        "riskbreaker-0.0.1/verbs.luau",
        "fight.state == \"over\" then",
        "fight.staet == \"over\" then",
        "did you mean `state`?",
    ),
    (
        "riskbreaker-0.0.3/hooks/watch.luau",
        "roll_skill = function",
        "roll_skil = function",
        "did you mean `roll_skill`?",
    ),
    ("riskbreaker-0.0.3/hooks/watch.luau", "e.actor) then", "e.acter) then", "did you mean `actor`?"),
    ("riskbreaker-0.0.3/kinds.luau", "rb.ref(\"place\", {", "rb.ref(\"palce\", {", "did you mean `place`?"),
    ("tug/verbs.luau", "rope:add(\"at\", by)", "rope:add(by, \"at\")", "the name of the field comes first"),
    (
        "tug/maneuvers/rest.luau",
        "rb.say(\"{} rests\", ctx.actor)",
        "rb.say(ctx.actor, \"{} rests\")",
        "is the first value",
    ),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) local NAMES = { \"a\", \"b\" } local n = NAMES[\"a\"]",
        "its places are numbers",
    ),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) local list = {} table.insert(list { 1 })",
        "no function to call",
    ),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) local ROUNDS, WORD = 3",
        "one value for each name",
    ),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) local sum for n = 1, 3 do sum += n end",
        "`sum` has no value yet",
    ),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) if not ctx.n == 1 then end",
        "worked out before",
    ),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) local text = string.format(\"%d of %d\", 1)",
        "one value for each %",
    ),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) if ctx.a then elseif ctx.a then end",
        "same condition",
    ),
    (
        "riskbreaker-0.0.1/lib/action.luau",
        "rb.act.shift_advantage(ctx.side, ctx.risk, \"risk\")",
        "rb.act.shift_advantage(ctx.side, \"risk\", \"risk\")",
        "amount",
    ),
    ("riskbreaker-0.0.1/lib/test.luau", "return test\n", "", "returns nothing to those that require it"),
    // Mistakes of beginners
    ("tug/maneuvers/pull.luau", "resolve = function(ctx)", "resolve = function()", "there is no `ctx`"),
    ("tug/maneuvers/pull.luau", "resolve =", "reslove =", "did you mean `resolve`?"),
    ("tug/maneuvers/pull.luau", "id = \"pull\"", "id = \"pul\"", "write id = \"pull\""),
    ("tug/maneuvers/pull.luau", "\tid = \"pull\",\n", "", "write id = \"pull\""),
    ("tug/maneuvers/pull.luau", "rules = { \"TUG-1\" }", "rules = { \"TUG-11\" }", "did you mean `TUG-1`?"),
    ("tug/maneuvers/pull.luau", "return rb.maneuver", "rb.maneuver", "write `return rb.maneuver({ ... })`"),
    (
        "tug/maneuvers/pull.luau",
        "local rb = require(\"@riskbreaker\")\n\n",
        "",
        "write `local rb = require(\"@riskbreaker\")` at the top",
    ),
    ("tug/maneuvers/pull.luau", "ctx.actor:need()", "ctx.actor.need()", "write a colon: `:need()`"),
    (
        "tug/maneuvers/pull.luau",
        "rb.under(\"1d10\", ctx.actor:need()",
        "rb.under(ctx.actor:need(), \"1d10\"",
        "the dice \"1d10\" come first",
    ),
    ("tug/maneuvers/pull.luau", "rb.under(\"1d10\"", "rb:under(\"1d10\"", "write rb.under"),
    (
        "tug/maneuvers/pull.luau",
        "rb.under(\"1d10\", ctx.actor:need()",
        "rb.under(\"1d10\", \"five\"",
        "expected a number",
    ),
    ("tug/maneuvers/pull.luau", "min = 1, max = 3", "min = 3, max = 1", "write min = 1, max = 3"),
    ("tug/maneuvers/pull.luau", "min = 1", "minimum = 1", "rb.number has no field `minimum`"),
    ("tug/maneuvers/pull.luau", "rb.act.move_rope(", "rb.move_rope(", "it is a verb: rb.act.move_rope"),
    ("tug/maneuvers/pull.luau", "rb.number({", "rb.number(", "names with values stand in a table"),
    ("tug/maneuvers/pull.luau", "-risk)", "-risk", "a comma, a bracket or a word"),
    ("tug/maneuvers/pull.luau", "local won", "won", "write `local won`"),
    ("tug/maneuvers/pull.luau", "seat = ctx.actor.seat", "seat = \"lefft\"", "did you mean `left`?"),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) if ctx.n = 1 then end",
        "two values are compared with `==`",
    ),
    ("tug/maneuvers/rest.luau", "resolve = function(ctx)", "resolve = function(ctx) print(1)", "use rb.say"),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) local n = math.random(6)",
        "roll dice",
    ),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) for n = 5, 1 do end",
        "give the loop its step",
    ),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) local t = { a = 1, a = 2 }",
        "one of the two keys can go",
    ),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) rb.whisper(\"gm\", 5)",
        "expected a text",
    ),
    ("tug/play.luau", "default = \"pull\"", "default = \"pul\"", "did you mean `pull`?"),
    ("tug/play.luau", "seats = { \"left\"", "seats = { \"lefft\"", "did you mean `left`?"),
    ("tug/play.luau", "statistics = { \"rope.at\" }", "statistics = { \"rope.att\" }", "`rope.att` is no number field"),
    ("tug/specs/maneuvers/pull.luau", "t:dice(5)", "t:dise(5)", "did you mean `dice`?"),
    ("tug/specs/maneuvers/pull.luau", "t:expect({", "t.expect({", "write t:expect"),
    ("tug/specs/maneuvers/pull.luau", "t:given({", "t:given{{", "a comma, a bracket or a word"),
    // Names and values that occur only once, and values unlike all others
    ("tug/verbs.luau", "math.abs(rope.at)", "math.abs(\"at\")", "`math.abs` takes a number"),
    ("tug/policies/hasty.luau", "rb.pick(q, 3)", "rb.pick == 3", "call it"),
    ("house-critical/hooks/critical.luau", "rb.last_roll() == CRITICAL", "rb.last_roll == CRITICAL", "call it"),
    (
        "house-taunt/maneuvers/taunt.luau",
        "provoke(ctx.targets[1], ctx.actor)",
        "provoke(ctx.targets, ctx.actor)",
        "is a list",
    ),
    (
        "riskbreaker-0.0.3/hooks/watch.luau",
        "waits_for(trigger, \"roll\"",
        "waits_for(trigger, \"rol\"",
        "did you mean \"roll\"?",
    ),
    ("riskbreaker-0.0.3/ruleset.toml", "with = \"skill\"", "with = \"skil\"", "did you mean `skill`?"),
    // Return values, meanings of defaults, and reads before initialization
    ("tug/maneuvers/pull.luau", "resolve = function(ctx)", "resolve = function(ctx, ctx)", "two parameters are called"),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) for n = ctx.actor.rests, 0 do rb.say(\"{}\", n) end",
        "give the loop its step",
    ),
    (
        "riskbreaker-0.0.1/maneuvers/healing.luau",
        "rb.act.heal(ctx.patient, care.amount(ctx), ctx.actor)",
        "rb.act.heal(care.amount(ctx), ctx.patient, ctx.actor)",
        "exchange care.amount(ctx) and ctx.patient",
    ),
    (
        "riskbreaker-0.0.3/lib/test.luau",
        "local level = value - face",
        "local level\n\tlevel = level - face",
        "`level` has no value yet",
    ),
    ("riskbreaker-0.0.3/lib/ladder.luau", "level + points - 1", "level + points.count - 1", "`points` is a number"),
    ("riskbreaker-0.0.3/lib/fractions.luau", "now[1] * d", "now * d", "`*` wants numbers, and this is a list"),
    (
        "riskbreaker-0.0.3/lib/ladder.luau",
        "for k = 1, math.min(top - 1, MOST_STEPS) do",
        "repeat",
        "`until` is missing",
    ),
    ("riskbreaker-0.0.3/lib/test.luau", "DIE = \"1d10\"", "DIE = \"1d\"", "are no dice"),
    ("riskbreaker-0.0.1/verbs.luau", "below(patient, amount, source)", "below(patient, source)", "`below` needs"),
    (
        "riskbreaker-0.0.1/maneuvers/skill_damage.luau",
        "\t\treturn rb.sum(",
        "\t\tlocal _ = rb.sum(",
        "the fact `roll_bonus` returns nothing",
    ),
    // Order, type and end of arguments and results
    ("contest/play.luau", "boundary = \"round\"", "boundary = \"ronud\"", "did you mean `round`?"),
    ("contest/play.luau", "{ \"range\", \"Range", "{ \"rnage\", \"Range", "did you mean `range`?"),
    ("contest/play.luau", "step = \"string\"", "step = \"strng\"", "did you mean `string`?"),
    ("tug/verbs.luau", "{ \"rope\", \"by\", \"who\" }", "{ \"rope\", \"who\", \"by\" }", "in the order in which"),
    ("tug/verbs.luau", "\"by\", \"who\" }", "\"by\", \"the winner\" }", "a parameter that cannot be called"),
    ("tug/verbs.luau", "\"by\", \"who\" }", "\"by\", \"end\" }", "no word of Luau"),
    ("tug/verbs.luau", "rope:add(\"at\", by)", "rope.at += by", "write :set(\"at\", value)"),
    ("tug/play.luau", "{ 1, 0 }, left", "{ 0, 0 }, left", "repeats without end"),
    ("tug/maneuvers/rest.luau", "\t\treturn true", "\t\treturn \"you may\"", "counts as yes"),
    ("tug/maneuvers/rest.luau", "ctx.actor:add(\"rests\", 1)", "ctx.actor:add(\"rests\")", "the number to add"),
    ("tug/policies/hasty.luau", "return \"pull\"", "return \"pul\"", "did you mean \"pull\"?"),
    ("tug/policies/hasty.luau", "rb.pick(q, 3)", "rb.pick(3, q)", "expected a number, found a table"),
    ("tug/verbs.luau", "\t\t\trb.finish(\"{} has won\", who)\n", "\t\t\treturn by\n", "can end without one"),
    // Blocks without effect, names in plain quotes, numbers in quotes, missing and wrong calls
    ("contest/lib/opening.luau", "\t\tunit:set(\"clear\", false)\n", "", "this `if` does nothing"),
    (
        "tug/maneuvers/rest.luau",
        "resolve = function(ctx)",
        "resolve = function(ctx) while ctx.actor.rests > 0 do end",
        "this `while` does nothing",
    ),
    (
        "tug/maneuvers/rest.luau",
        "rb.say(\"{} rests\", ctx.actor)",
        "rb.say(\"{ctx.actor.name} rests\")",
        "between backquotes",
    ),
    (
        "tug/maneuvers/rest.luau",
        "rb.say(\"{} rests\", ctx.actor)",
        "rb.say(\"{} rests\" .. ctx.actor.name)",
        "write a comma for `..`",
    ),
    ("house-armour/hooks/armour.luau", "e.amount -= soaked", "e.amount -= \"2\"", "without quotes"),
    ("rbf/verbs.luau", "target.hp - amount", "target.hp - \"1\"", "without quotes"),
    ("rbf/lib/care.luau", "rb.roll(\"1d6\", \"care", "rb.roll(6, \"care", "expected a text"),
    ("contest/lib/opening.luau", "battle:add(\"round\", 1)", "battle:add(\"round\", \"1\")", "expected a number"),
    ("house-armour/hooks/armour.luau", "e.target.armour)", "e.target:armour())", "is a field, and no function"),
    ("contest/lib/opening.luau", "card.resolve(ctx)", "card:resolve(ctx)", "`.resolve(...)`"),
    (
        "house-armour/kinds.luau",
        "table.insert(lines, { \"Armour\"",
        "table.insert({ \"Armour\"",
        "table.insert(list, value)",
    ),
    (
        "house-armour/hooks/armour.luau",
        "rb.say(\"the armour of {} takes {} off\", e.target, soaked)",
        "return e.amount - soaked",
        "`e.NAME = value`",
    ),
    ("house-armour/hooks/armour.luau", "soaked > 0 then", "rb.switches.armour_limit then", "always has a value"),
    (
        "riskbreaker-0.0.3/hooks/watch.luau",
        "local trigger = holder.owner\n\t\t\tif trigger.where",
        "local trigger = holder.owner\n\t\t\tif e.place == holder then return end\n\t\t\tif trigger.where",
        "no entity",
    ),
    ("contest/policies/steady.luau", "return sense.detail(q)", "return \"parry\"", "nothing offers"),
    ("contest/policies/steady.luau", "return sense.detail(q)", "return q.actor", "a question has no `actor`"),
    ("silent-winter/maneuvers/throw.luau", "topic = \"item\"", "topic = \"itme\"", "did you mean `item`?"),
    ("contest/lib/opening.luau", "return opening\n", "return\n", "returns nothing to those that require it"),
    ("house-armour/creation.luau", "\t\treturn breaches\n", "", "returns nothing"),
    (
        "silent-winter/maneuvers/attack.luau",
        "\t\treturn true\n\tend,",
        "\t\tif true then\n\t\treturn true\n\tend,",
        "still open",
    ),
    (
        "house-taunt/specs/riskbreaker-0.0.1/taunt.luau",
        "targets = { \"Foe\" }",
        "targets = { \"Fo\" }",
        "did you mean `Foe`?",
    ),
    (
        "house-taunt/maneuvers/taunt.luau",
        "provoke(ctx.targets[1], ctx.actor)",
        "provoke(ctx.targets[1], 2)",
        "must be an entity",
    ),
    // Types of members of contexts and events, conditions and loops that never change
    ("tug/maneuvers/rest.luau", "add(\"rests\", 1)", "add(\"rests\", \"2\")", "expected a number, found a text"),
    ("tug/maneuvers/rest.luau", "ctx.actor:add(\"rests\", 1)", "ctx.actor.rests = 1", "write :set(\"rests\", value)"),
    // Idioms of other environments
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("task.wait(1) do"), "rb.schedule"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if os.time() > 1 then"), "agenda: rb.schedule"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("local one = Instance.new(\"Part\") if one then"), "rb.spawn"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("for _, one in game.Players:GetPlayers() do"), "rb.each"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if table.getn(rb.each(\"puller\")) > 1 then"), "`#list`"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("while ctx.actor.rests < 3 do goto done"), "write `continue`"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("local n <const> = 1 if n > 0 then"), "`local` is enough"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if ctx.actor.rests & 1 == 1 then"), "bit32.band"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if ctx.actor.rests << 1 == 2 then"), "bit32.lshift"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if getObjectFromGUID(\"a1b2c3\") then"), "rb.first"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("broadcastToAll(\"pull!\") do"), "rb.say"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("for _, color in getSeatedPlayers() do"), "a seat is a text"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if rb.roll(\"1d6\", \"luck\") then"), "always true"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("local n = rb.roll(\"1d6\", \"luck\") if n then"), "always true"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if rb.each(\"puller\") then"), "`#` before it"),
    (
        "tug/maneuvers/rest.luau",
        RESOLVE,
        "resolve = function(ctx) for c in rb.each(\"puller\") do rb.say(\"{}\", c) end",
        "write `for _, c in`",
    ),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if rb.each(\"puller\").length > 1 then"), "`#` before it counts"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if ctx.actor.name.upper() then"), "write a colon: `:upper(...)`"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("while ctx.actor.rests < 3 do"), "nothing in it changes"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if ctx.stake > 2 then"), "nothing puts a `stake` into `ctx`"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("if ctx.actor.name == nil then"), "is never nil"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("for n = 1, rb.each(\"puller\") do"), "counts with numbers"),
    ("tug/maneuvers/rest.luau", RESOLVE, in_resolve!("local list = {} list += ctx if list then"), "`+` wants numbers"),
    (
        "tug/maneuvers/rest.luau",
        RESOLVE,
        in_resolve!("local list = {} list.insert(1) if list then"),
        "table.insert(list",
    ),
    (
        "tug/maneuvers/rest.luau",
        "\t\treturn true",
        "\t\tlocal reason = `{ctx}` return reason",
        "`return false, reason`",
    ),
    ("tug/verbs.luau", "rb.switches.wins_at", "rb.switch.wins_at", "did you mean `switches`?"),
    (
        "contest/maneuvers/ranged_strike.luau",
        "unit:set(\"raised\", true)",
        "unit:add(\"raised\", 1)",
        "write :set(\"raised\"",
    ),
    ("rbf/maneuvers/cleave.luau", "for _, other in ipairs(people", "for other in (people", "write `for _, other in`"),
    (
        "contest/maneuvers/wait.luau",
        "{ \"declare\", \"answer\", \"short\", \"outside\" }",
        "{ declare = true, answer = true }",
        "everywhere else it is a list",
    ),
    (
        "house-armour/hooks/armour.luau",
        "rb.say(\"the armour of {} takes {} off\", e.target, soaked)",
        "rb.say(\"the armour of \" .. e.target)",
        "and this is an entity",
    ),
    (
        "house-armour/hooks/armour.luau",
        "inflict_kill = function(e)",
        "inflict_kill = function(e, holder) if e.target == holder.owner then return end",
        "hangs on nobody",
    ),
    ("house-armour/hooks/armour.luau", "function(e)", "function(target, amount, source)", "is given 2 values"),
    (
        "house-second-roll/hooks/second_roll.luau",
        "local success = roll(e)\n\t\t\tif rb.last_roll() ~= WORST then\n\t\t\t\treturn success\n\t\t\tend\n\t\t\trb.say(\"{} rolls again\", e.actor)\n\t\t\treturn roll(e)",
        "return rb.last_roll() == WORST",
        "`test_skill` does not run any more",
    ),
];

/// The ruleset that is checked for a mistake in a file, and the files before the mistake.
fn sound_files(path: &str, from: &str) -> (String, BTreeMap<String, String>) {
    let folder = path.split('/').next().unwrap();
    // A house rule is checked over the game that it changes.
    let (ruleset, ids) = match folder {
        house if house.starts_with("house-") => {
            (format!("riskbreaker-0.0.1+{house}"), vec![house, "riskbreaker-0.0.1", "riskbreaker-common"])
        }
        game if game.starts_with("riskbreaker-0") => (game.into(), vec![game, "riskbreaker-common"]),
        game => (game.into(), vec![game]),
    };
    let slice = files::of(&ids);
    let files = if slice.get(path).is_some_and(|text| text.contains(from)) { slice } else { files::shipped(&ids) };
    (ruleset, files)
}

fn mistakes() -> impl Iterator<Item = &'static Mistake> {
    MISTAKES.iter().chain(FLOW_MISTAKES)
}

/// What is found for each mistake, which takes most of the time of both tests of the list.
static FOUND: LazyLock<Vec<Planted>> = LazyLock::new(|| {
    let numbered: Vec<(usize, &Mistake)> = mistakes().enumerate().collect();
    let mut found = on_every_core(&numbered, |(number, (path, from, to, _))| {
        let (ruleset, files) = sound_files(path, from);
        (*number, planted(files, &ruleset, path, from, to))
    });
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, planted)| planted).collect()
});

/// What is wrong with how a mistake is told, if anything.
fn missed(((path, from, to, told), Planted { line, found }): (&Mistake, &Planted)) -> Option<String> {
    // A missing part is reported where it would have to be.
    let lines = if to.is_empty() { 1..=usize::MAX } else { line.saturating_sub(1)..=line + 2 };
    let right = found.iter().any(|problem| {
        let placed = problem.path == *path && problem.line.is_some_and(|line| lines.contains(&(line as usize)));
        placed && problem.column.is_some() && problem.cure.is_some() && problem.to_string().contains(told)
    });
    let elsewhere = |problem: &&riskbreaker::ruleset::Problem| !problem.message.starts_with("`over` names");
    let found: Vec<_> = found.iter().filter(elsewhere).collect();
    let told_of = found.len() <= 4 && found.iter().all(|problem| problem.cure.is_some());
    (!right || !told_of).then(|| format!("{from} -> {to} in {path}:{line}: {found:#?}"))
}

#[test]
fn each_mistake_is_reported_at_its_place_with_a_correction() {
    let wrong: Vec<String> = mistakes().zip(&*FOUND).filter_map(missed).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FOUND.len(), wrong.join("\n"));
}

/// The changes that the cures of a mistake name, and those of them that leave what they are to take away, lead to a file that is
/// not valid, or, if they are what was most likely meant, to more findings.
#[cfg(feature = "lsp")]
fn changes(((path, from, to, _), Planted { found, .. }): &(&Mistake, &Planted)) -> (usize, Vec<String>) {
    let (ruleset, mut files) = sound_files(path, from);
    let text = files.get_mut(*path).unwrap();
    *text = text.replacen(from, to, 1);
    let (mut applied, mut wrong) = (0, Vec::new());
    let is_broken = |found: &[riskbreaker::ruleset::Problem]| found.iter().any(|one| one.lint == Some("syntax"));
    for problem in found {
        let Some(text) = files.get(&problem.path) else { continue };
        for fix in riskbreaker::lsp::fixes(problem, text) {
            let mut fixed = files.clone();
            fixed.get_mut(&problem.path).unwrap().replace_range(fix.range.clone(), &fix.new_text);
            let is_left = |other: &riskbreaker::ruleset::Problem| {
                (&other.path, other.lint, &other.message) == (&problem.path, problem.lint, &problem.message)
            };
            let left = all_findings(fixed, &ruleset);
            if left.iter().any(is_left) {
                wrong.push(format!("{}: it is left: {problem}", fix.title));
            } else if fix.is_preferred && left.len() > found.len() || is_broken(&left) && !is_broken(found) {
                wrong.push(format!("{}: {problem}\n  leads to {left:#?}", fix.title));
            }
            applied += 1;
        }
    }
    (applied, wrong)
}

#[cfg(feature = "lsp")]
#[test]
fn each_cure_that_is_a_change_takes_the_mistake_away_and_adds_none() {
    let planted: Vec<(&Mistake, &Planted)> = mistakes().zip(&*FOUND).collect();
    let applied = on_every_core(&planted, changes);
    let wrong: Vec<String> = applied.iter().flat_map(|(_, wrong)| wrong.clone()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let applied: usize = applied.iter().map(|(applied, _)| applied).sum();
    assert!(applied >= 180, "only {applied} changes");
}

/// Other ways to write what the shipped rules say: a file, a text in it, and the same in other words.
const RIGHT: &[(&str, &str, &str)] = &[
    ("contest/maneuvers/reload.luau", "if unit.missile == \"\" then", "if #unit.missile == 0 then"),
    ("contest/items/crossbow.luau", "range = 150", "range = 3 * 50"),
    (
        "contest/lib/sides.luau",
        "table.find(one.side.peace, other.side) == nil",
        "not table.find(one.side.peace, other.side)",
    ),
    ("contest/scenarios/night-watch.toml", "at = \"0, 0\"", "at = [0, 0]"),
    ("contest/RULES.md", "reach (CON-181, CON-AMB-29)", "reach (CON-180 to CON-182, CON-AMB-29)"),
    (
        "rbf/lib/half.luau",
        "return if rb.switches.half_rounding == \"up\"",
        "local set = rb.switches\n\treturn if set.half_rounding == \"up\"",
    ),
    ("rbf/specs/maneuvers/stun.luau", "\tt:dice(6, 6)\n", "\tt:dice({ 6, 6 })\n"),
    ("rbf/maneuvers/sunder.luau", "default = proposed,", "default = math.max(1, proposed),"),
    (
        "riskbreaker-0.0.1/maneuvers/advantage.luau",
        "failure = action.lose",
        "failure = function(ctx)\n\t\taction.lose(ctx)\n\tend",
    ),
    ("riskbreaker-0.0.3/hooks/watch.luau", "priority = 10", "priority = -10"),
    ("riskbreaker-0.0.3/scenarios/duel.toml", "M5: Sword, Knockdown", "M10: Sword, Knockdown"),
    (
        "silent-winter/policies/careful.luau",
        "if q.topic == \"card\" and q.about.health",
        "if q.topic == \"card\" and q.about ~= nil and q.about.health",
    ),
];

#[test]
fn the_same_rules_in_other_words_have_no_problems() {
    let wrong = on_every_core(RIGHT, |(path, from, to)| {
        let (ruleset, files) = sound_files(path, from);
        let Planted { found, .. } = planted(files, &ruleset, path, from, to);
        (!found.is_empty()).then(|| format!("{from} -> {to} in {path}: {found:#?}"))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_shipped_rulesets_have_no_problems() {
    for id in ["tug", "contest", "silent-winter", "rbf", "riskbreaker-cards"] {
        let found = findings(&Library::from_files(files::of(&[id])), id, &[]);
        assert!(found.is_empty(), "{id}: {found:#?}");
    }
}

/// While a game is played, its ruleset is checked with the layers of the game at each save.
#[test]
fn a_running_game_with_layers_has_no_problems() {
    const HOUSE_RULES: [&str; 4] = ["house-armour", "house-critical", "house-second-roll", "house-taunt"];
    let stop = std::sync::Arc::default();
    const BASES: [&str; 2] = ["riskbreaker-0.0.1", "riskbreaker-0.0.3"];
    let ids: Vec<&str> = BASES.into_iter().chain(["riskbreaker-common"]).chain(HOUSE_RULES).collect();
    let library = Library::from_files(files::shipped(&ids));
    for base in BASES {
        let all: Vec<String> = HOUSE_RULES.map(str::to_owned).to_vec();
        let one_each = HOUSE_RULES.iter().map(|layer| vec![(*layer).to_owned()]);
        for layers in one_each.chain([all]) {
            let found = findings_at_save(&library, base, &layers, &stop);
            assert!(found.is_empty(), "{base} with {layers:?}: {found:#?}");
        }
    }
}
