use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use riskbreaker::play::{RollLine, in_one_line, marked, marked_part};
use riskbreaker::state::readable_name;
use riskbreaker::{Event, Happening, Value};

use crate::cli::row::{Row, Span, Tone, columns};

/// Filters of events that are not printed: entities of these kinds that are added or removed, and automatic answers
/// about them.
#[derive(Debug, Default)]
pub struct EventFilter {
    pub kinds: Vec<Arc<str>>,
    /// The titles of the entities of those kinds.
    pub titles: Vec<Arc<str>>,
    /// Fields that no sheet shows, of any kind.
    pub fields: BTreeSet<Arc<str>>,
    /// Fields with numbers for harm, with true if a higher number is worse.
    pub harm: Vec<(Arc<str>, bool)>,
}

impl EventFilter {
    /// True if a change harms somebody.
    fn harms(&self, field: &str, from: &Value, to: &Value) -> bool {
        match (from, to) {
            (Value::Int(from), Value::Int(to)) if from != to => {
                self.harm.iter().any(|(name, more_is_worse)| **name == *field && (to > from) == *more_is_worse)
            }
            _ => false,
        }
    }

    fn holds(&self, happening: &Happening, absent: &[Arc<str>]) -> bool {
        match happening {
            Happening::Spawned { kind, .. } | Happening::Removed { kind, .. } => self.kinds.contains(kind),
            Happening::Answered { seat, about, .. } => {
                absent.contains(seat) && about.as_ref().is_some_and(|about| self.titles.contains(about))
            }
            Happening::Said { .. }
            | Happening::Rolled { .. }
            | Happening::Changed { .. }
            | Happening::Edited { .. }
            | Happening::Notice { .. }
            | Happening::Cut { .. }
            | Happening::Over { .. }
            | Happening::Back { .. }
            | Happening::Aside { .. }
            | Happening::Withdrawn { .. } => false,
        }
    }
}

/// The most bytes of the rows that are printed for one step.
const MOST_BYTES: usize = 1 << 20;

/// Drops the first rows of a step if all together are too long, and adds a note with their number.
pub fn leave_out_first(rows: &mut Vec<Row>) {
    let mut room = MOST_BYTES;
    let fits = |row: &&Row| {
        let fits = row.bytes() <= room;
        room = room.saturating_sub(row.bytes());
        fits
    };
    let left_out = rows.len() - rows.iter().rev().take_while(fits).count();
    if left_out > 0 {
        let text = format!("{left_out} earlier lines are left out. `log` lists them.");
        rows.splice(..left_out, [Row::at(2).faint(text)]);
    }
}

