//! Generates small random rulesets.

use super::model::{Body, Card, Case, Entry, Expr, Field, Hook, Sort, Stat};
use super::random::Random;

/// Declares the switches of [`Features`] by name.
macro_rules! features {
    ($($(#[$about:meta])* $name:ident: $now:literal,)*) => {
        /// Features that generated rulesets may use although the modes disagree, or once disagreed, on them.
        #[derive(Clone, Copy, Debug)]
        pub struct Features {
            $($(#[$about])* pub $name: bool,)*
        }

        impl Features {
            /// The features on which the modes agree now.
            pub const NOW: Features = Features { $($name: $now,)* };
            pub const ALL: Features = Features { $($name: true,)* };

            /// Turns a switch on, or `all`. Returns false if there is no such switch.
            pub fn turn_on(&mut self, name: &str) -> bool {
                match name {
                    "all" => *self = Features::ALL,
                    $(stringify!($name) => self.$name = true,)*
                    _ => return false,
                }
                true
            }
        }
    };
}

features! {
    /// Row 1: a rule depends on the number of an entry.
    entry_numbers: true,
    /// Row 2: the agenda is filled up to its limit.
    agenda_limit: true,
    /// Row 3: a policy names an option twice, omits one, gives half a point, or a line that is too long.
    refused_answers: true,
    /// Row 6: the method of one entity is called on another; a plain table passes as an entity.
    borrowed_methods: false,
    /// Row 7: `when` and policies modify their arguments.
    changed_questions: false,
    /// Row 7: numbers beyond 2^53.
    large_numbers: true,
    /// A game at the fault of a policy is saved and loaded.
    faults_loaded: true,
    /// A policy answers with the table of an option: with events, options are built again before it is looked up.
    option_tables: false,
    /// A question has a default that does not fit, and its policy answers: without events, the default is not checked.
    unfit_defaults: true,
    /// The messages of faults are compared for refused answers, and for changes where only reading is allowed.
    refusal_words: false,
    /// Keys of entries are computed before each pop.
    computed_keys: true,
    /// The default of an allotment names its options: without events it is used unchanged.
    named_allotments: false,
    /// A `when` writes: the effect is visible only in modes that run it.
    writing_when: false,
    /// Malformed questions: options of wrong types or duplicates, invalid limits, a topic that is no text.
    bad_questions: true,
    /// A game is played with edits and free acts, with undo and redo.
    hands: true,
    /// Things with a duration.
    lasting: true,
    /// Fields, things, rolls and answers that not every seat may see, and a deck.
    secrets: true,
    /// Limits of an action are exceeded in its middle.
    limits: true,
    /// A house rule is on top of the ruleset, or is added during the game.
    layers: true,
    /// The scripts are changed during the game.
    reloads: true,
    /// Words that the other parts do not use: items, facts, places, further fields of questions, policies with free
    /// acts.
    words: true,
    /// A change of rules waits for another entry, or for none.
    boundaries: true,
    /// A derived value takes arguments.
    arguments: true,
    /// Things are built from sheets, which are checked and priced.
    creation: true,
    /// The ruleset resamples hidden values for a look-ahead.
    deals: true,
    /// A game changes to another ruleset, and back.
    converts: true,
    /// One of several questions has a check: it runs when all are answered, or earlier if the game is saved and loaded
    /// in between.
    checks_in_lists: false,
}

pub fn generate(seed: u64, features: Features) -> Case {
    Generator {
        random: Random::new(seed),
        features,
        vars: Vec::new(),
        made: 0,
        room: 0,
        parts: Parts::default(),
        commented: false,
    }
    .case(seed)
}

/// The number of parts of each kind, for code that names them.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    fields: Vec<&'static str>,
    pub(super) verbs: usize,
    /// Hooks that are not always in force.
    hooks: Vec<usize>,
    entries: usize,
    pub(super) reach: bool,
    pub(super) creation: bool,
}

/// The contexts in which code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Code that may do anything.
    Act,
    Start,
    /// The verb with this number: it calls only later ones, so that calls end.
    Verb(usize),
    /// Code that may only read.
    Pure,
    Policy,
}

pub(super) struct Generator {
    pub(super) random: Random,
    pub(super) features: Features,
    /// The locals in scope: their names and sorts.
    pub(super) vars: Vec<(String, Sort)>,
    made: usize,
    /// The number of statements that may still be written.
    room: usize,
    pub(super) parts: Parts,
    /// True if every number of an entry is after a comment.
    commented: bool,
}

use Sort::{Body as Ent, Data, Number, Seat, Truth};

fn leaf(sort: Sort, text: impl Into<String>) -> Expr {
    Expr::new(sort, text, Vec::new())
}

/// Adds to a number whose value is unknown, and then searches by that field.
fn shifted_and_asked_for(field: &str) -> String {
    format!(
        "me:shift(\"{field}\", if me:reaches(\"{field}\", 3) then -3 else 1)\nworld:shift(\"big\", #rb.each(\"thing\", {{ {field} = 1 }}))"
    )
}

impl Generator {
    fn case(mut self, seed: u64) -> Case {
        self.commented = self.random.one_in(2);
        let fields = self.fields();
        self.parts = Parts {
            fields: fields.iter().map(|field| field.name).collect(),
            verbs: 1 + self.random.below(3),
            hooks: Vec::new(),
            entries: 1 + self.random.below(3),
            ..Parts::default()
        };
        let mut more = Random::new(seed ^ 0xa26);
        self.parts.reach = self.features.arguments && more.one_in(3);
        self.parts.creation = self.features.creation && more.one_in(4);
        let hooks = self.random.below(3);
        let always: Vec<bool> = (0..hooks).map(|_| self.random.one_in(3)).collect();
        self.parts.hooks = (0..hooks).filter(|at| !always[*at]).collect();
        let verbs = (0..self.parts.verbs).map(|at| self.body(Place::Verb(at), 4)).collect();
        let hooks = always.into_iter().map(|always| self.hook(always)).collect();
        let cards = (0..1 + self.random.below(3)).map(|at| self.card(at)).collect();
        // A computed key or a tie prevents running several entries inside the machine.
        let plain = !self.random.one_in(8);
        let entries = (0..self.parts.entries).map(|_| self.entry(plain)).collect();
        let policies = [self.policy(), self.policy()];
        let free = (0..self.random.below(3)).map(|_| self.body(Place::Act, 5)).collect();
        let start = self.start();
        let total = self.expr(Number, Place::Pure, 2);
        let reach = self.parts.reach.then(|| self.expr(Number, Place::Pure, 2));
        let limits = self.features.agenda_limit && self.random.one_in(20);
        let mut case = Case {
            seed,
            rounds: 1 + self.random.below(5) as u64,
            actions: if self.random.one_in(8) { 12 } else { 150 },
            trials: match (self.random.one_in(30), more.one_in(6)) {
                (true, _) => 300,
                // A recorded trace is mostly met again only after many games.
                (_, true) => 100,
                _ => 16,
            },
            fields,
            total,
            verbs,
            hooks,
            cards,
            entries,
            policies,
            free,
            start,
            follows: self.random.one_in(3),
            cards_later: self.random.one_in(2),
            filled: false,
            lasting: None,
            secret: false,
            layer: None,
            acts: false,
            item: None,
            shown: false,
            boundary: Some("clock"),
            reach,
            creation: self.parts.creation,
            deals: false,
            converts: None,
        };
        if limits {
            case.filled = true;
            case.trials = 8;
            case.rounds = 5;
            // With one card, the same is done again and again. How often depends on dice, so a game reaches a limit
            // where another did not.
            case.cards.truncate(1);
            case.actions = 150;
            let count = 1_500 + self.random.below(4) * 500;
            let filled = format!(
                "if rb.under(\"1d6\", 4) then\n\tfor at = 1, {count} do\n\t\trb.schedule(\"e0\", {{ 900 }})\n\tend\nend"
            );
            case.cards[0].resolve = vec![Stat::new(filled, Vec::new(), Vec::new())];
        }
        if self.features.entry_numbers && self.commented && self.random.one_in(3) {
            // Dice decide whether an entry is created, and its number affects the state.
            let made = "if rb.under(\"1d6\", 4) then\n\tlocal id = -- its number\n\trb.schedule(\"e0\", { 900 }, me)\n\tme:set(\"a\", id % 7)\nend";
            case.cards[0].resolve.insert(0, Stat::new(made, Vec::new(), Vec::new()));
        }
        if more.one_in(6) {
            case.cards[0].resolve.insert(0, Stat::new(shifted_and_asked_for("a"), Vec::new(), Vec::new()));
        }
        if self.features.refused_answers && !case.filled && self.random.one_in(6) {
            self.refuse(&mut case);
        }
        if !case.filled {
            self.random = Random::new(seed ^ 0xadd5);
            self.vars.clear();
            self.enrich(&mut case);
            self.random = Random::new(seed ^ 0x307d5);
            if self.features.words && self.random.one_in(2) {
                self.add_words(&mut case);
            }
            self.random = Random::new(seed ^ 0xc02);
            self.declare_more(&mut case);
        }
        case
    }

    /// Makes a card ask a question to which both policies often give an unfit answer, which is rare otherwise.
    fn refuse(&mut self, case: &mut Case) {
        let (kind, answer) = *self.random.pick(REFUSED);
        let fields = match kind {
            "choose_many" => "options = { \"a\", \"b\", \"cc\" }, min = 1, max = 3, default = { \"a\" }",
            "order" => "options = { \"a\", \"b\", \"cc\" }, default = { \"a\", \"b\", \"cc\" }",
            "allot" => "options = { \"a\", \"b\", \"cc\" }, total = 3, default = { 3, 0, 0 }",
            "number" => "min = 0, max = 5, default = 2",
            _ => "max = 40, default = \"words\"",
        };
        let asked = format!(
            "me:set(\"a\", math.abs(num(rb.{kind}({{ seat = me.seat, topic = \"refused\", about = me, {fields} }}))) % 7)"
        );
        case.cards[0].resolve.insert(0, Stat::new(asked, Vec::new(), Vec::new()));
        let answer = self.named(answer);
        let given = format!("if q.topic == \"refused\" and rb.pick(q, 24) == 1 then return {answer} end");
        for policy in &mut case.policies {
            policy.insert(0, Stat::new(given.clone(), Vec::new(), Vec::new()));
        }
    }

    fn fields(&mut self) -> Vec<Field> {
        let mut fields = Vec::new();
        let mut put = |name, declared: String| fields.push(Field { name, declared, default: None });
        let bounds = |random: &mut Random| match random.below(4) {
            0 => "{ default = 3 }".to_string(),
            1 => "{ min = 0, max = 9 }".into(),
            2 => "{ min = -5, max = 30, default = 2, show = false }".into(),
            _ => "{ min = 0, label = \"Label\" }".into(),
        };
        put("a", format!("rb.int({})", bounds(&mut self.random)));
        put("b", format!("rb.int({})", bounds(&mut self.random)));
        if self.random.one_in(2) {
            put("c", format!("rb.int({})", bounds(&mut self.random)));
        }
        if self.random.one_in(2) {
            put("flag", format!("rb.bool({{ default = {} }})", self.random.one_in(2)));
        }
        if self.random.one_in(2) {
            put("note", "rb.text({ default = \"n\" })".into());
        }
        if self.random.one_in(2) {
            put("mode", "rb.enum({ \"m0\", \"m1\", \"m2\" })".into());
        }
        if self.random.one_in(2) {
            let kind = *self.random.pick(&["\"imp\"", "\"thing\"", ""]);
            put("ref", format!("rb.ref({kind})"));
        }
        if self.random.one_in(3) {
            put("list", "rb.list(rb.int())".into());
        }
        if self.random.one_in(4) {
            put("map", "rb.map(rb.int())".into());
        }
        if self.random.one_in(4) {
            put("part", "rb.ratio()".into());
        }
        if self.random.one_in(30) {
            // A kind with more fields than bits in a word.
            for name in MANY {
                put(name, "rb.int({ max = 9 })".into());
            }
        }
        if self.features.large_numbers && self.random.one_in(12) {
            put("huge", "rb.int({ default = 9007199254740991 })".into());
        }
        fields
    }

    fn has(&self, field: &str) -> bool {
        self.parts.fields.contains(&field)
    }

    fn number_field(&mut self) -> &'static str {
        let numbers: Vec<_> = self
            .parts
            .fields
            .iter()
            .copied()
            .filter(|name| ["a", "b", "c"].contains(name) || MANY.contains(name))
            .collect();
        numbers[self.random.below(numbers.len())]
    }

    // Expressions

    fn expr(&mut self, sort: Sort, place: Place, depth: usize) -> Expr {
        let known: Vec<String> = self.vars.iter().filter(|(_, of)| *of == sort).map(|(name, _)| name.clone()).collect();
        if !known.is_empty() && self.random.one_in(3) {
            return leaf(sort, self.random.pick(&known).clone());
        }
        match sort {
            Number => self.number(place, depth),
            Truth => self.truth(place, depth),
            Ent => self.entity(place, depth),
            Data => self.data(place, depth),
            Seat => leaf(Seat, *self.random.pick(&["me.seat", "\"left\"", "\"right\"", "\"gm\"", "it.seat"])),
        }
    }

    fn number(&mut self, place: Place, depth: usize) -> Expr {
        let acts = matches!(place, Place::Act | Place::Start | Place::Verb(_));
        if depth == 0 {
            let field = self.number_field();
            return match self.random.below(6) {
                0 => leaf(Number, (self.random.below(12) as i64 - 2).to_string()),
                1 => leaf(Number, "n"),
                2 => leaf(Number, "world.round"),
                3 => leaf(Number, format!("it.{field}")),
                _ => leaf(Number, format!("me.{field}")),
            };
        }
        let down = depth - 1;
        let field = self.number_field();
        let choice = self.random.below(if acts { 39 } else { 26 });
        match choice {
            0..=3 => self.number(place, 0),
            4 => self.join("($ + $)", Number, &[Number, Number], place, down),
            5 => self.join("($ - $)", Number, &[Number, Number], place, down),
            6 => self.join("($ * 3)", Number, &[Number], place, down),
            7 => self.join("($ // 2)", Number, &[Number], place, down),
            8 => self.join("($ % 5)", Number, &[Number], place, down),
            9 => self.join("math.max($, $)", Number, &[Number, Number], place, down),
            10 => self.join("math.abs($)", Number, &[Number], place, down),
            11 => self.join("(if $ then $ else $)", Number, &[Truth, Number, Number], place, down),
            12 => self.join(&format!("$.{field}"), Number, &[Ent], place, down),
            13 => match self.random.below(3) {
                0 => leaf(Number, "#rb.each(\"imp\")"),
                at => {
                    let kind = ["imp", "thing"][at - 1];
                    let text = format!("#rb.each(\"{kind}\", {{ {field} = $ % 5 }})");
                    self.join(&text, Number, &[Number], place, down)
                }
            },
            14 => leaf(Number, if self.random.one_in(2) { "#rb.agenda()" } else { "#rb.agenda({ what = \"e0\" })" }),
            15 => leaf(
                Number,
                *self.random.pick(&["rb.agenda()[1].key[1]", "num(rb.agenda()[1].args)", "num(rb.agenda()[1].key)"]),
            ),
            16 => leaf(Number, *self.random.pick(&["#rb.attached(me)", "#rb.attached(it)", "num(rb.attached(me))"])),
            17 => leaf(Number, *self.random.pick(&["me.id", "it.id"])),
            18 if self.parts.reach && place != Place::Pure => match self.random.below(3) {
                0 => self.join("$:reach($)", Number, &[Ent, Data], place, down),
                _ => self.join("$:reach($, $)", Number, &[Ent, Number, Ent], place, down),
            },
            18 if place != Place::Pure => self.join("$:total()", Number, &[Ent], place, down),
            19 if self.parts.creation => match self.random.below(3) {
                0 => self.join("num(rb.price_sheet({ a = $, note = \"x\" }))", Number, &[Number], place, down),
                1 => self.join("num(rb.check_sheet({ a = $, name = $ }))", Number, &[Number, Data], place, down),
                _ => self.join("num({ rb.build_sheet({ a = $ }) })", Number, &[Number], place, down),
            },
            19 if self.has("note") => leaf(Number, *self.random.pick(&["#me.note", "num(it.note)"])),
            20 if self.has("list") => {
                leaf(Number, *self.random.pick(&["#me.list", "num(it.list)", "(me.list[1] or 0)"]))
            }
            21 if self.has("map") => leaf(Number, *self.random.pick(&["num(me.map)", "(it.map.k or 0)"])),
            22 if self.has("part") => leaf(Number, *self.random.pick(&["me.part[1]", "num(it.part)"])),
            23 => leaf(Number, *self.random.pick(&["spread(me)", "spread(it)"])),
            24 => leaf(Number, format!("rawget(me, \"{field}\")")),
            25 => leaf(Number, *self.random.pick(&["rb.switches.rounds", "num(rb.switches.loud)"])),
            26 | 27 => {
                let dice = *self.random.pick(DICE);
                let label = *self.random.pick(&["", ", \"a throw\"", ", \"{} throws\", me"]);
                leaf(Number, format!("rb.roll(\"{dice}\"{label})"))
            }
            28 => leaf(Number, format!("num(rb.faces(\"{}\"))", self.random.pick(DICE))),
            29 => self.join("(rb.band(\"2d6\", { 4, 7, 11 }) + $)", Number, &[Number], place, down),
            30 => leaf(Number, "rb.again(function() local r = rb.roll(\"1d4\") return if r > 1 then r else nil end)"),
            31 => self.call(place, down),
            32 => self.ask(place, down),
            33 if self.random.one_in(2) => leaf(Number, "rb.faces(\"3d4\")[2]"),
            33 => leaf(Number, "rb.ranks(\"3d4\")[2]"),
            34 => leaf(Number, "(if rb.under(\"1d6\", 4) then rb.last_roll() else 0)"),
            36 => leaf(Number, "num(rb.ordered_faces(\"3d4kh2\"))"),
            37 => leaf(
                Number,
                *self.random.pick(&[
                    "(rb.draw({ 4, 5, 6 }))",
                    "num(rb.draw({ 4, 5, 6 }, 2))",
                    "num(rb.shuffle({ 4, 5, 6 }))",
                    "num(rb.shuffle({ me, it }))",
                ]),
            ),
            38 => leaf(Number, "rb.roll({ \"1d6\", audience = \"gm\" }, \"a throw\")"),
            35 => {
                self.join("(if rb.at_least(\"2d6\", $) then $ else rb.last_roll())", Number, &[Number; 2], place, down)
            }
            _ => self.number(place, down),
        }
    }

    fn truth(&mut self, place: Place, depth: usize) -> Expr {
        let acts = matches!(place, Place::Act | Place::Start | Place::Verb(_));
        let down = depth.saturating_sub(1);
        match self.random.below(if acts { 17 } else { 13 }) {
            0 | 1 => self.join("$ < $", Truth, &[Number, Number], place, down),
            2 => self.join("$ == $", Truth, &[Number, Number], place, down),
            3 => self.join("$ % 2 == 0", Truth, &[Number], place, down),
            4 => {
                let field = self.number_field();
                self.join(&format!("$:reaches(\"{field}\", $)"), Truth, &[Ent, Number], place, down)
            }
            5 if depth > 0 => self.join("not ($)", Truth, &[Truth], place, down),
            6 if depth > 0 => self.join("($ and $)", Truth, &[Truth, Truth], place, down),
            7 if depth > 0 => self.join("($ or $)", Truth, &[Truth, Truth], place, down),
            8 => self.join("$ == $", Truth, &[Ent, Ent], place, down),
            9 if self.has("flag") => self.join("$.flag", Truth, &[Ent], place, down),
            10 if self.has("mode") => self.join("$.mode == \"m1\"", Truth, &[Ent], place, down),
            11 if self.has("ref") => self.join("$.ref ~= nil", Truth, &[Ent], place, down),
            12 => self.join("$:exists()", Truth, &[Ent], place, down),
            13 => self.join("rb.under(\"1d6\", $, \"{} tests\", me)", Truth, &[Number], place, down),
            14 => self.join("rb.at_least(\"2d6\", $)", Truth, &[Number], place, down),
            15 => self.join("rb.at_most(\"1d8+1\", $, \"it tests\")", Truth, &[Number], place, down),
            16 => leaf(Truth, "rb.under(\"1d6\", 4)"),
            _ => self.join("$ > 2", Truth, &[Number], place, down),
        }
    }

    fn entity(&mut self, place: Place, depth: usize) -> Expr {
        match self.random.below(9) {
            0..=2 => leaf(Ent, "me"),
            3 => leaf(Ent, "it"),
            4 => leaf(Ent, "(rb.first(\"imp\") or me)"),
            5 => leaf(Ent, *self.random.pick(&["(rb.each(\"thing\")[1] or me)", "(rb.each(\"thing\")[2] or me)"])),
            6 if self.has("ref") => leaf(Ent, *self.random.pick(&["(me.ref or me)", "(it.ref or me)"])),
            7 if depth > 0 => self.join("(rb.each(\"imp\")[$ % 3 + 1] or me)", Ent, &[Number], place, depth - 1),
            _ => leaf(Ent, "it"),
        }
    }

    fn data(&mut self, place: Place, depth: usize) -> Expr {
        let down = depth.saturating_sub(1);
        match self.random.below(8) {
            0 | 1 => leaf(Data, "nil"),
            2 => self.join("$", Data, &[Number], place, down),
            3 => self.join("($)", Data, &[Truth], place, down),
            4 => self.join("{ n = $, e = $ }", Data, &[Number, Ent], place, down),
            5 => self.join("{ $, $ }", Data, &[Number, Number], place, down),
            6 => leaf(Data, "\"text\""),
            _ => self.join("{ n = $ }", Data, &[Number], place, down),
        }
    }

    fn join(&mut self, text: &str, sort: Sort, parts: &[Sort], place: Place, depth: usize) -> Expr {
        let parts = parts.iter().map(|sort| self.expr(*sort, place, depth)).collect();
        Expr::new(sort, text, parts)
    }

    fn call(&mut self, place: Place, depth: usize) -> Expr {
        let from = if let Place::Verb(at) = place { at + 1 } else { 0 };
        if from >= self.parts.verbs {
            return self.number(place, 0);
        }
        let verb = from + self.random.below(self.parts.verbs - from);
        self.join(&format!("num(rb.act.v{verb}($, $))"), Number, &[Ent, Number], place, depth)
    }

    /// Writes a question, converted to a number.
    fn ask(&mut self, place: Place, depth: usize) -> Expr {
        let question = self.question(place, depth, false);
        Expr::new(Number, "num($)", vec![question])
    }

    fn question(&mut self, place: Place, depth: usize, in_list: bool) -> Expr {
        let topic = self.random.below(4);
        let mut fields = vec![format!("topic = \"t{topic}\"")];
        let mut parts = vec![self.expr(Seat, place, 0)];
        let put = |text: &str, part: Expr, fields: &mut Vec<String>, parts: &mut Vec<Expr>| {
            fields.push(text.to_string());
            parts.push(part);
        };
        let down = depth.min(1);
        if !self.random.one_in(3) {
            let about = self.expr(Ent, place, 0);
            put("about = $", about, &mut fields, &mut parts);
        }
        let number = |this: &mut Self| this.expr(Number, Place::Pure, down);
        let (ask, default) = match self.random.below(8) {
            0 | 1 => {
                let span = number(self);
                put("min = 1, max = 3 + $ % 3", span, &mut fields, &mut parts);
                ("number", "2")
            }
            2 => {
                fields.push((*self.random.pick(&OPTIONS)).into());
                ("choose", "\"a\"")
            }
            3 => {
                let open = self.expr(Truth, Place::Pure, down);
                put(
                    "options = { { id = \"a\", value = 5 }, { id = \"b\", label = \"Bee\", enabled = $, reason = \"not now\" } }",
                    open,
                    &mut fields,
                    &mut parts,
                );
                ("choose", "\"a\"")
            }
            4 => {
                fields.push("options = rb.each(\"thing\")".into());
                ("choose", "rb.first(\"thing\")")
            }
            5 => {
                fields.push((*self.random.pick(&OPTIONS)).into());
                fields.push((*self.random.pick(&["min = 1, max = 2", "min = 0", "max = 2", "min = 2"])).into());
                ("choose_many", "{ \"a\", \"cc\" }")
            }
            6 => {
                let total = number(self);
                let unfit = self.features.unfit_defaults && self.random.one_in(4);
                let points = if unfit { "2 + $ % 3" } else { "3 + 0 * $" };
                put(
                    &format!("options = {{ {{ id = \"a\", max = 2 }}, \"b\", \"cc\" }}, total = {points}"),
                    total,
                    &mut fields,
                    &mut parts,
                );
                let least = self.random.one_in(2);
                if least {
                    fields.push("least = 1".into());
                }
                // It does not fit if there are more points to divide.
                let named = self.features.named_allotments;
                (
                    "allot",
                    if named {
                        "{ b = 3 }"
                    } else if least {
                        "{ 1, 1, 1 }"
                    } else {
                        "{ 0, 3, 0 }"
                    },
                )
            }
            _ => match self.random.below(3) {
                0 => ("confirm", "false"),
                1 => {
                    fields.push((*self.random.pick(&OPTIONS)).into());
                    ("order", "")
                }
                _ => ("line", "\"hello\""),
            },
        };
        // A few have none, and wait if nobody answers.
        if !default.is_empty() && (in_list || !self.random.one_in(40)) {
            if self.features.unfit_defaults && self.random.one_in(12) {
                let unfit = number(self);
                put(&format!("default = if $ % 4 == 1 then 9 else {default}"), unfit, &mut fields, &mut parts);
            } else {
                fields.push(format!("default = {default}"));
            }
        }
        if self.random.one_in(6) {
            fields.push("auto = true".into());
        }
        if self.random.one_in(5) {
            fields.push("why = function(q) return \"because of \" .. q.topic end".into());
        } else if self.random.one_in(4) {
            fields.push("why = \"so?\"".into());
        }
        if self.random.one_in(16) && (!in_list || self.features.checks_in_lists) {
            let most = number(self);
            put(
                "check = function(value) return num(value) % 7 ~= $ % 9, \"not this one\" end",
                most,
                &mut fields,
                &mut parts,
            );
        }
        if (in_list && self.random.one_in(2)) || self.random.one_in(20) {
            fields.push("sealed = true".into());
        }
        if self.random.one_in(8) {
            fields.push((*self.random.pick(AUDIENCES)).into());
        }
        // Rarely: a game that stops at a question is compared no further.
        let mut spoiled = ["", ""].map(String::from);
        if self.features.bad_questions && self.random.one_in(12) {
            let (of, bad) = *self.random.pick(BAD_FIELDS);
            if of.is_empty() || of == ask {
                parts.push(number(self));
                spoiled = ["spoiled(".into(), format!(", $ % 3 == 1, {{ {bad} }})")];
            }
        }
        let fields = fields.join(", ");
        let text = if in_list {
            format!("{}{{ ask = \"{ask}\", seat = $, {fields} }}{}", spoiled[0], spoiled[1])
        } else {
            format!("rb.{ask}({}{{ seat = $, {fields} }}{})", spoiled[0], spoiled[1])
        };
        Expr::new(Data, text, parts)
    }

    // Statements

    pub(super) fn body(&mut self, place: Place, room: usize) -> Body {
        let (vars, outer) = (self.vars.len(), self.room);
        self.room = room;
        let body = self.stats(place, 2);
        self.vars.truncate(vars);
        self.room = outer;
        body
    }

    fn stats(&mut self, place: Place, depth: usize) -> Body {
        let vars = self.vars.len();
        let count = 1 + self.random.below(4);
        let mut body = Vec::new();
        for _ in 0..count {
            if self.room == 0 {
                break;
            }
            self.room -= 1;
            body.push(self.stat(place, depth));
        }
        self.vars.truncate(vars);
        body
    }

    fn name(&mut self, sort: Sort) -> String {
        self.made += 1;
        let name = format!("x{}", self.made);
        self.vars.push((name.clone(), sort));
        name
    }

    pub(super) fn plain(&mut self, text: &str, parts: &[Sort], place: Place) -> Stat {
        let parts = parts.iter().map(|sort| self.expr(*sort, place, 2)).collect();
        Stat::new(text, parts, Vec::new())
    }

    fn stat(&mut self, place: Place, depth: usize) -> Stat {
        match self.random.below(40) {
            0..=4 => self.write(place),
            5 => self.relating(place),
            6..=8 => {
                let value = self.expr(Number, place, 2);
                let name = self.name(Number);
                Stat::new(format!("local {name} = $"), vec![value], Vec::new())
            }
            9 => {
                let value = self.expr(Ent, place, 2);
                let name = self.name(Ent);
                Stat::new(format!("local {name} = $"), vec![value], Vec::new())
            }
            10..=12 if depth > 0 => {
                let test = self.expr(Truth, place, 2);
                let bodies = vec![self.stats(place, depth - 1), self.stats(place, depth - 1)];
                Stat::new("if $ then\n@\nelse\n@\nend", vec![test], bodies)
            }
            13 if depth > 0 => {
                let kind = *self.random.pick(&["imp", "thing"]);
                self.vars.push(("one".into(), Ent));
                let body = self.stats(place, depth - 1);
                self.vars.pop();
                Stat::new(format!("for _, one in rb.each(\"{kind}\") do\n@\nend"), Vec::new(), vec![body])
            }
            14 if depth > 0 => {
                self.vars.push(("at".into(), Number));
                let body = self.stats(place, depth - 1);
                self.vars.pop();
                Stat::new("for at = 1, 2 do\n@\nend", Vec::new(), vec![body])
            }
            15..=17 => {
                let call = self.call(place, 2);
                let name = self.name(Number);
                Stat::new(format!("local {name} = $"), vec![call], Vec::new())
            }
            18..=20 => self.schedule(place),
            21 | 22 => self.agenda(place),
            23..=25 => self.coming(place, depth),
            26 => self.going(place),
            27..=29 => self.attaching(place),
            30..=32 => {
                let ask = self.ask(place, 2);
                let name = self.name(Number);
                Stat::new(format!("local {name} = $"), vec![ask], Vec::new())
            }
            33 if place != Place::Start => {
                let questions = vec![self.question(place, 1, true), self.question(place, 1, true)];
                let name = self.name(Number);
                Stat::new(format!("local {name} = num(rb.all({{ $, $ }}))"), questions, Vec::new())
            }
            34 if self.random.one_in(3) && place != Place::Start => {
                let questions = vec![self.question(place, 1, true), self.question(place, 1, true)];
                let name = self.name(Number);
                Stat::new(format!("local {name} = num({{ rb.race({{ $, $ }}) }})"), questions, Vec::new())
            }
            34 => self.say(place),
            35 => self.relating(place),
            36 | 37 => self.ending(place),
            38 if self.features.borrowed_methods && self.random.one_in(4) => {
                let value = self.expr(Number, place, 1);
                Stat::new("me.set(world, \"a\", $ % 8)", vec![value], Vec::new())
            }
            39 if self.features.borrowed_methods && self.random.one_in(4) => {
                Stat::new("world:set(\"big\", num({ id = 2, kind = \"thing\" } == me))", Vec::new(), Vec::new())
            }
            _ => self.write(place),
        }
    }

    fn write(&mut self, place: Place) -> Stat {
        let field = self.number_field();
        let value = if self.random.one_in(4) { "a" } else { field };
        match self.random.below(16) {
            0..=3 => self.plain(&format!("$:set(\"{value}\", $ % 9)"), &[Ent, Number], place),
            4 | 5 => self.plain(&format!("me:set(\"{value}\", math.clamp($, 0, 9))"), &[Number], place),
            6 => match self.random.below(5) {
                0 => self.plain(&format!("if me.{value} < 9 then me:add(\"{value}\", 1) end"), &[], place),
                1 => self.plain(&format!("if not me:reaches(\"{value}\", 9) then me:shift(\"{value}\", 1) end"), &[], place),
                2 => self.plain(
                    &format!("me:shift(\"{value}\", $ % 3 - 1)\nif me:reaches(\"{value}\", 5) then me:shift(\"{value}\", -2) end"),
                    &[Number],
                    place,
                ),
                3 => self.plain(&shifted_and_asked_for(value), &[], place),
                _ => self.plain(&format!("it:shift(\"{value}\", 1)\nit:set(\"{value}\", it.{value} % 7)"), &[], place),
            },
            7 => self.plain("world:set(\"big\", (world.big * 31 + $) % 4000000000)", &[Number], place),
            8 if self.has("flag") => self.plain("$:set(\"flag\", $)", &[Ent, Truth], place),
            9 if self.has("note") => match self.random.below(3) {
                0 => self.plain("$:set(\"note\", tostring($))", &[Ent, Number], place),
                1 => self.plain("$:set(\"note\", string.rep(\"x\", (#me.note + 90) % 1500))", &[Ent], place),
                _ => self.plain("$:set(\"note\", string.rep(\"ab\", $ % 9))", &[Ent, Number], place),
            },
            10 if self.has("mode") => self.plain("$:set(\"mode\", if $ then \"m0\" else \"m1\")", &[Ent, Truth], place),
            11 if self.has("ref") => match self.random.below(3) {
                0 => self.plain("$:set(\"ref\", nil)", &[Ent], place),
                1 => self.plain("if (rb.first(\"imp\")) then me:set(\"ref\", rb.first(\"imp\")) end", &[], place),
                _ => self.plain("$:set(\"ref\", $)", &[Ent, Ent], place),
            },
            12 if self.has("list") => match self.random.below(3) {
                0 => self.plain("$:set(\"list\", {})", &[Ent], place),
                1 => self.plain("if #me.list < 6 then\n\tlocal list = table.clone(me.list)\n\ttable.insert(list, $ % 4)\n\tme:set(\"list\", list)\nend", &[Number], place),
                _ => self.plain("$:set(\"list\", { $ % 3, 1 })", &[Ent, Number], place),
            },
            13 if self.has("map") => match self.random.below(2) {
                0 => self.plain("$:set(\"map\", { k = $ % 4, j = 2 })", &[Ent, Number], place),
                _ => self.plain("$:set(\"map\", {})", &[Ent], place),
            },
            14 if self.has("part") => self.plain("$:set(\"part\", { $ % 5, 3 })", &[Ent, Number], place),
            15 if self.random.one_in(4) => match self.random.below(5) {
                0 => self.plain(&format!("me:set(\"{value}\", if $ then $ else 3)"), &[Truth, Number], place),
                1 => self.plain(&format!("if $ then it:add(\"{value}\", $) end"), &[Truth, Number], place),
                2 => self.plain("if $ then me:set(\"a\", 2.5) end", &[Truth], place),
                3 => self.plain("if $ then me:set(\"nothing\", 1) end", &[Truth], place),
                _ => self.plain("if $ then me:set(\"b\", \"one\") end", &[Truth], place),
            },
            _ => self.plain(&format!("me:set(\"{value}\", ($ + me.{value}) % 7)"), &[Number], place),
        }
    }

    fn key(&mut self, place: Place) -> &'static str {
        // In a later round, so that every round ends.
        if place == Place::Act && self.random.one_in(3) {
            return ["{ \"+2\", $ % 9 }", "{ \"+3\", \"-1\" }", "{ \"+2\", \"+0\", 1 }", "\"+2\""]
                [self.random.below(4)];
        }
        ["{ world.round + 2, $ % 9 }", "{ world.round + 3, $ % 9 }", "{ world.round + 2, 5 }", "{ world.round + 2 }"]
            [self.random.below(4)]
    }

    fn schedule(&mut self, place: Place) -> Stat {
        if place == Place::Start && self.random.one_in(2) {
            let what = self.random.below(self.parts.entries);
            return self.plain(
                &format!("rb.recur(\"e{what}\", {{ 1, $ % 9 }}, {{ 1, $ % 2 }}, $, $)"),
                &[Number, Number, Ent, Data],
                place,
            );
        }
        let what = self.random.below(self.parts.entries);
        let key = self.key(place);
        let owner = if self.random.one_in(4) { "nil" } else { "$" };
        let args = if self.random.one_in(2) { "" } else { ", $" };
        let call = format!("rb.schedule(\"e{what}\", {key}, {owner}{args})");
        let mut sorts = Vec::new();
        if key.contains('$') {
            sorts.push(Number);
        }
        if owner == "$" {
            sorts.push(Ent);
        }
        if !args.is_empty() {
            sorts.push(Data);
        }
        if !self.features.entry_numbers || !self.random.one_in(2) {
            return self.plain(&call, &sorts, place);
        }
        let parts = sorts.iter().map(|sort| self.expr(*sort, place, 2)).collect();
        // It is usable as a number, and compared with nothing.
        self.made += 1;
        let name = format!("x{}", self.made);
        let text = match self.random.below(4) {
            _ if self.commented => format!("local {name} = -- its number\n{call}\nme:set(\"a\", ({name} + me.a) % 7)"),
            0 => format!("local {name} = -- its number\n{call}"),
            1 => format!("local {name} = {call}\nrb.cancel({name})"),
            2 => format!("local {name} = {call}\nme:set(\"a\", {name} % 7)"),
            _ => format!("local {name} = {call}"),
        };
        Stat::new(text, parts, Vec::new())
    }

    /// Cancels or moves entries of the agenda.
    fn agenda(&mut self, place: Place) -> Stat {
        let what = self.random.below(self.parts.entries);
        let found = format!("local due = rb.agenda({{ what = \"e{what}\" }})");
        match self.random.below(3) {
            0 => {
                self.plain(&format!("{found}\nif #due > 1 then rb.cancel(due[$ % #due + 1].id) end"), &[Number], place)
            }
            1 => self.plain(
                &format!("{found}\nif #due > 0 then rb.rekey(due[1].id, {{ world.round + 2, $ % 9 }}) end"),
                &[Number],
                place,
            ),
            _ => self.plain(
                "for _, due in rb.agenda({ owner = me }) do\n\tif due.what ~= \"turn\" then rb.cancel(due.id) end\nend",
                &[],
                place,
            ),
        }
    }

    fn coming(&mut self, place: Place, depth: usize) -> Stat {
        let field = self.number_field();
        let parts = vec![self.expr(Number, place, 1), self.expr(Seat, Place::Pure, 0)];
        let name = self.name(Ent);
        let title = if self.random.one_in(2) { ", name = \"imp\"" } else { "" };
        let body = if depth > 0 && self.random.one_in(2) { self.stats(place, depth - 1) } else { Vec::new() };
        // The name is unknown after the condition.
        self.vars.retain(|(other, _)| *other != name);
        Stat::new(
            format!(
                "if #rb.each(\"imp\") < 3 then\n\tlocal {name} = rb.spawn(\"imp\", {{ {field} = $ % 9, seat = $ {title} }})\n@\nend"
            ),
            parts,
            vec![body],
        )
    }

    fn going(&mut self, place: Place) -> Stat {
        match self.random.below(4) {
            0 => self.plain("if rb.first(\"imp\") then rb.remove(rb.first(\"imp\")) end", &[], place),
            1 => self.plain("if it.kind == \"imp\" and it:exists() then rb.remove(it) end", &[], place),
            2 => self.plain(
                "local gone = rb.each(\"imp\")[$ % 3 + 1]\nif gone then rb.remove(gone) end",
                &[Number],
                place,
            ),
            _ => self.plain("if me.kind == \"imp\" and $ then rb.remove(me) end", &[Truth], place),
        }
    }

    /// Writes statements about relations and other references between entities created in play.
    fn relating(&mut self, place: Place) -> Stat {
        // The ends of a relation: each of its references is to one kind.
        let (kind, near, far, near_kind) =
            *self.random.pick(&[("tie", "one", "other", "imp"), ("bond", "holder", "held", "thing")]);
        let fit = |one: &str, other: &str| {
            format!("{one} ~= {other} and {one}.kind == \"{near_kind}\" and {other}.kind == \"imp\"")
        };
        match self.random.below(12) {
            0..=2 => self.plain(
                &format!(
                    "for _, near in {{ $ }} do\n\tif {} and #rb.each(\"{kind}\") < 5 then rb.relate(\"{kind}\", near, me) end\nend",
                    fit("near", "me")
                ),
                &[Ent],
                place,
            ),
            3 => self.plain(
                &format!(
                    "for _, far in {{ $ }} do\n\tif {} then rb.relate(\"{kind}\", me, far, {{ load = $ % 5 }}) end\nend",
                    fit("me", "far")
                ),
                &[Ent, Number],
                place,
            ),
            4 => self.plain(
                &format!(
                    "for _, far in {{ $ }} do\n\tif {} then rb.unrelate(\"{kind}\", me, far) end\nend",
                    fit("me", "far")
                ),
                &[Ent],
                place,
            ),
            5 => self.plain(
                &format!(
                    "if me.kind == \"{near_kind}\" then\n\tfor at, one in rb.related(\"{kind}\", me) do\n\t\tone:set(\"a\", ($ + at) % 8)\n\tend\nend"
                ),
                &[Number],
                place,
            ),
            6 => self.plain(
                &format!(
                    "for _, one in {{ $ }} do\n\tif one.kind == \"imp\" then me:set(\"a\", #rb.relating(\"{kind}\", one) % 7) end\nend"
                ),
                &[Ent],
                place,
            ),
            7 => self.plain(
                &format!(
                    "for _, one in {{ $ }} do\n\tlocal tied = if one.kind == \"{near_kind}\" then rb.first(\"{kind}\", {{ {near} = one }}) else nil\n\tif tied then me:set(\"a\", (tied.load + num(tied.{far} == it)) % 7) end\nend"
                ),
                &[Ent],
                place,
            ),
            8 => self.plain(
                &format!(
                    "for _, one in {{ $ }} do\n\tfor at, tied in if one.kind == \"imp\" then rb.each(\"{kind}\", {{ {far} = one }}) else {{}} do\n\t\ttied:set(\"load\", (tied.load + at + tied.{near}.a) % 6)\n\tend\nend"
                ),
                &[Ent],
                place,
            ),
            9 => self.plain("if $.id % 3 == 1 then me:set(\"a\", $.id % 7) end", &[Ent, Ent], place),
            10 => {
                let (what, key) = (self.random.below(self.parts.entries), self.key(place).replace('$', "4"));
                self.plain(
                    &format!(
                        "local young = rb.first(\"imp\")\nif young then rb.schedule(\"e{what}\", {key}, young, {{ it, young, $ }}) end"
                    ),
                    &[Data],
                    place,
                )
            }
            _ => self.plain(
                "local imps = rb.each(\"imp\")\nif #imps > 1 and imps[1].a == imps[2].a then rb.remove(imps[2]) end",
                &[],
                place,
            ),
        }
    }

    fn attaching(&mut self, place: Place) -> Stat {
        if self.parts.hooks.is_empty() {
            return self.write(place);
        }
        let hook = *self.random.pick(&self.parts.hooks.clone());
        match self.random.below(5) {
            0..=2 => {
                self.plain(&format!("if #rb.attached(me) < 2 then rb.attach(\"h{hook}\", me, $) end"), &[Data], place)
            }
            3 => self.plain(
                "local worn = rb.attached(it)\nif #worn > 0 then rb.detach(worn[$ % #worn + 1].id) end",
                &[Number],
                place,
            ),
            _ => self.plain(
                "local worn = rb.attached(me)\nif #worn > 0 then rb.set_data(worn[1].id, $) end",
                &[Data],
                place,
            ),
        }
    }

    fn say(&mut self, place: Place) -> Stat {
        match self.random.below(if self.features.bad_questions { 7 } else { 4 }) {
            4 => self.plain("if $ and rb.roll(\"1d12\") == 1 then rb.say($) end", &[Truth, Ent], place),
            5 => self.plain("rb.say(function() error(\"no words\") end)", &[], place),
            6 => self.plain("if $ then me:set(\"a\", math.clamp($, 0, 9), $) end", &[Truth, Number, Number], place),
            0 => self.plain("rb.say(\"{} says {}\", $, $)", &[Ent, Number], place),
            1 => self.plain("rb.whisper(\"gm\", \"psst {}\", $)", &[Number], place),
            2 => self.plain("rb.say(function(one, n) return \"{} made {}\", one, n end, me, $)", &[Number], place),
            _ => self.plain("rb.say(\"something\")", &[], place),
        }
    }

    fn ending(&mut self, place: Place) -> Stat {
        if place == Place::Start {
            return self.write(place);
        }
        match self.random.below(8) {
            0 | 1 => self.plain("if $ then rb.cut(\"cut {}\", $) end", &[Truth, Number], place),
            2 => self.plain(
                "if $ and rb.roll(\"1d6\") == 1 then rb.finish(\"{} wins with {}\", $, $) end",
                &[Truth, Ent, Number],
                place,
            ),
            3 => self.plain("if rb.roll(\"1d20\") == 1 then rb.finish(\"done {}\", me.a) end", &[], place),
            4 => self.plain("if rb.roll(\"1d30\") == 1 then error(\"a mishap\") end", &[], place),
            5 => self.plain("if $ and rb.roll(\"1d10\") == 1 then error(\"a fault\") end", &[Truth], place),
            _ => self.plain("if rb.roll(\"1d12\") == 1 then rb.finish(\"{} has it\", $) end", &[Ent], place),
        }
    }

    // Parts

    pub(super) fn hook(&mut self, always: bool) -> Hook {
        let count = 1 + self.random.below(2);
        let mut parts: Vec<(&'static str, usize, Body)> = Vec::new();
        for _ in 0..count {
            let phase = *self.random.pick(&["before", "after", "wrap"]);
            let verb = self.random.below(self.parts.verbs);
            if parts.iter().any(|(other, at, _)| *other == phase && *at == verb) {
                continue;
            }
            let mut body = if self.random.one_in(2) { self.body(Place::Verb(verb), 3) } else { Vec::new() };
            for _ in 0..1 + self.random.below(2) {
                let stat = match (phase, self.random.below(7)) {
                    ("before", 0) => self.plain("if $ then return false, \"not now\" end", &[Truth], Place::Act),
                    ("before", 1 | 2) => self.plain("e.n = $ % 12", &[Number], Place::Act),
                    ("before", 3) => self.plain("e.me = $", &[Ent], Place::Act),
                    ("after", 0..=3) => self.plain("e.result = num(e.result) + $", &[Number], Place::Act),
                    ("wrap", 0) => self.plain("if $ then return 0 end", &[Truth], Place::Act),
                    ("wrap", 1) => self.plain("if $ then proceed(e) end", &[Truth], Place::Act),
                    (_, 4) => self.plain("if holder.id then rb.set_data(holder.id, $) end", &[Data], Place::Act),
                    (_, 5) => self.plain("if holder.id and $ then rb.detach(holder.id) end", &[Truth], Place::Act),
                    // It calls its own verb, sometimes too often.
                    (_, 6) if self.random.one_in(3) => {
                        let most = if self.random.one_in(4) { 90 } else { 3 };
                        self.plain(
                            &format!("if n > 0 then rb.act.v{verb}(me, math.min(n, {most}) - 1) end"),
                            &[],
                            Place::Act,
                        )
                    }
                    _ => self.plain("me:set(\"a\", (num(holder.data) + $) % 8)", &[Number], Place::Act),
                };
                body.push(stat);
            }
            parts.push((phase, verb, body));
        }
        Hook { always, priority: self.random.below(3) as i64 - 1, parts }
    }

    fn card(&mut self, at: usize) -> Card {
        let mut when = Vec::new();
        if at > 0 && !self.random.one_in(3) {
            when.push(self.plain("if $ then return false, \"not with {}\", $ end", &[Truth, Number], Place::Pure));
        }
        if self.features.writing_when && self.random.one_in(40) {
            when.push(self.plain("if $ then me:set(\"a\", 1) end", &[Truth], Place::Pure));
        }
        if self.features.changed_questions && self.random.one_in(12) {
            when.push(self.plain("ctx.actor = $", &[Ent], Place::Pure));
        }
        Card { when, note: self.random.one_in(4), resolve: self.body(Place::Act, 8) }
    }

    fn entry(&mut self, plain: bool) -> Entry {
        let key =
            (!plain && self.features.computed_keys && self.random.one_in(2)).then(|| self.expr(Number, Place::Pure, 2));
        let tie = (!plain && self.random.one_in(2)).then(|| self.expr(Number, Place::Act, 2));
        let mut run = self.body(Place::Act, 7);
        if self.random.one_in(5) {
            let what = self.random.below(self.parts.entries);
            let round = ["world.round + 1", "\"+1\""][self.random.below(2)];
            let again = format!("rb.schedule(\"e{what}\", {{ {round}, $ % 9 }}, me, math.min(args, 3) - 1)");
            run.push(self.plain(
                &format!("if type(args) == \"number\" and args > 0 then {again} end"),
                &[Number],
                Place::Act,
            ));
        }
        Entry { run, keyed: self.random.one_in(3), key, tie }
    }

    fn start(&mut self) -> Body {
        let vars = self.vars.len();
        let room = self.random.below(6);
        let mut start = self.body(Place::Start, room);
        if start.is_empty() || self.random.one_in(2) {
            start.push(self.schedule(Place::Start));
        }
        // Its names are unknown elsewhere.
        self.vars.truncate(vars);
        start
    }

    fn policy(&mut self) -> Body {
        let mut body = Vec::new();
        let count = 3 + self.random.below(6);
        for _ in 0..count {
            if self.features.changed_questions && self.random.one_in(20) {
                body.push(Stat::new("q.max = 99", Vec::new(), Vec::new()));
            }
            let bad = self.random.one_in(10);
            let answers: &[(&str, &str)] = if bad { BAD } else { GOOD };
            let (kind, answer) = *self.random.pick(answers);
            let answer = self.named(answer);
            let test = if bad {
                // Rarely.
                leaf(Truth, "rb.pick(q, 24) == 1")
            } else if self.random.one_in(2) {
                leaf(Truth, "true")
            } else {
                self.expr(Truth, Place::Policy, 1)
            };
            body.push(Stat::new(
                format!("if q.kind == \"{kind}\" and $ then return {answer} end"),
                vec![test],
                Vec::new(),
            ));
            if self.features.refused_answers && self.random.one_in(12) {
                let (kind, answer) = *self.random.pick(REFUSED);
                let answer = self.named(answer);
                let text = format!("if q.kind == \"{kind}\" and rb.pick(q, 24) == 1 then return {answer} end");
                body.push(Stat::new(text, Vec::new(), Vec::new()));
            }
        }
        body
    }

    /// Replaces options by their ids if their tables are not allowed as answers.
    fn named(&self, answer: &str) -> String {
        if self.features.option_tables { answer.replace("named", "") } else { answer.to_string() }
    }
}

const MANY: [&str; 66] = [
    "f00", "f01", "f02", "f03", "f04", "f05", "f06", "f07", "f08", "f09", "f10", "f11", "f12", "f13", "f14", "f15",
    "f16", "f17", "f18", "f19", "f20", "f21", "f22", "f23", "f24", "f25", "f26", "f27", "f28", "f29", "f30", "f31",
    "f32", "f33", "f34", "f35", "f36", "f37", "f38", "f39", "f40", "f41", "f42", "f43", "f44", "f45", "f46", "f47",
    "f48", "f49", "f50", "f51", "f52", "f53", "f54", "f55", "f56", "f57", "f58", "f59", "f60", "f61", "f62", "f63",
    "f64", "f65",
];

const DICE: &[&str] = &["1d6", "2d6", "1d3+1", "3d4", "1d2", "3d6kh2", "1d4!", "2d6rr1", "1d8-2", "2*1d4+1"];

const AUDIENCES: &[&str] = &[
    "audience = \"gm\"",
    "audience = { \"left\", \"gm\" }",
    "audience = \"nobody\"",
    "audience = me",
    "audience = \"everybody\"",
];

/// Malformed fields of a question, by its kind; without a kind, malformed for all.
const BAD_FIELDS: &[(&str, &str)] = &[
    ("choose", "options = { \"a\", \"b\", \"a\" }"),
    ("choose", "options = { \"a\", 5 }"),
    ("choose", "options = { a = \"b\" }"),
    ("choose", "options = { { id = \"a\", enabled = false }, { id = \"b\", enabled = false } }"),
    ("choose", "options = { me, it }"),
    ("choose", "options = function() return { \"b\", \"b\" } end"),
    ("choose", "cards = { \"c0\", \"c0\" }, ctx = { actor = me, foe = it }"),
    ("choose_many", "options = { \"a\", \"b\", \"cc\", \"b\" }"),
    ("choose_many", "options = { \"a\", true, \"cc\" }"),
    ("choose_many", "options = {}"),
    ("choose_many", "max = 1.5"),
    ("choose_many", "min = -1"),
    ("choose_many", "min = 3, max = 2"),
    ("choose_many", "options = { \"a\", \"b\", { id = \"cc\", label = 5 } }"),
    ("order", "options = { \"a\", \"a\", \"cc\" }"),
    ("order", "options = { \"a\", { id = 5 }, \"cc\" }"),
    ("order", "options = { \"a\", { id = \"b\", enabled = false }, \"cc\" }"),
    ("allot", "options = { \"a\", \"a\", \"cc\" }"),
    ("allot", "options = { { id = \"a\", max = 1 } }"),
    ("allot", "least = 90"),
    ("allot", "options = { { id = \"a\", max = 1.5 }, \"b\", \"cc\" }"),
    ("number", "min = 90"),
    ("number", "max = 2.5"),
    ("number", "max = \"3\""),
    ("line", "max = 0"),
    ("line", "max = me"),
    ("", "topic = 5"),
    ("", "topic = me"),
    ("", "topic = false"),
    ("", "audience = \"lefd\""),
    ("", "audience = 5"),
    ("", "about = 5"),
    ("", "why = 5"),
    ("", "why = me"),
    ("", "why = function() error(\"no words\") end"),
    ("", "note = function() error(\"no note\") end"),
    ("", "check = true"),
];

const OPTIONS: [&str; 3] = [
    "options = { \"a\", \"b\", \"cc\" }",
    "options = function(q) return { \"a\", \"b\", \"cc\" } end",
    "options = { \"a\", { id = \"b\", value = 4, note = \"a note\" }, { id = \"cc\", value = \"see\" } }, note = function(value, q) return \"beside\" end",
];

/// Answers that always or mostly fit.
const GOOD: &[(&str, &str)] = &[
    ("choose", "rb.open(q, \"c1\") or rb.open(q, \"c2\") or named(q.options[1])"),
    ("choose", "rb.open(q, \"c\" .. rb.pick(q, 3) - 1) or rb.open(q, \"a\")"),
    ("choose", "rb.open(q, \"b\")"),
    ("choose", "if rb.pick(q, 2) == 1 then rb.open(q, \"c2\") else nil"),
    ("choose_many", "{ named(q.options[1]) }"),
    ("choose_many", "{ named(q.options[3]), named(q.options[1]) }"),
    ("choose_many", "{ \"b\", \"a\" }"),
    ("number", "q.min"),
    ("number", "rb.pick(q, 3)"),
    ("number", "math.clamp(me.a, q.min, q.max)"),
    ("allot", "{ 1, q.total - 1 }"),
    ("allot", "{ 0, q.total, 0 }"),
    ("confirm", "rb.pick(q, 2) == 1"),
    ("confirm", "me.a > 2"),
    ("order", "{ named(q.options[2]), named(q.options[3]), named(q.options[1]) }"),
    ("order", "{ named(q.options[1]), named(q.options[2]), named(q.options[3]) }"),
    ("line", "\"a line\""),
    ("line", "tostring(me.a)"),
];

/// Answers that do not fit, on which all modes agree.
const BAD: &[(&str, &str)] = &[
    ("choose", "named(q.options[rb.pick(q, #q.options)])"),
    ("choose", "\"nothing of the kind\""),
    ("choose", "5"),
    ("choose_many", "{}"),
    ("choose_many", "{ \"a\", \"nobody\" }"),
    ("choose_many", "{ \"a\", \"b\", \"cc\" }"),
    ("number", "q.max + 1"),
    ("number", "q.min + 0.5"),
    ("number", "-1"),
    ("allot", "{ 2, 9 }"),
    ("allot", "{ -1, q.total + 1 }"),
    ("order", "{ named(q.options[1]) }"),
    ("confirm", "0"),
];

/// Answers that the table refuses and that a simulation once accepted (row 3).
const REFUSED: &[(&str, &str)] = &[
    ("choose_many", "{ \"a\", \"a\" }"),
    ("choose_many", "{ named(q.options[2]), named(q.options[2]) }"),
    ("order", "{ named(q.options[1]), named(q.options[1]), named(q.options[1]) }"),
    ("allot", "{ 1.5, q.total - 1.5 }"),
    ("number", "\"2\""),
    ("line", "12"),
    ("line", "string.rep(\"long\", 80)"),
];
