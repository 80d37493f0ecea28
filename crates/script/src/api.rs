//! The vocabulary of rules in one table, from which the editor types, the reference page and the check of misspelt
//! words are generated. A test compares it with the functions of a script machine.

/// One word of `rb`.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub name: &'static str,
    pub group: WordGroup,
    /// The call syntax for the reference, beginning with `rb.` and the name.
    pub usage: &'static str,
    /// Its Luau type. It may refer to types of the current ruleset (`Kinds`, `Verbs`, `Switches`).
    pub ty: &'static str,
    pub text: &'static str,
    /// True if the word has an effect, so that it is refused in read-only functions.
    pub acts: bool,
}

/// The heading of a word in the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordGroup {
    Declaring,
    Fields,
    Changing,
    Entities,
    Relations,
    Verbs,
    Cards,
    Questions,
    Dice,
    Places,
    Agenda,
    Telling,
    Policies,
    Sheets,
    Specs,
}

impl WordGroup {
    pub const ALL: [(WordGroup, &'static str); 15] = [
        (WordGroup::Declaring, "Declaring"),
        (WordGroup::Fields, "Types of fields"),
        (WordGroup::Changing, "Changing what a parent declares"),
        (WordGroup::Entities, "Entities"),
        (WordGroup::Relations, "Relations and what lasts"),
        (WordGroup::Verbs, "Verbs and hooks"),
        (WordGroup::Cards, "Cards, items and data"),
        (WordGroup::Questions, "Questions"),
        (WordGroup::Dice, "Dice"),
        (WordGroup::Places, "Places"),
        (WordGroup::Agenda, "Agenda"),
        (WordGroup::Telling, "Ending, saying, explaining"),
        (WordGroup::Policies, "Policies"),
        (WordGroup::Sheets, "Sheets"),
        (WordGroup::Specs, "Specs"),
    ];
}

const fn reads(group: WordGroup, usage: &'static str, ty: &'static str, text: &'static str) -> Word {
    Word { name: named(usage, "rb."), group, usage, ty, text, acts: false }
}

const fn acts(group: WordGroup, usage: &'static str, ty: &'static str, text: &'static str) -> Word {
    Word { acts: true, ..reads(group, usage, ty, text) }
}

/// Extracts the word from a usage, after the prefix `of`.
const fn named(usage: &'static str, of: &str) -> &'static str {
    let (_, usage) = usage.split_at(of.len());
    let mut end = 0;
    while end < usage.len() && (usage.as_bytes()[end].is_ascii_alphanumeric() || usage.as_bytes()[end] == b'_') {
        end += 1;
    }
    usage.split_at(end).0
}

use WordGroup::*;

pub const WORDS: &[Word] = &[
    reads(
        Declaring,
        "rb.kinds({ NAME = { title, fields, derived, sheet, overview, seat, side, numbers, position, audience, peek, relates, mutual, timed, ended } })",
        "(kinds: { [string]: KindBody | Changed }) -> Declaration",
        "The kinds of entities, in `kinds.luau`. `relates = { \"from\", \"to\" }`: the kind is a relation between these references, and goes with either; `mutual = true`: their order says nothing. `timed = true`: it can have an end; `ended = function(self)` is run then. `numbers`, `side`, `seat` and `position` are what everybody who draws the game shows of an entity.",
    ),
    reads(
        Declaring,
        "rb.verbs({ NAME = rb.verb(...) })",
        "(verbs: { [string]: any }) -> Declaration",
        "The named operations, in `verbs.luau`.",
    ),
    reads(
        Declaring,
        "rb.verb({ text = \"...\", { \"target\", rb.ref(\"character\") }, { \"cause\", rb.text(), optional = true } }, function(target, cause) end)",
        "(parameters: VerbParameters, run: (...any) -> ...any) -> Verb",
        "One operation: what it does, its parameters with their types, and its function. A call is compared with the types; hooks see the parameters by name in `e`. A parameter may have a `text`, too.",
    ),
    reads(
        Declaring,
        "rb.play({ start, entries, free, views, order, results, boundary, stands, horizon, hit, prompt, deal, card, item, printed, context, topics })",
        "(play: PlayBody) -> Declaration",
        "How a game starts and what stands on the agenda, in `play.luau`. `order = function(seat)`: who acts when; `results`: which results of rolls are successes; `context = { actor = rb.ref(\"character\") }`: what `ctx` of a card holds; `topics = { risk = rb.int() }`: the topics of questions, with the type of their answers.",
    ),
    reads(
        Declaring,
        "rb.creation({ check, build, steps, price, sheet, position })",
        "(creation: CreationBody) -> Declaration",
        "Building, checking and pricing sheets, and positions made of sheets, in `creation.luau`.",
    ),
    reads(
        Declaring,
        "rb.maneuver({ id, title, rules, text, when, resolve, ... })",
        "(card: CardBody) -> Declaration",
        "One card a file, in `maneuvers/`.",
    ),
    reads(
        Declaring,
        "rb.item({ id, title, rules, text, before, after, wrap, ... })",
        "(item: ItemBody) -> Declaration",
        "A hook holder with facts of its own, in `items/`.",
    ),
    reads(
        Declaring,
        "rb.hook({ id, rules, priority, always, before, after, wrap, data })",
        "(hook: HookBody) -> Declaration",
        "A condition or a house rule that hangs on verbs, in `hooks/`. `data = { amount = rb.int() }`: what the data of its attachments hold.",
    ),
    reads(
        Declaring,
        "rb.policy({ id, base, answer, act })",
        "(policy: PolicyBody) -> Declaration",
        "How a seat without a person answers, in `policies/`. `base = \"ID\"`: that policy answers what this one does not.",
    ),
    reads(
        Declaring,
        "rb.convert({ id, from, renamed, dropped, run, steps, text })",
        "(convert: ConvertBody) -> Declaration",
        "Converts a game that comes from the ruleset `id`, or from another version of the ruleset itself: what cannot be carried over by name. `from = \"<2\"`: versions of that ruleset; `renamed = { character = { hits = \"harm\" } }`: new names of fields, `{ hero = \"character\" }`: of a kind; `dropped`: what is lost on purpose; `steps`: a list of these. Is declared in `convert/`.",
    ),
    reads(
        Fields,
        "rb.int({ min, max, default, label, show, audience })",
        "(options: IntOptions?) -> FieldType",
        "A whole number, bounds included. `show = \"said\"`: the scripts tell its changes themselves; an undo tells them.",
    ),
    reads(
        Fields,
        "rb.bool({ default, by_hand })",
        "(options: BoolOptions?) -> FieldType",
        "True or false. `by_hand = true`: the host sets it to true when the game master edits the game or turns a house rule. \
         A ruleset then checks once what has to hold.",
    ),
    reads(Fields, "rb.text({ default })", "(options: FieldOptions?) -> FieldType", "A text."),
    reads(Fields, "rb.ratio({ default })", "(options: FieldOptions?) -> FieldType", "A fraction `{n, d}`."),
    reads(
        Fields,
        "rb.enum({ \"open\", \"guarded\" }, { default })",
        "(values: { string }, options: FieldOptions?) -> FieldType",
        "One of some texts; the first is the default where none is named.",
    ),
    reads(
        Fields,
        "rb.ref(\"side\")",
        "(kind: KindName?, options: FieldOptions?) -> FieldType",
        "An entity of a kind, or nothing.",
    ),
    reads(
        Fields,
        "rb.list(rb.int())",
        "(element: FieldType, options: FieldOptions?) -> FieldType",
        "A list; it is replaced whole.",
    ),
    reads(
        Fields,
        "rb.map(rb.int())",
        "(element: FieldType, options: FieldOptions?) -> FieldType",
        "Texts to values; it is replaced whole.",
    ),
    reads(
        Fields,
        "rb.record({ { \"amount\", rb.int() } })",
        "(names: { any }?) -> FieldType",
        "A table with these names, as a parameter of a verb, in `context` or in `data`; a call compares no more than that it is a table and no entity.",
    ),
    reads(
        Fields,
        "rb.one_of({ rb.ref(\"side\"), rb.enum({ \"nobody\" }) })",
        "(types: { any }) -> FieldType",
        "A value of one of these types, as a parameter of a verb, in `context`, in `topics` or in `data`.",
    ),
    reads(Fields, "rb.any()", "() -> FieldType", "Any value, as a parameter of a verb, in `context` or in `data`."),
    reads(
        Changing,
        "rb.extend(rb.maneuver({ id = \"feint\", max_risk = 2 }))",
        "<T>(declaration: T) -> T",
        "Changes only these fields of the declaration below.",
    ),
    reads(Changing, "rb.replace(rb.maneuver({ ... }))", "<T>(declaration: T) -> T", "Replaces the declaration below."),
    reads(
        Changing,
        "rb.removed(\"maneuver\", \"feint\")",
        "(what: string?, id: string?) -> any",
        "Removes the declaration below.",
    ),
    reads(
        Changing,
        "rb.wrapped(function(below, ...) end)",
        "(run: (...any) -> ...any) -> any",
        "A function that gets the function below as its first argument.",
    ),
    reads(
        Entities,
        "rb.each(\"coin\", { bearer = self })",
        "Each",
        "The entities of a kind in the order in which they were made: a frozen list. With a table, those whose fields hold these values. Do not keep it over a spawn.",
    ),
    reads(
        Entities,
        "rb.first(\"fight\")",
        "First",
        "The first entity of a kind, or nil; with a table, the first whose fields hold these values.",
    ),
    reads(
        Entities,
        "rb.filter(list, function(value) return true end)",
        "<T>(list: { T }, keep: (value: T) -> any) -> { T }",
        "The elements of a list for which the function returns true, in their order. The function may only read.",
    ),
    acts(
        Entities,
        "rb.spawn(\"character\", { name = \"Foe\" })",
        "Spawn",
        "Makes an entity; fields not given take their default.",
    ),
    acts(
        Entities,
        "rb.remove(foe)",
        "(entity: Entity) -> ()",
        "Takes an entity away with its agenda entries, attachments and relations; references to it become empty.",
    ),
    acts(
        Relations,
        "rb.relate(\"engages\", one, other, { degree = 2 })",
        "(relation: KindName, one: Entity, other: Entity, fields: { [string]: any }?) -> any",
        "Makes a relation between two entities, or sets these fields of the existing one. Gives the relation.",
    ),
    acts(
        Relations,
        "rb.unrelate(\"engages\", one, other)",
        "(relation: KindName, one: Entity, other: Entity) -> boolean",
        "Ends the relations of a kind between two entities; gives whether there was one.",
    ),
    reads(
        Relations,
        "rb.relation(\"engages\", one, other)",
        "(relation: KindName, one: Entity, other: Entity) -> any",
        "The relation of a kind between two entities, or nil.",
    ),
    reads(
        Relations,
        "rb.related(\"engages\", one)",
        "(relation: KindName, one: Entity) -> { any }",
        "Those to whom an entity has a relation of a kind: a frozen list, in the order in which they came about.",
    ),
    reads(
        Relations,
        "rb.relating(\"engages\", other)",
        "(relation: KindName, other: Entity) -> { any }",
        "Those who have a relation of a kind to an entity.",
    ),
    acts(
        Relations,
        "rb.lasts(status, { moment = \"turn\", of = actor, times = 1 })",
        "(status: Entity, till: { at: Key?, moment: string?, of: Entity?, times: number? }) -> ()",
        "Gives an entity of a timed kind an end: `at` a key of the agenda, or when an entry of that name (of that owner) comes the n-th time. It goes when the last of its ends has come.",
    ),
    acts(
        Relations,
        "rb.comes(\"turn over\", actor)",
        "(moment: string, of: Entity?) -> ()",
        "Announces a moment that is no entry of the agenda. What lasts until that moment counts it.",
    ),
    reads(
        Verbs,
        "rb.act.NAME(...)",
        "Verbs",
        "The ruleset's verbs. Gives what the verb returns, or false and the reason where a hook vetoed.",
    ),
    acts(
        Verbs,
        "rb.attach(\"armour\", actor, data)",
        "(hook: HookName, owner: Entity, data: any?) -> number",
        "Puts a hook or an item on an entity; gives the number of the attachment.",
    ),
    acts(Verbs, "rb.detach(number)", "(attachment: number) -> ()", "Ends an attachment."),
    reads(
        Verbs,
        "rb.attached(actor)",
        "(owner: Entity?) -> { Holder }",
        "The attachments of an entity: `{id, hook, owner, data}`.",
    ),
    acts(
        Verbs,
        "rb.set_data(number, data)",
        "(attachment: number, data: any?) -> ()",
        "Replaces the data of an attachment.",
    ),
    reads(
        Cards,
        "rb.cards.feint",
        "{ [string]: Card }",
        "The cards by id; an unknown id is a fault that names the nearest one.",
    ),
    reads(Cards, "rb.card(\"feint\")", "(id: CardName) -> Card", "A card by its id; a fault names the nearest one."),
    reads(Cards, "rb.card_ids", "{ string }", "The ids of the cards, sorted."),
    reads(
        Cards,
        "rb.cards_with(\"deck\", \"magic\")",
        "(fact: string, value: any?) -> { string }",
        "The ids of the cards with that value of a fact, or with a list that has it; without a value, of those without the fact.",
    ),
    reads(
        Cards,
        "rb.fact(card, \"max_risk\", ctx)",
        "(card: Card, name: string, ctx: any?) -> any",
        "A fact of a card, worked out where it is a function.",
    ),
    reads(
        Cards,
        "rb.options(rb.card_ids, ctx, nil, seat)",
        "(ids: { string }, ctx: any, also: any?, seat: string?) -> { Option }",
        "Runs `when` of each card, from what the seat knows, and gives the options of a question.",
    ),
    reads(Cards, "rb.items.bow", "{ [string]: Item }", "The items by id, likewise."),
    reads(Cards, "rb.item_ids", "{ string }", "The ids of the items, sorted."),
    reads(Cards, "rb.item_of(\"bow\")", "(id: ItemName) -> Item", "An item by its id."),
    reads(Cards, "rb.cast.fighter", "{ [string]: any }", "The tables of `cast/*.toml` by file name."),
    reads(Cards, "rb.switches.NAME", "Switches", "The house rules in force."),
    acts(
        Questions,
        "rb.choose({ seat, topic, options, ... })",
        "(question: ChooseQuestion) -> any",
        "One of the options: gives its value. `other = true` also takes any line of text.",
    ),
    acts(
        Questions,
        "rb.choose_many({ options, min, max, ... })",
        "(question: ManyQuestion) -> { any }",
        "Some of the options: gives the list of their values, in the options' order.",
    ),
    acts(Questions, "rb.number({ min, max, ... })", "(question: NumberQuestion) -> number", "A number."),
    acts(
        Questions,
        "rb.allot({ options, total, least, ... })",
        "(question: AllotQuestion) -> { number }",
        "Points given out: a number for each option.",
    ),
    acts(Questions, "rb.confirm({ ... })", "(question: Question) -> boolean", "Yes or no."),
    acts(
        Questions,
        "rb.order({ options, ... })",
        "(question: OptionsQuestion) -> { any }",
        "The values of the options in the order chosen.",
    ),
    acts(Questions, "rb.line({ max, ... })", "(question: LineQuestion) -> string", "A line of text."),
    acts(
        Questions,
        "rb.all({ { ask = \"number\", ... }, ... })",
        "(questions: { any }) -> { any }",
        "Several questions at once, of any seats: the list of their answers. An entry may be a function that is given its answers so far and gives its next question, or nil: its answers are a list. Nobody sees any before all are in.",
    ),
    acts(
        Questions,
        "rb.race({ { ask = \"confirm\", ... }, ... })",
        "(questions: { { [string]: any } }) -> (number, any)",
        "Several seats are asked at once, and the first answer closes the others: its place in the list, and the answer.",
    ),
    acts(
        Questions,
        "rb.reveal()",
        "() -> ()",
        "Reveals the sealed answers (`sealed = true`) of this action so far. The end of the action does it, too.",
    ),
    acts(
        Dice,
        "rb.roll(\"3d12\", label, ...)",
        "(dice: Dice, label: string, ...any) -> number",
        "The total. For all rolls: `{ \"3d12\", audience = \"gm\" }` instead of the text rolls for those eyes only.",
    ),
    acts(
        Dice,
        "rb.draw(list, count?)",
        "(list: { any }, count: number?) -> (any, { any })",
        "An element of the list, left to chance, and the list without it; with `count`, a list of that number. Nobody sees what is drawn.",
    ),
    acts(
        Dice,
        "rb.shuffle(list)",
        "(list: { any }) -> { any }",
        "The list in an order left to chance. Keep it in a field with `audience = \"nobody\"`.",
    ),
    acts(
        Dice,
        "rb.faces(\"4d6kh3\", label, ...)",
        "(dice: Dice, label: string, ...any) -> { number }",
        "The kept faces, the highest first; of several pools, pool by pool.",
    ),
    acts(
        Dice,
        "rb.ordered_faces(\"4d6kh3\", label, ...)",
        "(dice: Dice, label: string, ...any) -> { number }",
        "The kept faces in the order rolled, for rules that look at it.",
    ),
    acts(
        Dice,
        "rb.ranks(\"4d10\", label, ...)",
        "(dice: Dice, label: string, ...any) -> { number }",
        "The rank of each kept face, in the order rolled: the lowest has 1, equal faces share one. For \"who goes first\": the script learns no more than that.",
    ),
    acts(
        Dice,
        "rb.under(\"1d10\", n, label, ...)",
        "(dice: Dice, n: Sum, label: string, ...any) -> boolean",
        "Whether the total is below n, a number or a sum.",
    ),
    acts(
        Dice,
        "rb.at_most(\"1d10\", n, label, ...)",
        "(dice: Dice, n: Sum, label: string, ...any) -> boolean",
        "Whether the total is at most n, a number or a sum.",
    ),
    acts(
        Dice,
        "rb.at_least(\"1d10\", n, label, ...)",
        "(dice: Dice, n: Sum, label: string, ...any) -> boolean",
        "Whether the total is at least n, a number or a sum.",
    ),
    acts(
        Dice,
        "rb.check(\"1d10\", { at_most = n }, label, ...)",
        "(dice: Dice, need: { under: Sum?, at_most: Sum?, at_least: Sum? }, label: string, ...any) -> boolean",
        "Whether the total is what is needed: `under`, `at_most` or `at_least`.",
    ),
    acts(
        Dice,
        "rb.last_roll()",
        "() -> number",
        "The total of the last roll of this action, also of a test or a band. Odds branch on it only where a script reads it.",
    ),
    acts(
        Dice,
        "rb.result(text, ...)",
        "(text: string, ...any) -> ()",
        "Adds a text to the line of the last roll, such as a degree of success or who beat whom.",
    ),
    acts(
        Dice,
        "rb.band(\"3d12\", { 6, 10, 14 }, label, ...)",
        "(dice: Dice, cuts: { number }, label: string, ...any) -> number",
        "How many of the rising cuts the total reaches.",
    ),
    acts(
        Dice,
        "rb.again(function() return stands_or_nil end)",
        "<T>(rolls: () -> T?) -> T",
        "Rolls until the function returns something: nil rolls again. Odds are exact.",
    ),
    reads(
        Places,
        "rb.within(one, other, 30)",
        "(one: Place, other: Place, far: number) -> boolean",
        "Whether two places are at most that far apart. It compares squares, so it is exact.",
    ),
    reads(
        Places,
        "rb.distance(one, other)",
        "(one: Place, other: Place) -> number",
        "The distance of two places, rounded down.",
    ),
    reads(Places, "rb.square(one, other)", "(one: Place, other: Place) -> number", "The square of their distance."),
    reads(
        Places,
        "rb.towards(one, other, 10)",
        "(one: Place, other: Place, far: number) -> { x: number, y: number }",
        "The place so far from one towards another, and away from it below 0; each coordinate to the nearest whole number.",
    ),
    reads(Places, "rb.root(n)", "(n: number) -> number", "The whole part of a square root."),
    reads(
        Places,
        "rb.sketch({ { x = 3, y = 4, mark = \"A\" } })",
        "(marks: { any }) -> { any }",
        "Lines of a view that show where marks stand, north up. `*`: several share a spot.",
    ),
    acts(
        Agenda,
        "rb.schedule(\"turn\", { 1, 2 }, actor, args)",
        "(what: EntryName, key: Key, owner: Entity?, args: any?) -> number",
        "Puts an entry on the agenda; gives a token for it. A smaller key comes first; `\"+1\"` in a place counts from the entry that runs.",
    ),
    acts(
        Agenda,
        "rb.recur(\"turn\", { 1, 2 }, { 1, 0 }, actor, args)",
        "(what: EntryName, key: Key, step: Key, owner: Entity?, args: any?) -> number",
        "An entry that is scheduled again at key + step each time before it runs.",
    ),
    acts(Agenda, "rb.cancel(number)", "(entry: number) -> ()", "Takes an entry off the agenda."),
    acts(Agenda, "rb.rekey(number, key)", "(entry: number, key: Key) -> ()", "Gives an entry another key."),
    reads(
        Agenda,
        "rb.agenda({ what = \"turn\", owner = actor })",
        "(filter: { what: string?, owner: Entity? }?) -> { AgendaEntry }",
        "The entries in order: `{id, key, what, owner, args}`.",
    ),
    acts(
        Telling,
        "rb.say(\"{} takes {}\", target, n)",
        "(text: string | (...any) -> ...any, ...any) -> ()",
        "A line of the story, `{}` filled in. A function instead of the text gets the values; it runs only if the log is read.",
    ),
    acts(
        Telling,
        "rb.whisper(\"gm\", text, ...)",
        "(audience: Audience, text: string, ...any) -> ()",
        "A line for one seat, for a list of seats, or for the seats that see an entity.",
    ),
    acts(
        Telling,
        "rb.secretly(audience, run, ...)",
        "(audience: Audience, run: (...any) -> ...any, ...any) -> ...any",
        "Runs a function and gives back what it gives. What it says, rolls, asks and is answered is for this audience alone; the seat asked sees the question. Changes of fields have the audiences of the fields.",
    ),
    acts(
        Telling,
        "rb.disclose()",
        "() -> ()",
        "Inside `rb.secretly`: what it has told so far and tells from here on is for everybody who would be told without it.",
    ),
    acts(
        Telling,
        "rb.openly(run, ...)",
        "(run: (...any) -> ...any, ...any) -> ...any",
        "Runs a function and gives back what it gives. What it tells is told as if nothing were secret, also inside `rb.secretly`.",
    ),
    acts(
        Telling,
        "rb.cut(reason, ...)",
        "(reason: string, ...any) -> ()",
        "Ends the action at once and keeps what it changed.",
    ),
    acts(Telling, "rb.finish(text, ...)", "(text: string, ...any) -> ()", "The game is over after this action."),
    reads(
        Telling,
        "rb.sum(\"Wit\", self.wit, \"tired\", -2)",
        "(...any) -> Sum",
        "A number that remembers its named parts: labels, each with a number or a sum; a sum without a label is taken over with \
         its parts. Sums are added and subtracted with + and -. A derived value, what a roll needs and what fills in its label \
         take a sum; `why` lists its parts with file and line, and the line of the roll shows them in short. `sum.total` is \
         the number; `sum:least(0, label)` and `sum:most(9, label)` bound it.",
    ),
    reads(
        Telling,
        "rb.sum_of(entity, \"defense\", ...)",
        "(entity: any, name: any, ...any) -> Sum",
        "A derived value of an entity as a sum, with its parts.",
    ),
    reads(
        Policies,
        "rb.open(q, \"strike\")",
        "(question: any, id: string) -> any",
        "In a policy: the value of the option of that id, if it is open; of cards, only that one's `when` is run.",
    ),
    reads(
        Policies,
        "rb.pick(q, n)",
        "(question: any, n: number) -> number",
        "In a policy: a repeatable whole number in 1..n.",
    ),
    reads(Sheets, "rb.check_sheet(sheet)", "(sheet: any) -> { Breach }", "The breaches that `creation.check` finds."),
    reads(Sheets, "rb.price_sheet(sheet)", "(sheet: any) -> Price", "What `creation.price` says that a sheet costs."),
    reads(
        Sheets,
        "rb.build_sheet(sheet)",
        "(sheet: any) -> (string, { [string]: any })",
        "The kind and the fields that a sheet becomes.",
    ),
    reads(
        Specs,
        "rb.spec(name, { \"RULE-1\" }, function(t) end)",
        "(name: string, rules: { string }, run: (t: Spec) -> ()) -> ()",
        "A rule with dice, in `specs/`.",
    ),
    reads(
        Specs,
        "rb.cases(\"{risk} costs {loss}\", { \"RULE-1\" }, { { risk = 1, loss = 2 } }, function(t, case) end)",
        "(name: string, rules: { string }, cases: { any }, run: (t: Spec, case: any) -> ()) -> ()",
        "A spec for each of some cases, `{key}` in its name filled in.",
    ),
];

/// A method of a spec's `t`.
#[derive(Clone, Copy, Debug)]
pub struct SpecMethod {
    pub name: &'static str,
    pub usage: &'static str,
    /// Its parameters after `self`, and its result, as Luau types.
    pub ty: (&'static str, &'static str),
    pub text: &'static str,
}

const fn method(usage: &'static str, ty: (&'static str, &'static str), text: &'static str) -> SpecMethod {
    SpecMethod { name: named(usage, "t:"), usage, ty, text }
}

/// Declares the methods of a spec's `t`, one row each: the enum [`SpecCall`] and the table [`SPEC_METHODS`].
macro_rules! spec_methods {
    ($($call:ident = $method:expr),* $(,)?) => {
        /// Names a method of a spec's `t`. A new one does not compile until the crate of specs carries it out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SpecCall {
            $($call,)*
        }

        /// The methods of a spec's `t`, in the order of the reference.
        pub const SPEC_METHODS: &[SpecMethod] = &[$($method,)*];

        impl SpecCall {
            /// All methods, in the order of [`SPEC_METHODS`].
            pub const ALL: &[SpecCall] = &[$(SpecCall::$call,)*];

            /// Its name after `t:`.
            pub fn name(self) -> &'static str {
                SPEC_METHODS[self as usize].name
            }
        }
    };
}

