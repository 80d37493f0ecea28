"""Tests of the Discord bot without Discord: `python3 test_bot.py PROGRAM RULESETS`.

`Told` replaces an interaction. It fails if anything is sent before the interaction is acknowledged.
"""

from __future__ import annotations

import sys
import unittest
from typing import Any, List, Optional, Tuple

import bot
from riskbreaker import Question
from riskbreaker.aio import Host

PROGRAM, RULESETS = sys.argv.pop(1), sys.argv.pop(1)


class Told:
    def __init__(self) -> None:
        self.acknowledged = False
        self.secret: List[Tuple[str, Optional[Question]]] = []
        self.said: List[str] = []

    async def defer(self) -> None:
        self.acknowledged = True

    async def private(self, text: str, question: Optional[Question] = None) -> None:
        assert self.acknowledged and text
        self.secret.append((text, question))

    async def public(self, text: str) -> None:
        assert self.acknowledged
        self.said.append(text)


class TablesTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.host = await Host(PROGRAM, "--rulesets", RULESETS).start()
        self.tables = bot.Tables(self.host)

    async def asyncTearDown(self) -> None:
        await self.host.close()

    async def do(self, work: Any) -> Told:
        told = Told()
        await bot.guarded(told, work(told))
        return told

    async def test_two_people_play(self) -> None:
        tables = self.tables
        told = await self.do(lambda reply: tables.ask(1, 7, reply))
        self.assertIn("No game here", told.secret[0][0])
        told = await self.do(lambda reply: tables.new(1, reply, "tug", 5))
        self.assertIn("Tug of war", told.said[0])
        self.assertIn("nobody sits there", told.said[0])
        told = await self.do(lambda reply: tables.sit(1, 7, "Ann", reply, "left"))
        text, question = told.secret[-1]
        assert question is not None
        self.assertEqual([control.value for control in bot.controls(question)], ["pull", "rest"])
        taken = await self.do(lambda reply: tables.sit(1, 8, "Bob", reply, "left"))
        self.assertEqual(taken.secret[0][0], "Somebody plays left already.")
        await self.do(lambda reply: tables.sit(1, 8, "Bob", reply, "right"))
        stale: Any = question["id"]
        told = await self.do(lambda reply: tables.answer(1, 7, reply, stale, "pull"))
        risk = told.secret[-1][1]
        assert risk is not None
        self.assertEqual([control.value for control in bot.controls(risk)], [1, 2, 3])
        number: Any = risk["id"]
        told = await self.do(lambda reply: tables.answer(1, 7, reply, number, 2))
        self.assertIn("Ann pulls", told.said[0])
        self.assertIn("right (<@8>)", told.said[0])
        again = await self.do(lambda reply: tables.answer(1, 7, reply, stale, "pull"))
        self.assertTrue(again.secret)
        self.assertEqual(again.said, [])
        told = await self.do(lambda reply: tables.undo(1, 7, reply))
        self.assertTrue(told.said)
        await self.do(lambda reply: tables.leave(1, 7, reply))
        told = await self.do(lambda reply: tables.ask(1, 7, reply))
        self.assertIn("/sit", told.secret[0][0])

    async def test_hidden_rolls_reach_only_whom_they_concern(self) -> None:
        tables = self.tables
        await self.do(lambda reply: tables.new(1, reply, "bluff", 3))
        told = cy = await self.do(lambda reply: tables.sit(1, 9, "Cy", reply, "gm"))
        question = told.secret[-1][1]
        assert question is not None and question["ask"]["kind"] == "confirm"
        ann = await self.do(lambda reply: tables.sit(1, 7, "Ann", reply, "north"))
        trap: Any = question["id"]
        told = await self.do(lambda reply: tables.answer(1, 9, reply, trap, True))
        self.assertNotIn("peeks", "\n".join(told.said))
        master = "\n".join(text for text, _ in cy.secret + told.secret)
        for secret in ("Nora peeks", "Sam peeks", "Snare of round 1"):
            self.assertIn(secret, master)
            self.assertNotIn(secret, "\n".join(cy.said + ann.said + told.said))
        private = "\n".join(text for text, _ in ann.secret)
        self.assertIn("Nora peeks", private)
        self.assertNotIn("Sam", private)


def question(ask: Any) -> Question:
    return {"id": {"action": 1, "ordinal": 0}, "seat": "left", "topic": "card", "why": "?", "ask": ask, "sealed": False, "yours": True}


def options(count: int, enabled: bool = True) -> List[Any]:
    return [{"id": f"o{number}", "label": f"Option {number} " + "x" * 100, "enabled": enabled} for number in range(count)]


class ControlsTest(unittest.TestCase):
    def test_no_layout_is_beyond_the_limits(self) -> None:
        for count in (0, 1, 20, 21, 25, 26, 60):
            for kind in ("choose", "choose_many", "order", "allot"):
                asked = question({"kind": kind, "options": options(count), "min": 0, "max": 3, "total": 3, "least": 0})
                for page in range(3):
                    found = bot.controls(asked, page)
                    self.assertLessEqual(sum(control.kind == "button" for control in found), 20)
                    self.assertLessEqual(sum(control.kind != "button" for control in found), 4)
                    for control in found:
                        self.assertLessEqual(len(control.label), 80)
                        self.assertLessEqual(len(control.options), 25)
                        self.assertTrue(all(len(label) <= 80 for label, _ in control.options))
                        self.assertLessEqual(control.most, max(1, len(control.options)))

    def test_every_option_is_on_a_page_and_closed_ones_are_on_none(self) -> None:
        asked = question({"kind": "choose", "options": options(60) + options(3, enabled=False)})
        found = [value for page in range(3) for control in bot.controls(asked, page) for _, value in control.options]
        self.assertEqual(found, [f"o{number}" for number in range(60)])

    def test_discord_takes_the_layout(self) -> None:
        async def build() -> None:
            for ask in ({"kind": "choose", "options": options(20)}, {"kind": "choose", "options": options(60)}, {"kind": "line", "max": 9}):
                view = bot.Controls(None, question(ask))  # type: ignore[arg-type]
                self.assertLessEqual(len(view.to_components()), 5)

        import asyncio

        asyncio.run(build())

    def test_forms_are_read_exactly(self) -> None:
        some = [{"id": "a", "label": "Ann", "enabled": True}, {"id": "b", "label": "Bob", "enabled": True}]
        self.assertEqual(bot.read(question({"kind": "order", "options": some}), "bob, Ann"), ["b", "a"])
        self.assertEqual(bot.read(question({"kind": "allot", "options": some}), "Ann 1, b 2"), {"a": 1, "b": 2})
        self.assertEqual(bot.read(question({"kind": "number"}), "7"), 7)
        self.assertEqual(bot.read(question({"kind": "dice"}), "3, 4"), [3, 4])
        self.assertEqual(bot.read(question({"kind": "line"}), "Hello, Ann"), "Hello, Ann")
        self.assertRaises(bot.Trouble, bot.read, question({"kind": "number"}), "many")

    def test_a_ruleset_cannot_mention_anybody(self) -> None:
        self.assertNotIn("@everyone", bot.words({"event": "said", "text": "@everyone **loud**"}))


if __name__ == "__main__":
    unittest.main()
