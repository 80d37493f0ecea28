//! All answers that a question accepts.

use std::sync::Arc;

use super::question::{Answer, Ask, Question};

impl Question {
    /// Lists every answer that the question accepts, in the order of its options. `None` if there are more than `most`,
    /// or if any line of text is accepted.
    pub fn answers(&self, most: usize) -> Option<Vec<Answer>> {
        let ids: Vec<Arc<str>> =
            self.ask.options().iter().filter(|option| option.enabled).map(|option| option.id.clone()).collect();
        let answers: Vec<Answer> = match &self.ask {
            // Any text is an answer.
            Ask::Choose { other: true, .. } if ids.is_empty() => return None,
            Ask::Choose { .. } => ids.into_iter().map(Answer::Choice).collect(),
            Ask::ChooseMany { min, max, .. } => {
                let mut sets = vec![Vec::new()];
                for id in ids {
                    let with: Vec<Vec<Arc<str>>> = sets
                        .iter()
                        .filter(|set| set.len() < *max)
                        .map(|set| set.iter().cloned().chain([id.clone()]).collect())
                        .collect();
                    sets.extend(with);
                    if sets.len() > most.saturating_mul(4) {
                        return None;
                    }
                }
                sets.into_iter().filter(|set| set.len() >= *min).map(Answer::Choices).collect()
            }
            Ask::Number { min, max } => {
                if max.saturating_sub(*min) >= i64::try_from(most).unwrap_or(i64::MAX) {
                    return None;
                }
                (*min..=*max).map(Answer::Number).collect()
            }
            Ask::Confirm => vec![Answer::Confirm(true), Answer::Confirm(false)],
            Ask::Order { .. } => {
                let mut orders = vec![Vec::new()];
                for id in ids {
                    let longer = orders.iter().flat_map(|order: &Vec<Arc<str>>| {
                        let id = &id;
                        (0..=order.len()).rev().map(move |at| {
                            let mut order = order.clone();
                            order.insert(at, id.clone());
                            order
                        })
                    });
                    let longer: Vec<_> = longer.take(most.saturating_add(1)).collect();
                    if longer.len() > most {
                        return None;
                    }
                    orders = longer;
                }
                orders.into_iter().map(Answer::Order).collect()
            }
            Ask::Allot { options, total, least } => {
                let mut shares: Vec<Share> = vec![(Vec::new(), 0)];
                for option in options.iter().filter(|option| option.enabled) {
                    // An option whose limit is negative can still be left out.
                    let room = option.max.unwrap_or(*total).max(0);
                    let mut next = Vec::new();
                    for (parts, given) in &shares {
                        for points in 0..=room.min(total - given) {
                            let more = (points > 0).then(|| (option.id.clone(), points));
                            next.push((parts.iter().cloned().chain(more).collect(), given + points));
                            if next.len() > most.saturating_mul(16) {
                                return None;
                            }
                        }
                    }
                    shares = next;
                }
                shares
                    .into_iter()
                    .filter(|(_, given)| given >= least)
                    .map(|(parts, _)| Answer::Allotment(parts))
                    .collect()
            }
            Ask::Line { .. } | Ask::Dice { .. } => return None,
        };
        (answers.len() <= most).then_some(answers)
    }

    /// Lists all answers if there are at most `most`. Of more single options or numbers, it lists `most` that are evenly
    /// spread, with the first and the last; of other answers, only the usual one.
    #[doc(hidden)]
    pub fn some_answers(&self, most: usize) -> Vec<Answer> {
        if let Some(all) = self.answers(most) {
            return all;
        }
        let places = |last: i64| {
            let gaps = most.saturating_sub(1).max(1) as i128;
            (0..most as i128).map(move |at| (i128::from(last) * at / gaps) as i64)
        };
        match &self.ask {
            Ask::Choose { options, .. } => {
                let open: Vec<&Arc<str>> =
                    options.iter().filter(|option| option.enabled).map(|option| &option.id).collect();
                let last = open.len().saturating_sub(1) as i64;
                places(last).filter_map(|at| Some(Answer::Choice((*open.get(at as usize)?).clone()))).collect()
            }
            Ask::Number { min, max } => {
                places(max.saturating_sub(*min)).map(|at| Answer::Number(min.saturating_add(at))).collect()
            }
            _ => self.usual_answer().into_iter().collect(),
        }
    }

    /// The number of answers that the question accepts, at most `u64::MAX`. `None` for lines of text, typed dice, and
    /// shares of points with more than a thousand ways.
    #[doc(hidden)]
    pub fn answer_count(&self) -> Option<u64> {
        let open = self.ask.options().iter().filter(|option| option.enabled).count();
        match &self.ask {
            Ask::Choose { other: true, .. } if open == 0 => None,
            Ask::Choose { .. } => Some(open as u64),
            Ask::ChooseMany { min, max, .. } => {
                Some((*min..=open.min(*max)).fold(0, |sum: u64, size| sum.saturating_add(subsets(open, size))))
            }
            Ask::Number { min, max } => Some(max.abs_diff(*min).saturating_add(1)).filter(|_| max >= min).or(Some(0)),
            Ask::Confirm => Some(2),
            Ask::Order { .. } => Some((1..=open as u64).fold(1, u64::saturating_mul)),
            Ask::Allot { .. } => Some(self.answers(1_000)?.len() as u64),
            Ask::Line { .. } | Ask::Dice { .. } => None,
        }
    }

