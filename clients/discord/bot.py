"""A Discord bot: each channel is a table, and whoever clicks there plays.

    pip install riskbreaker discord.py
    DISCORD_TOKEN=... python3 bot.py [--program riskbreaker] [--rulesets DIR] [--campaigns DIR]

Slash commands: `/new RULESET [SEED]`, `/sit SEAT`, `/leave`, `/ask`, `/undo`. The game master sits at the seat `gm`. `/ask`
shows the open questions of a person to that person alone, with buttons, menus or a form; so hidden options stay hidden. What
only one seat may see of a step goes to its player as an ephemeral message. Each interaction is acknowledged before the game
is asked, since Discord waits for three seconds.

`Tables` keeps the games without Discord; `controls` returns the layout of a question; the rest connects both to discord.py.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Dict, List, Optional, Protocol, Tuple

import discord
from discord import app_commands

from riskbreaker import Event, Json, Question, Refused
from riskbreaker.aio import Host, Viewer

BUTTONS_PER_ROW, ROWS, MENU_OPTIONS, LABEL, MESSAGE = 5, 4, 25, 80, 1900
"""Discord takes 5 rows of 5 buttons; the last row is for turning pages. A menu has 25 options, a message 2000 characters."""


HIDDEN_LINES = 10
"""The number of earlier lines for a seat alone that are sent to a person who sits down there."""


class Reply(Protocol):
    """The ways to answer an interaction. The first call must come within three seconds."""

    async def defer(self) -> None:
        """Acknowledges the interaction; only its author sees what follows."""

    async def private(self, text: str, question: Optional[Question] = None) -> None:
        """Writes to the author alone; a question comes with its controls."""

    async def public(self, text: str) -> None:
        """Writes to the channel."""


@dataclass
class Seated:
    """A person at a table. Private lines are sent through `reply`, the last interaction of the person."""

    viewer: Viewer
    reply: Reply
    hidden: List[str] = field(default_factory=list)


@dataclass
class Table:
    """The game of a channel. `watcher` is a viewer that sees what everybody may see."""

    watcher: Viewer
    seats: Dict[int, Seated] = field(default_factory=dict)

    def holder(self, seat: str) -> Optional[int]:
        return next((person for person, one in self.seats.items() if seat_of(one.viewer) == seat), None)


class Tables:
    """The games of all channels, by the number of the channel."""

    def __init__(self, host: Host, campaigns: Optional[str] = None) -> None:
        self.host, self.campaigns = host, campaigns
        self.tables: Dict[int, Table] = {}

    async def new(self, channel: int, reply: Reply, ruleset: str, seed: Optional[int]) -> None:
        await reply.defer()
        former = self.tables.get(channel)
        new: Json = {"ruleset": ruleset, "seed": seed}
        if self.campaigns and former is None:
            name = await self.host.open(os.path.join(self.campaigns, f"{channel}.rbsave"), **new)
        else:
            name = (await self.host.call("table.new", **new))["table"]
        table = self.tables[channel] = Table(await self.host.hello(name, "watcher"))
        if former is not None:
            await self.host.call("table.close", table=former.watcher.table)
        title = table.watcher.view["settings"]["rules"]["title"]
        await reply.public(f"{title}\n{waiting(table)}")

    async def sit(self, channel: int, person: int, name: str, reply: Reply, seat: str) -> None:
        await reply.defer()
        table = self.table(channel)
        if table.holder(seat) not in (None, person):
            raise Trouble(f"Somebody plays {seat} already.")
        viewer = await self.host.hello(table.watcher.table, *(("game_master",) if seat == "gm" else ("seat", seat)))
        await self.stand_up(table, person)
        seated = table.seats[person] = Seated(viewer, reply)
        seated.hidden = [words(line) for line in viewer.view["log"] if line.get("audience") is not None][-HIDDEN_LINES:]
        viewer.on_step = lambda step: seated.hidden.extend(words(line) for line in step["events"] if line.get("audience") is not None)
        await reply.public(f"{name} plays {seat}. {waiting(table)}")
        await self.tell(seated)

    async def leave(self, channel: int, person: int, reply: Reply) -> None:
        await reply.defer()
        await self.stand_up(self.table(channel), person)
        await reply.private("You have left.")

    async def ask(self, channel: int, person: int, reply: Reply) -> None:
        """Shows a person the first of their open questions."""
        await reply.defer()
        seated = self.seated(channel, person)
        seated.reply = reply
        await self.tell(seated)

    async def answer(self, channel: int, person: int, reply: Reply, question: Json, value: Any) -> None:
        """Answers the question with this id. Then writes the events to the channel, and private lines to each person."""
        await self.act(channel, person, reply, lambda viewer: viewer.call("answer", question=question, value=value))

    async def undo(self, channel: int, person: int, reply: Reply) -> None:
        await self.act(channel, person, reply, lambda viewer: viewer.undo())

    async def act(self, channel: int, person: int, reply: Reply, what: Callable[[Viewer], Awaitable[Any]]) -> None:
        await reply.defer()
        table, seated = self.table(channel), self.seated(channel, person)
        seated.reply = reply
        revision = table.watcher.view["revision"]
        await what(seated.viewer)
        fresh = await table.watcher.call("view", since=revision)
        lines = [words(line) for line in fresh["log"] if line["event"] != "answered"]
        await reply.public("\n".join([*lines, waiting(table)]))
        for other in table.seats.values():
            if other is not seated and other.hidden:
                lines = list(other.hidden)
                try:
                    await self.tell(other, questions=False)
                except discord.DiscordException:  # the last interaction is too old: the lines wait for the next one
                    other.hidden = lines + other.hidden
        await self.tell(seated)

    async def tell(self, seated: Seated, questions: bool = True) -> None:
        """Sends a person the private lines, and their open questions."""
        hidden, seated.hidden = seated.hidden, []
        mine = seated.viewer.mine() if questions else []
        if mine:
            await seated.reply.private("\n".join([*hidden, f"{mine[0]['why']} ({mine[0]['topic']})"]), mine[0])
        elif hidden or questions:
            await seated.reply.private("\n".join(hidden) or "You are asked nothing now.")

    async def stand_up(self, table: Table, person: int) -> None:
        seated = table.seats.pop(person, None)
        if seated is not None:
            await seated.viewer.close()

    def table(self, channel: int) -> Table:
        table = self.tables.get(channel)
        if table is None or table.watcher.left is not None:
            raise Trouble("No game here. `/new` begins one.")
        return table

    def seated(self, channel: int, person: int) -> Seated:
        seated = self.table(channel).seats.get(person)
        if seated is None:
            raise Trouble("`/sit` first.")
        return seated


class Trouble(Exception):
    """A request that cannot be carried out; the text is for its author."""


@dataclass(frozen=True)
class Control:
    """A control of a question. Buttons have a value; a menu has pairs of label and value; a form has a hint."""

    kind: str
    label: str
    value: Any = None
    options: Tuple[Tuple[str, str], ...] = ()
    least: int = 1
    most: int = 1
    disabled: bool = False


def controls(question: Question, page: int = 0) -> List[Control]:
    """Returns the controls of a question, within the limits of Discord. More options are on further pages."""
    ask = question["ask"]
    kind = ask["kind"]
    options = [option for option in ask.get("options", []) if option["enabled"]]
    found: List[Control] = []
    if kind == "confirm":
        return [Control("button", "Yes", True), Control("button", "No", False)]
    if kind == "number" and ask["max"] - ask["min"] < BUTTONS_PER_ROW * ROWS:
        return [Control("button", str(number), number) for number in range(ask["min"], ask["max"] + 1)]
    if kind == "choose" and len(options) <= BUTTONS_PER_ROW * ROWS:
        found = [Control("button", shortened(option["label"]), option["id"]) for option in options]
    elif kind == "choose" or (kind == "choose_many" and ask["max"] <= MENU_OPTIONS and len(options) <= MENU_OPTIONS):
        shown = options[page * MENU_OPTIONS : (page + 1) * MENU_OPTIONS]
        least, most = (1, 1) if kind == "choose" else (ask["min"], max(1, min(ask["max"], len(shown))))
        pairs = tuple((shortened(option["label"]), option["id"]) for option in shown)
        if pairs:
            found = [Control("menu", question["topic"], options=pairs, least=least, most=most)]
        if len(options) > MENU_OPTIONS:
            last = (len(options) - 1) // MENU_OPTIONS
            found += [Control("page", "Back", page - 1, disabled=page == 0), Control("page", "More", page + 1, disabled=page == last)]
    if not found or ask.get("other"):
        found.append(Control("form", "Write an answer", value=question.get("proposal")))
    return found


def read(question: Question, text: str) -> Any:
    """Reads the answer from the text of a form: a line, a number, ids with commas, or points such as `a 1, b 2`."""
    kind, parts = question["ask"]["kind"], [part.strip() for part in text.split(",") if part.strip()]
    ids = {option["label"].casefold(): option["id"] for option in question["ask"].get("options", [])}
    try:
        if kind == "number":
            return int(text)
        if kind == "dice":
            return [int(part) for part in parts]
        if kind in ("choose_many", "order"):
            return [ids.get(part.casefold(), part) for part in parts]
        if kind == "allot":
            pairs = [part.rpartition(" ") for part in parts]
            return {ids.get(name.casefold(), name): int(points) for name, _, points in pairs}
    except ValueError:
        raise Trouble(f"`{text}` does not answer this question.") from None
    return ids.get(text.strip().casefold(), text)


def seat_of(viewer: Viewer) -> str:
    return viewer.seat or "gm"


def waiting(table: Table) -> str:
    view = table.watcher.view
    if view["state"]["is"] == "over":
        return f"The game is over: {view['state']['outcome']}"
    if view["state"]["is"] == "fault":
        return "A rule failed: the game master decides how to go on."
    names = [
        f"{one['seat']} ({f'<@{holder}>' if (holder := table.holder(one['seat'])) else 'nobody sits there'})" for one in view["waiting"]
    ]
    return f"Waiting for {', '.join(names)}. `/ask` shows the question." if names else "Waiting for nobody."


def words(line: Event) -> str:
    """Returns an event in words. Characters that Discord reads as format are escaped, so a ruleset cannot mention anybody."""
    if line["event"] == "rolled":
        text = f"{line['label']}: {line['dice']} gives {line.get('explain') or line['total']}"
        text += f" ({line['need']})" if line.get("need") else ""
        if line.get("success") is not None:
            text += " succeeds" if line["success"] else " fails"
    else:
        text = " ".join(str(line[name]) for name in ("title", "label", "text", "reason") if line.get(name)) or line["event"]
    return discord.utils.escape_mentions(discord.utils.escape_markdown(text))


def shortened(label: str) -> str:
    return label if len(label) <= LABEL else f"{label[: LABEL - 1]}…"


class Interaction(Reply):
    """An interaction of discord.py as a `Reply`."""

    def __init__(self, interaction: discord.Interaction, tables: Tables) -> None:
        self.interaction, self.tables = interaction, tables

    async def defer(self) -> None:
        if not self.interaction.response.is_done():
            await self.interaction.response.defer(ephemeral=True, thinking=True)

    async def private(self, text: str, question: Optional[Question] = None) -> None:
        view = Controls(self.tables, question) if question else discord.utils.MISSING
        await self.interaction.followup.send(text[:MESSAGE], view=view, ephemeral=True)

    async def public(self, text: str) -> None:
        channel = self.interaction.channel
        if isinstance(channel, discord.abc.Messageable) and text:
            await channel.send(text[:MESSAGE], allowed_mentions=discord.AllowedMentions(everyone=False, roles=False))


class Controls(discord.ui.View):
    """The controls of a question as a view of discord.py."""

    def __init__(self, tables: Tables, question: Question, page: int = 0) -> None:
        super().__init__(timeout=14 * 60)  # an ephemeral message can be used for 15 minutes
        self.tables, self.question = tables, question
        for number, control in enumerate(controls(question, page)):
            self.add_item(self.item(control, number))

    def item(self, control: Control, number: int) -> discord.ui.Item[Controls]:
        if control.kind == "menu":
            options = [discord.SelectOption(label=label, value=value) for label, value in control.options]
            menu: discord.ui.Select[Controls] = discord.ui.Select(
                placeholder=control.label, options=options, min_values=control.least, max_values=control.most
            )

            async def picked(interaction: discord.Interaction) -> None:
                one = self.question["ask"]["kind"] == "choose"
                await self.answer(interaction, menu.values[0] if one else list(menu.values))

            setattr(menu, "callback", picked)
            return menu
        style = discord.ButtonStyle.secondary if control.kind == "page" else discord.ButtonStyle.primary
        button: discord.ui.Button[Controls] = discord.ui.Button(
            label=control.label, style=style, disabled=control.disabled, row=None if control.kind == "button" else ROWS
        )

        async def pressed(interaction: discord.Interaction) -> None:
            if control.kind == "page":
                await interaction.response.edit_message(view=Controls(self.tables, self.question, control.value))
            elif control.kind == "form":
                await interaction.response.send_modal(Form(self, control))
            else:
                await self.answer(interaction, control.value)

        setattr(button, "callback", pressed)
        return button

    async def answer(self, interaction: discord.Interaction, value: Any) -> None:
        reply = Interaction(interaction, self.tables)
        question: Any = self.question["id"]
        await guarded(reply, self.tables.answer(interaction.channel_id or 0, interaction.user.id, reply, question, value))


class Form(discord.ui.Modal):
    """A form with one text field, as a modal of discord.py."""

    def __init__(self, controls: Controls, control: Control) -> None:
        super().__init__(title=shortened(controls.question["topic"])[:45])
        self.controls = controls
        proposal = control.value if isinstance(control.value, (str, int)) else None
        self.text: discord.ui.TextInput[Form] = discord.ui.TextInput(
            label=controls.question["why"][:45], default=None if proposal is None else str(proposal)
        )
        self.add_item(self.text)

    async def on_submit(self, interaction: discord.Interaction) -> None:
        try:
            value = read(self.controls.question, self.text.value)
        except Trouble as trouble:
            await interaction.response.send_message(str(trouble), ephemeral=True)
            return
        await self.controls.answer(interaction, value)


async def guarded(reply: Reply, work: Awaitable[None]) -> None:
    """Runs the work of an interaction, and tells its author if it was refused."""
    try:
        await work
    except (Refused, Trouble) as trouble:
        await reply.private(discord.utils.escape_mentions(str(trouble)))


def commands(tree: app_commands.CommandTree[discord.Client], tables: Tables) -> None:
    """Adds the slash commands to the tree of discord.py."""

    @tree.command(description="Begins a game in this channel")
    async def new(interaction: discord.Interaction, ruleset: str, seed: Optional[int] = None) -> None:
        reply = Interaction(interaction, tables)
        await guarded(reply, tables.new(interaction.channel_id or 0, reply, ruleset, seed))

    @tree.command(description="Takes a seat; `gm` is the game master's")
    async def sit(interaction: discord.Interaction, seat: str) -> None:
        reply = Interaction(interaction, tables)
        name = discord.utils.escape_markdown(interaction.user.display_name)
        await guarded(reply, tables.sit(interaction.channel_id or 0, interaction.user.id, name, reply, seat))

    @tree.command(description="Leaves your seat")
    async def leave(interaction: discord.Interaction) -> None:
        reply = Interaction(interaction, tables)
        await guarded(reply, tables.leave(interaction.channel_id or 0, interaction.user.id, reply))

    @tree.command(description="Shows what you are asked")
    async def ask(interaction: discord.Interaction) -> None:
        reply = Interaction(interaction, tables)
        await guarded(reply, tables.ask(interaction.channel_id or 0, interaction.user.id, reply))

    @tree.command(description="Takes your last decision back")
    async def undo(interaction: discord.Interaction) -> None:
        reply = Interaction(interaction, tables)
        await guarded(reply, tables.undo(interaction.channel_id or 0, interaction.user.id, reply))


class Bot(discord.Client):
    """The bot. It needs no privileged intent: it reads no messages."""

    def __init__(self, host: Host, campaigns: Optional[str]) -> None:
        super().__init__(intents=discord.Intents(guilds=True))
        self.host = host
        self.tree = app_commands.CommandTree(self)
        commands(self.tree, Tables(host, campaigns))

    async def setup_hook(self) -> None:
        await self.host.start()
        await self.tree.sync()

    async def close(self) -> None:
        await super().close()
        await self.host.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="riskbreaker")
    parser.add_argument("--rulesets")
    parser.add_argument("--campaigns", metavar="DIR", help="the folder that keeps the games")
    args = parser.parse_args()
    token = os.environ.get("DISCORD_TOKEN")
    if not token:
        sys.exit("bot.py: set DISCORD_TOKEN to the token of your bot")
    options = ["--rulesets", args.rulesets] if args.rulesets else []
    Bot(Host(args.program, *options), args.campaigns).run(re.sub(r"\s", "", token))


if __name__ == "__main__":
    main()
