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
import { Connection, Ended, Refused, Viewer } from "./viewer.mjs";

export { Ended, Refused, Viewer };

/** A host: the program `riskbreaker serve --stdio`, with this process as its operator. Messages are handled in order. */
export class Host extends Connection {
  #command;
  #process;
  #exited;
  #ended = true;
  #closed = false;
  #stepped = false;
  #restarting;
  #viewers = new Set();
  #campaigns = new Map();

  constructor(program, options) {
    super();
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

  send(line) {
    this.#process.stdin.write(`${line}\n`);
  }

  forget(viewer) {
    super.forget(viewer);
    this.#viewers.delete(viewer);
  }

  noteStep() {
    this.#stepped = true;
  }

  async #start() {
    const process = spawn(...this.#command, { stdio: ["pipe", "pipe", "inherit"] });
    this.#process = process;
    this.#ended = this.#stepped = false;
    this.begin();
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
    this.failAll(error);
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
      this.#viewers.add(viewer);
      this.welcome(viewer, number, view);
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
    this.receive(message);
  }

  /** Remembers the campaign file of each table, for `restart`. */
  noteResult({ method, params }, result) {
    const path = method === "table.new" ? params.campaign : params.path;
    if (["table.new", "table.load", "table.save"].includes(method) && path?.endsWith(".rbsave")) {
      this.#campaigns.set(result.table ?? params.table ?? this.viewer(params.viewer)?.table, path);
    }
    if (method === "table.close") this.#campaigns.delete(params.table);
  }
}
