use std::collections::BTreeSet;

use super::Analysis;
use super::analysis::on_large_stack;
use super::known::KnownNames;
use super::script::ScriptReader;
use super::symbol::Symbol;
use super::syntax::text;
use super::value_type::ValueType;
use riskbreaker_play::Ruleset;
use riskbreaker_ruleset::Source;
use riskbreaker_script::syntax::{Expression, ExpressionKind};
use riskbreaker_work::WorkBudget;

/// What can be read off an expression, for the completion of an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Members {
    /// Fields, derived values and methods of entities: of one kind, or of all if it is not known.
    Entity(Option<String>),
    /// What a required file returns: names, and the parameters of those that are functions.
    Module(Vec<(String, Option<Vec<String>>)>),
    /// What a hook is given at a verb: the parameters, and `result`.
    Event(Vec<String>),
    /// Something attached: its owner, its hook and its data.
    Attached,
    /// The question that a policy answers.
    Question,
    /// The context of a card: what scripts read off one.
    Context(Vec<String>),
    /// The data of an attachment, by the names that its hook declares.
    Data(Vec<String>),
    /// A value without members, such as a number.
    Nothing,
}

impl Members {
    /// The name that stands where something is to be completed.
    pub const MARK: &str = "__completed";
}

impl Analysis {
    /// What can be read off the expression before [`Members::MARK`] in a text of one file. The path begins with the ruleset's id.
    /// `None` if that is not known, or if the text is not valid Luau.
    pub fn members_at(&self, path: &str, text: &str, budget: &WorkBudget) -> Option<Members> {
        let (stack, names) = (self.stack.as_ref()?, self.names.as_ref()?);
        let (part, inside) = stack.part_of(path)?;
        let source = Source::read(path, text.as_bytes()).ok()?;
        on_large_stack(|| {
            let names = names.with_script(inside, path, &source.text);
            let book = self.rules.as_deref().map(Ruleset::book);
            let known = KnownNames::with_names(stack, book, names, budget);
            let mut reader = ScriptReader::new(&known, part, inside, &source);
            reader.read();
            reader.members
        })
    }
}

impl ScriptReader<'_> {
    /// What can be read off an expression; `None` if nothing is known of it.
    pub(super) fn members_of(&self, of: Expression<'_>) -> Option<Members> {
        let symbol = self.symbol(of);
        match symbol {
            Some(Symbol::Entity(Some(kind))) => Some(Members::Entity(Some(kind))),
            Some(Symbol::Entity(None)) => Some(Members::Entity(self.kind_by_name(of))),
            Some(Symbol::Module(path)) => {
                let members = self.known.names.module(&path)?.members.iter();
                let named = members
                    .map(|(name, function)| (name.clone(), function.as_ref().map(|function| function.params.clone())));
                Some(Members::Module(named.collect()))
            }
            Some(Symbol::Event(verb)) => {
                let verb = self.known.rules?.verb(&verb)?;
                Some(Members::Event(verb.names().map(str::to_owned).chain(["result".to_owned()]).collect()))
            }
            Some(Symbol::Holder) => Some(Members::Attached),
            Some(Symbol::Question) => Some(Members::Question),
            Some(Symbol::Entities(_) | Symbol::Switch(_)) => Some(Members::Nothing),
            Some(Symbol::Vocabulary | Symbol::Word(_) | Symbol::Library(_) | Symbol::Spec) => None,
            Some(Symbol::HookData(hook)) => {
                let data = self.known.rules?.hook_data(&hook)?;
                Some(Members::Data(data.iter().map(|param| param.name.clone()).collect()))
            }
            Some(Symbol::Context) => Some(self.members_of_context()),
            None if matches!(of.kind(), ExpressionKind::Local { local, .. } if local.name == "ctx") => {
                Some(self.members_of_context())
            }
            None => match self.value_type(of) {
                Some(ValueType::Entity) => Some(Members::Entity(self.kind_by_name(of))),
                Some(ValueType::Number | ValueType::Truth | ValueType::Function | ValueType::List) => {
                    Some(Members::Nothing)
                }
                Some(ValueType::Sum | ValueType::Text | ValueType::Table | ValueType::Record) => None,
                Some(ValueType::Attached) => Some(Members::Attached),
                None => self.kind_by_name(of).map(|kind| Members::Entity(Some(kind))),
            },
        }
    }

    /// The members of the context of a card: those that the ruleset declares, and others that scripts read.
    fn members_of_context(&self) -> Members {
        let declared = self.known.rules.map_or(&[][..], |rules| rules.context());
        let declared = declared.iter().map(|param| param.name.clone());
        let read = self.known.names.read_off("ctx").filter(|name| *name != Members::MARK).map(str::to_owned);
        let names: BTreeSet<String> = declared.chain(read).collect();
        Members::Context(names.into_iter().collect())
    }

    /// The kind that the name of a variable or a member is.
    fn kind_by_name(&self, of: Expression<'_>) -> Option<String> {
        let name = match of.kind() {
            ExpressionKind::Local { local, .. } => text(local.name),
            ExpressionKind::IndexName { index, .. } => text(index),
            ExpressionKind::Grouped(inner) => return self.kind_by_name(inner),
            _ => return None,
        };
        self.known.kind(&name).map(|kind| kind.name.to_string())
    }
}
