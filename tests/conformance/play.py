"""Plays games of OpenSpiel move by move against our rulesets for them, and compares the states.

    python3 play.py --program riskbreaker [--games 10] [--only pig] [--json FILE] [--seed 1]

Prints one table: `states` are different states of OpenSpiel that were compared, `twins` comparisons of what a player was told in
two games that differ in one hidden card or die, `refused` answers that the rules forbid and that our host refused, `chance` the
chance outcomes that were seen of all that there are, and `values` our exact values of policies and equilibria, each compared with
OpenSpiel's; the exit code is 1 if anything differs. Needs the packages `open_spiel`, `cvxpy` and `ecos`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Set, Tuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "clients" / "python"))

from mirrors import Mirror, all_games, signs  # noqa: E402
from riskbreaker import Host, Refused  # noqa: E402
from trees import Tree  # noqa: E402

RULESETS = HERE / "rulesets"
GENERATION = re.compile(r'"generation": \d+')


def plain(message: Any) -> str:
    """Returns a message as text, without the number that a host draws at random for each game."""
    return GENERATION.sub('"generation": 0', json.dumps(message))


class Recorder(Host):
    """A host that records every message, by viewer."""

    def __init__(self, *arguments: str) -> None:
        self.heard: List[str] = []
        super().__init__(*arguments)

    def _receive(self) -> Any:
        message = super()._receive()
        self.heard.append(plain(message))
        return message

    def to(self, number: int) -> List[str]:
        """Returns the notices to a viewer in order, without those of presence, which depend on a clock."""
        mark = f'"viewer": {number},'
        return [line for line in self.heard if mark in line and '"method"' in line and '"method": "presence"' not in line]


class Report:
    """The counts of comparisons for one game, and the differences."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.states: Set[str] = set()
        self.games = self.twins = self.refusals = 0
        self.seen: Set[Tuple[str, int]] = set()
        self.possible: Set[Tuple[str, int]] = set()
        self.differences: List[str] = []
        self.values: List[Tuple[str, float, float]] = []
        self.seconds = 0.0

    def check(self, where: Any, what: str, ours: Any, theirs: Any) -> None:
        if ours != theirs:
            self.differences.append(f"{what}: ours {ours}, OpenSpiel {theirs}; after {where.history_str() or 'the start'}")


def kind_of(mirror: Mirror, state: Any) -> str:
    """Names the kind of a chance state: a die or card of a player, or the nth one for everybody."""
    nth = len(signs(state))
    if not mirror.secrets:
        return f"{len(state.legal_actions())} outcomes"
    return f"the {nth}th" if mirror.owner(nth) is None else f"for {mirror.owner(nth)}"


def trajectory(mirror: Mirror, rng: random.Random, seen: Set[Tuple[str, int]]) -> List[Tuple[bool, int]]:
    """Returns a random game of OpenSpiel: for each move whether it is chance, and the action. Prefers new chance outcomes."""
    state, moves, plan = mirror.game.new_initial_state(), [], mirror.plan(rng)
    while not state.is_terminal():
        chance, legal = state.is_chance_node(), state.legal_actions()
        planned = plan(state)
        fresh = [action for action in legal if (kind_of(mirror, state), action) not in seen] if chance else []
        action = rng.choice(fresh or legal) if planned is None else planned
        moves.append((chance, action))
        state.apply_action(action)
    return moves


def faces_of(mirror: Mirror, moves: Sequence[Tuple[bool, int]]) -> List[int]:
    """Returns the faces of our dice for the chance outcomes of a game."""
    state, faces = mirror.game.new_initial_state(), []
    for chance, action in moves:
        if chance:
            faces += mirror.faces(state, action)
        state.apply_action(action)
    return faces


