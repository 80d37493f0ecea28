//! Parts that only some cases have: lasting effects, secrets, reached limits, a house rule on top.

use super::generator::{Generator, Place};
use super::model::Sort::{self, Body as Ent, Data, Number, Seat, Truth};
use super::model::{Body, Card, Case, Field, Layer, Stat};

impl Generator {
    /// Adds the parts that only some cases have.
    pub(super) fn enrich(&mut self, case: &mut Case) {
        let act = Place::Verb(self.parts.verbs);
        if self.features.lasting && self.random.one_in(4) {
            case.lasting = Some(self.body(act, 3));
            for _ in 0..2 + self.random.below(3) {
                let stat = self.lasting(act);
                self.put_anywhere(case, stat);
            }
        }
        if self.features.secrets && self.random.one_in(5) {
            case.secret = true;
            let declared = "rb.int({ audience = \"seat\", label = \"Purse\", min = 0 })".to_string();
            case.fields.push(Field { name: "purse", declared, default: None });
            for _ in 0..2 + self.random.below(4) {
                let stat = self.secret(act);
                self.put_anywhere(case, stat);
            }
        }
        if self.features.limits && self.random.one_in(25) {
            let stat = self.too_much(act);
            self.put_anywhere(case, stat);
        }
        if self.features.layers && self.random.one_in(3) {
            let cards = (0..self.random.below(3))
                .map(|_| {
                    let at = self.random.below(case.cards.len() + 1);
                    (at, *self.random.pick(&["wrap", "wrap", "replace", "removed", "extend"]), self.body(Place::Act, 3))
                })
                .collect::<Vec<_>>();
            let mut met = Vec::new();
            let cards = cards
                .into_iter()
                .filter(|(at, ..)| {
                    !met.contains(at) && {
                        met.push(*at);
                        true
                    }
                })
                .collect();
            let verb = self.random.below(self.parts.verbs);
            let verbs = if self.random.one_in(2) { vec![(verb, self.body(Place::Verb(verb), 3))] } else { Vec::new() };
            let hook = if self.random.one_in(2) { Some(self.hook(true)) } else { None };
            case.layer =
                Some(Layer { from_start: self.random.one_in(2), cards, verbs, hook, field: self.random.one_in(3) });
        }
        if case.secret && case.cards.len() < 4 {
            // A secret roll affects the next roll, so paths that differ only in it must not be merged.
            let text =
                "me:set(\"purse\", rb.roll(\"1d4\"))\nif rb.under(\"1d6\", 4) then me:set(\"a\", me.purse % 3) end";
            let resolve = vec![Stat::new(text, Vec::new(), Vec::new())];
            case.cards.push(Card { when: Vec::new(), note: false, resolve });
        }
        if self.random.one_in(6) {
            // The check refuses some answers of both policies.
            let asked = "me:set(\"a\", rb.number({ seat = me.seat, topic = \"checked\", about = me, min = 0, max = 5, default = 2, check = function(value) return value ~= 4, \"not four\" end }) % 7)";
            case.cards[0].resolve.insert(0, Stat::new(asked, Vec::new(), Vec::new()));
            let given =
                "if q.topic == \"checked\" then return if rb.pick(q, 24) == 4 then 4 else rb.pick(q, 4) - 1 end";
            for policy in &mut case.policies {
                policy.insert(0, Stat::new(given, Vec::new(), Vec::new()));
            }
        }
        if self.random.one_in(2) {
            let toggles = self.toggles(case);
            if !toggles.is_empty() {
                let stat = self.random.pick(&toggles).clone();
                case.cards[0].resolve.insert(0, stat);
            }
        }
    }

    /// Declares boundaries, parts for looking ahead, and parts for changing to another ruleset.
    pub(super) fn declare_more(&mut self, case: &mut Case) {
        if self.features.boundaries && self.random.one_in(3) {
            case.boundary = *self.random.pick(&[None, Some("turn"), Some("e0")]);
        }
        case.deals = self.features.deals && case.secret && !self.random.one_in(3);
        if self.parts.creation {
            let act = Place::Verb(self.parts.verbs);
            let stat = self.plain(
                "if #rb.each(\"thing\") < 4 then\n\tlocal kind, sheet = rb.build_sheet({ name = \"built\", a = $ % 5, seat = $ })\n\tif #rb.check_sheet(sheet) == 0 then rb.spawn(kind, sheet) end\nend",
                &[Number, Seat],
                act,
            );
            self.put_anywhere(case, stat);
        }
        if self.features.converts && self.random.one_in(3) {
            case.converts = Some([self.conversion(), self.conversion()]);
        }
    }

