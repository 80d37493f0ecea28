use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};

use dashu_int::UBig;
use dashu_int::ops::BitTest;

/// The most totals in a list.
const MOST_TOTALS: usize = 1_000_000;
/// The most pairs that are added one by one if the result is too wide to be packed.
const MOST_PAIRS: usize = 200_000;
/// The largest packed number, in words of 64 bits: 4 MiB.
const MOST_WORDS: u64 = 1 << 19;
/// The most work for one expression, in products of two words; about a second.
const MOST_PRODUCTS: u64 = 1 << 30;
/// The cost of adding one pair, in products of two words.
const COST_OF_PAIR: u64 = 64;
/// Up to this number, pairs are added one by one.
const FEW_PAIRS: usize = 1 << 12;

/// Totals with their numbers of ways, in rising order; each number is above 0.
///
/// Sums of dice are products of polynomials: the exponent is the total, the coefficient its number of ways. Such a
/// polynomial is packed into one large number (Kronecker's substitution). Each coefficient has its own digits, wide
/// enough for the result, so one multiplication of large numbers multiplies the polynomials.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Weights {
    ways: Vec<(i64, UBig)>,
}

/// The error of a computation that would take too much time or memory.
#[derive(Debug)]
pub(super) struct TooMuch;

/// The work left for an expression. It is estimated from sizes, so that refusals do not depend on a clock.
#[derive(Debug, Default)]
pub struct Effort {
    products: u64,
}

impl Effort {
    pub(super) fn new() -> Effort {
        Effort { products: MOST_PRODUCTS }
    }

    /// Allows at most this many products of two words, for several expressions together.
    pub fn at_most(products: u64) -> Effort {
        Effort { products: products.min(MOST_PRODUCTS) }
    }

    pub(super) fn spend(&mut self, products: u64) -> Result<(), TooMuch> {
        self.products = self.products.checked_sub(products).ok_or(TooMuch)?;
        Ok(())
    }

    /// Spends the cost of multiplying two numbers with these numbers of words. The cost grows more slowly than the
    /// product of the two.
    fn spend_on_product(&mut self, words: u64, other: u64) -> Result<(), TooMuch> {
        let (small, large) = (words.min(other) + 1, words.max(other) + 1);
        self.spend(large.saturating_mul(small.isqrt()).saturating_mul(6))
    }
}

impl Weights {
    /// Creates a list of totals in rising order, without those of weight 0.
    pub fn new(ways: impl IntoIterator<Item = (i64, UBig)>) -> Result<Weights, TooMuch> {
        let ways: Vec<_> = ways.into_iter().filter(|(_, n)| !n.is_zero()).take(MOST_TOTALS + 1).collect();
        if ways.len() > MOST_TOTALS { Err(TooMuch) } else { Ok(Weights { ways }) }
    }