spec_methods! {
    Switch = method("t:switch(name, value)", ("name: string, value: any", "()"), "Before `given`: a house rule."),
    Seat = method(
        "t:seat(seat, policy)",
        ("seat: string, driver: string", "()"),
        "Who plays a seat; all are people in a spec.",
    ),
    Given = method(
        "t:given(scenario, ruleset?)",
        ("scenario: any?, ruleset: string?", "()"),
        "Starts the game, by a scenario's name or table, of another ruleset if one is named; call it once.",
    ),
    GivenRefused = method(
        "t:given_refused(scenario, reason, ruleset?)",
        ("scenario: any?, reason: string, ruleset: string?", "()"),
        "The position cannot be played, for a reason that contains the text. Another one may be given then.",
    ),
    Dice = method(
        "t:dice(...)",
        ("...any", "()"),
        "Appends faces; each must be rolled by the end of the spec, and none more.",
    ),
    Play = method(
        "t:play(about, card, answers?)",
        ("about: string, card: string, answers: { [string]: any }?", "()"),
        "Plays until topic `card` is asked about that entity, answers it and what it asks in turn. Entries that the action puts before its own place on the agenda are played, too.",
    ),
    Turn = method(
        "t:turn(about, answers)",
        ("about: string, answers: { [string]: any }?", "()"),
        "Answers by topic every question of the action in which that entity is asked something.",
    ),
    Answer = method(
        "t:answer(topic, value)",
        ("topic: string, value: any", "()"),
        "Answers the next question of that topic; a table by names answers those who are asked, and each must be.",
    ),
    Asked = method(
        "t:asked(topic)",
        ("topic: string", "any"),
        "The next question of that topic: `options`, `seat`, `why`, `about`, `min`, `max`.",
    ),
    Open = method("t:open()", ("", "{ any }"), "The questions that are open now, each as `t:asked` gives it."),
    Refused = method(
        "t:refused(about, card, answers, reason)",
        ("about: string, card: string, answers: { [string]: any }?, reason: string | { [string]: any }", "()"),
        "An answer is refused, and nothing has changed. The reason is a part of the text, or a table such as `{ kind = \"greyed\", rule = \"ABC-1\" }` with fields of the refusal as JSON has them. Dice that run out, a script that fails and an answer that nothing asks for are no refusal.",
    ),
    RefusedBecause = method(
        "t:refused_because(about, card, reason, answers?)",
        ("about: string, card: string, reason: string | { [string]: any }, answers: { [string]: any }?", "()"),
        "The same, with the reason first.",
    ),
    RefusedAnswer = method(
        "t:refused_answer(topic, value, reason)",
        ("topic: string, value: any, reason: string | { [string]: any }", "()"),
        "The same of an answer to the next question of that topic.",
    ),
    Greyed = method(
        "t:greyed(about, option, reason?, topic?)",
        ("about: string, option: string, reason: (string | { [string]: any })?, topic: string?", "()"),
        "The option stands in the next question of that topic (`card`, if none is named) about that entity or to that seat, greyed, for that reason.",
    ),
    Enabled = method(
        "t:enabled(about, option, topic?)",
        ("about: string, option: string, topic: string?", "()"),
        "The option is listed and open.",
    ),
    Run = method(
        "t:run(what?)",
        ("what: string?", "()"),
        "Lets the game continue to the next question, or until the next such entry of `play.luau` has run.",
    ),
    Free = method(
        "t:free(seat, name, answers?)",
        ("seat: string, name: string, answers: { [string]: any }?", "()"),
        "A free act at the next question.",
    ),
    Closed = method(
        "t:closed(seat, name, reason)",
        ("seat: string, name: string, reason: string | { [string]: any }", "()"),
        "The seat cannot take that free act at the next question, for a reason that contains the text.",
    ),
    Edit = method(
        "t:edit(title, field, value)",
        ("title: string, field: string, value: any", "()"),
        "The game master's hand; a reference takes a title, or \"none\". The name of a relation makes one to that title, or ends those that there are.",
    ),
    Undo = method(
        "t:undo(seat?)",
        ("seat: string?", "()"),
        "Takes back the last decision: the game master does, or the seat that is named.",
    ),
    UndoRefused = method(
        "t:undo_refused(seat)",
        ("seat: string", "()"),
        "The seat may not take its last decision back: it has been shown what not everybody may see, or `stands` says so.",
    ),
    Redo = method("t:redo()", ("", "()"), "Takes it again."),
    Expect = method(
        "t:expect({ title = { field = value } })",
        ("expected: { [string]: any }", "()"),
        "Fields or derived values by entity title; also \"unchanged\" and \"gone\".",
    ),
    Value = method(
        "t:value(title, field, ...)",
        ("title: string, field: string, ...any", "any"),
        "A field or derived value, with its arguments.",
    ),
    Titles = method("t:titles(kind)", ("kind: string", "{ string }"), "The titles of all entities of a kind."),
    Said = method("t:said(text)", ("text: string", "()"), "Some event of the game so far contains the text."),
    Sees = method(
        "t:sees(seat, text)",
        ("seat: string, text: string", "()"),
        "The seat gets the text somewhere: in its log, its questions, the fields, sheets and titles that it may see, or its free acts. `\"nobody\"` is a watcher.",
    ),
    Hidden = method(
        "t:hidden(seat, text)",
        ("seat: string, text: string", "()"),
        "The seat gets the text nowhere: the opposite of `t:sees`.",
    ),
    Happened = method(
        "t:happened(sort, { field = value }?, times?)",
        ("sort: string, fields: { [string]: any }?, times: number?", "()"),
        "Events of a sort (said, rolled, changed, spawned, removed, answered, edited, notice, cut, over) with these fields have happened, at all or that number of times; texts need only be contained.",
    ),
    Odds = method(
        "t:odds(about, card, answers, wanted, chance, { within = chance, horizon = entry }?)",
        (
            "about: string, card: string, answers: { [string]: any }?, wanted: any, chance: any?, options: { within: string?, horizon: string? }?",
            "()",
        ),
        "The exact chance (\"3/5\" or \"60 %\") that the card has the wanted outcome: fields and derived values by title, numbers also as \">= 2\", \"gone\" and \"unchanged\", `said` for a text, or a text alone; all of it at once. Instead of one, a list of { wanted, chance }. `within` allows an estimate that is off by up to this; `horizon` looks ahead to the next agenda entry of that name. Nothing is played.",
    ),
    Over = method("t:over(text?)", ("text: string?", "()"), "The game is over, and its outcome contains the text."),
    Ongoing = method("t:ongoing()", ("", "()"), "The game is not over."),
    Legal = method("t:legal(sheet)", ("sheet: any", "()"), "The sheet passes `creation.check`."),
    Breach = method(
        "t:breach(sheet, rule, text?)",
        ("sheet: any, rule: string, text: string?", "()"),
        "The sheet breaks that rule.",
    ),
    Breaches = method(
        "t:breaches(sheet, { rule }, { warning }?)",
        ("sheet: any, breaches: { string }?, warnings: { string }?", "()"),
        "The sheet breaks exactly these rules and draws exactly these warnings, each a rule or `rule: a part of its text`. After `t:rules` it is checked under the new rules.",
    ),
    Equal = method("t:equal(found, expected, what?)", ("found: any, expected: any, what: string?", "()"), "Plain comparison."),
    Rules = method("t:rules(id)", ("id: string", "any"), "The game changes to another ruleset, as at the table."),
    Noted = method(
        "t:noted(fate, text)",
        ("fate: string, text: string", "()"),
        "The report of the last change of rules contains the text.",
    ),
    RulesRefused = method(
        "t:rules_refused(id, reason)",
        ("id: string, reason: string", "()"),
        "The change to that ruleset is refused, with a reason that contains the text.",
    ),
}

