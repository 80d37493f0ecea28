// A client of Riskbreaker: starts `riskbreaker serve --stdio` and speaks its protocol. Needs Node.js 18, nothing else.
// The types are in riskbreaker.d.mts.
//
//     const host = await Host.start();
//     const table = await host.open("evening.rbsave", { ruleset: "riskbreaker-0.0.1", seed: 7 });
//     const player = await host.hello({ table, role: "seat", seat: "players" });
//     await host.withRestarts(async () => {
//       for (const question of player.mine()) await player.answer(question, question.proposal);
//     });
//     await host.close();

import { spawn } from "node:child_process";
import { findProgram } from "./program.mjs";
import { callBack, Ended, Refused, Viewer } from "./viewer.mjs";

export { Ended, Refused, Viewer };

/** A host: the program `riskbreaker serve --stdio`, with this process as its operator. Messages are handled in order. */
export class Host {
  #command;
  #process;
  #exited;
  #ended = true;
  #closed = false;
  #last = 0;
  #stepped = false;
  #restarting;
  /** Requests without a result yet, by id. */
  #waiting = new Map();
  #byNumber = new Map();
  /** Notices to viewers whose `hello` is not answered yet. */
  #early = [];
  #viewers = new Set();
  #campaigns = new Map();
  onError = (error) => console.error(error);

  constructor(program, options) {
    this.#command = [program, [...options, "serve", "--stdio"]];
  }

  static async start(program = "riskbreaker", ...options) {
    const host = new Host(program === "riskbreaker" ? findProgram() : program, options);
    await host.#start();
    return host;
  }

  /** True if the program has ended. */
  get ended() {
    return this.#ended;
  }

  /** The id of the process. */
  get pid() {
    return this.#process.pid;
  }

  /**
   * Sends a request; several may be under way. It is rejected with `Refused` if the host refuses it, and with `Ended` if the
   * program ends before it answers.
   */
  call(method, params = {}) {
    return this.request(method, params, (result) => result);
  }

