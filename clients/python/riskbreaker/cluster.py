"""Plays the parts of one simulation on many machines, and merges them. One process would give the same bytes.

    from riskbreaker import cluster

    cluster.simulate("duel", trials=1_000_000, parts=64, on=cluster.ray())             # pip install riskbreaker[ray]
    cluster.simulate("duel", trials=1_000_000, parts=64, on=cluster.dask("host:8786"))  # pip install riskbreaker[dask]
    cluster.simulate("duel", trials=1_000_000, parts=8, on=pool.map)  # any pool of concurrent.futures

Every worker needs this package in the same version, and the folder `rulesets`, if one is named, at the same path.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import tempfile
from importlib import import_module
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

from .program import NAME, CommandFailed, resolve
from .simulation import Simulation, sim_command

Task = Callable[[int], bytes]
Spread = Callable[[Task, Sequence[int]], Iterable[bytes]]
"""Runs a task for each of several numbers somewhere and returns the results in any order, as `map` does."""


def ray(**options: Any) -> Spread:
    """Runs tasks on the Ray cluster that `ray.init` has joined, or on this machine. `options` are those of a remote
    function, such as `num_cpus=2`."""
    cluster = import_module("ray")

    def spread(task: Task, numbers: Sequence[int]) -> Iterable[bytes]:
        remote = cluster.remote(**{"num_cpus": 1, **options})(_call)
        return cluster.get([remote.remote(task, number) for number in numbers])  # type: ignore[no-any-return]

    return spread


def dask(scheduler: Any) -> Spread:
    """Runs tasks on the workers of a Dask scheduler: a `distributed.Client`, or an address such as `host:8786`."""
    library = import_module("distributed")
    client = scheduler if isinstance(scheduler, library.Client) else library.Client(scheduler)

    def spread(task: Task, numbers: Sequence[int]) -> Iterable[bytes]:
        return client.gather(client.map(task, list(numbers), pure=False))  # type: ignore[no-any-return]

    return spread


def simulate(
    scenario: Optional[str] = None,
    *,
    parts: int,
    on: Spread,
    rules: Union[str, Sequence[str], None] = None,
    layers: Sequence[str] = (),
    trials: int = 1000,
    seed: int = 1,
    seats: Optional[Mapping[str, str]] = None,
    switches: Optional[Mapping[str, Any]] = None,
    threads: int = 1,
    rulesets: Optional[str] = None,
    program: str = NAME,
) -> Simulation:
    """Plays a scenario many times in `parts` tasks of `threads` threads each. Returns the result of `riskbreaker.simulate`."""
    command = sim_command(scenario, rules, layers, trials, seed, seats, switches, None, threads, rulesets)
    return Simulation.read(json.loads(report(command, parts, on, rulesets, program)))


def report(command: Sequence[str], parts: int, on: Spread, rulesets: Optional[str] = None, program: str = NAME) -> bytes:
    """Returns the report that a command `sim --json` writes, played in parts."""
    task = functools.partial(play_part, list(command), parts, program)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, part in enumerate(on(task, range(1, parts + 1))):
            files.append(os.path.join(folder, f"part-{number}.json"))
            with open(files[-1], "wb") as file:
                file.write(part)
        where = ["--rulesets", rulesets] if rulesets else []
        return _output([resolve(program), "merge", "--json", *where, *files])


def play_part(command: Sequence[str], parts: int, program: str, number: int) -> bytes:
    """Plays part `number` of `parts`, from 1, and returns the file that `sim --save` writes. Runs on a worker."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "part.json")
        _output([resolve(program), command[0], "--shard", f"{number}/{parts}", "--save", file, *command[1:]])
        with open(file, "rb") as part:
            return part.read()


def _call(task: Task, number: int) -> bytes:
    return task(number)


def _output(command: Sequence[str]) -> bytes:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise CommandFailed((done.stderr or done.stdout).decode(errors="replace").strip() or f"code {done.returncode}")
    return done.stdout
