//! What a lint is: a name, a severity, an explanation and examples.

use riskbreaker_ruleset::Problem;

/// A kind of mistake that the check looks for.
#[derive(Debug)]
#[non_exhaustive]
pub struct Lint {
    /// The stable name, in lower case with hyphens.
    pub name: &'static str,
    /// Whether its findings fail the check.
    pub severity: Severity,
    /// What is wrong, as a clause without a full stop.
    pub summary: &'static str,
    /// One paragraph: what is wrong, why it matters, what to do instead.
    pub explanation: &'static str,
    /// Code in which the lint finds something, and nothing else is found.
    pub bad: Example,
    /// The same code without the mistake.
    pub good: Example,
}

/// How serious the findings of a lint are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The rules fail, or do something else than they say.
    Error,
    /// The rules work as they are, and can be written better. The check passes.
    Warning,
}

impl Severity {
    /// Returns `error` or `warning`.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// Code that shows a lint, in the small ruleset `tug` (`tests/rulesets/tug`).
#[derive(Debug)]
pub enum Example {
    /// Statements in the function `resolve` of a card.
    Resolve(&'static str),
    /// Entries of a card besides its id, title, text and `resolve`.
    Card(&'static str),
    /// Whole files, by their paths in the folder of the ruleset.
    Files(&'static [(&'static str, &'static str)]),
    /// No example: what the lint reports takes very large files, or an earlier version of the rules.
    None,
}

impl Example {
    /// Returns the files of the example by their paths in the folder of the ruleset.
    pub fn files(&self) -> Vec<(String, String)> {
        let card = |text| vec![("maneuvers/example.luau".to_owned(), text)];
        let head = "local rb = require(\"@riskbreaker\")\n\nreturn rb.maneuver({\n\tid = \"example\",\n\ttitle = \
                    \"Example\",\n\ttext = \"An example.\",\n";
        let indented = |text: &str, tabs: &str| text.lines().map(|line| format!("{tabs}{line}\n")).collect::<String>();
        match self {
            Example::Resolve(body) => {
                card(format!("{head}\tresolve = function(ctx)\n{}\tend,\n}})\n", indented(body, "\t\t")))
            }
            Example::Card(entries) => {
                let resolve = "\tresolve = function(ctx)\n\t\trb.say(\"{} acts\", ctx.actor)\n\tend,\n})\n";
                card(format!("{head}{}{resolve}", indented(entries, "\t")))
            }
            Example::Files(files) => {
                files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
            }
            Example::None => Vec::new(),
        }
    }
}

impl Lint {
    /// Makes a problem of a file or a ruleset, which this lint finds.
    pub(crate) fn problem(&self, path: impl Into<String>, message: impl Into<String>) -> Problem {
        self.finds(Problem::new(path, message))
    }

    /// Marks a problem as found by this lint.
    pub(crate) fn finds(&self, problem: Problem) -> Problem {
        let problem = problem.with_lint(self.name);
        match self.severity {
            Severity::Error => problem,
            Severity::Warning => problem.as_warning(),
        }
    }
}
