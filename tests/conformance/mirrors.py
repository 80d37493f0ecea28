"""Maps the states and actions of each game of OpenSpiel to the states and answers of our ruleset."""

from __future__ import annotations

import random
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import pyspiel

Entities = Sequence[Mapping[str, Any]]
Policy = Dict[int, float]
"""The probability of each action."""


def fields(entities: Entities, kind: str) -> List[Mapping[str, Any]]:
    """Returns the fields of all entities of a kind, in the order of their creation."""
    return [one["fields"] for one in entities if one["kind"] == kind]


def signs(state: Any) -> List[int]:
    """Returns the chance outcomes of a state's history, in order."""
    return [one.action for one in state.full_history() if one.player == pyspiel.PlayerId.CHANCE]


class Mirror:
    """One game. `seats` are ours in the order of OpenSpiel's players; `values` are pairs of policies to compare by value."""

    ruleset: str
    scenario: str
    seats: Tuple[str, ...] = ("first", "second")
    secrets = True  # false if everybody sees everything
    values: Sequence[Tuple[str, ...]] = ()

    def __init__(self, spiel: str, games: int, switches: Optional[Mapping[str, Any]] = None, tree: bool = False) -> None:
        self.spiel, self.games, self.switches, self.tree = spiel, games, dict(switches or {}), tree
        self.game = pyspiel.load_game(spiel)
        self.title = spiel.removeprefix("turn_based_simultaneous_game(game=").replace("))", ")")

    def faces(self, state: Any, outcome: int) -> List[int]:
        """Returns the faces of our dice for a chance outcome at this state. A drawn card has the face of its place in the deck."""
        legal = state.legal_actions()
        return [legal.index(outcome) + 1] if len(legal) > 1 else []

    def sides(self, state: Any) -> Optional[int]:
        """Returns the number of equally likely outcomes of our dice at a chance state; `None` for a draw from a deck."""
        return None

    def owner(self, nth: int) -> Optional[int]:
        """Returns the only player who learns the nth chance outcome, or `None` if everybody learns it."""
        return None

    def is_sealed(self, state: Any) -> bool:
        """True if the choice at this state stays hidden from the others for now."""
        return False

    def asked(self, state: Any) -> List[int]:
        """Returns the players who have an open question at this state."""
        return [state.current_player()]

    def action(self, state: Any, option: str) -> int:
        """Returns OpenSpiel's action for one of our options."""
        raise NotImplementedError

    def settled(self, state: Any) -> List[int]:
        """Returns the actions already taken in OpenSpiel that are a part of the answer to our open question."""
        return []

    def answer(self, taken: List[int], options: Mapping[int, str]) -> Any:
        """Returns our answer for these actions; `None` if it needs more of them."""
        return options[taken[-1]]

    def plan(self, rng: random.Random) -> Callable[[Any], Optional[int]]:
        """Returns a function that leads one random game into a rare case: the action for a state, or `None` for any."""
        return lambda state: None

    def position(self, state: Any) -> Any:
        """Returns the position of OpenSpiel's state, in the same form as `found`."""
        raise NotImplementedError

    def found(self, entities: Entities, over: bool) -> Any:
        """Returns the position at our table, as the game master sees it."""
        raise NotImplementedError

    def returns(self, entities: Entities) -> List[float]:
        """Returns the result for each player of a game that is over."""
        winner = next(one["winner"] for one in map(dict, (e["fields"] for e in entities)) if "winner" in one)
        return [1.0 if self._is(entities, winner, seat) else -1.0 for seat in self.seats]

    def policy(self, name: str, state: Any) -> Policy:
        """Returns the choice of our policy with this name, for OpenSpiel's state."""
        raise NotImplementedError

    def value(self, result: str) -> List[float]:
        """Returns the returns of the players for a result of `odds --game` such as `first +2`."""
        seat, points = result.rsplit(" ", 1)
        return [float(points) if one == seat else -float(points) for one in self.seats]

    @staticmethod
    def _is(entities: Entities, reference: Any, seat: str) -> bool:
        wanted = reference["entity"]
        return any(one["id"] == wanted and one["fields"]["seat"] == seat for one in entities)

    def _stake(self, entities: Entities) -> List[float]:
        """Returns the returns of a poker game: the winner gets what the other one has paid."""
        winner = fields(entities, "pot")[0]["winner"]
        if winner is None:
            return [0.0, 0.0]
        loser = next(one for one in entities if one["kind"] == "player" and one["id"] != winner["entity"])
        paid = float(loser["fields"]["paid"])
        return [paid if self._is(entities, winner, seat) else -paid for seat in self.seats]


