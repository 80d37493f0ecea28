use std::ops::{Deref, DerefMut};

use riskbreaker::Session;

/// The game at the prompt: here, except while a Lua program has it.
pub struct SessionSlot(Option<Session>);

const HERE: &str = "a game comes back from every loan";

impl SessionSlot {
    pub fn new(session: Session) -> SessionSlot {
        SessionSlot(Some(session))
    }

    /// Lends the game out; it has to be given back before anything else is done with it.
    pub fn lend(&mut self) -> Session {
        self.0.take().expect(HERE)
    }

    pub fn give_back(&mut self, session: Session) {
        self.0 = Some(session);
    }
}

impl Deref for SessionSlot {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.0.as_ref().expect(HERE)
    }
}

impl DerefMut for SessionSlot {
    fn deref_mut(&mut self) -> &mut Session {
        self.0.as_mut().expect(HERE)
    }
}
