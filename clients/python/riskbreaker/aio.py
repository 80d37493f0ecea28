"""The client for asyncio. It has the same names as the blocking one.

    async with Game("riskbreaker-0.0.1", scenario="duel", seed=7, seats={"foes": "bold"}) as game:
        player = await game.seat("players")
        while player.outcome is None:
            for question in player.mine()[:1]:
                await player.answer(question, question["proposal"])
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import sys
import traceback
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Awaitable, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Type, TypeVar, Union, cast

from .follow import Change, Follower
from .game import entities_frame, log_frame, new_table
from .odds import CardOdds, DiceOdds, GameOdds, card_command, dice_command, game_command
from .program import NAME, resolve, run_json_async
from .protocol import Choice, Ended, Entity, Event, Json, Present, Question, Refused, Step, View
from .records import Records
from .simulation import Simulation, sim_command

if TYPE_CHECKING:
    from pandas import DataFrame

Result = TypeVar("Result")
LONGEST_LINE = 256 * 1024 * 1024
"""The longest message that is read. The host has no limit for views."""


class Host(Records["Viewer"]):
    """A host: the program `riskbreaker serve --stdio`, with this process as its operator. Several tasks may share it.

    `Host(...)` only stores the command; `async with`, or `start`, starts the program.
    """

    def __init__(self, program: str = NAME, *options: str) -> None:
        super().__init__()
        self._command = [resolve(program), *options, "serve", "--stdio"]
        self._last = 0
        self._closed = self._stepped = False
        self.ended = True
        self._process: Optional[asyncio.subprocess.Process] = None
        self._reader: Optional[asyncio.Task[None]] = None
        self._restarting: Optional[asyncio.Task[None]] = None
        self._tasks: Set[asyncio.Task[Any]] = set()
        self._waiting: Dict[int, Tuple[asyncio.Future[Any], Callable[[Any], Any]]] = {}
        self.limits: Json = {}
        self.on_error: Callable[[BaseException], object] = _print_error

    async def start(self) -> Host:
        """Starts the program. Raises `OSError` if it cannot be started, and `Ended` if it ends at once."""
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe, limit=LONGEST_LINE)
        self._begin_anew()
        self.ended = self._stepped = self._closed = False
        self._reader = asyncio.ensure_future(self._read(self._process))
        try:
            self.limits = (await self.call("hello", protocol=1, client="python-asyncio"))["limits"]
        except BaseException:
            await self._stop()
            raise
        return self

    async def call(self, method: str, **params: Any) -> Any:
        """Sends a request and waits for its result. A parameter `as` is written `as_`.

        Raises `Refused` if the host refuses it, and `Ended` if the program ends before it answers.
        """
        return await self._request(method, params, lambda result: result)

    async def open(self, campaign: str, **new: Any) -> str:
        """Opens the table of a campaign file; if the file does not exist, a new table with the parameters of `table.new`."""
        table = self._table_of(campaign)
        if table is not None:
            return table
        try:
            return cast(str, (await self.call("table.load", path=campaign, table=new.get("table")))["table"])
        except Refused as refused:
            if refused.kind != "file":
                raise
            with contextlib.suppress(Refused):
                return cast(str, (await self.call("table.new", campaign=campaign, **new))["table"])
            raise

    async def hello(self, table: str, role: str = "game_master", seat: Optional[str] = None) -> Viewer:
        """Opens a viewer at a table: a `game_master`, a `seat` or a `watcher`."""
        viewer = Viewer(self, table, role, seat)
        await self._greet(viewer)
        return viewer

    async def restart(self) -> None:
        """Starts the program again. Each table with a campaign file is loaded, and its viewers continue from their last step.

        Viewers of other tables, and of those that cannot be loaded, get `bye`. Calls at the same time share a restart.
        """
        if self._restarting is None:
            self._restarting = asyncio.ensure_future(self._restart())
            self._restarting.add_done_callback(self._restarted)
        await asyncio.shield(self._restarting)

    async def with_restarts(self, work: Callable[[], Awaitable[Result]], most: int = 20) -> Result:
        """Calls `work`. If the program ends meanwhile, restarts it and calls `work` again. Gives up after `most` restarts in
        a row without a step between them.

        So that nothing is done twice, `work` must read the views again each time, or give each command the same `key` each time.
        """
        fruitless = 0
        while True:
            try:
                if self._restarting is not None or (self.ended and not self._closed):
                    await self.restart()
                return await work()
            except Ended:
                fruitless = 0 if self._stepped else fruitless + 1
                if self._closed or fruitless > most:
                    raise
                await asyncio.sleep(min(0.005 * 2**fruitless, 1.0))

    async def close(self, patience: float = 10.0) -> None:
        """Ends the program when all requests are answered, or kills it after `patience` seconds."""
        self._closed = True
        process = self._process
        if process is not None and not self.ended:
            with contextlib.suppress(OSError):
                assert process.stdin is not None
                process.stdin.close()
            await _ended(process, patience)
        await self._stop()

    async def _stop(self) -> None:
        process, reader = self._process, self._reader
        if process is not None:
            await _ended(process, 0)
        if reader is not None and reader is not asyncio.current_task():
            await asyncio.wait([reader])
        self._end()

    def _end(self) -> None:
        self.ended = True
        waiting, self._waiting = self._waiting, {}
        for future, _ in waiting.values():
            if not future.done():
                future.set_exception(Ended())
                future.exception()  # prevents a warning for a request that nobody waits for any more

    async def _restart(self) -> None:
        await self._stop()
        await self.start()
        reasons = {}
        for table, path in list(self._campaigns.items()):
            try:
                await self.call("table.load", table=table, path=path)
            except Refused as refused:
                reasons[table] = str(refused)
                del self._campaigns[table]
        for viewer in list(self._viewers):
            reason = self._lost(viewer, reasons)
            try:
                if reason is None:
                    await self._greet(viewer)
            except Refused as refused:
                reason = str(refused)
            if reason is not None:
                viewer.take("bye", {"reason": reason})

    def _restarted(self, task: asyncio.Task[None]) -> None:
        self._restarting = None
        if not task.cancelled():
            task.exception()

    async def _request(self, method: str, params: Json, take: Callable[[Any], Any]) -> Any:
        """Sends a request. `take` makes the result from the answer, before any later message is handled."""
        process = self._process
        if self.ended or process is None or process.stdin is None:
            raise Ended()
        params = {name.rstrip("_"): value for name, value in params.items() if value is not None}
        self._last += 1
        number, future = self._last, asyncio.get_running_loop().create_future()

        def taken(result: Any) -> Any:
            self._note_campaign(method, params, result)
            return take(result)

        self._waiting[number] = (future, taken)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        try:
            with contextlib.suppress(OSError):  # the end of the program is detected by the end of its output
                process.stdin.write(json.dumps(message).encode() + b"\n")
                await process.stdin.drain()
            return await future
        finally:
            self._waiting.pop(number, None)

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            while True:
                message = json.loads(await process.stdout.readline() or b"null")
                if not isinstance(message, dict):
                    break
                self._take(message)
        except (OSError, ValueError):
            pass
        # The output has ended or has a line that is no message: the program must end within a second.
        await _ended(process, 1.0)
        if process is self._process:
            self._end()

    def _take(self, message: Json) -> None:
        if "method" in message:
            method, params = message["method"], message.get("params") or {}
            viewer = self._by_number.get(params.get("viewer", 0))
            if viewer is not None:
                self._report(viewer.take, method, params)
            else:
                self._early.append((method, params))  # its `hello` may be answered soon
            return
        future, take = self._waiting.pop(message.get("id", 0), (None, None))
        if future is None or take is None or future.done():
            return
        if "error" in message:
            future.set_exception(Refused(message["error"]))
            return
        try:
            future.set_result(take(message["result"]))
        except Exception as error:
            future.set_exception(error)

    async def _greet(self, viewer: Viewer) -> None:
        last = {"since": viewer.view.get("revision"), "seq": viewer.view.get("seq")}

        def take(welcome: Json) -> None:
            self._by_number[welcome["viewer"]] = viewer
            if viewer not in self._viewers:
                self._viewers.append(viewer)
            viewer.greet(welcome["viewer"], welcome["view"])
            for method, params in list(self._early):
                if params.get("viewer") == viewer.number:
                    self._report(viewer.take, method, params)

        await self._request("hello", {"table": viewer.table, "role": viewer.role, "seat": viewer.seat, **last}, take)

    def _report(self, callback: Callable[..., Any], *arguments: Any) -> None:
        """Calls a callback, which may be a coroutine function. An exception goes to `on_error`, but not `Ended`."""
        try:
            result = callback(*arguments)
        except Exception as error:
            self._failed(error)
            return
        if inspect.isawaitable(result):
            self._spawn(result)

    def _spawn(self, work: Awaitable[Any]) -> None:
        """Runs work in a task of its own. The set keeps a reference, so that the task is not collected."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)

        def done(task: asyncio.Task[Any]) -> None:
            self._tasks.discard(task)
            if not task.cancelled() and task.exception() is not None:
                self._failed(cast(BaseException, task.exception()))

        task.add_done_callback(done)

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, Ended):
            return
        try:
            self.on_error(error)
        except Exception as worse:
            _print_error(worse)

    async def __aenter__(self) -> Host:
        return await self.start() if self._process is None else self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()