    pub fn certain(total: i64) -> Weights {
        Weights { ways: vec![(total, UBig::ONE)] }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, (i64, UBig)> {
        self.ways.iter()
    }

    /// The part of the list whose totals lie in a range.
    pub fn within(&self, totals: impl RangeBounds<i64>) -> &[(i64, UBig)] {
        let from = match totals.start_bound() {
            Bound::Included(low) => self.ways.partition_point(|(total, _)| total < low),
            Bound::Excluded(low) => self.ways.partition_point(|(total, _)| total <= low),
            Bound::Unbounded => 0,
        };
        let to = match totals.end_bound() {
            Bound::Included(high) => self.ways.partition_point(|(total, _)| total <= high),
            Bound::Excluded(high) => self.ways.partition_point(|(total, _)| total < high),
            Bound::Unbounded => self.ways.len(),
        };
        &self.ways[from..to.max(from)]
    }

    /// Replaces every total, and adds the weights of those that become equal.
    pub fn mapped(self, into: impl Fn(i64) -> i64) -> Weights {
        let mut ways: BTreeMap<i64, UBig> = BTreeMap::new();
        for (total, n) in self.ways {
            *ways.entry(into(total)).or_default() += n;
        }
        Weights { ways: ways.into_iter().collect() }
    }

    /// The lowest total, if there is one.
    pub fn least(&self) -> Option<i64> {
        Some(self.ways.first()?.0)
    }

    /// The highest total, if there is one.
    pub fn most(&self) -> Option<i64> {
        Some(self.ways.last()?.0)
    }

    pub fn len(&self) -> usize {
        self.ways.len()
    }

    pub fn sum(&self) -> UBig {
        self.ways.iter().map(|(_, n)| n).sum()
    }

    /// Every total multiplied by `factor`.
    pub fn times(&self, factor: i64) -> Weights {
        if factor == 0 {
            return Weights { ways: vec![(0, self.sum())] };
        }
        let mut ways: Vec<_> = self.ways.iter().map(|(total, n)| (total * factor, n.clone())).collect();
        if factor < 0 {
            ways.reverse();
        }
        Weights { ways }
    }

    /// Every number of ways multiplied by `factor`.
    pub fn scaled(&self, factor: &UBig, effort: &mut Effort) -> Result<Weights, TooMuch> {
        let digits = self.ways.last().map_or(0, |(_, n)| n.bit_len() as u64 / 32) + COST_OF_PAIR;
        effort.spend(digits.saturating_mul(self.ways.len() as u64))?;
        let ways = self.ways.iter().map(|(total, n)| (*total, n * factor));
        Ok(Weights { ways: ways.collect() })
    }

    /// Splits the totals into those for which `first` holds and the others.
    pub fn split(self, first: impl Fn(i64) -> bool) -> (Weights, Weights) {
        let (yes, no) = self.ways.into_iter().partition(|&(total, _)| first(total));
        (Weights { ways: yes }, Weights { ways: no })
    }

    /// Adds the weights of two lists.
    pub fn merged(self, other: Weights) -> Weights {
        let mut ways: BTreeMap<i64, UBig> = self.ways.into_iter().collect();
        for (total, n) in other.ways {
            *ways.entry(total).or_default() += n;
        }
        Weights { ways: ways.into_iter().collect() }
    }

    /// The sums of a total of each list.
    pub fn plus(&self, other: &Weights, effort: &mut Effort) -> Result<Weights, TooMuch> {
        let (Some((low, high)), Some((other_low, other_high))) = (self.bounds(), other.bounds()) else {
            return Ok(Weights::default());
        };
        // One certain total shifts the other list.
        for (one, list) in [(self, other), (other, self)] {
            if let [(by, n)] = one.ways.as_slice()
                && n.is_one()
            {
                let moved = list.ways.iter().map(|(total, n)| (total + by, n.clone()));
                return Ok(Weights { ways: moved.collect() });
            }
        }
        let whole = self.sum() * other.sum();
        let packing = Packing::new(low + other_low, high + other_high, &whole);
        let pairs = self.len().saturating_mul(other.len());
        if pairs > FEW_PAIRS && packing.fits() {
            effort.spend_on_product(packing.words_for(low, high), packing.words_for(other_low, other_high))?;
            let packed = packing.pack(&self.ways, low) * packing.pack(&other.ways, other_low);
            return packing.unpack(&packed, low + other_low);
        }
        if pairs > MOST_PAIRS {
            return Err(TooMuch);
        }
        effort.spend((pairs as u64).saturating_mul(COST_OF_PAIR + packing.digits))?;
        let mut ways: BTreeMap<i64, UBig> = BTreeMap::new();
        for (total, n) in &self.ways {
            for (other_total, m) in &other.ways {
                *ways.entry(total + other_total).or_default() += n * m;
            }
        }
        Ok(Weights { ways: ways.into_iter().collect() })
    }

    /// The sums of `count` dice, if these are the weights of one die. `whole`: the sum of a die's weights.
    pub fn of_sum(&self, count: u32, whole: &UBig, effort: &mut Effort) -> Result<Weights, TooMuch> {
        let Some((low, high)) = self.bounds() else {
            return Ok(Weights::default());
        };
        let n = i64::from(count);
        if count == 1 {
            return Ok(self.clone());
        }
        if low == high {
            return Ok(Weights { ways: vec![(low * n, self.sum().pow(count as usize))] });
        }
        let packing = Packing::for_dice(low * n, high * n, count, whole).checked()?;
        effort.spend_on_product(packing.words(), packing.words())?;
        packing.unpack(&packing.pack(&self.ways, low).pow(count as usize), low * n)
    }

    /// The sums of the `kept` highest of `count` dice, if these are the weights of one die. `whole`: the sum of a die's
    /// weights.
    ///
    /// Counts by the lowest kept die and the number of dice above it. Let it show `t`: `above` dice show more, and at
    /// least `kept - above` dice show `t`. The sums of the dice above are counted by their polynomial to that power.
    /// The dice at `t` add `(kept - above) * t`, and the dice below do not matter.
    ///
    /// `all`: the ways of one die that is not kept, including those below the list.
    pub fn of_highest(
        &self,
        kept: u32,
        count: u32,
        whole: &UBig,
        all: UBig,
        effort: &mut Effort,
    ) -> Result<Weights, TooMuch> {
        let Some((low, high)) = self.bounds() else {
            return Ok(Weights::default());
        };
        if kept == count {
            return self.of_sum(count, whole, effort);
        }
        let k = i64::from(kept);
        let packing = Packing::for_dice(low * k, high * k, count, whole).checked()?;
        effort.spend(packing.products_of_choice(self.len(), kept, count))?;
        let mut sum = UBig::ZERO;
        // The powers of the polynomial of the totals above `t`, by exponent.
        let mut powers = vec![UBig::ZERO; kept as usize];
        powers[0] = UBig::ONE;
        let mut below = all;
        for (t, at) in self.ways.iter().rev() {
            below -= at;
            let mut choices = UBig::ONE;
            for (above, of_above) in (0..).zip(&powers) {
                let ways = at_least(kept - above, count - above, at, &below) * &choices * of_above;
                sum += ways << packing.shift(i64::from(kept - above) * (t - low));
                choices = choices * (count - above) / (above + 1);
            }
            packing.add_monomial(&mut powers, at, t - low);
        }
        packing.unpack(&sum, low * k)
    }

    fn bounds(&self) -> Option<(i64, i64)> {
        Some((self.least()?, self.most()?))
    }
}

/// The layout of a polynomial in one large number.
struct Packing {
    /// The number of coefficients of the result.
    width: u64,
    /// The number of 32-bit digits of each coefficient.
    digits: u64,
}

impl Packing {
    /// The layout for the totals `low..=high` with up to `whole` ways.
    fn new(low: i64, high: i64, whole: &UBig) -> Packing {
        Packing { width: low.abs_diff(high) + 1, digits: whole.bit_len() as u64 / 32 + 1 }
    }

