//! Mistakes that only the flow of values shows: what a value is at the place where it is used, by what another place
//! declares, returns or lists.

/// The file with its ruleset's folder, the original text, its replacement, and a part of the message or remedy.
pub type Mistake = (&'static str, &'static str, &'static str, &'static str);

pub const FLOW_MISTAKES: &[Mistake] = &[
    // Numbers that are never picked, a field set to what should be taken away, an audience
    ("silent-winter/policies/careful.luau", "rb.pick(q, 2) == 1", "rb.pick(q, 2) == 0", "rb.pick(q, 2) gives 1 to 2"),
    (
        "silent-winter/verbs.luau",
        "caster:add(\"magic\", -rating)",
        "caster:set(\"magic\", -rating)",
        "write :add(\"magic\", -rating)",
    ),
    ("riskbreaker-0.0.3/kinds.luau", "audience = \"known_to\"", "audience = \"know_to\"", "did you mean `known_to`?"),
    // Members of values that are declared or returned as plain ones
    (
        "riskbreaker-0.0.3/hooks/watch.luau",
        "e.result and e.result > 0",
        "e.result and e.result.taken > 0",
        "`result` is a number, and has no `taken`",
    ),
    (
        "house-armour/hooks/armour.luau",
        "local soaked",
        "if e.why.id == \"armour\" then return end\n\t\t\tlocal soaked",
        "`why` is a text, and has no `id`",
    ),
    (
        "house-armour/hooks/armour.luau",
        "soaked > 0",
        "e.amount.kill_damage > soaked",
        "`amount` is a number, and has no `kill_damage`",
    ),
    // Values too few or too many in specs, and brackets at the wrong place
    (
        "riskbreaker-0.0.1/specs/cases/edges.luau",
        "t:equal(t:value(\"R\", \"skill_damage\"), 0)",
        "t:equal(t:value(\"R\", \"skill_damage\", 0))",
        "this bracket closes too late",
    ),
    (
        "riskbreaker-0.0.1/specs/cases/edges.luau",
        "t:equal(t:value(\"R\", \"skill_damage\"), 0)",
        "t:equal(t:value(\"R\"), \"skill_damage\", 0)",
        "this bracket closes too early",
    ),
    (
        "riskbreaker-0.0.1/specs/cases/edges.luau",
        "t:equal(t:value(\"R\", \"skill_damage\"), 0)",
        "t:equal(t:value(\"R\", \"skill_damage\"))",
        "`expected` is missing",
    ),
    (
        "riskbreaker-0.0.1/specs/cases/edges.luau",
        "t:value(\"R\", \"skill_damage\")",
        "t:value(\"R\", \"skill_damage\", 2)",
        "`skill_damage` takes no values",
    ),
    (
        "silent-winter/lib/harm.luau",
        "harm.health(who, rb.roll(\"1d6\", \"{} bleeds\", who))",
        "harm.health(rb.roll(\"1d6\", \"{} bleeds\", who))",
        "`harm.health` needs",
    ),
    // Keys of a table that is read by a switch, names of other rulesets, words of a choice, values of an equal list
    (
        "silent-winter/lib/rolls.luau",
        "{ d20 = \"1d20-1d20\", [\"3d6\"] = \"3d6-3d6\" }",
        "{ d12 = \"1d20-1d20\", [\"3d6\"] = \"3d6-3d6\" }",
        "the switch `roll_die` is never `d12`, and this table has no `d20`",
    ),
    (
        "riskbreaker-0.0.3/lib/sense.luau",
        "\"inflict_kill\", \"inflict_skill\", \"pass\" }",
        "\"kill_damage\", \"inflict_skill\", \"pass\" }",
        "did you mean `inflict_kill`?",
    ),
    (
        "riskbreaker-0.0.1/maneuvers/recovery.luau",
        "extra == \"advantage\"",
        "extra == \"gain_advantage\"",
        "`further.ask` never gives \"gain_advantage\"",
    ),
    // Elements of lists that a function is given or returns
    (
        "contest/lib/trial.luau",
        "return other ~= unit and sides.present(other)",
        "return other ~= unit and other.raised ~= nil and sides.present(other)",
        "is never nil",
    ),
    (
        "rbf/maneuvers/reload.luau",
        "for _, weapon in ipairs(gear.held(actor)) do",
        "for _, weapon in ipairs(gear.held(actor)) do\n\t\tweapon.reloads = 1",
        "`reloads` of an entity is written like a table's",
    ),
];