class Viewer(Follower):
    """A viewer of a table. `view` is everything that the viewer may know, and always up to date.

    The callbacks are those of the blocking client; they may be coroutine functions. `async for step in viewer.steps()` yields
    the steps one after the other.
    """

    def __init__(self, host: Host, table: str, role: str, seat: Optional[str]) -> None:
        super().__init__()
        self._host, self.table, self.role, self.seat = host, table, role, seat
        self.number = 0
        self.left: Optional[str] = None
        self._stale = self._asking = False
        self._queues: List[asyncio.Queue[Optional[Step]]] = []
        self.on_step: Callable[[Step], object] = lambda step: None
        self.on_view: Callable[[View], object] = lambda view: None
        self.on_presence: Callable[[List[Present]], object] = lambda presence: None
        self.on_bye: Callable[[str], object] = lambda reason: None

    async def call(self, method: str, **params: Any) -> Any:
        """Sends a request of this viewer, as `Host.call` does."""
        return await self._request(method, params, lambda result: result)

    def mine(self) -> List[Question]:
        """Returns the open questions that this viewer may answer."""
        return [question for question in self.view["questions"] if question["yours"]]

    @property
    def outcome(self) -> Optional[str]:
        """The outcome of the game; `None` while it runs."""
        return self.view["state"].get("outcome")

    async def answer(self, question: Question, value: Any, key: Optional[str] = None) -> int:
        """Answers with an exact value: an option's id, a list of ids, a number, points by id, true or false, a line."""
        return cast(int, (await self.call("answer", question=question["id"], value=value, key=key))["seq"])

    async def reply(self, answers: Mapping[str, Any], key: Optional[str] = None) -> int:
        """Answers by topic, with values as they are typed at the prompt: `{"card": "kill damage", "risk": 2}`."""
        return cast(int, (await self.call("reply", pairs=[list(pair) for pair in answers.items()], key=key))["seq"])

    async def answers(self, question: Question, most: Optional[int] = None) -> Optional[List[Any]]:
        """Returns every answer that a question takes; `None` if there are more than `most`."""
        return cast("Optional[List[Any]]", (await self.call("answers", question=question["id"], most=most)).get("answers"))

    async def find(self, question: Question, text: str) -> List[Choice]:
        """Returns the options of a question that contain all words of `text`; at most 100, open ones first."""
        return cast("List[Choice]", (await self.call("find", question=question["id"], text=text))["options"])

    async def odds(self, question: Question, answers: Optional[Mapping[str, Any]] = None, until: Optional[str] = None) -> CardOdds:
        """Returns the possible outcomes of the open action, with answers by topic, up to `until`: agenda entries, or `action`."""
        given = [list(pair) for pair in (answers or {}).items()]
        return CardOdds.read(await self.call("odds", question=question["id"], given=given, until=until))

    async def hint(self, question: Question, games: Optional[int] = None) -> Json:
        """Ranks the answers to a question by games that are played after each."""
        return cast(Json, await self.call("hint", question=question["id"], games=games))

    async def undo(self, key: Optional[str] = None) -> Json:
        """Takes back the last decision that this viewer has seen."""
        return cast(Json, await self.call("undo", expect=self.view["seq"], key=key))

    async def steps(self) -> AsyncIterator[Step]:
        """Yields each step from now on, until the viewer leaves."""
        queue: asyncio.Queue[Optional[Step]] = asyncio.Queue()
        self._queues.append(queue)
        try:
            while self.left is None or not queue.empty():
                step = await queue.get()
                if step is None:
                    return
                yield step
        finally:
            self._queues.remove(queue)

    async def close(self) -> None:
        """Leaves the table. Never raises."""
        with contextlib.suppress(Refused, Ended):
            await self.call("bye")
        self._leave("it was closed")

    async def refresh(self) -> None:
        """Requests a view. A view that is older than the last step is dropped."""
        self._stale = True
        if self._asking:
            return
        self._asking = True
        try:
            while self._stale and self.left is None:
                self._stale, seq, newest = False, self.view["seq"], self.newest_waiting()
                await self._request("view", {"since": self.view["revision"], "seq": seq}, self._take_fresh)
                # Some steps may still wait for a lost one.
                moved = self.view["seq"] > seq or self.newest_waiting() > newest
                self._stale = self._stale or self.lacks_a_step() and moved
        finally:
            self._asking = False

    def greet(self, number: int, view: View) -> None:
        """Takes the result of a `hello`. After a restart of the host `seq` is above all earlier ones."""
        self.number = number
        self._report(self.begin(view))

    def take(self, method: str, params: Json) -> None:
        """Handles a notice of the host."""
        if method == "step":
            self.take_step(cast(Step, params))
            self._take_steps()
            if self.lacks_a_step() and not self._asking:
                self._host._spawn(self.refresh())
        elif method == "resync":
            self._host._spawn(self.refresh())
        elif method == "presence":
            self.view["presence"] = params["presence"]
            self._host._report(self.on_presence, params["presence"])
        elif method == "bye":
            self._leave(params["reason"])
            self._host._report(self.on_bye, params["reason"])

    def _leave(self, reason: str) -> None:
        self.left = self.left or reason
        self._host._forget(self)
        for queue in self._queues:
            queue.put_nowait(None)

    async def _request(self, method: str, params: Json, take: Callable[[Any], Any]) -> Any:
        if self.left is not None:  # its number may be another viewer's after a restart
            raise Refused({"message": f"this viewer has left: {self.left}", "data": {"kind": "unknown_viewer"}})
        if not self._host._knows(self):
            raise Ended()
        return await self._host._request(method, {**params, "viewer": self.number}, take)

    def _take_fresh(self, view: View) -> None:
        self._report(self.take_view(view))
        self._take_steps()

    def _take_steps(self) -> None:
        while True:
            step = self.next_step()
            if step is None:
                return
            self._host._stepped = True
            for queue in self._queues:
                queue.put_nowait(step)
            self._report([("step", step)])

    def _report(self, changes: List[Change]) -> None:
        for name, value in changes:
            self._host._report(self.on_step if name == "step" else self.on_view, value)

    async def __aenter__(self) -> Viewer:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()


