//! What an observer of finished operations implements.

use super::op::Op;

/// An observer of finished operations. It matches [`Op`] exhaustively, or counts only what it names.
pub trait Observer {
    /// Notices a finished operation.
    fn observe(&mut self, op: &Op);
}
