// Tests the client against the program: `node test_client.mjs PROGRAM RULESETS`.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { choose, play } from "./bot.mjs";
import { random } from "./random.mjs";
import { Ended, Host, Refused } from "./riskbreaker.mjs";

const [program, rulesets] = process.argv.slice(2);
const FAKE_HOST = [process.execPath, fileURLToPath(new URL("fake_host.mjs", import.meta.url))];
const chance = random(1);
const hasEnded = (error) => error instanceof Ended && error.message === "riskbreaker has ended";
const host = await Host.start(program, "--rulesets", rulesets);
const refusedAs = (kind) => (error) => error instanceof Refused && error.kind === kind;

// Two bots play a game to its end, and their views equal a view that is requested.
{
  const { table } = await host.call("table.new", { ruleset: "tug", seed: 5 });
  const seats = await Promise.all(["left", "right"].map((seat) => host.hello({ table, role: "seat", seat })));
  for (let round = 0; round < 200 && seats[0].view.state.is !== "over"; round++) {
    for (const viewer of seats) {
      const [question] = viewer.mine();
      if (question) await viewer.answer(question, await choose(viewer, question, round));
      const fresh = await viewer.call("view");
      for (const name of ["seq", "revision", "state", "settings", "entities", "questions", "waiting", "undo"]) {
        assert.deepEqual(viewer.view[name], fresh[name], name);
      }
    }
  }
  assert.ok((await play(seats[0])) !== undefined);
}

// Refusals have kinds; a repeated key gets the first result; an undo needs what was seen.
{
  const { table } = await host.call("table.new", { ruleset: "tug", seed: 5 });
  const left = await host.hello({ table, role: "seat", seat: "left" });
  const right = await host.hello({ table, role: "seat", seat: "right" });
  const [question] = left.mine();
  await assert.rejects(left.answer(question, "nonsense"), refusedAs("not_an_option"));
  await assert.rejects(right.answer(question, "pull"), refusedAs("not_your_seat"));
  const first = await left.answer(question, "pull", "a");
  assert.deepEqual(await left.answer(question, "pull", "a"), first);
  await assert.rejects(left.answer(question, "pull"), refusedAs("stale"));
  await assert.rejects(left.call("undo", { expect: first.seq - 1 }), refusedAs("moved"));
  await left.undo();
  assert.equal(left.mine()[0].topic, "card");
}

// Viewers get notices of presence and of their end.
{
  const { table } = await host.call("table.new", { ruleset: "tug", seed: 5 });
  const left = await host.hello({ table, role: "seat", seat: "left" });
  const right = await host.hello({ table, role: "seat", seat: "right" });
  const heard = [];
  left.onPresence = (presence) => heard.push(presence.map(({ seat }) => seat));
  left.onBye = (reason) => heard.push(reason);
  await right.close();
  await right.close();
  // The host sends notices of presence at most once a second.
  for (let times = 0; times < 50 && heard.at(-1)?.join() !== "left"; times++) await pause(100);
  await host.call("table.close", { table });
  assert.deepEqual(heard.slice(-2), [["left"], "the table was closed"]);
  for (const viewer of [left, right]) await assert.rejects(viewer.call("view"), /this viewer has left/);
}

// An exception in a callback is reported, and the view continues to change.
{
  const { table } = await host.call("table.new", { ruleset: "tug", seed: 5 });
  const left = await host.hello({ table, role: "seat", seat: "left" });
  const errors = [];
  const { onError } = host;
  host.onError = (error) => errors.push(error.message);
  left.onStep = () => {
    throw new Error("a mistake in the bot");
  };
  left.onPresence = async () => {
    throw new Error("a later mistake");
  };
  await (await host.hello({ table, role: "watcher" })).close();
  await play(left);
  const fresh = await left.call("view");
  for (const name of ["seq", "state", "entities", "questions"]) assert.deepEqual(left.view[name], fresh[name]);
  for (let times = 0; times < 50 && !errors.includes("a later mistake"); times++) await pause(100);
  assert.deepEqual(new Set(errors), new Set(["a mistake in the bot", "a later mistake"]));
  host.onError = () => {
    throw new Error("a mistake in the report");
  };
  const { error } = console;
  console.error = () => {};
  await left.undo();
  console.error = error;
  assert.equal(left.view.seq, (await left.call("view")).seq);
  host.onError = onError;
}

await host.close();
assert.deepEqual(children(), []);