class Game:
    """A table with a game, like `riskbreaker.Game`. `async with` starts it."""

    master: Viewer
    table: str

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
        self._new = new_table(ruleset, scenario, seed, seats, switches, layers, position)
        self._campaign = campaign
        self.host = host or Host(program, *(["--rulesets", rulesets] if rulesets else []))

    async def start(self) -> Game:
        """Starts the program if the game has one of its own, and opens the table."""
        try:
            if self._owned:
                await self.host.start()
            if self._campaign:
                self.table = await self.host.open(self._campaign, **self._new)
            else:
                self.table = (await self.host.call("table.new", **self._new))["table"]
            self.master = await self.host.hello(self.table)
        except BaseException:
            if self._owned:
                await self.host.close()
            raise
        return self

    async def seat(self, seat: str) -> Viewer:
        """Opens a viewer that plays a seat and sees what the seat may see."""
        return await self.host.hello(self.table, "seat", seat=seat)

    async def watch(self) -> Viewer:
        """Opens a viewer that sees what everybody may see."""
        return await self.host.hello(self.table, "watcher")

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

    async def log(self) -> List[Event]:
        """Returns the whole log, also the events that are hidden from seats."""
        return cast("List[Event]", (await self.master.call("view", since=0))["log"])

    def entities_frame(self, kind: Optional[str] = None) -> DataFrame:
        """Returns a pandas frame with one row for each entity: its kind, its title and its fields."""
        return entities_frame(self.master.view["entities"], kind)

    async def log_frame(self) -> DataFrame:
        """Returns a pandas frame with one row for each event."""
        return log_frame(await self.log())

    async def close(self) -> None:
        """Ends the table, and the program if the game has started it."""
        if self._owned:
            await self.host.close()
        else:
            await self.host.call("table.close", table=self.table)

    async def __aenter__(self) -> Game:
        return await self.start()

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()


