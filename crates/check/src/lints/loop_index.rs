//! A loop over a list uses the index as if it were the element.

use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{local_id, text};
use riskbreaker_script::syntax::{Expression, Local};

pub(crate) static LINT: Lint = Lint {
    name: "loop-index",
    severity: Severity::Error,
    summary: "a loop over a list uses the index as if it were the element",
    explanation: "A loop over a list yields the index first and the element second. Write `for _, name in` to get \
                  the element.",
    bad: Example::Resolve(
        r#"for puller in rb.each("puller") do
	rb.say("{} waits", puller)
end"#,
    ),
    good: Example::Resolve(
        r#"for _, puller in rb.each("puller") do
	rb.say("{} waits", puller)
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a loop that names only the index and uses it as the element.
    pub(crate) fn index_for_element(&mut self, table: Expression<'_>, names: &[&Local<'_>], places: bool) {
        let is_own_list = local_id(table).is_some_and(|id| self.evidence.certain(id) == Some(ValueType::List));
        if let [place] = names
            && (is_own_list && !self.evidence.is_told(place.id)
                || places && !self.evidence.is_told(place.id)
                || self.value_type(table) == Some(ValueType::List))
            && self.evidence.is_no_place(place.id)
        {
            let name = text(place.name);
            let wrong = format!("`{name}` is the index in the list, not the element");
            let change = self.inserted(place.location.begin, "_, ");
            self.cured(&LINT, place.location, (wrong, format!("write `for _, {name} in`").into()), change);
        }
    }
}
