"""Plays tabletop games whose rules are scripts, computes exact odds, and runs simulations.

    import riskbreaker

    riskbreaker.odds("4d6kh3").at_least(15)          # Fraction(25, 108)
    riskbreaker.simulate("duel", trials=1000).frame()  # needs pandas

    with riskbreaker.Game("riskbreaker-0.0.1", scenario="duel", seed=7) as game:
        players = game.seat("players")

`riskbreaker.aio` has the same names for asyncio. The program is a part of the wheel; otherwise it is searched in `PATH`.
"""

from __future__ import annotations

from .client import Host, Viewer
from .game import Game, entities_frame, log_frame
from .odds import CardOdds, Chance, DiceOdds, FieldOdds, GameOdds, card_odds, game_odds, odds
from .program import CommandFailed, find_program
from .protocol import (
    Ask,
    Choice,
    Ended,
    Entity,
    Event,
    Json,
    Present,
    Question,
    QuestionId,
    Refused,
    Rules,
    Settings,
    State,
    Step,
    UndoState,
    View,
    Waiting,
)
from .simulation import Rate, Simulation, Variant, simulate

__all__ = [
    "Ask",
    "CardOdds",
    "Chance",
    "Choice",
    "CommandFailed",
    "DiceOdds",
    "Ended",
    "Entity",
    "Event",
    "FieldOdds",
    "Game",
    "GameOdds",
    "Host",
    "Json",
    "Present",
    "Question",
    "QuestionId",
    "Rate",
    "Refused",
    "Rules",
    "Settings",
    "Simulation",
    "State",
    "Step",
    "UndoState",
    "Variant",
    "View",
    "Viewer",
    "Waiting",
    "card_odds",
    "entities_frame",
    "find_program",
    "game_odds",
    "log_frame",
    "odds",
    "simulate",
]
