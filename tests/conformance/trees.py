"""Builds the whole tree of a small game from the messages of our host, and solves it with OpenSpiel."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Sequence, Tuple

import pyspiel
from mirrors import Mirror
from open_spiel.python.algorithms import sequence_form_lp

Moves = Tuple[Tuple[bool, int], ...]


class Tree:
    """The decisions and ends of a game by history. The information set of a decision is that of our messages to its player."""

    def __init__(self, mirror: Mirror) -> None:
        self.mirror = mirror
        self.decisions: Dict[Moves, Tuple[int, str, List[int]]] = {}
        self.ends: Dict[Moves, List[float]] = {}
        self.sets: Dict[str, int] = {}

    def walk(self, table: Callable[[Sequence[int]], Any], report: Any) -> None:
        """Plays every game: each outcome of the dice at a table of its own, and all answers there by undo."""
        for outcomes in self._falls():
            self._seated = table(outcomes[0])
            self._walk(self.mirror.game.new_initial_state(), (), list(outcomes[1]), report)
            self._seated.close()

    def _falls(self) -> List[Tuple[List[int], List[int]]]:
        """Returns all chance outcomes of the longest games: our faces and OpenSpiel's actions."""
        falls: List[Tuple[List[int], List[int], Any]] = [([], [], self.mirror.game.new_initial_state())]
        done: List[Tuple[List[int], List[int]]] = []
        while falls:
            faces, actions, state = falls.pop()
            while not state.is_terminal() and not state.is_chance_node():
                legal = state.legal_actions()  # in Leduc poker a call leads to the next card; in the other games all dice are rolled first
                state = state.child(1 if 1 in legal else legal[-1])
            if state.is_terminal():
                done.append((faces, actions))
                continue
            for outcome in state.legal_actions():
                falls.append((faces + self.mirror.faces(state, outcome), [*actions, outcome], state.child(outcome)))
        return done

    def _walk(self, state: Any, moves: Moves, outcomes: List[int], report: Any) -> None:
        while state.is_chance_node():
            moves, state, outcomes = (*moves, (True, outcomes[0])), state.child(outcomes[0]), outcomes[1:]
        key = str(state) if not self.mirror.secrets else None
        if moves in self.ends or key is not None and key in self.sets or moves in self.decisions and not outcomes:
            return
        options = self._seated.compare(state, report)
        if options is None:
            self.ends[moves] = self.mirror.returns(self._seated.master.view["entities"])
            if key is not None:
                self.sets[key] = len(self.sets)
            return
        player = state.current_player()
        known = key if key is not None else f"{player} {_knowledge(self._seated.players[player].view)}"
        self.sets.setdefault(known, len(self.sets))
        self.decisions[moves] = (player, known, sorted(options))
        for action in sorted(options):
            self._seated.play(state, action, options)
            self._walk(state.child(action), (*moves, (False, action)), outcomes, report)
            self._seated.master.undo()

    def equilibrium(self) -> float:
        """Returns the value of the game to its first player, from the messages of our host."""
        if not self.mirror.secrets:
            return self._minimax()
        return _solve(pyspiel.load_efg_game(self._efg()))

    def equilibrium_of_the_original(self) -> float:
        """Returns the value of OpenSpiel's own game to its first player."""
        if not self.mirror.secrets:
            return _minimax_of(self.mirror.game.new_initial_state(), {})
        return _solve(self.mirror.game)

    def _minimax(self) -> float:
        values: Dict[str, float] = {}
        state = self.mirror.game.new_initial_state()

        def value(moves: Moves, state: Any) -> float:
            key = str(state)
            if key not in values:
                if moves in self.ends:
                    values[key] = self.ends[moves][0]
                else:
                    player, _, actions = self.decisions[moves]
                    children = [value((*moves, (False, action)), state.child(action)) for action in actions]
                    values[key] = max(children) if player == 0 else min(children)
            return values[key]

        return value((), state)

    def _efg(self) -> str:
        """Returns the tree in Gambit's format. All chance outcomes are equally likely, as with our dice and decks."""
        lines = ['EFG 2 R "Ours" { "first" "second" }']
        numbers: List[Dict[str, int]] = [{}, {}]
        chance_nodes = ends = 0
        children: Dict[Moves, List[Tuple[bool, int]]] = {}
        for moves in [*self.decisions, *self.ends]:
            for length in range(len(moves)):
                below = children.setdefault(moves[:length], [])
                if moves[length] not in below:
                    below.append(moves[length])
        stack: List[Moves] = [()]
        while stack:
            moves = stack.pop()
            below = sorted(children.get(moves, []))
            if moves in self.ends:
                ends += 1
                payoff = " ".join(str(one) for one in self.ends[moves])
                lines.append(f't "" {ends} "" {{ {payoff} }}')
                continue
            if moves in self.decisions:
                player, known, actions = self.decisions[moves]
                number = numbers[player].setdefault(known, len(numbers[player]) + 1)
                names = " ".join(f'"{action}"' for action in actions)
                lines.append(f'p "" {player + 1} {number} "" {{ {names} }} 0')
            else:
                chance_nodes += 1
                names = " ".join(f'"{action}" 1/{len(below)}' for _, action in below)
                lines.append(f'c "" {chance_nodes} "" {{ {names} }} 0')
            stack.extend((*moves, one) for one in reversed(below))
        return "\n".join(lines) + "\n"


def _knowledge(view: Any) -> str:
    """Returns the content of a view, without the numbers that undo changes."""
    log = [{name: value for name, value in event.items() if name != "revision"} for event in view["log"]]
    questions = [{name: value for name, value in one.items() if name != "id"} for one in view["questions"]]
    return json.dumps([view["entities"], log, questions, view["waiting"]], sort_keys=True)


def _solve(game: Any) -> float:
    return float(sequence_form_lp.solve_zero_sum_game(game)[0])


def _minimax_of(state: Any, known: Dict[str, float]) -> float:
    key = str(state)
    if key not in known:
        if state.is_terminal():
            known[key] = state.returns()[0]
        else:
            children = [_minimax_of(state.child(action), known) for action in state.legal_actions()]
            known[key] = max(children) if state.current_player() == 0 else min(children)
    return known[key]
