"""Plays a scenario many times and counts the results.

    simulate("duel", rules="riskbreaker-0.0.1", trials=10_000).frame()
    simulate("duel", rules=["riskbreaker-0.0.1", "riskbreaker-0.0.3"]).variants
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from .program import NAME, options, run_json
from .protocol import Json

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Rate:
    """The share of a result: `count` of `of` games. `low` and `high` are the bounds of its chance with 99 % confidence."""

    count: int
    of: int
    low: float
    high: float

    @property
    def share(self) -> Fraction:
        """The share of the games."""
        return Fraction(self.count, self.of)


@dataclass(frozen=True)
class Variant:
    """The games of one ruleset with one set of house rules."""

    name: str
    results: Dict[str, Rate]
    outcomes: Dict[str, int]
    rounds: Dict[int, int]
    mean_rounds: Optional[float]
    cards: Dict[str, Dict[str, Dict[str, int]]]
    """By seat and card: how often the card was used, how often it rolled dice, and how often the roll succeeded."""


@dataclass(frozen=True)
class Simulation:
    """The results of many games. Several variants are played with the same dice. `report` is the whole JSON of the program."""

    scenario: str
    trials: int
    variants: List[Variant]
    complete: bool
    report: Json = field(repr=False, compare=False)

    @staticmethod
    def read(report: Json) -> Simulation:
        """Reads the output of `riskbreaker sim --json`."""
        plan = report["plan"]
        variants = [
            Variant(
                name=about["name"],
                results={name: Rate(rate["count"], rate["of"], rate["low"], rate["high"]) for name, rate in rates.items()},
                outcomes=tally["outcomes"],
                rounds={int(count): games for count, games in sorted(tally["rounds"].items(), key=lambda pair: int(pair[0]))},
                mean_rounds=mean,
                cards=tally["cards"],
            )
            for about, rates, tally, mean in zip(plan["variants"], report["rates"], report["tallies"], report["mean_rounds"])
        ]
        return Simulation(plan["scenario"], report["tallies"][0]["trials"], variants, report["complete"], report)

    @property
    def results(self) -> Dict[str, Rate]:
        """The results of the first variant."""
        return self.variants[0].results

    def frame(self) -> DataFrame:
        """Returns a pandas frame with one row for each variant and result: `count`, `share`, `low` and `high`."""
        import pandas

        rows = [
            {"variant": one.name, "result": name, "count": rate.count, "share": float(rate.share), "low": rate.low, "high": rate.high}
            for one in self.variants
            for name, rate in one.results.items()
        ]
        columns = ["variant", "result", "count", "share", "low", "high"]
        frame: DataFrame = pandas.DataFrame(rows, columns=columns).set_index(["variant", "result"])
        return frame


def simulate(
    scenario: Optional[str] = None,
    *,
    rules: Union[str, Sequence[str], None] = None,
    layers: Sequence[str] = (),
    trials: int = 1000,
    seed: int = 1,
    seats: Optional[Mapping[str, str]] = None,
    switches: Optional[Mapping[str, Any]] = None,
    until: Optional[str] = None,
    threads: Optional[int] = None,
    rulesets: Optional[str] = None,
    program: str = NAME,
) -> Simulation:
    """Plays a scenario `trials` times with policies on the seats. The same seed gives the same result.

    A switch with a list of values, and several rulesets, are compared with the same dice. With `until`, such as `"1%"`, it stops
    when the share of every result is known with this precision.
    """
    command = sim_command(scenario, rules, layers, trials, seed, seats, switches, until, threads, rulesets)
    return Simulation.read(run_json(program, command))


def sim_command(
    scenario: Optional[str],
    rules: Union[str, Sequence[str], None],
    layers: Sequence[str],
    trials: int,
    seed: int,
    seats: Optional[Mapping[str, str]],
    switches: Optional[Mapping[str, Any]],
    until: Optional[str],
    threads: Optional[int],
    rulesets: Optional[str],
) -> List[str]:
    several = {name: ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value for name, value in (switches or {}).items()}
    chosen = options(
        rulesets=rulesets, rules=rules if rules is None or isinstance(rules, str) else list(rules), layers=list(layers),
        trials=trials, seed=seed, seat=dict(seats or {}), set=several, until=until, threads=threads,
    )  # fmt: skip
    return ["sim", "--json", *chosen, *(["--", scenario] if scenario else [])]