/// Fields of all questions, and those of each kind of question.
pub const QUESTION_FIELDS: &[&str] =
    &["seat", "topic", "about", "why", "default", "audience", "auto", "sealed", "propose", "peek", "ask", "check"];
pub const QUESTIONS: &[(&str, &[&str])] = &[
    ("choose", &["options", "other", "note", "cards", "ctx", "when", "more"]),
    ("choose_many", &["options", "min", "max", "note"]),
    ("number", &["min", "max"]),
    ("allot", &["options", "total", "least", "note"]),
    ("confirm", &[]),
    ("order", &["options", "note"]),
    ("line", &["max"]),
];

/// Fields of the options of a question.
pub const OPTION_FIELDS: &[&str] = &["id", "label", "value", "enabled", "reason", "reason_args", "note", "max"];

/// Methods of every entity, without its derived values.
pub const ENTITY_METHODS: &[&str] = &["set", "add", "shift", "reaches", "exists"];
pub const ENTITY_FIELDS: &[&str] = &["id", "kind"];

/// Names of members that the host gives to scripts: fields of questions, options, agenda entries and the like, and
/// methods of texts, entities and specs.
pub fn known_members() -> impl Iterator<Item = &'static str> {
    let typed = super::types::COMMON.split([' ', '{', '(', ',']).filter_map(|word| word.strip_suffix(':'));
    let questions = QUESTIONS.iter().flat_map(|(_, own)| own.iter()).chain(QUESTION_FIELDS).chain(&["result", "ask"]);
    let methods = library("string").unwrap_or_default().iter().chain(ENTITY_METHODS).chain(ENTITY_FIELDS);
    let words = WORDS.iter().map(|word| word.name).chain(SPEC_METHODS.iter().map(|method| method.name));
    typed.chain(questions.copied()).chain(methods.copied()).chain(words)
}

