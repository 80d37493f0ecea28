use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::moment::{Moment, Told};

/// The most moments of a scene that are described. In a longer scene these are the most important ones.
const MOST_TOLD: usize = 14;
/// The number of moments in a paragraph.
const IN_A_PARAGRAPH: usize = 5;
/// The most turning points of a scene.
const MOST_TURNING: usize = 2;
/// The most cards that a summary names.
const MOST_FAVOURITES: usize = 3;
/// The fewest actions with cards for which a scene has turning points.
const LEAST_TO_TURN: usize = 4;
/// The most times that a pattern of the rules may occur in a scene; sentences of a more frequent one are left out.
const MOST_REPEATED: usize = 8;
/// The most moments in a row that are described in full although they are less important. More of them get a summary.
const FEW: usize = 2;
/// The most names of a side that are listed.
const MOST_NAMED: usize = 8;

/// A paragraph of a recap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecapParagraph {
    /// The text, in whole sentences.
    pub text: String,
    /// True for a turning point: the ruleset measured a large change of the game's value.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub turning_point: bool,
}

/// The moments of a scene, from which its story is written.
pub struct Telling {
    pub opening: String,
    /// The characters, by side.
    pub cast: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    pub moments: Vec<Moment>,
}

impl Telling {
    /// Returns the story: the opening, the important moments in order, and the sums of all effects.
    pub fn paragraphs(mut self) -> Vec<RecapParagraph> {
        self.drop_repeated();
        let turning = self.turning_points();
        let told = self.told(&turning);
        let mut story = Story::default();
        story.say(self.opening.clone());
        story.say_if(self.faced());
        story.end_paragraph(false);
        let mut passed: Vec<&Moment> = Vec::new();
        for (at, moment) in self.moments.iter().enumerate() {
            if !told.contains(&at) {
                passed.push(moment);
                continue;
            }
            let side = moment.swing.as_ref().map(|(_, side)| side).filter(|_| turning.contains(&at));
            if side.is_some() || story.is_long() {
                story.end_paragraph(false);
            }
            story.pass(&std::mem::take(&mut passed));
            if side.is_some() {
                story.end_paragraph(false);
            }
            story.tell(moment);
            if let Some(side) = side {
                story.say(format!("This was a turning point, in favour of {side}."));
                story.end_paragraph(true);
            }
        }
        story.pass(&passed);
        story.end_paragraph(false);
        story.say_if(self.came_out());
        story.end_paragraph(false);
        story.paragraphs
    }

    /// Removes the sentences of frequent patterns, and moments without a sentence.
    fn drop_repeated(&mut self) {
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        let patterns = self.moments.iter().flat_map(|moment| &moment.sentences).filter_map(|told| told.pattern.clone());
        patterns.for_each(|pattern| *times.entry(pattern).or_default() += 1);
        let is_news = |told: &Told| told.pattern.as_ref().is_none_or(|pattern| times[pattern] <= MOST_REPEATED);
        for moment in &mut self.moments {
            moment.sentences.retain(is_news);
        }
        self.moments.retain(|moment| !moment.sentences.is_empty());
    }

    /// Names both sides, if there are exactly two.
    fn faced(&self) -> Option<String> {
        let names = |all: &Vec<Arc<str>>| match all.len() {
            0..=MOST_NAMED => joined(all.iter().map(|title| title.to_string())),
            more => format!("{} and {} others", all[..MOST_NAMED - 1].join(", "), more + 1 - MOST_NAMED),
        };
        let mut sides = self.cast.values();
        match (sides.next(), sides.next(), sides.next()) {
            (Some(one), Some(other), None) => {
                let faces = if one.len() == 1 { "faces" } else { "face" };
                Some(format!("{} {faces} {}.", names(one), names(other)))
            }
            _ => None,
        }
    }

