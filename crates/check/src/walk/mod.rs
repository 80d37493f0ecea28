//! Reads one script from its first statement to its last, and asks the lints about each part of it.
//!
//! The files add methods to [`ScriptReader`](crate::reader::ScriptReader), each for one part of the syntax.

mod argument;
mod brackets;
mod calls;
mod change;
mod declared;
mod expression;
mod field;
mod member;
mod old_form;
mod pattern;
mod question;
mod script;
mod slip;
mod spec;
mod statement;
mod word;
