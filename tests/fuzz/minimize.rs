//! Minimizes a case as long as two modes disagree on it.

use super::model::{Body, Case, Expr, Sort, Stat};

/// Removes parts of a case one after the other while `fails` is true. Returns the smallest case found.
pub fn minimized(case: &Case, fails: &dyn Fn(&Case) -> bool) -> Case {
    let mut best = case.clone();
    loop {
        let before = best.clone();
        let mut at = 0;
        // After a removal, the next part has the same index.
        while let Some(smaller) = nth(&best, at) {
            if smaller != best && fails(&smaller) {
                best = smaller;
            } else {
                at += 1;
            }
        }
        if best == before {
            return best;
        }
    }
}

/// Returns the case without its `at`th part.
fn nth(case: &Case, at: usize) -> Option<Case> {
    let mut made = case.clone();
    let mut left = Some(at);
    made.shrink(&mut left);
    left.is_none().then_some(made)
}

/// Counts down; true for the change whose turn it is.
fn turn(left: &mut Option<usize>) -> bool {
    match left {
        Some(0) => {
            *left = None;
            true
        }
        Some(n) => {
            *n -= 1;
            false
        }
        None => false,
    }
}

impl Case {
    fn shrink(&mut self, left: &mut Option<usize>) {
        for number in [&mut self.rounds, &mut self.trials] {
            if *number > 1 && turn(left) {
                *number /= 2;
            }
            if *number > 1 && turn(left) {
                *number -= 1;
            }
        }
        shrink_list(&mut self.hooks, 0, left);
        shrink_list(&mut self.cards, 1, left);
        for card in &mut self.cards {
            shrink_body(&mut card.when, left);
            shrink_body(&mut card.resolve, left);
            shrink_flag(&mut card.note, left);
        }
        for hook in &mut self.hooks {
            shrink_list(&mut hook.parts, 0, left);
            for (_, _, body) in &mut hook.parts {
                shrink_body(body, left);
            }
            if hook.priority != 0 && turn(left) {
                hook.priority = 0;
            }
        }
        shrink_list(&mut self.entries, 1, left);
        for entry in &mut self.entries {
            shrink_body(&mut entry.run, left);
            shrink_flag(&mut entry.keyed, left);
            for worked_out in [&mut entry.key, &mut entry.tie] {
                if worked_out.is_some() && turn(left) {
                    *worked_out = None;
                }
                if let Some(expr) = worked_out {
                    expr.shrink(left);
                }
            }
        }
        shrink_list(&mut self.verbs, 0, left);
        self.verbs.iter_mut().for_each(|body| shrink_body(body, left));
        self.policies.iter_mut().for_each(|body| shrink_body(body, left));
        shrink_list(&mut self.free, 0, left);
        self.free.iter_mut().for_each(|body| shrink_body(body, left));
        shrink_body(&mut self.start, left);
        shrink_list(&mut self.fields, 1, left);
        self.total.shrink(left);
        shrink_flag(&mut self.follows, left);
        shrink_flag(&mut self.cards_later, left);
        if self.layer.is_some() && turn(left) {
            self.layer = None;
        }
        if let Some(layer) = &mut self.layer {
            shrink_list(&mut layer.cards, 0, left);
            layer.cards.iter_mut().for_each(|(.., body)| shrink_body(body, left));
            shrink_list(&mut layer.verbs, 0, left);
            layer.verbs.iter_mut().for_each(|(_, body)| shrink_body(body, left));
            if layer.hook.is_some() && turn(left) {
                layer.hook = None;
            }
            if let Some(hook) = &mut layer.hook {
                shrink_list(&mut hook.parts, 0, left);
                hook.parts.iter_mut().for_each(|(.., body)| shrink_body(body, left));
            }
            shrink_flag(&mut layer.field, left);
        }
        if let Some(ended) = &mut self.lasting {
            shrink_body(ended, left);
        }
        // They are kept while something names them.
        if self.lasting.is_some() && turn(left) {
            self.lasting = None;
        }
        shrink_flag(&mut self.secret, left);
        shrink_flag(&mut self.acts, left);
        shrink_flag(&mut self.shown, left);
        shrink_flag(&mut self.creation, left);
        shrink_flag(&mut self.deals, left);
        if self.boundary != Some("clock") && turn(left) {
            self.boundary = Some("clock");
        }
        // Calls of it remain, and fail without it.
        if self.reach.is_some() && turn(left) {
            self.reach = None;
        }
        if let Some(reach) = &mut self.reach {
            reach.shrink(left);
        }
        self.converts.iter_mut().flatten().for_each(|body| shrink_body(body, left));
        if self.converts.is_some() && turn(left) {
            self.converts = None;
        }
        if let Some(item) = &mut self.item {
            shrink_list(&mut item.parts, 0, left);
            item.parts.iter_mut().for_each(|(.., body)| shrink_body(body, left));
        }
        if self.item.is_some() && turn(left) {
            self.item = None;
        }
    }
}

fn shrink_flag(flag: &mut bool, left: &mut Option<usize>) {
    if *flag && turn(left) {
        *flag = false;
    }
}

fn shrink_list<T>(list: &mut Vec<T>, least: usize, left: &mut Option<usize>) {
    if list.len() > least + 1 && turn(left) {
        list.truncate(least);
    }
    for at in (least..list.len()).rev() {
        if turn(left) {
            list.remove(at);
            return;
        }
    }
}

fn shrink_body(body: &mut Body, left: &mut Option<usize>) {
    shrink_list(body, 0, left);
    for at in 0..body.len() {
        // Replaces a statement with bodies by each of them.
        for inner in 0..body[at].bodies.len() {
            if turn(left) {
                let inner = body[at].bodies.swap_remove(inner);
                body.splice(at..=at, inner);
                return;
            }
        }
        body[at].shrink(left);
    }
}

impl Stat {
    fn shrink(&mut self, left: &mut Option<usize>) {
        self.parts.iter_mut().for_each(|part| part.shrink(left));
        self.bodies.iter_mut().for_each(|body| shrink_body(body, left));
    }
}

impl Expr {
    fn shrink(&mut self, left: &mut Option<usize>) {
        let plain = Expr::plain(self.sort);
        if self.text.len() > plain.text.len() && self.sort != Sort::Data && turn(left) {
            *self = plain;
            return;
        }
        if self.sort == Sort::Data
            && self.parts.len() < 2
            && !self.text.starts_with("rb.")
            && *self != plain
            && turn(left)
        {
            *self = plain;
            return;
        }
        for at in 0..self.parts.len() {
            if self.parts[at].sort == self.sort && turn(left) {
                *self = self.parts.swap_remove(at);
                return;
            }
        }
        self.parts.iter_mut().for_each(|part| part.shrink(left));
    }
}
