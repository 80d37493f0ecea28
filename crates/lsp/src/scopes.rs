//! The local variables of a script with their scopes and uses, from its tokens, so that a script that does not parse
//! has them, too.

use std::ops::Range;

use super::expected::is_expression;
use super::target::code;
use super::token::{Token, TokenKind, is_keyword};

/// A local variable of a script.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variable {
    pub name: String,
    pub sort: VariableSort,
    /// The bytes of its name where it is declared.
    pub declared: Range<usize>,
    /// The bytes in which its name means it, unless a variable inside has the same name.
    pub visible: Range<usize>,
    /// The bytes of each use.
    pub uses: Vec<Range<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableSort {
    Local,
    Function,
    Parameter,
    Loop,
}

/// The local variables of a script.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    pub variables: Vec<Variable>,
    /// The bytes of the names that are no local variable.
    pub globals: Vec<Range<usize>>,
    /// The bytes of the bodies of functions.
    pub bodies: Vec<Range<usize>>,
}

impl Scopes {
    /// Reads the variables of a script.
    pub fn of(text: &str) -> Scopes {
        let mut reader = ScopeReader {
            text,
            tokens: code(text),
            found: Scopes::default(),
            active: Vec::new(),
            blocks: Vec::new(),
            brackets: Vec::new(),
            pending: Vec::new(),
        };
        reader.read();
        reader.found
    }

    /// The variable whose name is at a byte, with the bytes of that name.
    pub fn at(&self, at: usize) -> Option<(&Variable, Range<usize>)> {
        self.variables.iter().find_map(|variable| {
            let mut places = std::iter::once(&variable.declared).chain(&variable.uses);
            places.find(|range| range.start <= at && at <= range.end).map(|range| (variable, range.clone()))
        })
    }

    /// The variable that is declared at a byte.
    pub fn declared_at(&self, at: usize) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.declared.start == at)
    }

    /// The variables that can be named at a byte, the innermost first, each name once.
    pub fn visible_at(&self, at: usize) -> Vec<&Variable> {
        let mut found: Vec<&Variable> = Vec::new();
        let visible = |variable: &&Variable| variable.visible.start < at && at <= variable.visible.end;
        for variable in self.variables.iter().rev().filter(visible) {
            if found.iter().all(|inner| inner.name != variable.name) {
                found.push(variable);
            }
        }
        found
    }

    /// True if some byte is the name of a local variable.
    pub fn has(&self, at: usize) -> bool {
        self.at(at).is_some_and(|(_, range)| range.start == at)
    }

    /// The line with another meaning of a name in the scope of a variable, which a rename to that name would change.
    pub fn conflict(&self, variable: &Variable, name: &str, text: &str) -> Option<usize> {
        let overlaps = |other: &&Variable| {
            other.name == name
                && other.declared.start < variable.visible.end
                && variable.declared.start < other.visible.end.max(other.declared.end)
        };
        let other = self.variables.iter().find(overlaps).map(|other| other.declared.start);
        let is_there = |range: &&Range<usize>| {
            text[(*range).clone()] == *name
                && variable.visible.start <= range.start
                && range.end <= variable.visible.end
        };
        let at = other.or_else(|| self.globals.iter().find(is_there).map(|range| range.start))?;
        Some(text[..at].matches('\n').count() + 1)
    }
}

struct ScopeReader<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    found: Scopes,
    /// The indices of the variables in scope, the innermost last.
    active: Vec<usize>,
    blocks: Vec<OpenBlock>,
    /// The open brackets.
    brackets: Vec<&'t str>,
    /// Declared variables whose values are being read.
    pending: Vec<PendingLocals>,
}

struct OpenBlock {
    sort: BlockSort,
    /// The number of active variables outside.
    active: usize,
    /// The number of open brackets outside.
    brackets: usize,
    begin: usize,
}

#[derive(PartialEq)]
enum BlockSort {
    Function,
    Do,
    /// The head of a loop, before its `do`, with the variables that it declares.
    Head(Vec<usize>),
    If,
    /// An `if` that is an expression and has no `end`.
    IfExpression,
    Repeat,
    /// The condition after `until`, which sees the variables of the loop.
    Until,
}

struct PendingLocals {
    variables: Vec<usize>,
    blocks: usize,
    brackets: usize,
}

/// The keywords that begin a statement and never continue an expression.
const STARTERS: [&str; 8] = ["local", "return", "for", "while", "repeat", "end", "until", "break"];

