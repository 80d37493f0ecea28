//! Unusual cards compared with brute force: each is written twice, in Luau and in Rust, and enumerated there roll by
//! roll.

use riskbreaker::dice::{Fraction, ratio, sum};

use super::enumeration::{Chances, Every, enumerated};
use super::play_programs;

type Card = (&'static str, &'static str, fn(&mut Every) -> String);

/// Faces as text.
fn joined(faces: &[i64], between: &str) -> String {
    faces.iter().map(i64::to_string).collect::<Vec<_>>().join(between)
}

fn rolls(dice: &mut Every, count: usize, sides: i64) -> Vec<i64> {
    (0..count).map(|_| dice.roll(sides)).collect()
}

/// The faces of a pool, the highest first.
fn sorted(dice: &mut Every, count: usize, sides: i64) -> Vec<i64> {
    let mut faces = rolls(dice, count, sides);
    faces.sort_by(|one, other| other.cmp(one));
    faces
}

const CARDS: &[Card] = &[
    ("looked_at", "if rb.under(\"1d10\", 7, \"a\") then return \"hit \" .. rb.last_roll() end return \"miss\"", |d| {
        match d.roll(10) {
            face @ ..7 => format!("hit {face}"),
            _ => "miss".into(),
        }
    }),
    (
        "looked_at_in_one_band",
        "local band = rb.band(\"2d6\", { 6, 9 }, \"b\") if band ~= 1 then return band end return rb.last_roll() .. \" \" .. rb.last_roll()",
        |d| match d.roll(6) + d.roll(6) {
            ..6 => "0".into(),
            9.. => "2".into(),
            total => format!("{total} {total}"),
        },
    ),
    (
        "looked_at_behind_another",
        "local a = rb.check(\"1d6\", { at_most = 3 }, \"a\") local first = if a then rb.last_roll() else 0 \
         local b = rb.at_least(\"1d8\", 3, \"b\") return first .. tostring(b) .. rb.last_roll()",
        |d| {
            let (a, b) = (d.roll(6), d.roll(8));
            format!("{}{}{b}", if a <= 3 { a } else { 0 }, b >= 3)
        },
    ),
    (
        "looked_at_in_a_loop",
        "local sum = 0 for _ = 1, 4 do if not rb.under(\"1d6\", 3, \"a\") then sum += rb.last_roll() end end return sum",
        |d| (0..4).map(|_| d.roll(6)).filter(|face| *face >= 3).sum::<i64>().to_string(),
    ),
    (
        "looked_at_in_again",
        "return rb.again(function() if rb.under(\"1d6\", 5, \"a\") then return rb.last_roll() end return nil end)",
        |d| d.roll(4).to_string(),
    ),
    (
        "looked_at_in_a_pool",
        "local ok = rb.at_least(\"3d6kh2+1\", 9, \"a\") return if ok then rb.last_roll() else 0",
        |d| {
            let faces = sorted(d, 3, 6);
            let total = faces[0] + faces[1] + 1;
            (if total >= 9 { total } else { 0 }).to_string()
        },
    ),
    ("spread", "local t = {} for i = 1, 4 do t[i] = roll(4) end table.sort(t) return t[4] - t[1]", |d| {
        let faces = sorted(d, 4, 4);
        (faces[0] - faces[3]).to_string()
    }),
    ("as_text", "local s = \"\" for _ = 1, 4 do s ..= roll(3) end return s", |d| joined(&rolls(d, 4, 3), "")),
    ("padded", "return string.format(\"%03d|%x\", roll(6) * roll(6), roll(16))", |d| {
        let product = d.roll(6) * d.roll(6);
        format!("{product:03}|{:x}", d.roll(16))
    }),
    ("repeated", "local s = string.rep(\"ab\", roll(4)) return #s + roll(2)", |d| {
        let times = d.roll(4);
        (2 * times + d.roll(2)).to_string()
    }),
    ("without_ones", "local s = \"\" for _ = 1, 5 do s ..= roll(3) end return (s:gsub(\"1+\", \"_\"))", |d| {
        let mut text = joined(&rolls(d, 5, 3), "");
        while text.contains("11") {
            text = text.replace("11", "1");
        }
        text.replace('1', "_")
    }),
    (
        "captures",
        "local s = roll(4) .. \"x\" .. roll(4) local a, b = s:match(\"^(%d+)x(%d+)$\") return a * b - (s:find(\"3\") or 9)",
        |d| {
            let (a, b) = (d.roll(4), d.roll(4));
            let found = format!("{a}x{b}").find('3').map_or(9, |at| at as i64 + 1);
            (a * b - found).to_string()
        },
    ),
    ("coerced", "return (\"1\" .. roll(4)) + roll(3)", |d| (10 + d.roll(4) + d.roll(3)).to_string()),
    (
        "text_is_no_number",
        "local t = {} t[roll(2)] = \"n\" t[tostring(roll(2))] = \"s\" return (t[1] or \"-\") .. (t[\"1\"] or \"-\")",
        |d| {
            let (n, s) = (d.roll(2), d.roll(2));
            format!("{}{}", if n == 1 { "n" } else { "-" }, if s == 1 { "s" } else { "-" })
        },
    ),
    (
        "not_a_number",
        "local x = 1 if roll(3) == 1 then x = 0 / 0 end roll(2) local y = x return tostring(x ~= x) .. tostring(x == y) .. tostring(x < 2)",
        |d| {
            let nan = d.roll(3) == 1;
            d.roll(2);
            format!("{nan}{}{}", !nan, !nan)
        },
    ),
    (
        "signed_zero",
        "local z = 0 if roll(2) == 1 then z = -z end if roll(3) == 1 then z = z * -1 end roll(2) return tostring(1 / z)",
        |d| {
            let mut negative = d.roll(2) == 1;
            if d.roll(3) == 1 {
                negative = !negative;
            }
            d.roll(2);
            if negative { "-inf" } else { "inf" }.into()
        },
    ),
    (
        "infinite",
        "local x = roll(3) - 2 roll(2) local y = 1 / x return if y > 1e300 then \"up\" elseif y == 1 then \"one\" else \"down\"",
        |d| {
            let x = d.roll(3) - 2;
            d.roll(2);
            ["down", "up", "one"][(x + 1) as usize].into()
        },
    ),
    (
        "packed_in_text",
        "local s = \"....\" for _ = 1, 4 do local i = roll(4) s = s:sub(1, i - 1) .. \"x\" .. s:sub(i + 1) end local _, n = s:gsub(\"x\", \"\") return n",
        |d| {
            let faces = rolls(d, 4, 4);
            (1..=4).filter(|face| faces.contains(face)).count().to_string()
        },
    ),
    (
        "one_list_or_two",
        "local a = { 0 } local b = if roll(2) == 1 then a else { 0 } roll(2) a[1] = roll(3) return b[1]",
        |d| {
            let same = d.roll(2) == 1;
            d.roll(2);
            let written = d.roll(3);
            if same { written } else { 0 }.to_string()
        },
    ),
    ("bits", "local x = 0 for _ = 1, 4 do x = bit32.bxor(x, bit32.lshift(1, roll(4))) end return x", |d| {
        rolls(d, 4, 4).iter().fold(0, |x, face| x ^ (1 << face)).to_string()
    }),
    (
        "arguments",
        "local function f(...) return select(\"#\", ...), ... end local function g() if roll(2) == 1 then return roll(3), roll(3) end return roll(3) end return table.concat({ f(g()) }, \",\")",
        |d| {
            let count = if d.roll(2) == 1 { 2 } else { 1 };
            let faces = rolls(d, count, 3);
            format!("{count},{}", joined(&faces, ","))
        },
    ),
    (
        "no_argument",
        "local function f(...) local n = select(\"#\", ...) roll(2) return n .. tostring((...)) end if roll(2) == 1 then return f(nil) end return f()",
        |d| {
            let given = d.roll(2) == 1;
            d.roll(2);
            format!("{}nil", i64::from(given))
        },
    ),
    (
        "counters",
        "local function mk() local c = 0 return function(n) c += n return c end end local a, b = mk(), mk() for _ = 1, 4 do if roll(2) == 1 then a(1) else b(2) end end return a(0) .. \":\" .. b(0)",
        |d| {
            let ones = rolls(d, 4, 2).iter().filter(|face| **face == 1).count();
            format!("{ones}:{}", 2 * (4 - ones))
        },
    ),
    (
        "one_variable_for_two",
        "local get, put do local v = 0 get = function() return v end put = function(x) v += x end end for _ = 1, 3 do put(roll(3)) if get() % 2 == 0 then put(1) end end return get()",
        |d| {
            let mut v = 0;
            for _ in 0..3 {
                v += d.roll(3);
                v += i64::from(v % 2 == 0);
            }
            v.to_string()
        },
    ),
    (
        "fresh_in_each_turn",
        "local fs = {} for i = 1, 3 do local v = roll(3) fs[i] = function() v += 1 return v end end local s = fs[roll(3)]() return s + fs[roll(3)]()",
        |d| {
            let mut v = rolls(d, 3, 3);
            let mut call = |at: i64| {
                v[at as usize - 1] += 1;
                v[at as usize - 1]
            };
            let first = d.roll(3);
            let first = call(first);
            let second = d.roll(3);
            (first + call(second)).to_string()
        },
    ),
    (
        "holes",
        "local t = {} for i = 1, 5 do if roll(2) == 1 then t[i * 10] = i end end local n, s = 0, 0 for _, v in pairs(t) do n += 1 s += v end return n .. \":\" .. s",
        |d| {
            let kept: Vec<i64> = (1..=5).filter(|_| d.roll(2) == 1).collect();
            format!("{}:{}", kept.len(), kept.iter().sum::<i64>())
        },
    ),
    (
        "taken_while_it_is_gone_through",
        "local t = {} for i = 1, 6 do t[\"k\" .. i] = roll(2) end for k, v in pairs(t) do if v == 1 then t[k] = nil end end roll(2) local n = 0 for _ in pairs(t) do n += 1 end return n",
        |d| {
            let left = rolls(d, 6, 2).iter().filter(|face| **face == 2).count();
            d.roll(2);
            left.to_string()
        },
    ),
    (
        "empty_again",
        "local t = {} for i = 1, 3 do t[roll(3)] = true end roll(2) for i = 1, 3 do t[i] = nil end roll(2) return tostring(next(t))",
        |d| {
            rolls(d, 5, 1);
            "nil".into()
        },
    ),
    (
        "queue",
        "local q = { 1, 2 } for _ = 1, 5 do if roll(2) == 1 then table.insert(q, roll(3)) elseif #q > 0 then table.remove(q, 1) end end return table.concat(q, \"\")",
        |d| {
            let mut queue = vec![1, 2];
            for _ in 0..5 {
                if d.roll(2) == 1 {
                    let face = d.roll(3);
                    queue.push(face);
                } else if !queue.is_empty() {
                    queue.remove(0);
                }
            }
            joined(&queue, "")
        },
    ),
    (
        "moved",
        "local t = { roll(2), roll(3), roll(2) } table.move(t, 1, 2, 2) return table.concat({ table.unpack(t, 1, roll(3)) }, \"\")",
        |d| {
            let t = [d.roll(2), d.roll(3)];
            d.roll(2);
            joined(&[t[0], t[0], t[1]][..d.roll(3) as usize], "")
        },
    ),
    (
        "matrix",
        "local m = {} for i = 1, 2 do m[i] = {} for j = 1, 2 do m[i][j] = roll(3) end end return m[1][1] * m[2][2] - m[1][2] * m[2][1]",
        |d| {
            let m = rolls(d, 4, 3);
            (m[0] * m[3] - m[1] * m[2]).to_string()
        },
    ),
    (
        "the_same_row_twice",
        "local row = { 0, 0 } local m = { row, if roll(2) == 1 then row else { 0, 0 } } for i = 1, 2 do local r = m[i] r[roll(2)] += 1 end return m[1][1] * 1000 + m[1][2] * 100 + m[2][1] * 10 + m[2][2]",
        |d| {
            let same = d.roll(2) == 1;
            let mut m = [[0, 0], [0, 0]];
            for i in 0..2 {
                m[if same { 0 } else { i }][d.roll(2) as usize - 1] += 1;
            }
            let second = if same { m[0] } else { m[1] };
            (m[0][0] * 1000 + m[0][1] * 100 + second[0] * 10 + second[1]).to_string()
        },
    ),
    (
        "tree",
        "local function grow(n) if n == 0 then return 1 end if roll(3) == 1 then return grow(n - 1) + grow(n - 1) end return grow(n - 1) end return grow(3)",
        |d| {
            fn grow(d: &mut Every, n: i64) -> i64 {
                match n {
                    0 => 1,
                    _ if d.roll(3) == 1 => grow(d, n - 1) + grow(d, n - 1),
                    _ => grow(d, n - 1),
                }
            }
            grow(d, 3).to_string()
        },
    ),
    (
        "left_early",
        "local s = 0 for i = 1, 4 do local r = roll(4) if r == 1 then continue end if r == 4 then break end s += i * r end return s",
        |d| {
            let mut s = 0;
            for i in 1..=4 {
                match d.roll(4) {
                    1 => continue,
                    4 => break,
                    r => s += i * r,
                }
            }
            s.to_string()
        },
    ),
    (
        "out_of_two_loops",
        "for i = 1, 3 do for j = 1, 2 do if roll(4) == 1 then return i .. \"/\" .. j end end end return \"none\"",
        |d| {
            for i in 1..=3 {
                for j in 1..=2 {
                    if d.roll(4) == 1 {
                        return format!("{i}/{j}");
                    }
                }
            }
            "none".into()
        },
    ),
    (
        "downwards",
        "local s = 0 for i = roll(4), 1, -1 do s += i * roll(2) end for x = 0, 1, 0.5 do s += x * 2 end return s",
        |d| {
            let from = d.roll(4);
            ((1..=from).rev().map(|i| i * d.roll(2)).sum::<i64>() + 3).to_string()
        },
    ),
    ("repeat_sees_its_locals", "local n = 0 repeat local r = roll(3) n += 1 until r == 1 or n == 4 return n", |d| {
        let mut n = 0;
        loop {
            n += 1;
            if d.roll(3) == 1 || n == 4 {
                return n.to_string();
            }
        }
    }),
    (
        "own_iterator",
        "local function upto(n) local i = 0 return function() i += 1 if i <= n then return i, i * i end return nil end end local s = 0 for i, q in upto(roll(4)) do if roll(2) == 1 then s += q else s += i end end return s",
        |d| {
            let n = d.roll(4);
            (1..=n).map(|i| if d.roll(2) == 1 { i * i } else { i }).sum::<i64>().to_string()
        },
    ),
    (
        "rolling_iterator",
        "local s = 0 for x in function() local r = roll(3) if r == 1 or s > 6 then return nil end return r end do s += x end return s",
        |d| {
            let mut s = 0;
            loop {
                match d.roll(3) {
                    1 => return s.to_string(),
                    _ if s > 6 => return s.to_string(),
                    r => s += r,
                }
            }
        },
    ),
    ("down_and_rest", "local a, b = roll(5) - 3, roll(3) return a // b .. \":\" .. a % b .. \":\" .. a % -b", |d| {
        let (a, b) = (d.roll(5) - 3, d.roll(3));
        let under = if a.rem_euclid(b) == 0 { 0 } else { a.rem_euclid(b) - b };
        format!("{}:{}:{under}", a.div_euclid(b), a.rem_euclid(b))
    }),
    (
        "rounded",
        "local n = roll(6) * roll(6) return math.floor(n / 7) .. \":\" .. math.ceil(n / 4) .. \":\" .. n // 8 .. \":\" .. math.max(n % 5, roll(2))",
        |d| {
            let n = d.roll(6) * d.roll(6);
            let ceil = (n + 3) / 4;
            format!("{}:{ceil}:{}:{}", n / 7, n / 8, (n % 5).max(d.roll(2)))
        },
    ),
    (
        "sorted_records",
        "local t = {} for i = 1, 4 do t[i] = { id = i, n = roll(3) } end table.sort(t, function(a, b) if a.n ~= b.n then return a.n > b.n end return a.id < b.id end) local s = \"\" for _, r in ipairs(t) do s ..= r.id end return s",
        |d| {
            let mut t: Vec<(i64, i64)> = (1..=4).map(|id| (-d.roll(3), id)).collect();
            t.sort();
            joined(&t.iter().map(|(_, id)| *id).collect::<Vec<_>>(), "")
        },
    ),
    (
        "texts_compare_letter_by_letter",
        "local a, b = tostring(roll(12)), tostring(roll(12)) return if a < b then \"less\" elseif a == b then \"same\" else \"more\"",
        |d| {
            let (a, b) = (d.roll(12).to_string(), d.roll(12).to_string());
            match a.cmp(&b) {
                std::cmp::Ordering::Less => "less",
                std::cmp::Ordering::Equal => "same",
                std::cmp::Ordering::Greater => "more",
            }
            .into()
        },
    ),
    ("in_a_text", "local a, b = roll(3), roll(3) return `{a}-{b}={a - b}`", |d| {
        let (a, b) = (d.roll(3), d.roll(3));
        format!("{a}-{b}={}", a - b)
    }),
    (
        "letters",
        "local s = \"\" for _ = 1, 3 do s ..= utf8.char(64 + roll(3)) end local n = 0 for _, c in utf8.codes(s) do n = n * 10 + c - 64 end return n .. string.byte(s, roll(3))",
        |d| {
            let faces = rolls(d, 3, 3);
            let at = d.roll(3) as usize;
            format!("{}{}", joined(&faces, ""), 64 + faces[at - 1])
        },
    ),
    (
        "found",
        "local t = { roll(3), roll(3), roll(3) } local c = table.clone(t) c[1] = 9 return tostring(table.find(t, 2)) .. tostring(table.find(c, 2)) .. #t",
        |d| {
            let t = rolls(d, 3, 3);
            let find = |t: &[i64]| t.iter().position(|face| *face == 2).map_or("nil".into(), |at| (at + 1).to_string());
            format!("{}{}3", find(&t), find(&[9, t[1], t[2]]))
        },
    ),
    ("dice_by_dice", "local n = roll(roll(4) + 1) return n + roll(n)", |d| {
        let sides = d.roll(4) + 1;
        let n = d.roll(sides);
        (n + d.roll(n)).to_string()
    }),
    (
        "known_by_face",
        "local seen = {} local n = 0 for _ = 1, 5 do local r = roll(4) if not seen[r] then seen[r] = roll(2) end n += seen[r] end return n",
        |d| {
            let mut seen = [0; 5];
            let mut n = 0;
            for _ in 0..5 {
                let r = d.roll(4) as usize;
                if seen[r] == 0 {
                    seen[r] = d.roll(2);
                }
                n += seen[r];
            }
            n.to_string()
        },
    ),
    ("pool", "local f = rb.faces(\"4d4\", \"pool\") return f[1] * 10 + f[4] .. \":\" .. #f", |d| {
        let faces = sorted(d, 4, 4);
        format!("{}:4", faces[0] * 10 + faces[3])
    }),
    ("in_order", "local f = rb.ordered_faces(\"3d4\", \"pool\") return tostring(f[1] > f[3]) .. f[2]", |d| {
        let faces = rolls(d, 3, 4);
        format!("{}{}", faces[0] > faces[2], faces[1])
    }),
    (
        "in_order_and_kept",
        "local f = rb.ordered_faces(\"4d4kh2\", \"high\") local g = rb.ordered_faces(\"3d3kl2\", \"low\") return f[1] .. f[2] .. g[1] .. g[2]",
        |d| {
            let kept = |faces: Vec<i64>, low: bool| {
                let mut at: Vec<usize> = (0..faces.len()).collect();
                at.sort_by_key(|at| if low { faces[*at] } else { -faces[*at] });
                at.truncate(2);
                at.sort_unstable();
                joined(&[faces[at[0]], faces[at[1]]], "")
            };
            let high = rolls(d, 4, 4);
            let low = rolls(d, 3, 3);
            format!("{}{}", kept(high, false), kept(low, true))
        },
    ),
    (
        "memo",
        "local memo = {} local function f(n) if n <= 0 then return 0 end if not memo[n] then memo[n] = roll(3) + f(n - 2) end return memo[n] end return f(4) + f(2) + f(3)",
        |d| {
            let (four, two) = (d.roll(3), d.roll(3));
            let (three, one) = (d.roll(3), d.roll(3));
            (four + two + two + three + one).to_string()
        },
    ),
    (
        "shuffled",
        "local l = rb.shuffle({ 1, 2, 3, 4 }) local got, left = rb.draw({ \"a\", \"b\", \"c\" }, 2) return l[1] .. l[2] .. tostring(l[4] > l[1]) .. table.concat(got, \"\") .. #left",
        |d| {
            let mut draw = |list: &mut Vec<i64>| {
                let at = d.roll(list.len() as i64) as usize - 1;
                list.remove(at)
            };
            let mut cards = vec![1, 2, 3, 4];
            let l: Vec<i64> = (0..4).map(|_| draw(&mut cards)).collect();
            let mut letters = vec![1, 2, 3];
            let got: String = (0..2).map(|_| ["a", "b", "c"][draw(&mut letters) as usize - 1]).collect();
            format!("{}{}{}{got}1", l[0], l[1], l[3] > l[0])
        },
    ),
    ("kept", "return rb.roll(\"3d6kh2\", \"kept\") - rb.roll(\"2d4kl1\", \"low\")", |d| {
        let high = sorted(d, 3, 6);
        let low = sorted(d, 2, 4);
        (high[0] + high[1] - low[1]).to_string()
    }),
    ("successes", "return rb.roll(\"4d6>=5\", \"hits\") .. \":\" .. rb.roll(\"2d[0,0,1,2]\", \"own\")", |d| {
        let hits = rolls(d, 4, 6).iter().filter(|face| **face >= 5).count();
        let own: i64 = rolls(d, 2, 4).iter().map(|face| [0, 0, 1, 2][*face as usize - 1]).sum();
        format!("{hits}:{own}")
    }),
    (
        "both_ends",
        "local up = rb.at_least(\"2d6\", 8, \"up\") local down = rb.under(\"1d10\", 4, \"down\") local most = rb.at_most(\"1d6\", 2, \"most\") return tostring(up) .. tostring(down) .. tostring(most) .. rb.band(\"2d4\", { 3, 5, 7 }, \"band\")",
        |d| {
            let up = d.roll(6) + d.roll(6) >= 8;
            let down = d.roll(10) < 4;
            let most = d.roll(6) <= 2;
            let total = d.roll(4) + d.roll(4);
            let band = [3, 5, 7].iter().filter(|cut| total >= **cut).count();
            format!("{up}{down}{most}{band}")
        },
    ),
    (
        "each_in_turn",
        "local f = rb.faces(\"2d3\", \"a\") local sum = 0 for _, face in ipairs(f) do sum = sum * 4 + face + roll(2) end return sum",
        |d| {
            let faces = sorted(d, 2, 3);
            faces.iter().fold(0, |sum, face| sum * 4 + face + d.roll(2)).to_string()
        },
    ),
];

