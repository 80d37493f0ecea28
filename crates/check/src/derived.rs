//! What the derived values of a ruleset give, for the types of editors and for the reference.

use crate::analysis::{Analysis, on_large_stack};
use crate::inference::value_type::ValueType;
use crate::report::CheckReport;
use crate::symbols::file_names::FileNames;
use crate::symbols::names::NamesOfFiles;
use riskbreaker_ruleset::Rulebook;
use riskbreaker_script::{DerivedForm, DerivedType, DerivedTypes};
use riskbreaker_work::WorkBudget;

/// Returns what the derived values of a ruleset give, as far as the check can know it: that of a sum, a comparison, a text,
/// a list or a reference, also by way of other functions of the ruleset. Empty if the ruleset is too large to be read.
pub fn derived_types(rules: &Rulebook) -> DerivedTypes {
    let budget = WorkBudget::new(CheckReport::WORK);
    let read =
        || FileNames::collect(rules.stack(), Some(rules.schema()), &budget, None).map(|(names, _)| types_of(&names));
    on_large_stack(read).unwrap_or_default()
}

impl Analysis {
    /// Returns what the derived values give, as [`derived_types`] does.
    pub fn derived_types(&self) -> DerivedTypes {
        self.names.as_deref().map(types_of).unwrap_or_default()
    }
}

fn types_of(names: &NamesOfFiles) -> DerivedTypes {
    let of_one = |(name, ty, optional): (&str, ValueType, bool)| {
        Some((name.to_owned(), DerivedType { form: form_of(ty)?, optional }))
    };
    names.derived_values().filter_map(of_one).collect()
}

fn form_of(ty: ValueType) -> Option<DerivedForm> {
    match ty {
        ValueType::Number | ValueType::Sum => Some(DerivedForm::Number),
        ValueType::Text => Some(DerivedForm::Text),
        ValueType::Truth => Some(DerivedForm::Boolean),
        ValueType::Entity => Some(DerivedForm::Entity),
        ValueType::List => Some(DerivedForm::List),
        ValueType::Table | ValueType::Record | ValueType::Function | ValueType::Attached => None,
    }
}