    /// Returns the indices of the moments that are described.
    fn told(&self, turning: &[usize]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.moments.len()).collect();
        if order.len() > MOST_TOLD {
            order.sort_by_key(|at| std::cmp::Reverse(self.weight(*at, turning)));
            let fixed = self.moments.iter().filter(|moment| moment.is_fixed).count();
            order.truncate(MOST_TOLD.max(fixed));
        }
        order.sort_unstable();
        order
    }

    /// Returns the weight of a moment: larger values are described first, and earlier moments before later ones of
    /// equal weight.
    fn weight(&self, at: usize, turning: &[usize]) -> (bool, bool, i64, bool, usize) {
        let moment = &self.moments[at];
        let swing = moment.swing.as_ref().map_or(0, |(gain, _)| *gain);
        let hurt: i64 = moment.effects.iter().map(|effect| effect.by.abs()).sum();
        let is_said = moment.sentences.iter().any(|told| told.pattern.is_some());
        (moment.is_fixed, turning.contains(&at), swing.max(hurt), is_said, usize::MAX - at)
    }

    /// Returns the moments with the largest gain: the best of each side, if its gain is more than half of the largest
    /// one.
    fn turning_points(&self) -> Vec<usize> {
        let swings = || {
            let all = self.moments.iter().enumerate();
            let all = all.filter(|(_, moment)| !moment.is_end);
            all.filter_map(|(at, moment)| moment.swing.as_ref().map(|(gain, side)| (*gain, at, side)))
        };
        let acted = self.moments.iter().filter(|moment| !moment.cards.is_empty()).count();
        let Some(best) = swings().map(|(gain, ..)| gain).max().filter(|_| acted >= LEAST_TO_TURN) else {
            return Vec::new();
        };
        let mut of_side: BTreeMap<&Arc<str>, (i64, usize)> = BTreeMap::new();
        for (gain, at, side) in swings().filter(|(gain, ..)| gain * 2 > best) {
            let known = of_side.entry(side).or_insert((gain, at));
            if gain > known.0 {
                *known = (gain, at);
            }
        }
        let mut points: Vec<(i64, usize)> = of_side.into_values().collect();
        points.sort_by_key(|(gain, at)| (std::cmp::Reverse(*gain), *at));
        points.into_iter().take(MOST_TURNING).map(|(_, at)| at).collect()
    }

    /// Sums the effects on each character in a sentence.
    fn came_out(&self) -> Option<String> {
        let mut sums: Vec<(Arc<str>, Arc<str>, bool, i64)> = Vec::new();
        for effect in self.moments.iter().flat_map(|moment| &moment.effects) {
            match sums.iter_mut().find(|(title, label, ..)| *title == effect.title && *label == effect.label) {
                Some((.., sum)) => *sum += effect.by,
                None => sums.push((effect.title.clone(), effect.label.clone(), effect.harm, effect.by)),
            }
        }
        // Those with the same effect follow each other, and only the first is told in full.
        let mut told: Vec<((&str, &str), Vec<String>)> = Vec::new();
        for (title, label, harm, sum) in sums.iter().filter(|(.., sum)| *sum != 0) {
            let verb = match (*sum > 0, *harm) {
                (true, true) => "has taken",
                (false, true) => "is rid of",
                (true, false) => "has gained",
                (false, false) => "has lost",
            };
            let sum = sum.abs();
            match told.iter_mut().find(|(same, _)| *same == (verb, &**label)) {
                Some((_, all)) => all.push(format!("{title} {sum}")),
                None => told.push(((verb, label), vec![format!("{title} {verb} {sum} {label}")])),
            }
        }
        let told: Vec<String> = told.into_iter().flat_map(|(_, all)| all).collect();
        (!told.is_empty()).then(|| format!("In all, {}.", joined(told.into_iter())))
    }
}

/// The paragraphs of a story while it is written.
#[derive(Default)]
struct Story {
    paragraphs: Vec<RecapParagraph>,
    open: Vec<String>,
    /// The number of moments in the open paragraph.
    moments: usize,
}

impl Story {
    /// Adds a sentence, unless it repeats the last one.
    fn say(&mut self, sentence: String) {
        if self.open.last() != Some(&sentence) {
            self.open.push(sentence);
        }
    }

    fn say_if(&mut self, sentence: Option<String>) {
        sentence.into_iter().for_each(|sentence| self.say(sentence));
    }

    fn tell(&mut self, moment: &Moment) {
        self.moments += 1;
        moment.sentences.iter().for_each(|told| self.say(told.text.clone()));
    }

    /// Adds moments that are less important: a few in full, more of them as a summary.
    fn pass(&mut self, passed: &[&Moment]) {
        if passed.len() <= FEW {
            passed.iter().for_each(|moment| self.tell(moment));
        } else {
            self.say_if(summary(passed));
        }
    }

    fn is_long(&self) -> bool {
        self.moments >= IN_A_PARAGRAPH
    }

    fn end_paragraph(&mut self, turning_point: bool) {
        self.moments = 0;
        if !self.open.is_empty() {
            let text = std::mem::take(&mut self.open).join(" ");
            self.paragraphs.push(RecapParagraph { text, turning_point });
        }
    }
}

/// Summarizes moments by their cards.
fn summary(passed: &[&Moment]) -> Option<String> {
    let cards: Vec<_> = passed.iter().flat_map(|moment| &moment.cards).collect();
    let mut favourites: Vec<(&Arc<str>, usize)> = Vec::new();
    for (_, card, _) in &cards {
        match favourites.iter_mut().find(|(known, _)| *known == card) {
            Some((_, times)) => *times += 1,
            None => favourites.push((card, 1)),
        }
    }
    favourites.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let mut named: Vec<String> = favourites
        .iter()
        .take(MOST_FAVOURITES)
        .map(|(card, times)| match times {
            1 => card.to_string(),
            2 => format!("{card} twice"),
            times => format!("{card} {} times", number(*times)),
        })
        .collect();
    if favourites.len() > MOST_FAVOURITES {
        named.push("others".to_owned());
    }
    let count = |wanted: bool| cards.iter().filter(|(.., success)| *success == Some(wanted)).count();
    let counted = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("one {one}")),
        more => Some(format!("{} {many}", number(more))),
    };
    let results = [counted(count(true), "succeeds", "succeed"), counted(count(false), "fails", "fail")];
    let results: Vec<String> = results.into_iter().flatten().collect();
    let results = if results.is_empty() { String::new() } else { format!("; {}", joined(results.into_iter())) };
    match cards.len() {
        0 => None,
        1 => Some(format!("{} plays {}.", cards[0].0, cards[0].1)),
        all => {
            let actor = &cards[0].0;
            let play = match cards.iter().all(|card| card.0 == *actor) {
                true => format!("{actor} plays"),
                false => "They play".to_owned(),
            };
            Some(format!("{play} {} more cards: {}{results}.", number(all), joined(named.into_iter())))
        }
    }
}

/// Formats a number, up to twelve in words.
fn number(count: usize) -> String {
    let words = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    count.checked_sub(2).and_then(|at| words.get(at)).map_or_else(|| count.to_string(), |word| (*word).to_owned())
}

/// Joins words by commas, with `and` before the last one.
fn joined(words: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> = words.collect();
    match (words.pop(), words.as_slice()) {
        (None, _) => String::new(),
        (Some(only), []) => only,
        (Some(last), before) => format!("{} and {last}", before.join(", ")),
    }
}