    fn conversion(&mut self) -> Body {
        const STATS: &[(&str, &[Sort])] = &[
            ("for _, one in rb.each(\"thing\") do one:set(\"a\", (num(change.was(one).a) + $) % 8) end", &[Number]),
            (
                "for _, was in change.each(\"thing\") do\n\tif was.now then was.now:set(\"b\", (num(was.a) + $) % 8) end\nend",
                &[Number],
            ),
            (
                "local mark = change.kept(me, \"mark\")\nif mark == nil then\n\tchange.keep(me, \"mark\", $)\nelse\n\tme:set(\"a\", num(mark) % 8)\n\tchange.forget(me, \"mark\")\nend",
                &[Data],
            ),
            ("local shelved = rb.each(\"imp\")[$ % 2 + 1]\nif shelved then change.shelve(shelved) end", &[Number]),
            ("if #rb.each(\"imp\") < 3 then rb.spawn(\"imp\", { a = $ % 9 }) end", &[Number]),
            ("if rb.first(\"imp\") and $ then rb.remove(rb.first(\"imp\")) end", &[Truth]),
            ("change.carried(\"{}\", \"{} of {}\", me, $, change.from)", &[Number]),
            ("change.defaulted(\"it\", \"{}\", it)\nchange.decide(\"things\", \"{} are there\", $)", &[Number]),
            ("if $ then change.breach(\"S-1\", \"me\", \"{} is too much\", me.a) end", &[Truth]),
            ("if $ % 4 == 1 then change.refused(\"imps\", \"there are {}\", #change.each(\"imp\")) end", &[Number]),
            ("rb.schedule(\"e0\", { world.round + 2, $ % 9 }, me, { n = num(change.was(it).b) })", &[Number]),
            ("for _, due in rb.agenda({ what = \"e0\" }) do rb.cancel(due.id) end", &[]),
            (
                "world:set(\"big\", (#change.agenda * 31 + num(change.switches.rounds) + #change.from + $) % 4000)",
                &[Number],
            ),
            ("if $ % 6 == 1 then error(\"no way there\") end", &[Number]),
        ];
        let count = 1 + self.random.below(5);
        let pick = |this: &mut Self| *this.random.pick(STATS);
        (0..count)
            .map(|_| {
                let (text, parts) = pick(self);
                self.plain(&format!("do\n{text}\nend"), parts, Place::Pure)
            })
            .collect()
    }

    /// Adds words of the vocabulary that the other parts do not use.
    pub(super) fn add_words(&mut self, case: &mut Case) {
        let act = Place::Verb(self.parts.verbs);
        case.acts = self.random.one_in(2);
        case.shown = self.random.one_in(2);
        case.item = if self.random.one_in(2) { Some(self.hook(false)) } else { None };
        if self.random.one_in(3) {
            let declared = "rb.bool({ by_hand = true })".to_string();
            case.fields.push(Field { name: "touched", declared, default: None });
            let text = "for _, one in rb.each(\"thing\") do\n\tif one.touched then\n\t\tone:set(\"touched\", false)\n\t\tone:set(\"a\", 1)\n\tend\nend";
            self.put_anywhere(case, Stat::new(text, Vec::new(), Vec::new()));
        }
        for _ in 0..1 + self.random.below(4) {
            let stat = self.word(act, case.item.is_some());
            self.put_anywhere(case, stat);
        }
    }

