//! The syntax tree of a script, from the parser of the script engine: the check reads exactly the language that is
//! executed.
//!
//! The engine's parser is C++. `tree.cpp` writes its tree as bytes, from which `read` makes the nodes of `tree` in
//! an arena.

mod read;
mod tree;

use std::ffi::{c_char, c_void};

use super::nesting;

pub use bumpalo::Bump as Arena;
pub use tree::{
    AstName, AstNode, AstVisitor, BinaryOp, Block, Expression, ExpressionKind, Function, Local, Location, Statement,
    StatementFunctionDeclaration, StatementIf, StatementLocal, StatementLoop, StatementNumericFor, StatementView,
    TableItem, TextPosition, TypeNode, UnaryOp,
};

/// The first syntax error of a script.
#[derive(Debug)]
pub struct SyntaxError {
    pub location: Location,
    pub message: String,
}

unsafe extern "C" {
    fn riskbreaker_syntax_tree(
        source: *const c_char,
        length: usize,
        context: *mut c_void,
        take: extern "C" fn(*mut c_void, *const c_char, usize),
    ) -> bool;
}

/// Parses a script; its nodes live in the arena.
pub fn parse<'a>(arena: &'a Arena, source: &str) -> Result<Block<'a>, SyntaxError> {
    if let Err(deep) = nesting::check(source) {
        let at = TextPosition::new(deep.line - 1, 0);
        return Err(SyntaxError { location: Location::new(at, at), message: deep.message });
    }
    let mut bytes: Vec<u8> = Vec::new();
    // SAFETY: the source and the vector outlive the call, which keeps no reference to them.
    let reads =
        unsafe { riskbreaker_syntax_tree(source.as_ptr().cast(), source.len(), (&raw mut bytes).cast(), take_bytes) };
    let mut reader = read::TreeReader::new(arena, &bytes);
    if reads { Ok(reader.root()) } else { Err(reader.error()) }
}

extern "C" fn take_bytes(context: *mut c_void, bytes: *const c_char, count: usize) {
    // SAFETY: `context` is the vector of `parse`, and `bytes` points to `count` bytes until this returns.
    unsafe { (*context.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(bytes.cast(), count)) };
}
