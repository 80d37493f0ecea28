// Tests of the installed package: `node test_package.mjs`, in a folder in which `riskbreaker` is installed.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { Host } from "riskbreaker";

delete process.env.RISKBREAKER;
process.env.PATH = "/no/such/folder"; // so that only the program of the package can be found

const host = await Host.start();
const { table } = await host.call("table.new", {
  ruleset: "riskbreaker-0.0.1", scenario: "duel", seed: 7, seats: { foes: "bold", gm: "absent" },
});
const player = await host.hello({ table, role: "seat", seat: "players" });
let answered = 0;
for (; player.view.state.is === "asking" && answered < 1000; answered++) {
  const [question] = player.mine();
  const { answers } = await player.call("answers", { question: question.id, most: 100 });
  await player.answer(question, answers?.[0] ?? question.proposal);
}
assert.equal(player.view.state.is, "over");
assert.ok(answered > 3);
await host.close();

// The command passes arguments, output and exit codes on.
const command = new URL("node_modules/riskbreaker/command.mjs", import.meta.url).pathname;
const { dice, mean } = JSON.parse(execFileSync(process.execPath, [command, "odds", "2d6", "--json"], { encoding: "utf8" }));
assert.deepEqual([dice, mean.fraction], ["2d6", "7"]);
assert.throws(() => execFileSync(process.execPath, [command, "odds", "2d0"], { stdio: "pipe" }), { status: 2 });
console.log("ok");
