//! The command `help`: how to play, and the meaning of a word.

use riskbreaker::names::{spelling, typed};
use riskbreaker::state::readable_name;
use riskbreaker::{Card, Refusal, Ruleset};
use serde_json::json;

use super::command::{COMMANDS, Command, Group};
use super::glossary::stands_at;
use super::inspection::rule_line;
use super::vocabulary::Vocabulary;
use super::{Complaint, Done, Repl, names};
use crate::cli::row::{Row, Span, Tone};
use crate::cli::{rule_text, rules};

/// The most cards that `help` names for a word.
const MOST_CARDS: usize = 6;

/// Words of questions that every text of rules contains.
const NO_TERMS: [&str; 54] = [
    "the", "they", "them", "their", "are", "can", "could", "how", "who", "what", "when", "where", "which", "why",
    "not", "you", "your", "does", "did", "has", "have", "had", "will", "would", "should", "shall", "may", "might",
    "this", "that", "these", "those", "there", "here", "then", "than", "with", "from", "into", "for", "and", "but",
    "all", "any", "some", "one", "get", "got", "going", "hey", "now", "again", "best", "about",
];

impl Repl {
    /// The command `help [WORD]`.
    pub(super) fn help(&mut self, rest: &str, words: &Vocabulary) -> Done {
        match rest.to_lowercase().as_str() {
            "" => return self.help_short(words),
            "all" => return self.help_list(words),
            "words" => return self.help_words(words),
            _ => {}
        }
        let word = if matches!(rest, "house rule" | "house rules") { "switches" } else { rest };
        if let Some(command) = Command::find(word) {
            self.help_command(command)?;
            // The rules may define a word with the name of the command.
            return self.show_definition(word);
        }
        if rest.parse::<usize>().is_ok() {
            let Some(option) = self.option_named(rest, false)? else {
                return Err(Complaint::Wrong(self.no_such_number(rest)));
            };
            let label = option.label.to_string();
            return match self.help_on(&label, words) {
                Some(done) => done,
                None => self.why(rest, words),
            };
        }
        if NO_TERMS.contains(&&*rest.to_lowercase()) {
            return self.help_short(words);
        }
        if let Some(done) = self.help_on(rest, words) {
            return done;
        }
        if let Some(told) = self.cards_about(rest) {
            return self.told(told);
        }
        // One of several words may be known.
        let says = |word: &str| word.chars().count() > 2 && !NO_TERMS.contains(&&*word.to_lowercase());
        let several = rest.split_whitespace().filter(|word| says(word) && *word != rest);
        let is_known = |word: &&str| self.is_defined(word) || self.only_entity(word).is_ok();
        let mut several: Vec<&str> = several.collect();
        let cards = self.session.ruleset().clone();
        let is_card = |word: &str| cards.cards().iter().any(|card| spelling(&card.title) == spelling(word));
        several.sort_by_key(|word| (!is_card(word), !is_known(word)));
        // Of a sentence, only words that mean something in the rules are explained.
        if several.len() > 1 {
            let rules = self.session.ruleset().clone();
            several.retain(|word| is_known(word) || rules::find_card(&rules, word).is_ok() || self.is_listed(word));
        }
        for word in several {
            if let Some(done) = self.help_on(word, words) {
                return done;
            }
        }
        let mut known: Vec<&str> = Command::names().collect();
        known.extend(words.cards.iter().flat_map(|(id, title)| [id.as_str(), title]));
        let lists = "`help` tells how to play, `help all` lists the commands, `cards` the cards.";
        Err(Complaint::unknown(format!("There is no help on `{rest}`."), rest, known, lists))
    }

    /// The titles of the cards whose texts contain a word.
    fn cards_about(&self, word: &str) -> Option<String> {
        let rules = self.session.ruleset();
        let is_about = |card: &&Card| stands_at(&card.title, word).or(stands_at(&card.text, word)).is_some();
        let cards = rules.cards().iter().chain(rules.items()).filter(is_about);
        let titles: Vec<&str> = cards.take(MOST_CARDS).map(|card| &*card.title).collect();
        let first = titles.first().filter(|_| word.chars().count() > 2)?;
        Some(format!("`{word}` stands on the cards {}. `help {first}` shows one.", titles.join(", ")))
    }

    /// Shows the entity with this name and the commands for it. `None` if no entity has the name.
    fn help_on_anybody(&mut self, name: &str) -> Option<Done> {
        let entity = self.only_entity(name).ok()?;
        let view = self.session.view();
        let (label, kind) = (view.label(entity).to_string(), readable_name(view.kind(entity)?));
        Some(self.told(format!(
            "{label} is in this scene ({kind}). `sheet {label}` shows the sheet, `why {label} FIELD` explains a number."
        )))
    }