// After the end of the program, pending and later calls fail at once, and `close` leaves no process.
{
  const host = await Host.start(...FAKE_HOST, "1");
  const viewer = await host.hello({ table: "a", role: "watcher" });
  const pending = [1, 2, 3, 4, 5].map(() => viewer.call("hang"));
  await pause(100);
  process.kill(host.pid, "SIGKILL");
  for (const call of pending) await assert.rejects(call, hasEnded);
  assert.deepEqual(children(), []);
  for (const call of [() => host.call("ping"), () => viewer.refresh(), () => viewer.undo(), () => host.hello({ table: "a" })]) {
    await assert.rejects(call, hasEnded);
  }
  await viewer.close();
  for (let times = 0; times < 3; times++) await host.close();
  // A call while the program ends, when its input does not accept the message any more.
  const other = await Host.start(...FAKE_HOST, "1");
  process.kill(other.pid, "SIGKILL");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  await assert.rejects(other.call("ping"), hasEnded);
  // A program that was stopped, and one that writes a line that is no message.
  const stopped = await Host.start(...FAKE_HOST, "1");
  process.kill(stopped.pid, "SIGSTOP");
  await stopped.close(300);
  for (const text of ["this is no message", "null", "7", '{"id": 2']) {
    const noisy = await Host.start(...FAKE_HOST, "1");
    assert.equal(await noisy.call("odd"), "one\u2028two\u2029three\u0085four");
    await assert.rejects(noisy.call("noise", { text }), hasEnded);
    await noisy.close();
  }
  assert.deepEqual(children(), []);
  await assert.rejects(Host.start("/no/such/program"), { code: "ENOENT" });
}

// Views and steps in any order, also many in one piece, lead to the newest state.
for (let seed = 0; seed < 13; seed++) {
  const host = await Host.start(...FAKE_HOST, String(seed));
  const viewer = await host.hello({ table: "a", role: "watcher" });
  const seen = [viewer.view.seq];
  viewer.onStep = ({ seq }) => seen.push(seq);
  viewer.onView = ({ seq }) => seen.push(seq);
  for (let round = 0; round < 40; round++) {
    if (round > 0) await host.call("poke");
    let truth;
    for (let times = 0; times < 20; times++) {
      truth = await host.call("truth");
      if (viewer.view.seq === truth.seq) break;
    }
    const where = `seed ${seed}, round ${round}`;
    for (const name of ["seq", "revision", "entities", "questions"]) assert.deepEqual(viewer.view[name], truth[name], where);
    const count = Math.min(viewer.view.log.length, truth.log.length);
    if (count > 0) assert.deepEqual(viewer.view.log.slice(-count), truth.log.slice(-count), where);
  }
  assert.deepEqual(seen, seen.toSorted?.((one, two) => one - two) ?? seen);
  await host.close();
}

const folder = mkdtempSync(join(tmpdir(), "riskbreaker-"));
try {
  // No answer is lost or given twice while the host is killed repeatedly. How often it is killed in one game depends on the machine.
  const whole = await playedGame("whole", false);
  for (let game = 0, kills = 0; kills < 4; game++) {
    const killed = await playedGame(`killed-${game}`, true);
    assert.deepEqual([killed.outcome, killed.decisions], [whole.outcome, whole.decisions]);
    kills += killed.kills;
  }

  // Commands with a key count once, also several under way.
  {
    const { host, dying } = await dyingHost();
    const table = await host.open(`${folder}/keys.rbsave`, { ruleset: "tug", seed: 5 });
    const master = await host.hello({ table, role: "game_master" });
    dying.mortal = true;
    const say = (number) =>
      host.withRestarts(() => master.call("edit", { edit: { say: { text: `line ${number}` } }, key: `key ${number}` }));
    let lines = 0;
    for (; lines < 24 || dying.kills < 3; lines += 4) await Promise.all([0, 1, 2, 3].map((more) => say(lines + more)));
    dying.mortal = false;
    await dying.lastKill;
    const { log } = await host.withRestarts(() => master.call("view", { since: 0 }));
    const said = log.flatMap(({ text }) => text?.match(/line (\d+)/)?.[1] ?? []).map(Number);
    assert.deepEqual(said.sort((one, two) => one - two), [...Array(lines).keys()]);
    await host.close();
  }

  // A restart ends tables without a campaign file. Their viewers end, and do not act as new viewers with the same numbers.
  {
    const host = await Host.start(program, "--rulesets", rulesets);
    const { table } = await host.call("table.new", { ruleset: "tug", seed: 5 });
    const lost = await host.hello({ table, role: "game_master" });
    const kept = await host.open(`${folder}/kept.rbsave`, { ruleset: "tug", seed: 5 });
    const left = await host.hello({ table: kept, role: "seat", seat: "left" });
    const watcher = await host.hello({ table: kept, role: "watcher" });
    const heard = [];
    lost.onBye = (reason) => heard.push(reason);
    await left.answer(left.mine()[0], "pull");
    left.onView = () => watcher.call("view");
    host.onError = (error) => heard.push(error);
    process.kill(host.pid, "SIGKILL");
    await assert.rejects(left.call("hang"), hasEnded);
    await Promise.all([1, 2, 3].map(() => host.withRestarts(() => host.call("ping"))));
    assert.deepEqual(heard, ["riskbreaker has ended, and no campaign file has this table"]);
    await assert.rejects(lost.call("view"), /this viewer has left/);
    await lost.close();
    assert.deepEqual([lost.number, left.number], [1, 1]);
    assert.equal((await left.call("view")).seat, "left");
    assert.equal(left.mine()[0].topic, "risk");
    assert.equal((await watcher.call("view")).role, "watcher");
    await host.close();
  }

  // `withRestarts` gives up a host that ends after each start.
  {
    const host = await Host.start(...FAKE_HOST, "1");
    const starts = new Set();
    const work = () => {
      starts.add(host.pid);
      return host.call("die");
    };
    await assert.rejects(host.withRestarts(work, 3), hasEnded);
    assert.equal(starts.size, 4);
    await host.close();
  }

  // The bot program continues when its host is killed.
  {
    const campaign = `${folder}/bot.rbsave`;
    const bot = fileURLToPath(new URL("bot.mjs", import.meta.url));
    const playing = spawn(process.execPath, [bot, program, rulesets, "tug", "left,right", "5", campaign]);
    let said = "";
    playing.stdout.on("data", (text) => (said += text));
    const ended = new Promise((resolve) => playing.on("close", resolve));
    for (let kills = 0; kills < 5 && playing.exitCode === null; ) {
      await pause(50 + 350 * chance());
      if (!said) continue;
      for (const { pid } of processes().filter(({ parent }) => parent === playing.pid)) {
        try {
          kills += process.kill(pid, "SIGKILL") ? 1 : 0;
        } catch {
          // The process has ended meanwhile.
        }
      }
    }
    assert.equal(await ended, 0);
    assert.match(said, /outcome:/);
  }
  assert.deepEqual(children(), []);
} finally {
  rmSync(folder, { recursive: true });
}
console.log("ok");

