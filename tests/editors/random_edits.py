#!/usr/bin/env python3
"""Makes random edits in a ruleset and compares the diagnostics with those of a new server.

    random_edits.py [--edits 1000] [--seed 1] [--compare 100] FOLDER

An edit inserts, deletes, moves or duplicates words or lines of an open file, undoes an earlier edit,
or closes a file without saving it and opens another. After every `--compare` edits, and after the
last one, the check is completed and a new server gets the same unsaved texts. Both servers must have
the same diagnostics for every file.
"""

import argparse
import random
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from server import Fault, Server, texts_of

MOST_OPEN = 6
WORDS = ["end", "function()", "return", "nil", '"', "{", "}", "(", ")", ",", ".", "=", "rb", "\n", "x", "1", "-- ", "é", "🎲", "[["]


def span(text, dice):
    """Returns the span of a random word or line of a text."""
    pattern = r"\w+" if dice.random() < 0.7 else r"[^\n]*\n?"
    found = [match.span() for match in re.finditer(pattern, text) if match.end() > match.start()]
    return dice.choice(found) if found else (0, 0)


def edit(server, uri, dice):
    text = server.texts[uri]
    start, end = span(text, dice)
    kind = dice.randrange(5)
    if kind == 0:
        server.replace(uri, start, end, "")
    elif kind == 1:
        server.replace(uri, start, start, dice.choice(WORDS))
    elif kind == 2:
        other = span(text, dice)
        server.replace(uri, start, end, text[other[0] : other[1]])
    elif kind == 3:
        server.replace(uri, end, end, text[start:end])
    else:
        # A letter is mistyped.
        at = dice.randrange(start, max(end, start + 1))
        server.replace(uri, at, min(at + 1, len(text)), dice.choice("abcxyz_\"'(.: "))


def key(found):
    return sorted((str(one["range"]), one["message"]) for one in found if one is not None)


def differences(server, folder, errors, seen):
    """Yields a line for each file for which a new server has other diagnostics. Counts the diagnostics in `seen`."""
    server.idle(60)
    with Server(folder, errors) as fresh:
        # In the order in which the first server has opened them.
        for uri, text in server.texts.items():
            fresh.open(Path(uri.removeprefix("file://")), text)
        fresh.idle(60)
        # Only open files are compared: a ruleset without an open file keeps the results of its last check.
        for uri in server.texts:
            old, new = key(server.diagnostics(uri)), key(fresh.diagnostics(uri))
            seen.append(len(new))
            if old != new:
                yield f"{uri}: {[one for one in old if one not in new]} instead of {[one for one in new if one not in old]}"
        shown = set(server.published) | set(fresh.published)
        for uri in sorted(shown - set(server.texts)):
            old, new = key(server.diagnostics(uri)), key(fresh.diagnostics(uri))
            if old != new:
                yield f"{uri} (closed): {old[:3]} instead of {new[:3]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compare", type=int, default=100)
    arguments = parser.parse_args()
    dice = random.Random(arguments.seed)
    begun, compared, faults, seen = time.monotonic(), 0, [], []
    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "errors", "w+", encoding="utf-8") as errors:
        root = Path(folder) / "rulesets" / arguments.folder.name
        shutil.copytree(arguments.folder, root)
        paths = list(texts_of(root))
        server = Server(folder, errors)
        saved = {}
        # Edits would break a file for ever, so the last texts are kept for undo.
        history = []
        for count in range(1, arguments.edits + 1):
            if len(server.texts) < 2 or (dice.random() < 0.05 and len(server.texts) < MOST_OPEN):
                path = dice.choice([path for path in paths if path.resolve().as_uri() not in server.texts])
                saved[server.open(path)] = path
            elif dice.random() < 0.03:
                server.close(dice.choice(sorted(server.texts)))
                history.clear()
            elif history and dice.random() < 0.45:
                uri, text = history.pop()
                server.set(uri, text)
            else:
                uri = dice.choice(sorted(server.texts))
                history.append((uri, server.texts[uri]))
                edit(server, uri, dice)
            if dice.random() < 0.3:
                server.idle(60)
            if count % arguments.compare == 0 or count == arguments.edits:
                compared += 1
                for difference in differences(server, folder, errors, seen):
                    faults.append(f"after edit {count}: {difference}")
                    print(faults[-1], flush=True)
        server.end()
        errors.seek(0)
        panics = [line.strip() for line in errors if "panicked" in line]
    seconds = time.monotonic() - begun
    print(
        f"{arguments.edits} edits, compared {compared} times in {seconds:.0f} s: "
        f"{sum(seen)} diagnostics, {len(faults)} differences"
    )
    if not sum(seen):
        print("no edit has led to a diagnostic, so nothing was compared")
        return 1
    for panic in panics:
        print(panic)
    return 1 if faults or panics else 0


if __name__ == "__main__":
    sys.exit(main())