/// Turns events into rows. Consecutive changes are aligned in columns.
///
/// `own`: the answers that the person has just typed, as topic and title or seat; they are left out. Answers of the
/// `absent` seats are printed in a faint style. `printed`: the printed events of the last action. `marks`: true to mark
/// events that not everybody sees.
pub fn tell(
    events: &[Event],
    printed: &mut Vec<Event>,
    own: &mut Vec<(Arc<str>, Arc<str>)>,
    absent: &[Arc<str>],
    untold: &EventFilter,
    (marks, width): (bool, Option<usize>),
) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut changes: Vec<ChangeText<'_>> = Vec::new();
    let mut answers: Option<AnswerRow> = None;
    let told_at_all = |event: &&Event| !is_setting_up(event) && !untold.holds(&event.happening, absent);
    for event in standing(events, printed).into_iter().filter(told_at_all) {
        let mark = if marks && !event.audience.is_everybody() { SECRET } else { "" };
        let change = matches!(
            event.happening,
            Happening::Changed { .. } | Happening::Spawned { .. } | Happening::Removed { .. }
        );
        if !change && !changes.is_empty() {
            rows.extend(changed(std::mem::take(&mut changes), width));
        }
        if let Happening::Answered { seat, topic, about, text } = &event.happening {
            let who = about.as_ref().unwrap_or(seat);
            if let Some(at) = own.iter().position(|(known, name)| known == topic && name == who) {
                own.remove(at);
                continue;
            }
            // An empty text that nobody answered is not printed.
            if text.is_empty() {
                continue;
            }
            let said = format!("{} {}{mark}", readable_name(topic), marked_part(text));
            match &mut answers {
                Some(before) if before.who == *who => before.said.push(said),
                _ => {
                    rows.extend(answers.take().map(answered));
                    answers = Some(AnswerRow { who: who.clone(), said: vec![said], faint: absent.contains(seat) });
                }
            }
            continue;
        }
        rows.extend(answers.take().map(answered));
        match &event.happening {
            Happening::Changed { title, label, text, reason, field, from, to, .. } => {
                let harms = untold.harms(field, from, to);
                let text = match reason {
                    Some(reason) => Cow::Owned(format!("{} ({})", in_one_line(text), marked(reason))),
                    None => in_one_line(text),
                };
                let text = Cow::Owned(format!("{text}{mark}"));
                changes.push(ChangeText { title: marked_part(title), label: in_one_line(label), text, harms });
            }
            Happening::Spawned { title, .. } => changes.push(ChangeText {
                title: marked_part(title),
                label: "is there".into(),
                text: mark.trim_start().into(),
                harms: false,
            }),
            Happening::Removed { title, .. } => changes.push(ChangeText {
                title: marked_part(title),
                label: "is gone".into(),
                text: mark.trim_start().into(),
                harms: false,
            }),
            other if mark.is_empty() => rows.push(told(other, width.is_some())),
            other => rows.push(told(other, width.is_some()).faint(mark)),
        }
    }
    rows.extend(answers.take().map(answered));
    rows.extend(changed(changes, width));
    rows
}

/// The mark after what not everybody may see.
pub const SECRET: &str = " (secret)";

/// A change, or an entity that was added or removed.
struct ChangeText<'e> {
    title: Cow<'e, str>,
    label: Cow<'e, str>,
    text: Cow<'e, str>,
    harms: bool,
}

/// The number of equal changes from which on they share one row.
const MANY: usize = 3;

/// Prints changes in columns. Equal changes of many entities share one row, at the position of the first.
fn changed(changes: Vec<ChangeText<'_>>, width: Option<usize>) -> Vec<Row> {
    let alike = |one: &ChangeText<'_>, other: &ChangeText<'_>| one.label == other.label && one.text == other.text;
    let mut rows = Vec::new();
    let mut cells: Vec<Vec<Span>> = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        let same: Vec<&ChangeText<'_>> = changes.iter().filter(|other| alike(change, other)).collect();
        if same.len() < MANY {
            let tone = if change.harms { Tone::Strong } else { Tone::Plain };
            let text = Span::new(&*change.text, tone);
            cells.push(vec![Span::strong(&*change.title), Span::plain(&*change.label), text]);
        } else if !changes[..at].iter().any(|before| alike(change, before)) {
            rows.extend(columns(2, std::mem::take(&mut cells), width));
            let what = format!("{} {}", change.label, change.text);
            let who: Vec<&str> = same.iter().map(|one| &*one.title).collect();
            rows.push(Row::at(2).plain(format!("{}: ", what.trim_end())).plain(who.join(", ")));
        }
    }
    rows.extend(columns(2, cells, width));
    rows
}

/// True for events of the first action, which builds the starting position and is not printed.
fn is_setting_up(event: &Event) -> bool {
    event.action == 1 && matches!(event.happening, Happening::Spawned { .. } | Happening::Changed { .. })
}