    /// Draws an answer, each with equal chance, without a list of all. `face(n)` draws a number from 1 to `n`. `None`
    /// where [`Question::answer_count`] is `None` or zero.
    #[doc(hidden)]
    pub fn drawn_answer(&self, face: &mut dyn FnMut(u32) -> u32) -> Option<Answer> {
        let count = self.answer_count().filter(|count| *count > 0)?;
        let mut open: Vec<Arc<str>> =
            self.ask.options().iter().filter(|option| option.enabled).map(|option| option.id.clone()).collect();
        let mut below = |most: u64| match u32::try_from(most) {
            Ok(sides) => u64::from(face(sides) - 1),
            // A number of 62 bits: its remainder is as good as even.
            Err(_) => ((u64::from(face(1 << 31) - 1) << 31) | u64::from(face(1 << 31) - 1)) % most,
        };
        Some(match &self.ask {
            Ask::Choose { .. } => Answer::Choice(open.swap_remove(below(open.len() as u64) as usize)),
            Ask::ChooseMany { min, max, .. } => {
                // First the number of options, in proportion to the sets of that size; then the options, in their order.
                let mut at = below(count);
                let sizes = *min..=open.len().min(*max);
                let size = sizes.clone().find(|size| {
                    let sets = subsets(open.len(), *size);
                    let found = at < sets;
                    at = at.saturating_sub(sets);
                    found
                });
                let mut wanted = size.unwrap_or(*sizes.end()) as u64;
                let mut left = open.len() as u64;
                open.retain(|_| {
                    let is_in = wanted > 0 && below(left) < wanted;
                    (wanted, left) = (wanted - u64::from(is_in), left - 1);
                    is_in
                });
                Answer::Choices(open)
            }
            Ask::Number { min, .. } => Answer::Number(min.wrapping_add_unsigned(below(count))),
            Ask::Confirm => Answer::Confirm(below(2) == 0),
            Ask::Order { .. } => {
                for at in (1..open.len()).rev() {
                    open.swap(at, below(at as u64 + 1) as usize);
                }
                Answer::Order(open)
            }
            Ask::Allot { .. } => {
                let mut answers = self.answers(1_000)?;
                answers.swap_remove(below(answers.len() as u64) as usize)
            }
            Ask::Line { .. } | Ask::Dice { .. } => return None,
        })
    }

    /// The answer taken if nobody answers: the default, or else the first that the question accepts.
    #[doc(hidden)]
    pub fn usual_answer(&self) -> Option<Answer> {
        if self.default.is_some() {
            return self.default.clone();
        }
        let mut open = self.ask.options().iter().filter(|option| option.enabled).map(|option| option.id.clone());
        let answer = match &self.ask {
            Ask::Choose { .. } => Answer::Choice(open.next()?),
            Ask::ChooseMany { min, .. } => Answer::Choices(open.take(*min).collect()),
            Ask::Number { min, .. } => Answer::Number(*min),
            Ask::Confirm => Answer::Confirm(true),
            Ask::Order { .. } => Answer::Order(open.collect()),
            Ask::Allot { options, total, .. } => {
                let mut left = *total;
                let mut parts = Vec::new();
                for option in options.iter().filter(|option| option.enabled) {
                    let points = option.max.unwrap_or(left).min(left);
                    if points > 0 {
                        parts.push((option.id.clone(), points));
                        left -= points;
                    }
                }
                Answer::Allotment(parts)
            }
            Ask::Line { .. } => Answer::Line(String::new()),
            Ask::Dice { .. } => return None,
        };
        self.check(&answer).is_ok().then_some(answer)
    }
}

/// The number of sets of `size` of `of` things, at most `u64::MAX`.
fn subsets(of: usize, size: usize) -> u64 {
    let sets = (0..size.min(of.saturating_sub(size))).try_fold(1_u128, |sets, at| {
        Some(sets.checked_mul((of - at) as u128)? / (at as u128 + 1)).filter(|sets| *sets <= u128::from(u64::MAX))
    });
    if size > of { 0 } else { sets.map_or(u64::MAX, |sets| sets as u64) }
}

/// Points given out so far, by option, and their sum.
type Share = (Vec<(Arc<str>, i64)>, i64);

#[cfg(test)]
mod tests {
    use super::super::question::Choice;
    use super::*;

    fn options(maxima: &[Option<i64>]) -> Vec<Choice> {
        let choice = |(at, max): (usize, &Option<i64>)| {
            let id: Arc<str> = Arc::from(format!("o{at}"));
            Choice {
                label: id.clone(),
                id,
                enabled: *max != Some(0),
                reason: None,
                note: None,
                max: *max,
                entity: None,
            }
        };
        maxima.iter().enumerate().map(choice).collect()
    }

