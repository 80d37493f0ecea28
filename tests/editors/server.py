"""A client of `riskbreaker lsp` without an editor. Needs only the standard library."""

import json
import os
import queue
import subprocess
import threading
import time
from pathlib import Path

# The longest time, in seconds, that an answer may take.
LATEST = 5.0


class Fault(Exception):
    """The error of a server that has ended, has answered too late or has refused a valid request."""


def program():
    """Returns the program under test: that of the environment variable RISKBREAKER, or else the one in PATH."""
    return os.environ.get("RISKBREAKER", "riskbreaker")


def texts_of(folder):
    """Yields the files of rulesets that the server checks, in order."""
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix in (".luau", ".toml") or path.name == "RULES.md":
            if not any(part.startswith(".") for part in path.relative_to(folder).parts):
                yield path


def position(text, at):
    """Returns the position of a character in a text as the protocol counts: lines, and units of UTF-16."""
    line_start = text.rfind("\n", 0, at) + 1
    units = len(text[line_start:at].encode("utf-16-le")) // 2
    return {"line": text.count("\n", 0, at), "character": units}


def offset(text, place):
    """Returns the index of the character at a position of the protocol."""
    lines = text.split("\n")
    line = min(place["line"], len(lines) - 1)
    start = sum(len(one) + 1 for one in lines[:line])
    units, count = 0, 0
    for letter in lines[line]:
        if units >= place["character"]:
            break
        units += 2 if ord(letter) > 0xFFFF else 1
        count += 1
    return start + count


def edited(text, edits):
    """Returns a text after edits of the protocol."""
    for edit in sorted(edits, key=lambda edit: offset(text, edit["range"]["start"]), reverse=True):
        start, end = (offset(text, edit["range"][side]) for side in ("start", "end"))
        text = text[:start] + edit["newText"] + text[end:]
    return text


class Server:
    """A running server with one open workspace."""

    def __init__(self, folder, errors=None):
        self.folder = Path(folder).resolve()
        self.errors = errors
        self.process = subprocess.Popen(
            [program(), "lsp"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        )
        self.answers = queue.Queue()
        self.texts = {}
        self.versions = {}
        # The last diagnostics of each file, by its URI.
        self.published = {}
        self.slowest = (0.0, "")
        self.next_id = 0
        threading.Thread(target=self._read, daemon=True).start()
        capabilities = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": False}}}
        self.request("initialize", {"processId": None, "rootUri": self.folder.as_uri(), "capabilities": capabilities})
        self.notify("initialized", {})

    def _read(self):
        output = self.process.stdout
        while True:
            length = 0
            while (line := output.readline()).strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not line:
                self.answers.put(None)
                return
            message = json.loads(output.read(length))
            if message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                self.published[params["uri"]] = params["diagnostics"]
            elif message.get("method") == "window/logMessage":
                self.answers.put(message)
            elif "method" not in message:
                self.answers.put(message)

    def _write(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self.process.stdin.flush()
        except OSError as error:
            raise Fault("the server has ended") from error

    def notify(self, method, params):
        self._write({"method": method, "params": params})

    def respond(self, method, params, latest=LATEST):
        """Sends a request and returns the whole response."""
        self.next_id += 1
        self._write({"id": self.next_id, "method": method, "params": params})
        begun = time.monotonic()
        while True:
            try:
                answer = self.answers.get(timeout=max(0.0, begun + latest - time.monotonic()))
            except queue.Empty:
                raise Fault(f"{method}: no answer within {latest:.0f} s") from None
            if answer is None:
                raise Fault(f"{method}: the server has ended with code {self.process.wait()}")
            if answer.get("method") == "window/logMessage":
                raise Fault(answer["params"]["message"])
            if answer["id"] == self.next_id:
                taken = time.monotonic() - begun
                self.slowest = max(self.slowest, (taken, method))
                return answer

    def request(self, method, params, latest=LATEST):
        """Sends a request and returns its result. Raises `Fault` if the server refuses it."""
        answer = self.respond(method, params, latest)
        if "error" in answer:
            raise Fault(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def idle(self, latest=LATEST):
        """Waits until every change is checked; the diagnostics are current then."""
        self.request("riskbreaker/idle", None, latest)

    def open(self, path, text=None):
        path = Path(path)
        uri = path.resolve().as_uri()
        self.texts[uri] = path.read_text("utf-8") if text is None else text
        self.versions[uri] = 1
        language = {".luau": "luau", ".toml": "toml"}.get(path.suffix, "markdown")
        item = {"uri": uri, "languageId": language, "version": 1, "text": self.texts[uri]}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def close(self, uri):
        del self.texts[uri]
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def replace(self, uri, start, end, new):
        """Replaces characters of an open text, as an editor does while somebody types."""
        text = self.texts[uri]
        span = {"start": position(text, start), "end": position(text, end)}
        self.texts[uri] = text[:start] + new + text[end:]
        self.change(uri, [{"range": span, "text": new}])

    def set(self, uri, text):
        """Replaces an open text as a whole."""
        self.texts[uri] = text
        self.change(uri, [{"text": text}])

    def change(self, uri, changes):
        self.versions[uri] += 1
        document = {"uri": uri, "version": self.versions[uri]}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def at(self, method, uri, at, **more):
        """Sends a request about a character of an open text."""
        place = position(self.texts[uri], at)
        return self.request(method, {"textDocument": {"uri": uri}, "position": place, **more})

    def actions(self, uri, span, diagnostics=()):
        params = {"textDocument": {"uri": uri}, "range": span, "context": {"diagnostics": list(diagnostics)}}
        return self.request("textDocument/codeAction", params) or []

    def diagnostics(self, uri):
        return self.published.get(uri, [])

    def end(self):
        """Ends the server by `shutdown` and `exit`; the exit code must be 0."""
        self.request("shutdown", None)
        self.notify("exit", None)
        code = self.process.wait(LATEST)
        if code != 0:
            raise Fault(f"the server has ended with code {code}")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.end()
        finally:
            if self.process.poll() is None:
                self.process.terminate()
                self.process.wait(LATEST)
