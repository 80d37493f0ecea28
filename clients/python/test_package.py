"""Tests of games, odds, simulations, frames and the asyncio client: `python3 test_package.py [PROGRAM]`.

Without an argument the tests use the program of the installed package, with the rulesets inside it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from typing import Any, Callable, Dict, List

import riskbreaker
from riskbreaker import Game, Refused, aio, protocol
from riskbreaker.program import options, run_json

if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
    os.environ["RISKBREAKER"] = os.path.abspath(sys.argv.pop(1))
FAKE_HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_host.py")
RULES, SEATS = "riskbreaker-0.0.1", {"foes": "bold", "gm": "absent"}

try:
    import pandas
except ImportError:
    pandas = None  # type: ignore[assignment, unused-ignore]


class OddsTest(unittest.TestCase):
    def test_dice_have_exact_fractions(self) -> None:
        odds = riskbreaker.odds("2d6")
        self.assertEqual((odds[7], odds[13], odds.mean, odds.variance), (Fraction(1, 6), 0, 7, Fraction(35, 6)))
        self.assertEqual((odds.at_least(11), odds.at_most(3)), (Fraction(1, 12), Fraction(1, 12)))
        self.assertEqual(sum(chance.value for chance in odds.chances.values()), 1)
        self.assertTrue(odds.exact)

    def test_a_notation_that_cannot_be_read_says_why(self) -> None:
        with self.assertRaisesRegex(riskbreaker.CommandFailed, "(?i)dice|notation|d0|sides"):
            riskbreaker.odds("2d0")
        with self.assertRaises(riskbreaker.CommandFailed):
            riskbreaker.odds("--json")

    def test_a_card_has_outcomes_fields_and_assumed_answers(self) -> None:
        odds = riskbreaker.card_odds("advantage", rules=RULES, scenario="duel", answers={"risk": 2})
        self.assertEqual([chance.fraction for _, chance in odds.outcomes], [Fraction(3, 5), Fraction(2, 5)])
        shown = next(field for field in odds.fields if field.field == "advantage")
        self.assertEqual((shown.entity, shown.before, shown.expected_change), ("fight", 0, Fraction(2, 5)))
        self.assertEqual([(value, chance.fraction) for value, chance in shown.values], [(2, Fraction(3, 5)), (-2, Fraction(2, 5))])
        self.assertIn({"answer": "2", "source": "given", "topic": "risk", "who": "Fighter"}, odds.answers)
        self.assertEqual((odds.remaining.fraction, odds.exact, odds.partial), (0, True, False))

    def test_a_card_that_is_not_open_says_why(self) -> None:
        with self.assertRaisesRegex(riskbreaker.CommandFailed, "Kill Damage is not open"):
            riskbreaker.card_odds("kill_damage", rules=RULES, scenario="duel")

    def test_a_whole_game_sums_to_one_and_a_simulation_agrees(self) -> None:
        odds = riskbreaker.game_odds("duel", rules=RULES)
        self.assertEqual(sum(chance.value for chance in odds.results.values()) + odds.remaining.value, 1)
        self.assertGreater(odds.results["Challenger"].value, odds.results["Defender"].value)
        if pandas is not None:
            self.assertEqual(odds.frame()["chance"].sum() + odds.remaining.value, 1)
        exact = odds.results["Challenger"]
        found = riskbreaker.simulate("duel", rules=RULES, trials=2000, seed=3)
        rate = found.results["Challenger"]
        self.assertLess(rate.low, exact.decimal)
        self.assertGreater(rate.high, exact.decimal)
        self.assertEqual((found.trials, sum(one.count for one in found.results.values())), (2000, 2000))
        self.assertEqual(sum(found.variants[0].rounds.values()), 2000)
        self.assertEqual(found, riskbreaker.simulate("duel", rules=RULES, trials=2000, seed=3))

    def test_rulesets_and_switches_are_compared_on_the_same_dice(self) -> None:
        two = riskbreaker.simulate("duel", rules=[RULES, "riskbreaker-0.0.3"], trials=50)
        self.assertEqual([one.name for one in two.variants], [RULES, "riskbreaker-0.0.3"])
        two = riskbreaker.simulate("duel", rules=RULES, trials=50, switches={"zero_tie": "gm", "unskilled": ["no", "bare_stat"]})
        self.assertEqual(len(two.variants), 2)

    def test_options_of_the_command_line(self) -> None:
        self.assertEqual(
            options(rules="a", layers=["b", "c"], set={"x": True, "y": 2}, as_="Ann", until=None, json=True, vs=[]),
            ["--rules", "a", "--layers", "b,c", "--set", "x=yes", "--set", "y=2", "--as", "Ann", "--json"],
        )


class GameTest(unittest.TestCase):
    def test_a_game_is_played_to_its_end(self) -> None:
        with Game(RULES, scenario="duel", seed=7, seats=SEATS) as game, game.seat("players") as player:
            for _ in range(1000):
                if game.outcome is not None:
                    break
                question = player.mine()[0]
                answers = player.answers(question, most=100) or [question.get("proposal")]
                player.answer(question, answers[0])
            self.assertIsNotNone(game.outcome)
            self.assertEqual(player.outcome, game.outcome)
            self.assertGreater(len(game.log()), 20)
        self.assertEqual(player.left, "it was closed")

    def test_odds_and_hints_of_an_open_question(self) -> None:
        with Game(RULES, scenario="duel", seed=7, seats=SEATS) as game:
            player = game.seat("players")
            while player.mine()[0]["topic"] != "card":
                player.answer(player.mine()[0], player.mine()[0]["proposal"])
            question = player.mine()[0]
            odds = player.odds(question, {"card": "advantage", "risk": 1})
            self.assertEqual(sum(chance.value for _, chance in odds.outcomes) + odds.remaining.value, 1)
            self.assertTrue(player.hint(question, games=40)["answers"])
            seq = player.reply({"card": "advantage", "risk": 1})
            self.assertEqual(player.view["seq"], seq)
            self.assertEqual(game.find("Fighter")["kind"], "character")
            self.assertRaises(KeyError, game.find, "Nobody")

    def test_two_games_share_a_host_and_a_campaign_continues(self) -> None:
        with tempfile.TemporaryDirectory() as folder, riskbreaker.Host() as host:
            campaign = os.path.join(folder, "duel.rbsave")
            with Game(RULES, scenario="duel", seed=7, campaign=campaign, host=host, seats=SEATS) as game:
                other = Game(RULES, scenario="duel", seed=8, host=host)
                self.assertNotEqual(game.table, other.table)
                player = game.seat("players")
                player.answer(player.mine()[0], player.mine()[0]["proposal"])
                questions = player.mine()
            with Game(campaign=campaign, host=host) as game:
                self.assertEqual([one["topic"] for one in game.seat("players").mine()], [one["topic"] for one in questions])
            self.assertEqual(other.master.view["state"]["is"], "asking")

    def test_a_game_that_cannot_begin_leaves_no_program(self) -> None:
        with self.assertRaises(Refused):
            Game("no-such-rules")

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_frames(self) -> None:
        frame = riskbreaker.odds("2d6").frame()
        self.assertEqual((len(frame), frame.loc[7, "chance"], frame["chance"].sum()), (11, Fraction(1, 6), 1))
        frame = riskbreaker.simulate("duel", rules=RULES, trials=100).frame()
        self.assertEqual(frame["count"].sum(), 100)
        self.assertAlmostEqual(frame["share"].sum(), 1)
        self.assertEqual(len(riskbreaker.card_odds("advantage", rules=RULES, scenario="duel", answers={"risk": 2}).frame()), 2)
        with Game(RULES, scenario="duel", seed=7) as game:
            characters = game.entities_frame("character")
            self.assertIn("Fighter", list(characters["title"]))
            self.assertIn("muscle", characters.columns)
            self.assertEqual(len(game.entities_frame("no kind")), 0)
            self.assertEqual(list(game.log_frame().index), [line["revision"] for line in game.log()])


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def test_a_game_is_played_to_its_end_as_the_blocking_client_plays_it(self) -> None:
        async with aio.Game(RULES, scenario="duel", seed=7, seats=SEATS) as game:
            player = await game.seat("players")
            told: List[int] = []
            stepping = asyncio.ensure_future(self.collect(player, told))
            await asyncio.sleep(0)
            for _ in range(1000):
                if game.outcome is not None:
                    break
                question = player.mine()[0]
                answers = await player.answers(question, most=100) or [question.get("proposal")]
                await player.answer(question, answers[0])
            log, last = await game.log(), player.view["seq"]
            await player.close()
            await stepping
        self.assertEqual(told, list(range(told[0], last + 1)))
        with Game(RULES, scenario="duel", seed=7, seats=SEATS) as blocking:
            other = blocking.seat("players")
            while blocking.outcome is None:
                question = other.mine()[0]
                other.answer(question, (other.answers(question, most=100) or [question.get("proposal")])[0])
            self.assertEqual(blocking.log(), log)

    @staticmethod
    async def collect(viewer: aio.Viewer, told: List[int]) -> None:
        async for step in viewer.steps():
            told.append(step["seq"])

    async def test_odds_and_simulations_run_side_by_side(self) -> None:
        dice, card, found = await asyncio.gather(
            aio.odds("2d6"),
            aio.card_odds("advantage", rules=RULES, scenario="duel", answers={"risk": 2}),
            aio.simulate("duel", rules=RULES, trials=100),
        )
        self.assertEqual((dice[7], card.outcomes[0][1].fraction), (Fraction(1, 6), Fraction(3, 5)))
        self.assertEqual(found.trials, 100)

    async def test_views_and_steps_in_every_order_leave_the_newest_state(self) -> None:
        for seed in range(6):
            async with aio.Host(sys.executable, FAKE_HOST, str(seed)) as host:
                # The fake host ignores the arguments after its seed.
                viewer = await host.hello("a", "watcher")
                seen = [viewer.view["seq"]]
                viewer.on_step = lambda step: seen.append(step["seq"])
                viewer.on_view = lambda view: seen.append(view["seq"])
                for round_ in range(40):
                    await host.call("poke")
                    for _ in range(20):
                        truth = await host.call("truth")
                        if viewer.view["seq"] == truth["seq"]:
                            break
                    view: Dict[str, Any] = dict(viewer.view)
                    for name in ("seq", "revision", "entities", "questions"):
                        self.assertEqual(view[name], truth[name], f"{name}, seed {seed}, round {round_}")
                self.assertEqual(seen, sorted(seen))

    async def test_pending_and_later_calls_fail_when_the_program_is_killed(self) -> None:
        host = aio.Host(sys.executable, FAKE_HOST, "1")
        async with host:
            viewer = await host.hello("a", "watcher")
            pending = [asyncio.ensure_future(viewer.call("hang")) for _ in range(3)]
            await asyncio.sleep(0.1)
            self.kill(host)
            results = await asyncio.gather(*pending, return_exceptions=True)
            self.assertEqual([type(one) for one in results], [protocol.Ended] * 3)
            with self.assertRaises(protocol.Ended):
                await host.call("ping")
            await viewer.close()
        await host.close()
        noisy = await aio.Host(sys.executable, FAKE_HOST, "1").start()
        with self.assertRaises(protocol.Ended):
            await noisy.call("noise", text="this is no message")
        await noisy.close()
        with self.assertRaises(OSError):
            await aio.Host("/no/such/program").start()

    async def test_a_campaign_goes_on_after_a_kill_and_other_tables_say_goodbye(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with aio.Host() as host:
                new = {"ruleset": RULES, "scenario": "duel", "seed": 7, "seats": SEATS}
                kept = await host.hello(await host.open(os.path.join(folder, "a.rbsave"), **new), "seat", seat="players")
                lost = await host.hello((await host.call("table.new", **new))["table"])
                reasons: List[str] = []
                lost.on_bye = reasons.append
                question = kept.mine()[0]
                await kept.answer(question, question["proposal"], key="one")
                topics = [question["topic"] for question in kept.view["questions"]]
                self.kill(host)

                async def again() -> Any:
                    return await kept.call("view")

                views = await asyncio.gather(*(host.with_restarts(again) for _ in range(3)))
                self.assertEqual([view["seq"] for view in views], [kept.view["seq"]] * 3)
                self.assertEqual([question["topic"] for question in kept.view["questions"]], topics)
                self.assertEqual(reasons, ["riskbreaker has ended, and no campaign file has this table"])
                with self.assertRaisesRegex(Refused, "this viewer has left"):
                    await lost.call("view")

    async def test_callbacks_may_be_coroutines_and_their_errors_are_reported(self) -> None:
        async with aio.Game(RULES, scenario="duel", seed=7, seats=SEATS) as game:
            player = await game.seat("players")
            errors: List[BaseException] = []
            game.host.on_error = errors.append
            heard: List[int] = []

            async def later(step: protocol.Step) -> None:
                await asyncio.sleep(0)
                heard.append(step["seq"])
                raise KeyError("a mistake in the bot")

            player.on_step = later
            seq = await player.answer(player.mine()[0], player.mine()[0]["proposal"])
            for _ in range(100):
                if errors:
                    break
                await asyncio.sleep(0.01)
            self.assertEqual((heard, [type(error) for error in errors]), ([seq], [KeyError]))
            self.assertEqual(player.view["seq"], seq)

    @staticmethod
    def kill(host: aio.Host) -> None:
        assert host._process is not None
        os.kill(host._process.pid, signal.SIGKILL)


class TypesTest(unittest.TestCase):
    """Compares the types with the schema."""

    def test_types_have_the_keys_of_the_schema(self) -> None:
        program = riskbreaker.find_program()
        definitions = run_json(program, ["serve", "--schema"])["$defs"]
        pairs = {
            "Snapshot": protocol.View, "StepFrame": protocol.Step, "OpenQuestion": protocol.Question, "Choice": protocol.Choice,
            "EntityView": protocol.Entity, "Settings": protocol.Settings, "RulesInForce": protocol.Rules,
            "Present": protocol.Present, "Waiting": protocol.Waiting, "UndoState": protocol.UndoState,
            "TableOptions": protocol.Options, "VoteReport": protocol.Vote, "TakenBack": protocol.TakenBack, "LogStep": protocol.LogStep,
        }  # fmt: skip
        for name, kind in pairs.items():
            keys: Callable[[str], Any] = lambda attribute: set(getattr(kind, attribute))
            self.assertEqual(keys("__annotations__"), set(definitions[name]["properties"]), name)
            self.assertEqual(keys("__required_keys__"), set(definitions[name]["required"]), name)
        kinds = [one["properties"] for one in definitions["Ask"]["oneOf"]]
        self.assertEqual(set(protocol.Ask.__annotations__), {key for properties in kinds for key in properties})

    def test_the_module_is_the_program(self) -> None:
        path = os.path.dirname(os.path.dirname(os.path.abspath(riskbreaker.__file__)))
        command = [sys.executable, "-m", "riskbreaker", "--version"]
        run = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path})
        self.assertRegex(run.stdout, r"^riskbreaker \d")


if __name__ == "__main__":
    unittest.main()
