//! Unbounded loops compared with chains written a second time and solved by Gaussian elimination.

use super::enumeration::Next::{End, On};
use super::enumeration::{Chances, Next, absorbed};
use super::play_programs;

/// One target for each face of a die.
fn faces<S>(sides: i64, place: impl Fn(i64) -> Next<S>) -> Vec<Next<S>> {
    (1..=sides).map(place).collect()
}

fn end<S>(said: impl ToString) -> Next<S> {
    End(said.to_string())
}

#[test]
fn twenty_loops_have_the_odds_of_their_markov_chains() {
    let mut loops: Vec<(&str, &str, Chances)> = Vec::new();
    let mut add = |name, body, chances| loops.push((name, body, chances));

    add(
        "ruin",
        "local n = 7 while n > 0 and n < 12 do if roll(5) <= 2 then n += 1 else n -= 1 end end return n",
        absorbed(7, |n| {
            faces(5, |face| match if face <= 2 { n + 1 } else { n - 1 } {
                0 => end(0),
                12 => end(12),
                n => On(n),
            })
        }),
    );
    add(
        "best_of_five",
        "local a, b = 0, 0 while a < 3 and b < 3 do local x, y = roll(4), roll(4) if x > y then a += 1 elseif y > x then b += 1 end end return a .. b",
        absorbed((0, 0), |(a, b)| {
            let place = |x: i64, y: i64| {
                let (a, b) = (a + i64::from(x > y), b + i64::from(y > x));
                if a == 3 || b == 3 { end(format!("{a}{b}")) } else { On((a, b)) }
            };
            (1..=4).flat_map(|x| (1..=4).map(move |y| place(x, y))).collect()
        }),
    );
    add(
        "album",
        "local seen, n, k = {}, 0, 0 while k < 4 and n < 15 do local r = roll(4) n += 1 if not seen[r] then seen[r] = true k += 1 end end return n .. \":\" .. k",
        absorbed((0_i64, 0_i64), |(n, k)| {
            faces(4, |face| {
                // Only the number of stickers matters.
                let (n, k) = (n + 1, k + i64::from(face > *k));
                if k == 4 || n == 15 { end(format!("{n}:{k}")) } else { On((n, k)) }
            })
        }),
    );
    add(
        "run",
        "local last, run, best = 0, 0, 0 for _ = 1, 12 do local r = roll(3) if r == last then run += 1 else run = 1 end last = r best = math.max(best, run) end return best",
        absorbed((0_i64, 0_i64, 0_i64, 0_i64), |(n, last, run, best)| {
            faces(3, |face| {
                let run = if face == *last { run + 1 } else { 1 };
                let best = *best.max(&run);
                if *n == 11 { end(best) } else { On((n + 1, face, run, best)) }
            })
        }),
    );
    add(
        "pig",
        "local sum = 0 while sum < 12 do local r = roll(6) if r == 1 then return 0 end sum += r end return sum",
        absorbed(0, |sum| {
            faces(6, |face| match (face, sum + face) {
                (1, _) => end(0),
                (_, sum) if sum >= 12 => end(sum),
                (_, sum) => On(sum),
            })
        }),
    );
    add(
        "craps",
        "local first = roll(6) + roll(6) if first == 7 or first == 11 then return \"wins\" elseif first == 2 or first == 3 or first == 12 then return \"loses\" end while true do local next = roll(6) + roll(6) if next == first then return \"wins\" elseif next == 7 then return \"loses\" end end",
        absorbed(0, |point| {
            let place = |sum: i64| match (*point, sum) {
                (0, 7 | 11) => end("wins"),
                (0, 2 | 3 | 12) => end("loses"),
                (0, sum) => On(sum),
                (point, sum) if point == sum => end("wins"),
                (_, 7) => end("loses"),
                (point, _) => On(point),
            };
            (1..=6).flat_map(|x| (1..=6).map(move |y| place(x + y))).collect()
        }),
    );
    add(
        "ladders",
        "local jump, at, down = { [3] = 7, [8] = 2, [9] = 1 }, 0, 0 while at < 10 do local to = at + roll(3) if jump[to] then if jump[to] < to then down = math.min(down + 1, 2) end to = jump[to] end at = to end return at .. \":\" .. down",
        absorbed((0, 0), |(at, down)| {
            faces(3, |face| {
                let to = at + face;
                let jump = match to {
                    3 => 7,
                    8 => 2,
                    9 => 1,
                    to => to,
                };
                let down = if jump < to { (down + 1).min(2) } else { *down };
                if jump >= 10 { end(format!("{jump}:{down}")) } else { On((jump, down)) }
            })
        }),
    );
    add(
        "doubled",
        "local purse, stake = 15, 1 while purse > 0 and purse < 20 do local s = math.min(stake, purse) if roll(37) <= 18 then purse += s stake = 1 else purse -= s stake = s * 2 end end return purse > 0",
        absorbed((15, 1), |(purse, stake)| {
            faces(37, |face| {
                let stake = *stake.min(purse);
                let (purse, stake) = if face <= 18 { (purse + stake, 1) } else { (purse - stake, stake * 2) };
                if purse <= 0 || purse >= 20 { end(purse > 0) } else { On((purse, stake)) }
            })
        }),
    );
    add(
        "fencing",
        "local p = { 6, 5 } local at = 1 while p[1] > 0 and p[2] > 0 do local r = roll(6) if r == 6 then p[3 - at] -= 2 elseif r >= 4 then p[3 - at] -= 1 end at = 3 - at end return math.max(p[1], 0) .. \":\" .. math.max(p[2], 0)",
        absorbed(([6, 5], 0), |(p, at)| {
            faces(6, |face| {
                let mut p = *p;
                p[1 - at] -= if face == 6 { 2 } else { i64::from(face >= 4) };
                if p.iter().any(|p| *p <= 0) {
                    end(format!("{}:{}", p[0].max(0), p[1].max(0)))
                } else {
                    On((p, 1 - at))
                }
            })
        }),
    );
    add(
        "three_at_once",
        "local t = { a = 3, b = 3, c = 3 } local order = { \"a\", \"b\", \"c\" } while true do for _, who in order do if roll(3) == 1 then t[who] -= 1 if t[who] == 0 then return who end end end end",
        absorbed(([3, 3, 3], 0), |(t, at)| {
            faces(3, |face| {
                let mut t = *t;
                t[*at] -= i64::from(face == 1);
                if t[*at] == 0 { end(["a", "b", "c"][*at]) } else { On((t, (at + 1) % 3)) }
            })
        }),
    );
    add(
        "weather",
        "local to = { sun = { \"sun\", \"sun\", \"rain\" }, rain = { \"sun\", \"rain\", \"fog\" }, fog = { \"fog\", \"sun\", \"rain\" } } local now, wet = \"fog\", 0 while true do local next = to[now][roll(3)] if next == \"sun\" and now == \"sun\" then return wet end if next == \"rain\" then wet = math.min(wet + 1, 5) end now = next end",
        absorbed((2_usize, 0), |(now, wet)| {
            faces(3, |face| {
                let next = [[0, 0, 1], [0, 1, 2], [2, 0, 1]][*now][face as usize - 1];
                if (*now, next) == (0, 0) {
                    return end(wet);
                }
                On((next, if next == 1 { (wet + 1).min(5) } else { *wet }))
            })
        }),
    );
    add(
        "round_the_ring",
        "local seen, count, at = { [0] = true }, 1, 0 while count < 5 do at = (at + (if roll(2) == 1 then 1 else -1)) % 5 if not seen[at] then seen[at] = true count += 1 end end return at",
        absorbed((1_u32, 0_i64), |(seen, at)| {
            faces(2, |face| {
                let at = (at + if face == 1 { 1 } else { 4 }) % 5;
                let seen = seen | 1 << at;
                if seen == 31 { end(at) } else { On((seen, at)) }
            })
        }),
    );
    add(
        "penney",
        "local s = \"\" while true do s ..= if roll(2) == 1 then \"H\" else \"T\" if s:sub(-3) == \"HTH\" then return \"HTH\" elseif s:sub(-3) == \"THH\" then return \"THH\" end s = s:sub(-2) end",
        absorbed(String::new(), |s| {
            faces(2, |face| {
                let s = format!("{s}{}", if face == 1 { "H" } else { "T" });
                if s.ends_with("HTH") || s.ends_with("THH") {
                    end(s)
                } else {
                    On(s[s.len().saturating_sub(2)..].to_owned())
                }
            })
        }),
    );
    add(
        "line_of_people",
        "local q = { 1, 1 } local served = 0 while #q > 0 and #q < 5 do local r = roll(5) if r <= 2 then q[#q + 1] = 1 elseif r <= 4 then q[#q] = nil served = math.min(served + 1, 3) end end return #q .. \":\" .. served",
        absorbed((2, 0), |(q, served)| {
            faces(5, |face| match face {
                1 | 2 if q + 1 == 5 => end(format!("5:{served}")),
                1 | 2 => On((q + 1, *served)),
                3 | 4 if q - 1 == 0 => end(format!("0:{}", (served + 1).min(3))),
                3 | 4 => On((q - 1, (served + 1).min(3))),
                _ => On((*q, *served)),
            })
        }),
    );
    add(
        "not_a_one",
        "local sum = 0 repeat local r repeat r = roll(4) until r ~= 1 sum += r until sum >= 10 return sum",
        absorbed(0, |sum| (2..=4).map(|r| if sum + r >= 10 { end(sum + r) } else { On(sum + r) }).collect()),
    );
    add(
        "by_recursion",
        "local function go(n) if n == 0 or n == 6 then return n end if roll(3) == 1 then return go(n - 1) end return go(n + 1) end return go(2)",
        absorbed(2, |n| {
            faces(3, |face| match if face == 1 { n - 1 } else { n + 1 } {
                0 => end(0),
                6 => end(6),
                n => On(n),
            })
        }),
    );
    add(
        "two_in_a_row",
        "local last = \"\" local n = 0 while true do local now = tostring(roll(3)) n = (n + 1) % 4 if last .. now == \"33\" then return n end last = now end",
        absorbed((0, 0), |(last, n)| {
            faces(3, |face| {
                let n = (n + 1) % 4;
                if (*last, face) == (3, 3) { end(n) } else { On((face, n)) }
            })
        }),
    );
    add(
        "urns",
        "local t = { 2, 1 } while t[1] > 0 and t[2] > 0 and t[1] + t[2] < 7 do local r = roll(t[1] + t[2]) local i = if r <= t[1] then 1 else 2 if roll(2) == 1 then t[i] += 1 else t[i] -= 1 end end return t[1] .. \":\" .. t[2]",
        absorbed([2, 1], |t| {
            // Every ball with both of its possible events.
            let places = (1..=t[0] + t[1]).flat_map(|r| [(r, 1), (r, -1)]);
            places
                .map(|(r, by)| {
                    let mut t = *t;
                    t[usize::from(r > t[0])] += by;
                    if t[0] == 0 || t[1] == 0 || t[0] + t[1] == 7 { end(format!("{}:{}", t[0], t[1])) } else { On(t) }
                })
                .collect()
        }),
    );
    add(
        "states_that_are_functions",
        "local idle, busy, broken idle = function() return if roll(3) == 1 then busy else idle end busy = function() local r = roll(4) return if r == 1 then broken elseif r == 2 then nil else idle end broken = function() return if roll(2) == 1 then idle else nil end local at, last = idle, nil while at do last = at at = at() end return last == busy",
        absorbed(0, |at| match at {
            0 => faces(3, |face| On(if face == 1 { 1 } else { 0 })),
            1 => faces(4, |face| match face {
                1 => On(2),
                2 => end(true),
                _ => On(0),
            }),
            _ => faces(2, |face| if face == 1 { On(0) } else { end(false) }),
        }),
    );
    add(
        "again_in_again",
        "return rb.again(function() local x = roll(4) local y = rb.again(function() local y = roll(3) return if y > 1 then y else nil end) return if x + y > 4 then x * 10 + y else nil end)",
        absorbed(0, |x| match x {
            0 => faces(4, On),
            x => (2..=3).map(|y| if x + y > 4 { end(x * 10 + y) } else { On(0) }).collect(),
        }),
    );
    add(
        "again_without_a_roll_inside",
        "return rb.again(function() local x = roll(4) local y = rb.again(function() return 1 end) return if x + y > 3 then x else nil end)",
        absorbed(0, |_| faces(4, |face| if face > 2 { end(face) } else { On(0) })),
    );
    add(
        "in_a_record",
        "local r = { sum = 0, last = 0 } while r.sum < 4 do r.last = roll(3) r.sum = if r.last == 1 then 0 else r.sum + r.last - 1 end return r.sum .. \":\" .. r.last",
        absorbed(0, |n| {
            faces(3, |face| {
                let n = if face == 1 { 0 } else { n + face - 1 };
                if n >= 4 { end(format!("{n}:{face}")) } else { On(n) }
            })
        }),
    );
    add(
        "carried_along",
        "local function go(n, ...) if n == 0 then return select(\"#\", ...) .. tostring((...)) end local r = roll(3) if r == 3 then return go(n, r) end return go(n - 1, r, ...) end return go(3)",
        absorbed((3, Vec::new()), |(n, carried): &(i64, Vec<i64>)| {
            faces(3, |face| {
                if face == 3 {
                    return On((*n, vec![3]));
                }
                let carried = [&[face], carried.as_slice()].concat();
                if *n == 1 { end(format!("{}{}", carried.len(), carried[0])) } else { On((n - 1, carried)) }
            })
        }),
    );
    add(
        "iterator_that_rolls",
        "local function seq() local a, b = 1, 1 return function() local c = (a + b * roll(2)) % 7 a, b = b, c if c == 0 then return nil end return a, c end end local last = 1 for _, c in seq() do last = c end return last",
        absorbed((1, 1), |(a, b)| {
            faces(2, |face| match (a + b * face) % 7 {
                0 => end(b),
                c => On((*b, c)),
            })
        }),
    );
    add(
        "snakes",
        "local jump = { [3] = 7, [8] = 2, [9] = 4 } local at, n = 0, 0 while at ~= 10 do local to = at + roll(4) if to > 10 then to = at end at = jump[to] or to n = if n < 6 then n + 1 else 6 end return if n < 6 then n else \"long\"",
        absorbed((0, 0), |(at, n)| {
            faces(4, |face| {
                let to = if at + face > 10 { *at } else { at + face };
                let to = match to {
                    3 => 7,
                    8 => 2,
                    9 => 4,
                    to => to,
                };
                match (to, (n + 1).min(6)) {
                    (10, 6) => end("long"),
                    (10, n) => end(n),
                    place => On(place),
                }
            })
        }),
    );
    add(
        "deque",
        "local l, r = { 1, 2 }, { 3 } while #l > 0 and #r > 0 do if roll(2) == 1 then table.insert(r, table.remove(l, 1)) else table.insert(l, table.remove(r, 1)) end end return if #l == 0 then \"right\" .. table.concat(r, \"\") else \"left\" .. table.concat(l, \"\")",
        absorbed((vec![1, 2], vec![3]), |(l, r): &(Vec<i64>, Vec<i64>)| {
            faces(2, |face| {
                let (mut l, mut r) = (l.clone(), r.clone());
                if face == 1 {
                    r.push(l.remove(0));
                } else {
                    l.push(r.remove(0));
                }
                let text = |list: &[i64]| list.iter().map(i64::to_string).collect::<String>();
                if l.is_empty() {
                    end(format!("right{}", text(&r)))
                } else if r.is_empty() {
                    end(format!("left{}", text(&l)))
                } else {
                    On((l, r))
                }
            })
        }),
    );
    add(
        "deck",
        "local deck = { 1, 1, 5, 9 } while true do local c c, deck = rb.draw(deck) if c == 9 then return #deck end if c == 5 then deck = { 1, 1, 5, 9 } end end",
        absorbed(vec![1, 1, 5, 9], |deck: &Vec<i64>| {
            (0..deck.len())
                .map(|at| {
                    let mut left = deck.clone();
                    match left.remove(at) {
                        9 => end(left.len()),
                        5 => On(vec![1, 1, 5, 9]),
                        _ => On(left),
                    }
                })
                .collect()
        }),
    );
    add(
        "way_back_up",
        "local deep = false local function down(d) while not deep do if roll(2) == 2 then return elseif d >= 4 then deep = true else down(d + 1) end end end down(0) return if deep then \"deep\" else \"top\"",
        absorbed(0, |d| {
            faces(2, |face| match (face, *d) {
                (1, 4) => end("deep"),
                (1, d) => On(d + 1),
                (_, 0) => end("top"),
                (_, d) => On(d - 1),
            })
        }),
    );
    add(
        "text_of_three",
        "local s = \"\" while s ~= \"aba\" and s ~= \"bbb\" do s = (s .. (if roll(2) == 1 then \"a\" else \"b\")):sub(-3) end return s",
        absorbed(String::new(), |s| {
            faces(2, |face| {
                let s = format!("{s}{}", if face == 1 { 'a' } else { 'b' });
                let s = s[s.len().saturating_sub(3)..].to_string();
                if s == "aba" || s == "bbb" { end(s) } else { On(s) }
            })
        }),
    );
    assert!(loops.len() >= 20, "{}", loops.len());
    play_programs(&loops);
}