    /// The layout for the totals of `count` dice with `whole` ways each.
    fn for_dice(low: i64, high: i64, count: u32, whole: &UBig) -> Packing {
        Packing { width: low.abs_diff(high) + 1, digits: whole.bit_len() as u64 * u64::from(count) / 32 + 1 }
    }

    /// Bytes of each coefficient.
    fn bytes(&self) -> usize {
        4 * self.digits as usize
    }

    /// Words of 64 bits of the result.
    fn words(&self) -> u64 {
        self.width.saturating_mul(self.digits) / 2
    }

    /// Words of 64 bits for the totals `low..=high`.
    fn words_for(&self, low: i64, high: i64) -> u64 {
        (low.abs_diff(high) + 1).saturating_mul(self.digits) / 2
    }

    fn fits(&self) -> bool {
        self.words() <= MOST_WORDS && self.width <= MOST_TOTALS as u64
    }

    fn checked(self) -> Result<Packing, TooMuch> {
        if self.fits() { Ok(self) } else { Err(TooMuch) }
    }

    /// Adds a monomial, with `at` ways to get `total`, to a polynomial given by its powers.
    ///
    /// By the binomial theorem: (p + m)^n is the sum over j of (n over j) times p^(n - j) times m^j.
    fn add_monomial(&self, powers: &mut [UBig], at: &UBig, total: i64) {
        for n in (1..powers.len()).rev() {
            let mut factor = UBig::ONE;
            let (lower, power) = powers.split_at_mut(n);
            for (j, lower) in (1..).zip(lower.iter().rev()) {
                factor = factor * at * (n + 1 - j) / j;
                if !lower.is_zero() {
                    power[0] += (lower * &factor) << self.shift(total * j as i64);
                }
            }
        }
    }

    /// Estimates the number of products of words needed to choose `kept` of `count` dice with `faces` totals each.
    fn products_of_choice(&self, faces: usize, kept: u32, count: u32) -> u64 {
        let [faces, kept, count] = [faces as u64, kept.into(), count.into()];
        let of_coefficient = self.digits / 2 + 1;
        let of_factor = of_coefficient * kept / count + 1;
        let powers = kept.saturating_mul(self.words() + 1).saturating_mul(of_factor) / 4;
        let tails = kept.min(count - kept + 1).saturating_mul(of_coefficient * of_coefficient * 4 + 16);
        (faces * kept).saturating_mul(powers.saturating_add(tails))
    }

    /// The number of bits to shift for totals that are larger by `total`, which is not negative.
    fn shift(&self, total: i64) -> usize {
        (total.unsigned_abs() * self.digits * 32) as usize
    }

    /// Packs `ways`, whose totals are `low` or more.
    fn pack(&self, ways: &[(i64, UBig)], low: i64) -> UBig {
        let Some((high, _)) = ways.last() else {
            return UBig::ZERO;
        };
        let mut packed = vec![0; (high.abs_diff(low) as usize + 1) * self.bytes()];
        for (total, n) in ways {
            let (start, bytes) = (total.abs_diff(low) as usize * self.bytes(), n.to_le_bytes());
            packed[start..start + bytes.len()].copy_from_slice(&bytes);
        }
        UBig::from_le_bytes(&packed)
    }

    fn unpack(&self, packed: &UBig, low: i64) -> Result<Weights, TooMuch> {
        let packed = packed.to_le_bytes();
        let coefficients = packed.chunks(self.bytes());
        Weights::new((low..).zip(coefficients.map(UBig::from_le_bytes)))
    }
}

/// The number of ways in which at least `least` of `dice` dice show a face with `at` ways, and the others one with
/// `below`.
fn at_least(least: u32, dice: u32, at: &UBig, below: &UBig) -> UBig {
    let exactly = |from: u32, to: u32| {
        let mut choices = choose(dice, from);
        let mut sum = UBig::ZERO;
        for n in from..to {
            sum += &choices * at.pow(n as usize) * below.pow((dice - n) as usize);
            choices = choices * (dice - n) / (n + 1);
        }
        sum
    };
    if least <= dice - least { (at + below).pow(dice as usize) - exactly(0, least) } else { exactly(least, dice + 1) }
}

/// The number of ways to choose `n` of `dice` dice.
fn choose(dice: u32, n: u32) -> UBig {
    let n = n.min(dice - n);
    (0..n).fold(UBig::ONE, |choices, i| choices * (dice - i) / (i + 1))
}