impl<'t> ScopeReader<'t> {
    fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| token.text(self.text))
    }

    fn before(&self, at: usize, back: usize) -> &'t str {
        at.checked_sub(back).map_or("", |at| self.word(at))
    }

    fn is_name(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Name && !is_keyword(self.word(at)))
    }

    fn read(&mut self) {
        let (mut at, end) = (0, self.text.len());
        while at < self.tokens.len() {
            self.end_statements(at);
            at = self.token(at);
        }
        let is_complete = self.tokens.len().checked_sub(1).is_some_and(|last| self.ends_operand(last));
        let last = self.tokens.last().filter(|_| is_complete).map_or(end, |last| last.end);
        self.activate_pending(0, last);
        while !self.blocks.is_empty() {
            self.close(end);
        }
        self.shrink_to(0, end);
    }

    /// True if an expression can end with a token.
    fn ends_operand(&self, at: usize) -> bool {
        let Some(token) = self.tokens.get(at) else { return false };
        let word = self.word(at);
        match token.kind {
            TokenKind::Name => !is_keyword(word) || matches!(word, "end" | "true" | "false" | "nil"),
            TokenKind::Number => true,
            TokenKind::Text => !(word.ends_with('{') && word.starts_with(['`', '}'])),
            TokenKind::Sign => matches!(word, ")" | "]" | "}") || word == "." && self.before(at, 2) == ".",
            TokenKind::Comment => false,
        }
    }

    /// Ends the statements that a token cannot continue: their variables are in scope from there on.
    fn end_statements(&mut self, at: usize) {
        let (word, is_word) = (self.word(at), self.tokens[at].kind == TokenKind::Name);
        let is_new = is_word && !matches!(word, "and" | "or") && at > 0 && self.ends_operand(at - 1);
        if !(word == ";" || is_word && STARTERS.contains(&word) || is_new) {
            return;
        }
        // The branches of an unfinished `if` expression end with it.
        while STARTERS.contains(&word) && self.blocks.last().is_some_and(|top| top.sort == BlockSort::IfExpression) {
            self.blocks.pop();
        }
        if self.blocks.last().is_some_and(|top| top.sort == BlockSort::Until && top.brackets == self.brackets.len()) {
            self.close(self.tokens[at].begin);
        }
        let (blocks, brackets) = (self.blocks.len(), self.brackets.len());
        let is_over = |pending: &PendingLocals| {
            pending.blocks == blocks && (pending.brackets == brackets || STARTERS.contains(&word))
        };
        if self.pending.last().is_some_and(is_over) {
            // A value that is missing cannot name them.
            let is_complete = at > 0 && self.ends_operand(at - 1);
            let from = if is_complete { self.tokens[at - 1].end } else { self.tokens[at].begin };
            self.activate_pending(self.pending.len() - 1, from);
        }
    }

    /// Brings the pending variables from an index on into scope.
    fn activate_pending(&mut self, from: usize, at: usize) {
        for pending in self.pending.split_off(from) {
            self.brackets.truncate(pending.brackets);
            self.activate(&pending.variables, at);
        }
    }

    fn activate(&mut self, variables: &[usize], at: usize) {
        for index in variables {
            self.found.variables[*index].visible = at..at;
            self.active.push(*index);
        }
    }

    /// Ends the scope of all variables but the outermost.
    fn shrink_to(&mut self, count: usize, end: usize) {
        for index in self.active.drain(count.min(self.active.len())..) {
            self.found.variables[index].visible.end = end;
        }
    }

    fn open(&mut self, sort: BlockSort, begin: usize) {
        self.blocks.push(OpenBlock { sort, active: self.active.len(), brackets: self.brackets.len(), begin });
    }

    /// Closes the innermost block.
    fn close(&mut self, end: usize) {
        let Some(block) = self.blocks.pop() else { return };
        self.shrink_to(block.active, end);
        self.brackets.truncate(block.brackets);
        self.pending.retain(|pending| pending.blocks <= self.blocks.len());
        if block.sort == BlockSort::Function {
            self.found.bodies.push(block.begin..end);
        }
    }

    fn declare(&mut self, at: usize, sort: VariableSort) -> usize {
        let declared = self.tokens[at].begin..self.tokens[at].end;
        let (name, visible) = (self.word(at).to_owned(), declared.end..declared.end);
        self.found.variables.push(Variable { name, sort, declared, visible, uses: Vec::new() });
        self.found.variables.len() - 1
    }

    /// Reads a token, and for declarations also those that belong to it. Returns the index of the next one.
    fn token(&mut self, at: usize) -> usize {
        let (word, begin, end) = (self.word(at), self.tokens[at].begin, self.tokens[at].end);
        match (self.tokens[at].kind, word) {
            (TokenKind::Sign, "(" | "[" | "{") => self.brackets.push(word),
            (TokenKind::Sign, ")" | "]" | "}") => {
                let outside = self.blocks.last().map_or(0, |block| block.brackets);
                if self.brackets.len() > outside {
                    self.brackets.pop();
                }
            }
            (TokenKind::Name, "function") => return self.function(at),
            (TokenKind::Name, "local") if self.word(at + 1) != "function" => return self.locals(at + 1),
            (TokenKind::Name, "for") => return self.loop_head(at),
            (TokenKind::Name, "while") => self.open(BlockSort::Head(Vec::new()), begin),
            (TokenKind::Name, "do") => match self.blocks.last_mut() {
                Some(OpenBlock { sort: sort @ BlockSort::Head(_), .. }) => {
                    let BlockSort::Head(variables) = std::mem::replace(sort, BlockSort::Do) else { return at + 1 };
                    self.activate(&variables, end);
                }
                _ => self.open(BlockSort::Do, begin),
            },
            (TokenKind::Name, "repeat") => self.open(BlockSort::Repeat, begin),
            (TokenKind::Name, "if") => {
                let is_value = is_expression(self.text, &self.tokens[..at]);
                self.open(if is_value { BlockSort::IfExpression } else { BlockSort::If }, begin);
            }
            (TokenKind::Name, "else" | "elseif") => self.branch(word, begin),
            (TokenKind::Name, "until") => {
                if let Some(top) = self.blocks.last_mut().filter(|top| top.sort == BlockSort::Repeat) {
                    top.sort = BlockSort::Until;
                }
            }
            (TokenKind::Name, "end") => {
                let is_open = |top: &OpenBlock| matches!(top.sort, BlockSort::Head(_) | BlockSort::Until);
                while self.blocks.last().is_some_and(is_open) {
                    self.close(begin);
                }
                self.close(begin);
            }
            (TokenKind::Name, _) => self.used(at),
            _ => {}
        }
        at + 1
    }

    fn branch(&mut self, word: &str, begin: usize) {
        match self.blocks.last() {
            Some(top) if top.sort == BlockSort::IfExpression && word == "else" => {
                self.blocks.pop();
            }
            Some(top) if top.sort == BlockSort::If => self.shrink_to(top.active, begin),
            _ => {}
        }
    }

    /// Notes the use of a name, unless it is a member, a key or a keyword.
    fn used(&mut self, at: usize) {
        if !self.is_name(at) {
            return;
        }
        let (before, after) = (self.before(at, 1), self.word(at + 1));
        let is_joined = before == "." && self.before(at, 2) == ".";
        // After a colon, only a module of types is followed by a dot.
        if before == "." && !is_joined || before == ":" && after != "." {
            return;
        }
        let is_compared = self.word(at + 2) == "=" && self.tokens[at + 2].begin == self.tokens[at + 1].end;
        let outside = self.blocks.last().map_or(0, |block| block.brackets);
        let in_table = self.brackets.len() > outside && self.brackets.last() == Some(&"{");
        if in_table && after == "=" && !is_compared && matches!(before, "{" | "," | ";") {
            return;
        }
        let range = self.tokens[at].begin..self.tokens[at].end;
        let name = self.word(at);
        match self.active.iter().rev().find(|index| self.found.variables[**index].name == name) {
            Some(index) => self.found.variables[*index].uses.push(range),
            None => self.found.globals.push(range),
        }
    }

    /// Reads a type after a colon up to a sign outside of its brackets.
    fn annotation(&mut self, mut at: usize, ends: &[&str]) -> usize {
        let (mut depth, begin) = (0usize, at);
        while at < self.tokens.len() {
            let word = self.word(at);
            if depth == 0 && (ends.contains(&word) || at > begin && self.is_new_statement(at))
                || is_keyword(word) && !matches!(word, "nil" | "true" | "false")
            {
                return at;
            }
            match word {
                "(" | "{" | "[" | "<" => depth += 1,
                ">" if self.before(at, 1) == "-" => {}
                ")" | "}" | "]" | ">" => depth = depth.saturating_sub(1),
                _ => self.used(at),
            }
            at += 1;
        }
        at
    }

    fn is_new_statement(&self, at: usize) -> bool {
        self.tokens[at].kind == TokenKind::Name && self.ends_operand(at - 1)
    }

    /// Reads a function up to its parameters.
    fn function(&mut self, at: usize) -> usize {
        let mut next = at + 1;
        if self.before(at, 1) == "local" && self.is_name(next) {
            let index = self.declare(next, VariableSort::Function);
            let end = self.tokens[next].end;
            self.activate(&[index], end);
            next += 1;
        } else if self.is_name(next) {
            self.used(next);
            next += 1;
            while matches!(self.word(next), "." | ":") && self.is_name(next + 1) {
                next += 2;
            }
        }
        if self.word(next) == "<" {
            next = self.annotation(next, &["("]);
        }
        self.open(BlockSort::Function, self.tokens[at].end);
        if self.word(next) != "(" {
            return next;
        }
        let mut params = Vec::new();
        next += 1;
        while next < self.tokens.len() && self.word(next) != ")" && !is_keyword(self.word(next)) {
            if self.is_name(next) && matches!(self.before(next, 1), "(" | ",") {
                params.push(self.declare(next, VariableSort::Parameter));
                next += 1;
            } else {
                next = if self.word(next) == ":" { self.annotation(next + 1, &[",", ")"]) } else { next + 1 };
            }
        }
        let closed = usize::from(self.word(next) == ")");
        let end = self.tokens[(next + closed).saturating_sub(1).min(self.tokens.len() - 1)].end;
        self.activate(&params, end);
        next + closed
    }

    /// Reads the names after `local`, with their types.
    fn locals(&mut self, mut at: usize) -> usize {
        let mut variables = Vec::new();
        while self.is_name(at) {
            variables.push(self.declare(at, VariableSort::Local));
            at += 1;
            if self.word(at) == "<" {
                at += 3;
            }
            if self.word(at) == ":" {
                at = self.annotation(at + 1, &[",", "=", ";"]);
            }
            if self.word(at) != "," {
                break;
            }
            at += 1;
        }
        let (blocks, brackets) = (self.blocks.len(), self.brackets.len());
        self.pending.push(PendingLocals { variables, blocks, brackets });
        at + usize::from(self.word(at) == "=")
    }

    /// Reads the names after `for`.
    fn loop_head(&mut self, at: usize) -> usize {
        let mut variables = Vec::new();
        let mut next = at + 1;
        while self.is_name(next) {
            variables.push(self.declare(next, VariableSort::Loop));
            next += 1;
            if self.word(next) == ":" {
                next = self.annotation(next + 1, &[",", "="]);
            }
            if self.word(next) != "," {
                break;
            }
            next += 1;
        }
        self.open(BlockSort::Head(variables), self.tokens[at].begin);
        next + usize::from(matches!(self.word(next), "=" | "in"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each variable as `name@line of its declaration: lines of its uses`.
    fn listed(text: &str) -> Vec<String> {
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        let shown = |variable: &Variable| {
            assert_eq!(text[variable.declared.clone()], variable.name);
            let uses: Vec<String> = variable.uses.iter().map(|range| line(range.start).to_string()).collect();
            format!("{}@{}: {}", variable.name, line(variable.declared.start), uses.join(" "))
        };
        Scopes::of(text).variables.iter().map(shown).collect()
    }

    fn visible(text: &str) -> Vec<String> {
        let at = text.find('^').unwrap();
        let text = text.replace('^', "");
        Scopes::of(&text).visible_at(at).iter().map(|variable| variable.name.clone()).collect()
    }

    #[test]
    fn each_use_belongs_to_the_variable_in_scope() {
        let text = "local a = 1\nlocal function f(b: rb.Foe?, c)\n\tlocal a = a + b\n\tif a then local a = c end\n\treturn a\nend\nreturn f(a), { a = a, b = x.a }";
        assert_eq!(listed(text), ["a@1: 3 7 7", "f@2: 7", "b@2: 3", "c@2: 4", "a@3: 4 5", "a@4: "]);
        let loops = "for i, foe in f(i) do\n\tlocal n = i\nend\nrepeat\n\tlocal done = g(`{i} {done}`)\nuntil done and ok\nlocal x = if done then i else foe\nreturn x";
        assert_eq!(listed(loops), ["i@1: 2", "foe@1: ", "n@2: ", "done@5: 6", "x@7: 8"]);
        let types = "local rb = require('x')\nlocal n: { rb.Foe } = {}\nlocal function g<T>(a: (n: T) -> rb.Foe): rb.Foe\n\treturn a :: rb.Foe\nend\nn, g = 1, 2";
        assert_eq!(listed(types), ["rb@1: 2 3 3 4", "n@2: 3 6", "g@3: 6", "a@3: 4"]);
    }

    #[test]
    fn an_unfinished_script_has_the_variables_above() {
        assert_eq!(visible("local a = 1\nlocal b = a\nf(^"), ["b", "a"]);
        assert_eq!(visible("return m({ r = function(ctx)\n\tlocal n = 3\n\thurt(ctx.foe, ^)\nend })"), ["n", "ctx"]);
        assert_eq!(
            visible("return m({ r = function(ctx)\n\tif ctx.a then\n\t\tlocal n = 1\n\tend\n\t^\nend })"),
            ["ctx"]
        );
        assert_eq!(visible("local a = ^\nlocal b = 1"), Vec::<String>::new());
        assert_eq!(visible("for _, foe in rb.each('foe') do\n\t^\nend"), ["foe", "_"]);
        assert_eq!(visible("return { f = function(x) local y = { x, \n^"), ["x"]);
        for text in [
            "local",
            "local function",
            "function(",
            "for",
            "for a",
            "if",
            "until",
            "end end",
            "local a <",
            "f(function(a",
            "local a: ",
        ] {
            drop(Scopes::of(text));
        }
    }
}