    fn word(&mut self, place: Place, item: bool) -> Stat {
        match self.random.below(if item { 13 } else { 10 }) {
            0 => self.plain(
                "local good = rb.check(\"1d10\", { at_most = $ % 9 + 1 }, \"a check\")\nrb.result(\"{}\", if good then \"well\" else \"badly\")\nme:set(\"a\", num(good))",
                &[Number],
                place,
            ),
            1 => self.plain(
                "world:set(\"big\", rb.number({ seat = $, topic = \"t3\", about = me, min = 0, max = 3, default = 1, sealed = true }))\nif $ then rb.reveal() end",
                &[Seat, Truth],
                place,
            ),
            2 => self.plain(
                "for _, one in rb.filter(rb.each(\"imp\"), function(one) return one.a < $ end) do\n\tone:set(\"a\", (one.a + 1) % 5)\nend",
                &[Number],
                Place::Pure,
            ),
            3 => self.plain(
                "local here, there = { x = me.a, y = 2 }, { x = it.b, y = $ % 9 }\nif rb.within(here, there, 4) then me:set(\"a\", rb.distance(here, there) % 7) end\nme:set(\"b\", (rb.square(here, there) + rb.root(math.abs($)) + rb.towards(here, there, 3).x) % 9)",
                &[Number, Number],
                place,
            ),
            4 => self.plain(
                "local imps = rb.each(\"imp\")\nlocal tied = if #imps > 1 then rb.relation(\"tie\", imps[1], imps[#imps]) else nil\nif tied then tied:set(\"load\", (tied.load + $) % 6) end",
                &[Number],
                place,
            ),
            5 => self.plain(
                "local word = rb.choose({ seat = $, topic = \"t2\", about = me, options = { \"a\", \"b\" }, other = true, propose = false, default = \"a\" })\nme:set(\"a\", #word % 7)",
                &[Seat],
                place,
            ),
            6 => self.plain(
                "local after = rb.choose({ seat = me.seat, topic = \"after\", about = me, cards = rb.card_ids, ctx = { actor = me, foe = it }, when = function(ctx, card) return ctx.actor.a ~= $ % 4, \"not now\" end, more = { \"pass\" }, default = \"pass\" })\nme:set(\"a\", if after == \"pass\" then 1 else #after.id)",
                &[Number],
                Place::Pure,
            ),
            7 => self.plain(
                "me:set(\"a\", num(rb.all({ { ask = \"number\", seat = $, topic = \"t1\", about = me, min = 0, max = 3, default = 1 }, function(known) return if num(known) % 2 == 0 then { ask = \"confirm\", seat = me.seat, topic = \"t2\", about = me, default = false } else nil end })) % 7)",
                &[Seat],
                place,
            ),
            8 => self.plain(
                "if #rb.agenda() < 12 then rb.recur(\"e0\", { world.round + 2, 5 }, { 2, 0 }, me, $) end",
                &[Number],
                place,
            ),
            9 => self.plain(
                "me:set(\"a\", num(rb.choose_many({ seat = $, topic = \"t1\", about = me, options = rb.each(\"thing\"), min = 0, default = {} })) % 7)",
                &[Seat],
                place,
            ),
            10 => self.plain(
                "me:set(\"a\", (rb.items.i0.weight + #rb.item_ids + #rb.item_of(\"i0\").title + rb.cast.one.a) % 7)",
                &[],
                place,
            ),
            11 => self.plain(
                "me:set(\"a\", num(rb.fact(rb.card(\"c0\"), \"worth\", { actor = me, foe = it })) % 7)",
                &[],
                place,
            ),
            _ => self.plain("if #rb.attached(me) < 3 then rb.attach(\"i0\", me, $) end", &[Number], place),
        }
    }

    /// Branches on the value of a field and changes that value, so that the same point has another result next time.
    fn toggles(&self, case: &Case) -> Vec<Stat> {
        let toggle = |name: &str| -> Option<(&str, &str)> {
            Some(match name {
                "flag" => ("me.flag", "not me.flag"),
                "note" => ("me.note == \"n\"", "if me.note == \"n\" then \"m\" else \"n\""),
                "mode" => ("me.mode == \"m1\"", "if me.mode == \"m1\" then \"m2\" else \"m1\""),
                "list" => ("me.list[1] == 2", "if me.list[1] == 2 then {} else { 2, 1 }"),
                "map" => ("me.map.k == 2", "if me.map.k == 2 then {} else { k = 2 }"),
                _ => return None,
            })
        };
        let toggles = case.fields.iter().filter_map(|field| Some((field.name, toggle(field.name)?)));
        let toggles = toggles.map(|(name, (test, other))| {
            let text = format!(
                "if {test} then world:set(\"big\", (world.big * 3 + 1) % 1000) end\nif rb.under(\"1d6\", 4) then me:set(\"{name}\", {other}) end"
            );
            Stat::new(text, Vec::new(), Vec::new())
        });
        toggles.collect()
    }

    /// Adds a statement to the end of a random body.
    fn put_anywhere(&mut self, case: &mut Case, stat: Stat) {
        let bodies = case.cards.iter_mut().map(|card| &mut card.resolve);
        let bodies = bodies.chain(case.entries.iter_mut().map(|entry| &mut entry.run)).chain(&mut case.verbs);
        let mut bodies: Vec<&mut Body> = bodies.chain(&mut case.free).collect();
        let at = self.random.below(bodies.len());
        bodies[at].push(stat);
    }

