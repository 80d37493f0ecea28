// A bot that plays a seat: the first answer that each question takes, another one each time it is asked again.
//
//     node bot.mjs PROGRAM RULESETS RULESET SEAT [SEED]

import { fileURLToPath } from "node:url";
import { Host } from "./riskbreaker.mjs";

/** Plays until the game is over or others have to decide; gives the outcome. */
export async function play(viewer, most = 500) {
  for (let turn = 0; turn < most; turn++) {
    const { state } = viewer.view;
    const [question] = viewer.mine();
    if (state.is !== "asking" || !question) return state.outcome;
    await viewer.answer(question, await choose(viewer, question, turn));
  }
  return undefined;
}

/** An answer that the question takes; the proposal where there are too many to list. */
export async function choose(viewer, question, turn) {
  const { answers } = await viewer.call("answers", { question: question.id, most: 200 });
  return answers?.length ? answers[turn % answers.length] : (question.proposal ?? "");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [program, rulesets, ruleset, seat, seed = "1"] = process.argv.slice(2);
  const host = await Host.start(program, "--rulesets", rulesets);
  const { table } = await host.call("table.new", { ruleset, seed: Number(seed) });
  const viewer = await host.hello({ table, role: "seat", seat });
  viewer.onStep = (step) => step.events.forEach((line) => console.log(line.text ?? line.event));
  console.log("outcome:", await play(viewer));
  await host.close();
}
