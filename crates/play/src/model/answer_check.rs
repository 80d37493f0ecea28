//! The one check whether an answer fits a question, used in every mode of play.
//!
//! Inside the host an answer is the position of an option, a list of positions, a number, points, or a text. Ids and
//! labels are looked up only where people or programs see the answer.

use super::bounds::between;
use super::question::{Answer, Ask, Question};
use super::refusal::{Bound, Refusal};

/// The kinds of questions that a script can ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskKind {
    Choose,
    ChooseMany,
    Number,
    Allot,
    Confirm,
    Order,
    Line,
}

impl AskKind {
    pub const ALL: [AskKind; 7] = [
        AskKind::Choose,
        AskKind::ChooseMany,
        AskKind::Number,
        AskKind::Allot,
        AskKind::Confirm,
        AskKind::Order,
        AskKind::Line,
    ];

    pub fn has_options(self) -> bool {
        matches!(self, AskKind::Choose | AskKind::ChooseMany | AskKind::Allot | AskKind::Order)
    }
}

/// The limits of a question on its answer, without labels, notes and reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub kind: AskKind,
    /// The number of options.
    pub count: usize,
    /// The smallest number, the fewest options of a choice of many, or the fewest points of an allotment.
    pub min: i64,
    /// The largest number, the most options, all points, or the most characters of a text.
    pub max: i64,
    /// True if a text is accepted as well as an option.
    pub other: bool,
}

/// The numeric limits that a script gives with a question. `None` for each that it does not give.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub min: Option<i64>,
    pub max: Option<i64>,
    pub total: Option<i64>,
    pub least: Option<i64>,
    pub other: bool,
}

/// The longest text that a question may allow, in characters.
const LONGEST_LINE: i64 = 2000;
/// The longest text if the question sets no limit, in characters.
const USUAL_LINE: i64 = 200;

impl Shape {
    /// Computes the shape of a question with `count` options.
    ///
    /// # Errors
    ///
    /// The name of a number that the question needs but lacks.
    pub fn new(kind: AskKind, count: usize, limits: Limits) -> Result<Shape, &'static str> {
        let Limits { min, max, total, least, other } = limits;
        let all = count as i64;
        let (min, max) = match kind {
            AskKind::Choose | AskKind::Order | AskKind::Confirm => (0, 0),
            AskKind::ChooseMany => {
                let min = min.unwrap_or(0).clamp(0, all);
                (min, max.unwrap_or(all).clamp(min, all))
            }
            AskKind::Number => (min.ok_or("min")?, max.ok_or("max")?),
            AskKind::Allot => {
                let total = total.ok_or("total")?;
                (least.unwrap_or(total).min(total), total)
            }
            AskKind::Line => (0, max.unwrap_or(USUAL_LINE).clamp(1, LONGEST_LINE)),
        };
        Ok(Shape { kind, count, min, max, other: other && kind == AskKind::Choose })
    }
}

/// The options of a question, by position from 0, as far as the check needs them.
pub trait Options {
    fn is_open(&self, at: usize) -> bool;
    /// The most points that an option takes in an allotment. `None` if the option has no limit of its own.
    fn most(&self, at: usize) -> Option<i64>;
}

