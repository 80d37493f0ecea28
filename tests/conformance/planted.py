"""Plants faults in copies of the rulesets and plays them like `play.py`, which must find each fault.

    python3 planted.py --program riskbreaker [--only hearts]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from mirrors import all_games
from play import RULESETS, run


class Fault(NamedTuple):
    """A text of a file and its replacement. `games` is the number of random games within which the fault must be found."""

    what: str
    game: str
    file: str
    old: str
    new: str
    games: int = 12


FAULTS = [
    Fault("everybody sees the cards", "kuhn_poker", "kuhn-poker/kinds.luau", ', audience = "seat"', ""),
    Fault("the lower card wins", "kuhn_poker", "kuhn-poker/play.luau", "player.card > against.card", "player.card < against.card"),
    Fault("a bet costs 2", "kuhn_poker", "kuhn-poker/play.luau", 'player:add("paid", 1)', 'player:add("paid", 2)'),
    Fault("everybody sees the cards", "leduc_poker", "leduc-poker/kinds.luau", ', audience = "seat"', ""),
    Fault("a raise costs 2 in both rounds", "leduc_poker", "leduc-poker/play.luau", "{ 2, 4 }, 2", "{ 2, 2 }, 2"),
    Fault("three raises a round", "leduc_poker", "leduc-poker/play.luau", "{ 2, 4 }, 2", "{ 2, 4 }, 3"),
    Fault("anybody may fold", "leduc_poker", "leduc-poker/play.luau", "against.paid > player.paid, reason", "true, reason"),
    Fault("a pair counts nothing", "leduc_poker", "leduc-poker/play.luau", "mine == common or theirs ~= common and ", "", 40),
    Fault("no face is wild", "liars_dice(dice_sides=6,numdice=1)", "liars-dice/play.luau", " or die == rb.switches.sides", "", 40),
    Fault("a bid needs one more", "liars_dice(dice_sides=6,numdice=2)", "liars-dice/play.luau", ">= number_of", "> number_of", 40),
    Fault("everybody sees the dice", "liars_dice(dice_sides=6,numdice=1)", "liars-dice/kinds.luau", ', audience = "seat"', ""),
    Fault("everybody sees the rolls", "liars_dice(dice_sides=6,numdice=1)", "liars-dice/play.luau", ", audience = player.seat", ""),
    Fault("a bid may be repeated", "liars_dice(dice_sides=6,numdice=1)", "liars-dice/play.luau", "board.bid + 1, 2", "board.bid, 2"),
    Fault("a 2 loses the turn as well", "pig(winscore=100)", "pig/play.luau", "if face > 1 then", "if face > 2 then"),
    Fault("who has enough may roll", "pig(winscore=30)", "pig/play.luau", "enabled = not enough", "enabled = true"),
    Fault("a 1 keeps the points", "pig(winscore=100)", "pig/play.luau", "if not rolls then -- PI-2", "do"),
    Fault("one diagonal is another line", "tic_tac_toe", "tic-tac-toe/play.luau", "{ 3, 5, 7 }", "{ 3, 5, 8 }", 60),
    Fault("a draw comes a move early", "tic_tac_toe", "tic-tac-toe/play.luau", "#options == 1", "#options == 2", 60),
    Fault("equal cards win for the second", "goofspiel(num_cards=13)", "goofspiel/play.luau", "if bids[1] ~= bids[2] then", "do"),
    Fault("bids are made in turn", "goofspiel(num_cards=13)", "goofspiel/play.luau", "rb.all(asked)", "{ rb.choose(asked[1]), rb.choose(asked[2]) }"),
    Fault("two checkers can be hit", "backgammon", "backgammon/lib/moves.luau", "position.theirs[to] < 2", "position.theirs[to] < 3"),
    Fault("any checker bears off", "backgammon", "backgammon/lib/moves.luau", "(to == 0 or from == last)", "true"),
    Fault("the exact die alone bears off", "backgammon", "backgammon/lib/moves.luau", "(to == 0 or from == last)", "to == 0"),
    Fault("the lower die may be used alone", "backgammon", "backgammon/lib/moves.luau", "if move[1].die == high then", "do"),
    Fault("the bar can wait", "backgammon", "backgammon/lib/moves.luau", "if position.bar > 0 then -- BG-4", "if false then"),
    Fault("a double is played once", "backgammon", "backgammon/play.luau", "not args.again and used == 2", "false"),
    Fault("a double goes on after one die", "backgammon", "backgammon/play.luau", "args.again and used == 2", "args.again and used >= 0"),
    Fault("the lower die begins", "backgammon", "backgammon/play.luau", "dice[1] > dice[2] then x", "dice[1] < dice[2] then x"),
    Fault("the queen counts 12", "hearts", "hearts/lib/cards.luau", "then 13 elseif", "then 12 elseif"),
    Fault("hearts may be led at once", "hearts", "hearts/play.luau", "board.broken or cards", "true or cards"),
    Fault("points in the first trick", "hearts", "hearts/play.luau", "if board.tricks == 0 and", "if board.tricks == 1 and"),
    Fault("cards go the other way", "hearts", "hearts/play.luau", "(at - 1 - board.pass)", "(at - 1 + board.pass)"),
    Fault("all points are no feat", "hearts", "hearts/play.luau", "if player.points == ALL_POINTS then", "if false then", 20),
    Fault("the queen does not break hearts", "hearts", "hearts/play.luau", 'rb.switches.queen_breaks == "on"', "false", 20),
    Fault("everybody sees the hands", "hearts", "hearts/kinds.luau", ', audience = "seat"', ""),
    Fault("everybody sees what can be passed", "hearts", "hearts/play.luau", ' seat = player.seat, audience = player.seat, about = player, topic = "pass"', ' seat = player.seat, about = player, topic = "pass"'),
    Fault("everybody sees what can be played", "hearts", "hearts/play.luau", 'audience = player.seat, topic = "card"', 'topic = "card"'),
]  # fmt: skip


def found(fault: Fault, program: str) -> str:
    """Returns the first difference that was found; empty if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        rulesets = Path(folder) / "rulesets"
        shutil.copytree(RULESETS, rulesets)
        file = rulesets / fault.file
        text = file.read_text()
        assert text.count(fault.old) == 1, f"{fault.file} has `{fault.old}` {text.count(fault.old)} times"
        file.write_text(text.replace(fault.old, fault.new))
        (mirror,) = (mirror for mirror in all_games() if mirror.title == fault.game)
        mirror.tree, mirror.values = False, ()
        arguments = argparse.Namespace(program=program, seed=2, games=fault.games)
        differences = run(mirror, arguments, rulesets).differences
        return differences[0] if differences else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="riskbreaker")
    parser.add_argument("--only", default="", help="the game whose name contains this")
    arguments = parser.parse_args()
    chosen = [fault for fault in FAULTS if arguments.only in fault.game]
    missed = 0
    for fault in chosen:
        difference = found(fault, arguments.program)
        missed += not difference
        print(f"{'found ' if difference else 'MISSED'}  {fault.game.split('(')[0]:<12} {fault.what:<36} {difference[:100]}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} planted faults found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
