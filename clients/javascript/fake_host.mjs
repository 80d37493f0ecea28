// A host for the tests of the client. It sends views and steps in every order: late, twice, not at all, many at once.
//
//     node fake_host.mjs SEED
//
// `poke` makes steps and sends them at random, `truth` returns the view, `hang` is never answered, `noise` writes `text`, `odd`
// writes line separators that are not ends of lines, and `die` ends it.

import { createInterface } from "node:readline";
import { random } from "./random.mjs";

const chance = random(Number(process.argv[2]));
const below = (most) => Math.floor(chance() * most);
let seq = 1;
let behind = false;
const events = [];
const steps = [];

function view(since) {
  let log = [];
  for (const event of events) {
    if (event.event === "back") log = log.filter((known) => known.revision <= event.to);
    else log.push(event);
  }
  const entities = [{ id: 1, at: seq }, ...(seq % 2 ? [{ id: 2, at: 0 }] : [])];
  const all = { table: "a", role: "watcher", revision: events.length, log: log.slice(-50), presence: [], entities, ...now() };
  if (since === undefined || chance() >= 0.7) return all;
  return { ...all, after: since, log: events.filter((event) => event.revision > since) };
}

function now() {
  const question = { id: { action: seq, ordinal: 0 }, topic: `t${seq}`, yours: true };
  return { seq, state: { is: "asking" }, questions: [question], waiting: [], undo: {} };
}

function advance() {
  seq += 1;
  const told = [];
  for (let count = below(3); count > 0; count--) {
    const revision = events.length + 1;
    const back = { revision, event: "back", to: Math.max(0, events.length - 3) };
    told.push(chance() < 0.2 ? back : { revision, event: "said", text: `${seq}` });
    events.push(told.at(-1));
  }
  const second = seq % 2 ? { id: 2, at: 0 } : { id: 2, gone: true };
  const params = { viewer: 1, events: told, changed: [{ id: 1, at: seq }, second], ...now() };
  steps.push({ jsonrpc: "2.0", method: "step", params });
  return steps.at(-1);
}

/** Makes steps, and returns messages: the new steps in any order without some of them, and old steps again. */
function someSteps() {
  const out = [];
  for (let count = below(5); count > 0; count--) {
    let step = advance();
    if (!behind && chance() < 0.15) {
      behind = true;
      out.push({ jsonrpc: "2.0", method: "resync", params: { viewer: 1, reason: "slow" } });
    } else if (!behind && chance() < 0.1) {
      step = advance(); // the step before is never sent: the gap before this one shows it
    }
    if (!behind) out.push(step);
    if (chance() < 0.2 && steps.length > 1) out.push(steps[below(steps.length - 1)]);
  }
  return chance() < 0.3 ? out.sort(() => chance() - 0.5) : out;
}

function answer({ id, method, params = {} }) {
  const reply = (result) => ({ jsonrpc: "2.0", id, result });
  if (method === "hello" && params.table === undefined) return [reply({ limits: {} })];
  if (method === "hello" || method === "view") {
    behind = false;
    const seen = view(params.since);
    const out = someSteps();
    out.splice(below(out.length + 1), 0, reply(method === "hello" ? { viewer: 1, view: seen } : seen));
    return out;
  }
  if (method === "poke") return [...someSteps(), reply({})];
  if (method === "truth") return [reply(view())];
  if (method === "odd") return [reply("one\u2028two\u2029three\u0085four")];
  return [];
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.method === "die") break;
  const noise = request.method === "noise" ? `${request.params.text}\n` : "";
  // One write, so that all messages arrive together.
  process.stdout.write(noise + answer(request).map((message) => `${JSON.stringify(message)}\n`).join(""));
}
process.exit();
