"""Tests the client against the program: `python3 test_client.py PROGRAM RULESETS`."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import Any, Iterator, List, Tuple

import bot
from chat_bot import ChatBot
from riskbreaker import Ended, Host, Json, Refused, Viewer

PROGRAM, RULESETS = sys.argv.pop(1), sys.argv.pop(1)
FAKE_HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_host.py")


def kill(host: Host) -> None:
    os.kill(host._process.pid, signal.SIGKILL)


def children() -> List[str]:
    """Returns the child processes of this process that it has not waited for, also those that have ended."""
    listing = subprocess.run(["ps", "-A", "-o", "ppid=,stat=,comm="], capture_output=True, text=True, check=True).stdout
    lines = [line.split(None, 2) for line in listing.splitlines()]
    return [" ".join(line[1:]) for line in lines if line[0] == str(os.getpid()) and line[2] != "ps"]


class DyingHost(Host):
    """A host that is killed repeatedly while it is `mortal`: some time after every few requests."""

    def __init__(self, *command: str, seed: int = 1) -> None:
        self.dice, self.mortal, self.life, self.kills = random.Random(seed), False, 4, 0
        super().__init__(*command)

    def _send(self, message: Json) -> None:
        super()._send(message)
        self.life -= self.mortal
        if self.life == 0:
            self.life = self.dice.randint(4, 14)
            time.sleep(self.dice.uniform(0, 0.012))
            kill(self)
            self.kills += 1


class Script:
    """A chat with prepared messages. It keeps the messages that the bot sends."""

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
        for expected in ("No game here", "`sit SEAT` first", "ann plays left", "not your turn", "No answer here is called `nonsense`"):
            self.assertIn(expected, told)

    def test_a_chat_bot_tells_secrets_in_private_and_says_whom_the_table_waits_for(self) -> None:
        chat = Script(
            ("den", "ann", "new bluff 3"),
            ("den", "ann", "sit north"),
            ("den", "bob", "sit north"),
            ("den", "bob", "sit south"),
            ("den", "cy", "sit gm"),
            ("den", "dan", "sit gm"),
            ("den", "dan", "sit nowhere"),
            ("@cy", "cy", "true"),
            ("den", "bob", "leave"),
            ("den", "dan", "who"),
            ("den", "dan", "sit south"),
            ("den", "ann", "new tug x"),
            ("den", "ann", "new nonsense"),
            ("den", "ann", "new tug 1"),
        )
        ChatBot(self.host, chat).run()
        public = "\n".join(text for channel, text in chat.sent if channel == "den")
        private = {author: "\n".join(text for channel, text in chat.sent if channel == f"@{author}") for author in ("ann", "bob", "cy", "dan")}
        for expected in (
            "Waiting for gm (nobody sits there).",
            "ann plays north already.",
            "Waiting for gm (cy).",
            "cy plays gm already.",
            "bluff has no seat `nowhere`",
            "Waiting for north (ann), south (bob).",
            "bob leaves south.",
            "Waiting for north (ann), south (nobody sits there).\ndan plays south",
            "At the table: north, game master.",
            "A seed is a whole number",
            "there is no ruleset `nonsense`",
            "Tug of war",
        ):
            self.assertIn(expected, public)
        for secret in ("peeks:", "trap", "Snare", "north:  (card"):
            self.assertNotIn(secret, public)
        for expected in ("Nora peeks: d6 gives", "Sam peeks: d6 gives", "gm: a trap? (trap)", "Snare of round 1", "north:  (card: ", "south:  (card: "):
            self.assertIn(expected, private["cy"])
        self.assertEqual(private["cy"].count("a trap?"), 1)
        self.assertIn("Nora peeks", private["ann"])
        self.assertIn("north:  (card: ", private["ann"])
        for secret in ("Sam", "south", "trap", "Snare"):
            self.assertNotIn(secret, private["ann"])
        self.assertIn("Sam peeks", private["dan"])
        # Viewers that left, or whose table was closed, are removed.
        self.assertEqual([viewer.role for viewer in self.host._viewers], ["watcher"])

    def test_a_chat_bot_goes_on_when_a_table_or_its_host_ends(self) -> None:
        chat = Script(("den", "ann", "new tug 5"), ("den", "ann", "sit left"))
        bot = ChatBot(self.host, chat)
        bot.run()
        self.host.call("table.close", table=bot.channels["den"].table)
        self.assertEqual(chat.sent[-1], ("den", "This game has ended: the table was closed"))
        chat.lines = (("den", "ann", "pull"), ("den", "ann", "new tug 5"), ("den", "ann", "sit left"))
        bot.run()
        self.assertIn(("den", "No game here. `new RULESET [SEED]` begins one."), chat.sent)
        kill(self.host)
        # This game has no campaign file.
        chat.lines = (("den", "ann", "pull"), ("den", "ann", "new tug 5"), ("den", "ann", "sit left"), ("den", "ann", "pull"))
        bot.run()
        self.assertIn("riskbreaker has ended, and no campaign file has this table", [text for _, text in chat.sent][-5])
        self.assertIn("left: How hard? (risk)", chat.sent[-1][1])

    def test_a_failing_chat_ends_no_chat_bot(self) -> None:
        class Failing(Script):
            def send(self, channel: str, text: str) -> None:
                super().send(channel, text)
                raise OSError("no network")

        chat = Failing(("den", "ann", "new tug 5"), ("den", "ann", "sit left"), ("den", "ann", "pull risk 2"))
        errors: List[Exception] = []
        self.host.on_error = errors.append
        stderr, sys.stderr = sys.stderr, open(os.devnull, "w")
        try:
            ChatBot(self.host, chat).run()
        finally:
            sys.stderr.close()
            sys.stderr = stderr
        self.assertIn("Ann pulls", chat.sent[-1][1])
        self.assertTrue(errors)


class EndTest(unittest.TestCase):
    """Tests of the end of the host."""

    def assert_no_child(self) -> None:
        self.assertEqual(children(), [])

    def test_pending_and_later_calls_fail_at_once_and_close_leaves_nothing(self) -> None:
        host = Host(sys.executable, FAKE_HOST, "1")
        viewer = host.hello("a", "watcher")
        failed: List[str] = []

        def hang() -> None:
            try:
                viewer.call("hang")
            except Ended as ended:
                failed.append(str(ended))

        threads = [threading.Thread(target=hang) for _ in range(5)]
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        kill(host)
        for thread in threads:
            thread.join()
        self.assertEqual(failed, ["riskbreaker has ended"] * 5)
        self.assert_no_child()
        for call in (lambda: host.call("ping"), viewer.refresh, viewer.undo, lambda: host.hello("a")):
            self.assertRaisesRegex(ConnectionError, "^riskbreaker has ended$", call)
        viewer.close()
        for _ in range(3):
            host.close()
        self.assert_no_child()

    def test_close_ends_every_kind_of_host(self) -> None:
        def killed(host: Host) -> None:
            kill(host)

        def closes_in_a_callback(host: Host) -> None:
            table = host.call("table.new", ruleset="tug", seed=5)["table"]
            master = host.hello(table)
            master.on_step = lambda step: host.close()
            self.assertRaises(Ended, master.answer, master.mine()[0], "pull")

        def stopped(host: Host) -> None:
            os.kill(host._process.pid, signal.SIGSTOP)

        def shut_down(host: Host) -> None:
            host.call("shutdown")

        for prepare in (lambda host: None, killed, closes_in_a_callback, stopped, shut_down):
            host = Host(PROGRAM, "--rulesets", RULESETS)
            prepare(host)
            host.close(patience=0.3 if prepare is stopped else 10)
            self.assert_no_child()
            self.assertRaises(Ended, host.call, "ping")
        for options in (("--rulesets", "/no/such/folder"), ("--no-such-option",)):
            stderr, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)
            try:
                self.assertRaises(Ended, Host, PROGRAM, *options)
            finally:
                os.dup2(stderr, 2)
                os.close(stderr)
                os.close(null)
            self.assert_no_child()

    def test_what_is_no_message_ends_the_host(self) -> None:
        for text in ("this is no message", "null", "7", '{"id": 2'):
            host = Host(sys.executable, FAKE_HOST, "1")
            self.assertRaises(Ended, host.call, "noise", text=text)
            self.assert_no_child()

    def test_an_exception_in_a_callback_is_reported_and_the_view_goes_on(self) -> None:
        with Host(PROGRAM, "--rulesets", RULESETS) as host:
            table = host.call("table.new", ruleset="tug", seed=5)["table"]
            left, right = (host.hello(table, "seat", seat=seat) for seat in ("left", "right"))
            errors: List[Exception] = []

            def fail(*_: Any) -> None:
                raise KeyError("a mistake in the bot")

            host.on_error = errors.append
            left.on_step = left.on_presence = right.on_step = fail
            host.hello(table, "watcher").close()
            for viewer in (left, right):
                bot.play(viewer, random.Random(1), most=2)
            fresh = left.call("view")
            for name in ("seq", "state", "entities", "questions"):
                self.assertEqual(left.view[name], fresh[name])
            self.assertGreater(len(errors), 3)
            self.assertEqual({type(error) for error in errors}, {KeyError})
            # A reporter that raises an exception itself.
            host.on_error = fail
            stderr, sys.stderr = sys.stderr, open(os.devnull, "w")
            try:
                bot.play(left, random.Random(1), most=1)
            finally:
                sys.stderr.close()
                sys.stderr = stderr
            self.assertEqual(left.view["seq"], left.call("view")["seq"])

    def test_a_callback_may_restart_the_host(self) -> None:
        with tempfile.TemporaryDirectory() as folder, Host(PROGRAM, "--rulesets", RULESETS) as host:
            left = host.hello(host.open(f"{folder}/a.rbsave", ruleset="tug", seed=5), "seat", seat="left")
            left.on_step = lambda step: host.restart()
            self.assertRaises(Ended, left.answer, left.mine()[0], "pull")
            self.assertEqual(left.mine()[0]["topic"], "risk")

    def test_viewers_hear_of_presence_and_of_their_end(self) -> None:
        with Host(PROGRAM, "--rulesets", RULESETS) as host:
            table = host.call("table.new", ruleset="tug", seed=5)["table"]
            left, right = (host.hello(table, "seat", seat=seat) for seat in ("left", "right"))
            heard: List[Any] = []
            left.on_presence = lambda presence: heard.append(sorted(one["seat"] for one in presence))
            left.on_bye = heard.append
            right.close()
            right.close()
            # The host sends notices of presence at most once a second.
            for _ in range(50):
                if ["left"] in heard:
                    break
                time.sleep(0.1)
                host.call("ping")
            self.assertEqual(left.view["presence"], left.call("view")["presence"])
            host.call("table.close", table=table)
            self.assertEqual(heard[-2:], [["left"], "the table was closed"])
            self.assertEqual(left.left, "the table was closed")
            for viewer in (left, right):
                self.assertRaises(Refused, viewer.call, "view")
            self.assertEqual(host._viewers, [])

    def test_views_and_steps_in_every_order_leave_the_newest_state(self) -> None:
        views = 0
        for seed in range(13):
            with Host(sys.executable, FAKE_HOST, str(seed)) as host:
                viewer = host.hello("a", "watcher")
                seen = [viewer.view["seq"]]
                viewer.on_step = lambda step: seen.append(step["seq"])
                viewer.on_view = lambda view: seen.append(view["seq"])
                for round_ in range(40):
                    host.call("poke")
                    for _ in range(20):
                        truth = host.call("truth")
                        if viewer.view["seq"] == truth["seq"]:
                            break
                    for name in ("seq", "revision", "entities", "questions"):
                        self.assertEqual(viewer.view[name], truth[name], f"{name}, seed {seed}, round {round_}")
                    count = min(len(viewer.view["log"]), len(truth["log"]))
                    self.assertEqual(viewer.view["log"][-count:] if count else [], truth["log"][-count:] if count else [])
                    views += 1
                self.assertEqual(seen, sorted(seen))
        self.assertGreater(views, 500)


class RestartTest(unittest.TestCase):
    """Tests of games that continue after a restart of the host."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def play(self, name: str, mortal: bool) -> Tuple[str, List[Json], int]:
        """Plays a game in which each answer depends on the state alone. Returns outcome, decisions and number of kills."""

        def answer(viewer: Viewer, question: Json) -> None:
            answers = viewer.call("answers", question=question["id"])["answers"]
            rope = next(entity["fields"]["at"] for entity in viewer.view["entities"] if entity["kind"] == "rope")
            viewer.answer(question, answers[(7 * rope + len(answers)) % len(answers)])

        def play() -> str:
            while viewers[0].view["state"]["is"] == "asking":
                for viewer in viewers:
                    for question in viewer.mine()[:1]:
                        answer(viewer, question)
            return viewers[0].view["state"]["outcome"]

        with DyingHost(PROGRAM, "--rulesets", RULESETS) as host:
            table = host.open(f"{self.folder}/{name}.rbsave", ruleset="tug", seed=5, switches={"wins_at": 10})
            viewers = [host.hello(table, "seat", seat=seat) for seat in ("left", "right")]
            seen = [viewers[0].view["seq"]]
            viewers[0].on_step = lambda step: seen.append(step["seq"])
            viewers[0].on_view = lambda view: seen.append(view["seq"])
            host.mortal = mortal
            outcome = host.with_restarts(play, most=200)
            host.mortal = False
            entries = host.with_restarts(lambda: host.call("entries", table=table)["entries"])
            self.assertEqual(seen, sorted(seen))
            for viewer in viewers:
                self.assertEqual(viewer.view["entities"], viewer.call("view")["entities"])
        self.assertEqual(children(), [])
        return outcome, [entry["text"] for entry in entries], host.kills

    def test_no_answer_is_lost_or_doubled_under_repeated_kills(self) -> None:
        outcome, decisions, _ = self.play("whole", False)
        again, same, kills = self.play("killed", True)
        self.assertEqual((again, same), (outcome, decisions))
        self.assertGreater(kills, 3)

    def test_commands_with_a_key_count_once(self) -> None:
        with DyingHost(PROGRAM, "--rulesets", RULESETS) as host:
            master = host.hello(host.open(f"{self.folder}/keys.rbsave", ruleset="tug", seed=5))
            host.mortal = True
            for number in range(25):
                edit = {"say": {"text": f"line {number}"}}
                host.with_restarts(lambda: master.call("edit", edit=edit, key=f"key {number}"))
            host.mortal = False
            log = host.with_restarts(lambda: master.call("view", since=0)["log"])
        said = [line["text"] for line in log if "line" in line.get("text", "")]
        self.assertEqual([text.split("line ")[1] for text in said], [str(number) for number in range(25)])
        self.assertGreater(host.kills, 2)

    def test_a_table_without_a_campaign_file_says_goodbye(self) -> None:
        with Host(PROGRAM, "--rulesets", RULESETS) as host:
            lost = host.hello(host.call("table.new", ruleset="tug", seed=5)["table"])
            closed = host.hello(lost.table, "watcher")
            kept = host.hello(host.open(f"{self.folder}/kept.rbsave", ruleset="tug", seed=5), "seat", seat="left")
            closed.close()
            reasons: List[str] = []
            lost.on_bye = reasons.append
            kept.answer(kept.mine()[0], "pull")
            kill(host)
            host.with_restarts(lambda: host.call("ping"))
            self.assertEqual(reasons, ["riskbreaker has ended, and no campaign file has this table"])
            # The restarted host counts viewers from 1: the lost one must not act as another.
            lost.close()
            self.assertEqual([lost.number, kept.number], [1, 1])
            self.assertEqual(kept.call("view")["seat"], "left")
            for viewer in (lost, closed):
                self.assertRaisesRegex(Refused, "this viewer has left", viewer.call, "view")
            self.assertEqual(kept.mine()[0]["topic"], "risk")
            # The same holds for a viewer that has not continued yet while another one has.
            other = host.hello(kept.table, "watcher")
            errors: List[Any] = []
            host.on_error = errors.append
            kept.on_view = lambda view: errors.append(other.call("view"))
            kill(host)
            host.with_restarts(lambda: host.call("ping"))
            self.assertEqual(errors, [])
            self.assertEqual(other.call("view")["role"], "watcher")
            # A campaign file that was removed.
            os.remove(f"{self.folder}/kept.rbsave")
            kept.on_bye = reasons.append
            kill(host)
            host.with_restarts(lambda: host.call("ping"))
            self.assertIn("there is no such campaign file", reasons[-1])

    def test_a_host_that_ends_each_time_is_given_up(self) -> None:
        with Host(sys.executable, FAKE_HOST, "1") as host:
            starts: List[int] = []

            def work() -> None:
                starts.append(host._process.pid)
                host.call("die")

            self.assertRaises(Ended, host.with_restarts, work, most=3)
        self.assertEqual(len(set(starts)), 4)
        self.assertEqual(children(), [])

    def test_a_chat_bot_goes_on_when_its_host_is_killed(self) -> None:
        lines = [("den", "ann", "new tug 5"), ("den", "ann", "sit left"), ("den", "bob", "sit right")]
        lines += [("den", author, "pull risk 1") for _ in range(10) for author in ("ann", "bob")]
        told = []
        for mortal in (False, True):
            with DyingHost(PROGRAM, "--rulesets", RULESETS) as host:
                chat = Script(*lines)

                def messages() -> Iterator[Tuple[str, str, str]]:
                    for at, line in enumerate(chat.lines):
                        host.mortal = mortal and at > 0
                        yield line

                chat.messages = messages  # type: ignore[method-assign]
                ChatBot(host, chat, self.folder).run()
                host.mortal = False
                pulls = [line for channel, text in chat.sent for line in text.splitlines() if "Ann pulls" in line or "Bob pulls" in line]
                told.append((pulls, chat.sent[-1][1].splitlines()[-1]))
                self.assertEqual(host.kills > 0, mortal)
        # Lines of a step whose notice was lost at the end of the host are sent, too, and each line once.
        self.assertEqual(told[0], told[1])

    def test_the_bot_program_goes_on_when_its_host_is_killed(self) -> None:
        program = os.path.join(os.path.dirname(FAKE_HOST), "bot.py")
        command = [sys.executable, program, "--program", PROGRAM, "--rulesets", RULESETS, "--campaign", f"{self.folder}/bot.rbsave"]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        playing = subprocess.Popen([*command, "tug", "left,right"], stdout=subprocess.PIPE, encoding="utf-8", env=environment)
        assert playing.stdout is not None
        self.assertNotEqual(playing.stdout.readline(), "")  # the game has begun
        dice, kills = random.Random(1), 0
        while playing.poll() is None and kills < 5:
            time.sleep(dice.uniform(0.05, 0.4))
            listing = subprocess.run(["ps", "-A", "-o", "ppid=,pid="], capture_output=True, text=True, check=True).stdout
            for parent, pid in (line.split() for line in listing.splitlines()):
                if int(parent) == playing.pid:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
                    kills += 1
        self.assertIn("outcome:", playing.communicate(timeout=60)[0])
        self.assertEqual(playing.returncode, 0)


if __name__ == "__main__":
    unittest.main()
