//! Compact encoding of a game's history, most of which is never read again.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::event::{Event, Happening};
use super::question::Answer;
use super::tape::{By, DicePosition, Slot, Tape};
use super::term::Term;
use riskbreaker_state::{
    Attachment, AttachmentId, Audience, Change, DrawnNumber, Due, Entity, EntityId, Entry, EntryId, FieldId, Key,
    KindId, Value,
};

/// A value encoded as bytes and decoded at each read. The bytes never leave the process.
#[derive(Clone, Debug, PartialEq)]
pub struct Packed<T> {
    bytes: Box<[u8]>,
    /// Large texts and lists, which are shared instead of copied.
    large: Option<Box<Large>>,
    of: PhantomData<T>,
}

#[derive(Clone, Debug, PartialEq)]
struct Large(Box<[Value]>);

impl<T> Packed<T> {
    fn large(&self) -> &[Value] {
        self.large.as_ref().map_or(&[], |large| &large.0)
    }
}

impl<T: Pack> Packed<T> {
    pub fn new(value: &T) -> Packed<T> {
        let mut to = ByteWriter::default();
        value.pack(&mut to);
        Packed::of(to)
    }

    fn of(written: ByteWriter) -> Packed<T> {
        let large = (!written.large.is_empty()).then(|| Box::new(Large(written.large.into())));
        Packed { bytes: written.bytes.into(), large, of: PhantomData }
    }

    pub fn get(&self) -> T {
        self.at(0).0
    }

    /// Decodes the value at byte offset `place`. Returns it and the offset after it.
    fn at<V: Pack>(&self, place: u32) -> (V, u32) {
        let mut from = ByteReader { bytes: &self.bytes[place as usize..], large: self.large() };
        let value = V::unpack(&mut from);
        (value, (self.bytes.len() - from.bytes.len()) as u32)
    }
}

impl<T: Pack> Packed<Vec<T>> {
    /// Appends items to an encoded list without decoding it.
    pub fn extend(&mut self, items: &[T]) {
        let mut from = ByteReader { bytes: &self.bytes, large: self.large() };
        let count = from.number() + items.len() as u64;
        let mut to =
            ByteWriter { bytes: Vec::with_capacity(self.bytes.len() + items.len()), large: self.large().to_vec() };
        to.number(count);
        to.bytes.extend_from_slice(from.bytes);
        items.iter().for_each(|item| item.pack(&mut to));
        *self = Packed::of(to);
    }
}

impl Packed<Tape> {
    /// The number of the last decision of a person on the tape.
    pub fn last_decision(&self) -> Option<u32> {
        self.at(0).0
    }
}

impl<T: Pack + Default> Default for Packed<T> {
    fn default() -> Packed<T> {
        Packed::new(&T::default())
    }
}

impl<T: Pack + Serialize> Serialize for Packed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de, T: Pack + Deserialize<'de>> Deserialize<'de> for Packed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Packed<T>, D::Error> {
        T::deserialize(deserializer).map(|value| Packed::new(&value))
    }
}

/// The events of an action, shared with the stream of its game.
#[derive(Clone, Debug, Default)]
pub struct Events(Option<Arc<Packed<PackedEvents>>>);

/// Events in sequence, in their encoded form.
#[derive(Debug)]
struct PackedEvents(Vec<Event>);

#[allow(clippy::len_without_is_empty)] // nobody asks whether it is empty
impl Events {
    pub fn len(&self) -> usize {
        self.places().count()
    }

    /// The events, in order.
    pub fn iter(&self) -> impl Iterator<Item = Event> {
        self.places().map(|(_, event)| event)
    }

    /// The events with the offset of each, see [`Events::at`].
    pub fn places(&self) -> impl Iterator<Item = (u32, Event)> {
        let mut place = 0;
        std::iter::from_fn(move || {
            let packed = self.0.as_ref().filter(|packed| (place as usize) < packed.bytes.len())?;
            let (event, next) = packed.at(place);
            Some((std::mem::replace(&mut place, next), event))
        })
    }

    /// The event at an offset.
    pub fn at(&self, place: u32) -> Event {
        self.packed().at(place).0
    }

