"""What a host remembers of its viewers and campaign files, whichever way it waits for the program."""

from __future__ import annotations

import collections
from typing import Any, Deque, Dict, Generic, List, Optional, Protocol, Tuple, TypeVar

from .protocol import Json


class Known(Protocol):
    """A viewer, as the records need it."""

    number: int
    table: str


Somebody = TypeVar("Somebody", bound=Known)


class Records(Generic[Somebody]):
    """The viewers of a host, those that the program has now by their numbers, and the files of its tables."""

    def __init__(self) -> None:
        self._viewers: List[Somebody] = []
        self._by_number: Dict[int, Somebody] = {}
        self._campaigns: Dict[str, str] = {}
        # Notices for viewers whose `hello` may be answered soon.
        self._early: Deque[Tuple[str, Json]] = collections.deque(maxlen=100)

    def _begin_anew(self) -> None:
        """The program has been started: it knows no viewer yet."""
        self._by_number.clear()
        self._early.clear()

    def _table_of(self, campaign: str) -> Optional[str]:
        """The table that has a campaign file."""
        return next((table for table, path in self._campaigns.items() if path == campaign), None)

    def _note_campaign(self, method: str, params: Json, result: Any) -> None:
        """Remembers which file has which table, for `restart`."""
        path = params.get("campaign" if method == "table.new" else "path") or ""
        if method in ("table.new", "table.load", "table.save") and path.endswith(".rbsave"):
            table = result.get("table") or params.get("table") or self._by_number[params["viewer"]].table
            self._campaigns[table] = path
        elif method == "table.close":
            self._campaigns.pop(params.get("table", ""), None)

    def _lost(self, viewer: Somebody, reasons: Dict[str, str]) -> Optional[str]:
        """Why a viewer cannot follow its table after a restart; `None` if it can. `reasons` has the files that do not load."""
        reason = reasons.get(viewer.table)
        if reason is None and viewer.table not in self._campaigns:
            reason = "riskbreaker has ended, and no campaign file has this table"
        return reason

    def _knows(self, viewer: Somebody) -> bool:
        """Whether the program that runs now has the viewer."""
        return self._by_number.get(viewer.number) is viewer

    def _forget(self, viewer: Somebody) -> None:
        """The viewer has left: nothing more is told to it."""
        if self._knows(viewer):
            del self._by_number[viewer.number]
        if viewer in self._viewers:
            self._viewers.remove(viewer)
