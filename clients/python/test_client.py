"""Plays against the program: `python3 test_client.py PROGRAM RULESETS`."""

from __future__ import annotations

import random
import sys
import tempfile
import unittest
from typing import Iterator, List, Tuple

import bot
from chat_bot import ChatBot
from riskbreaker import Host, Refused

PROGRAM, RULESETS = sys.argv.pop(1), sys.argv.pop(1)


class Script:
    """A chat that was written beforehand."""

    def __init__(self, *lines: Tuple[str, str, str]) -> None:
        self.lines, self.sent = lines, []  # type: Tuple[Tuple[str, str, str], ...], List[Tuple[str, str]]

    def messages(self) -> Iterator[Tuple[str, str, str]]:
        return iter(self.lines)

    def send(self, channel: str, text: str) -> None:
        self.sent.append((channel, text))


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.host = Host(PROGRAM, "--rulesets", RULESETS)
        self.addCleanup(self.host.close)

    def test_bots_play_a_game_to_its_end_and_know_what_a_fresh_view_tells(self) -> None:
        table = self.host.call("table.new", ruleset="tug", seed=5)["table"]
        seats = [self.host.hello(table, "seat", seat=seat) for seat in ("left", "right")]
        dice = random.Random(1)
        for _ in range(200):
            outcomes = [bot.play(viewer, dice) for viewer in seats]
            for viewer in seats:
                fresh = viewer.call("view")
                for name in ("seq", "revision", "state", "entities", "questions", "waiting", "undo"):
                    self.assertEqual(viewer.view[name], fresh[name], name)
            if outcomes[0]:
                break
        self.assertEqual(seats[0].view["state"]["is"], "over")

    def test_refusals_have_kinds_and_an_undo_needs_what_was_seen(self) -> None:
        table = self.host.call("table.new", ruleset="tug", seed=5)["table"]
        left = self.host.hello(table, "seat", seat="left")
        right = self.host.hello(table, "seat", seat="right")
        question = left.mine()[0]
        for viewer, value, kind in ((left, "nonsense", "not_an_option"), (left, 7, "wrong_type"), (right, "pull", "not_your_seat")):
            with self.assertRaises(Refused) as caught:
                viewer.answer(question, value)
            self.assertEqual(caught.exception.kind, kind)
        first = left.answer(question, "pull", key="a")
        self.assertEqual(left.answer(question, "pull", key="a"), first)
        with self.assertRaises(Refused) as caught:
            left.answer(question, "pull")
        self.assertEqual(caught.exception.kind, "stale")
        with self.assertRaises(Refused) as caught:
            left.call("undo", expect=left.view["seq"] - 1)
        self.assertEqual(caught.exception.kind, "moved")
        left.undo()
        self.assertEqual(left.mine()[0]["topic"], "card")
        self.assertEqual(left.view["seq"], first + 1)

    def test_a_viewer_follows_to_another_entry_of_a_campaign(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            campaign = f"{folder}/tug.rbsave"
            table = self.host.call("table.new", ruleset="tug", seed=5, campaign=campaign)["table"]
            master = self.host.hello(table)
            left = self.host.hello(table, "seat", seat="left")
            left.answer(left.mine()[0], "pull")
            first = master.call("entries", all=True)["entries"][0]["entry"]
            seq = master.call("goto", entry=first)["seq"]
            for viewer in (master, left):
                self.assertEqual(viewer.view["seq"], seq)
                self.assertEqual(viewer.view["questions"], viewer.call("view")["questions"])
            self.host.call("table.close", table=table)

    def test_a_chat_bot_runs_a_table_for_each_channel(self) -> None:
        chat = Script(
            ("den", "ann", "pull"),
            ("den", "ann", "new tug 5"),
            ("den", "ann", "pull"),
            ("den", "ann", "sit left"),
            ("den", "ann", "pull risk 2"),
            ("den", "ann", "pull risk 2"),
            ("den", "bob", "sit right"),
            ("den", "bob", "nonsense"),
            ("den", "bob", "rest"),
        )
        ChatBot(self.host, chat).run()
        told = "\n".join(text for _, text in chat.sent)
        for expected in ("No game here", "`sit SEAT` first", "ann plays left", "not your turn", "`nonsense` does not answer"):
            self.assertIn(expected, told)


if __name__ == "__main__":
    unittest.main()
