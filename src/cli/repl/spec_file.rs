//! The command `spec`: writes the played game as a spec.

use riskbreaker::spec::spec_of_game;
use serde_json::json;

use super::{Complaint, Done, Repl};
use crate::cli::row::{Row, Tone};
use crate::cli::test::write_spec;

/// The folder under `specs` for these specs.
const FOLDER: &str = "played";

/// The most letters of a file name.
const LONGEST_STEM: usize = 40;

impl Repl {
    /// The command `spec [NAME]`: writes the game so far as a spec that holds.
    pub(super) fn write_spec(&mut self, name: &str) -> Done {
        if !self.masters() {
            return Err(Complaint::wrong(
                "A spec has every die and every answer, so only the game master can write one.",
            ));
        }
        if self.session.decision_count().total() == 0 {
            return Err(Complaint::wrong(
                "Nothing was decided yet. Play first, then `spec NAME` writes what was played.",
            ));
        }
        let rules = self.session.ruleset().clone();
        let name = if name.is_empty() { format!("a game of {}", rules.title()) } else { name.to_owned() };
        let spec = spec_of_game(&self.session, &name);
        let target = write_spec(&self.library, &rules, FOLDER, &stem_of(&name), &spec);
        let target = target.map_err(|error| Complaint::Wrong(error.to_string()))?;
        let Some(target) = target else {
            return Ok(self.screen.verbatim(&spec)?);
        };
        if self.screen.json() {
            return Ok(self.screen.event("written", &json!({ "path": target.display().to_string() }))?);
        }
        Ok(self.screen.row(&Row::at(2).with("new  ", Tone::Good).plain(target.display().to_string()))?)
    }
}

/// The file name of a spec, from the letters of its name.
fn stem_of(name: &str) -> String {
    let letters = name.to_lowercase();
    let words = letters.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let stem: String = words.collect::<Vec<_>>().join("_").chars().take(LONGEST_STEM).collect();
    if stem.is_empty() { "game".into() } else { stem.trim_end_matches('_').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_file_is_named_after_its_spec() {
        assert_eq!(stem_of("TUG-1: Nobody pulls, ever!"), "tug_1_nobody_pulls_ever");
        assert_eq!((stem_of("ü"), stem_of(&"ab ".repeat(20)).len()), ("game".into(), 40));
    }
}
