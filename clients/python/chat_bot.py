"""A bot for a chat: each channel is a table, and whoever writes there plays.

The chat library stands behind `Chat`: for a real one, write a class with these two methods. Here it is the terminal.

    python3 chat_bot.py [--program riskbreaker] [--rulesets DIR]
    general alice: new tug
    general alice: sit left
    general alice: pull
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Protocol, Tuple

from bot import told
from riskbreaker import Host, Json, Refused, Viewer


class Chat(Protocol):
    """What a chat library has to offer."""

    def messages(self) -> Iterator[Tuple[str, str, str]]:
        """Channel, author and text of each message, as they come."""

    def send(self, channel: str, text: str) -> None:
        """Writes to a channel."""


class Terminal:
    """A chat of one's own: lines `CHANNEL AUTHOR: TEXT`."""

    def messages(self) -> Iterator[Tuple[str, str, str]]:
        for line in sys.stdin:
            head, colon, text = line.partition(":")
            channel, _, author = head.strip().partition(" ")
            if colon and author:
                yield channel, author, text.strip()

    def send(self, channel: str, text: str) -> None:
        print(f"[{channel}] {text}")


@dataclass
class Channel:
    """A table, with those who sit at it."""

    table: str
    watcher: Viewer
    seats: Dict[str, Viewer] = field(default_factory=dict)


class ChatBot:
    def __init__(self, host: Host, chat: Chat) -> None:
        self.host, self.chat = host, chat
        self.channels: Dict[str, Channel] = {}

    def run(self) -> None:
        for channel, author, text in self.chat.messages():
            try:
                self.take(channel, author, text)
            except Refused as refused:
                self.chat.send(channel, str(refused))

    def take(self, name: str, author: str, text: str) -> None:
        word, _, rest = text.partition(" ")
        if word == "new":
            self.begin(name, rest.split())
            return
        channel = self.channels.get(name)
        if channel is None:
            self.chat.send(name, "No game here. `new RULESET [SEED]` begins one.")
        elif word == "sit":
            channel.seats[author] = self.host.hello(channel.table, "seat", seat=rest)
            self.chat.send(name, f"{author} plays {rest}. {self.asks(channel.seats[author].view['questions'])}")
        elif author not in channel.seats:
            self.chat.send(name, "`sit SEAT` first.")
        elif word == "undo":
            channel.seats[author].undo()
        else:
            self.answer(channel.seats[author], text)

    def begin(self, name: str, words: List[str]) -> None:
        if name in self.channels:
            self.host.call("table.close", table=self.channels.pop(name).table)
        seed = int(words[1]) if len(words) > 1 else None
        opened = self.host.call("table.new", ruleset=words[0] if words else None, seed=seed)
        watcher = self.host.hello(opened["table"], "watcher")
        watcher.on_step = lambda step: self.tell(name, step)
        self.channels[name] = Channel(opened["table"], watcher)
        self.chat.send(name, f"{opened['ruleset']}: {self.asks(watcher.view['questions'])}")

    def answer(self, viewer: Viewer, text: str) -> None:
        """`CARD topic VALUE topic VALUE`: the first answer belongs to the open question."""
        mine = viewer.mine()
        if not mine:
            raise Refused({"message": "It is not your turn."})
        head, *rest = text.split()
        pairs = [[mine[0]["topic"], head], *([topic, value] for topic, value in zip(rest[::2], rest[1::2]))]
        viewer.call("reply", pairs=pairs)

    def tell(self, name: str, step: Json) -> None:
        lines = [told(line) for line in step["events"] if line["event"] not in ("back", "answered")]
        state = step["state"]
        lines.append(f"The game is over: {state['outcome']}" if state["is"] == "over" else self.asks(step["questions"]))
        self.chat.send(name, "\n".join(line for line in lines if line))

    def asks(self, questions: List[Json]) -> str:
        return "\n".join(f"{question['seat']}: {question['why']} ({question['topic']})" for question in questions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="riskbreaker")
    parser.add_argument("--rulesets")
    args = parser.parse_args()
    with Host(args.program, *(["--rulesets", args.rulesets] if args.rulesets else [])) as host:
        ChatBot(host, Terminal()).run()


if __name__ == "__main__":
    main()