/// Exploding dice of which the script uses only what is exact, however often they explode.
#[test]
fn readings_of_exploding_dice_are_exact_if_possible() {
    let of = |part: i64, whole: i64| ratio(part, whole);
    let two = |yes: Fraction| Chances::from([("true".into(), yes.clone()), ("false".into(), of(1, 1) - yes)]);
    // The chance of each total of d4!>=3, by its first face.
    let mut totals = vec![of(0, 1)];
    for total in 1..8_i64 {
        let first = if total < 3 { of(1, 4) } else { of(0, 1) };
        let more = sum([3, 4].iter().filter(|f| **f <= total).map(|f| &totals[(total - f) as usize]));
        totals.push(first + more / of(4, 1));
    }
    let below = sum(&totals);
    let fewer_than_three =
        sum([(1, 20), (20, 19), (190, 18)].map(|(ways, others)| of(ways, 1) * of(5, 1).pow(others))) / of(6, 1).pow(20);
    play_programs(&[
        ("lowest", "return rb.at_most(\"2d4!kl1\", 3, \"x\")", two(of(15, 16))),
        ("highest", "return rb.at_least(\"2d4!>=3kh1\", 8, \"x\")", two(of(1, 1) - &below * &below)),
        ("worthless", "return rb.roll(\"2d6!1>=5\", \"x\") > 0", two(of(16, 25))),
        ("taken_away", "return rb.at_least(\"1d4-1d4!\", -2, \"x\")", two(of(51, 64))),
        ("three_of_many", "return rb.faces(\"20d6kh3\", \"x\")[3] == 6", two(of(1, 1) - fewer_than_three)),
    ]);
}

#[test]
fn forty_odd_cards_have_the_odds_that_brute_force_counts() {
    assert!(CARDS.len() >= 40, "{}", CARDS.len());
    let cards: Vec<(&str, &str, Chances)> =
        CARDS.iter().map(|(name, body, counted)| (*name, *body, enumerated(counted))).collect();
    play_programs(&cards);
}
