//! Geometry in the plane with whole numbers: only final results are rounded.

use mlua::{Lua, Result, Table, Value as Lv};

use super::super::account::charge;
use super::super::conversion::whole_of;

/// Up to this distance, points along a line are exact; beyond, they have the precision of floating point, equal on all
/// machines.
const FARTHEST: i64 = 1 << 30;

/// Larger than the square of any distance.
const LARGEST: f64 = 1e36;

pub(super) fn add(lua: &Lua, table: &Table) -> Result<()> {
    // The whole part of a square root. `nil` unless the argument is a whole number of at least 0.
    let root = lua.create_function(|_, n: Lv| {
        charge(2);
        let n = match n {
            Lv::Integer(n) => u128::try_from(n).ok(),
            Lv::Number(n) if n >= 0.0 && n.fract() == 0.0 && n < LARGEST => Some(n as u128),
            _ => None,
        };
        Ok(n.map(|n| n.isqrt() as f64))
    })?;
    table.raw_set("root", root)?;
    // towards(x, y, x, y, distance): returns a list of two, or nothing
    let towards = lua.create_function(|_, (x, y, to_x, to_y, far): (Lv, Lv, Lv, Lv, Lv)| {
        charge(8);
        Ok(places([&x, &y, &to_x, &to_y, &far]).map(|[x, y, to_x, to_y, far]| {
            let (dx, dy) = (to_x - x, to_y - y);
            [x + share(dx, dy, far), y + share(dy, dx, far)]
        }))
    })?;
    table.raw_set("towards", towards)?;
    Ok(())
}

fn places<const N: usize>(given: [&Lv; N]) -> Option<[i64; N]> {
    let mut found = [0; N];
    for (place, value) in found.iter_mut().zip(given) {
        *place = whole_of(value)?;
    }
    Some(found)
}

/// The first coordinate of a step of length `far` along the vector (`own`, `other`), rounded to the nearest whole
/// number, away from 0 if two are equally near. 0 for a vector of length 0.
fn share(own: i64, other: i64, far: i64) -> i64 {
    if [own, other, far].iter().any(|n| n.unsigned_abs() > FARTHEST as u64) {
        let (own, other) = (own as f64, other as f64);
        return (own * far as f64 / (own * own + other * other).sqrt()).round() as i64;
    }
    let length = i128::from(own) * i128::from(own) + i128::from(other) * i128::from(other);
    if length == 0 {
        return 0;
    }
    // 2 * |own| * |far| / sqrt(length), rounded down: the root of its square.
    let doubled = 2 * i128::from(own) * i128::from(far);
    let twice = (doubled * doubled / length).isqrt() as i64;
    (twice + 1) / 2 * own.signum() * far.signum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_a_way_is_the_nearest_whole_number() {
        for (own, other) in [(3, 4), (-3, 4), (1, 1), (-7, 2), (0, 5), (5, 0), (1_000, 1), (-99_991, 12_345)] {
            for far in [0, 1, 2, 5, 10, 99, -7, 12_000] {
                let exact = own as f64 * far as f64 / (own as f64).hypot(other as f64);
                let found = share(own, other, far);
                assert!((found as f64 - exact).abs() <= 0.5 + 1e-9, "{own} {other} {far}: {found}, not {exact}");
            }
        }
        assert_eq!(share(0, 0, 5), 0);
        assert_eq!((share(3, 4, 5), share(4, 3, 5)), (3, 4));
        assert_eq!(share(1, 0, 1 << 24), 1 << 24);
        assert_eq!((share(3 << 40, 4 << 40, 5 << 20), share(1 << 30, 0, 1 << 30)), (3 << 20, 1 << 30));
    }
}
