//! The lints: each is a kind of mistake with a name, and has a file of its own.

pub(crate) mod always_true;
pub(crate) mod and_or_nil;
pub(crate) mod argument_count;
pub(crate) mod argument_member;
pub(crate) mod argument_order;
pub(crate) mod argument_type;
pub(crate) mod braces_in_quotes;
pub(crate) mod build_result;
pub(crate) mod call_of_value;
pub(crate) mod call_while_loading;
pub(crate) mod called_field;
pub(crate) mod card_parameters;
pub(crate) mod cast_fails;
pub(crate) mod change_while_reading;
pub(crate) mod changelog_version;
pub(crate) mod clamp_bounds;
pub(crate) mod conflict_copy;
pub(crate) mod dot_or_colon;
pub(crate) mod duplicate_function;
pub(crate) mod duplicate_key;
pub(crate) mod duplicate_option;
pub(crate) mod duplicate_parameter;
pub(crate) mod early_result;
pub(crate) mod empty_block;
pub(crate) mod empty_range;
pub(crate) mod empty_spec;
pub(crate) mod endless_loop;
pub(crate) mod endless_repeat;
pub(crate) mod entity_keys;
pub(crate) mod field_assignment;
pub(crate) mod field_type;
pub(crate) mod fraction;
pub(crate) mod global_variable;
pub(crate) mod hidden_option;
pub(crate) mod hook_parameters;
pub(crate) mod hook_recursion;
pub(crate) mod hook_result;
pub(crate) mod hook_skips_verb;
pub(crate) mod hook_too_late;
pub(crate) mod idle_loop;
pub(crate) mod impossible_expectation;
pub(crate) mod impossible_value;
pub(crate) mod incomplete_question;
pub(crate) mod invalid_dice;
pub(crate) mod joined_numbers;
pub(crate) mod kept_state;
pub(crate) mod list_index;
pub(crate) mod load;
pub(crate) mod loop_bound;
pub(crate) mod loop_index;
pub(crate) mod lost_field;
pub(crate) mod lost_value;
pub(crate) mod may_be_nil;
pub(crate) mod member_of_plain_value;
pub(crate) mod missing_actor;
pub(crate) mod missing_default;
pub(crate) mod missing_kind;
pub(crate) mod missing_return;
pub(crate) mod misspelt_text;
pub(crate) mod never_equal;
pub(crate) mod never_nil;
pub(crate) mod never_open;
pub(crate) mod no_relation;
pub(crate) mod no_value_yet;
pub(crate) mod odd_fact;
pub(crate) mod old_value;
pub(crate) mod operand_type;
pub(crate) mod operator_order;
pub(crate) mod options_shape;
pub(crate) mod outer_change;
mod page;
pub(crate) mod parameter_order;
pub(crate) mod past_the_end;
pub(crate) mod question_type;
pub(crate) mod quoted_variable;
pub(crate) mod regular_expression;
pub(crate) mod result_of_sort;
pub(crate) mod return_in_loop;
pub(crate) mod reversed_operator;
pub(crate) mod rule_id;
pub(crate) mod same_condition;
pub(crate) mod same_operands;
pub(crate) mod same_title;
pub(crate) mod scenario_fails;
pub(crate) mod sort_order;
pub(crate) mod spec_position;
pub(crate) mod spread_result;
pub(crate) mod stray_key;
pub(crate) mod switch_assignment;
pub(crate) mod syntax;
pub(crate) mod text_places;
pub(crate) mod unattached_hook;
pub(crate) mod uncalled_function;
pub(crate) mod unexamined;
pub(crate) mod unknown_context_member;
pub(crate) mod unknown_field;
pub(crate) mod unknown_file;
pub(crate) mod unknown_hook_value;
pub(crate) mod unknown_key;
pub(crate) mod unknown_lint;
pub(crate) mod unknown_member;
pub(crate) mod unknown_name;
pub(crate) mod unknown_option;
pub(crate) mod unknown_person;
pub(crate) mod unknown_rule;
pub(crate) mod unknown_topic;
pub(crate) mod unknown_variable;
pub(crate) mod unknown_word;
pub(crate) mod unmade_member;
pub(crate) mod unreachable_code;
pub(crate) mod unread_file;
pub(crate) mod unread_key;
pub(crate) mod unread_member;
pub(crate) mod unread_switch;
pub(crate) mod unseen_field;
pub(crate) mod untyped_verb;
pub(crate) mod unused_allow;
pub(crate) mod unused_below;
pub(crate) mod unused_result;
pub(crate) mod unused_variable;
pub(crate) mod value_count;
pub(crate) mod when_result;
pub(crate) mod wrapped_parameters;

use crate::lint::Lint;
use riskbreaker_ruleset::{Cure, nearest};

