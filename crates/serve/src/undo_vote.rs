use std::sync::Arc;

use super::frames::{RoleSight, VoteOutcome, VoteReport, Voter};
use super::role::Role;
use riskbreaker_play::Session;
use riskbreaker_store::{KeptRole, KeptVote};

/// A vote of the table on an undo that a seat has requested.
///
/// Everybody who plays and is connected when it begins has to agree: the seats of each role together, and the game
/// masters. A refusal ends it, and so does each step of the game. A game master's vote decides for all.
#[derive(Clone)]
pub(super) struct UndoVote {
    /// The number of the vote.
    pub id: u64,
    pub by: Role,
    pub name: Option<Arc<str>>,
    /// The step that it goes back to; without it, it takes back the last `steps` decisions.
    pub to: Option<u64>,
    /// The number of decisions.
    pub steps: u32,
    agreed: Vec<Role>,
    asked: Vec<Role>,
}

impl UndoVote {
    /// Begins a vote among `present`, the connected roles; `None` if there is nobody to ask.
    pub fn begin(
        id: u64,
        (by, name): (Role, Option<Arc<str>>),
        (to, steps): (Option<u64>, u32),
        present: impl Iterator<Item = Role>,
    ) -> Option<UndoVote> {
        let mut asked: Vec<Role> = Vec::new();
        for role in present {
            let plays = matches!(role, Role::Seat(_) | Role::Seats(_) | Role::GameMaster);
            if plays && role != by && !asked.contains(&role) {
                asked.push(role);
            }
        }
        (!asked.is_empty()).then(|| UndoVote { id, by, name, to, steps, agreed: Vec::new(), asked })
    }

    /// The vote as a campaign keeps it.
    pub fn to_kept(&self) -> KeptVote {
        let kept = |role: &Role| (role.word().to_owned(), role.seats_in_one());
        KeptVote {
            id: self.id,
            by: kept(&self.by),
            name: self.name.as_deref().map(str::to_owned),
            decisions: self.steps,
            agreed: self.agreed.iter().map(kept).collect(),
            asked: self.asked.iter().map(kept).collect(),
        }
    }

    /// The vote that a campaign has kept; `None` if it names no role of this host, or nobody who is still asked.
    pub fn of_kept(kept: KeptVote) -> Option<UndoVote> {
        let role = |(word, seats): &KeptRole| Role::of_word(word, seats.as_deref());
        let roles = |all: &[KeptRole]| all.iter().map(role).collect::<Option<Vec<Role>>>();
        let KeptVote { id, by, name, decisions, agreed, asked } = kept;
        let vote = UndoVote {
            id,
            by: role(&by)?,
            name: name.map(Arc::from),
            // Steps before the host was started cannot be named.
            to: None,
            steps: decisions,
            agreed: roles(&agreed)?,
            asked: roles(&asked)?,
        };
        (!vote.asked.is_empty()).then_some(vote)
    }

    /// Records the vote of a role; `None` if it has no vote. The role that requested the undo may cancel it.
    pub fn take(&mut self, role: &Role, agrees: bool) -> Option<VoteOutcome> {
        match role {
            role if role.is_master() => Some(if agrees { VoteOutcome::Accepted } else { VoteOutcome::Refused }),
            role if *role == self.by && !agrees => Some(VoteOutcome::Refused),
            role => {
                let at = self.asked.iter().position(|asked| asked == role)?;
                if !agrees {
                    return Some(VoteOutcome::Refused);
                }
                self.agreed.push(self.asked.remove(at));
                Some(if self.asked.is_empty() { VoteOutcome::Accepted } else { VoteOutcome::Open })
            }
        }
    }

    pub fn report(&self, session: &Session, role: &Role) -> VoteReport {
        let voters = |roles: &[Role]| roles.iter().map(Voter::of).collect();
        VoteReport {
            id: self.id,
            by: Voter::of(&self.by),
            name: self.name.clone(),
            decisions: self.steps,
            takes_back: session.would_take_back(&RoleSight::of(role).viewer(), self.steps as usize),
            agreed: voters(&self.agreed),
            asked: voters(&self.asked),
            yours: self.asked.contains(role),
        }
    }
}
