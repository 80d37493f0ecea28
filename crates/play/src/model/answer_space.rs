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