/// The globals of every file.
pub fn globals() -> impl Iterator<Item = &'static str> {
    let libraries = super::sandbox::ALLOWED.iter();
    let names =
        libraries.flat_map(|(library, names)| if library.is_empty() { *names } else { std::slice::from_ref(library) });
    names.copied().chain(["require"])
}

/// The members of a library. `None` if there is no such library.
pub fn library(name: &str) -> Option<&'static [&'static str]> {
    let found = super::sandbox::ALLOWED.iter().find(|(library, _)| *library == name && !library.is_empty());
    found.map(|(_, names)| *names)
}

/// Names of other Lua environments that do not exist here, with replacements.
pub const NOT_HERE: &[(&str, &str)] = &[
    ("pcall", "a fault is told to the game master and taken back; test what may fail before it does"),
    ("xpcall", "a fault is told to the game master and taken back; test what may fail before it does"),
    ("coroutine", "a question stops the action by itself"),
    ("os", "a game has no clock; what comes later stands on the agenda: rb.schedule"),
    ("io", "a rule reads no file; data stands in cast/*.toml and is read by rb.cast"),
    ("print", "use rb.say, which the log keeps"),
    ("loadstring", "use require"),
    ("load", "use require"),
    ("dofile", "use require"),
    ("getfenv", "name what is wanted"),
    ("setfenv", "name what is wanted"),
    ("setmetatable", "keep what must last in fields of entities"),
    ("getmetatable", "entities are read like tables"),
    ("rawset", "fields are written with entity:set"),
    ("collectgarbage", "leave it out"),
    ("newproxy", "leave it out"),
    ("debug", "use rb.sum and `why`"),
    ("_G", "a ruleset has no globals"),
    ("wait", "use rb.schedule"),
];