def evenly(state: Any) -> Policy:
    legal = state.legal_actions()
    return {action: 1 / len(legal) for action in legal}


class Kuhn(Mirror):
    ruleset, scenario = "kuhn-poker", "deal"
    values = (("bold", "calls"), ("any", "any"), ("bold", "any"), ("balanced", "balanced"))

    def owner(self, nth: int) -> Optional[int]:
        return nth

    def action(self, state: Any, option: str) -> int:
        return ("pass", "bet").index(option)

    def position(self, state: Any) -> Any:
        return signs(state), "".join("pb"[one.action] for one in state.full_history() if one.player >= 0)

    def found(self, entities: Entities, over: bool) -> Any:
        return [one["card"] - 1 for one in fields(entities, "player")], fields(entities, "pot")[0]["bets"]

    def returns(self, entities: Entities) -> List[float]:
        return self._stake(entities)

    def policy(self, name: str, state: Any) -> Policy:
        if name == "any":
            return evenly(state)
        cards, bets = self.position(state)
        player = state.current_player()
        card, called = cards[player], "b" in bets
        if name == "bold":
            chance = 1.0 if card == 2 or card == 0 and not called else 0.0
        elif name == "calls":
            chance = 1.0 if called and card > 0 else 0.0
        elif card == 2:
            chance = 1.0
        elif card == 1:
            chance = 0.0 if not called else (2 / 3, 1 / 3)[player]
        else:
            chance = 0.0 if called else 1 / 3
        return {0: 1 - chance, 1: chance}


class Leduc(Mirror):
    ruleset, scenario = "leduc-poker", "deal"
    values = (("pairs", "raises"), ("raises", "pairs"), ("any", "any"), ("pairs", "any"))

    def owner(self, nth: int) -> Optional[int]:
        return nth if nth < 2 else None

    def action(self, state: Any, option: str) -> int:
        return ("fold", "call", "raise").index(option)

    def _lines(self, state: Any) -> Dict[str, str]:
        return dict(line.split(": ", 1) for line in str(state).splitlines() if ": " in line)

    def position(self, state: Any) -> Any:
        lines = self._lines(state)
        cards = signs(state)
        paid = [100 - int(money) for money in lines["Money (player_0 player_1)"].split()]
        if state.is_terminal():  # the pot is paid out, so only the returns show the stakes
            return cards, int(lines["Round"]), None
        return cards, int(lines["Round"]), paid

    def found(self, entities: Entities, over: bool) -> Any:
        pot, players = fields(entities, "pot")[0], fields(entities, "player")
        cards = [one["card"] - 1 for one in players] + ([pot["card"] - 1] if pot["card"] else [])
        return cards, pot["round"], None if over else [one["paid"] for one in players]

    def returns(self, entities: Entities) -> List[float]:
        return self._stake(entities)

    def policy(self, name: str, state: Any) -> Policy:
        if name == "any":
            return evenly(state)
        legal = state.legal_actions()
        if name == "raises":
            return {2 if 2 in legal else 1: 1.0}
        cards = signs(state)
        rank = cards[state.current_player()] // 2
        paired = len(cards) > 2 and cards[2] // 2 == rank
        if (rank == 2 or paired) and 2 in legal:
            return {2: 1.0}
        return {0 if rank == 0 and not paired and 0 in legal else 1: 1.0}


