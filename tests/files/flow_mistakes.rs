//! Mistakes that only the flow of values shows: what a value is at the place where it is used, by what another place
//! declares, returns or lists.

/// The file with its ruleset's folder, the original text, its replacement, and a part of the message or remedy.
pub type Mistake = (&'static str, &'static str, &'static str, &'static str);

pub const FLOW_MISTAKES: &[Mistake] = &[
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
];
