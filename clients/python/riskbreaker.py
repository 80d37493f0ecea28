"""A client of Riskbreaker: starts `riskbreaker serve --stdio` and speaks its protocol. Needs Python 3.9, nothing else.

    with Host() as host:
        table = host.call("table.new", ruleset="riskbreaker-0.0.1", seed=7)["table"]
        south = host.hello(table, "seat", seat="players")
        for question in south.mine():
            south.answer(question, question["proposal"])
"""

from __future__ import annotations

import json
import subprocess
from typing import Any, Callable, Dict, List, Optional

Json = Dict[str, Any]


class Refused(Exception):
    """The host did not carry a request out. `kind` and `data` say why, for programs; the text is for people."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.data: Json = error.get("data") or {}
        self.kind: str = self.data.get("kind", "unknown")
        if self.kind == "refused":
            self.data = self.data["refusal"]
            self.kind = self.data["kind"]


class Host:
    """The program, as its operator. One call at a time; what it tells besides goes to the viewers."""

    def __init__(self, program: str = "riskbreaker", *options: str) -> None:
        command = [program, *options, "serve", "--stdio"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        self._viewers: Dict[int, Viewer] = {}
        self._answered: Dict[int, Json] = {}
        self._last = 0
        self.limits: Json = self.call("hello", protocol=1, client="python")["limits"]

    def call(self, method: str, **params: Any) -> Any:
        """Sends a request and waits for its result. A parameter `as` is written `as_`."""
        self._last += 1
        number = self._last
        params = {name.rstrip("_"): value for name, value in params.items() if value is not None}
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        while number not in self._answered:
            told = self._next_message()
            if "method" in told:
                # A viewer may ask for something itself: then the result waited for here may come meanwhile.
                self._tell(told["method"], told["params"])
            elif told.get("id") is not None:
                self._answered[told["id"]] = told
        told = self._answered.pop(number)
        if "error" in told:
            raise Refused(told["error"])
        return told["result"]

    def hello(self, table: str, role: str = "game_master", seat: Optional[str] = None) -> Viewer:
        """Opens a viewer at a table: a `game_master`, a `seat` or a `watcher`."""
        welcome = self.call("hello", table=table, role=role, seat=seat)
        viewer = Viewer(self, welcome["viewer"], welcome["view"])
        self._viewers[viewer.number] = viewer
        return viewer

    def close(self) -> None:
        """Ends the program."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.read()
        self._process.stdout.close()
        self._process.wait()

    def _next_message(self) -> Json:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ConnectionError("riskbreaker has ended")
        return json.loads(line)

    def _tell(self, method: str, params: Json) -> None:
        viewer = self._viewers.get(params["viewer"])
        if viewer is not None:
            viewer.take(method, params)

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Viewer:
    """Somebody at a table. `view` is what this viewer knows, and always up to date."""

    def __init__(self, host: Host, number: int, view: Json) -> None:
        self._host, self.number, self.view = host, number, view
        self.on_step: Callable[[Json], None] = lambda step: None

    def call(self, method: str, **params: Any) -> Any:
        return self._host.call(method, viewer=self.number, **params)

    def mine(self) -> List[Json]:
        """The open questions that this viewer may answer."""
        return [question for question in self.view["questions"] if question["yours"]]

    def answer(self, question: Json, value: Any, key: Optional[str] = None) -> int:
        """Answers exactly: an option's id, a list of ids, a number, points by id, true or false, a line."""
        return self.call("answer", question=question["id"], value=value, key=key)["seq"]

    def undo(self) -> Json:
        return self.call("undo", expect=self.view["seq"])

    def take(self, method: str, params: Json) -> None:
        """Brings `view` to where the table is now."""
        if method == "presence":
            self.view["presence"] = params["presence"]
        elif method == "resync":
            self.view = self.call("view")
        elif method == "step":
            entities = {entity["id"]: entity for entity in self.view["entities"]}
            for entity in params["changed"]:
                if entity.get("gone"):
                    entities.pop(entity["id"], None)
                else:
                    entities[entity["id"]] = entity
            self.view["entities"] = [entities[number] for number in sorted(entities)]
            for line in params["events"]:
                if line["event"] == "back":
                    self.view["log"] = [known for known in self.view["log"] if known["revision"] <= line["to"]]
                elif line["event"] != "aside":  # it is said beside the log
                    self.view["log"].append(line)
                self.view["revision"] = line["revision"]
            for name in ("seq", "state", "questions", "waiting", "undo", "settings"):
                if name in params:
                    self.view[name] = params[name]
            self.on_step(params)
