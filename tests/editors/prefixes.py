#!/usr/bin/env python3
"""Sends prefixes of every shipped file to the server as unsaved text, as if an author typed the file.

For each prefix the server answers one request about its end. The program fails if the server ends,
if a request panics, or if an answer takes longer than 5 s. After every `--wait` prefixes it waits
until the check is complete, so that unfinished texts are checked as a whole, too.

    prefixes.py [--step 7] [--wait 200] [--every 1] FOLDER...

`--step` is the number of characters between two prefixes, `--wait` the number of prefixes between
two complete checks, and `--every N` takes every Nth file only.
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from server import Fault, Server, position, texts_of

AT = ["hover", "completion", "definition", "references", "prepareRename", "rename"]
OF_FILE = ["documentSymbol", "codeLens"]


def feed(server, path, arguments, count):
    """Sends the prefixes of a file; returns their number so far."""
    whole = path.read_text("utf-8")
    uri = server.open(path, "")
    last = 0
    for cut in [*range(arguments.step, len(whole), arguments.step), len(whole)]:
        server.replace(uri, last, last, whole[last:cut])
        last = cut
        ask(server, uri, count)
        count += 1
        if count % arguments.wait == 0:
            server.idle()
    server.idle()
    server.close(uri)
    return count


def ask(server, uri, count):
    """Sends one request about the end of the text, a different one each time."""
    text = server.texts[uri]
    end = position(text, len(text))
    document = {"textDocument": {"uri": uri}}
    method = (AT + OF_FILE + ["codeAction"])[count % 9]
    if method in OF_FILE:
        server.request(f"textDocument/{method}", document)
    elif method == "codeAction":
        server.actions(uri, {"start": {"line": max(0, end["line"] - 1), "character": 0}, "end": end})
    else:
        place = position(text, max(0, len(text) - 1))
        more = {"newName": "some_other_name"} if method == "rename" else {"context": {"includeDeclaration": True}}
        answer = server.respond(f"textDocument/{method}", {**document, "position": place, **more})
        # Code -32803 refuses to rename a name that cannot be renamed; a panic has code -32603.
        if "error" in answer and answer["error"]["code"] != -32803:
            raise Fault(f"{method}: {answer['error']['message']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--step", type=int, default=7)
    parser.add_argument("--wait", type=int, default=200)
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    begun, count, files, faults = time.monotonic(), 0, 0, []
    slowest = (0.0, "")
    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "errors", "w+", encoding="utf-8") as errors:
        root = Path(folder) / "rulesets"
        for one in arguments.folders:
            shutil.copytree(one, root, dirs_exist_ok=True)
        paths = list(texts_of(root))[:: arguments.every]
        server = Server(folder, errors)
        for path in paths:
            files += 1
            try:
                count = feed(server, path, arguments, count)
            except Fault as fault:
                text = server.texts.get(path.resolve().as_uri(), "")
                faults.append(f"{path.relative_to(root)}: {fault}; the text ends with {text[-60:]!r}")
                print(faults[-1], flush=True)
                if server.process.poll() is None:
                    server.process.terminate()
                slowest = max(slowest, server.slowest)
                server = Server(folder, errors)
            if sys.stdout.isatty():
                print(f"\r{files} of {len(paths)} files", end="", flush=True)
        server.end()
        slowest = max(slowest, server.slowest)
        errors.seek(0)
        panics = [line.strip() for line in errors if "panicked" in line]
    seconds = time.monotonic() - begun
    print(f"{count} beginnings of {files} files in {seconds:.0f} s; slowest: {slowest[1]}, {slowest[0] * 1000:.0f} ms")
    for panic in panics:
        print(panic)
    return 1 if faults or panics else 0


if __name__ == "__main__":
    sys.exit(main())