    /// The audience of the event at an offset.
    pub fn audience_at(&self, place: u32) -> Audience {
        self.packed().at(place).0
    }

    fn packed(&self) -> &Packed<PackedEvents> {
        self.0.as_ref().expect("a place is that of an event")
    }
}

impl FromIterator<Event> for Events {
    fn from_iter<I: IntoIterator<Item = Event>>(events: I) -> Events {
        let told = PackedEvents(events.into_iter().collect());
        Events((!told.0.is_empty()).then(|| Arc::new(Packed::new(&told))))
    }
}

impl Pack for PackedEvents {
    fn pack(&self, to: &mut ByteWriter) {
        self.0.iter().for_each(|event| event.pack(to));
    }

    fn unpack(from: &mut ByteReader) -> PackedEvents {
        let next = || (!from.bytes.is_empty()).then(|| Event::unpack(from));
        PackedEvents(std::iter::from_fn(next).collect())
    }
}

/// Adds an item to a long-lived list with little spare capacity, since a server holds many games.
pub fn push_sparing<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 4 + 1);
    }
    list.push(item);
}

#[derive(Default)]
pub struct ByteWriter {
    bytes: Vec<u8>,
    large: Vec<Value>,
}

pub struct ByteReader<'p> {
    bytes: &'p [u8],
    large: &'p [Value],
}

impl ByteWriter {
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

impl<'p> ByteReader<'p> {
    fn byte(&mut self) -> u8 {
        let (byte, rest) = self.bytes.split_first().expect(WRITTEN);
        self.bytes = rest;
        *byte
    }

    fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    fn text(&mut self) -> &'p str {
        let length = self.number() as usize;
        let (text, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        std::str::from_utf8(text).expect(WRITTEN)
    }
}

const WRITTEN: &str = "it reads what it has written";

/// Longer texts and lists, in bytes, are shared instead of copied.
const LARGE: usize = 120;

pub trait Pack: Sized {
    fn pack(&self, to: &mut ByteWriter);
    fn unpack(from: &mut ByteReader) -> Self;
}

impl Pack for u64 {
    fn pack(&self, to: &mut ByteWriter) {
        to.number(*self);
    }

    fn unpack(from: &mut ByteReader) -> u64 {
        from.number()
    }
}

impl Pack for i64 {
    /// Numbers near zero are short, positive or negative.
    fn pack(&self, to: &mut ByteWriter) {
        to.number(((self << 1) ^ (self >> 63)) as u64);
    }

    fn unpack(from: &mut ByteReader) -> i64 {
        let number = from.number();
        (number >> 1) as i64 ^ -((number & 1) as i64)
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl Pack for $number {
            fn pack(&self, to: &mut ByteWriter) {
                to.number(u64::from(*self));
            }

            fn unpack(from: &mut ByteReader) -> $number {
                from.number() as $number
            }
        })*
    };
}

numbers!(u32, u16);

impl Pack for bool {
    fn pack(&self, to: &mut ByteWriter) {
        to.bytes.push(u8::from(*self));
    }

    fn unpack(from: &mut ByteReader) -> bool {
        from.byte() == 1
    }
}

impl Pack for String {
    fn pack(&self, to: &mut ByteWriter) {
        to.text(self);
    }

    fn unpack(from: &mut ByteReader) -> String {
        from.text().to_owned()
    }
}

impl<T: Pack> Pack for Arc<T> {
    fn pack(&self, to: &mut ByteWriter) {
        (**self).pack(to);
    }

    fn unpack(from: &mut ByteReader) -> Arc<T> {
        Arc::new(T::unpack(from))
    }
}

impl Pack for Arc<str> {
    fn pack(&self, to: &mut ByteWriter) {
        to.text(self);
    }

    fn unpack(from: &mut ByteReader) -> Arc<str> {
        Arc::from(from.text())
    }
}

impl<T: Pack> Pack for Option<T> {
    fn pack(&self, to: &mut ByteWriter) {
        to.bytes.push(u8::from(self.is_some()));
        self.iter().for_each(|value| value.pack(to));
    }

