"""The blocking client: starts `riskbreaker serve --stdio` and speaks its protocol. Needs Python 3.9, nothing else.

    with Host() as host:
        table = host.open("evening.rbsave", ruleset="riskbreaker-0.0.1", seed=7)
        south = host.hello(table, "seat", seat="players")

        def play():
            for question in south.mine():
                south.answer(question, question["proposal"])

        host.with_restarts(play)
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
import traceback
from types import TracebackType
from typing import Any, Callable, Dict, List, Mapping, Optional, Type, TypeVar, cast

from .follow import Change, Follower
from .odds import CardOdds
from .program import NAME, resolve
from .protocol import Choice, Ended, Json, Present, Question, Refused, Step, View
from .records import Records

Result = TypeVar("Result")


class Host(Records["Viewer"]):
    """A host: the program `riskbreaker serve --stdio`, with this process as its operator.

    Threads may share it: their calls are carried out one after the other.
    """

    def __init__(self, program: str = NAME, *options: str) -> None:
        super().__init__()
        self._command = [resolve(program), *options, "serve", "--stdio"]
        self._lock = threading.RLock()
        self._last = 0
        self._closed = False
        self.on_error: Callable[[Exception], None] = _print_error
        self._start()

    def call(self, method: str, **params: Any) -> Any:
        """Sends a request and waits for its result. A parameter `as` is written `as_`.

        Raises `Refused` if the host refuses it, and `Ended` if the program ends before it answers.
        """
        params = {name.rstrip("_"): value for name, value in params.items() if value is not None}
        with self._lock:
            self._last += 1
            number, process, answered = self._last, self._process, self._answered
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            # A callback may call the host as well, and then read the result for this call; or it may restart the program.
            while number not in answered:
                if self._process is not process:
                    raise Ended()
                message = self._receive()
                if "method" in message:
                    self._tell(message["method"], message.get("params") or {})
                elif message.get("id") is not None:
                    answered[message["id"]] = message
            message = answered.pop(number)
            if "error" in message:
                raise Refused(message["error"])
            self._note_campaign(method, params, message["result"])
            return message["result"]

    def open(self, campaign: str, **new: Any) -> str:
        """Opens the table of a campaign file; if the file does not exist, a new table with the parameters of `table.new`."""
        with self._lock:
            table = self._table_of(campaign)
            if table is not None:
                return table
            try:
                return cast(str, self.call("table.load", path=campaign, table=new.get("table"))["table"])
            except Refused as refused:
                if refused.kind != "file":
                    raise
                with contextlib.suppress(Refused):
                    return cast(str, self.call("table.new", campaign=campaign, **new)["table"])
                raise

    def hello(self, table: str, role: str = "game_master", seat: Optional[str] = None) -> Viewer:
        """Opens a viewer at a table: a `game_master`, a `seat` or a `watcher`."""
        with self._lock:
            viewer = Viewer(self, table, role, seat)
            self._greet(viewer)
            return viewer

    def restart(self) -> None:
        """Starts the program again. Each table with a campaign file is loaded, and its viewers continue from their last step.

        Viewers of other tables, and of those that cannot be loaded, get `bye`.
        """
        with self._lock:
            self._stop()
            self._closed = False
            self._start()
            reasons = {}
            for table, path in list(self._campaigns.items()):
                try:
                    self.call("table.load", table=table, path=path)
                except Refused as refused:
                    reasons[table] = str(refused)
                    del self._campaigns[table]
            for viewer in list(self._viewers):
                reason = self._lost(viewer, reasons)
                try:
                    if reason is None:
                        self._greet(viewer)
                except Refused as refused:
                    reason = str(refused)
                if reason is not None:
                    viewer.take("bye", {"reason": reason})

    def with_restarts(self, work: Callable[[], Result], most: int = 20) -> Result:
        """Calls `work`. If the program ends meanwhile, restarts it and calls `work` again. Gives up after `most` restarts in
        a row without a step between them.

        So that nothing is done twice, `work` must read the views again each time, or give each command the same `key` each time.
        """
        fruitless = 0
        while True:
            try:
                with self._lock:
                    if self.ended and not self._closed:
                        self.restart()
                return work()
            except Ended:
                fruitless = 0 if self._stepped else fruitless + 1
                if self._closed or fruitless > most:
                    raise
                time.sleep(min(0.005 * 2**fruitless, 1.0))

    def close(self, patience: float = 10.0) -> None:
        """Ends the program when all requests are answered, or kills it after `patience` seconds. Never raises."""
        self._closed = True
        try:
            process = self._process
            watchdog = threading.Timer(patience, process.kill)
            watchdog.daemon = True
            watchdog.start()
            try:
                with contextlib.suppress(OSError, ValueError):
                    process.stdin.close()
                with self._lock, contextlib.suppress(OSError, ValueError):
                    process.stdout.read()
                    process.wait()
            finally:
                watchdog.cancel()
        except Exception:  # such as a thread that cannot be started; the program is ended in any case
            pass
        finally:
            self._stop()

    def _start(self) -> None:
        self._process: Any = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._answered: Dict[int, Json] = {}
        self._begin_anew()
        self._stepped = self.ended = False
        try:
            self.limits: Json = self.call("hello", protocol=1, client="python")["limits"]
        except BaseException:
            self._stop()
            raise

    def _stop(self) -> None:
        """Kills the program if it has not ended, and leaves neither a process nor a pipe."""
        self.ended = True
        process = self._process
        for release in (process.kill, process.wait, process.stdin.close, process.stdout.close):
            with contextlib.suppress(OSError, ValueError):
                release()

    def _send(self, message: Json) -> None:
        try:
            if not self.ended:
                self._process.stdin.write(json.dumps(message).encode() + b"\n")
                self._process.stdin.flush()
                return
        except (OSError, ValueError):
            self._stop()
        raise Ended()

    def _receive(self) -> Json:
        try:
            line = b"" if self.ended else self._process.stdout.readline()
            message = json.loads(line or b"null")
            if isinstance(message, dict):
                return message
        except (OSError, ValueError):
            pass
        self._stop()
        raise Ended()

    def _tell(self, method: str, params: Json) -> None:
        viewer = self._by_number.get(params.get("viewer", 0))
        if viewer is not None:
            self._report(viewer.take, method, params)
        else:
            self._early.append((method, params))  # its `hello` may be answered soon

    def _greet(self, viewer: Viewer) -> None:
        last = {"since": viewer.view.get("revision"), "seq": viewer.view.get("seq")}
        welcome = self.call("hello", table=viewer.table, role=viewer.role, seat=viewer.seat, **last)
        viewer.greet(welcome["viewer"], welcome["view"])
        self._by_number[viewer.number] = viewer
        if viewer not in self._viewers:
            self._viewers.append(viewer)
        for method, params in list(self._early):
            if params.get("viewer") == viewer.number:
                self._report(viewer.take, method, params)

    def _forget(self, viewer: Viewer) -> None:
        with self._lock:
            super()._forget(viewer)

    def _report(self, callback: Callable[..., Any], *arguments: Any) -> None:
        """Calls a callback. An exception goes to `on_error`, but not `Ended`, which every waiting call raises itself."""
        try:
            callback(*arguments)
        except Ended:
            pass
        except Exception as error:
            try:
                self.on_error(error)
            except Exception as worse:
                _print_error(worse)

    def __enter__(self) -> Host:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


class Viewer(Follower):
    """A viewer of a table. `view` is everything that the viewer may know, and always up to date. After a `with` it leaves.

    Callbacks: `on_step` gets each step, `on_view` a view that replaced the last one (after `resync` or a restart),
    `on_presence` the list of those who are connected, `on_bye` the reason for which this viewer has ended; `left` keeps
    that reason.
    """

    def __init__(self, host: Host, table: str, role: str, seat: Optional[str]) -> None:
        super().__init__()
        self._host, self.table, self.role, self.seat = host, table, role, seat
        self.number = 0
        self.left: Optional[str] = None
        self._stale = self._asking = False
        self.on_step: Callable[[Step], object] = lambda step: None
        self.on_view: Callable[[View], object] = lambda view: None
        self.on_presence: Callable[[List[Present]], object] = lambda presence: None
        self.on_bye: Callable[[str], object] = lambda reason: None

    def call(self, method: str, **params: Any) -> Any:
        """Sends a request of this viewer, as `Host.call` does."""
        with self._host._lock:
            if self.left is not None:  # its number may be another viewer's after a restart
                raise Refused({"message": f"this viewer has left: {self.left}", "data": {"kind": "unknown_viewer"}})
            if not self._host._knows(self):
                raise Ended()
            return self._host.call(method, viewer=self.number, **params)

    def mine(self) -> List[Question]:
        """Returns the open questions that this viewer may answer."""
        return [question for question in self.view["questions"] if question["yours"]]

    @property
    def outcome(self) -> Optional[str]:
        """The outcome of the game; `None` while it runs."""
        return self.view["state"].get("outcome")

    def answer(self, question: Question, value: Any, key: Optional[str] = None) -> int:
        """Answers with an exact value: an option's id, a list of ids, a number, points by id, true or false, a line.

        Returns the number of the step. After a restart a seat's questions have other numbers: take the question from the view
        again.
        """
        return cast(int, self.call("answer", question=question["id"], value=value, key=key)["seq"])

    def reply(self, answers: Mapping[str, Any], key: Optional[str] = None) -> int:
        """Answers by topic, with values as they are typed at the prompt: `{"card": "kill damage", "risk": 2}`."""
        return cast(int, self.call("reply", pairs=[list(pair) for pair in answers.items()], key=key)["seq"])

    def answers(self, question: Question, most: Optional[int] = None) -> Optional[List[Any]]:
        """Returns every answer that a question takes; `None` if there are more than `most`."""
        return cast("Optional[List[Any]]", self.call("answers", question=question["id"], most=most).get("answers"))

    def find(self, question: Question, text: str) -> List[Choice]:
        """Returns the options of a question that contain all words of `text`; at most 100, open ones first."""
        return cast("List[Choice]", (self.call("find", question=question["id"], text=text))["options"])

    def odds(self, question: Question, answers: Optional[Mapping[str, Any]] = None, until: Optional[str] = None) -> CardOdds:
        """Returns the possible outcomes of the open action, with answers by topic, up to `until`: agenda entries, or `action`."""
        given = [list(pair) for pair in (answers or {}).items()]
        return CardOdds.read(self.call("odds", question=question["id"], given=given, until=until))

    def hint(self, question: Question, games: Optional[int] = None) -> Json:
        """Ranks the answers to a question by games that are played after each."""
        return cast(Json, self.call("hint", question=question["id"], games=games))

    def undo(self, key: Optional[str] = None) -> Json:
        """Takes back the last decision that this viewer has seen."""
        return cast(Json, self.call("undo", expect=self.view["seq"], key=key))

    def close(self) -> None:
        """Leaves the table. Never raises."""
        with contextlib.suppress(Refused, Ended):
            self.call("bye")
        self.left = self.left or "it was closed"
        self._host._forget(self)

    def refresh(self) -> None:
        """Requests a view. A view that is older than the last step is dropped."""
        self._stale = True
        if self._asking:
            return
        self._asking = True
        try:
            while self._stale:
                self._stale, seq = False, self.view["seq"]
                self._report(self.take_view(self.call("view", since=self.view["revision"], seq=seq)))
                self._take_steps()
                # Some steps may still wait for a lost one.
                self._stale = self._stale or self.lacks_a_step() and self.view["seq"] > seq
        finally:
            self._asking = False

    def greet(self, number: int, view: View) -> None:
        """Takes the result of a `hello`. After a restart of the host `seq` is above all earlier ones."""
        self.number, self._asking = number, False
        self._report(self.begin(view))

    def take(self, method: str, params: Json) -> None:
        """Handles a notice of the host."""
        if method == "step":
            self.take_step(cast(Step, params))
            self._take_steps()
            if self.lacks_a_step() and not self._asking:
                self.refresh()
        elif method == "resync":
            self.refresh()
        elif method == "presence":
            self.view["presence"] = params["presence"]
            self._host._report(self.on_presence, params["presence"])
        elif method == "chat":
            # A view that was requested meanwhile may have the line already.
            lines = self.view.setdefault("chat", [])
            if not lines or lines[-1]["id"] < params["line"]["id"]:
                lines.append(params["line"])
        elif method == "bye":
            self.left = params["reason"]
            self._host._forget(self)
            self._host._report(self.on_bye, params["reason"])

    def _take_steps(self) -> None:
        while True:
            step = self.next_step()
            if step is None:
                return
            self._host._stepped = True
            self._report([("step", step)])

    def _report(self, changes: List[Change]) -> None:
        for name, value in changes:
            self._host._report(self.on_step if name == "step" else self.on_view, value)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


def _print_error(error: Exception) -> None:
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)