/// All lints, in the order of their names.
pub static LINTS: &[&Lint] = &[
    &always_true::LINT,
    &and_or_nil::LINT,
    &argument_count::LINT,
    &argument_member::LINT,
    &argument_order::LINT,
    &argument_type::LINT,
    &braces_in_quotes::LINT,
    &build_result::LINT,
    &call_of_value::LINT,
    &call_while_loading::LINT,
    &called_field::LINT,
    &card_parameters::LINT,
    &cast_fails::LINT,
    &change_while_reading::LINT,
    &changelog_version::LINT,
    &clamp_bounds::LINT,
    &conflict_copy::LINT,
    &dot_or_colon::LINT,
    &duplicate_function::LINT,
    &duplicate_key::LINT,
    &duplicate_option::LINT,
    &duplicate_parameter::LINT,
    &early_result::LINT,
    &empty_block::LINT,
    &empty_range::LINT,
    &empty_spec::LINT,
    &endless_loop::LINT,
    &endless_repeat::LINT,
    &entity_keys::LINT,
    &field_assignment::LINT,
    &field_type::LINT,
    &fraction::LINT,
    &global_variable::LINT,
    &hidden_option::LINT,
    &hook_parameters::LINT,
    &hook_recursion::LINT,
    &hook_result::LINT,
    &hook_skips_verb::LINT,
    &hook_too_late::LINT,
    &idle_loop::LINT,
    &impossible_expectation::LINT,
    &impossible_value::LINT,
    &incomplete_question::LINT,
    &invalid_dice::LINT,
    &joined_numbers::LINT,
    &kept_state::LINT,
    &list_index::LINT,
    &load::LINT,
    &loop_bound::LINT,
    &loop_index::LINT,
    &lost_field::LINT,
    &lost_value::LINT,
    &may_be_nil::LINT,
    &member_of_plain_value::LINT,
    &missing_actor::LINT,
    &missing_default::LINT,
    &missing_kind::LINT,
    &missing_return::LINT,
    &misspelt_text::LINT,
    &never_equal::LINT,
    &never_nil::LINT,
    &never_open::LINT,
    &no_relation::LINT,
    &no_value_yet::LINT,
    &odd_fact::LINT,
    &old_value::LINT,
    &operand_type::LINT,
    &operator_order::LINT,
    &options_shape::LINT,
    &outer_change::LINT,
    &parameter_order::LINT,
    &past_the_end::LINT,
    &question_type::LINT,
    &quoted_variable::LINT,
    &regular_expression::LINT,
    &result_of_sort::LINT,
    &return_in_loop::LINT,
    &reversed_operator::LINT,
    &rule_id::LINT,
    &same_condition::LINT,
    &same_operands::LINT,
    &same_title::LINT,
    &scenario_fails::LINT,
    &sort_order::LINT,
    &spec_position::LINT,
    &spread_result::LINT,
    &stray_key::LINT,
    &switch_assignment::LINT,
    &syntax::LINT,
    &text_places::LINT,
    &unattached_hook::LINT,
    &uncalled_function::LINT,
    &unexamined::LINT,
    &unknown_context_member::LINT,
    &unknown_field::LINT,
    &unknown_file::LINT,
    &unknown_hook_value::LINT,
    &unknown_key::LINT,
    &unknown_lint::LINT,
    &unknown_member::LINT,
    &unknown_name::LINT,
    &unknown_option::LINT,
    &unknown_person::LINT,
    &unknown_rule::LINT,
    &unknown_topic::LINT,
    &unknown_variable::LINT,
    &unknown_word::LINT,
    &unmade_member::LINT,
    &unreachable_code::LINT,
    &unread_file::LINT,
    &unread_key::LINT,
    &unread_member::LINT,
    &unread_switch::LINT,
    &unseen_field::LINT,
    &untyped_verb::LINT,
    &unused_allow::LINT,
    &unused_below::LINT,
    &unused_result::LINT,
    &unused_variable::LINT,
    &value_count::LINT,
    &when_result::LINT,
    &wrapped_parameters::LINT,
];

impl Lint {
    /// Returns the lint of that name; `None` if there is none.
    pub fn named(name: &str) -> Option<&'static Lint> {
        LINTS.iter().copied().find(|lint| lint.name == name)
    }

    /// Returns what to write in the place of a name that no lint has: a near name, or where all are listed.
    pub fn instead_of(name: &str) -> Cure {
        match nearest(name, LINTS.iter().map(|lint| lint.name)) {
            Some(near) => Cure::meant(name, near),
            None => "`riskbreaker check --explain` lists all of them".into(),
        }
    }

    /// Whether a comment can allow its findings.
    pub fn can_be_allowed(&self) -> bool {
        let always = [&load::LINT, &syntax::LINT, &unexamined::LINT, &unknown_lint::LINT, &unused_allow::LINT];
        !always.iter().any(|lint| lint.name == self.name)
    }
}
