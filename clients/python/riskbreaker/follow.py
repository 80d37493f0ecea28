"""Keeps the view of a viewer up to date with the notices of the host. Both clients use it; it does no input or output."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, cast

from .protocol import Event, Json, Step, View

Change = Tuple[str, Any]
"""The name and the argument of a callback that is due: `("step", step)` or `("view", view)`."""


class Follower:
    """The view of one viewer. Steps are applied once each, in the order of `seq`, whatever the order in which they come."""

    def __init__(self) -> None:
        self.view = cast(View, {})
        self._steps: Dict[int, Step] = {}

    def begin(self, view: View) -> List[Change]:
        """Takes the view of a `hello`."""
        again, self._steps = bool(self.view), {}
        self._put(view)
        return [("view", view)] if again else []

    def take_view(self, view: View) -> List[Change]:
        """Takes a view that was requested. A view that is older than the last step is dropped."""
        if view["seq"] < self.view["seq"]:
            return []
        self._put(view)
        return [("view", view)]

    def take_step(self, step: Step) -> None:
        self._steps[step["seq"]] = step

    def next_step(self) -> Optional[Step]:
        """Applies the step that follows the view, and returns it; `None` if it has not come."""
        self._steps = {seq: step for seq, step in self._steps.items() if seq > self.view["seq"]}
        step = self._steps.pop(self.view["seq"] + 1, None)
        if step is not None:
            self._carry_out(step)
        return step

    def lacks_a_step(self) -> bool:
        """True if steps wait for a missing one."""
        return bool(self._steps)

    def newest_waiting(self) -> int:
        """Returns the number of the newest step that waits; 0 if none does."""
        return max(self._steps, default=0)

    def _put(self, view: View) -> None:
        if view.get("after") is not None:
            known = [line for line in self.view["log"] if line["revision"] <= view["after"]]
            view["log"] = _with_events(known, view["log"])
        self.view = view

    def _carry_out(self, step: Step) -> None:
        view = cast(Json, self.view)
        entities = {entity["id"]: entity for entity in view["entities"]}
        for entity in step["changed"]:
            if entity.get("gone"):
                entities.pop(entity["id"], None)
            else:
                entities[entity["id"]] = entity
        view["entities"] = [entities[number] for number in sorted(entities)]
        view["log"] = _with_events(view["log"], step["events"])
        if step["events"]:
            view["revision"] = step["events"][-1]["revision"]
        for name in ("seq", "state", "questions", "waiting", "undo", "order", "settings"):
            if name in step:
                view[name] = cast(Json, step)[name]


def _with_events(log: List[Event], events: List[Event]) -> List[Event]:
    """Returns a log with more events applied."""
    for line in events:
        if line["event"] == "back":
            log = [known for known in log if known["revision"] <= line["to"]]
        elif line["event"] != "aside":  # an aside is not a line of the log
            log.append(line)
    return log