class Table:
    """One of our games with all its viewers. Its dice get the faces of OpenSpiel's game."""

    def __init__(self, host: Host, mirror: Mirror, faces: Sequence[int]) -> None:
        self.host, self.mirror = host, mirror
        self.name = host.call(
            "table.new",
            ruleset=mirror.ruleset,
            scenario=mirror.scenario,
            switches=mirror.switches,
            dice={"written": list(faces)},
            seed=1,
        )["table"]
        self.master = host.hello(self.name)
        self.players = [host.hello(self.name, "seat", seat=seat) for seat in mirror.seats]

    def close(self) -> None:
        self.host.call("table.close", table=self.name)

    def compare(self, state: Any, report: Report) -> Optional[Dict[int, str]]:
        """Compares this state. Returns our options by OpenSpiel's action, or `None` at the end."""
        mirror, view = self.mirror, self.master.view
        report.states.add(state.history_str() if mirror.secrets else str(state))
        over = self.master.outcome is not None
        report.check(state, "the game is over", over, state.is_terminal())
        report.check(state, "the position", mirror.found(view["entities"], over), mirror.position(state))
        if over or state.is_terminal():
            if over and state.is_terminal():
                report.check(state, "the result", mirror.returns(view["entities"]), list(state.returns()))
            return None
        player = state.current_player()
        waiting = sorted(one["seat"] for one in view["waiting"])
        report.check(state, "who is asked", waiting, sorted(mirror.seats[one] for one in mirror.asked(state)))
        for seat, viewer in enumerate(self.players):
            report.check(state, f"questions to {viewer.seat}", len(viewer.mine()), 1 if seat in mirror.asked(state) else 0)
        questions = self.players[player].mine()
        if not questions:
            return None
        settled = mirror.settled(state)
        options: Dict[int, str] = {}
        for option in questions[0]["ask"]["options"]:
            if option["enabled"]:
                action = mirror.action(state, option["id"])
                if action in options:
                    report.differences.append(f"two options for one action: {option['id']}; after {state.history_str()}")
                options[action] = option["id"]
        report.check(state, "legal actions", sorted(set(options) - set(settled)), sorted(state.legal_actions()))
        return options

    def play(self, state: Any, action: int, options: Dict[int, str]) -> bool:
        """Plays an action of OpenSpiel at our table. Returns false if our question needs more actions."""
        player = state.current_player()
        answer = self.mirror.answer([*self.mirror.settled(state), action], options)
        if answer is None:
            return False
        viewer = self.players[player]
        viewer.answer(viewer.mine()[0], answer)
        return True

    def refuses(self, state: Any, report: Report) -> None:
        """Checks that a closed option and an answer out of turn are refused and change nothing."""
        player = state.current_player()
        question, seq = self.players[player].mine()[0], self.master.view["seq"]
        closed = [option["id"] for option in question["ask"]["options"] if not option["enabled"]]
        attempts = [(self.players[player], question, closed[0])] if closed else []
        if self.mirror.asked(state) == [player]:
            other = self.players[(player + 1) % len(self.players)]
            open_one = next(option["id"] for option in question["ask"]["options"] if option["enabled"])
            attempts.append((other, question, open_one))
        for viewer, asked, value in attempts:
            try:
                viewer.answer(asked, value)
                report.differences.append(f"{viewer.seat} may answer {value}; after {state.history_str()}")
            except Refused:
                report.refusals += 1
        report.check(state, "steps after a refusal", self.master.view["seq"], seq)


def chances(mirror: Mirror, state: Any, outcome: int, report: Report) -> None:
    """Compares a chance state: all outcomes are equally likely, and our dice have as many. Counts the outcome as seen."""
    outcomes, kind = state.chance_outcomes(), kind_of(mirror, state)
    report.possible |= {(kind, action) for action in state.legal_actions()}
    report.seen.add((kind, outcome))
    report.check(state, "equal chances", {round(chance * len(outcomes), 9) for _, chance in outcomes}, {1.0})
    sides = mirror.sides(state)
    if sides is not None:
        report.check(state, "sides of a die", sides, len(outcomes))


def play_random(host: Host, mirror: Mirror, rng: random.Random, report: Report) -> None:
    """Plays one random game of OpenSpiel at one of our tables."""
    moves = trajectory(mirror, rng, report.seen)
    table = Table(host, mirror, faces_of(mirror, moves))
    state = mirror.game.new_initial_state()
    for chance, action in moves:
        if chance:
            chances(mirror, state, action, report)
        else:
            options = table.compare(state, report)
            if options is None or action not in options:
                break
            if rng.random() < 0.2:
                table.refuses(state, report)
            table.play(state, action, options)
        state.apply_action(action)
    else:
        table.compare(state, report)
    table.close()
    report.games += 1


