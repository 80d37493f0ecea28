//! Refused answers: explains what is wrong with a line, and suggests a line that works.

use std::sync::Arc;

use riskbreaker::names::{fold, spelling};
use riskbreaker::ruleset::nearest;
use riskbreaker::state::readable_name;
use riskbreaker::{Ask, Choice, Event, Happening, Question, Refusal, Ruleset, Step, Value};

use super::act::{MOST_RETYPED, is_blind_number, longest_answer, replies_of};
use super::glossary::stands_at;
use super::guess::is_idle;
use super::line::{Phrase, split_first};
use super::question::with_capital;
use super::reader::{
    by_ordinal, is_command, synonyms_of, with_commas, with_synonym, without_articles, without_manners,
};
use super::vocabulary::after;
use super::{Complaint, Done, Repl};
use crate::cli::rule_text::without_ids;
use crate::cli::rules::find_card;

/// The most questions between an option and a number that is typed after it.
const MOST_BETWEEN: usize = 4;

/// A typed line of answers, for the message that refuses it.
#[derive(Clone)]
pub(super) struct TypedAnswers {
    /// The free act at the start of the line; empty if there is none.
    pub act: String,
    pub head: String,
    pub named: Vec<(String, Phrase)>,
}

impl TypedAnswers {
    /// The line with `answer` before its answers. `word_of` returns the typed word of a topic.
    fn with_first(&self, answer: &str, word_of: impl Fn(&str) -> String) -> String {
        let named = self.named.iter().flat_map(|(topic, phrase)| [word_of(topic), phrase.text.clone()]);
        let words = [&*self.act, answer, &self.head].map(str::to_owned).into_iter().chain(named);
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// The most options that a message names for a word.
const MOST_ABOUT: usize = 3;

/// The word with which a topic is typed: its own name if that is a small word of the rules, or else another one.
pub(super) fn word_of(rules: &Ruleset, topic: &str) -> String {
    let own =
        rules.words().iter().find(|(word, of)| *of == topic && !rules.words().contains_key(topic) && *word != topic);
    own.map_or_else(|| readable_name(topic), |(word, _)| word.clone())
}

/// Adds a full stop unless the text ends with punctuation.
pub(super) fn ended(text: &str) -> String {
    // Rule ids at the end of a sentence are not printed.
    let plain = without_ids(text);
    if plain.trim_end().ends_with(['?', '.', '!']) { text.to_owned() } else { format!("{text}.") }
}

/// The most options that a message lists.
const MOST_LISTED: usize = 8;

/// The refusal of a name that is no option of the questions after `option`: the most similar name, or the list of the
/// first question with a choice. `None` if that question takes other answers than its list, or if the list is too long.
fn named_wrongly(next: &[Question], option: &str, given: &str, act: &str) -> Option<Complaint> {
    let line = |name: &str| format!("{act} {option} {name}").trim_start().to_owned();
    let open = |question: &Question| -> Vec<Arc<str>> {
        let options = question.ask.options().iter().filter(|option| option.enabled);
        options.map(|option| option.label.clone()).collect()
    };
    let near = next.iter().find_map(|next| nearest(given, open(next).iter().map(|label| &**label)).map(str::to_owned));
    if let Some(near) = near {
        return Some(Complaint::Wrong(format!("No answer there is called `{given}`. Did you mean `{}`?", line(&near))));
    }
    let choice = next.iter().find(|next| !matches!(&next.ask, Ask::Choose { .. }) || open(next).len() > 1)?;
    let listed = open(choice);
    if !matches!(&choice.ask, Ask::Choose { other: false, .. }) || listed.len() > MOST_LISTED {
        return None;
    }
    let all = listed.join(", ");
    let example = line(&listed[0]);
    let text = format!("No answer there is called `{given}`. Choose from: {all}. Type for example `{example}`.");
    Some(Complaint::Unread(text))
}

/// An example of an answer to a question, in the typed form.
pub(super) fn example_of(question: &Question) -> Option<String> {
    let open = question.ask.options().iter().find(|option| option.enabled);
    let text = match (&question.ask, open) {
        (Ask::Number { min, .. }, _) => min.to_string(),
        (Ask::Confirm, _) => "yes".to_owned(),
        (_, Some(option)) => option.label.to_string(),
        (_, None) => question.tell(question.default.as_ref()?),
    };
    question.read_typed(&text.as_str().into()).is_ok().then_some(text)
}

impl Repl {
    /// Executes a line. If it is refused, tries it as a sentence, and with its first word replaced by the options' word
    /// for it.
    pub(super) fn carry_out_or_reread(&mut self, line: &str) -> Done {
        let before = self.session.decision_count();
        let mut complaint = match self.carry_out_as_typed(line) {
            Err(complaint @ (Complaint::Wrong(_) | Complaint::Unread(_) | Complaint::Refused(_))) => complaint,
            done => return done,
        };
        // A sentence is refused as typed, but its contents may be known.
        let plain = without_manners(line);
        let short = plain.as_deref().unwrap_or(line);
        let words = self.words();
        // A verb of an open card means this card and no other.
        let has_verb = words.with_option_of_verb(short).is_some();
        // `go prone` names another option than `move`.
        let known = with_synonym(short, &words).filter(|_| !has_verb && !self.names_option_later(short));
        // After a card was chosen, the rest is an answer, not a command.
        let answer = self.without_chosen(short).filter(|answer| !is_command(answer));
        let takes_list = |question: &Question| matches!(question.ask, Ask::Order { .. } | Ask::ChooseMany { .. });
        let listed = self.focused().filter(|question| takes_list(question)).and_then(|_| with_commas(short));
        let place = by_ordinal(line).filter(|_| self.focused().is_some());
        let is_question = line.trim_end().ends_with('?');
        for (at, other) in [plain, known, answer, listed, place].into_iter().enumerate() {
            let Some(other) = other else { continue };
            if self.session.decision_count() != before {
                break;
            }
            self.forget_attempt()?;
            match self.carry_out_as_typed(&other) {
                // The reason given by the rules is more useful than an unknown sentence.
                Err(Complaint::Refused(refusal @ (Refusal::Greyed { .. } | Refusal::Ambiguous { .. }))) => {
                    let question = self.focused().cloned();
                    return Err(match question {
                        Some(question) => self.with_subject(&question, refusal),
                        None => refusal,
                    }
                    .into());
                }
                // What is said of the sentence without its polite words is about what it says.
                Err(other @ (Complaint::Wrong(_) | Complaint::Unread(_) | Complaint::Refused(_)))
                    if at == 0 && !is_question =>
                {
                    complaint = other
                }
                Err(Complaint::Wrong(_) | Complaint::Unread(_) | Complaint::Refused(_)) => {}
                done => return done,
            }
        }
        let is_unclear = matches!(complaint, Complaint::Refused(Refusal::Ambiguous { .. }));
        let is_unread = match &complaint {
            Complaint::Unread(_) => true,
            Complaint::Refused(Refusal::NotAnOption { .. } | Refusal::WrongType { .. } | Refusal::NotAsked { .. }) => {
                true
            }
            Complaint::Refused(_) => is_unclear,
            Complaint::Wrong(_) | Complaint::Unclear(_) | Complaint::Broken(_) => false,
        };
        if !is_unread || self.session.decision_count() != before {
            return Err(complaint);
        }
        self.forget_attempt()?;
        match self.guess(line, !is_unclear)? {
            Some(guess) if guess.sure => {
                let question = self.wanted_question()?;
                match self.reply_all(&question, guess.replies) {
                    Err(Complaint::Refused(Refusal::AgainstRules { reason, .. })) if !self.screen.json() => {
                        Err(Complaint::Wrong(format!("`{}` is not possible: {}", line.trim(), ended(&reason))))
                    }
                    done => done,
                }
            }
            Some(guess) => {
                let text = format!("Cannot read `{}`. Did you mean `{}`?", line.trim(), guess.line);
                Err(Complaint::Wrong(text))
            }
            None if is_unclear => Err(complaint),
            None => match self.options_tied(line).as_slice() {
                several @ [_, _] | several @ [_, _, _] => {
                    let listed = several.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(" or ");
                    Err(Complaint::Wrong(format!("Cannot read `{}`. Type {listed}.", line.trim())))
                }
                _ => Err(complaint),
            },
        }
    }

    /// The message about what to answer first, if a card is named while another question is open.
    pub(super) fn asked_first(&mut self, question: &Question, line: &str, head: &Phrase) -> Option<Complaint> {
        let is_answer = question.read_typed(&head.value()).is_ok() && !self.is_card_instead(question, &head.text);
        // Somebody's name is no card, though one may begin like it.
        if head.is_empty() || is_answer || self.words().names.iter().any(|name| spelling(name) == spelling(&head.text))
        {
            return None;
        }
        let card = self.card_meant(head)?;
        if question.ask.options().iter().any(|option| *option.id == *card) {
            return None;
        }
        // A word from the middle of a name may mean something else.
        let rules = self.session.ruleset();
        let title =
            rules.cards().iter().find(|other| *other.id == *card).map_or(card.clone(), |card| card.title.to_string());
        let first = split_first(&head.text).0;
        let is_beginning = fold(&title).starts_with(&fold(first)) && !is_idle(first);
        if !is_beginning && spelling(&title) != spelling(&head.text) {
            return None;
        }
        let asked = match question.why.as_str() {
            "" => format!("{}?", readable_name(&question.topic)),
            why => why.to_owned(),
        };
        let how = match self.session.propose(question) {
            Some(proposal) => match question.tell(&proposal) {
                nothing if nothing.is_empty() => "`ok` leaves it empty".to_owned(),
                told => format!("`ok` answers {told}"),
            },
            None => "`options` lists the answers".to_owned(),
        };
        let whom = self.whom(question);
        let so_far = self.chosen_so_far(question);
        let asked = ended(&with_capital(&asked));
        if !so_far.is_empty() {
            let own_words = matches!(question.ask, Ask::Choose { other: true, .. } | Ask::Line { .. });
            let quotes = if own_words { "; put the words in quotes if they are the answer" } else { "" };
            let chosen = so_far.join(", ");
            let text = format!("{whom} has chosen {chosen}. Now answer: {asked} {how}; `undo` goes back{quotes}.");
            return Some(Complaint::Wrong(text));
        }
        Some(Complaint::Wrong(match self.offered_after(question, &card) {
            Some(option) if option.enabled => {
                format!("First {whom} must answer: {asked} {how}; then type `{}`.", line.trim())
            }
            Some(option) => {
                let reason = self.closed_because(question, &option.label, option.reason.as_deref());
                format!("{whom} cannot play {} after this question: {reason}. Now answer: {asked} {how}.", option.label)
            }
            None => {
                return Some(Complaint::Unread(format!(
                    "{title} cannot be played now. The open question is: {asked} {how}."
                )));
            }
        }))
    }

    /// The option of a card in the next question that offers it to the same character, with defaults for all earlier
    /// questions. Found by playing a copy of the game with other dice. `None` if no such question comes soon. At a
    /// screen of some seats, which must not look ahead, the card counts as open.
    fn offered_after(&self, question: &Question, card: &str) -> Option<Choice> {
        if !self.masters() {
            let open = Choice {
                id: card.into(),
                label: card.into(),
                enabled: true,
                reason: None,
                note: None,
                max: None,
                entity: None,
            };
            return Some(open);
        }
        let mut ahead = self.session.fork();
        let _ = ahead.advance().ok()?;
        let mut next = question.clone();
        for _ in 0..MOST_BETWEEN {
            let answer = ahead.propose(&next)?;
            ahead.answer(next.id, answer).ok()?;
            let _ = ahead.advance().ok()?;
            let mut open = ahead.questions().iter();
            next = open.find(|open| open.seat == question.seat && open.about == question.about).cloned()?;
            if let Some(option) = next.ask.options().iter().find(|option| *option.id == *card) {
                return Some(option.clone());
            }
        }
        None
    }

    /// True if a line begins with the full name of a card while the question accepts free text and no option is named.
    fn is_card_instead(&self, question: &Question, line: &str) -> bool {
        let words = self.words();
        let takes_words = matches!(&question.ask, Ask::Choose { other: true, .. });
        takes_words && words.words_of_card(line) > 0 && !words.names_an_option(line)
    }

    /// The answers of the asked entity in the open action, as printed in the log.
    fn chosen_so_far(&self, question: &Question) -> Vec<String> {
        let about = question.about.map(|id| self.session.view().title(id));
        let events = self.session.log().into_iter().filter(|event| event.action == question.id.action);
        let answers = events.filter_map(|event| match event.happening {
            Happening::Answered { about: of, text, .. } if about.is_some() && of == about => Some(text),
            _ => None,
        });
        answers.collect()
    }

    /// Removes a card that was already chosen in the open action from the start of a line: the rest answers the open
    /// question.
    fn without_chosen(&self, line: &str) -> Option<String> {
        let question = self.focused()?;
        let chosen = self.chosen_so_far(question);
        let rest = chosen.iter().filter_map(|name| after(line, name)).min_by_key(|rest| rest.len())?;
        let rest = rest.trim_start_matches([',', ' ']);
        (!rest.is_empty()).then(|| rest.to_owned())
    }

    /// The id of the card that an answer names.
    pub(super) fn card_meant(&self, head: &Phrase) -> Option<String> {
        let rules = self.session.ruleset();
        // The words after the name of the card may answer its questions.
        let words: Vec<&str> = head.text.split_whitespace().collect();
        let cards = (1..=words.len()).rev().map(|count| words[..count].join(" "));
        let card = cards.filter(|name| name.len() >= 3).find_map(|name| find_card(rules, &name).ok())?;
        Some(card.id.to_string())
    }

    /// The complaint about a text that begins no option, with advice.
    ///
    /// `is_alone`: no other answers follow in the line.
    fn advised_of_nothing_known(
        &mut self,
        question: &Question,
        typed: &str,
        is_alone: bool,
        refusal: &Refusal,
    ) -> Complaint {
        let word = split_first(typed).0;
        // A card that mentions a word of a sentence is seldom meant.
        let is_one_word = split_first(typed).1.is_empty();
        let mut about = self.options_about(question, word, is_one_word);
        if let Some(known) = synonyms_of(word).next().filter(|_| about.is_empty()) {
            about = self.options_about(question, known, is_one_word);
        }
        let options = question.ask.options();
        let is_open = |label: &String| options.iter().any(|option| option.enabled && *option.label == **label);
        let open: Vec<String> = about.iter().filter(|label| is_open(label)).cloned().collect();
        if self.attended && open.len() > 1 && !split_first(typed).1.is_empty() {
            // The number of the intended one completes the line.
            return Refusal::Ambiguous {
                topic: Some(question.topic.clone()),
                given: word.to_owned(),
                candidates: open,
            }
            .into();
        }
        let closed =
            about.first().and_then(|first| options.iter().find(|option| !option.enabled && *option.label == **first));
        if let Some(closed) = closed {
            let reason = self.closed_because(question, &closed.label, closed.reason.as_deref());
            return Complaint::Unread(format!(
                "No answer here is called `{typed}`; {} is not open: {reason}",
                closed.label
            ));
        }
        if let [first, ..] = about.as_slice() {
            let all = about.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", ");
            return Complaint::Unread(format!(
                "No answer here is called `{typed}`. It may be {all}: `help {first}` tells what it does."
            ));
        }
        if let Some(sentence) = self.act_not_open(typed) {
            return Complaint::Wrong(sentence);
        }
        if let Some(line) = self.option_with(question, typed).filter(|_| is_alone) {
            return Complaint::Unread(format!(
                "Say what to do: type for example `{line}`. `options` lists the answers."
            ));
        }
        if self.names_own_value(typed) {
            return Complaint::Unread(format!("{refusal} `why {typed}` shows the value."));
        }
        if typed.chars().filter(|letter| letter.is_alphabetic()).count() > 2 && self.meaning_of(typed).is_some() {
            return Complaint::Unread(format!("{refusal} `help {typed}` explains the word."));
        }
        Complaint::Unread(format!("{refusal} `hint` advises."))
    }

    /// The reason why an option is closed, as a sentence with a subject: rules write `needs a weapon` of whoever is asked, and
    /// of the option itself if it is somebody.
    pub(super) fn closed_because(&self, question: &Question, label: &str, reason: Option<&str>) -> String {
        const VERBS: [&str; 12] =
            ["has", "is", "needs", "holds", "carries", "cannot", "does", "was", "stands", "lies", "wears", "fights"];
        let reason = reason.unwrap_or("the rules do not allow it now");
        let option = question.ask.options().iter().find(|option| *option.label == *label);
        let whom = option.and_then(|option| option.entity).or(question.about);
        match whom.filter(|_| VERBS.contains(&split_first(reason).0)) {
            Some(whom) => format!("{} {reason}", self.session.view().title(whom)),
            None => reason.to_owned(),
        }
    }

    /// A refusal of a closed option whose reason has a subject.
    pub(super) fn with_subject(&self, question: &Question, refusal: Refusal) -> Refusal {
        match refusal {
            // A program reads the words of the rules.
            Refusal::Greyed { label, reason } if !self.screen.json() => {
                let reason = Some(self.closed_because(question, &label, reason.as_deref()));
                Refusal::Greyed { label, reason }
            }
            other => other,
        }
    }

    /// The complaint about a refused answer, with a line that works if one can be found.
    pub(super) fn advised(&mut self, question: &Question, line: &TypedAnswers, refusal: Refusal) -> Complaint {
        if let (Ask::Confirm, Refusal::WrongType { .. } | Refusal::NotAsked { .. }) = (&question.ask, &refusal)
            && let Some((_, end)) = longest_answer(question, &line.head)
            && end < line.head.len()
        {
            let (typed, rest) = line.head.split_at(end);
            let (typed, rest) = (typed.trim_end_matches(','), rest.trim_start_matches([' ', ',']));
            return Complaint::Unread(format!(
                "`{typed}` answers this question, and `{rest}` does not answer the next one. Type `{typed}` alone."
            ));
        }
        if let Refusal::NotAsked { topic, asked } = &refusal
            && (!matches!(question.ask, Ask::Confirm) || line.head.is_empty())
        {
            return self.advised_of_topic(question, line, topic, asked);
        }
        if let Refusal::AgainstRules { topic, reason } = &refusal
            && !self.screen.json()
        {
            let named = line.named.iter().find(|(known, _)| known == topic).map(|(_, phrase)| phrase.text.as_str());
            let given = named.unwrap_or(&line.head);
            let is_of_question = **topic == *question.topic;
            let text = format!("`{given}` is not possible: {}", ended(reason));
            // A place in numbers was understood.
            return match is_of_question && given.chars().any(char::is_alphabetic) {
                true => Complaint::Unread(text),
                false => Complaint::Wrong(text),
            };
        }
        if let (Ask::Confirm, Refusal::WrongType { .. } | Refusal::NotAsked { .. }) = (&question.ask, &refusal) {
            let proposal =
                self.session.propose(question).map(|answer| format!(": `ok` answers {}", question.tell(&answer)));
            return Complaint::Unread(format!(
                "Please answer yes or no{}; `why` explains the question.",
                proposal.unwrap_or_default()
            ));
        }
        let typed = line.head.as_str();
        let (first, _) = split_first(typed);
        let is_place = first.trim_end_matches(',').parse::<usize>().is_ok()
            && question.read_typed(&first.trim_end_matches(',').into()).is_ok();
        let known = self.words().words_of_option(typed).max(usize::from(is_place));
        let mut rest = typed.split_whitespace().skip(known).peekable();
        if known == 0
            && !typed.is_empty()
            && let Refusal::NotAnOption { near: None, .. } = &refusal
        {
            return self.advised_of_nothing_known(question, typed, line.named.is_empty(), &refusal);
        }
        // Later questions may depend on secrets, and may belong to another seat.
        let looks_ahead = self.masters() && known > 0 && rest.peek().is_some();
        if !looks_ahead || !matches!(refusal, Refusal::NotAnOption { .. }) {
            return self.with_subject(question, refusal).into();
        }
        let behind: Vec<&str> = rest.collect();
        let option = typed.split_whitespace().take(known).collect::<Vec<_>>().join(" ");
        let option = option.trim_end_matches(',').to_owned();
        // If the option or its answer is closed, the player needs the reason given by the rules.
        if let Err(closed @ Refusal::Greyed { .. }) = question.read_typed(&option.as_str().into()) {
            return self.with_subject(question, closed).into();
        }
        // `inflict guard`: several options begin with this word.
        if let Err(unclear @ Refusal::Ambiguous { .. }) = question.read_typed(&option.as_str().into()) {
            return unclear.into();
        }
        self.advised_of_next(question, line, &option, &behind)
    }

    /// The complaint about a known option whose following words answer a later question without its small word.
    fn advised_of_next(
        &mut self,
        question: &Question,
        line: &TypedAnswers,
        option: &str,
        behind: &[&str],
    ) -> Complaint {
        let rules = self.session.ruleset().clone();
        let small = |topic: &str| word_of(&rules, topic);
        let rest = behind.join(" ");
        // Only the small word of the later question is missing.
        let next = self.questions_after(question, option);
        if let Some(first) = next.first().filter(|first| is_blind_number(first, &rest)) {
            return match self.line_with_number(question, option, &rest) {
                Some(with_number) => Complaint::Wrong(format!(
                    "Cannot read `{rest}` after `{option}`: another question comes first. {} Type for example `{}`.",
                    ended(&with_capital(&first.why)),
                    format!("{} {with_number}", line.act).trim_start()
                )),
                None => self.unseen_number(first, option, &rest),
            };
        }
        let mut read = next.iter().filter_map(|next| Some((next, next.read_typed(&rest.as_str().into()).ok()?)));
        let reads = match read.next() {
            // The rules may accept only certain free text.
            Some((next, answer)) if next.is_own_text(&answer) => {
                let both = [(&question.topic, option), (&next.topic, rest.as_str())];
                let both = both.map(|(topic, text)| (topic.to_string(), Value::text(text)));
                self.would_take(question, both.to_vec()).then_some(next)
            }
            found => found.map(|(next, _)| next),
        };
        let closed = next.iter().find_map(|next| {
            let read = next.read_typed(&rest.as_str().into());
            let closed = read.err().filter(|refusal| matches!(refusal, Refusal::Greyed { .. }))?;
            Some(self.with_subject(next, closed))
        });
        if let (None, Some(closed)) = (reads, closed) {
            return closed.into();
        }
        let cannot = |what: &str| format!("Cannot read `{what}` after `{option}`.");
        let unclear = next.iter().find_map(|next| match next.read_typed(&rest.as_str().into()) {
            Err(Refusal::Ambiguous { candidates, .. }) => Some((next, candidates)),
            _ => None,
        });
        if let Some((next, candidates)) = unclear {
            let (word, first) = (small(&next.topic), &candidates[0]);
            return Complaint::Wrong(format!(
                "`{rest}` may be {}. Type `{option} {word} {first}`.",
                candidates.join(" or ")
            ));
        }
        if reads.is_none()
            && let Some(complaint) = named_wrongly(&next, option, &rest, &line.act)
        {
            return complaint;
        }
        if let Some(next) = reads {
            return Complaint::Wrong(format!("{} Type `{option} {} {rest}`.", cannot(&rest), small(&next.topic)));
        }
        let near = nearest(behind[0], rules.words().keys().map(String::as_str)).filter(|near| near.len() > 3);
        Complaint::Unread(match (near, next.first()) {
            (Some(near), _) => {
                let line = [&[option, near], &behind[1..]].concat().join(" ");
                format!("{} Did you mean `{line}`?", cannot(behind[0]))
            }
            (None, Some(next)) => {
                let example = example_of(next).unwrap_or_else(|| "...".to_owned());
                format!("{} Type for example `{option} {} {example}`.", cannot(&rest), small(&next.topic))
            }
            (None, None) => format!("{} Nothing else is asked there: type `{option}` alone.", cannot(&rest)),
        })
    }

    /// An open option with somebody whom a line names behind it, if the option asks for somebody and takes that one.
    fn option_with(&mut self, question: &Question, typed: &str) -> Option<String> {
        let name = self.only_entity(&without_articles(typed)).ok()?;
        let label = self.session.view().label(name).to_string();
        if !self.masters() {
            return None;
        }
        let open = question.ask.options().iter().filter(|option| option.enabled);
        let options: Vec<Arc<str>> = open.map(|option| option.label.clone()).collect();
        // `next to Ann` is about Ann as well.
        let about = |option: &&Choice| {
            option.enabled && (*option.label == *label || option.label.ends_with(&format!(" {label}")))
        };
        options.into_iter().take(MOST_LISTED).find_map(|option| {
            let next = self.questions_after(question, &option);
            let found = next.iter().find_map(|next| next.ask.options().iter().find(about))?;
            Some(format!("{option} {}", found.label))
        })
    }

    /// Why the free act at the start of a line cannot be taken now; `None` if there is none.
    fn act_not_open(&mut self, line: &str) -> Option<String> {
        let words = self.words();
        let (name, _) = words.free_act(line)?;
        let acts = self.session.free_acts();
        let act = acts.iter().find(|act| *act.name == *name && !act.enabled)?;
        let reason = act.reason.as_deref().unwrap_or("the rules do not allow it now");
        Some(format!("`{}` is not open: {reason} ({}).", readable_name(name), act.title))
    }

    /// The complaint about an answer to a topic that is not asked, with a line that works.
    fn advised_of_topic(
        &mut self,
        question: &Question,
        line: &TypedAnswers,
        topic: &str,
        asked: &[Arc<str>],
    ) -> Complaint {
        let rules = self.session.ruleset().clone();
        let (topic, small) = (readable_name(topic), |topic: &str| word_of(&rules, topic));
        let open = match question.why.as_str() {
            "" => asked.iter().map(|topic| readable_name(topic)).collect::<Vec<_>>().join(", "),
            why => why.to_owned(),
        };
        let named: Vec<(String, Value)> =
            line.named.iter().map(|(topic, phrase)| (topic.clone(), phrase.value())).collect();
        if line.head.is_empty() && !named.iter().any(|(topic, _)| **topic == *question.topic) {
            let mut firsts: Vec<String> =
                self.session.propose(question).map(|answer| question.tell(&answer)).into_iter().collect();
            let options = question.ask.options().iter().filter(|option| option.enabled);
            firsts.extend(options.take(MOST_RETYPED).map(|option| option.label.to_string()));
            let works = firsts.into_iter().find(|first| {
                let replies = std::iter::once((question.topic.to_string(), Value::text(first))).chain(named.clone());
                self.would_take(question, replies.collect())
            });
            let told = format!("`{topic}` is not asked yet: {}", ended(&with_capital(&open)));
            return Complaint::Wrong(match works {
                Some(first) => format!("{told} Answer both in one line: `{}`.", line.with_first(&first, small)),
                None => return Complaint::Unread(format!("{told} Answer that first.")),
            });
        }
        // A question in between has no answer yet.
        let between = asked.iter().find(|topic| **topic != question.topic);
        let between = between
            .and_then(|topic| self.questions_after(question, &line.head).into_iter().find(|next| next.topic == *topic));
        if let Some(between) = between.filter(|_| !line.head.is_empty()) {
            let options = between.ask.options().iter().filter(|option| option.enabled);
            let mut answers =
                options.take(MOST_RETYPED).map(|option| option.label.to_string()).chain(example_of(&between));
            let works = answers.find(|answer| {
                let first = [(question.topic.to_string(), line.head.as_str()), (between.topic.to_string(), answer)];
                let first = first.map(|(topic, text)| (topic, Value::text(text)));
                self.would_take(question, first.into_iter().chain(named.clone()).collect())
            });
            let told = format!("`{topic}` comes after another question: {}", ended(&with_capital(&between.why)));
            return Complaint::Wrong(match works {
                Some(answer) => {
                    let head = format!("{} {} {answer}", line.head, small(&between.topic));
                    let whole = TypedAnswers { head, ..line.clone() }.with_first("", small);
                    format!("{told} Answer both in one line: `{whole}`.")
                }
                None => return Complaint::Unread(told),
            });
        }
        let rest: Vec<(String, Phrase)> =
            line.named.iter().filter(|(other, _)| readable_name(other) != topic).cloned().collect();
        let shorter = TypedAnswers { named: rest, ..line.clone() };
        let replies = replies_of(question, Phrase { text: line.head.clone(), items: None }, shorter.named.clone());
        let told = format!("`{topic}` is not asked here.");
        // The rest may be what the next question asks.
        let head_alone = question.read_typed(&line.head.as_str().into()).is_ok();
        // The words before may only be like a part of a name.
        let is_named = question.ask.options().is_empty() || self.words().words_of_option(&line.head) > 0;
        let whole = line.with_first("", small);
        if !is_named && let Err(refusal) = question.read_typed(&whole.as_str().into()) {
            return Complaint::Unread(format!("{refusal} `hint` advises."));
        }
        Complaint::Unread(match replies.is_ok_and(|replies| self.would_take(question, replies)) {
            true => format!("{told} Leave it out: `{}`.", shorter.with_first("", small)),
            false if head_alone => format!("{told} Type `{}` alone.", line.head),
            false => format!("{told} `options` lists the answers."),
        })
    }

    /// True if the open action would accept these answers. Does not change the game.
    pub(super) fn would_take(&mut self, question: &Question, replies: Vec<(String, Value)>) -> bool {
        if !self.masters() || replies.is_empty() {
            return false;
        }
        let mark = self.session.mark();
        let is_unasked =
            |event: &Event| matches!(&event.happening, Happening::Notice { text } if text.contains("was not asked"));
        self.session.take_events();
        let taken = self.give(question, replies).is_ok() && !self.session.take_events().iter().any(is_unasked);
        self.session.back_to(mark).is_ok() && self.forget_attempt().is_ok() && taken
    }

    /// The options whose names contain a word, or else whose cards begin with it, or else, if the
    /// word is the whole line, whose cards mention it. The open ones come first; a closed one that only mentions the word is left out.
    fn options_about(&self, question: &Question, word: &str, is_alone: bool) -> Vec<String> {
        let rules = self.session.ruleset();
        let speaks = |text: &str| word.len() > 2 && stands_at(text, word).is_some();
        let text = |option: &Choice| rules.cards().iter().find(|card| card.id == option.id).map(|card| &*card.text);
        let begins = |text: &str| fold(split_first(text).0) == fold(word);
        let ranks: [&dyn Fn(&Choice) -> bool; 3] =
            [&|option| speaks(&option.label), &|option| text(option).is_some_and(begins), &|option| {
                option.enabled && is_alone && text(option).is_some_and(speaks)
            }];
        let options = question.ask.options();
        let ranked = ranks.iter().map(|fits| options.iter().filter(|option| fits(option)).collect::<Vec<&Choice>>());
        let mut found = ranked.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
        found.sort_by_key(|option| !option.enabled);
        found.into_iter().take(MOST_ABOUT).map(|option| option.label.to_string()).collect()
    }

    /// A line in which a number after an option answers the first numeric question of the action, with defaults for the
    /// questions before it. Found by playing a copy of the game with other dice. `None` if it is refused.
    fn line_with_number(&mut self, question: &Question, option: &str, number: &str) -> Option<String> {
        let answer = question.read_typed(&option.into()).ok()?;
        let mut ahead = self.session.fork();
        let mut line = option.trim_end_matches(',').to_owned();
        let mut replies = vec![(question.topic.to_string(), Value::text(&line))];
        let _ = ahead.advance().ok()?;
        ahead.answer(question.id, answer).ok()?;
        for _ in 0..MOST_BETWEEN {
            let _ = ahead.advance().ok()?;
            let mut open = ahead.questions().iter().filter(|open| open.id.action == question.id.action);
            let next = open.find(|open| open.seat == question.seat).cloned()?;
            let read = next.read_typed(&number.into());
            let is_wanted = !is_blind_number(&next, number) && !read.is_ok_and(|answer| next.is_own_text(&answer));
            let answer = if is_wanted { next.read_typed(&number.into()).ok()? } else { ahead.propose(&next)? };
            let text = if is_wanted { number.to_owned() } else { next.tell(&answer) };
            line.push_str(&format!(" {} {text}", word_of(self.session.ruleset(), &next.topic)));
            replies.push((next.topic.to_string(), Value::text(&text)));
            if is_wanted {
                return self.would_take(question, replies).then_some(line);
            }
            ahead.answer(next.id, answer).ok()?;
        }
        None
    }

    /// The questions after `option` in the same action, found by playing a copy of the game with other dice. Questions
    /// that are answered automatically come first.
    fn questions_after(&self, question: &Question, option: &str) -> Vec<Question> {
        let Ok(answer) = question.read_typed(&option.into()) else { return Vec::new() };
        let mut ahead = self.session.fork();
        let asks = |step| matches!(step, Ok(Step::Ask));
        if !asks(ahead.advance()) || ahead.answer(question.id, answer).is_err() || ahead.advance().is_err() {
            return Vec::new();
        }
        let action = question.id.action;
        let only = ahead.only_answers(action).iter().map(|(next, _)| next);
        let open = ahead.questions().iter().filter(|next| next.id.action == action && next.id != question.id);
        only.chain(open).cloned().collect()
    }

    /// The refusal of a number that would select from a list that was not shown yet.
    pub(super) fn unseen_number(&self, next: &Question, typed: &str, rest: &str) -> Complaint {
        let asked = if next.why.is_empty() { readable_name(&next.topic) } else { next.why.clone() };
        let (number, _) = split_first(rest);
        let number = number.trim_end_matches(',');
        Complaint::Wrong(format!(
            "The list after `{typed}` was not shown yet, so `{number}` chooses nothing from it. Type `{typed}` alone and then a number, \
             or answer by name: {}",
            ended(&asked)
        ))
    }
}
