// A client of Riskbreaker: starts `riskbreaker serve --stdio` and speaks its protocol. Needs Node.js 18, nothing else.
// The types stand in riskbreaker.d.mts.
//
//     const host = await Host.start();
//     const { table } = await host.call("table.new", { ruleset: "riskbreaker-0.0.1", seed: 7 });
//     const player = await host.hello({ table, role: "seat", seat: "players" });
//     for (const question of player.mine()) await player.answer(question, question.proposal);
//     await host.close();

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** The host did not carry a request out. `kind` and `data` say why, for programs; the message is for people. */
export class Refused extends Error {
  constructor(error) {
    super(error.message);
    const data = error.data ?? { kind: "unknown" };
    this.data = data.kind === "refused" ? data.refusal : data;
    this.kind = this.data.kind;
  }
}

/** The program, as its operator. */
export class Host {
  #process;
  #waiting = new Map();
  #viewers = new Map();
  #early = new Map();
  #last = 0;
  #ended;

  constructor(program, options) {
    this.#process = spawn(program, [...options, "serve", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#ended = new Promise((resolve) => this.#process.on("close", resolve));
    this.#process.on("error", (error) => this.#fail(error));
    this.#ended.then(() => this.#fail(new Error("riskbreaker has ended")));
    createInterface({ input: this.#process.stdout }).on("line", (line) => this.#take(JSON.parse(line)));
  }

  static async start(program = "riskbreaker", ...options) {
    const host = new Host(program, options);
    await host.call("hello", { protocol: 1, client: "javascript" });
    return host;
  }

  /** Sends a request; several may be under way. */
  call(method, params = {}) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  /** Opens a viewer at a table: a `game_master`, a `seat` or a `watcher`. */
  async hello({ table, role, seat }) {
    const { viewer: number, view } = await this.call("hello", { table, role, seat });
    const viewer = new Viewer(this, number, view);
    this.#viewers.set(number, viewer);
    // What came before the viewer was made.
    for (const [method, params] of this.#early.get(number) ?? []) await viewer.take(method, params);
    this.#early.delete(number);
    return viewer;
  }

  /** Ends the program once everything is answered. */
  async close() {
    this.#process.stdin.end();
    await this.#ended;
  }

  #take(message) {
    if (message.method) {
      const { viewer: number } = message.params;
      const viewer = this.#viewers.get(number);
      if (viewer) viewer.take(message.method, message.params);
      else this.#early.set(number, [...(this.#early.get(number) ?? []), [message.method, message.params]]);
      return;
    }
    const { resolve, reject } = this.#waiting.get(message.id) ?? {};
    this.#waiting.delete(message.id);
    if (message.error) reject?.(new Refused(message.error));
    else resolve?.(message.result);
  }

  #fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** Somebody at a table. `view` is what this viewer knows, and always up to date. */
export class Viewer {
  #host;

  constructor(host, number, view) {
    this.#host = host;
    this.number = number;
    this.view = view;
    this.onStep = () => {};
  }

  call(method, params = {}) {
    return this.#host.call(method, { ...params, viewer: this.number });
  }

  /** The open questions that this viewer may answer. */
  mine() {
    return this.view.questions.filter((question) => question.yours);
  }

  /** Answers exactly: an option's id, a list of ids, a number, points by id, true or false, a line. */
  answer(question, value, key) {
    return this.call("answer", { question: question.id, value, key });
  }

  undo() {
    return this.call("undo", { expect: this.view.seq });
  }

  /** Brings `view` to where the table is now. */
  async take(method, params) {
    const view = this.view;
    if (method === "presence") view.presence = params.presence;
    if (method === "resync") this.view = await this.call("view");
    if (method !== "step") return;
    const entities = new Map(view.entities.map((entity) => [entity.id, entity]));
    for (const entity of params.changed) {
      if (entity.gone) entities.delete(entity.id);
      else entities.set(entity.id, entity);
    }
    view.entities = [...entities.values()].sort((one, two) => one.id - two.id);
    for (const line of params.events) {
      if (line.event === "back") view.log = view.log.filter((known) => known.revision <= line.to);
      else if (line.event !== "aside") view.log.push(line); // an aside is said beside the log
      view.revision = line.revision;
    }
    for (const name of ["seq", "state", "questions", "waiting", "undo", "settings"]) {
      if (name in params) view[name] = params[name];
    }
    this.onStep(params);
  }
}