/// Returns the events that no later one takes back and that are not on the screen yet. `told`: the printed events of
/// the last action, which are updated.
fn standing<'e>(events: &'e [Event], told: &mut Vec<Event>) -> Vec<&'e Event> {
    let mut standing: Vec<&Event> = Vec::new();
    let mut withdrawn: Vec<Event> = Vec::new();
    for event in events {
        let Happening::Withdrawn { from } = event.happening else {
            standing.push(event);
            continue;
        };
        let is_gone = |told: &Event| told.action == event.action && told.n >= from;
        let before = standing.len();
        standing.retain(|told| !is_gone(told));
        let printed = told.extract_if(.., |told| is_gone(told)).collect::<Vec<_>>();
        // An event that was already printed was undone, so the undo is printed.
        if !printed.is_empty() || standing.len() == before {
            standing.push(event);
        }
        withdrawn.extend(printed);
    }
    let last = standing.iter().rev().find(|event| !is_withdrawal(event)).map(|event| event.action);
    told.retain(|told| last.is_none_or(|last| told.action == last));
    told.extend(
        standing
            .iter()
            .filter(|event| !is_withdrawal(event) && Some(event.action) == last)
            .map(|event| (*event).clone()),
    );
    // Lines that are withdrawn and then repeated are already on the screen.
    let mut again = withdrawn.iter().peekable();
    let is_again = |event: &&Event| again.next_if(|gone| gone.happening == event.happening).is_some();
    let repeated: Vec<&Event> = standing.iter().copied().filter(is_again).collect();
    if !withdrawn.is_empty() && repeated.len() == withdrawn.len() {
        standing.retain(|event| !is_withdrawal(event) && !repeated.iter().any(|again| std::ptr::eq(*again, *event)));
    }
    standing
}

fn is_withdrawal(event: &Event) -> bool {
    matches!(event.happening, Happening::Withdrawn { .. })
}

/// The automatic answers of one seat or entity in a row.
struct AnswerRow {
    who: Arc<str>,
    said: Vec<String>,
    faint: bool,
}

fn answered(AnswerRow { who, said, faint }: AnswerRow) -> Row {
    let said = format!(": {}", said.join(" · "));
    if faint { Row::at(2).faint(marked(&who)).faint(said) } else { Row::at(2).strong(marked(&who)).plain(said) }
}

/// Formats an event. `signs`: true to mark success and failure by a sign, which is visible without colours.
fn told(happening: &Happening, signs: bool) -> Row {
    if let Some(RollLine { rolled, success: Some(success), result }) = happening.roll_line() {
        let (sign, tone) = if success { ("✓ ", Tone::Good) } else { ("✗ ", Tone::Bad) };
        let word = format!("{}{}", if signs { sign } else { "" }, RollLine::word(success));
        let result = result.map(|result| format!(", {result}")).unwrap_or_default();
        return Row::at(2).plain(format!("{rolled}: ")).with(word, tone).plain(result);
    }
    let line = happening.line();
    match happening {
        Happening::Over { .. } => Row::at(0).strong(line),
        Happening::Notice { .. } | Happening::Cut { .. } => Row::at(2).with(line, Tone::Note),
        Happening::Withdrawn { .. } => Row::at(2).faint(line),
        Happening::Said { .. }
        | Happening::Rolled { .. }
        | Happening::Changed { .. }
        | Happening::Spawned { .. }
        | Happening::Removed { .. }
        | Happening::Answered { .. }
        | Happening::Edited { .. }
        | Happening::Back { .. }
        | Happening::Aside { .. } => Row::at(2).plain(line),
    }
}

#[cfg(test)]
mod tests {
    use riskbreaker::EntityId;

    use super::*;

    #[test]
    fn too_many_rows_are_left_out_and_counted() {
        let row = |n: usize| Row::at(2).plain(format!("{n} {}", "x".repeat(1_000)));
        let mut rows: Vec<Row> = (0..3_000).map(row).collect();
        leave_out_first(&mut rows);
        assert!(rows.len() > 1_000 && rows.len() < 1_050, "{}", rows.len());
        assert!(rows[0].bare().contains(&format!("{} earlier lines", 3_001 - rows.len())), "{}", rows[0].bare());
        assert_eq!(rows.last(), Some(&row(2_999)));
        let few: Vec<Row> = (0..1_000).map(row).collect();
        let mut all = few.clone();
        leave_out_first(&mut all);
        assert_eq!(all, few);
    }

