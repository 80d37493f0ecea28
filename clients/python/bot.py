"""A bot that plays seats with random answers. With a campaign file it continues after the host has ended.

    python3 bot.py [--program riskbreaker] [--rulesets DIR] [--campaign FILE.rbsave] RULESET SEAT[,SEAT] [SEED]
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import Any, List, Optional

from riskbreaker import Ended, Host, Json, Question, Refused, Viewer


def choose(viewer: Viewer, question: Question, dice: random.Random) -> Any:
    """Returns a random answer that the question takes; the proposal if there are too many to list."""
    answers = viewer.call("answers", question=question["id"], most=200)["answers"]
    if answers:
        return dice.choice(answers)
    return question.get("proposal", "")


def play(viewer: Viewer, dice: random.Random, most: int = 500) -> Optional[str]:
    """Plays until the game is over or others have to decide, and returns the outcome.

    Each turn depends on the view alone, so it may be repeated after a restart: an answer whose result was lost is in the
    view, or its question is open again.
    """
    for _ in range(most):
        state, mine = viewer.view["state"], viewer.mine()
        if state["is"] != "asking" or not mine:
            return state.get("outcome")
        question = mine[0]
        try:
            viewer.answer(question, choose(viewer, question, dice))
        except Refused as refused:
            if "proposal" not in question or refused.kind in ("stale", "unknown_viewer", "unknown_table"):
                raise
            viewer.answer(question, question["proposal"])
    return None


def play_all(viewers: List[Viewer], dice: random.Random) -> Optional[str]:
    """Plays several seats in turn until the game is over or others have to decide, and returns the outcome."""
    while True:
        before = viewers[0].view["seq"]
        for viewer in viewers:
            outcome = play(viewer, dice)
        if outcome is not None or viewers[0].view["seq"] == before:
            return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="riskbreaker")
    parser.add_argument("--rulesets")
    parser.add_argument("--campaign", help="the file that keeps the game; it continues if the file is there")
    parser.add_argument("ruleset")
    parser.add_argument("seats", metavar="SEAT[,SEAT]")
    parser.add_argument("seed", nargs="?", type=int, default=1)
    args = parser.parse_args()
    options = ["--rulesets", args.rulesets] if args.rulesets else []
    viewers: List[Viewer] = []

    try:
        with Host(args.program, *options) as host:

            def game() -> Optional[str]:
                """Sits down, unless that was done before a restart, and plays."""
                new = {"ruleset": args.ruleset, "seed": args.seed}
                if not viewers:
                    table = host.open(args.campaign, **new) if args.campaign else host.call("table.new", **new)["table"]
                for seat in args.seats.split(",")[len(viewers) :]:
                    viewers.append(host.hello(viewers[0].table if viewers else table, "seat", seat=seat))
                viewers[0].on_step = lambda step: print(*map(told, step["events"]), sep="\n") if step["events"] else None
                viewers[0].on_view = lambda view: print("continues at step", view["seq"])
                return play_all(viewers, random.Random(args.seed))

            print("outcome:", host.with_restarts(game))
    except (Refused, Ended, OSError) as error:
        sys.exit(f"{parser.prog}: {error}")


def told(line: Json) -> str:
    """Returns an event in words."""
    if line["event"] == "rolled":
        words = [f"{line['label']}: {line['dice']} gives {line.get('explain') or line['total']}"]
        words += [f"({line['need']})"] if line.get("need") else []
        if line.get("success") is not None:
            words.append("succeeds" if line["success"] else "fails")
        words += [line["result"]] if line.get("result") else []
    elif line["event"] == "answered":
        words = [f"{line['seat']}: {line['topic']} {line['text']}"]
    else:
        words = [line[name] for name in ("title", "label", "text", "reason") if line.get(name)]
    return " ".join(words) or ", ".join(f"{name} {value}" for name, value in line.items() if name != "revision")


if __name__ == "__main__":
    main()
