// Tests the module against a stand-in for Foundry, and against the program: `node test_module.mjs PROGRAM RULESETS`.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { choose } from "../javascript/bot.mjs";
import { SocketHost } from "./client.mjs";
import { overlap, socketAddress } from "./mirror.mjs";
import { install } from "./module.mjs";
import { world } from "./stand_in.mjs";
import { message, page, sentence } from "./text.mjs";

// The program runs in a folder of its own.
const [program, rulesets] = process.argv.slice(2).map((path) => resolve(path));
// Node.js 20 has a WebSocket behind an option.
if (globalThis.WebSocket === undefined && !process.execArgv.includes("--experimental-websocket")) {
  const { status } = spawnSync(process.execPath, ["--experimental-websocket", fileURLToPath(import.meta.url), program, rulesets], { stdio: "inherit" });
  process.exit(status ?? 1);
}

// Texts of rulesets and players are escaped.
{
  assert.equal(message([{ event: "said", text: "<img src=x onerror=alert(1)>" }]), "<p>&lt;img src=x onerror=alert(1)&gt;</p>");
  assert.equal(sentence({ event: "rolled", label: "Ann strikes", total: 9, need: "under 7", success: false }), "Ann strikes: rolled 9, needs under 7, failure");
  assert.equal(sentence({ event: "changed", title: "Ann", label: "hits", text: "3 -> 2", reason: "struck" }), "Ann: hits 3 → 2 (struck)");
  assert.equal(message([{ event: "back", to: 3, text: "taken back" }]), "");
  const view = {
    settings: { rules: { title: "T & T", version: "1" } }, state: { is: "asking" }, waiting: [{ seat: "left" }], order: null,
    entities: [{ title: "<b>", side: { title: "Left" }, numbers: [{ label: "hits", value: 2, max: 5 }] }, { title: "a rope" }],
  };
  assert.equal(page(view), "<p>T &amp; T 1 · waiting for left</p><h2>Left</h2><table><tbody><tr><th scope=\"row\">&lt;b&gt;</th><td>hits 2 / 5</td></tr></tbody></table>");
  for (const [typed, address] of [["127.0.0.1:7777", "ws://127.0.0.1:7777/v1/ws"], ["https://table.example.org/x", "wss://table.example.org/v1/ws"]]) {
    assert.equal(socketAddress(typed), address);
  }
  for (const [old, lines, known] of [["abcd", "cdef", 2], ["abcd", "bc", 2], ["", "ab", 0], ["abab", "abc", 2], ["abc", "xbc", 0]]) {
    assert.equal(overlap([...old], [...lines]), known, `${old} ${lines}`);
  }
  const { esmodules, version } = JSON.parse(readFileSync(new URL("module.json", import.meta.url)));
  assert.deepEqual(esmodules, ["module.mjs"]);
  assert.equal(version, JSON.parse(readFileSync(new URL("../javascript/package.json", import.meta.url))).version);
}

// Without an address, and in a browser of another user, the module does nothing.
for (const isActiveGM of [true, false]) {
  const foundry = world({ isActiveGM });
  const module = install(foundry.surroundings, () => assert.fail("it connects"));
  await foundry.call("init");
  if (!isActiveGM) await foundry.surroundings.game.settings.set("riskbreaker", "address", "127.0.0.1:1");
  await foundry.call("ready");
  assert.deepEqual([foundry.warnings, foundry.messages], [[], []]);
  module.mirror()?.stop();
}

if (!program) process.exit(0);

const folder = mkdtempSync(join(tmpdir(), "foundry-"));
const running = new Set();

/** Starts a table. Returns its port, and the code of its game master. */
async function table(port) {
  const args = ["table", "evening", "--no-browser", "--port", port, "--rules", "riskbreaker-0.0.1", "--rulesets", rulesets, "--allow-origin", "http://localhost:30000"];
  const child = spawn(program, args, { cwd: folder, env: { ...process.env, XDG_STATE_HOME: folder, NO_COLOR: "1" }, stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const [, found, code] = /127\.0\.0\.1:(\d+)\/#gm=(\w+)/.exec(line) ?? [];
    if (!code) continue;
    child.stdout.resume();
    return { child, port: found, code };
  }
  throw new Error("the table does not start");
}

async function until(what, holds) {
  for (const began = Date.now(); !holds(); ) {
    assert.ok(Date.now() - began < 20_000, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

try {
  const first = await table("0");
  const address = `127.0.0.1:${first.port}`;
  const master = await SocketHost.connect(socketAddress(address));
  const gm = await master.enter({ code: first.code, name: "Ann" });
  assert.equal(gm.role, "game_master");

  // Everybody may watch this table; the mirror refuses a game master's code.
  const foundry = world();
  const { game } = foundry.surroundings;
  const module = install(foundry.surroundings);
  await foundry.call("init");
  await game.settings.set("riskbreaker", "address", address);
  await foundry.call("ready");
  await until("a page", () => foundry.journal.length === 1);
  assert.deepEqual([foundry.warnings, game.settings.get("riskbreaker", "token")], [[], ""]);
  const { code: second } = await gm.call("invite", { role: "game_master", kind: "code" });
  await game.settings.set("riskbreaker", "code", second);
  await until("a game master is refused", () => foundry.warnings.some((text) => text.includes("is that of a game_master")));
  await game.settings.set("riskbreaker", "code", "nonsense");
  assert.match(foundry.warnings.pop(), /allow-origin http:\/\/localhost:30000/);
  foundry.warnings.length = 0;

  // A watcher: the state is a page, each step a message.
  const { code } = await gm.call("invite", { role: "watcher", kind: "code" });
  await game.settings.set("riskbreaker", "code", code);
  await until("an entry", () => game.settings.get("riskbreaker", "token") !== "");
  await module.mirror().settled();
  assert.equal(foundry.journal[0].name, "Riskbreaker: evening");
  assert.equal(game.settings.get("riskbreaker", "code"), "", "a code holds once");
  const shown = () => foundry.journal[0].pages.contents[0].text.content;
  const before = shown();
  assert.match(before, /<th scope="row">Fighter<\/th>/);
  for (let turn = 0; turn < 8; turn++) {
    const [question] = gm.view.questions;
    await gm.answer(question, await choose(gm, question, turn));
  }
  await until("messages", () => foundry.messages.length > 0);
  await module.mirror().settled();
  assert.notEqual(shown(), before);
  assert.ok(foundry.messages.every(({ content, flags }) => content.startsWith("<p>") && flags.riskbreaker.table === "evening"));

  // Messages of lines that were taken back are struck out.
  const struck = () => foundry.messages.filter(({ content }) => content.startsWith("<s>")).length;
  assert.equal(struck(), 0);
  await gm.undo();
  await until("a struck message", () => struck() > 0);
  await module.mirror().settled();
  const messages = foundry.messages.length;

  // When the program was started again, the mirror follows, and no line comes twice.
  first.child.kill();
  await new Promise((resolve) => first.child.on("close", resolve));
  await until("a warning", () => foundry.warnings.some((text) => text.includes("is lost")));
  await table(first.port);
  await master.reconnect();
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await module.mirror().settled();
  assert.equal(foundry.messages.length, messages, "nothing was done meanwhile");
  const [question] = gm.view.questions;
  await gm.answer(question, await choose(gm, question, 9));
  await until("a message of the new program", () => foundry.messages.length > messages);
  assert.equal(foundry.journal.length, 1);

  // Another game master of the world takes over.
  game.users.activeGM.isSelf = false;
  await foundry.call("userConnected");
  assert.equal(module.mirror(), undefined);
  master.close();
} finally {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
console.log("ok");
