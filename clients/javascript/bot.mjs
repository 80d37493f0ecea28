// A bot that plays seats. It gives the first answer that a question takes, and the next one each time the question comes again.
// With a campaign file it continues after the host has ended.
//
//     node bot.mjs PROGRAM RULESETS RULESET SEAT[,SEAT] [SEED] [CAMPAIGN.rbsave]

import { fileURLToPath } from "node:url";
import { Host } from "./riskbreaker.mjs";

/**
 * Plays until the game is over or others have to decide, and returns the outcome. Each turn depends on the view alone, so it may
 * be repeated after a restart: an answer whose result was lost is in the view, or its question is open again.
 */
export async function play(viewer, most = 500) {
  for (let turn = 0; turn < most; turn++) {
    const { state } = viewer.view;
    const [question] = viewer.mine();
    if (state.is !== "asking" || !question) return state.outcome;
    await viewer.answer(question, await choose(viewer, question, turn));
  }
  return undefined;
}

/** Plays several seats in turn until the game is over or others have to decide, and returns the outcome. */
export async function playAll(viewers) {
  for (;;) {
    const before = viewers[0].view.seq;
    let outcome;
    for (const viewer of viewers) outcome = await play(viewer);
    if (outcome !== undefined || viewers[0].view.seq === before) return outcome;
  }
}

/** Returns an answer that the question takes; the proposal if there are too many to list. */
export async function choose(viewer, question, turn) {
  const { answers } = await viewer.call("answers", { question: question.id, most: 200 });
  return answers?.length ? answers[turn % answers.length] : (question.proposal ?? "");
}

async function main(program, rulesets, ruleset, seats, seed = "1", campaign = undefined) {
  const host = await Host.start(program, "--rulesets", rulesets);
  const viewers = [];
  try {
    const outcome = await host.withRestarts(async () => {
      // Sits down, unless that was done before a restart.
      const params = { ruleset, seed: Number(seed) };
      const open = async () => (campaign ? host.open(campaign, params) : (await host.call("table.new", params)).table);
      const table = viewers[0]?.table ?? (await open());
      for (const seat of seats.split(",").slice(viewers.length)) {
        viewers.push(await host.hello({ table, role: "seat", seat }));
      }
      viewers[0].onStep = (step) => step.events.forEach((line) => console.log(line.text ?? line.event));
      viewers[0].onView = (view) => console.log("continues at step", view.seq);
      viewers[0].onBye = (reason) => console.log("left:", reason);
      return playAll(viewers);
    });
    console.log("outcome:", outcome);
  } finally {
    await host.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main(...process.argv.slice(2)).catch((error) => {
    console.error(`bot.mjs: ${error.message}`);
    process.exitCode = 1;
  });
}
