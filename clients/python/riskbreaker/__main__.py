"""Runs the program: `python -m riskbreaker`."""

from __future__ import annotations

import os
import subprocess
import sys

from .program import find_program


def main() -> None:
    try:
        program = find_program()
    except FileNotFoundError as error:
        sys.exit(str(error))
    if os.name == "posix":
        os.execv(program, [program, *sys.argv[1:]])
    sys.exit(subprocess.run([program, *sys.argv[1:]], check=False).returncode)


main()
