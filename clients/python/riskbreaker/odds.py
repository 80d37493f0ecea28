"""Computes chances as exact fractions: of dice, of a card, of a whole game.

    odds("4d6kh3").at_least(15)                     # Fraction(25, 108)
    odds("2d6").mean                                # Fraction(7, 1)
    card_odds("advantage", rules="riskbreaker-0.0.1", scenario="duel", answers={"risk": 2}).outcomes
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .program import NAME, options, run_json
from .protocol import Json

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Chance:
    """A number that was computed from chances. An exact one has a `fraction`; an estimate has bounds, `low` and `high`."""

    decimal: float
    fraction: Optional[Fraction] = None
    low: Optional[float] = None
    high: Optional[float] = None

    @staticmethod
    def read(value: Json) -> Chance:
        """Reads a chance from the JSON of the program."""
        text = value.get("fraction")
        fraction = None if text is None else Fraction(text)
        return Chance(value["decimal"], fraction, value.get("low"), value.get("high"))

    @property
    def exact(self) -> bool:
        """True if the number is exact."""
        return self.fraction is not None

    @property
    def value(self) -> Union[Fraction, float]:
        """The fraction, or the decimal of an estimate."""
        return self.decimal if self.fraction is None else self.fraction

    def __float__(self) -> float:
        return self.decimal

    def __str__(self) -> str:
        if self.fraction is not None:
            return str(self.fraction)
        bounds = "" if self.low is None or self.high is None else f" ({self.low:.4f} to {self.high:.4f})"
        return f"{self.decimal:.4f}{bounds}"


@dataclass(frozen=True)
class DiceOdds:
    """The distribution of dice. `chances` has the chance of each total; `remaining` is the chance of rolls that were cut off."""

    dice: str
    chances: Dict[int, Chance]
    mean: Union[Fraction, float]
    variance: Union[Fraction, float]
    remaining: Chance
    exact: bool

    @staticmethod
    def read(report: Json) -> DiceOdds:
        """Reads the output of `riskbreaker odds DICE --json`."""
        return DiceOdds(
            dice=report["dice"],
            chances={one["total"]: Chance.read(one["chance"]) for one in report["totals"]},
            mean=Chance.read(report["mean"]).value,
            variance=Chance.read(report["variance"]).value,
            remaining=Chance.read(report["remaining"]),
            exact=report["exact"],
        )

    def __getitem__(self, total: int) -> Union[Fraction, float]:
        """Returns the chance of a total; 0 if it cannot occur."""
        chance = self.chances.get(total)
        return Fraction(0) if chance is None else chance.value

    def at_least(self, total: int) -> Union[Fraction, float]:
        """Returns the chance of this total or more."""
        return sum((chance.value for known, chance in self.chances.items() if known >= total), Fraction(0))

    def at_most(self, total: int) -> Union[Fraction, float]:
        """Returns the chance of this total or less."""
        return sum((chance.value for known, chance in self.chances.items() if known <= total), Fraction(0))

    def frame(self) -> DataFrame:
        """Returns a pandas frame with one row for each total: `chance` (a fraction if it is exact) and `decimal`."""
        return _frame(self.chances.items(), "total")


@dataclass(frozen=True)
class FieldOdds:
    """The chances of the values of one field of an entity."""

    entity: str
    field: str
    label: str
    before: Any
    values: List[Tuple[Any, Chance]]
    expected_change: Optional[Union[Fraction, float]]


@dataclass(frozen=True)
class CardOdds:
    """The possible outcomes of a card or an open action.

    `outcomes` has each result in words, `hits` the chance of each named target to be hit, and `answers` the answers that were
    assumed for the other questions. `partial` is true if a limit of work was reached. `report` is the whole JSON of the program.
    """

    outcomes: List[Tuple[str, Chance]]
    hits: Dict[str, Chance]
    fields: List[FieldOdds]
    answers: List[Json]
    remaining: Chance
    exact: bool
    partial: bool
    report: Json = field(repr=False, compare=False)

    @staticmethod
    def read(report: Json) -> CardOdds:
        """Reads the output of `riskbreaker odds CARD --json`, or the result of the request `odds` of the protocol."""
        return CardOdds(
            outcomes=[(one["text"], Chance.read(one["chance"])) for one in report["outcomes"]],
            hits={title: Chance.read(chance) for title, chance in report.get("hits", {}).items()},
            fields=[_field_odds(one) for one in report.get("fields", [])],
            answers=report["answers"],
            remaining=Chance.read(report["remaining"]),
            exact=report["exact"],
            partial=report["partial"],
            report=report,
        )

    def frame(self) -> DataFrame:
        """Returns a pandas frame with one row for each outcome: `chance` and `decimal`."""
        return _frame(self.outcomes, "outcome")


@dataclass(frozen=True)
class GameOdds:
    """The chances of the results of a whole game with a policy on every seat."""

    results: Dict[str, Chance]
    mean_actions: Union[Fraction, float]
    remaining: Chance
    exact: bool
    partial: bool
    report: Json = field(repr=False, compare=False)

    @staticmethod
    def read(report: Json) -> GameOdds:
        """Reads the output of `riskbreaker odds --game SCENARIO --json`."""
        return GameOdds(
            results={one["result"]: Chance.read(one["chance"]) for one in report["results"]},
            mean_actions=Chance.read(report["mean_actions"]).value,
            remaining=Chance.read(report["remaining"]),
            exact=report["exact"],
            partial=report["partial"],
            report=report,
        )

    def frame(self) -> DataFrame:
        """Returns a pandas frame with one row for each result: `chance` and `decimal`."""
        return _frame(self.results.items(), "result")


def odds(dice: str, *, program: str = NAME) -> DiceOdds:
    """Returns the exact distribution of dice such as `4d6kh3`. Raises `CommandFailed` for a notation that cannot be read."""
    return DiceOdds.read(run_json(program, dice_command(dice)))


def card_odds(
    card: str,
    *,
    rules: Optional[str] = None,
    layers: Sequence[str] = (),
    scenario: Optional[str] = None,
    actor: Optional[str] = None,
    targets: Sequence[str] = (),
    answers: Optional[Mapping[str, Any]] = None,
    switches: Optional[Mapping[str, Any]] = None,
    edits: Optional[Mapping[str, Any]] = None,
    until: Optional[str] = None,
    rulesets: Optional[str] = None,
    program: str = NAME,
) -> CardOdds:
    """Returns the odds of a card in a position: that of a scenario, changed by `edits` such as `{"Foe.harm": 2}`.

    Raises `CommandFailed` if the card cannot be played there; the text says why and how it can.
    """
    command = card_command(card, rules, layers, scenario, actor, targets, answers, switches, edits, until, rulesets)
    return CardOdds.read(run_json(program, command))


def game_odds(
    scenario: str,
    *,
    rules: Optional[str] = None,
    layers: Sequence[str] = (),
    seats: Optional[Mapping[str, str]] = None,
    switches: Optional[Mapping[str, Any]] = None,
    rulesets: Optional[str] = None,
    program: str = NAME,
) -> GameOdds:
    """Returns the odds of a whole game from the start of a scenario. Seats not in `seats` have the first policy of the rules."""
    return GameOdds.read(run_json(program, game_command(scenario, rules, layers, seats, switches, rulesets)))


def dice_command(dice: str) -> List[str]:
    return ["odds", "--json", "--", dice]


def card_command(
    card: str,
    rules: Optional[str],
    layers: Sequence[str],
    scenario: Optional[str],
    actor: Optional[str],
    targets: Sequence[str],
    answers: Optional[Mapping[str, Any]],
    switches: Optional[Mapping[str, Any]],
    edits: Optional[Mapping[str, Any]],
    until: Optional[str],
    rulesets: Optional[str],
) -> List[str]:
    chosen = options(
        rulesets=rulesets, rules=rules, layers=list(layers), scenario=scenario, as_=actor, vs=list(targets), until=until,
        answer=dict(answers or {}), set=dict(switches or {}), edit=dict(edits or {}),
    )  # fmt: skip
    return ["odds", "--json", *chosen, "--", card]


def game_command(
    scenario: str,
    rules: Optional[str],
    layers: Sequence[str],
    seats: Optional[Mapping[str, str]],
    switches: Optional[Mapping[str, Any]],
    rulesets: Optional[str],
) -> List[str]:
    chosen = options(
        rulesets=rulesets, game=scenario, rules=rules, layers=list(layers), seat=dict(seats or {}), set=dict(switches or {})
    )
    return ["odds", "--json", *chosen]


def _field_odds(report: Json) -> FieldOdds:
    change = report.get("expected_change")
    return FieldOdds(
        entity=report["entity"],
        field=report["field"],
        label=report["label"],
        before=report["from"],
        values=[(one["value"], Chance.read(one["chance"])) for one in report["to"]],
        expected_change=None if change is None else Chance.read(change).value,
    )


def _frame(chances: Any, name: str) -> DataFrame:
    import pandas

    rows = [{name: what, "chance": chance.value, "decimal": chance.decimal} for what, chance in chances]
    frame: DataFrame = pandas.DataFrame(rows, columns=[name, "chance", "decimal"]).set_index(name)
    return frame