    fn unpack(from: &mut ByteReader) -> Option<T> {
        bool::unpack(from).then(|| T::unpack(from))
    }
}

impl<T: Pack> Pack for Box<T> {
    fn pack(&self, to: &mut ByteWriter) {
        (**self).pack(to);
    }

    fn unpack(from: &mut ByteReader) -> Box<T> {
        Box::new(T::unpack(from))
    }
}

impl<A: Pack, B: Pack> Pack for (A, B) {
    fn pack(&self, to: &mut ByteWriter) {
        self.0.pack(to);
        self.1.pack(to);
    }

    fn unpack(from: &mut ByteReader) -> (A, B) {
        (A::unpack(from), B::unpack(from))
    }
}

macro_rules! collections {
    ($($collection:ty, $item:ty, [$($bounds:tt)*]);* $(;)?) => {
        $(impl<$($bounds)*> Pack for $collection {
            fn pack(&self, to: &mut ByteWriter) {
                to.number(self.len() as u64);
                for item in self {
                    item.pack(to);
                }
            }

            fn unpack(from: &mut ByteReader) -> $collection {
                (0..from.number()).map(|_| <$item>::unpack(from)).collect()
            }
        })*
    };
}

collections! {
    Vec<T>, T, [T: Pack];
    BTreeSet<T>, T, [T: Pack + Ord];
}

impl<K: Pack + Ord, V: Pack> Pack for BTreeMap<K, V> {
    fn pack(&self, to: &mut ByteWriter) {
        to.number(self.len() as u64);
        for (key, value) in self {
            key.pack(to);
            value.pack(to);
        }
    }

    fn unpack(from: &mut ByteReader) -> BTreeMap<K, V> {
        (0..from.number()).map(|_| <(K, V)>::unpack(from)).collect()
    }
}

impl Pack for Value {
    fn pack(&self, to: &mut ByteWriter) {
        let large = match self {
            Value::Text(text) => text.len() > LARGE,
            Value::List(items) => items.len() > LARGE,
            _ => false,
        };
        if large {
            to.bytes.push(8);
            to.number(to.large.len() as u64);
            return to.large.push(self.clone());
        }
        match self {
            Value::None => to.bytes.push(0),
            Value::Bool(no) if !no => to.bytes.push(1),
            Value::Bool(_) => to.bytes.push(2),
            Value::Int(number) => {
                to.bytes.push(3);
                number.pack(to);
            }
            Value::Ratio(above, below) => {
                to.bytes.push(4);
                above.pack(to);
                below.pack(to);
            }
            Value::Text(text) => {
                to.bytes.push(5);
                text.pack(to);
            }
            Value::Entity(id) => {
                to.bytes.push(6);
                id.pack(to);
            }
            Value::List(items) => {
                to.bytes.push(7);
                to.number(items.len() as u64);
                items.iter().for_each(|item| item.pack(to));
            }
            Value::Map(items) => {
                to.bytes.push(9);
                items.pack(to);
            }
        }
    }

    fn unpack(from: &mut ByteReader) -> Value {
        match from.byte() {
            0 => Value::None,
            1 => Value::Bool(false),
            2 => Value::Bool(true),
            3 => Value::Int(i64::unpack(from)),
            4 => Value::Ratio(i64::unpack(from), i64::unpack(from)),
            5 => Value::Text(Arc::unpack(from)),
            6 => Value::Entity(EntityId::unpack(from)),
            7 => Value::List(Vec::unpack(from).into()),
            8 => from.large[from.number() as usize].clone(),
            _ => Value::Map(Arc::new(BTreeMap::unpack(from))),
        }
    }
}

impl Pack for Key {
    fn pack(&self, to: &mut ByteWriter) {
        to.number(self.places().len() as u64);
        self.places().iter().for_each(|place| place.pack(to));
    }

    fn unpack(from: &mut ByteReader) -> Key {
        Key::new(&Vec::unpack(from)).expect(WRITTEN)
    }
}

impl Pack for Tape {
    /// The number of the last decision comes first, since it is read alone.
    fn pack(&self, to: &mut ByteWriter) {
        self.last_decision().map(|(_, seq)| seq).pack(to);
        self.slots.pack(to);
    }