/// Obsolete words: they still work, but are not documented.
pub const FORMER_WORDS: &[&str] = &["term"];

pub fn word(name: &str) -> Option<&'static Word> {
    WORDS.iter().find(|word| word.name == name)
}

pub fn spec_method(name: &str) -> Option<&'static SpecMethod> {
    SPEC_METHODS.iter().find(|method| method.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table and the prelude have the same words.
    #[test]
    fn the_table_holds_every_word_and_no_other() {
        let prelude = super::super::compile::PRELUDE_TEXT;
        let mut offered: Vec<&str> = Vec::new();
        for line in prelude.lines() {
            let line = line.trim_start();
            for start in ["rb.", "function rb."] {
                let Some(rest) = line.strip_prefix(start) else { continue };
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let after = rest[end..].trim_start();
                if start == "function rb." || after.starts_with('=') {
                    offered.push(&rest[..end]);
                }
            }
        }
        // The words made in a loop, and those for specs.
        offered.extend([
            "kinds", "verbs", "play", "creation", "maneuver", "item", "hook", "policy", "convert", "spec", "cases",
        ]);
        offered.extend(QUESTIONS.iter().map(|(ask, _)| *ask));
        let missing: Vec<_> =
            offered.iter().filter(|name| word(name).is_none() && !FORMER_WORDS.contains(*name)).collect();
        let invented: Vec<_> = WORDS.iter().map(|word| word.name).filter(|name| !offered.contains(name)).collect();
        assert!(missing.is_empty() && invented.is_empty(), "missing {missing:?}, invented {invented:?}");
    }

    #[test]
    fn no_word_is_listed_twice() {
        for (at, word) in WORDS.iter().enumerate() {
            assert!(WORDS[..at].iter().all(|other| other.name != word.name), "{}", word.name);
        }
    }
}