    /// Writes a statement about moods and how they end.
    fn lasting(&mut self, place: Place) -> Stat {
        let room = "if #rb.each(\"mood\") < 4 then";
        match self.random.below(7) {
            0 | 1 => self.plain(
                &format!("{room} rb.lasts(rb.spawn(\"mood\", {{ of = me, n = $ % 9 }}), {{ moment = \"turn\", of = me, times = 1 + $ % 3 }}) end"),
                &[Number, Number],
                place,
            ),
            2 => self.plain(
                &format!("{room} rb.lasts(rb.spawn(\"mood\", {{ of = $, n = 1 }}), {{ at = {{ world.round + 2, $ % 9 }} }}) end"),
                &[Ent, Number],
                place,
            ),
            3 => self.plain(
                &format!("{room} rb.lasts(rb.spawn(\"mood\", {{ of = me }}), {{ moment = \"pause\" }}) end\nif $ then rb.comes(\"pause\") end"),
                &[Truth],
                place,
            ),
            4 => self.plain(
                "for _, mood in rb.each(\"mood\", { of = me }) do\n\tme:set(\"a\", (mood.n + me.a) % 8)\n\trb.lasts(mood, { moment = \"clock\", times = 1 + $ % 2 })\nend",
                &[Number],
                place,
            ),
            5 => self.plain("if rb.first(\"mood\") and $ then rb.remove(rb.first(\"mood\")) end", &[Truth], place),
            _ => self.plain("rb.comes(\"pause\")\nme:set(\"a\", #rb.each(\"mood\") % 5)", &[], place),
        }
    }

    /// Writes a statement with values that not every seat may see.
    fn secret(&mut self, place: Place) -> Stat {
        const REFILL: &str = "if #world.deck < 2 then world:set(\"deck\", rb.shuffle({ 1, 2, 3, 4, 5 })) end";
        match self.random.below(9) {
            0 | 1 => self.plain(
                &format!("{REFILL}\nlocal drawn, rest = rb.draw(world.deck)\nworld:set(\"deck\", rest)\nme:set(\"purse\", (me.purse * 5 + drawn) % 90)"),
                &[],
                place,
            ),
            2 => self.plain(
                &format!("{REFILL}\nlocal drawn, rest = rb.draw(world.deck, 2)\nworld:set(\"deck\", rest)\nit:set(\"purse\", num(drawn) % 90)"),
                &[],
                place,
            ),
            3 => self.plain(
                "if #rb.each(\"secret\") < 3 then rb.spawn(\"secret\", { seat = $, n = $ % 9 }) end",
                &[Seat, Number],
                place,
            ),
            4 => self.plain("if rb.first(\"secret\") and $ then rb.first(\"secret\"):set(\"seat\", \"everybody\") end", &[Truth], place),
            5 => self.plain("if rb.first(\"secret\") and $ then rb.remove(rb.first(\"secret\")) end", &[Truth], place),
            6 => self.plain("me:set(\"purse\", rb.roll({ \"1d6\", audience = me.seat }, \"a look\"))", &[], place),
            7 => self.plain("rb.whisper(me.seat, \"you have {}\", me.purse)", &[], place),
            _ => self.plain(
                "it:set(\"purse\", rb.number({ seat = $, topic = \"t0\", about = it, min = 0, max = 9, default = 3, audience = me.seat, sealed = $ }))",
                &[Seat, Truth],
                place,
            ),
        }
    }

    /// Writes a statement that sometimes exceeds a limit in the middle of an action.
    fn too_much(&mut self, place: Place) -> Stat {
        let done = *self.random.pick(&[
            "for at = 1, 10050 do rb.say(\"much\") end",
            "local sum = 0\n\tfor at = 1, 1e9 do sum += at end\n\tme:set(\"a\", sum % 7)",
            "local list = {}\n\tfor at = 1, 30000 do list[at] = at end\n\tworld:set(\"big\", #rb.shuffle(list))",
            "rb.roll(\"1200d6\")",
            "me:set(\"note\", string.rep(\"long\", 40000))",
            "rb.schedule(\"e0\", { 900 }, me, { string.rep(\"long\", 40000) })",
        ]);
        self.plain(&format!("if rb.under(\"1d8\", 3) and $ then\n\t{done}\nend"), &[Truth], place)
    }
}