    fn unpack(from: &mut ByteReader) -> Tape {
        let _: Option<u32> = Pack::unpack(from);
        Tape { slots: Pack::unpack(from) }
    }
}

macro_rules! packed {
    (new $($name:ident),*) => {
        $(impl Pack for $name {
            fn pack(&self, to: &mut ByteWriter) {
                self.0.pack(to);
            }

            fn unpack(from: &mut ByteReader) -> $name {
                $name(Pack::unpack(from))
            }
        })*
    };
    (struct $name:ident { $($field:ident),* }) => {
        impl Pack for $name {
            fn pack(&self, to: &mut ByteWriter) {
                let $name { $($field),* } = self;
                $($field.pack(to);)*
            }

            fn unpack(from: &mut ByteReader) -> $name {
                $(let $field = Pack::unpack(from);)*
                $name { $($field),* }
            }
        }
    };
    (enum $name:ident { $($number:literal $variant:ident $({ $($field:ident),* })? $(($($item:ident),*))?),* $(,)? }) => {
        impl Pack for $name {
            fn pack(&self, to: &mut ByteWriter) {
                match self {
                    $($name::$variant $({ $($field),* })? $(($($item),*))? => {
                        to.bytes.push($number);
                        $($($field.pack(to);)*)?
                        $($($item.pack(to);)*)?
                    })*
                }
            }

            fn unpack(from: &mut ByteReader) -> $name {
                match from.byte() {
                    $($number => {
                        $($(let $field = Pack::unpack(from);)*)?
                        $($(let $item = Pack::unpack(from);)*)?
                        $name::$variant $({ $($field),* })? $(($($item),*))?
                    })*
                    _ => unreachable!("{WRITTEN}"),
                }
            }
        }
    };
}

