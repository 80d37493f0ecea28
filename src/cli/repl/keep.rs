//! Writing a game to a file and going on with it.

use std::fs;
use std::io;
use std::path::Path;

use riskbreaker::Session;
use serde_json::json;

use super::lent::Lent;
use super::{Complaint, Done, Repl};
use crate::cli::report::system;
use crate::cli::row::Row;

impl Repl {
    /// `save`: writes the game to a file, whole or not at all.
    pub(super) fn save(&mut self, rest: &str) -> Done {
        let path = file(rest)?;
        let text = self.session.save();
        // The old file stays until the new one is all there.
        let draft = path.with_extension("part");
        let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, path));
        if let Err(error) = written {
            let _ = fs::remove_file(&draft);
            return Err(Complaint::Wrong(format!("{} cannot be written: {}", path.display(), system(&error))));
        }
        self.say_done(&format!("saved in {}", path.display()))
    }

    /// `load`: leaves this game for a saved one.
    pub(super) fn load(&mut self, rest: &str) -> Done {
        let path = file(rest)?;
        let unreadable =
            |error: io::Error| Complaint::Wrong(format!("{} cannot be read: {}", path.display(), system(&error)));
        let text = fs::read_to_string(path).map_err(unreadable)?;
        let session = Session::load(&self.library, &text)
            .map_err(|error| Complaint::Wrong(format!("{}: {error}", path.display())))?;
        self.session = Lent::new(session);
        self.done.clear();
        self.undone.clear();
        self.look_out_anew();
        self.turned = true;
        self.machine = None;
        self.asked = None;
        self.focus = None;
        self.say_done(&format!("{} from {}", self.session.ruleset().id(), path.display()))?;
        self.session.take_events();
        self.settle()
    }

    fn say_done(&mut self, text: &str) -> Done {
        if self.screen.json() {
            return Ok(self.screen.event("done", &json!({ "text": text }))?);
        }
        Ok(self.screen.row(&Row::at(2).plain(text))?)
    }
}

fn file(rest: &str) -> Result<&Path, Complaint> {
    let name = rest.trim_matches('"');
    if name.is_empty() {
        return Err(Complaint::wrong("a file is wanted: `save evening.json`"));
    }
    Ok(Path::new(name))
}