    /// Explains a word of the rules. An exact name comes first: a card, a definition, a house rule. Then names that
    /// begin with the word: a card, a house rule, an act, a view, an item, a rule, a value.
    pub(super) fn help_on(&mut self, rest: &str, words: &Vocabulary) -> Option<Done> {
        let rules = self.session.ruleset().clone();
        let found = rules::find_card(&rules, rest);
        let is_named = |name: &str| spelling(name) == spelling(rest);
        let switches: Vec<&str> = rules.switches().map(|switch| &*switch.name).collect();
        if let Ok(card) = &found
            && (is_named(&card.id) || is_named(&card.title))
        {
            let shown = rules::show_card(card, &rules, &mut self.screen).map_err(Complaint::from);
            // The card may have the name of a word that the rules define.
            return Some(shown.and_then(|()| self.show_definition(rest)));
        }
        if let Some(switch) = switches.iter().find(|switch| is_named(switch)) {
            return Some(self.switches(switch));
        }
        if let Some(told) = self.help_on_topic(rest, words) {
            return Some(told);
        }
        let id = rest.trim_matches(['(', ')']);
        // A row of a table may be about a key of a data file, so the meaning in play comes first.
        let is_id = id.contains('-') || id.bytes().any(|byte| byte.is_ascii_digit());
        if !is_id
            && self.is_defined(rest)
            && let Some(shown) = self.show_meaning(rest)
        {
            return Some(shown);
        }
        if let Ok(card) = found {
            return Some(rules::show_card(card, &rules, &mut self.screen).map_err(Complaint::from));
        }
        let acts = typed(rest, || words.free.iter().flat_map(|free| [(free, &free.0), (free, &free.1)]));
        if let [(act, title)] = acts.as_slice() {
            let text = format!("{}: {title}. It can be done out of turn.", readable_name(act));
            let told = self.told(text);
            return Some(told.and_then(|()| self.show_meaning(rest).unwrap_or(Ok(()))));
        }
        let views = typed(rest, || words.views.iter().map(|view| (view, &view.0)));
        if let [(name, title)] = views.as_slice() {
            let told = self.told(format!("`{name}` shows: {title}."));
            return Some(told.and_then(|()| self.show_meaning(rest).unwrap_or(Ok(()))));
        }
        if let Some(item) = rules::find_item(&rules, rest) {
            return Some(rules::show_card(item, &rules, &mut self.screen).map_err(Complaint::from));
        }
        if !is_id && let Some(shown) = self.help_on_anybody(rest) {
            return Some(shown);
        }
        if !is_id && let Some(shown) = self.show_meaning(rest) {
            return Some(shown);
        }
        // Rows of other tables are for authors of rulesets.
        if let Some(line) = rule_line(&rules, id).filter(|_| is_id) {
            return Some(self.show_pairs("rule", &id.to_uppercase(), &[(String::new(), line)]));
        }
        if let Ok(Some(switch)) = names::one_of(rest, &switches) {
            return Some(self.switches(switch));
        }
        if let Err(refusal @ Refusal::Ambiguous { .. }) = found {
            return Some(Err(refusal.into()));
        }
        self.show_meaning(rest)
    }

    /// Explains a topic: what it asks, and the definition of the word.
    fn help_on_topic(&mut self, rest: &str, words: &Vocabulary) -> Option<Done> {
        let topic = words.topic_of(rest)?;
        let rules = self.session.ruleset().clone();
        let open = if words.is_open(&topic) { "that is open now" } else { "when it is asked" };
        // A row of several cells is for authors of rulesets.
        let row = || rule_line(&rules, &topic).filter(|line| !line.contains(" \u{b7} "));
        let what = question_in_words(&rules, &topic).or_else(row).map_or(String::new(), |line| format!(": {line}"));
        let text = format!("`{rest} ...` answers the question `{}`, {open}{what}", readable_name(&topic));
        if self.is_defined(rest) {
            // The meaning in play comes first.
            let shown = self.show_meaning(rest).unwrap_or(Ok(()));
            return Some(shown.and_then(|()| self.told(text)));
        }
        let told = self.told(text);
        Some(told.and_then(|()| self.show_meaning(rest).unwrap_or(Ok(()))))
    }

    /// Prints the definition of a word; nothing if there is none.
    fn show_definition(&mut self, word: &str) -> Done {
        if self.screen.json() {
            return Ok(());
        }
        match self.definition_of(word) {
            Some((label, text)) => {
                let cells = vec![vec![Span::plain(label), Span::plain(text)]];
                Ok(self.screen.columns(2, cells)?)
            }
            None => Ok(()),
        }
    }

    /// Prints the explanation of a word; `None` if no text of the rules contains it.
    fn show_meaning(&mut self, word: &str) -> Option<Done> {
        let entry = self.meaning_of(word)?;
        Some(self.show_pairs("meaning", word, &entry))
    }

    /// Prints a line of text, indented by two columns.
    pub(super) fn told(&mut self, text: String) -> Done {
        Ok(self.screen.row(&Row::at(2).plain(text))?)
    }

