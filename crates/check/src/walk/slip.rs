//! Reads texts that may be misspelt.

use crate::reader::ScriptReader;
use crate::syntax::listed;
use riskbreaker_script::syntax::Expression;

impl ScriptReader<'_> {
    /// Reports a misspelt text argument of a ruleset function, or one in a list.
    ///
    /// An added letter does not count, because names such as `whom` beside `who` often occur once.
    pub(crate) fn slip_in_call(&mut self, value: Expression<'_>) {
        listed(value).for_each(|one| self.slip_in_call(one));
        self.slip_for(value, |word, other| other.len() >= word.len());
    }

    /// Reports a misspelt text that occurs nowhere else.
    pub(crate) fn slip(&mut self, value: Expression<'_>) {
        self.slip_for(value, |_, _| true);
    }
}
