"""A bot that plays a seat: the proposal of each question, or else a random answer that the question takes.

    python3 bot.py [--program riskbreaker] [--rulesets DIR] RULESET SEAT [SEED]
"""

from __future__ import annotations

import argparse
import random
from typing import Any, Optional

from riskbreaker import Host, Json, Refused, Viewer


def choose(viewer: Viewer, question: Json, dice: random.Random) -> Any:
    """An answer: any that the question takes, the proposal where there are too many to list."""
    answers = viewer.call("answers", question=question["id"], most=200)["answers"]
    if answers:
        return dice.choice(answers)
    return question.get("proposal", "")


def play(viewer: Viewer, dice: random.Random, most: int = 500) -> Optional[str]:
    """Plays until the game is over or others have to decide; gives the outcome."""
    for _ in range(most):
        state, mine = viewer.view["state"], viewer.mine()
        if state["is"] != "asking" or not mine:
            return state.get("outcome")
        question = mine[0]
        try:
            viewer.answer(question, choose(viewer, question, dice))
        except Refused as refused:
            if "proposal" not in question or refused.kind == "stale":
                raise
            viewer.answer(question, question["proposal"])
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="riskbreaker")
    parser.add_argument("--rulesets")
    parser.add_argument("ruleset")
    parser.add_argument("seat")
    parser.add_argument("seed", nargs="?", type=int, default=1)
    args = parser.parse_args()
    options = ["--rulesets", args.rulesets] if args.rulesets else []
    with Host(args.program, *options) as host:
        opened = host.call("table.new", ruleset=args.ruleset, seed=args.seed)
        viewer = host.hello(opened["table"], "seat", seat=args.seat)
        viewer.on_step = lambda step: [print(told(line)) for line in step["events"]] and None
        print("outcome:", play(viewer, random.Random(args.seed)))


def told(line: Json) -> str:
    """An event in words."""
    words = [line[name] for name in ("title", "label", "text") if line.get(name)]
    return " ".join(words) or ", ".join(f"{name} {value}" for name, value in line.items() if name != "revision")


if __name__ == "__main__":
    main()