/// An answer by the positions of its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places<'a> {
    /// One option.
    One(usize),
    /// Options in the order given: for a choice of many or an order.
    Many(&'a [usize]),
    Number(i64),
    /// Points by position; options beyond the end get none.
    Points(&'a [i64]),
    Yes(bool),
    /// A line of text, or a text given instead of an option.
    Text(&'a str),
}

/// The reason why an answer does not fit a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The answer is of another kind than the question.
    Kind,
    /// There is no option at this position.
    NoOption,
    /// The option at this position cannot be chosen now.
    NotOpen(usize),
    Twice(usize),
    /// The wrong number of options was named: this many.
    Count(usize),
    /// An order names only this many of the options.
    Unordered(usize),
    OutOfBounds(i64),
    /// The option at this position cannot take these points.
    Points {
        at: usize,
        points: i64,
        most: i64,
    },
    Sum(i64),
    /// The text has this many characters, which is too long.
    TooLong(i64),
    ControlCharacter,
}

impl Shape {
    /// Checks an answer against the limits and the options.
    ///
    /// # Errors
    ///
    /// The first misfit found.
    pub fn check(&self, options: &(impl Options + ?Sized), answer: Places) -> Result<(), Misfit> {
        match (self.kind, answer) {
            (AskKind::Choose, Places::One(at)) => self.check_open(options, at),
            (AskKind::Choose, Places::Text(text)) if self.other => check_line(text, USUAL_LINE),
            (AskKind::ChooseMany, Places::Many(places)) => {
                self.check_distinct(options, places)?;
                let fits = (self.min..=self.max).contains(&(places.len() as i64));
                if fits { Ok(()) } else { Err(Misfit::Count(places.len())) }
            }
            (AskKind::Order, Places::Many(places)) => {
                self.check_distinct(options, places)?;
                if places.len() == self.count { Ok(()) } else { Err(Misfit::Unordered(places.len())) }
            }
            (AskKind::Number, Places::Number(n)) => {
                if (self.min..=self.max).contains(&n) {
                    Ok(())
                } else {
                    Err(Misfit::OutOfBounds(n))
                }
            }
            (AskKind::Allot, Places::Points(points)) => self.check_points(options, points),
            (AskKind::Confirm, Places::Yes(_)) => Ok(()),
            (AskKind::Line, Places::Text(text)) => check_line(text, self.max),
            _ => Err(Misfit::Kind),
        }
    }

    fn check_open(&self, options: &(impl Options + ?Sized), at: usize) -> Result<(), Misfit> {
        if at >= self.count {
            return Err(Misfit::NoOption);
        }
        if options.is_open(at) { Ok(()) } else { Err(Misfit::NotOpen(at)) }
    }

    fn check_distinct(&self, options: &(impl Options + ?Sized), places: &[usize]) -> Result<(), Misfit> {
        for (nth, at) in places.iter().enumerate() {
            self.check_open(options, *at)?;
            if places[..nth].contains(at) {
                return Err(Misfit::Twice(*at));
            }
        }
        Ok(())
    }

    fn check_points(&self, options: &(impl Options + ?Sized), points: &[i64]) -> Result<(), Misfit> {
        if points.len() > self.count {
            return Err(Misfit::NoOption);
        }
        let mut sum = 0_i64;
        for (at, points) in points.iter().copied().enumerate().filter(|(_, points)| *points != 0) {
            self.check_open(options, at)?;
            let most = options.most(at).unwrap_or(self.max);
            if points < 0 || points > most {
                return Err(Misfit::Points { at, points, most });
            }
            sum = sum.saturating_add(points);
        }
        if (self.min..=self.max).contains(&sum) { Ok(()) } else { Err(Misfit::Sum(sum)) }
    }
}

fn check_line(text: &str, most: i64) -> Result<(), Misfit> {
    let length = text.chars().count() as i64;
    if length > most {
        return Err(Misfit::TooLong(length));
    }
    if text.chars().any(char::is_control) {
        return Err(Misfit::ControlCharacter);
    }
    Ok(())
}

impl Misfit {
    /// Converts the misfit to a refusal. `topic` is the question's; `label` names the option at a position, `reason`
    /// says why it cannot be chosen.
    pub fn refusal(
        self,
        shape: &Shape,
        topic: &str,
        label: impl Fn(usize) -> String,
        reason: impl Fn(usize) -> Option<String>,
    ) -> Refusal {
        let bounds = |bound, given| Refusal::OutOfBounds { bound, given, min: shape.min, max: shape.max };
        match self {
            Misfit::Kind => Refusal::WrongType { topic: None, wanted: shape.wanted(), given: None },
            Misfit::NoOption => Refusal::new("there is no such option"),
            Misfit::NotOpen(at) => Refusal::Greyed { label: label(at), reason: reason(at) },
            Misfit::Twice(at) => Refusal::Twice { label: label(at) },
            Misfit::Count(given) => bounds(Bound::Options, given as i64),
            Misfit::Unordered(given) => {
                let all = shape.count as i64;
                Refusal::OutOfBounds { bound: Bound::Order, given: given as i64, min: all, max: all }
            }
            Misfit::OutOfBounds(n) => bounds(Bound::Number { topic: topic.to_owned() }, n),
            Misfit::Points { at, points, most } => {
                Refusal::OutOfBounds { bound: Bound::Points { label: label(at) }, given: points, min: 0, max: most }
            }
            Misfit::Sum(sum) => bounds(Bound::Total, sum),
            Misfit::TooLong(given) => {
                let max = if shape.kind == AskKind::Line { shape.max } else { USUAL_LINE };
                Refusal::OutOfBounds { bound: Bound::Characters, given, min: 0, max }
            }
            Misfit::ControlCharacter => Refusal::ControlCharacter,
        }
    }
}

impl Shape {
    /// Describes an acceptable answer, for messages.
    pub fn wanted(&self) -> String {
        match self.kind {
            AskKind::Choose => "one of the options".into(),
            AskKind::ChooseMany => format!("{} of the options", between(self.min, self.max)),
            AskKind::Number if self.min == self.max => format!("the number {}", self.min),
            AskKind::Number => format!("a number from {} to {}", self.min, self.max),
            AskKind::Allot => {
                let points = if self.max == 1 { "point" } else { "points" };
                format!("{} {points} divided, for example `a 1, b 2`", between(self.min, self.max))
            }
            AskKind::Confirm => "yes or no".into(),
            AskKind::Order => "all options in an order".into(),
            AskKind::Line => "a line of text".into(),
        }
    }

    /// Describes the value that a policy or a default must return as the answer.
    pub fn returned(&self) -> String {
        match self.kind {
            AskKind::Number => format!("a whole number from {} to {}", self.min, self.max),
            AskKind::Allot => {
                format!("a list of whole numbers, one for each option, {} in all", between(self.min, self.max))
            }
            AskKind::Confirm => "true or false".into(),
            _ => self.wanted(),
        }
    }
}

impl Options for [super::question::Choice] {
    fn is_open(&self, at: usize) -> bool {
        self[at].enabled
    }

    fn most(&self, at: usize) -> Option<i64> {
        self[at].max
    }
}

impl Ask {
    /// The shape of the question; `None` for typed dice, which no script asks.
    #[doc(hidden)]
    pub fn shape(&self) -> Option<Shape> {
        let count = self.options().len();
        let shape = |kind, min, max, other| Some(Shape { kind, count, min, max, other });
        match *self {
            Ask::Choose { other, .. } => shape(AskKind::Choose, 0, 0, other),
            Ask::ChooseMany { min, max, .. } => shape(AskKind::ChooseMany, min as i64, max as i64, false),
            Ask::Number { min, max } => shape(AskKind::Number, min, max, false),
            Ask::Allot { total, least, .. } => shape(AskKind::Allot, least, total, false),
            Ask::Confirm => shape(AskKind::Confirm, 0, 0, false),
            Ask::Order { .. } => shape(AskKind::Order, 0, 0, false),
            Ask::Line { max } => shape(AskKind::Line, 0, max as i64, false),
            Ask::Dice { .. } => None,
        }
    }
}

impl Question {
    /// Checks an exact answer against the question.
    ///
    /// # Errors
    ///
    /// A sentence that names the option, number or rule that does not fit, with the reason the option is greyed.
    pub fn check(&self, answer: &Answer) -> Result<(), Refusal> {
        let Some(shape) = self.ask.shape() else { return self.check_faces(answer) };
        let options = self.ask.options();
        let place = |id: &str| options.iter().position(|option| *option.id == *id);
        let no_option = |id: &str| Refusal::NotAnOption {
            topic: None,
            given: id.to_owned(),
            near: riskbreaker_ruleset::nearest(id, options.iter().map(|option| &*option.id)).map(str::to_owned),
            open: options.iter().filter(|option| option.enabled).map(|option| option.id.clone()).collect(),
        };
        let known = |id: &str| place(id).ok_or_else(|| no_option(id));
        let checked = match answer {
            Answer::Choice(id) => match place(id) {
                Some(at) => shape.check(options, Places::One(at)),
                None if shape.other => shape.check(options, Places::Text(id)),
                None => return Err(no_option(id)),
            },
            Answer::Choices(ids) | Answer::Order(ids) => {
                let many = matches!(answer, Answer::Choices(_)) == (shape.kind == AskKind::ChooseMany);
                let places = ids.iter().map(|id| known(id)).collect::<Result<Vec<_>, _>>()?;
                if many { shape.check(options, Places::Many(&places)) } else { Err(Misfit::Kind) }
            }
            Answer::Number(n) => shape.check(options, Places::Number(*n)),
            Answer::Allotment(parts) => {
                let mut points = vec![0; options.len()];
                let mut named = vec![false; options.len()];
                let mut twice = None;
                for (id, given) in parts {
                    let at = known(id)?;
                    if std::mem::replace(&mut named[at], true) {
                        twice.get_or_insert(at);
                    }
                    points[at] = *given;
                }
                match twice {
                    Some(at) => Err(Misfit::Twice(at)),
                    None => shape.check(options, Places::Points(&points)),
                }
            }
            Answer::Confirm(yes) => shape.check(options, Places::Yes(*yes)),
            Answer::Line(line) => shape.check(options, Places::Text(line)),
            Answer::Faces(_) => Err(Misfit::Kind),
        };
        let label = |at: usize| options[at].label.to_string();
        let reason = |at: usize| options[at].reason.clone();
        checked.map_err(|misfit| misfit.refusal(&shape, &self.topic, label, reason))
    }

    fn check_faces(&self, answer: &Answer) -> Result<(), Refusal> {
        let (Ask::Dice { sides, .. }, Answer::Faces(faces)) = (&self.ask, answer) else {
            return Err(Refusal::WrongType { topic: None, wanted: self.ask.wanted(), given: None });
        };
        if faces.len() != sides.len() {
            let (bound, all) = (Bound::Dice { wanted: self.ask.wanted() }, sides.len() as i64);
            return Err(Refusal::OutOfBounds { bound, given: faces.len() as i64, min: all, max: all });
        }
        for (face, sides) in faces.iter().zip(sides) {
            if *face < 1 || face > sides {
                let (given, max) = (i64::from(*face), i64::from(*sides));
                return Err(Refusal::OutOfBounds { bound: Bound::Face, given, min: 1, max });
            }
        }
        Ok(())
    }
}
