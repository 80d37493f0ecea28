//! Arbitrary possible answers.

use riskbreaker::{Answer, Ask, Question};

/// Returns a possible answer to the question, different for another `n`.
pub fn any_answer(question: &Question, n: u64) -> Answer {
    let open: Vec<_> = question.ask.options().iter().filter(|option| option.enabled).collect();
    match &question.ask {
        // A word that names no closed option.
        Ask::Choose { other: true, options, .. } if open.is_empty() => {
            let mut words =
                (1..).map(|n| if n == 1 { "somewhere else".to_owned() } else { format!("somewhere else {n}") });
            let free = words.find(|word| options.iter().all(|option| *option.id != **word));
            Answer::Choice(free.unwrap_or_default().into())
        }
        Ask::Choose { .. } => {
            assert!(!open.is_empty(), "nothing can be answered to {question:?}");
            Answer::Choice(open[n as usize % open.len()].id.clone())
        }
        Ask::ChooseMany { min, max, .. } => {
            let most = (*max).min(open.len());
            let count = (*min).min(most) + n as usize % (most - (*min).min(most) + 1);
            let start = (n >> 8) as usize;
            let mut chosen: Vec<_> = (0..count).map(|at| (start + at) % open.len()).collect();
            chosen.sort_unstable();
            Answer::Choices(chosen.into_iter().map(|at| open[at].id.clone()).collect())
        }
        Ask::Number { min, max } => Answer::Number(min + (n % (max - min + 1) as u64) as i64),
        Ask::Allot { total, .. } => {
            let (mut left, mut parts) = (*total, Vec::new());
            for at in 0..open.len() {
                let option = open[(at + n as usize) % open.len()];
                let points = left.min(option.max.unwrap_or(left));
                parts.push((option.id.clone(), points));
                left -= points;
            }
            Answer::Allotment(parts.into_iter().filter(|(_, points)| *points > 0).collect())
        }
        Ask::Confirm => Answer::Confirm(n.is_multiple_of(2)),
        Ask::Order { .. } => Answer::Order(open.iter().map(|option| option.id.clone()).collect()),
        Ask::Line { .. } => Answer::Line(format!("W:Line {}", n % 9)),
        Ask::Dice { sides, .. } => Answer::Faces(sides.iter().map(|sides| n as u32 % sides + 1).collect()),
    }
}
