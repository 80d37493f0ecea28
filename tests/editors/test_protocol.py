"""Tests features that Neovim 0.7 lacks with pytest-lsp: semantic tokens, signature help, and the odds before and after an edit.

The environment variable RISKBREAKER names the program, and RULESETS a folder with a copy of tests/rulesets/tug.
"""

import os
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

FOLDER = Path(os.environ["RULESETS"])
PULL = FOLDER / "tug" / "maneuvers" / "pull.luau"


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[os.environ["RISKBREAKER"], "lsp"]))
async def client(lsp_client: LanguageClient):
    params = types.InitializeParams(capabilities=client_capabilities("neovim"), root_uri=FOLDER.as_uri())
    result = await lsp_client.initialize_session(params)
    lsp_client.legend = result.capabilities.semantic_tokens_provider.legend
    yield
    await lsp_client.shutdown_session()


def opened(client: LanguageClient, text: str) -> types.TextDocumentIdentifier:
    item = types.TextDocumentItem(uri=PULL.as_uri(), language_id="luau", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    return types.TextDocumentIdentifier(uri=item.uri)


def place(text: str, piece: str, within: int) -> types.Position:
    at = text.index(piece) + within
    return types.Position(line=text.count("\n", 0, at), character=at - text.rfind("\n", 0, at) - 1)


@pytest.mark.asyncio
async def test_words_of_the_ruleset_are_marked(client: LanguageClient):
    text = PULL.read_text("utf-8")
    document = opened(client, text)
    await client.protocol.send_request_async("riskbreaker/idle", None)
    tokens = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(text_document=document))
    lines, found, line, column = text.split("\n"), {}, 0, 0
    for on, behind, length, sort, _ in zip(*[iter(tokens.data)] * 5):
        line, column = line + on, behind if on else column + behind
        found[lines[line][column : column + length]] = client.legend.token_types[sort]
    wanted = {"maneuver": "macro", "TUG-1": "label", "need": "method", "move_rope": "function"}
    assert {word: found.get(word) for word in wanted} == wanted


@pytest.mark.asyncio
async def test_a_call_shows_its_parameters(client: LanguageClient):
    text = PULL.read_text("utf-8")
    document = opened(client, text)
    await client.protocol.send_request_async("riskbreaker/idle", None)
    at = place(text, "rb.act.move_rope(ctx.rope, ", len("rb.act.move_rope(ctx.rope, "))
    params = types.SignatureHelpParams(text_document=document, position=at)
    help = await client.text_document_signature_help_async(params)
    assert help.signatures[0].label == "rb.act.move_rope(rope, by, who)"
    assert help.active_parameter == 1


@pytest.mark.asyncio
async def test_a_card_has_its_odds_before_and_after_the_edit(client: LanguageClient):
    text = PULL.read_text("utf-8").replace("won and risk or -risk", "won and risk or 0")
    document = opened(client, text)
    await client.protocol.send_request_async("riskbreaker/idle", None)
    params = types.HoverParams(text_document=document, position=place(text, '"pull"', 2))
    hover = await client.text_document_hover_async(params)
    for wanted in ("**Odds**", "| saved | edited | outcome |", "exact, over 2 paths"):
        assert wanted in hover.contents.value
