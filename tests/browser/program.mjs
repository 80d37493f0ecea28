// Runs `riskbreaker table` in a folder of its own, for tests of its page.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { option, pause, root } from "./kit.mjs";

/** Returns a port that is free now. */
export const freePort = () => new Promise((done) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});

/** A campaign served by `riskbreaker table` in a folder of its own. */
export class Program {
  #folder = mkdtempSync(join(tmpdir(), "riskbreaker-table-"));
  #child;

  constructor(name, port, ...more) {
    [this.ruleset, this.scenario] = name.split("/");
    Object.assign(this, { port, more });
  }

  /** Starts the program, again after `kill`, and reads the addresses that it prints. */
  async start() {
    const program = resolve(root, process.env.RISKBREAKER ?? "target/debug/riskbreaker");
    const page = option("page") ? ["--page", resolve(option("page"))] : [];
    const first = this.address ? [] : [this.scenario, "--rules", this.ruleset, "--port", this.port];
    const child = this.#child = spawn(program, ["table", "evening", "--rulesets", join(root, "rulesets"), "--no-browser", ...page, ...first, ...this.more], { cwd: this.#folder, stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    let ended = false;
    child.stdout.on("data", (text) => { printed += text; });
    child.on("error", (error) => { printed += error; ended = true; });
    child.on("close", () => { ended = true; });
    const found = (pattern) => pattern.exec(printed)?.[1];
    for (let tries = 0; !printed.includes("Ctrl-C") && !ended && tries < 600; tries += 1) await pause(50);
    this.address = found(/(http:\/\/[^\s#]+\/)#gm=/);
    this.codes = { gm: found(/#gm=(\S+)/), join: found(/#j=(\S+)/) };
    if (!this.codes.gm || !this.codes.join) throw new Error(`The program did not print its addresses:\n${printed}`);
    return this;
  }

  #end(signal) {
    return new Promise((done) => { this.#child.on("close", done); this.#child.kill(signal); });
  }

  kill = () => this.#end("SIGKILL");

  async stop() {
    await this.#end("SIGINT");
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

