"""Finds the program `riskbreaker` and runs one of its commands."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from typing import Any, List, Sequence

NAME = "riskbreaker"


class CommandFailed(Exception):
    """A command of the program ended with an error. The text is what it printed."""


def find_program() -> str:
    """Returns the path of the program.

    Searches the environment variable `RISKBREAKER`, the folders in which `pip` puts the programs of this package, and then
    `PATH`. Raises `FileNotFoundError` if there is none.
    """
    named = os.environ.get("RISKBREAKER")
    if named:
        return named
    file = NAME + (".exe" if os.name == "nt" else "")
    package = os.path.dirname(os.path.abspath(__file__))
    folders = [sysconfig.get_path("scripts")]
    folders.append(os.path.dirname(sys.executable))
    if os.name == "posix":
        folders.append(sysconfig.get_path("scripts", "posix_user"))
    folders.append(os.path.join(os.path.dirname(package), "bin"))  # `pip install --target`
    for folder in folders:
        path = os.path.join(folder, file)
        if os.path.isfile(path) and os.access(path, os.X_OK) and not _is_script(path):
            return path
    found = shutil.which(NAME)
    if found is None:
        raise FileNotFoundError(f"there is no program `{NAME}`: install it, or name it in the variable RISKBREAKER")
    return found


def resolve(program: str) -> str:
    """Returns the path of a program that a caller named: searches it for the name `riskbreaker`, and keeps a path as it is."""
    if program != NAME:
        return program
    try:
        return find_program()
    except FileNotFoundError:
        return program


def run_json(program: str, arguments: Sequence[str]) -> Any:
    """Runs a command that writes one JSON object, and returns it. Raises `CommandFailed` with what the program printed."""
    done = subprocess.run([resolve(program), *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return _result(done.returncode, done.stdout, done.stderr)


async def run_json_async(program: str, arguments: Sequence[str]) -> Any:
    """Like `run_json`, without blocking. The program ends if the task is cancelled."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        resolve(program), *arguments, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
    )
    try:
        output, errors = await process.communicate()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    return _result(process.returncode, output, errors)


def options(**values: Any) -> List[str]:
    """Returns command line options. A mapping gives an option NAME=VALUE for each item, a list joins its items by commas, and
    `True` gives an option without a value."""
    words: List[str] = []
    for name, value in values.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, dict):
            for key, one in value.items():
                words += [option, f"{key}={_word(one)}"]
        elif isinstance(value, (list, tuple)):
            if value:
                words += [option, ",".join(map(_word, value))]
        else:
            words += [option, _word(value)]
    return words


def _word(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def _result(code: Any, output: bytes, errors: bytes) -> Any:
    if code != 0:
        text = (errors or output).decode(errors="replace").strip()
        raise CommandFailed(text or f"the program ended with code {code}")
    return json.loads(output)
