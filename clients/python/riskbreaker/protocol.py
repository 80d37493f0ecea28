"""Defines the messages of the protocol as types, and the errors of both clients.

`Question`, `View` and the others are plain dictionaries at run time. A test compares them with `riskbreaker serve --schema`.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict

Json = Dict[str, Any]


class QuestionId(TypedDict):
    """The id of a question. Send it back unchanged; it may have the key `generation` as well."""

    action: int
    ordinal: int


class _Choice(TypedDict):
    id: str
    label: str
    enabled: bool


class Choice(_Choice, total=False):
    """An option of a question."""

    reason: str
    note: str
    max: int


class _Ask(TypedDict):
    kind: str


class Ask(_Ask, total=False):
    """The kind of answer that a question takes. `kind` says which of the other keys exist."""

    options: List[Choice]
    other: bool
    min: int
    max: int
    total: int
    least: int
    dice: str
    sides: List[int]


class _Question(TypedDict):
    id: QuestionId
    seat: str
    topic: str
    why: str
    ask: Ask
    sealed: bool
    yours: bool


class Question(_Question, total=False):
    """An open question. `about` is the number of the entity that it concerns, `title` the title of that entity. `more` is the
    number of options that `ask` leaves out; `find` finds them by a part of their names.
    """

    about: int
    title: str
    more: int
    proposal: Any


class _Entity(TypedDict):
    id: int
    kind: str
    title: str
    fields: Json
    numbers: List[Json]


class Entity(_Entity, total=False):
    """An entity with the fields that the viewer may see, and with the facts that the rules declare about it.

    `numbers` are those of its status line, `side` and `position` are declared by the rules, `seat` is the seat that plays it.
    """

    seat: str
    side: Json
    position: Json


class _Turn(TypedDict):
    entity: int
    title: str
    state: str


class Turn(_Turn, total=False):
    """A turn in the order of play. `state` is `acted`, `now`, `to_come` or `out`."""

    at: int
    note: str


class _Order(TypedDict):
    turns: List[Turn]


class Order(_Order, total=False):
    """The order of play, and what is ordered."""

    label: str


class _Over(TypedDict, total=False):
    outcome: str
    fault: Json


# `is` is a keyword of Python, so it needs this form. Its value is "asking", "fault" or "over".
_Is = TypedDict("_Is", {"is": str})


class State(_Is, _Over):
    """The state of the game. Only the game master sees the `fault`."""


Event = Json
"""A line of the log. It has `event`, `revision`, and other keys that depend on `event`."""


class Waiting(TypedDict):
    """A seat that the game waits for."""

    seat: str
    questions: int


class _Present(TypedDict):
    role: str
    viewers: int


class Present(_Present, total=False):
    """Who is connected in a role. `people` are their names, `seats` all of their seats if they are several, and `absent`
    are the names of those who are not connected."""

    seat: str
    seats: List[str]
    people: List[str]
    absent: List[str]


class _ChatLine(TypedDict):
    id: int
    role: str
    text: str


class ChatLine(_ChatLine, total=False):
    """A line of the chat."""

    name: str
    seats: List[str]


class _Rules(TypedDict):
    id: str
    layers: List[str]
    title: str
    version: str
    hash: str


class Rules(_Rules, total=False):
    """The rules in force, and the id that was requested."""

    pending: str


class Options(TypedDict):
    """What a table allows: who takes decisions back (`own`, `game_master` or `ask`), whether seats see odds, and the seconds
    after which watchers see the game."""

    undo: str
    odds: bool
    delay: int


class Settings(TypedDict):
    """The rules, the house rules and the players of a table."""

    paused: bool
    rules: Rules
    seats: Json
    switches: Json
    options: Options


class _TakenBack(TypedDict):
    seat: str


class TakenBack(_TakenBack, total=False):
    """A decision that an undo takes back. The `text` is missing if the viewer may not know it."""

    about: str
    text: str


class _UndoState(TypedDict):
    allowed: bool
    decisions: int


class UndoState(_UndoState, total=False):
    """Whether the viewer may take decisions back, and how many. `takes_back` is the decision that comes first, `reach` the
    earliest step that an undo may name, and `asks` says that the table is asked."""

    redo: bool
    takes_back: TakenBack
    reach: int
    asks: bool


class _Voter(TypedDict):
    role: str


class Voter(_Voter, total=False):
    """Somebody who votes."""

    seats: List[str]


class _Vote(TypedDict):
    id: int
    by: Voter
    decisions: int
    takes_back: List[TakenBack]
    agreed: List[Voter]
    asked: List[Voter]
    yours: bool


class Vote(_Vote, total=False):
    """The table votes on an undo. `yours` says that this viewer is asked; `name` is the person who asks for it."""

    name: str


class LogStep(TypedDict):
    """A step, and the revisions of the first and the last line that it told."""

    seq: int
    first: int
    last: int


class _View(TypedDict):
    table: str
    role: str
    seq: int
    revision: int
    state: State
    settings: Settings
    entities: List[Entity]
    questions: List[Question]
    waiting: List[Waiting]
    undo: UndoState
    presence: List[Present]
    log: List[Event]


class View(_View, total=False):
    """Everything that a viewer may know of a table."""

    seat: str
    seats: List[str]
    after: int
    order: Optional[Order]
    chat: List[ChatLine]
    vote: Vote
    steps: List[LogStep]


class _Step(TypedDict):
    table: str
    seq: int
    cause: str
    state: State
    events: List[Event]
    questions: List[Question]
    waiting: List[Waiting]
    undo: UndoState
    changed: List[Json]


class Step(_Step, total=False):
    """The changes by one accepted command, as far as the viewer may know them."""

    left_out: int
    settings: Settings
    order: Optional[Order]


class Refused(Exception):
    """The error of a request that the host refused. `kind` and `data` give the reason to programs, the text to people."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.data: Json = error.get("data") or {}
        self.kind: str = self.data.get("kind", "unknown")
        if self.kind == "refused":
            self.data = self.data["refusal"]
            self.kind = self.data["kind"]


class Ended(ConnectionError):
    """The error of a request without a result because the program has ended.

    After `Host.restart` the view shows whether it was carried out.
    """

    def __init__(self) -> None:
        super().__init__("riskbreaker has ended")
