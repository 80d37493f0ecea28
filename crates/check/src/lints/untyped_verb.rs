//! A verb names its parameters without types.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{listed, listed_texts};
use riskbreaker_script::syntax::{Expression, Function, Location};

pub(crate) static LINT: Lint = Lint {
    name: "untyped-verb",
    severity: Severity::Warning,
    summary: "a verb names its parameters without types",
    explanation: "A verb that declares types is checked at each call, names the line of the caller, and is known \
                  to editors and to the reference. The form without types still works. In an editor, one action \
                  rewrites the whole file.",
    bad: Example::Files(&[(
        "verbs.luau",
        r#"local rb = require("@riskbreaker")

return rb.verbs({
	move_rope = rb.verb({ "rope", "by", "who" }, function(rope, by, who)
		rope:add("at", by)
		if math.abs(rope.at) >= rb.switches.wins_at then
			rb.finish("{} has won", who)
		end
	end),
})
"#,
    )]),
    good: Example::Files(&[(
        "verbs.luau",
        r#"local rb = require("@riskbreaker")

return rb.verbs({
	move_rope = rb.verb({ { "rope", rb.ref("rope") }, { "by", rb.int() }, { "who", rb.ref("puller") } }, function(rope, by, who)
		rope:add("at", by)
		if math.abs(rope.at) >= rb.switches.wins_at then
			rb.finish("{} has won", who)
		end
	end),
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Warns of a verb that declares its parameters by name alone, and notes how it is written with types.
    pub(crate) fn without_types(&mut self, params: Expression<'_>, run: Option<&Function<'_>>) {
        let names: Vec<String> = listed_texts(params).map(|(name, _)| name).collect();
        let Some(verb) = self.keys.last().cloned() else { return };
        if names.is_empty() || names.len() != listed(params).count() {
            return;
        }
        let entries: Vec<String> = names.iter().enumerate().map(|(at, _)| self.entry(&verb, &names, at, run)).collect();
        let at = params.location();
        let line = format!("{{ {} }}", entries.join(", "));
        if self.text[self.bytes_of(at)].contains("--") {
            // The comments between the names stay where they are.
            let places: Vec<Location> = listed_texts(params).map(|(_, at)| at).collect();
            let changed: Vec<_> =
                places.iter().zip(&entries).map(|(at, new)| (self.bytes_of(*at), new.clone())).collect();
            self.rewrites.extend(changed);
        } else {
            self.rewrites.push((self.bytes_of(at), self.written_out(&line, &entries, at)));
        }
        let message = format!("the parameters of the verb `{verb}` have no types");
        let place = crate::syntax::place_in(self.text, at.begin);
        let cure = format!("write rb.verb({line}, ...)");
        self.found.push(LINT.problem(self.full_path(), message).at(place).with_cure(cure));
    }

    /// The parameters with the sentence of the comment above the verb, in one line or in several.
    pub(crate) fn written_out(&self, line: &str, entries: &[String], at: Location) -> String {
        let above = self.text.lines().take(at.begin.line as usize);
        let above: Vec<&str> = above.collect::<Vec<_>>().into_iter().rev().map_while(comment).collect();
        let comment = above.into_iter().rev().collect::<Vec<_>>().join(" ");
        let sentence = sentence_of(&comment);
        if sentence.is_empty() {
            return line.to_string();
        }
        let told = format!("text = \"{}.\"", sentence.replace('\\', "\\\\").replace('"', "\\\""));
        let short = format!("{{ {told}, {} }}", entries.join(", "));
        if at.begin.column as usize + short.len() <= WIDEST {
            return short;
        }
        let source = self.text.lines().nth(at.begin.line as usize).unwrap_or_default();
        let indent = &source[..source.len() - source.trim_start().len()];
        let lines: String = [told].iter().chain(entries).map(|entry| format!("{indent}\t{entry},\n")).collect();
        format!("{{\n{lines}{indent}}}")
    }
}

/// The first sentence of a comment, without its full stop; the ids of rules are no sentence.
fn sentence_of(comment: &str) -> &str {
    let is_id = |word: &str| {
        word.contains('-') && word.chars().all(|letter| letter.is_ascii_uppercase() || "-0123456789".contains(letter))
    };
    let are_ids = |piece: &&str| piece.split([' ', ',']).filter(|word| !word.is_empty()).all(is_id);
    let sentences = comment.split(". ").map(|piece| piece.trim().trim_end_matches('.'));
    sentences.into_iter().find(|piece| !piece.is_empty() && !are_ids(piece)).unwrap_or_default()
}

/// A line with more columns is split.
const WIDEST: usize = 100;

/// What a line says, if it is a comment.
fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("--").map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_of_rules_are_no_sentence() {
        for (comment, sentence) in [
            ("MG-4. Harms somebody. And more.", "Harms somebody"),
            ("MG-4, MG-5.", ""),
            ("Moves the rope.", "Moves the rope"),
            ("By A-1 it moves", "By A-1 it moves"),
            ("", ""),
        ] {
            assert_eq!(sentence_of(comment), sentence, "{comment}");
        }
    }
}
