//! The symbol table: what the files of a ruleset declare, and the names that scripts may use.

pub(crate) mod asked;
pub(crate) mod card_functions;
pub(crate) mod entity_lists;
pub(crate) mod file_names;
pub(crate) mod given_words;
pub(crate) mod known;
pub(crate) mod misnumbered;
pub(crate) mod names;
pub(crate) mod result_type;
pub(crate) mod signature;
pub(crate) mod surroundings;
pub(crate) mod uses;
