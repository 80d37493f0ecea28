"""One game in one object, which starts the program, opens a table and opens its viewers.

    with Game("riskbreaker-0.0.1", scenario="duel", seed=7, seats={"foes": "bold"}) as game:
        player = game.seat("players")
        while game.outcome is None:
            for question in player.mine()[:1]:
                player.answer(question, question["proposal"])
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Type

from .client import Host, Viewer
from .program import NAME
from .protocol import Entity, Event, Json

if TYPE_CHECKING:
    from pandas import DataFrame


def new_table(
    ruleset: Optional[str],
    scenario: Optional[str],
    seed: Optional[int],
    seats: Optional[Mapping[str, str]],
    switches: Optional[Mapping[str, Any]],
    layers: Sequence[str],
    position: Optional[Json],
) -> Json:
    """Returns the parameters of `table.new`."""
    return {
        "ruleset": ruleset,
        "scenario": scenario,
        "seed": seed,
        "seats": dict(seats or {}),
        "switches": dict(switches or {}),
        "layers": list(layers),
        "position": position,
    }


class Game:
    """A table with a game. `master` is a viewer that sees everything and may answer for anyone.

    Without a `host` the game starts a program of its own, and `close` ends it. With `campaign` the game is kept in that file,
    and continues if the file exists. `seats` says who plays a seat: `human`, `absent` or a policy of the rules.
    """

    def __init__(
        self,
        ruleset: Optional[str] = None,
        *,
        scenario: Optional[str] = None,
        seed: Optional[int] = None,
        seats: Optional[Mapping[str, str]] = None,
        switches: Optional[Mapping[str, Any]] = None,
        layers: Sequence[str] = (),
        position: Optional[Json] = None,
        campaign: Optional[str] = None,
        host: Optional[Host] = None,
        rulesets: Optional[str] = None,
        program: str = NAME,
    ) -> None:
        self._owned = host is None
        self.host = host or Host(program, *(["--rulesets", rulesets] if rulesets else []))
        try:
            new = new_table(ruleset, scenario, seed, seats, switches, layers, position)
            self.table: str = self.host.open(campaign, **new) if campaign else self.host.call("table.new", **new)["table"]
            self.master = self.host.hello(self.table)
        except BaseException:
            if self._owned:
                self.host.close()
            raise

    def seat(self, seat: str) -> Viewer:
        """Opens a viewer that plays a seat and sees what the seat may see."""
        return self.host.hello(self.table, "seat", seat=seat)

    def watch(self) -> Viewer:
        """Opens a viewer that sees what everybody may see."""
        return self.host.hello(self.table, "watcher")

    @property
    def outcome(self) -> Optional[str]:
        """The outcome of the game; `None` while it runs."""
        return self.master.outcome

    def find(self, title: str) -> Entity:
        """Returns the entity with this title. Raises `KeyError` if there is none."""
        for entity in self.master.view["entities"]:
            if entity["title"] == title:
                return entity
        raise KeyError(title)

    def log(self) -> List[Event]:
        """Returns the whole log, also the events that are hidden from seats."""
        view: Dict[str, Any] = self.master.call("view", since=0)
        events: List[Event] = view["log"]
        return events

    def entities_frame(self, kind: Optional[str] = None) -> DataFrame:
        """Returns a pandas frame with one row for each entity: its kind, its title and its fields."""
        return entities_frame(self.master.view["entities"], kind)

    def log_frame(self) -> DataFrame:
        """Returns a pandas frame with one row for each event."""
        return log_frame(self.log())

    def close(self) -> None:
        """Ends the table, and the program if the game has started it."""
        if self._owned:
            self.host.close()
        else:
            self.host.call("table.close", table=self.table)

    def __enter__(self) -> Game:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


def entities_frame(entities: Sequence[Entity], kind: Optional[str] = None) -> DataFrame:
    """Returns a pandas frame with one row for each entity of a view, or for each one of a kind."""
    import pandas

    rows = [
        {"id": one["id"], "kind": one["kind"], "title": one["title"], **one["fields"]}
        for one in entities
        if kind is None or one["kind"] == kind
    ]
    frame: DataFrame = pandas.DataFrame(rows, columns=None if rows else ["id", "kind", "title"])
    frame = frame.set_index("id")
    return frame


def log_frame(events: Sequence[Event]) -> DataFrame:
    """Returns a pandas frame with one row for each event, indexed by its revision."""
    import pandas

    frame: DataFrame = pandas.DataFrame(list(events), columns=None if events else ["revision", "event"])
    frame = frame.set_index("revision")
    return frame
