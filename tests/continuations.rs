//! Merged against unmerged exploration: the odds of random programs, and of programs written to break the merging, are
//! the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use riskbreaker::Ruleset;
use riskbreaker::dice::DiceRng;
use riskbreaker::dice::Fraction;
use riskbreaker::lab::{Limits, OddsQuery, Position};

mod programs;

use programs::{Program, ruleset};

/// The chances of the results of a program, the number of choice points, and true if they are exact.
type Found = Result<(BTreeMap<String, Fraction>, usize, bool), String>;

fn play(rules: &Arc<Ruleset>, name: &str, unmerged: bool) -> Found {
    let limits = Limits { ways: 30_000, samples: 1, ..Limits::default() };
    let query = OddsQuery { unmerged, limits, ..OddsQuery::default() };
    let position = Position { card: name.into(), query, ..Position::default() };
    let (odds, _) = position.odds(rules).map_err(|refusal| refusal.to_string())?;
    let exact = odds.is_exact();
    Ok((
        odds.lines().into_iter().zip(odds.outcomes.into_iter().map(|(_, chance)| chance)).collect(),
        odds.points,
        exact,
    ))
}

/// Compares all programs. Returns the number compared, and their choice points merged and unmerged.
fn compare(rules: &Arc<Ruleset>, programs: &[Program]) -> (usize, usize, usize) {
    let (mut compared, mut merged, mut apart) = (0, 0, 0);
    for Program { name, body } in programs {
        let unmerged = play(rules, name, true);
        let found = play(rules, name, false);
        match (found, unmerged) {
            (Ok((found, points, true)), Ok((known, all, true))) => {
                assert_eq!(found, known, "{name}:\n{body}");
                compared += 1;
                merged += points;
                apart += all;
            }
            // Too many paths without merging.
            (_, Ok((.., false))) => {}
            (Ok((.., false)), Ok((.., true))) => panic!("{name} is exact only unmerged:\n{body}"),
            // An error in the program may occur first on any path.
            (Err(_), Err(_)) => {}
            (found, unmerged) => panic!("{name}: {found:?} against {unmerged:?}:\n{body}"),
        }
    }
    (compared, merged, apart)
}

/// Generates random programs: locals, captured locals, tables, functions and loops, with rolls in all of them.
struct Writer {
    dice: DiceRng,
    names: Vec<String>,
    made: usize,
    rolls: usize,
    depth: usize,
}

