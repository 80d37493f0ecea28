// Choices a second of processor time through the simulator of Pokemon Showdown, by its own stream of text.
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);
const { BattleStream, Teams } = require("pokemon-showdown");

const BATTLES = Number(process.argv[2] ?? 30);
const FORMAT = "gen7randombattle";

/** Plays one battle with the simulator's own first choices, and gives how many were taken. */
async function battle(seed) {
  const stream = new BattleStream();
  const team = (side) => Teams.pack(Teams.generate(FORMAT, { seed: [seed, side, 3, 4] }));
  await stream.write(`>start ${JSON.stringify({ formatid: FORMAT, seed: [seed, 2, 3, 4] })}`);
  for (const [side, player] of [[1, "p1"], [2, "p2"]]) {
    await stream.write(`>player ${player} ${JSON.stringify({ name: player, team: team(side) })}`);
  }
  let choices = 0;
  for await (const chunk of stream) {
    const [kind, rest] = [chunk.slice(0, chunk.indexOf("\n")), chunk.slice(chunk.indexOf("\n") + 1)];
    if (kind === "end" || (kind === "update" && /^\|(win\||tie$)/m.test(rest))) break;
    const request = rest.indexOf("|request|");
    if (kind !== "sideupdate" || request < 0) continue;
    if (!JSON.parse(rest.slice(request + 9)).wait) {
      choices += 1;
      void stream.write(`>${rest.slice(0, 2)} default`);
    }
  }
  return choices;
}

await battle(1); // warm
const before = process.cpuUsage();
let choices = 0;
for (let seed = 2; seed < BATTLES + 2; seed += 1) choices += await battle(seed);
const used = process.cpuUsage(before);
const seconds = (used.user + used.system) / 1e6;
console.log(
  `pokemon-showdown: ${choices} choices of ${BATTLES} battles in ${seconds.toFixed(2)} CPU s, ` +
    `${Math.round(choices / seconds)} a second`,
);