class LiarsDice(Mirror):
    ruleset, scenario = "liars-dice", "table"

    def __init__(self, sides: int, dice: int, games: int, tree: bool = False, values: Sequence[Tuple[str, ...]] = ()) -> None:
        super().__init__(f"liars_dice(dice_sides={sides},numdice={dice})", games, {"sides": sides, "dice": dice}, tree)
        self.faces_of_a_die, self.dice, self.values = sides, dice, values

    def sides(self, state: Any) -> Optional[int]:
        return self.faces_of_a_die

    def owner(self, nth: int) -> Optional[int]:
        return nth // self.dice

    def action(self, state: Any, option: str) -> int:
        if option == "liar":
            return 2 * self.dice * self.faces_of_a_die
        dice, face = map(int, option.split("-"))
        return (dice - 1) * self.faces_of_a_die + face - 1

    def _rolled(self, state: Any) -> List[List[int]]:
        rolled = [face + 1 for face in signs(state)]
        return [sorted(rolled[: self.dice], reverse=True), sorted(rolled[self.dice :], reverse=True)]

    def position(self, state: Any) -> Any:
        bids = [word for word in str(state).split()[2:] if word != "Liar"]
        return self._rolled(state), bids

    def found(self, entities: Entities, over: bool) -> Any:
        return [list(one["dice"]) for one in fields(entities, "player")], list(fields(entities, "board")[0]["bids"])

    def policy(self, name: str, state: Any) -> Policy:
        if name == "any":
            return evenly(state)
        sides, top = self.faces_of_a_die, 2 * self.dice * self.faces_of_a_die
        bids = [one.action for one in state.full_history() if one.player >= 0]
        bid, die = (bids[-1] + 1 if bids else 0), self._rolled(state)[state.current_player()][0]
        if name == "own":
            wanted = next((rank for rank in range(bid + 1, top + 1) if (rank - 1) % sides + 1 == die), None)
            return {top if wanted is None else wanted - 1: 1.0}
        if bid == top or bid > sides and (bid - 1) % sides + 1 != die:
            return {top: 1.0}
        return {bid: 1.0}


class TicTacToe(Mirror):
    ruleset, scenario, seats, secrets = "tic-tac-toe", "board", ("x", "o"), False
    values = (("lowest", "highest"), ("highest", "lowest"), ("lowest", "lowest"))

    def action(self, state: Any, option: str) -> int:
        return "abc".index(option[0]) + 3 * (int(option[1]) - 1)

    def position(self, state: Any) -> Any:
        return str(state).replace("\n", "")

    def found(self, entities: Entities, over: bool) -> Any:
        return fields(entities, "board")[0]["cells"]

    def returns(self, entities: Entities) -> List[float]:
        winner = fields(entities, "board")[0]["winner"]
        return [0.0, 0.0] if winner == "" else [1.0 if winner == seat else -1.0 for seat in self.seats]

    def policy(self, name: str, state: Any) -> Policy:
        return {(min if name == "lowest" else max)(state.legal_actions()): 1.0}


class Pig(Mirror):
    ruleset, scenario, secrets = "pig", "two", False

    def __init__(self, goal: int, games: int, values: Sequence[Tuple[str, ...]] = ()) -> None:
        super().__init__(f"pig(winscore={goal})", games, {"goal": goal})
        self.goal, self.values = goal, values

    def sides(self, state: Any) -> Optional[int]:
        return 6

    def action(self, state: Any, option: str) -> int:
        return ("roll", "stop").index(option)

    def position(self, state: Any) -> Any:
        words = str(state).replace(",", "").split()
        return int(words[1]), int(words[2]), int(words[5]), int(words[8])

    def found(self, entities: Entities, over: bool) -> Any:
        board, (one, two) = fields(entities, "board")[0], fields(entities, "player")
        return one["score"], two["score"], board["pot"], 0 if self._is(entities, board["player"], "first") else 1

    def returns(self, entities: Entities) -> List[float]:
        return [1.0 if one["score"] >= self.goal else -1.0 for one in fields(entities, "player")]

    def policy(self, name: str, state: Any) -> Policy:
        stops = self.position(state)[2] >= int(name[5:]) or 0 not in state.legal_actions()
        return {1 if stops else 0: 1.0}