def twin_of(mirror: Mirror, moves: Sequence[Tuple[bool, int]], rng: random.Random) -> List[Tuple[bool, int]]:
    """Returns a game with the same moves and another secret, such as a card, as far as the rules allow the moves."""
    states = [mirror.game.new_initial_state()]
    for _, action in moves:
        states.append(states[-1].child(action))
    places = [at for at, (chance, _) in enumerate(moves) if chance]
    secrets = [at for nth, at in enumerate(places) if mirror.owner(nth) is not None]
    secrets += [at for at, (chance, _) in enumerate(moves) if not chance and mirror.is_sealed(states[at])]
    secrets = [at for at in secrets if len(states[at].legal_actions()) > 1]
    place = rng.choice(secrets)
    own, twin = moves[place][1], list(moves)
    legal = states[place].legal_actions()
    other = rng.choice([action for action in legal if action != own])
    for at in places:
        if moves[place][0] and at > place and moves[at][1] == other and len(states[at].legal_actions()) != len(legal):
            twin[at] = (True, own)  # another player holds this card: the two are exchanged
    twin[place] = (moves[place][0], other)
    possible, state = [], mirror.game.new_initial_state()
    for chance, action in twin:
        if state.is_terminal() or action not in state.legal_actions():
            break
        possible.append((chance, action))
        state.apply_action(action)
    return possible


def play_twins(hosts: Sequence[Recorder], mirror: Mirror, rng: random.Random, report: Report) -> None:
    """Plays a game and its twin. Each player gets the same messages as long as OpenSpiel tells that player the same, and others
    as soon as it tells something else."""
    moves = trajectory(mirror, rng, report.seen)
    twin = twin_of(mirror, moves, rng)
    spare = [1] * 60  # the first game may roll more dice than the twin
    for host in hosts:
        host.heard.clear()
    tables = [Table(host, mirror, faces_of(mirror, game) + spare) for host, game in zip(hosts, (moves, twin))]
    states = [mirror.game.new_initial_state() for _ in tables]
    for (chance, action), (_, other) in zip(moves, twin):
        if any(state.is_terminal() for state in states):
            break
        if not chance:
            whole = not mirror.settled(states[0])
            for player, seat in enumerate(mirror.seats):
                # In Hearts the turn shows who holds the two of clubs; the texts of OpenSpiel leave that out.
                told = [(state.current_player(), state.information_state_string(player)) for state in states]
                heard = [host.to(table.players[player].number) for host, table in zip(hosts, tables)]
                views = [table.players[player].call("view", since=0) for table in tables]
                for host in hosts:
                    del host.heard[-1]  # the answer to `view`
                same = heard[0] == heard[1] and plain(views[0]) == plain(views[1])
                if told[0] == told[1] or whole:
                    report.check(states[0], f"{seat} knows the same in twin games", same, told[0] == told[1])
                    report.twins += 1
            options = [table.compare(state, report) for table, state in zip(tables, states)]
            for table, state, open_ones, one in zip(tables, states, options, (action, other)):
                if open_ones is not None and one in open_ones:
                    table.play(state, one, open_ones)
        for state, one in zip(states, (action, other)):
            state.apply_action(one)
    for table in tables:
        table.close()


def exact_value(mirror: Mirror, names: Sequence[str]) -> List[float]:
    """Returns OpenSpiel's expected returns of fixed policies. States with equal text count as one; endless games are cut off when
    their remaining probability is below 10^-13."""
    if mirror.secrets:
        return list(_expected(mirror, mirror.game.new_initial_state(), names))
    root = mirror.game.new_initial_state()
    here, total = {str(root): (root, 1.0)}, [0.0] * len(mirror.seats)
    while here and sum(weight for _, weight in here.values()) > 1e-13:
        then: Dict[str, Tuple[Any, float]] = {}
        for state, weight in here.values():
            if state.is_terminal():
                total = [one + weight * share for one, share in zip(total, state.returns())]
                continue
            steps = state.chance_outcomes() if state.is_chance_node() else mirror.policy(names[state.current_player()], state).items()
            for action, chance in steps:
                if chance > 0:
                    child = state.child(action)
                    key = str(child)
                    known = then.get(key)
                    then[key] = (child, (known[1] if known else 0.0) + weight * chance)
        here = then
    return total


def _expected(mirror: Mirror, state: Any, names: Sequence[str]) -> Iterator[float]:
    if state.is_terminal():
        return iter(state.returns())
    steps = state.chance_outcomes() if state.is_chance_node() else mirror.policy(names[state.current_player()], state).items()
    total = [0.0] * len(mirror.seats)
    for action, chance in steps:
        if chance > 0:
            total = [one + chance * more for one, more in zip(total, _expected(mirror, state.child(action), names))]
    return iter(total)


