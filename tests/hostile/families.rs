//! Families of hostile scripts: each combines a slow operation with a way to repeat it.

/// A script and its name.
pub type Hostile = (String, String);

/// Two long texts of digits, nearly of the maximum size.
const LONG: &str = "local s = (\"7\"):rep(62000) s = s .. s .. s .. s local t, x, l = s .. \"8\", nil, {}\n";

/// Operations whose time depends on the length of a text, and some that take none.
const OPERATIONS: &[(&str, &str)] = &[
    ("add", "x = s + 1"),
    ("multiply", "x = s * t"),
    ("negate", "x = -s"),
    ("divide", "x = s // 7"),
    ("modulo", "x = s % 7"),
    ("power", "x = s ^ 2"),
    ("less", "x = s < t"),
    ("at_least", "x = s >= t"),
    ("equal", "x = s == t"),
    ("length", "x = #s"),
    ("join", "x = s:sub(1, 9) .. t:sub(2)"),
    ("join_short", "x = s:sub(1, 20000) .. \"b\""),
    ("to_number", "x = tonumber(s)"),
    ("to_number_base", "x = tonumber(s, 36)"),
    ("sub", "x = s:sub(2)"),
    ("sub_call", "x = string.sub(s, 2)"),
    ("interpolate", "x = `{t:sub(9)}.`"),
    ("upper", "x = s:upper()"),
    ("lower", "x = s:lower()"),
    ("reverse", "x = s:reverse()"),
    ("format", "x = (\"%s\"):format(s)"),
    ("format_number", "x = (\"%d\"):format(s)"),
    ("byte", "x = s:byte(1, -1)"),
    ("key", "l[s] = 1"),
    ("key_read", "x = l[t]"),
    ("count_letters", "x = utf8.len(s)"),
    ("codes", "for _ in utf8.codes(s) do end"),
    ("compound", "x = 1 x += s"),
    ("limit", "for i = 1, s do break end"),
    ("max", "x = math.max(s, t)"),
];

/// Patterns with much backtracking, on a text of one letter.
const PATTERNS: &[&str] = &[
    ".-.-.-.-b",
    "a*a*a*a*b",
    "(a*)(a*)(a*)b",
    "a?a?a?a?a?a?b",
    "[^b]*b",
    "[ab]-[ab]-[ab]-c",
    "%w+%w+%w+%d",
    "%f[b]",
    "%b()",
    "^(.-)(.-)(.-)%1%2%3$",
];

const SORTS: &[(&str, &str)] = &[
    ("always", "function() return true end"),
    ("never", "function() return false end"),
    ("grows", "function(a, b) l[#l + 1] = 1 return a < b end"),
    ("clears", "function(a, b) table.clear(l) return a == b end"),
    ("loops", "function() while true do end end"),
    ("fails", "function() error({}) end"),
    ("sorts", "function(a, b) table.sort(l) return a < b end"),
];

/// Operations on tables, each repeated for ever.
const TABLES: &[(&str, &str)] = &[
    ("create", "l = table.create(16000, 1)"),
    ("create_huge", "l = table.create(2 ^ 31, 1)"),
    ("move", "table.move(l, 1, 16000, 2)"),
    ("move_far", "table.move(l, 1, 2 ^ 31, 2 ^ 31)"),
    ("insert_first", "table.insert(l, 1, 1)"),
    ("remove_first", "table.remove(l, 1)"),
    ("clone", "l = table.clone(l)"),
    ("concat", "x = table.concat(l, (\"-\"):rep(10))"),
    ("concat_self", "l[1] = table.concat(l)"),
    ("pack", "l = table.pack(table.unpack(l, 1, 4000))"),
    ("unpack", "x = select(\"#\", table.unpack(l, 1, 4000))"),
    ("arguments", "x = (function(...) return select(-1, ...) end)(table.unpack(l, 1, 4000))"),
    ("find", "x = table.find(l, 2)"),
    ("clear", "table.clear(l) for i = 1, 9000 do l[i] = i end"),
    ("replace_keys", "n += 1 l[n] = nil l[\"k\" .. n] = 1 l[\"k\" .. n - 500] = nil"),
    ("freeze", "table.freeze({ l })"),
    ("maxn", "x = table.maxn(l)"),
    ("next", "for _ in l do end"),
    ("emptied", "for k in l do l[k] = nil end x = next(l)"),
    ("nested", "l = { l }"),
];