class Backgammon(Mirror):
    ruleset, scenario, seats, secrets = "backgammon", "table", ("x", "o"), False
    BAR = 100

    def sides(self, state: Any) -> Optional[int]:
        return len(state.legal_actions())

    def faces(self, state: Any, outcome: int) -> List[int]:
        text = state.action_to_string(pyspiel.PlayerId.CHANCE, outcome)
        dice = sorted(int(digit) for digit in text.split("roll: ")[1][:2])
        if "starts" in text:  # X and O roll a die each
            return dice[::-1] if "X starts" in text else dice
        written = [int(digit) for digit in text.split("roll: ")[1][:2]]
        return written

    def _step(self, player: int, step: Any) -> str:
        at = 25 if step.pos == self.BAR else 24 - step.pos if player == 0 else step.pos + 1
        return f"{at}:{step.num}"

    def action(self, state: Any, option: str) -> int:
        player = state.current_player()
        if self._names is None or self._names[0] != state.history_str():
            names = {}
            for action in state.legal_actions():
                steps = [one for one in state.spiel_move_to_checker_moves(player, action) if one.pos >= 0]
                names[" ".join(self._step(player, one) for one in steps) or "pass"] = action
            self._names = (state.history_str(), names)
        return self._names[1].get(option, -1)

    _names: Any = None

    def position(self, state: Any) -> Any:
        off = [int(word) for word in str(state).splitlines()[-1].replace(",", "").split() if word.isdigit()]
        points = [[state.board(0, 24 - n) for n in range(1, 25)], [state.board(1, n - 1) for n in range(1, 25)]]
        return [(points[player], state.board(player, self.BAR), off[player]) for player in (0, 1)]

    def found(self, entities: Entities, over: bool) -> Any:
        return [(list(one["points"]), one["bar"], one["off"]) for one in fields(entities, "player")]

    def returns(self, entities: Entities) -> List[float]:
        return [1.0 if one["off"] == 15 else -1.0 for one in fields(entities, "player")]


