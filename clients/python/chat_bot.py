"""A bot for a chat: each channel is a table, and whoever writes there plays.

The chat library is used through `Chat`: for a real library, write a class with these two methods. This example uses the terminal.

    python3 chat_bot.py [--program riskbreaker] [--rulesets DIR] [--campaigns DIR]
    general alice: new tug
    general alice: sit left
    general alice: pull

`new RULESET [SEED]`, `sit SEAT`, `sit gm`, `leave`, `who`, `undo`, `retry` and `skip` are commands; everything else
answers. What is hidden from the table is sent in private: all of it to the game master, and to a player what that seat may
see. With `--campaigns` each game is kept in a file and continues after the host has ended.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import sys
import traceback
import uuid
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Protocol, Tuple

from bot import told
from riskbreaker import Ended, Host, Json, Present, Question, Refused, Viewer

HIDDEN_LINES_SHOWN = 10


class Chat(Protocol):
    """The interface to a chat library. The channel `@AUTHOR` is private."""

    def messages(self) -> Iterator[Tuple[str, str, str]]:
        """Yields channel, author and text of each message when it comes."""

    def send(self, channel: str, text: str) -> None:
        """Writes to a channel."""


class Terminal:
    """A chat in the terminal: lines `CHANNEL AUTHOR: TEXT`."""

    def messages(self) -> Iterator[Tuple[str, str, str]]:
        for line in sys.stdin:
            head, colon, text = line.partition(":")
            channel, _, author = head.strip().partition(" ")
            if colon and author:
                yield channel, author, text.strip()

    def send(self, channel: str, text: str) -> None:
        print(f"[{channel}] {text}", flush=True)


@dataclass
class Channel:
    """A table with its players. `watcher` is a viewer that sees what everybody may see."""

    name: str
    table: str
    watcher: Viewer
    seats: Dict[str, Viewer] = field(default_factory=dict)
    asked: Dict[str, List[Question]] = field(default_factory=dict)  # the questions sent in private, by author
    heard: Dict[Viewer, List[str]] = field(default_factory=dict)  # the lines of the log that were sent, by viewer

    def note(self, viewer: Viewer) -> None:
        self.heard[viewer] = [told(line) for line in viewer.view["log"][-50:]]

    def missed(self, viewer: Viewer) -> List[Json]:
        """Returns the lines of a view that were not sent yet: if the host ends, the notice of a step may be lost."""
        log, heard = viewer.view["log"], self.heard.get(viewer, [])
        lines = [told(line) for line in log]
        for end in range(len(lines) if heard else 0, 0, -1):
            size = min(end, len(heard))
            if lines[end - size : end] == heard[len(heard) - size :]:
                return log[end:]
        return [] if heard else log

    def holder(self, seat: str) -> Optional[str]:
        return next((author for author, viewer in self.seats.items() if seat_of(viewer) == seat), None)


class ChatBot:
    def __init__(self, host: Host, chat: Chat, campaigns: Optional[str] = None) -> None:
        self.host, self.chat, self.campaigns = host, chat, campaigns
        self.channels: Dict[str, Channel] = {}

    def run(self) -> None:
        for name, author, text in self.chat.messages():
            # One key for each message: if the host ends while it is carried out, it is repeated and counts once.
            key = uuid.uuid4().hex
            try:
                self.host.with_restarts(lambda: self.take(name, author, text, key))
            except Ended:
                raise
            except Refused as refused:
                if refused.kind != "key_reused":  # with this kind it was carried out before the host ended
                    self.report(name, str(refused))
            except Exception:  # an error of this bot or of the chat must not end the other tables
                traceback.print_exc()
                self.report(name, "The bot failed at this message.")

    def report(self, name: str, text: str) -> None:
        try:
            self.chat.send(name, text)
        except Exception:
            traceback.print_exc()

    def take(self, name: str, author: str, text: str, key: str) -> None:
        word, _, rest = text.partition(" ")
        rest = rest.strip()
        if word == "new" and not name.startswith("@"):
            self.begin(name, rest.split(), key)
            return
        channel = self.channel_of(name, author)
        viewer = channel.seats.get(author) if channel else None
        if channel is None:
            self.chat.send(name, "No game here. `new RULESET [SEED]` begins one.")
        elif word == "sit":
            self.sit(channel, author, rest)
        elif word == "who":
            # A view is requested, since notices of presence may be a second late.
            present = channel.watcher.call("view")["presence"]
            self.chat.send(name, f"{presence(present)}\n{self.waiting(channel)}")
        elif viewer is None:
            self.chat.send(name, "`sit SEAT` first.")
        elif word == "leave":
            self.stand_up(channel, author)
        elif word == "undo":
            viewer.undo(key)
        elif word in ("retry", "skip") and viewer.role == "game_master":
            viewer.call("remedy", remedy={"retry": "retry", "skip": "skip_action"}[word], key=key)
        else:
            self.answer(channel, viewer, text, key)

    def channel_of(self, name: str, author: str) -> Optional[Channel]:
        """Returns the game of a channel; for a private channel the one at which the author has a seat."""
        if name in self.channels:
            return self.channels[name]
        seated = [channel for channel in self.channels.values() if author in channel.seats]
        return seated[-1] if name.startswith("@") and seated else None

    def begin(self, name: str, words: List[str], key: str) -> None:
        if len(words) > 1 and not words[1].isdigit():
            self.chat.send(name, "A seed is a whole number: `new RULESET [SEED]`.")
            return
        new: Json = {"ruleset": words[0] if words else None, "seed": int(words[1]) if len(words) > 1 else None}
        if self.campaigns:
            file = f"{re.sub(r'[^A-Za-z0-9]', '_', name)[:40]}-{key[:8]}.rbsave"
            table = self.host.open(os.path.join(self.campaigns, file), **new)
        else:
            table = self.host.call("table.new", **new)["table"]
        watcher = self.host.hello(table, "watcher")
        former = self.channels.get(name)
        if former:
            former.watcher.on_bye = lambda reason: None
            with contextlib.suppress(Refused):
                self.host.call("table.close", table=former.table)
        channel = self.channels[name] = Channel(name, table, watcher)
        watcher.on_step = lambda step: self.tell_all(channel, step["events"])
        watcher.on_view = lambda view: self.tell_all(channel, channel.missed(watcher), "The game continues.")
        watcher.on_bye = lambda reason: self.end(channel, reason)
        self.chat.send(name, f"{watcher.view['settings']['rules']['title']}\n{self.now(channel)}")

    def end(self, channel: Channel, reason: str) -> None:
        if self.channels.get(channel.name) is channel:
            del self.channels[channel.name]
        self.chat.send(channel.name, f"This game has ended: {reason}")

    def sit(self, channel: Channel, author: str, seat: str) -> None:
        holder = channel.holder(seat)
        if holder is not None:
            self.chat.send(channel.name, f"{holder} plays {seat} already.")
            return
        role = {"role": "game_master"} if seat == "gm" else {"role": "seat", "seat": seat}
        viewer = self.host.hello(channel.table, **role)
        self.stand_up(channel, author)
        channel.seats[author] = viewer
        viewer.on_step = lambda step: self.tell_one(channel, author, step["events"])
        viewer.on_view = lambda view: self.tell_one(channel, author, channel.missed(viewer))
        self.chat.send(channel.name, f"{author} plays {seat}. {self.now(channel)}")
        self.tell_one(channel, author, viewer.view["log"], HIDDEN_LINES_SHOWN)

    def stand_up(self, channel: Channel, author: str) -> None:
        viewer = channel.seats.pop(author, None)
        channel.asked.pop(author, None)
        if viewer is not None:
            channel.heard.pop(viewer, None)
            viewer.close()
            self.chat.send(channel.name, f"{author} leaves {seat_of(viewer)}.")

    def answer(self, channel: Channel, viewer: Viewer, text: str, key: str) -> None:
        """Answers with the text `VALUE topic VALUE topic VALUE`: the first value is for the open question.

        The game master answers one question by an exact value, of those for seats without a player.
        """
        others = {seat_of(other) for other in channel.seats.values() if other is not viewer}
        mine = [question for question in viewer.mine() if question["seat"] not in others]
        if not mine:
            raise Refused({"message": "It is not your turn."})
        if viewer.role == "game_master":
            viewer.call("answer", question=mine[0]["id"], value=exact(text), key=key)
            return
        head, *rest = text.split() or [""]
        pairs = [[mine[0]["topic"], head], *([topic, value] for topic, value in zip(rest[::2], rest[1::2]))]
        viewer.call("reply", pairs=pairs, key=key)

    def tell_all(self, channel: Channel, events: List[Json], *first: str) -> None:
        channel.note(channel.watcher)
        lines = [told(line) for line in events if line["event"] not in ("back", "answered")]
        lines += [f"Taken back. {line['text']}".strip() for line in events if line["event"] == "back"]
        self.chat.send(channel.name, "\n".join([*first, *lines, self.now(channel)]).strip())

    def tell_one(self, channel: Channel, author: str, events: List[Json], most: Optional[int] = None) -> None:
        """Sends in private what the table must not see: events with an audience, and questions for the author alone."""
        viewer = channel.seats.get(author)
        if viewer is None:
            return
        channel.note(viewer)
        lines = [told(line) for line in events if line.get("audience") is not None]
        lines = lines if most is None else lines[-most:]
        known, hidden = channel.asked.get(author, []), hidden_questions(viewer, channel.watcher)
        lines += [asked(question) for question in hidden if question not in known]
        channel.asked[author] = hidden
        if viewer.view["state"].get("fault"):
            lines.append(f"{viewer.view['state']['fault']['message']} `retry` or `skip`?")
        if lines:
            self.chat.send(f"@{author}", "\n".join(lines))

    def now(self, channel: Channel) -> str:
        """Returns the state of the game: the open questions that all may see, and the seats that the table waits for."""
        view = channel.watcher.view
        if view["state"]["is"] == "over":
            return f"The game is over: {view['state']['outcome']}"
        if view["state"]["is"] == "fault":
            return "A rule failed: the game master decides how to go on."
        return "\n".join([*map(asked, view["questions"]), self.waiting(channel)])

    def waiting(self, channel: Channel) -> str:
        names = [
            f"{waiting['seat']} ({channel.holder(waiting['seat']) or 'nobody sits there'})"
            for waiting in channel.watcher.view["waiting"]
        ]
        return f"Waiting for {', '.join(names)}." if names else "Waiting for nobody."


def seat_of(viewer: Viewer) -> str:
    return viewer.seat or "gm"


def exact(text: str) -> Any:
    """Reads an exact answer: JSON, or else the id of an option or a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def asked(question: Question) -> str:
    """Returns a question in words, with its options."""
    options = ", ".join(option["id"] for option in question["ask"].get("options", []) if option["enabled"])
    return f"{question['seat']}: {question['why']} ({question['topic']}{': ' if options else ''}{options})"


def hidden_questions(viewer: Viewer, watcher: Viewer) -> List[Question]:
    """Returns the questions that a viewer may answer and the table does not see, compared by content: ids differ by viewer."""

    def content(question: Question) -> Json:
        return {name: value for name, value in question.items() if name not in ("id", "yours")}

    public = [content(question) for question in watcher.view["questions"]]
    return [question for question in viewer.mine() if content(question) not in public]


def presence(present: List[Present]) -> str:
    names = [one.get("seat") or one["role"].replace("_", " ") for one in present if one["role"] != "watcher"]
    return f"At the table: {', '.join(names) or 'nobody'}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="riskbreaker")
    parser.add_argument("--rulesets")
    parser.add_argument("--campaigns", metavar="DIR", help="the folder that keeps the games")
    args = parser.parse_args()
    try:
        with Host(args.program, *(["--rulesets", args.rulesets] if args.rulesets else [])) as host:
            ChatBot(host, Terminal(), args.campaigns).run()
    except (Ended, OSError) as error:
        sys.exit(f"{parser.prog}: {error}")


if __name__ == "__main__":
    main()