    #[test]
    fn answers_are_counted_and_drawn_with_equal_chance() {
        let asks = [
            Ask::Choose { options: options(&[None, Some(0), None, None]), other: false },
            Ask::ChooseMany { options: options(&[None; 5]), min: 1, max: 3 },
            Ask::Number { min: -2, max: 4 },
            Ask::Confirm,
            Ask::Order { options: options(&[None; 3]) },
            Ask::Allot { options: options(&[Some(1), None, Some(2)]), total: 3, least: 1 },
        ];
        for ask in asks {
            let question = Question::for_test(ask);
            let all = question.answers(100).unwrap();
            assert_eq!(question.answer_count(), Some(all.len() as u64), "{question:?}");
            let (mut counts, mut state) = (vec![0_u32; all.len()], 7_u64);
            let mut face = |sides: u32| {
                // Numbers of a linear congruential generator suffice here (Knuth 3.3.4).
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 33) as u32) % sides + 1
            };
            for _ in 0..400 * all.len() {
                let drawn = question.drawn_answer(&mut face).unwrap();
                counts[all.iter().position(|one| *one == drawn).unwrap()] += 1;
            }
            // Six standard deviations of 20 around 400.
            assert!(counts.iter().all(|count| (280..520).contains(count)), "{question:?}: {counts:?}");
        }
    }

    #[test]
    fn of_many_answers_some_are_listed_that_are_evenly_spread() {
        let large = Question::for_test(Ask::Number { min: i64::MIN, max: i64::MAX });
        assert_eq!(large.answer_count(), Some(u64::MAX));
        let some = large.some_answers(3);
        assert_eq!((some.len(), &some[0]), (3, &Answer::Number(i64::MIN)));
        assert!(matches!(large.drawn_answer(&mut |_| 1), Some(Answer::Number(_))));
        let numbers = Question::for_test(Ask::Number { min: 0, max: 1_999 });
        assert_eq!(numbers.some_answers(5), [0, 499, 999, 1_499, 1_999].map(Answer::Number));
        let many = Question::for_test(Ask::Choose { options: options(&[None; 90]), other: false });
        let some = many.some_answers(40);
        assert_eq!((some.len(), &some[39]), (40, &Answer::Choice("o89".into())));
        let sets = Question::for_test(Ask::ChooseMany { options: options(&[None; 70]), min: 0, max: 70 });
        assert_eq!((sets.answer_count(), sets.some_answers(40).len()), (Some(u64::MAX), 1));
        assert!(sets.drawn_answer(&mut |sides| sides).is_some());
        assert_eq!(Question::for_test(Ask::Number { min: 2, max: 1 }).drawn_answer(&mut |_| 1), None);
    }

    #[test]
    fn every_answer_is_listed_once_and_is_taken() {
        let three = || options(&[None, None, None]);
        let asks = [
            (Ask::Choose { options: options(&[None, Some(0), None]), other: false }, 2),
            (Ask::ChooseMany { options: three(), min: 1, max: 2 }, 6),
            (Ask::Number { min: -1, max: 3 }, 5),
            (Ask::Confirm, 2),
            (Ask::Order { options: three() }, 6),
            (Ask::Allot { options: options(&[Some(1), None, Some(2)]), total: 3, least: 3 }, 6),
            (Ask::Allot { options: options(&[None, None]), total: 2, least: 0 }, 6),
            (Ask::Allot { options: options(&[Some(-1), Some(2)]), total: 2, least: 1 }, 2),
        ];
        for (ask, count) in asks {
            let question = Question::for_test(ask);
            let answers = question.answers(100).unwrap();
            assert_eq!(answers.len(), count, "{question:?}");
            for (at, answer) in answers.iter().enumerate() {
                assert_eq!(question.check(answer), Ok(()), "{answer:?}");
                assert!(!answers[..at].contains(answer), "{answer:?}");
            }
            assert!(question.usual_answer().is_some());
            assert_eq!(question.answers(1), None);
        }
        assert_eq!(Question::for_test(Ask::Line { max: 9 }).answers(100), None);
    }

    #[test]
    fn too_many_answers_are_not_gone_through() {
        let many = 1 << 52;
        let asks = [
            Ask::Allot { options: options(&[None; 60]), total: many, least: many },
            Ask::Allot { options: options(&[None]), total: many, least: 0 },
            Ask::Number { min: -many, max: many },
            Ask::ChooseMany { options: options(&[None; 60]), min: 0, max: 60 },
            Ask::Order { options: options(&[None; 60]) },
        ];
        for ask in asks {
            assert_eq!(Question::for_test(ask).answers(1_000), None);
        }
        let few = Question::for_test(Ask::Allot { options: options(&[None, None]), total: 2, least: 2 });
        assert_eq!(few.answers(usize::MAX).map(|answers| answers.len()), Some(3));
        let order = Question::for_test(Ask::Order { options: options(&[None, None]) });
        assert_eq!(order.answers(usize::MAX).map(|answers| answers.len()), Some(2));
        let number = Question::for_test(Ask::Number { min: 1, max: 2 });
        assert_eq!(number.answers(usize::MAX).map(|answers| answers.len()), Some(2));
    }
}
