use std::sync::Arc;

use riskbreaker::{Event, Happening};

use crate::cli::row::{Row, Span, Tone, columns};

/// Tells events as rows, a line each; titles of changes that follow each other stand in one column.
///
/// `own` are the answers that the person has just typed, as topic and title or seat: they are not told back. What was taken for
/// the `absent` seats is told, but does not stand out.
pub fn tell(
    events: &[Event],
    own: &mut Vec<(Arc<str>, Arc<str>)>,
    absent: &[Arc<str>],
    width: Option<usize>,
) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut changes: Vec<Vec<Span>> = Vec::new();
    let mut answers: Option<Answers> = None;
    for event in standing(events).into_iter().filter(|event| !is_setting_up(event)) {
        let change = matches!(
            event.happening,
            Happening::Changed { .. } | Happening::Spawned { .. } | Happening::Removed { .. }
        );
        if !change && !changes.is_empty() {
            rows.extend(columns(2, std::mem::take(&mut changes), width));
        }
        if let Happening::Answered { seat, topic, about, text } = &event.happening {
            let who = about.as_ref().unwrap_or(seat);
            if let Some(at) = own.iter().position(|(known, name)| known == topic && name == who) {
                own.remove(at);
                continue;
            }
            let said = format!("{} {text}", topic.replace('_', " "));
            match &mut answers {
                Some(before) if before.who == *who => before.said.push(said),
                _ => {
                    rows.extend(answers.take().map(answered));
                    answers = Some(Answers { who: who.clone(), said: vec![said], faint: absent.contains(seat) });
                }
            }
            continue;
        }
        rows.extend(answers.take().map(answered));
        match &event.happening {
            Happening::Changed { title, label, text, .. } => {
                changes.push(vec![Span::strong(title), Span::plain(label), Span::plain(text)]);
            }
            Happening::Spawned { title, .. } => changes.push(vec![Span::strong(title), Span::plain("is there")]),
            Happening::Removed { title, .. } => changes.push(vec![Span::strong(title), Span::plain("is gone")]),
            other => rows.push(told(other)),
        }
    }
    rows.extend(answers.take().map(answered));
    rows.extend(columns(2, changes, width));
    rows
}

/// The first action builds the starting position: that everything in it is there needs no telling.
fn is_setting_up(event: &Event) -> bool {
    event.action == 1 && matches!(event.happening, Happening::Spawned { .. } | Happening::Changed { .. })
}

/// The events that no later one takes back.
fn standing(events: &[Event]) -> Vec<&Event> {
    let mut standing: Vec<&Event> = Vec::new();
    for event in events {
        let Happening::Withdrawn { from } = event.happening else {
            standing.push(event);
            continue;
        };
        let before = standing.len();
        standing.retain(|told| told.action != event.action || told.n < from);
        // Something that was told earlier, and not only in this batch, is gone: that has to be said.
        if standing.len() == before {
            standing.push(event);
        }
    }
    standing
}

/// What was answered for somebody in a row.
struct Answers {
    who: Arc<str>,
    said: Vec<String>,
    faint: bool,
}

fn answered(Answers { who, said, faint }: Answers) -> Row {
    let said = format!(": {}", said.join(" · "));
    if faint { Row::at(2).faint(who).faint(said) } else { Row::at(2).strong(who).plain(said) }
}

fn told(happening: &Happening) -> Row {
    let line = happening.line();
    match happening {
        Happening::Rolled { success: Some(success), .. } => {
            let (word, tone) = if *success { ("success", Tone::Good) } else { ("failure", Tone::Bad) };
            match line.strip_suffix(word) {
                Some(before) => Row::at(2).plain(before).with(word, tone),
                None => Row::at(2).plain(line),
            }
        }
        Happening::Over { .. } => Row::at(0).strong(line),
        Happening::Notice { .. } | Happening::Cut { .. } => Row::at(2).with(line, Tone::Note),
        Happening::Withdrawn { .. } => Row::at(2).faint(line),
        _ => Row::at(2).plain(line),
    }
}

#[cfg(test)]
mod tests {
    use riskbreaker::{EntityId, Value};

    use super::*;

    fn event(n: u32, happening: Happening) -> Event {
        Event { action: 2, n, audience: None, happening }
    }

    fn changed(title: &str, label: &str, text: &str) -> Happening {
        Happening::Changed {
            entity: EntityId(1),
            title: title.into(),
            field: label.into(),
            label: label.into(),
            from: Value::None,
            to: Value::None,
            text: text.into(),
        }
    }

    fn answer(about: &str, topic: &str, text: &str) -> Happening {
        Happening::Answered { seat: "foes".into(), topic: topic.into(), about: Some(about.into()), text: text.into() }
    }

    fn text(events: &[Event], own: &mut Vec<(Arc<str>, Arc<str>)>) -> Vec<String> {
        tell(events, own, &[], None).iter().map(Row::bare).collect()
    }

    #[test]
    fn titles_of_changes_stand_in_a_column() {
        let events = [
            event(0, Happening::Said { text: "Ranger shoots".into() }),
            event(1, changed("Foe", "harm", "1 -> 2")),
            event(2, changed("Archer", "harm", "0 -> 1")),
        ];
        assert_eq!(text(&events, &mut vec![]), ["  Ranger shoots", "  Foe     harm  1 -> 2", "  Archer  harm  0 -> 1"]);
    }

    #[test]
    fn what_a_computer_seat_decided_is_one_line_and_ones_own_answer_is_not_told_back() {
        let events = [
            event(0, answer("Ranger", "card", "Lunge")),
            event(1, answer("Foe", "card", "Feint")),
            event(2, answer("Foe", "stake", "2")),
        ];
        let mut own = vec![("card".into(), "Ranger".into())];
        assert_eq!(text(&events, &mut own), ["  Foe: card Feint · stake 2"]);
        assert!(own.is_empty());
    }

    #[test]
    fn what_was_withdrawn_in_the_same_breath_is_never_told() {
        let events = [
            event(0, Happening::Said { text: "a".into() }),
            event(1, Happening::Said { text: "b".into() }),
            event(2, Happening::Withdrawn { from: 1 }),
            event(1, Happening::Said { text: "c".into() }),
        ];
        assert_eq!(text(&events, &mut vec![]), ["  a", "  c"]);
    }
}
