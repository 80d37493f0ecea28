use std::collections::HashSet;

use riskbreaker::play::{in_one_line, marked};
use riskbreaker::ruleset::Breach;
use riskbreaker::state::readable_name;
use riskbreaker::{Answer, Ask, Choice, Question, Session};

use crate::cli::figures::counted;
use crate::cli::row::{Row, Span, Tone, columns};

/// The settings for printing a question.
pub struct QuestionStyle<'s> {
    /// The answer that `ok` gives.
    pub proposal: Option<&'s Answer>,
    /// The entity or seat that is asked.
    pub about: Option<&'s str>,
    /// True to list closed options with their reasons; otherwise they are counted.
    pub whole: bool,
    /// Lists only the options that contain these words; empty for the usual list.
    pub words: &'s str,
}

/// The number of options that are listed of a question with more than [`Ask::MOST_SHOWN`] open ones, and of the closed ones
/// of such a question.
const FEW: usize = 20;

/// Formats a question as rows: the question, the numbered open options, and how to answer.
///
/// Closed options are below the others, with `-` instead of a number; the suggested option has a `*`. If free text is
/// accepted, the options have no numbers, since a number is free text, too.
pub fn ask(question: &Question, shown: &QuestionStyle<'_>, width: Option<usize>) -> Vec<Row> {
    let mut rows = vec![heading(question, shown.about)];
    let (open, closed): (Vec<&Choice>, Vec<&Choice>) = question.ask.options().iter().partition(|option| option.enabled);
    let is_long = open.len() > Ask::MOST_SHOWN || closed.len() > Ask::MOST_SHOWN;
    let (found, words) = match shown.words {
        "" => (None, String::new()),
        words => {
            let found: HashSet<&str> = question.ask.search(words).iter().map(|option| &*option.id).collect();
            (Some(found), format!(" with `{words}`"))
        }
    };
    let is_found = |option: &Choice| found.as_ref().is_none_or(|found| found.contains(&*option.id));
    let most = match (is_long, &found) {
        (true, None) => FEW,
        (true, Some(_)) => Ask::MOST_SHOWN,
        (false, _) => usize::MAX,
    };
    let numbered = open.into_iter().zip(1..).filter(|(option, _)| is_found(option));
    let (listed, more): (Vec<_>, Vec<_>) =
        numbered.enumerate().partition(|(at, (option, _))| *at < most || shown.suggests(option));
    let mut cells: Vec<Vec<Span>> = listed
        .into_iter()
        .map(|(_, (option, number))| cells(number, option, &question.ask, shown.suggests(option)))
        .collect();
    let closed: Vec<&Choice> = closed.into_iter().filter(|option| is_found(option)).collect();
    let shut = if shown.whole || found.is_some() { closed.len().min(most) } else { 0 };
    cells.extend(closed.iter().take(shut).map(|option| cells_of_closed(option)));
    rows.extend(columns(1, cells, width));
    if !more.is_empty() {
        let how = "type a part of a name, or `options WORDS`";
        rows.push(Row::at(2).faint(format!("and {} more{words}: {how}", more.len())));
    }
    if closed.len() > shut {
        let how = if is_long { "`options WORDS`" } else { "`why`" };
        rows.push(Row::at(2).faint(format!("{} closed{words}: {how}", closed.len() - shut)));
    }
    rows.extend(wanted(question, shown));
    rows
}

impl QuestionStyle<'_> {
    fn suggests(&self, option: &Choice) -> bool {
        match self.proposal {
            Some(Answer::Choice(id)) => *id == option.id,
            Some(Answer::Choices(ids)) => ids.contains(&option.id),
            _ => false,
        }
    }
}

/// The entity that a question is about, by label, or else its seat.
pub fn whom(session: &Session, question: &Question) -> String {
    match question.about {
        Some(id) => session.view().label(id).to_string(),
        None => question.seat.to_string(),
    }
}

fn takes_words(ask: &Ask) -> bool {
    matches!(ask, Ask::Choose { other: true, .. })
}

fn heading(question: &Question, about: Option<&str>) -> Row {
    let why =
        if question.why.is_empty() { format!("{}?", readable_name(&question.topic)) } else { question.why.clone() };
    match about.filter(|about| !why.contains(*about)) {
        Some(about) => Row::at(0).strong(marked(about)).plain(format!(": {}", in_one_line(&why))),
        None => Row::at(0).plain(marked(&with_capital(&why))),
    }
}

/// Capitalizes the first letter of a sentence.
pub(super) fn with_capital(text: &str) -> String {
    Breach::with_capital(text)
}

fn cells(number: usize, option: &Choice, ask: &Ask, suggested: bool) -> Vec<Span> {
    let points = match (ask, option.max) {
        (Ask::Allot { .. }, Some(max)) => format!("at most {max}"),
        _ => String::new(),
    };
    let beside = [option.note.as_deref().unwrap_or(""), &points];
    let beside = beside.into_iter().filter(|text| !text.is_empty()).map(in_one_line).collect::<Vec<_>>().join(", ");
    let label = in_one_line(&option.label);
    let mark = if suggested { "*" } else { " " };
    let number = if takes_words(ask) { String::new() } else { number.to_string() };
    vec![Span::plain(format!("{mark}{number}")), Span::strong(label), Span::plain(beside)]
}

fn cells_of_closed(option: &Choice) -> Vec<Span> {
    let reason = option.reason.as_deref().unwrap_or("the rules do not allow this now");
    vec![Span::faint(" -"), Span::faint(in_one_line(&option.label)), Span::faint(in_one_line(reason))]
}