/// Scripts with deep nesting, in the source or at run time.
fn deep() -> Vec<(&'static str, String)> {
    let both = |open: &str, inner: &str, close: &str, n: usize| {
        format!("local x = {}{inner}{}", open.repeat(n), close.repeat(n))
    };
    vec![
        ("brackets", both("(", "1", ")", 5_000)),
        ("tables", both("{", "1", "}", 5_000)),
        ("functions", both("function() return ", "1", " end", 5_000)),
        ("negations", both("- ", "1", "", 20_000)),
        ("nots", both("not ", "true", "", 20_000)),
        ("joins", both("\"a\" .. ", "\"b\"", "", 20_000)),
        ("powers", both("2 ^ ", "1", "", 20_000)),
        ("calls", format!("local f\nf{}", "()".repeat(20_000))),
        ("fields", format!("local f = {{}}\nlocal x = f{}", ".a".repeat(20_000))),
        ("blocks", format!("{}{}", "do ".repeat(5_000), "end ".repeat(5_000))),
        ("branches", format!("if 1 then\n{}end", "elseif 2 then\n".repeat(5_000))),
        ("interpolations", both("`{", "1", "}`", 2_000)),
        ("types", format!("local x: {}number{} = nil", "{ a: ".repeat(3_000), "}".repeat(3_000))),
        ("number", format!("local x = {}", "9".repeat(100_000))),
        ("text", format!("error(\"{}\")", "x".repeat(100_000))),
        ("constants", (0..9_000).map(|n| format!("local _ = \"k{n}\"\n")).collect::<String>()),
        ("constants_in_a_table", format!("local x = {{ {} }}", "\"a\", ".repeat(40_000))),
        ("recursion", "local function f(n) return 1 + f(n + 1) end f(1)".into()),
        ("recursion_in_gsub", "local function f() return ((\"a\"):gsub(\".\", f)) end f()".into()),
        ("recursion_in_sort", "local function f() table.sort({ 1, 2, 3 }, f) return true end f()".into()),
        ("mutual", "local f, g function f() return g() + 1 end function g() return f() + 1 end f()".into()),
        ("wide", "local function f(n) return f(n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n) + n end f(1)".into()),
        ("closures", "local f = function() end while true do local g = f f = function() g() end end".into()),
    ]
}

/// Uses of missing functions, and errors with odd values.
const ELSEWHERE: &[(&str, &str)] = &[
    ("clock", "os.clock()"),
    ("date", "return os.date()"),
    ("require_above", "require(\"../../secret\")"),
    ("require_root", "require(\"/etc/passwd\")"),
    ("require_long", "require((\"a/\"):rep(60000))"),
    ("require_itself", "while true do require(\"maneuvers/trick\") end"),
    ("protected", "while true do pcall(function() while true do end end) end"),
    ("handler", "xpcall(function() error({}) end, function() while true do end end)"),
    ("coroutine", "coroutine.wrap(function() while true do end end)()"),
    ("buffer", "buffer.create(2 ^ 30)"),
    ("pack", "string.pack(\"s\", \"x\")"),
    ("metatable", "setmetatable({}, { __index = function() while true do end end })"),
    ("fenv", "getfenv(1).x = 1"),
    ("load", "loadstring(\"while true do end\")()"),
    ("collect", "while true do collectgarbage() end"),
    ("proxy", "newproxy(true)"),
    ("error_table", "local e = {} for i = 1, 1e5 do e[i] = e end error(e)"),
    ("error_text", "local s = (\"x\"):rep(60000) error(s .. s .. s .. s)"),
    ("error_control", "error(\"\\27[2J\\rgone\\0\")"),
    ("error_function", "error(function() end)"),
    ("error_loop", "while true do error(\"again\") end"),
    ("assert_text", "local s = (\"x\"):rep(60000) assert(false, s .. s .. s)"),
    (
        "characters",
        "local l = {} for i = 1, 8000 do l[i] = 65 end while true do string.char(table.unpack(l, 1, 4000)) end",
    ),
    ("characters_utf8", "while true do utf8.char(1114111, 1114111, 1114111) end"),
    ("huge_numbers", "local n = 2 ^ 53 while true do n += 1 end"),
    ("number_texts", "local x while true do x = tostring(1e308) .. tostring(-1e-308) end"),
    ("format_many", "while true do (\"%99.99f\"):rep(60):format(table.unpack(table.create(60, 1e308))) end"),
    ("shadowed", "local string, table, math = nil, nil, nil while true do end"),
];

/// All scripts: more than two hundred.
pub fn all() -> Vec<Hostile> {
    let mut all: Vec<Hostile> = Vec::new();
    for (name, operation) in OPERATIONS {
        let unrolled = format!("{operation}\n").repeat(40_000 / (operation.len() + 1));
        all.push((format!("unrolled_{name}"), format!("{LONG}{unrolled}")));
        all.push((format!("loop_{name}"), format!("{LONG}while true do {operation} end")));
        // After branches and functions, and with jumps over counted instructions.
        let branches = format!("if x then x() else {operation} end\n").repeat(40_000 / (operation.len() + 26));
        all.push((format!("branches_{name}"), format!("{LONG}{branches}")));
    }
    for (at, pattern) in PATTERNS.iter().enumerate() {
        for name in ["find", "match", "gmatch", "gsub"] {
            let call = match name {
                "gmatch" => format!("for _ in s:gmatch(\"{pattern}\") do end"),
                "gsub" => format!("s:gsub(\"{pattern}\", \"x\")"),
                name => format!("s:{name}(\"{pattern}\")"),
            };
            let text = format!("local s = (\"a\"):rep(60000)\nwhile true do {call} end");
            all.push((format!("pattern_{name}_{at}"), text));
        }
    }
    for (name, before) in SORTS {
        let text = format!(
            "local l = {{}}\nfor i = 1, 5000 do l[i] = i * 7 % 5003 end\nwhile true do table.sort(l, {before}) end"
        );
        all.push((format!("sort_{name}"), text));
    }
    for (name, step) in TABLES {
        let begin = "local l, x, n = {}, nil, 0\nfor i = 1, 16000 do l[i] = \"x\" end\n";
        all.push((format!("table_{name}"), format!("{begin}while true do {step} end")));
        all.push((format!("table_{name}_unrolled"), format!("{begin}{}", format!("{step}\n").repeat(600))));
    }
    all.extend(deep().into_iter().map(|(name, text)| (format!("deep_{name}"), text)));
    all.extend(ELSEWHERE.iter().map(|(name, text)| (format!("elsewhere_{name}"), (*text).to_string())));
    all
}