    /// Prints a short introduction that fits on a small terminal.
    fn help_short(&mut self, words: &Vocabulary) -> Done {
        if self.screen.json() {
            return self.help_list(words);
        }
        // Only open options have numbers.
        let option = words.focus().and_then(|open| open.ask.options().iter().find(|option| option.enabled));
        let example = match option {
            Some(option) => format!("1, {}", option.label.to_lowercase()),
            None => "2, yes, NAME".to_owned(),
        };
        let rows = [
            (example.as_str(), "answers the question: number, name or its beginning"),
            ("... WORD ANSWER", "answers the next question in the same line (`help words`)"),
            ("ok, pass, auto", "takes the proposal; does nothing; lets the computer choose"),
            ("look, sheet NAME", "shows the table; shows one sheet"),
            ("hint, odds ANSWER", "ranks the answers; shows what one leads to"),
            ("why, why OPTION", "explains the question and the last roll; a closed option"),
            ("help WORD", "explains a word: a card, a value, a term, a rule's id"),
            ("undo, redo", "takes the last line back; does it again"),
            ("log, cards", "what happened; what the cards say"),
            ("new, rematch", "lists the scenarios; plays this one again"),
            ("help all, quit", "lists every command; leaves (`save FILE` first)"),
        ];
        let cells = rows.iter().map(|(word, what)| vec![Span::strong(word), Span::plain(what)]).collect();
        Ok(self.screen.columns(2, cells)?)
    }

    /// Prints the small words of the rules, each with its question.
    fn help_words(&mut self, words: &Vocabulary) -> Done {
        let rules = self.session.ruleset().clone();
        let mut topics: Vec<(String, Vec<&str>)> = Vec::new();
        for (word, topic) in &words.small {
            match topics.iter_mut().find(|(known, _)| known == topic) {
                Some((_, spellings)) if spellings.contains(&word.as_str()) => {}
                Some((_, spellings)) => spellings.push(word),
                None => topics.push((topic.clone(), vec![word])),
            }
        }
        let open: Vec<&str> = words.open.iter().map(|open| open.topic.as_str()).collect();
        let pairs: Vec<(String, String)> = topics
            .iter()
            .filter(|(topic, spellings)| {
                rule_line(&rules, topic).is_some() || spellings.len() > 1 || open.contains(&topic.as_str())
            })
            .map(|(topic, spellings)| {
                let cells = rule_text::cells_of(rules.rule_texts().map(|(_, text)| text), topic).unwrap_or_default();
                // The row also has the asked seat; the longest cell is the question.
                let longest = cells.into_iter().map(|(_, cell)| cell).max_by_key(String::len);
                (spellings.join(", "), longest.unwrap_or_else(|| readable_name(topic)))
            })
            .collect();
        self.show_pairs("words", "Words to put before an answer", &pairs)
    }

    fn help_command(&mut self, command: &Command) -> Done {
        self.screen.row(&Row::at(0).strong(command.usage()).plain(format!("  {}", command.short)))?;
        if !command.also.is_empty() {
            self.screen.row(&Row::at(2).faint(format!("also: {}", command.also.join(", "))))?;
        }
        if !command.long.is_empty() {
            self.screen.row(&Row::prose(2).plain(command.long))?;
        }
        Ok(())
    }

    fn help_list(&mut self, words: &Vocabulary) -> Done {
        if self.screen.json() {
            let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
            return Ok(self.screen.event("help", &json!({ "commands": names }))?);
        }
        for group in Group::ALL {
            self.screen.row(&Row::at(0).strong(group.title()))?;
            let listed = COMMANDS.iter().filter(|command| command.group == group);
            let cells = listed.map(|command| vec![Span::plain(command.usage()), Span::plain(command.short)]).collect();
            self.screen.columns(2, cells)?;
        }
        let acts: Vec<String> = words.free.iter().map(|(act, _)| readable_name(act)).collect();
        if !acts.is_empty() {
            self.screen.row(&Row::at(0).strong("out of turn"))?;
            self.screen.row(&Row::prose(2).plain(acts.join(", ")))?;
        }
        if !words.views.is_empty() {
            self.screen.row(&Row::at(0).strong("views of this ruleset"))?;
            let cells = words.views.iter().map(|(name, title)| vec![Span::plain(name), Span::plain(title)]);
            self.screen.columns(2, cells.collect())?;
        }
        let how = "An answer needs no command: `2`, `yes`, a name or its beginning. Tab completes. `= CODE` runs Lua.";
        Ok(self.screen.row(&Row::prose(0).with(how, Tone::Faint))?)
    }
}

/// The question of a topic and its answer, from the table of questions.
fn question_in_words(rules: &Ruleset, topic: &str) -> Option<String> {
    let cells = rule_text::cells_of(rules.rule_texts().map(|(_, text)| text), topic)?;
    let cell = |wanted: &str| cells.iter().find(|(head, _)| head == wanted).map(|(_, cell)| cell.replace('`', ""));
    let asked = cell("what is asked")?;
    Some(match cell("answer") {
        Some(answer) => format!("{asked} ({answer})"),
        None => asked,
    })
}
