//! No question has that topic.

use std::collections::BTreeSet;

use crate::lint::{Example, Lint, Severity};
use crate::misspelling::is_slip;
use crate::place::line_from;
use crate::reader::ScriptReader;
use crate::symbols::known::KnownNames;
use crate::syntax::{constant, literal};
use riskbreaker_ruleset::{
    Card, Cure, Library, Param, ParamType, Problem, Rulebook, Stack, instead, instead_or, likeliest,
};
use riskbreaker_script::syntax::{Expression, Location};
use riskbreaker_state::{Schema, State};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-topic",
    severity: Severity::Error,
    summary: "no question has that topic",
    explanation: "Policies, specs, the prompt and recaps know a question by its topic. A topic that no question \
                  has is never asked, so the code that depends on it never runs. Correct the topic, or give it to \
                  a question.",
    bad: Example::Files(&[(
        "policies/calm.luau",
        r#"local rb = require("@riskbreaker")

return rb.policy({
	id = "calm",
	answer = function(q)
		if q.topic == "crad" then
			return "pull"
		end
		return rb.pick(q, 3)
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "policies/calm.luau",
        r#"local rb = require("@riskbreaker")

return rb.policy({
	id = "calm",
	answer = function(q)
		if q.topic == "card" then
			return "pull"
		end
		return rb.pick(q, 3)
	end,
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a topic that occurs nowhere else and is one letter away from another topic.
    ///
    /// An added letter does not count: a new question may well have the topic `whom` beside `who`.
    pub(crate) fn misspelt_topic(&mut self, place: Expression<'_>) {
        if let Some((rules, topic)) =
            self.known.rules.zip(literal(place)).filter(|(rules, _)| !rules.declared_topics().is_empty())
            && self.declares_topics()
        {
            if rules.declared_topic(&topic).is_none() {
                let declared = || rules.declared_topics().iter().map(|param| &*param.name);
                // A declared topic that no question has is most likely the one that is meant.
                let mut unasked = declared().filter(|other| self.known.names.asked_by(other).is_none());
                let only = unasked.next().filter(|_| unasked.next().is_none());
                // What policies, specs or the prompt name as well is right here, and wrong in play.luau.
                if self.known.names.times(&topic) > 1
                    && likeliest(&topic, declared()).is_none_or(|near| Some(near) == only)
                {
                    let cure = match only {
                        Some(only) => {
                            format!("write `{topic}` for `{only}` in `topics` of play.luau: no question has that")
                        }
                        None => format!("declare it in play.luau: topics = {{ {topic} = rb.text() }}"),
                    };
                    let wrong = format!("play.luau declares no topic `{topic}`");
                    return self.problem(&LINT, place.location(), (wrong, cure.into()));
                }
                let cure = match (likeliest(&topic, declared()), only) {
                    (Some(near), _) | (None, Some(near)) => Cure::meant(topic.as_str(), near),
                    (None, None) => format!("declare it in play.luau: topics = {{ {topic} = rb.text() }}").into(),
                };
                self.problem(&LINT, place.location(), (format!("play.luau declares no topic `{topic}`"), cure));
            }
            return;
        }
        let names = &self.known.names;
        let Some(topic) = literal(place).filter(|topic| names.times(topic) <= 1 && !names.is_key(topic)) else {
            return;
        };
        let near = names
            .topics()
            .iter()
            .find(|other| names.times(other) > 0 && is_slip(&topic, other) && other.len() >= topic.len());
        if let Some(near) = near.filter(|_| names.said(&topic) == 0) {
            let wrong = format!("the topic `{topic}` stands nowhere else");
            self.problem(&LINT, place.location(), (wrong, Cure::meant(topic.as_str(), near)));
        }
    }

    /// Whether the `play.luau` beside this script declares topics. Rules over others may ask questions of their own.
    fn declares_topics(&self) -> bool {
        let part = self.known.stack.parts().get(self.part);
        part.is_some_and(|part| self.known.text_of(&format!("{}/play.luau", part.id())).contains("topics"))
    }

    /// Reports a topic in a spec that no question has. Where play.luau does not list the topics, it must be near to one, since a
    /// topic may be computed.
    pub(crate) fn topic(&mut self, topic: &str, at: Location) {
        let (names, topics) = (&self.known.names, self.topics());
        if topics.iter().any(|known| known == topic) || names.times(topic) > 0 {
            return;
        }
        let wrong = format!("no question has the topic `{topic}`");
        match self.known.nearest(topic, topics.iter().map(String::as_str)) {
            Some(near) => self.problem(&LINT, at, (wrong, Cure::meant(topic, near))),
            None if self.lists_topics() && self.known.rules.is_some_and(|rules| !rules.may_ask(topic)) => {
                self.problem(&LINT, at, (wrong, self.known.instead(topic, &topics)));
            }
            None => {}
        }
    }

    /// The same for the topic of an answer: one whose question takes such an answer, and that has none yet, is meant.
    pub(crate) fn answered_topic(
        &mut self,
        (topic, at): (&str, Location),
        answer: Expression<'_>,
        is_answered: impl Fn(&str) -> bool,
    ) {
        let found = self.found.len();
        self.topic(topic, at);
        let Some(given) = constant(answer).filter(|_| self.found.len() > found) else { return };
        let declared = self.known.rules.map(|rules| rules.declared_topics()).unwrap_or_default();
        let takes = |param: &&Param| match (&param.ty, &given) {
            (ParamType::Value(ty), given) => ty.check(given, &Schema::default(), &State::new()).is_ok(),
            _ => false,
        };
        let free = declared.iter().filter(|param| !is_answered(&param.name));
        let mut taking = free.filter(takes);
        let Some(only) = taking.next().filter(|_| taking.next().is_none()) else { return };
        if let Some(problem) = self.found.last_mut()
            && !matches!(problem.cure, Some(Cure::Meant { .. }))
        {
            problem.cure = Some(Cure::meant(topic, &*only.name));
        }
    }

    /// The topics that questions have, and those that are declared.
    fn topics(&self) -> Vec<String> {
        let declared = self.known.rules.map(|rules| rules.declared_topics()).unwrap_or_default();
        let asked = self.known.names.topics().iter().cloned();
        let all: BTreeSet<String> = asked.chain(declared.iter().map(|param| param.name.clone())).collect();
        all.into_iter().collect()
    }

    /// Whether some play.luau lists the topics.
    fn lists_topics(&self) -> bool {
        self.known.rules.is_some_and(|rules| !rules.declared_topics().is_empty())
    }

    /// Reports a comparison of a topic with a text that is the topic of no question. Where play.luau does not list the topics, the
    /// text must be near to one, since a topic may be computed.
    pub(crate) fn topic_is_never(&mut self, given: &str, at: Location) {
        let names = &self.known.names;
        let topics = self.topics();
        // A layer may compute a topic of its own, which then stands in another place.
        let is_listed = self.lists_topics() && names.times(given) <= 1;
        let is_never = is_listed || self.known.nearest(given, topics.iter().map(String::as_str)).is_some();
        if is_never && !topics.iter().any(|topic| topic == given) {
            self.problem(
                &LINT,
                at,
                (format!("no question has the topic \"{given}\""), self.known.instead(given, &topics)),
            );
        }
    }
}

/// Returns the problems of words of the prompt whose topic no question has. A ruleset that others extend may leave the
/// questions to them.
pub(crate) fn words_for_nothing(
    library: &Library,
    stack: &Stack,
    own: usize,
    (rules, known): (&Rulebook, &KnownNames<'_>),
) -> Vec<Problem> {
    let topics = known.names.topics();
    let mut found = Vec::new();
    for part in &stack.parts()[own..] {
        for (word, topic) in &part.manifest().words {
            let is_near = || known.nearest(topic, topics.iter().map(String::as_str)).is_some();
            // Where play.luau lists the topics, a text in some script is not enough.
            let may_ask = || match rules.declared_topics() {
                [] => rules.may_ask(topic),
                declared => declared.iter().any(|param| param.name == **topic),
            };
            // The word may be meant for a card.
            let is_asked = topics.contains(topic) || may_ask() || rules.card(topic).is_some();
            if is_asked || (!is_near() && is_extended(library, part.id())) {
                continue;
            }
            let path = part.manifest_path();
            let line = line_from(stack, &path, 1, &format!("{word} = \"{topic}\""));
            let message = format!("the word `{word}` answers `{topic}`, and no question has that topic");
            // A word that is itself a topic, which no other word answers, answers that.
            let is_free = topics.contains(&**word) && part.manifest().words.iter().all(|(_, other)| **other != **word);
            let cure = match is_free {
                true => Cure::meant_text(&**topic, &**word),
                false => instead(topic, topics.iter().map(String::as_str)),
            };
            found.push(LINT.problem(path, message).at((line, 1)).with_cure(cure));
        }
    }
    found
}

fn is_extended(library: &Library, id: &str) -> bool {
    let extends =
        |other: &String| library.manifest(other).is_ok_and(|other| other.extends.is_some_and(|base| base.id == id));
    library.ids().iter().any(extends)
}

/// Names in the sentences of a recap that are topics of no question.
pub(crate) fn unasked_topics(stack: &Stack, rules: &Rulebook) -> Vec<Problem> {
    let told: Vec<(&Card, &str)> =
        rules.cards().iter().flat_map(|card| card.recap.topics().map(move |topic| (card, topic))).collect();
    if told.is_empty() {
        return Vec::new();
    }
    let topics = rules.topics();
    let unasked = told.into_iter().filter(|(_, topic)| !topics.contains(*topic));
    unasked
        .filter_map(|(card, topic)| {
            let message = format!("`recap` names `{{{topic}}}`, and no question has this topic");
            let known = topics.iter().map(String::as_str).chain(["actor", "other"]);
            let otherwise = "name the topic of a question of the card, `{actor}` or `{other}`";
            let cure = match topic {
                "player" | "character" | "self" | "who" | "name" | "user" => Cure::meant(topic, "actor"),
                "target" | "foe" | "opponent" | "enemy" | "victim" => Cure::meant(topic, "other"),
                _ => match asked_in(stack, card).as_slice() {
                    [only] if likeliest(topic, known.clone()).is_none() => Cure::meant(topic, only.as_str()),
                    _ => instead_or(topic, known, otherwise),
                },
            };
            let (path, said) = (card.origins.get("recap")?, format!("{{{topic}}}"));
            let line = 1 + stack.text_of(path)?.lines().position(|line| line.contains(&said))?;
            Some(LINT.problem(path.as_str(), message).at((line as u32, 1)).with_cure(cure))
        })
        .collect()
}

/// The topics of the questions that the file of a card asks.
fn asked_in(stack: &Stack, card: &Card) -> Vec<String> {
    let text = card.origins.get("recap").and_then(|path| stack.text_of(path)).unwrap_or_default();
    let topics = text.split("topic = \"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut topics: Vec<String> = topics.map(str::to_owned).collect();
    topics.dedup();
    topics
}