def our_value(program: str, rulesets: Path, mirror: Mirror, names: Sequence[str]) -> Optional[Tuple[float, str]]:
    """Returns the expected return of the first seat by `odds --game`, and its exact text; `None` if it is not exact."""
    command = [program, "odds", "--rulesets", str(rulesets), "--rules", mirror.ruleset, "--game", mirror.scenario, "--json"]
    for seat, name in zip(mirror.seats, names):
        command += ["--seat", f"{seat}={name}"]
    for switch, value in mirror.switches.items():
        command += ["--set", f"{switch}={value}"]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    if not found["exact"]:
        return None
    chances = [(one["chance"], mirror.value(one["result"])[0]) for one in found["results"]]
    if all(len(one.get("fraction", "x" * 99)) < 99 for one, _ in chances):
        value = sum((Fraction(one["fraction"]) * Fraction(worth) for one, worth in chances), Fraction(0))
        return float(value), str(value) if value.denominator < 10**9 else f"{float(value):.9f}"
    value = sum(one["decimal"] * worth for one, worth in chances)
    return value, f"{value:.9f}"


def compare_values(program: str, rulesets: Path, mirror: Mirror, report: Report) -> None:
    for names in mirror.values:
        ours, theirs = our_value(program, rulesets, mirror, names), exact_value(mirror, names)[0]
        title = " against ".join(names)
        if ours is None or abs(ours[0] - theirs) > 1e-9:
            report.differences.append(f"the value of {title}: ours {ours}, OpenSpiel {theirs}")
        if ours is not None:
            report.values.append((f"{title}: {ours[1]}", ours[0], theirs))


def compare_tree(host: Host, mirror: Mirror, report: Report) -> None:
    """Visits every state of the game at our tables, and solves the tree of their messages with OpenSpiel."""
    tree = Tree(mirror)
    tree.walk(lambda faces: Table(host, mirror, faces), report)
    ours, theirs = tree.equilibrium(), tree.equilibrium_of_the_original()
    if abs(ours - theirs) > 1e-6:
        report.differences.append(f"the equilibrium: ours {ours}, OpenSpiel {theirs}")
    report.values.append((f"equilibrium: {round(ours, 6) + 0.0:.6f}", ours, theirs))


def run(mirror: Mirror, arguments: argparse.Namespace, rulesets: Path = RULESETS) -> Report:
    report, began = Report(mirror.spiel), time.monotonic()
    rng = random.Random(f"{arguments.seed} {mirror.title}")
    games = arguments.games or mirror.games
    options = ("--rulesets", str(rulesets))
    with Host(arguments.program, *options) as host:
        # Plays until every chance outcome was seen, unless `--games` sets the number.
        while report.games < games or not arguments.games and report.seen != report.possible and report.games < 10 * games:
            play_random(host, mirror, rng, report)
        if mirror.tree:
            compare_tree(host, mirror, report)
    if mirror.secrets:
        # Both hosts get the same requests from their start, so even the numbers of viewers and tables are equal.
        with Recorder(arguments.program, *options) as host, Recorder(arguments.program, *options) as second:
            for _ in range(games):
                play_twins((host, second), mirror, rng, report)
    compare_values(arguments.program, rulesets, mirror, report)
    report.seconds = time.monotonic() - began
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="riskbreaker")
    parser.add_argument("--games", type=int, help="random games of each ruleset, instead of as many as it has by itself")
    parser.add_argument("--only", help="the ruleset or game whose name contains this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    reports = []
    print(f"{'game':<44} {'games':>6} {'states':>7} {'twins':>7} {'refused':>8} {'chance':>8} {'differences':>12} {'seconds':>8}  values")
    for mirror in all_games():
        if arguments.only and arguments.only not in mirror.spiel and arguments.only not in mirror.ruleset:
            continue
        report = run(mirror, arguments)
        reports.append((mirror, report))
        values = "; ".join(text for text, _, _ in report.values)
        print(
            f"{mirror.title:<44.44} {report.games:>6} {len(report.states):>7} {report.twins:>7} {report.refusals:>8} "
            f"{f'{len(report.seen)}/{len(report.possible)}':>8} {len(report.differences):>12} {report.seconds:>8.1f}  {values}",
            flush=True,
        )
        for difference in report.differences[:5]:
            print(f"    {difference}")
    states = sum(len(report.states) for _, report in reports)
    differences = sum(len(report.differences) for _, report in reports)
    twins = sum(report.twins for _, report in reports)
    compared = sum(len(report.values) for _, report in reports)
    names = {mirror.ruleset for mirror, _ in reports}
    print(f"{len(names)} games, {states:,} states, {twins:,} comparisons of twin games and {compared} values: {differences} differences")
    if arguments.json:
        rows = [{"game": m.spiel, "games": r.games, "states": len(r.states), "twins": r.twins, "differences": r.differences,
                 "values": r.values} for m, r in reports]
        Path(arguments.json).write_text(json.dumps(rows, indent=1))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