class Hearts(Mirror):
    ruleset, scenario, seats = "hearts", "deal", ("north", "east", "south", "west")

    def sides(self, state: Any) -> Optional[int]:
        return 4 if not state.history() and self.switches.get("pass_cards") != "off" else None

    def faces(self, state: Any, outcome: int) -> List[int]:
        if not state.history():
            return [outcome + 1] if self.switches.get("pass_cards") != "off" else []
        return super().faces(state, outcome)

    def owner(self, nth: int) -> Optional[int]:
        return (nth - 1) % 4 if nth > 0 else None

    def _card(self, action: int) -> str:
        return "23456789TJQKA"[action // 4] + "CDHS"[action % 4]

    def _passing(self, state: Any) -> Optional[int]:
        """Returns how many cards have been chosen to be passed; `None` if no cards are passed now."""
        history = state.history()
        chosen = len(history) - 53
        return chosen if history[0] != 0 and 0 <= chosen < 12 else None

    def asked(self, state: Any) -> List[int]:
        chosen = self._passing(state)
        return [state.current_player()] if chosen is None else [player for player in range(4) if player >= chosen // 3]

    def action(self, state: Any, option: str) -> int:
        return "23456789TJQKA".index(option[0]) * 4 + "CDHS".index(option[1])

    def plan(self, rng: random.Random) -> Callable[[Any], Optional[int]]:
        """In every fourth game a player has the highest cards and plays them, which takes all points."""
        shooter = rng.randrange(4)

        def shoot(state: Any) -> Optional[int]:
            history, legal = state.history(), state.legal_actions()
            if not history:
                return 0
            player = (len(history) - 1) % 4 if state.is_chance_node() else state.current_player()
            return max(legal) if player == shooter else min(legal)

        return shoot if rng.random() < 0.25 else super().plan(rng)

    def settled(self, state: Any) -> List[int]:
        chosen = self._passing(state)
        return state.history()[len(state.history()) - chosen % 3 :] if chosen else []

    def answer(self, taken: List[int], options: Mapping[int, str]) -> Any:
        if len(taken) == 1 and self._plays:
            return options[taken[0]]
        return [options[action] for action in taken] if len(taken) == 3 else None

    _plays = False

    def position(self, state: Any) -> Any:
        self._plays = self._passing(state) is None
        if state.is_terminal():
            return None
        hands = []
        for player in range(4):
            lines = state.information_state_string(player).split("Hand: \n")[1].splitlines()[:4]
            hand = {rank + line[0] for line in lines for rank in line[2:] if line[2:] != "none"}
            hands.append(hand)
        if not self._plays:  # in our game all keep their cards until all have chosen
            history = state.history()[53:]
            for at, card in enumerate(history):
                hands[at // 3].add(self._card(card))
        return [sorted(hand) for hand in hands], [state.points(player) for player in range(4)], state.hearts_broken()

    def found(self, entities: Entities, over: bool) -> Any:
        if over:
            return None
        players = fields(entities, "player")
        hands = [sorted(one["hand"]) for one in players]
        return hands, [one["points"] for one in players], fields(entities, "board")[0]["broken"]

    def returns(self, entities: Entities) -> List[float]:
        return [26.0 - one["points"] for one in fields(entities, "player")]


class Goofspiel(Mirror):
    """OpenSpiel asks for bids that are made at once one after the other, and hides the first one. `swapped` seats its first player
    at our second seat, so that our seats answer in the other order."""

    ruleset, scenario = "goofspiel", "table"

    def __init__(self, cards: int, games: int, tree: bool = False, values: Sequence[Tuple[str, ...]] = (), swapped: bool = False) -> None:
        spiel = f"turn_based_simultaneous_game(game=goofspiel(num_cards={cards}))"
        super().__init__(spiel, games, {"cards": cards}, tree)
        self.values = values
        if swapped:
            self.seats = ("second", "first")
            self.title += ", seats swapped"

    def _players(self, entities: Entities) -> List[Mapping[str, Any]]:
        return [next(one["fields"] for one in entities if one.get("seat") == seat) for seat in self.seats]

    def asked(self, state: Any) -> List[int]:
        return [0, 1] if state.current_player() == 0 else [1]

    def is_sealed(self, state: Any) -> bool:
        return bool(state.current_player() == 0)

    def action(self, state: Any, option: str) -> int:
        return int(option.split()[1]) - 1

    def _lines(self, state: Any) -> Dict[str, List[int]]:
        lines = [line.split(":") for line in str(state).splitlines() if ":" in line]
        return {name: [int(word) for word in words.split()] for name, words in lines}

    def position(self, state: Any) -> Any:
        lines = self._lines(state)
        prize = None if state.is_terminal() else lines["Point card sequence"][-1]
        return lines["P0 hand"], lines["P1 hand"], prize, lines["Points"]

    def found(self, entities: Entities, over: bool) -> Any:
        one, two = self._players(entities)
        prize = None if over else fields(entities, "board")[0]["prize"]
        return list(one["hand"]), list(two["hand"]), prize, [one["points"], two["points"]]

    def returns(self, entities: Entities) -> List[float]:
        one, two = (player["points"] for player in self._players(entities))
        return [float((one > two) - (one < two)), float((two > one) - (two < one))]

    def policy(self, name: str, state: Any) -> Policy:
        if name == "any":
            return evenly(state)
        prize, legal = self._lines(state)["Point card sequence"][-1] - 1, state.legal_actions()
        return {prize if prize in legal else legal[-1]: 1.0}


def all_games() -> List[Mirror]:
    """Returns every game, in the order of the printed table."""
    pairs = (("own", "steps"), ("steps", "own"))
    return [
        Pig(100, 60),
        Pig(30, 60, (("hold_20", "hold_10"), ("hold_10", "hold_20"))),
        TicTacToe("tic_tac_toe", 200, tree=True),
        Kuhn("kuhn_poker", 200, tree=True),
        Leduc("leduc_poker", 300, tree=True),
        LiarsDice(3, 1, 100, tree=True, values=(*pairs, ("any", "any"))),
        LiarsDice(6, 1, 400, values=(*pairs, ("any", "own"))),
        LiarsDice(6, 2, 200),
        Goofspiel(3, 100, tree=True, values=(("matches", "any"), ("any", "any"))),
        Goofspiel(13, 60),
        Goofspiel(13, 60, swapped=True),
        Backgammon("backgammon", 40),
        Hearts("hearts", 40),
        Hearts("hearts(can_lead_any_club=True,no_pts_on_first_trick=False,qs_breaks_hearts=False)", 20,
               {"lead_any_club": "on", "points_in_first": "on", "queen_breaks": "off"}),
        Hearts("hearts(pass_cards=False)", 20, {"pass_cards": "off"}),
    ]