impl Writer {
    /// A number from `least` to `most`.
    fn number(&mut self, least: usize, most: usize) -> usize {
        least + self.dice.face((most - least + 1) as u32) as usize - 1
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.number(0, list.len() - 1)]
    }

    fn share(&mut self) -> f64 {
        f64::from(self.dice.face(10_000)) / 10_000.0
    }

    fn name(&mut self) -> String {
        let at = self.number(0, self.names.len() - 1);
        self.names[at].clone()
    }

    fn fresh(&mut self, letter: char) -> String {
        self.made += 1;
        format!("{letter}{}", self.made)
    }

    fn value(&mut self, depth: usize) -> String {
        let share = self.share();
        let inner = depth + 1;
        if share < 0.3 || depth > 2 {
            return self.name();
        } else if share < 0.42 {
            return self.number(0, 3).to_string();
        } else if share < 0.55 && self.rolls > 0 {
            self.rolls -= 1;
            return format!("roll({})", self.number(2, 3));
        }
        let (a, b) = (self.value(inner), self.value(inner));
        if share < 0.65 {
            format!("({a} {} {b}) % 7", self.one_of(&["+", "-", "*"]))
        } else if share < 0.72 {
            format!("(t[{a}] or {b})")
        } else if share < 0.78 {
            format!("(u.{} or {b})", self.one_of(&["x", "y", "z"]))
        } else if share < 0.83 {
            format!("f({a}, {b})")
        } else if share < 0.87 {
            "#t".into()
        } else if share < 0.92 {
            format!("math.min({a}, {b})")
        } else if share < 0.96 {
            format!("(if {} then {a} else {b})", self.condition(inner))
        } else {
            format!("(select({}, g({a}, {b})))", self.number(1, 2))
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let (a, b) = (self.value(depth), self.value(depth + 1));
        let more = if self.share() < 0.2 {
            format!(" {} {} < {}", self.one_of(&["and", "or"]), self.name(), self.name())
        } else {
            String::new()
        };
        format!("{a} {} {b}{more}", self.one_of(&["<", "<=", "==", "~=", ">"]))
    }

    fn block(&mut self, count: usize) -> String {
        let names = self.names.clone();
        let body: String = (0..count).map(|_| self.statement()).collect();
        self.names = names;
        body
    }

    fn some(&mut self, most: usize) -> String {
        let count = self.number(1, most);
        self.block(count)
    }

    /// A body that runs this number of times and contains at most one roll.
    fn repeated(&mut self, times: usize, most: usize) -> String {
        let before = self.rolls;
        self.rolls = self.rolls.min(1);
        let allowed = self.rolls;
        let body = self.some(most);
        self.rolls = before.saturating_sub((allowed - self.rolls) * times);
        body
    }

    fn statement(&mut self) -> String {
        let share = self.share();
        let assigned = |writer: &mut Writer| format!("{} = {}\n", writer.name(), writer.value(0));
        if share < 0.3 {
            assigned(self)
        } else if share < 0.4 {
            let (value, name) = (self.value(0), self.fresh('v'));
            self.names.push(name.clone());
            format!("local {name} = {value}\n")
        } else if share < 0.5 {
            let (at, value) = (self.value(0), self.value(0));
            format!("t[{at}] = {}\n", if self.share() < 0.3 { "nil" } else { &value })
        } else if share < 0.57 {
            let value = self.value(0);
            format!("u.{} = {}\n", self.one_of(&["x", "y", "z", "w"]), if self.share() < 0.3 { "nil" } else { &value })
        } else if share < 0.62 {
            format!("table.insert(t, {})\n", self.value(0))
        } else if share < 0.65 {
            let ways =
                ["t = {}", "w = t", "t, w = w, t", "t = { 1, 2 }", "w = u", "u = { x = a }", "t = table.clone(t)"];
            format!("{}\n", self.one_of(&ways))
        } else if share < 0.7 {
            let (name, a, b, c, into) = (self.fresh('h'), self.name(), self.name(), self.name(), self.name());
            let value = self.value(0);
            format!(
                "local {name} = function(q) {a} = ({b} + q) % 5 return {c} end\n{into} = {name}({value})\nhs[#hs + 1] = {name}\n"
            )
        } else if share < 0.75 {
            format!("if #hs > 0 then {} = hs[#hs]({}) end\n", self.name(), self.value(0))
        } else if share < 0.8 {
            let (over, into, from) =
                (self.one_of(&["pairs(t)", "t", "pairs(u)", "ipairs(t)"]), self.name(), self.name());
            format!("for k, x in {over} do {into} = ({from} * 3 + {}) % 11 end\n", self.one_of(&["x", "#tostring(k)"]))
        } else if self.depth >= 2 {
            assigned(self)
        } else {
            self.depth += 1;
            let text = if share < 0.9 {
                let (condition, then) = (self.condition(0), self.some(3));
                let other = if self.share() < 0.5 { format!("else\n{}", self.some(2)) } else { String::new() };
                format!("if {condition} then\n{then}{other}end\n")
            } else if share < 0.96 {
                let (times, name) = (self.number(2, 4), self.fresh('i'));
                let own = if self.share() < 0.4 {
                    format!("local z{name} = {name} + {}\n", self.name())
                } else {
                    String::new()
                };
                format!("for {name} = 1, {times} do\n{own}{}end\n", self.repeated(times, 3))
            } else if share < 0.98 && self.rolls > 2 {
                // An iterator function that rolls itself, twice.
                self.rolls -= 2;
                let (turn, name, step) = (self.fresh('n'), self.fresh('x'), self.value(0));
                let body = self.repeated(2, 2);
                let into = self.name();
                format!(
                    "local {turn} = 0\nfor {name}, last in function(_, before) {turn} += 1 if {turn} > 2 then return nil end return {step} + roll(2), before end do\n{into} = {name}\n{body}end\n"
                )
            } else {
                let name = self.fresh('w');
                let body = self.repeated(3, 2);
                let out =
                    if self.share() < 0.4 { format!("if {} > 4 then break end\n", self.name()) } else { String::new() };
                format!("local {name} = 0\nwhile {name} < 3 do\n{name} += 1\n{body}{out}end\n")
            };
            self.depth -= 1;
            text
        }
    }

    fn program(seed: u64) -> Program {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let mut writer = Writer { dice: DiceRng::new(seed), names, made: 0, rolls: 0, depth: 0 };
        writer.rolls = writer.number(4, 7);
        let f = if writer.share() < 0.4 {
            "local function f(p, q) if p > q then return roll(2) + p else return q end end"
        } else {
            "local function f(p, q) local z = p * 2 return (z + q) % 9 end"
        };
        let count = writer.number(5, 10);
        let body: String = (0..count).map(|_| writer.statement()).collect();
        let last = writer.one_of(&[
            "for k, x in pairs(t) do s ..= k .. \":\" .. tostring(x) .. \" \" end",
            "for k = 1, 4 do s ..= tostring(t[k]) end",
            "for k, x in ipairs(t) do s ..= tostring(x) end",
        ]);
        let body = format!(
            "local a, b, c = 0, 1, 2\nlocal t, u, w = {{}}, {{}}, {{}}\nlocal hs = {{}}\n{f}\nlocal function g(p, ...) return (...), p end\n{body}\
             local s = a .. \",\" .. b .. \",\" .. c\ns ..= \"|\" .. #t .. \"|\" .. type(u.x) .. type(w.x) .. type(w[1])\n{last}\nreturn s"
        );
        Program { name: format!("program_{seed}"), body }
    }
}

