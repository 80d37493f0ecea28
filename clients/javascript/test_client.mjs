// Plays against the program: `node test_client.mjs PROGRAM RULESETS`.

import assert from "node:assert/strict";
import { choose, play } from "./bot.mjs";
import { Host, Refused } from "./riskbreaker.mjs";

const [program, rulesets] = process.argv.slice(2);
const host = await Host.start(program, "--rulesets", rulesets);
const refusedAs = (kind) => (error) => error instanceof Refused && error.kind === kind;

// Two bots play a game to its end, and know what a fresh view tells.
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

await host.close();
console.log("ok");