  /** Opens the table of a campaign file; if the file does not exist, a new table with the parameters of `table.new`. */
  async open(campaign, params = {}) {
    for (const [table, path] of this.#campaigns) if (path === campaign) return table;
    try {
      return (await this.call("table.load", { path: campaign, table: params.table })).table;
    } catch (refused) {
      if (refused.kind !== "file") throw refused;
      const made = await this.call("table.new", { ...params, campaign }).catch((error) => error);
      if (made instanceof Refused) throw refused;
      if (made instanceof Error) throw made;
      return made.table;
    }
  }

  /** Opens a viewer at a table: a `game_master`, a `seat` or a `watcher`. */
  async hello({ table, role, seat }) {
    const viewer = new Viewer(this, { table, role, seat });
    await this.#greet(viewer);
    return viewer;
  }

  /**
   * Starts the program again. Each table with a campaign file is loaded, and its viewers follow from their last step. Viewers
   * of other tables, and of those that cannot be loaded, get `bye`.
   */
  restart() {
    this.#restarting ??= this.#restart().finally(() => (this.#restarting = undefined));
    return this.#restarting;
  }

  /**
   * Calls `work`. If the program ends meanwhile, restarts it and calls `work` again. Gives up after `most` restarts in a row
   * without a step between them. So that nothing is done twice, `work` must read the views again each time, or give each
   * command the same `key` each time.
   */
  async withRestarts(work, most = 20) {
    for (let fruitless = 0; ; ) {
      try {
        if (this.#restarting || (this.#ended && !this.#closed)) await this.restart();
        return await work();
      } catch (error) {
        if (!(error instanceof Ended)) throw error;
        fruitless = this.#stepped ? 0 : fruitless + 1;
        if (this.#closed || fruitless > most) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.min(5 * 2 ** fruitless, 1000)));
      }
    }
  }

  /** Ends the program when all requests are answered, or kills it after `patience` milliseconds. Is never rejected. */
  async close(patience = 10_000) {
    this.#closed = true;
    const watchdog = setTimeout(() => this.#process?.kill("SIGKILL"), patience);
    this.#process?.stdin.end();
    await this.#exited;
    clearTimeout(watchdog);
  }

  /** Sends a request. `take` makes the result from the answer, before any later message is handled. */
  request(method, params, take) {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(new Ended());
      const id = ++this.#last;
      this.#waiting.set(id, { method, params, take, resolve, reject });
      this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  /** True if the viewer belongs to the program that runs now, not to one before a restart. */
  knows(viewer) {
    return this.#byNumber.get(viewer.number) === viewer;
  }

  /** Removes a viewer that has left: it gets no more notices. */
  forget(viewer) {
    if (this.knows(viewer)) this.#byNumber.delete(viewer.number);
    this.#viewers.delete(viewer);
  }

  /** Calls a callback. An exception goes to `onError`, but not `Ended`, which every waiting call throws itself. */
  report(callback, ...values) {
    callBack(callback, values, this.onError);
  }

  noteStep() {
    this.#stepped = true;
  }

  async #start() {
    const process = spawn(...this.#command, { stdio: ["pipe", "pipe", "inherit"] });
    this.#process = process;
    this.#ended = this.#stepped = false;
    this.#byNumber.clear();
    this.#early = [];
    let error = new Ended();
    this.#exited = new Promise((resolve) => {
      process.on("close", resolve);
      process.on("error", (failure) => resolve((error = failure)));
    }).then(() => process === this.#process && this.#end(error));
    process.stdin.on("error", () => {}); // the event `close` reports its end
    let rest = "";
    process.stdout.setEncoding("utf8").on("data", (text) => {
      rest += text;
      if (!text.includes("\n")) return;
      const lines = rest.split("\n");
      rest = lines.pop();
      for (const line of lines) if (process === this.#process) this.#take(line);
    });
    try {
      await this.call("hello", { protocol: 1, client: "javascript" });
    } catch (error) {
      process.kill("SIGKILL");
      throw error;
    }
  }

  #end(error) {
    this.#ended = true;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }

  async #restart() {
    this.#process.kill("SIGKILL");
    await this.#exited;
    this.#closed = false;
    await this.#start();
    const reasons = new Map();
    for (const [table, path] of [...this.#campaigns]) {
      try {
        await this.call("table.load", { table, path });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        reasons.set(table, error.message);
        this.#campaigns.delete(table);
      }
    }
    for (const viewer of [...this.#viewers]) {
      let reason = reasons.get(viewer.table);
      if (!this.#campaigns.has(viewer.table)) reason ??= "riskbreaker has ended, and no campaign file has this table";
      try {
        if (!reason) await this.#greet(viewer);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        reason = error.message;
      }
      if (reason) viewer.take("bye", { reason });
    }
  }

  #greet(viewer) {
    const { table, role, seat, view } = viewer;
    const params = { table, role, seat, since: view?.revision, seq: view?.seq };
    return this.request("hello", params, ({ viewer: number, view }) => {
      this.#byNumber.set(number, viewer);
      this.#viewers.add(viewer);
      viewer.begin(number, view);
      for (const [method, params] of this.#early) {
        if (params?.viewer === number) this.report(() => viewer.take(method, params));
      }
    });
  }

  #take(line) {
    let message = null;
    try {
      message = JSON.parse(line);
    } catch {
      // The line is not a message, so the program is not a host.
    }
    if (message === null || typeof message !== "object") return void this.#process.kill("SIGKILL");
    const { id, method, params, result, error } = message;
    if (method) {
      const viewer = this.#byNumber.get(params?.viewer);
      if (viewer) this.report(() => viewer.take(method, params));
      else this.#early = [...this.#early.slice(-99), [method, params]];
      return;
    }
    const request = this.#waiting.get(id);
    if (!request) return;
    this.#waiting.delete(id);
    if (error) return request.reject(new Refused(error));
    try {
      this.#noteCampaign(request, result);
      request.resolve(request.take(result));
    } catch (failure) {
      request.reject(failure);
    }
  }

  /** Remembers the campaign file of each table, for `restart`. */
  #noteCampaign({ method, params }, result) {
    const path = method === "table.new" ? params.campaign : params.path;
    if (["table.new", "table.load", "table.save"].includes(method) && path?.endsWith(".rbsave")) {
      this.#campaigns.set(result.table ?? params.table ?? this.#byNumber.get(params.viewer)?.table, path);
    }
    if (method === "table.close") this.#campaigns.delete(params.table);
  }
}