packed!(new EntityId, EntryId, AttachmentId, FieldId, KindId);
packed!(struct DicePosition { words, written });
packed!(enum By { 0 Person(seq), 1 Policy, 2 Default });
packed!(enum Slot {
    0 Roll { label, dice, faces, before, seq, earlier },
    1 Answer { topic, seat, about, answer, by, before },
    2 Closed { by, before },
});
packed!(enum Answer {
    0 Choice(id),
    1 Choices(ids),
    2 Number(number),
    3 Allotment(parts),
    4 Confirm(yes),
    5 Order(ids),
    6 Line(line),
    7 Faces(faces),
});
packed!(struct Entity { kind, fields });
packed!(struct DrawnNumber { number, audience });
packed!(struct Attachment { hook, owner, data, numbered });
packed!(struct Due { what, owner, args, every });
packed!(struct Entry { id, key, due, numbered });
packed!(enum Change {
    0 Set { entity, field, from, to },
    1 Spawn { entity, made },
    2 Remove { entity, was },
    3 Schedule { entry },
    4 Unschedule { entry },
    5 Rekey { id, from, to },
    6 Attach { id, made },
    7 Detach { id, was },
    8 Data { id, from, to },
    9 LeaveOut { name, out },
    10 Finish { from, to },
});
packed!(enum Audience { 0 Everybody, 1 Only(seats) });
packed!(struct Term { label, value, path, line, depth });
// The audience comes first, since it is read alone.
packed!(struct Event { audience, action, n, happening });
packed!(enum Happening {
    0 Said { text },
    1 Rolled { label, dice, faces, total, need, success, result, explain, terms },
    2 Changed { entity, title, field, label, from, to, text, reason },
    3 Spawned { entity, title, kind },
    4 Removed { entity, title, kind },
    5 Answered { seat, topic, about, text },
    6 Edited { text },
    7 Notice { text },
    8 Cut { reason },
    9 Over { text },
    10 Back { to, cause, text },
    11 Aside { text },
    12 Withdrawn { from },
});

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back<T: Pack + PartialEq + std::fmt::Debug>(value: T) {
        assert_eq!(Packed::new(&value).get(), value);
    }

    fn said(n: u32, text: &str, audience: Audience) -> Event {
        Event { action: 300, n, audience, happening: Happening::Said { text: text.into() } }
    }

    #[test]
    fn numbers_of_every_size_come_back() {
        for number in [0, 1, -1, 63, 64, -64, -65, 8191, 8192, i64::MAX, i64::MIN, 1 << 53] {
            there_and_back(number);
            there_and_back(Value::Int(number));
        }
        there_and_back([0, 127, 128, u64::MAX].to_vec());
        assert_eq!(Packed::new(&5_i64).bytes.len(), 1);
    }

    #[test]
    fn values_come_back_and_large_ones_are_shared() {
        let long = Value::text("x".repeat(LARGE + 1));
        let list = Value::list((0..200).map(Value::Int));
        let all = [
            Value::None,
            Value::Bool(true),
            Value::Bool(false),
            Value::Ratio(-3, 7),
            Value::text("hp"),
            Value::Entity(EntityId(7)),
            Value::list([Value::Int(1), long.clone()]),
            Value::map([("long", long.clone()), ("list", list.clone())]),
            long.clone(),
            list,
        ];
        there_and_back(all.to_vec());
        let (Value::Text(one), Value::Text(again)) = (&long, Packed::new(&long).get()) else { panic!("a text") };
        assert!(Arc::ptr_eq(one, &again));
    }

    #[test]
    fn a_list_grows_without_being_unpacked() {
        let long = || Value::text("x".repeat(LARGE + 1));
        let mut all: Vec<Value> = Vec::new();
        let mut packed = Packed::new(&all);
        for count in [0, 1, 2, 126, 3] {
            let more: Vec<Value> = (0..count).map(|n| if n == 1 { long() } else { Value::Int(n) }).collect();
            packed.extend(&more);
            all.extend(more);
            assert_eq!(packed, Packed::new(&all));
            assert_eq!(packed.get(), all);
        }
    }

    #[test]
    fn events_are_found_by_their_places() {
        let north = Audience::named("north");
        let all = [said(0, "one", Audience::Everybody), said(1, "two", north.clone()), said(2, "", Audience::nobody())];
        let events: Events = all.iter().cloned().collect();
        assert_eq!(events.iter().collect::<Vec<_>>(), all);
        assert_eq!(events.len(), 3);
        for (place, event) in events.places() {
            assert_eq!(events.at(place), event);
            assert_eq!(events.audience_at(place), event.audience);
        }
        assert_eq!(Events::default().iter().count(), 0);
    }

    #[test]
    fn a_tape_with_open_places_comes_back() {
        let before = DicePosition { words: 1 << 40, written: 3 };
        let roll = Slot::Roll {
            label: "{} pulls".into(),
            dice: "d10".into(),
            faces: vec![6, 10],
            before,
            seq: None,
            earlier: vec![4],
        };
        let answer = Slot::Answer {
            topic: "card".into(),
            seat: "left".into(),
            about: Some(EntityId(2)),
            answer: Answer::Allotment(vec![("a".into(), -4)]),
            by: By::Person(9),
            before,
        };
        let tape = Tape { slots: vec![Some(answer), None, Some(roll), Some(Slot::Closed { by: 1, before })] };
        assert_eq!(Packed::new(&tape).last_decision(), Some(9));
        there_and_back(tape);
        assert_eq!(Packed::<Tape>::default().last_decision(), None);
        there_and_back(Tape::default());
    }

    #[test]
    fn changes_come_back() {
        let key = Key::new(&[1, -2, 3]).expect("a key");
        let args = Value::map([("rope", Value::Entity(EntityId(1)))]);
        let due = Due { what: "turn".into(), owner: None, args, every: Some(Box::new(key)) };
        let numbered = Some(DrawnNumber { number: 5, audience: 1 });
        let entry = Entry { id: EntryId(4), key, due: Arc::new(due), numbered };
        there_and_back(vec![
            Change::Unschedule { entry },
            Change::Rekey { id: EntryId(4), from: key, to: key.plus(&key).unwrap() },
            Change::Spawn { entity: EntityId(3), made: Entity { kind: KindId(1), fields: vec![Value::Int(5)] } },
            Change::Finish { from: None, to: Some("over".into()) },
        ]);
    }
}