/** Starts a host that is killed repeatedly while it is `mortal`: some time after every few requests. */
async function dyingHost() {
  const host = await Host.start(program, "--rulesets", rulesets);
  const dying = { mortal: false, life: 4, kills: 0, lastKill: undefined };
  const request = host.request.bind(host);
  host.request = (...all) => {
    const { pid } = host;
    dying.life -= dying.mortal ? 1 : 0;
    if (dying.life === 0) {
      dying.life = 4 + Math.floor(11 * chance());
      dying.lastKill = pause(12 * chance()).then(() => {
        try {
          if (host.pid === pid && !host.ended) dying.kills += process.kill(pid, "SIGKILL") ? 1 : 0;
        } catch {
          // The process has ended meanwhile.
        }
      });
    }
    return request(...all);
  };
  return { host, dying };
}

/** Plays a game in which each answer depends on the state alone. */
async function playedGame(name, mortal) {
  const { host, dying } = await dyingHost();
  const table = await host.open(`${folder}/${name}.rbsave`, { ruleset: "tug", seed: 5, switches: { wins_at: 10 } });
  const viewers = [];
  for (const seat of ["left", "right"]) viewers.push(await host.hello({ table, role: "seat", seat }));
  const seen = [viewers[0].view.seq];
  viewers[0].onStep = ({ seq }) => seen.push(seq);
  viewers[0].onView = ({ seq }) => seen.push(seq);
  dying.mortal = mortal;
  const outcome = await host.withRestarts(async () => {
    while (viewers[0].view.state.is === "asking") {
      for (const viewer of viewers) {
        const [question] = viewer.mine();
        if (!question) continue;
        const { answers } = await viewer.call("answers", { question: question.id });
        const { at } = viewer.view.entities.find(({ kind }) => kind === "rope").fields;
        await viewer.answer(question, answers[(7 * (at + 50) + answers.length) % answers.length]);
      }
    }
    return viewers[0].view.state.outcome;
    // On a busy machine many starts in a row may be killed before their first step.
  }, 200);
  dying.mortal = false;
  await dying.lastKill;
  const { entries } = await host.withRestarts(() => host.call("entries", { table }));
  for (const viewer of viewers) assert.deepEqual(viewer.view.entities, (await viewer.call("view")).entities);
  assert.ok(seen.every((seq, at) => at === 0 || seq >= seen[at - 1]));
  await host.close();
  return { outcome, decisions: entries.map(({ text }) => text), kills: dying.kills };
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function processes() {
  const lines = execFileSync("ps", ["-A", "-o", "ppid=,pid=,stat=,comm="], { encoding: "utf8" }).trim().split("\n");
  return lines.map((line) => line.trim().split(/\s+/)).map(([parent, pid, state, name]) => {
    return { parent: Number(parent), pid: Number(pid), state, name };
  });
}

/** Returns the child processes of this process that it has not waited for, also those that have ended. */
function children() {
  return processes().filter(({ parent, name }) => parent === process.pid && name !== "ps");
}
