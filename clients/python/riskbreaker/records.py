"""The viewers and campaign files that a host remembers; used by the blocking and by the asyncio client."""

from __future__ import annotations

import collections
from typing import Any, Deque, Dict, Generic, List, Optional, Protocol, Tuple, TypeVar

from .protocol import Json


class Known(Protocol):
    """The attributes of a viewer that the records need."""

    number: int
    table: str


Somebody = TypeVar("Somebody", bound=Known)


class Records(Generic[Somebody]):
    """The viewers of a host, those of the program that runs now by number, and the campaign files of its tables."""

    def __init__(self) -> None:
        self._viewers: List[Somebody] = []
        self._by_number: Dict[int, Somebody] = {}
        self._campaigns: Dict[str, str] = {}
        # Notices for viewers whose `hello` may be answered soon.
        self._early: Deque[Tuple[str, Json]] = collections.deque(maxlen=100)

    def _begin_anew(self) -> None:
        """Clears what belongs to the last program, after another one was started."""
        self._by_number.clear()
        self._early.clear()

    def _table_of(self, campaign: str) -> Optional[str]:
        """Returns the table that has a campaign file; `None` if no table has it."""
        return next((table for table, path in self._campaigns.items() if path == campaign), None)

    def _note_campaign(self, method: str, params: Json, result: Any) -> None:
        """Remembers the campaign file of each table, for `restart`."""
        path = params.get("campaign" if method == "table.new" else "path") or ""
        if method in ("table.new", "table.load", "table.save") and path.endswith(".rbsave"):
            table = result.get("table") or params.get("table") or self._by_number[params["viewer"]].table
            self._campaigns[table] = path
        elif method == "table.close":
            self._campaigns.pop(params.get("table", ""), None)

    def _lost(self, viewer: Somebody, reasons: Dict[str, str]) -> Optional[str]:
        """Returns why a viewer cannot continue after a restart; `None` if it can. `reasons` has the tables that do not load."""
        reason = reasons.get(viewer.table)
        if reason is None and viewer.table not in self._campaigns:
            reason = "riskbreaker has ended, and no campaign file has this table"
        return reason

    def _knows(self, viewer: Somebody) -> bool:
        """True if the viewer belongs to the program that runs now, not to one before a restart."""
        return self._by_number.get(viewer.number) is viewer

    def _forget(self, viewer: Somebody) -> None:
        """Removes a viewer that has left: it gets no more notices."""
        if self._knows(viewer):
            del self._by_number[viewer.number]
        if viewer in self._viewers:
            self._viewers.remove(viewer)