async def odds(dice: str, *, program: str = NAME) -> DiceOdds:
    """Returns the exact distribution of dice, like `riskbreaker.odds`."""
    return DiceOdds.read(await run_json_async(program, dice_command(dice)))


async def card_odds(
    card: str,
    *,
    rules: Optional[str] = None,
    layers: Sequence[str] = (),
    scenario: Optional[str] = None,
    actor: Optional[str] = None,
    targets: Sequence[str] = (),
    answers: Optional[Mapping[str, Any]] = None,
    switches: Optional[Mapping[str, Any]] = None,
    edits: Optional[Mapping[str, Any]] = None,
    until: Optional[str] = None,
    rulesets: Optional[str] = None,
    program: str = NAME,
) -> CardOdds:
    """Returns the odds of a card in a position, like `riskbreaker.card_odds`."""
    command = card_command(card, rules, layers, scenario, actor, targets, answers, switches, edits, until, rulesets)
    return CardOdds.read(await run_json_async(program, command))


async def game_odds(
    scenario: str,
    *,
    rules: Optional[str] = None,
    layers: Sequence[str] = (),
    seats: Optional[Mapping[str, str]] = None,
    switches: Optional[Mapping[str, Any]] = None,
    rulesets: Optional[str] = None,
    program: str = NAME,
) -> GameOdds:
    """Returns the odds of a whole game, like `riskbreaker.game_odds`."""
    return GameOdds.read(await run_json_async(program, game_command(scenario, rules, layers, seats, switches, rulesets)))


async def simulate(
    scenario: Optional[str] = None,
    *,
    rules: Union[str, Sequence[str], None] = None,
    layers: Sequence[str] = (),
    trials: int = 1000,
    seed: int = 1,
    seats: Optional[Mapping[str, str]] = None,
    switches: Optional[Mapping[str, Any]] = None,
    until: Optional[str] = None,
    threads: Optional[int] = None,
    rulesets: Optional[str] = None,
    program: str = NAME,
) -> Simulation:
    """Plays a scenario many times, like `riskbreaker.simulate`."""
    command = sim_command(scenario, rules, layers, trials, seed, seats, switches, until, threads, rulesets)
    return Simulation.read(await run_json_async(program, command))


async def _ended(process: asyncio.subprocess.Process, patience: float) -> None:
    """Waits for the end of a process, and kills it after `patience` seconds."""
    if patience > 0:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.wait(), patience)
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _print_error(error: BaseException) -> None:
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)