/// The hint how to answer, if the options alone are not clear.
fn wanted(question: &Question, shown: &QuestionStyle<'_>) -> Option<Row> {
    let mut text = match &question.ask {
        Ask::Choose { other: true, options } if options.is_empty() => "Type anything, in your own words".to_owned(),
        Ask::Choose { other: true, .. } => "Type a name from the list, or an answer of your own".to_owned(),
        Ask::Choose { .. } => return None,
        Ask::ChooseMany { min: 0, max, options } if *max >= options.len() => {
            "Type names or numbers with commas, `all` or `none`".to_owned()
        }
        Ask::ChooseMany { min: 1, max: 1, .. } => "Type one of the options".to_owned(),
        Ask::ChooseMany { min, max, .. } if min == max => format!("Choose {min}, separated by commas"),
        Ask::ChooseMany { min, max, .. } => format!("Choose {min} to {max}, separated by commas"),
        Ask::Order { options } if options.len() > 2 => {
            "Type an order, for example `3, 1`; anyone left out follows in list order".into()
        }
        Ask::Order { options } if options.len() == 2 => "Type who is first, for example `2`".to_owned(),
        Ask::Allot { options, total, least } => match shares(options, *total) {
            Some(shares) if least == total => {
                format!("Divide {}, for example `{shares}`", counted(*total, "point", "points"))
            }
            Some(shares) => format!("Divide {least} to {total} points, for example `{shares}`"),
            None => format!("Type {}", question.ask.wanted()),
        },
        Ask::Dice { dice, .. } => format!("{dice}: type {}", question.ask.wanted()),
        ask => format!("Type {}", ask.wanted()),
    };
    // In an allotment and an order, marks at the options cannot show it.
    if let Some(proposal) = shown.proposal
        && !question.ask.options().iter().any(|option| shown.suggests(option))
    {
        text.push_str(&match question.tell(proposal) {
            nothing if nothing.is_empty() => "; `ok` leaves it empty".to_owned(),
            told => format!("; `ok` answers {told}"),
        });
    }
    Some(Row::at(2).with(text, Tone::Faint))
}

/// An example that divides the points between the first two open options, in the typed form.
fn shares(options: &[Choice], total: i64) -> Option<String> {
    let mut open = options.iter().filter(|option| option.enabled && option.max != Some(0));
    let (first, second) = (open.next()?, open.next()?);
    let least = (total - second.max.unwrap_or(total)).max(0);
    let share = (total - total / 2).min(first.max.unwrap_or(total)).max(least);
    Some(format!("{} {share}, {} {}", first.label, second.label, total - share))
}

#[cfg(test)]
mod tests {
    use riskbreaker::QuestionId;

    use super::*;

    fn question(ask: Ask, default: Option<Answer>) -> Question {
        Question {
            id: QuestionId { action: 1, ordinal: 0 },
            seat: "players".into(),
            topic: "card".into(),
            about: None,
            why: "What does Ranger do?".into(),
            ask,
            default,
            proposes: true,
            audience: Default::default(),
            sealed: false,
            race: false,
            checked: false,
        }
    }

    fn option(label: &str, reason: Option<&str>, note: Option<&str>, max: Option<i64>) -> Choice {
        Choice {
            id: label.to_lowercase().into(),
            label: label.into(),
            enabled: reason.is_none(),
            reason: reason.map(String::from),
            note: note.map(String::from),
            max,
            entity: None,
        }
    }

    fn text(question: &Question) -> Vec<String> {
        lines(question, true)
    }

    fn lines(question: &Question, whole: bool) -> Vec<String> {
        let shown = QuestionStyle { proposal: question.proposal(), about: Some("Ranger"), whole, words: "" };
        ask(question, &shown, None).iter().map(Row::bare).collect()
    }

    #[test]
    fn options_are_numbered_and_greyed_ones_have_a_reason() {
        let options = vec![
            option("Lunge", None, Some("Stake 1-3"), None),
            option("Drain", Some("needs 2 points, there are 0"), None, None),
            option("Rest", None, None, None),
        ];
        assert_eq!(
            text(&question(Ask::Choose { options, other: false }, Some(Answer::Choice("rest".into())))),
            ["What does Ranger do?", "  1  Lunge  Stake 1-3", " *2  Rest", "  -  Drain  needs 2 points, there are 0",]
        );
    }

    #[test]
    fn closed_options_are_counted_unless_all_is_shown() {
        let options = vec![option("Lunge", Some("no"), None, None), option("Rest", None, None, None)];
        let told = lines(&question(Ask::Choose { options, other: false }, None), false);
        assert_eq!(told, ["What does Ranger do?", "  1  Rest", "  1 closed: `why`"]);
    }

    #[test]
    fn a_question_begins_with_a_capital_and_words_of_ones_own_have_no_numbers_beside_them() {
        let options = vec![option("Near", None, None, None), option("Far", Some("no way"), None, None)];
        let asked = Ask::Choose { options, other: true };
        let asked = Question { why: "where does Ranger go?".into(), ..question(asked, None) };
        assert_eq!(
            text(&asked),
            [
                "Where does Ranger go?",
                "     Near",
                "  -  Far   no way",
                "  Type a name from the list, or an answer of your own",
            ]
        );
    }

    #[test]
    fn other_kinds_of_questions_show_the_form_of_an_answer() {
        assert_eq!(
            text(&question(Ask::Number { min: 1, max: 3 }, Some(Answer::Number(2)))),
            ["What does Ranger do?", "  Type a number from 1 to 3; `ok` answers 2"]
        );
        let options = vec![option("Foe", None, None, Some(1)), option("Archer", None, None, None)];
        assert_eq!(
            text(&question(Ask::Allot { options, total: 2, least: 2 }, None)),
            [
                "What does Ranger do?",
                "  1  Foe     at most 1",
                "  2  Archer",
                "  Divide 2 points, for example `Foe 1, Archer 1`",
            ]
        );
    }
}