    fn event(n: u32, happening: Happening) -> Event {
        Event { action: 2, n, audience: riskbreaker::Audience::Everybody, happening }
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
            reason: None,
        }
    }

    fn answer(about: &str, topic: &str, text: &str) -> Happening {
        Happening::Answered { seat: "foes".into(), topic: topic.into(), about: Some(about.into()), text: text.into() }
    }

    fn text(events: &[Event], own: &mut Vec<(Arc<str>, Arc<str>)>) -> Vec<String> {
        tell(events, &mut Vec::new(), own, &[], &EventFilter::default(), (true, None)).iter().map(Row::bare).collect()
    }

    #[test]
    fn titles_of_changes_are_aligned_in_a_column() {
        let events = [
            event(0, Happening::Said { text: "Ranger shoots".into() }),
            event(1, changed("Foe", "harm", "1 -> 2")),
            event(2, changed("Archer", "harm", "0 -> 1")),
        ];
        assert_eq!(text(&events, &mut vec![]), ["  Ranger shoots", "  Foe     harm  1 -> 2", "  Archer  harm  0 -> 1"]);
    }

    #[test]
    fn answers_of_a_policy_are_one_row_and_own_answers_are_not_printed() {
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
    fn equal_changes_of_many_entities_are_one_row() {
        let events = [
            event(0, changed("Ranger", "counters", "0 -> 1")),
            event(1, changed("Foe", "counters", "0 -> 1")),
            event(2, changed("Archer", "counters", "0 -> 1")),
            event(3, changed("Archer", "harm", "0 -> 1")),
        ];
        assert_eq!(text(&events, &mut vec![]), ["  counters 0 -> 1: Ranger, Foe, Archer", "  Archer  harm  0 -> 1"]);
    }

    #[test]
    fn obvious_events_are_not_printed() {
        let untold = EventFilter { kinds: vec!["side".into()], titles: vec!["fray".into()], ..EventFilter::default() };
        let events = [
            event(0, Happening::Spawned { entity: EntityId(1), title: "left".into(), kind: "side".into() }),
            event(1, answer("fray", "edge", "none")),
            event(2, answer("Foe", "card", "Feint")),
        ];
        let rows = tell(&events, &mut Vec::new(), &mut vec![], &["foes".into()], &untold, (true, None));
        assert_eq!(rows.iter().map(Row::bare).collect::<Vec<_>>(), ["  Foe: card Feint"]);
    }

    #[test]
    fn events_withdrawn_in_the_same_step_are_not_printed() {
        let events = [
            event(0, Happening::Said { text: "a".into() }),
            event(1, Happening::Said { text: "b".into() }),
            event(2, Happening::Withdrawn { from: 1 }),
            event(1, Happening::Said { text: "c".into() }),
        ];
        assert_eq!(text(&events, &mut vec![]), ["  a", "  c"]);
    }

    #[test]
    fn lines_that_are_withdrawn_and_repeated_are_printed_once() {
        let said = |action: u32, text: &str| Event { action, ..event(0, Happening::Said { text: text.into() }) };
        let printed = |second: &str| {
            let mut told = Vec::new();
            tell(&[said(2, "Round 2")], &mut told, &mut vec![], &[], &EventFilter::default(), (true, None));
            let batch =
                [event(0, Happening::Withdrawn { from: 0 }), said(3, "other rules are in force"), said(4, second)];
            let rows = tell(&batch, &mut told, &mut vec![], &[], &EventFilter::default(), (true, None));
            rows.iter().map(Row::bare).collect::<Vec<_>>()
        };
        assert_eq!(printed("Round 2"), ["  other rules are in force"]);
        let replayed = "  The open action was replayed; ignore its lines above.";
        assert_eq!(printed("Part 2"), [replayed, "  other rules are in force", "  Part 2"]);
    }
}