#[test]
fn random_programs_have_the_same_odds_merged_and_unmerged() {
    // More of them: `PROGRAMS=3000 cargo test --test continuations random`.
    let most = std::env::var("PROGRAMS").ok().and_then(|most| most.parse().ok()).unwrap_or(200);
    let programs: Vec<Program> = (0..most).map(Writer::program).collect();
    let (mut compared, mut merged, mut apart) = (0, 0, 0);
    for programs in programs.chunks(200) {
        let found = compare(&ruleset(programs), programs);
        (compared, merged, apart) = (compared + found.0, merged + found.1, apart + found.2);
    }
    assert!(compared * 2 > programs.len(), "only {compared} programs were compared");
    // Without any merging this would be no test.
    assert!(merged * 10 < apart * 9, "{merged} places of {apart}");
}

/// Programs written to break the merging that the sandbox allows.
const DANGEROUS: &[(&str, &str)] = &[
    ("sort", "local t = { 3, 1, 2 } table.sort(t, function(a, b) roll(2) return a < b end) return t[1]"),
    ("gsub", "return (string.gsub(\"aaa\", \"a\", function() return tostring(roll(2)) end))"),
    (
        "iterator",
        "local s, n = 0, 0 for x in function() n += 1 if n < 4 then return roll(2) end return nil end do s += x end return s",
    ),
    (
        "iterator_of_two",
        "local s = \"\" for x, y in function(of, before) if roll(3) == 1 or #s > 8 then return nil end return of[roll(2)], before end, { 5, 6 }, 0 do s ..= x .. y end return s",
    ),
    (
        "iterator_in_iterator",
        "local function upto(n) local i = 0 return function() i += roll(2) if i <= n then return i end return nil end end local s = 0 for i in upto(3) do for j in upto(i) do s += i * j end end return s",
    ),
    (
        "iterator_that_hands_on",
        "local function next_of(n) return if n < 3 then n + roll(2) else nil end local s = 0 for n in function(_, n) return next_of(n) end, nil, 0 do s = s * 4 + n + roll(2) end return s",
    ),
    (
        "pairs_order",
        "local t = {} for i = 1, 5 do t[\"k\" .. roll(4)] = true end roll(2) local s = \"\" for k in pairs(t) do s ..= k end return s",
    ),
    ("length", "local t = {} for i = 1, 6 do t[roll(5)] = 1 end roll(2) return #t"),
    (
        "room",
        "local t = table.create(roll(3)) t[1] = 1 t[2] = 2 t[3] = 3 if roll(2) == 1 then t[2] = nil else t[1] = nil end roll(2) return #t",
    ),
    (
        "ipairs_parts",
        "local t if roll(2) == 1 then t = { [1] = 1, [2] = 2 } else t = { 1, 2 } end roll(2) local n = 0 for _ in ipairs(t) do n += 1 end return n",
    ),
    ("alias", "local a = {} local b = a if roll(2) == 1 then b = {} end roll(2) a.x = 1 return tostring(b.x)"),
    (
        "variables",
        "local function mk() local c = 0 return function() c += 1 return c end end local f = mk() local g = f if roll(2) == 1 then g = mk() end roll(2) f() return g()",
    ),
    (
        "above_or_below",
        "local test = if roll(2) == 1 then rb.under else rb.at_least local yes = test(\"1d6\", 3, \"test\") return tostring(yes)",
    ),
    (
        "grown_since",
        "local t, n = {}, 0 local function add(x) n += 1 t[n] = x end for i = 1, 2 do add(roll(3)) if t[n] == 3 then for j = 1, 5 do t[\"k\" .. j] = roll(2) end end end local s = \"\" for k, v in pairs(t) do s ..= tostring(k) .. v end return s",
    ),
    (
        "shrunk_since",
        "local t = { 1, 2, 3, x = 4, y = 5 } local s = \"\" for i = 1, 4 do if roll(3) == 1 then t[#t] = nil t.x = nil else t[#t + 1] = roll(3) t.x = i end for k, v in pairs(t) do s ..= tostring(k) .. v end end return s",
    ),
    (
        "closed_since",
        "local fs = {} for i = 1, 3 do local c = roll(3) fs[i] = function() c += roll(2) return c end end local s = 0 for _, f in fs do s = s * 7 + f() + f() end return s",
    ),
    (
        "open_since",
        "local c, s = 0, \"\" local function up() c += roll(2) return c end for i = 1, 3 do local d = roll(2) local function more() d += up() return d end s ..= more() .. more() .. \",\" end return s .. c",
    ),
    ("minus_zero", "local z = 0 if roll(2) == 1 then z = -z end roll(2) return tostring(1 / z)"),
    (
        "same_function",
        "local function mk(x) return function() return x end end local a = mk(roll(2)) local b = mk(roll(2)) roll(2) return tostring(a == b)",
    ),
    (
        "arguments",
        "local function f(...) local n = select(\"#\", ...) local s = roll(2) for i = 1, n do s += (select(i, ...)) end return s, n end local function g(a, b, c) return a * 100 + b * 10 + (c or 7) end return g(f(roll(2), roll(roll(3)), f(roll(2)))) + g(roll(2), f())",
    ),
    (
        "cleared",
        "local t = {} for i = 1, roll(6) do t[i] = i end table.clear(t) for i = 1, 2 do t[\"a\" .. roll(3)] = i end local s = \"\" for k, v in t do s ..= k .. v end return s",
    ),
    ("object_key", "local k = {} local t = { [k] = roll(2) } return t[k] + roll(2)"),
    ("gmatch", "local s = 0 for w in string.gmatch(\"a b c\", \"%a\") do s += roll(2) end return s"),
    ("recursion", "local function f(n) if n == 0 then return 0 end return roll(2) + f(n - 1) end return f(8)"),
    (
        "captured",
        "local get do local v = roll(3) get = function() v += 1 return v end end roll(2) local w = roll(3) return get() * 10 + w",
    ),
    (
        "changed_inside",
        "local x = roll(3) local f = function() x += 1 end for i = 1, 3 do if roll(2) == 1 then f() end end return x",
    ),
    (
        "in_loops",
        "local t = { 5, 6, 7 } local s = 0 for i, v in ipairs(t) do if roll(2) == 1 then s += v end end for k, v in pairs({ a = 1, b = 2 }) do s += v * roll(2) end return s",
    ),
    ("generic", "local s = 0 for i, v in { 5, 6, 7 } do if roll(2) == 1 then s += v end end return s"),
    ("method", "local d = { n = 0 } function d:r(k) self.n += roll(k) return self end return d:r(2):r(3):r(2).n"),
    (
        "frozen",
        "local t = { x = roll(2) } if roll(2) == 1 then table.freeze(t) end roll(2) return tostring(table.isfrozen(t)) .. t.x",
    ),
    (
        "same_list",
        "local a, b = rb.each(\"pot\"), rb.each(\"pot\") if roll(2) == 1 then rb.spawn(\"pot\") end roll(2) return tostring(a == b) .. tostring(a == rb.each(\"pot\"))",
    ),
    ("text_or_number", "local x = 1 if roll(2) == 1 then x = \"1\" end roll(2) return type(x)"),
    ("nested", "local t = { { 1 }, { 1 } } if roll(2) == 1 then t[2] = t[1] end roll(2) t[1][1] = 5 return t[2][1]"),
    (
        "unpacked",
        "local t = { 1, 2, 3 } if roll(2) == 1 then t[2] = nil end roll(2) return select(\"#\", table.unpack(t))",
    ),
    (
        "tail_results",
        "local function g() return roll(2), roll(2) end local function f(n) if n == 0 then return g() end return f(n - 1) end local a = f(roll(2)) local b, c = f(roll(2)) return a .. b .. c",
    ),
    (
        "tail_in_a_list",
        "local function f(n) if n == 0 then return 1, roll(2) elseif n == 1 then return roll(2) end return f(n - roll(2)) end local t = { f(roll(3)), f(roll(2)) } return #t .. table.concat(t, \"\")",
    ),
    (
        "tail_captured",
        "local function f(n, get) if n == 0 then return get() + roll(2) end local m = n * 10 return f(n - 1, function() m += 1 return m + get() end) end return f(roll(3), function() return 0 end) + roll(2)",
    ),
    (
        "tail_of_two",
        "local even, odd even = function(n) roll(2) if n == 0 then return \"even\" end return odd(n - 1) end odd = function(n) roll(2) if n == 0 then return \"odd\" end return even(n - 1) end return even(roll(4))",
    ),
    (
        "tail_of_a_method",
        "local d = { n = 0 } function d:go(k) if k == 0 then return self.n end self.n += roll(2) return self:go(k - 1) end return d:go(3) + d:go(roll(2))",
    ),
    (
        "tail_arguments",
        "local function f(n, ...) if n == 0 then return select(\"#\", ...) + roll(2) end return f(n - 1, n, ...) end return f(roll(3))",
    ),
    (
        "no_tail",
        "local function f(n) if n == 0 then return roll(2), 5 end return (f(n - 1)) end local a, b = f(roll(3) - 1) return a .. tostring(b)",
    ),
    (
        "next_after_taken",
        "local t = { a = 1, b = 2, c = 3, d = 4 } t[({ \"a\", \"b\", \"c\" })[roll(3)]] = nil t[({ \"x\", \"y\" })[roll(2)]] = 5 roll(2) local s = \"\" for k in next, t do s ..= k end return s",
    ),
    (
        "number_or_its_text_as_key",
        "local t = {} t[roll(2)] = 1 t[tostring(roll(2))] = 2 t[roll(2) + 0.5] = 3 roll(2) local n = 0 for k in t do n += if type(k) == \"number\" then 1 else 10 end return n .. tostring(t[1]) .. tostring(t[\"1\"])",
    ),
    (
        "nothing_is_equal_to_it",
        "local x = if roll(2) == 1 then 0 / 0 else 1 local t = { x } roll(2) return tostring(table.find(t, x)) .. tostring(t[1] == x)",
    ),
    (
        "again",
        "local n = 0 return rb.again(function() n += 1 local x = roll(3) if x == 3 or n == 3 then return x * 10 + n end return nil end)",
    ),
];

#[test]
fn hand_written_programs_have_the_same_odds_merged_and_unmerged() {
    let programs: Vec<Program> =
        DANGEROUS.iter().map(|(name, body)| Program { name: (*name).into(), body: (*body).into() }).collect();
    let rules = ruleset(&programs);
    let (compared, ..) = compare(&rules, &programs);
    assert!(compared + 1 >= programs.len(), "only {compared} programs were compared");
}
