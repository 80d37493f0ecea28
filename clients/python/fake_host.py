"""A host for the tests of the client. It sends views and steps in every order: late, twice, not at all, many at once.

    python3 fake_host.py SEED

`poke` makes steps and sends them at random, `truth` returns the view, `hang` is never answered, `noise` writes `text`, and
`die` ends it.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any, Dict, List

Json = Dict[str, Any]


class FakeHost:
    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.seq, self.behind = 1, False
        self.events: List[Json] = []
        self.steps: List[Json] = []

    def view(self, since: Any = None) -> Json:
        log: List[Json] = []
        for event in self.events:
            if event["event"] == "back":
                log = [known for known in log if known["revision"] <= event["to"]]
            else:
                log.append(event)
        view = {
            "table": "a", "role": "watcher", "revision": len(self.events), "log": log[-50:], "presence": [],
            "entities": [{"id": 1, "at": self.seq}] + [{"id": 2, "at": 0}] * (self.seq % 2), **self.now(),
        }  # fmt: skip
        if since is not None and self.dice.random() < 0.7:
            view.update(after=since, log=[event for event in self.events if event["revision"] > since])
        return view

    def now(self) -> Json:
        question = {"id": {"action": self.seq, "ordinal": 0}, "topic": f"t{self.seq}", "yours": True}
        return {"seq": self.seq, "state": {"is": "asking"}, "questions": [question], "waiting": [], "undo": {}}

    def advance(self) -> Json:
        self.seq += 1
        told = []
        for _ in range(self.dice.randrange(3)):
            line: Json = {"revision": len(self.events) + 1, "event": "said", "text": f"{self.seq}"}
            if self.dice.random() < 0.2:
                line = {"revision": len(self.events) + 1, "event": "back", "to": max(0, len(self.events) - 3)}
            self.events.append(line)
            told.append(line)
        second = {"id": 2, "at": 0} if self.seq % 2 else {"id": 2, "gone": True}
        step = {"viewer": 1, "events": told, "changed": [{"id": 1, "at": self.seq}, second], **self.now()}
        self.steps.append({"jsonrpc": "2.0", "method": "step", "params": step})
        return self.steps[-1]

    def some_steps(self) -> List[Json]:
        """Makes steps, and returns messages: the new steps in any order without some of them, and old steps again."""
        out = []
        for _ in range(self.dice.randrange(5)):
            step = self.advance()
            if not self.behind and self.dice.random() < 0.15:
                self.behind = True
                out.append({"jsonrpc": "2.0", "method": "resync", "params": {"viewer": 1, "reason": "slow"}})
            elif not self.behind and self.dice.random() < 0.1:
                # This step is never sent: the gap before the next one shows it.
                step = self.advance()
            if not self.behind:
                out.append(step)
            if self.dice.random() < 0.2:
                out.append(self.dice.choice(self.steps[:-1] or [step] if self.behind else self.steps))
        if self.dice.random() < 0.3:
            self.dice.shuffle(out)
        return out

    def answer(self, request: Json) -> List[Json]:
        method, params = request["method"], request["params"]

        def reply(result: Json) -> Json:
            return {"jsonrpc": "2.0", "id": request["id"], "result": result}

        if method == "hello" and "table" not in params:
            return [reply({"limits": {}})]
        if method in ("hello", "view"):
            self.behind = False
            view = reply(self.view(params.get("since")))
            if method == "hello":
                view = reply({"viewer": 1, "view": view["result"]})
            out = self.some_steps()
            out.insert(self.dice.randrange(len(out) + 1), view)
            return out
        if method == "poke":
            return [*self.some_steps(), reply({})]
        if method == "truth":
            return [reply(self.view())]
        return []


def main() -> None:
    host = FakeHost(int(sys.argv[1]))
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "noise":
            print(request["params"]["text"], flush=True)
        if request["method"] == "die":
            return
        # One write, so that all messages arrive together.
        sys.stdout.write("".join(json.dumps(message) + "\n" for message in host.answer(request)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
