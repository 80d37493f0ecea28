// Mirrors a table into Foundry. The parameter `foundry` has the few calls of Foundry that are used: module.mjs passes the real
// ones, the tests a stand-in.

import { message, page, sentence } from "./text.mjs";

/** The longest pause before another attempt to connect, in milliseconds. */
const LONGEST_PAUSE = 30_000;
/** The number of last lines that are remembered: the log of a view has no more. */
const TAIL = 50;

/**
 * A table that is mirrored: the lines of each step as a chat message, the state as a journal page. It enters as a watcher, so it
 * never sees anything that only some may know.
 */
export class Mirror {
  #foundry;
  #connect;
  #host;
  #viewer;
  #failures = 0;
  #stopped = false;
  /** The last change of a document of Foundry; changes are made one after the other. */
  #work = Promise.resolve();
  #shown;

  /** Takes `connect(address)`, which returns a host as `SocketHost.connect` does. */
  constructor(foundry, connect) {
    this.#foundry = foundry;
    this.#connect = connect;
  }

  /** Connects, and mirrors until `stop`. Returns true if it has entered the table. */
  async start() {
    const foundry = this.#foundry;
    const { address, token, code } = foundry.settings();
    if (!address) return false;
    try {
      this.#host = await this.#connect(socketAddress(address));
      this.#host.onError = (error) => foundry.warn(`Riskbreaker: ${error.message}`);
      this.#viewer = await this.#host.enter(token ? { token } : code ? { code, name: "Foundry" } : { watch: true });
    } catch (error) {
      foundry.warn(`Riskbreaker: ${error.message}. Is the address right, and this page allowed with --allow-origin ${foundry.origin}?`);
      this.#host?.close();
      return false;
    }
    if (this.#viewer.role !== "watcher") {
      foundry.warn(`Riskbreaker: this code is that of a ${this.#viewer.role}. Use the code of a watcher: what is mirrored, everybody sees.`);
      this.stop();
      return false;
    }
    if (!token && this.#viewer.token) await foundry.remember({ token: this.#viewer.token, code: "" });
    this.#viewer.onStep = (step) => this.#take(step.events);
    this.#viewer.onView = () => this.#catchUp();
    this.#viewer.onBye = (reason) => foundry.warn(`Riskbreaker: ${reason}`);
    this.#host.onLost = () => this.#comeBack();
    this.#catchUp();
    return true;
  }

  stop() {
    this.#stopped = true;
    this.#host?.close();
  }

  /** Resolves when Foundry has everything that was received so far. */
  async settled() {
    for (let work; work !== this.#work; ) await (work = this.#work);
  }

  async #comeBack() {
    if (this.#stopped) return;
    if (this.#failures === 0) this.#foundry.warn("Riskbreaker: the connection is lost; it is tried again.");
    const pause = Math.min(1000 * 2 ** this.#failures++, LONGEST_PAUSE);
    await this.#foundry.pause(pause);
    try {
      await this.#host.reconnect();
      this.#failures = 0;
    } catch {
      await this.#comeBack();
    }
  }

  /** Shows the lines of the time without a mirror, and the state. */
  #catchUp() {
    const { view } = this.#viewer;
    const lines = [...view.log];
    this.#do(async () => {
      const seen = this.#foundry.seen(view.table) ?? { numbering: 0, tail: [] };
      const known = overlap(seen.tail, lines.map(sentence));
      // A table that was loaded again counts its lines from the start.
      const goesOn = known > 0 && lines[known - 1].revision === seen.revision;
      const numbering = goesOn ? seen.numbering : seen.numbering + 1;
      await this.#show(lines.slice(known), view, { ...seen, numbering, tail: lines.slice(-TAIL).map(sentence) });
    });
  }

  #take(lines) {
    const { view } = this.#viewer;
    // Only the lines that were not taken back.
    const tail = view.log.slice(-TAIL).map(sentence);
    this.#do(() => this.#show(lines, view, { ...this.#foundry.seen(view.table), tail }));
  }

  #do(work) {
    this.#work = this.#work.then(work).catch((error) => this.#foundry.warn(`Riskbreaker: ${error.message}`));
  }

  async #show(lines, view, { numbering, tail, revision: last }) {
    const foundry = this.#foundry;
    const { table } = view;
    for (const { to } of lines.filter(({ event }) => event === "back")) await this.#strike(table, numbering, to);
    const content = message(lines);
    const revision = lines.at(-1)?.revision ?? last;
    const flag = { table, numbering, revision };
    if (content) await foundry.chat({ content, speaker: { alias: `Riskbreaker: ${table}` }, flags: { riskbreaker: flag } });
    await foundry.see(table, { numbering, revision, tail });
    const shown = page(view);
    if (shown !== this.#shown) await foundry.journal(`Riskbreaker: ${table}`, shown);
    this.#shown = shown;
  }

  /** Strikes out the messages of lines that were taken back. */
  async #strike(table, numbering, to) {
    for (const { document, content, flag } of this.#foundry.messages()) {
      if (flag.table !== table || flag.numbering !== numbering || flag.revision <= to || flag.struck) continue;
      await document.update({ content: `<s>${content}</s>`, "flags.riskbreaker.struck": true });
    }
  }
}

/** Returns how many of the first new lines are known: the length of the longest start of `lines` that occurs in `old`. */
export function overlap(old, lines) {
  let most = 0;
  for (let start = 0; start < old.length; start++) {
    let same = 0;
    while (same < lines.length && old[start + same] === lines[same]) same++;
    most = Math.max(most, same);
  }
  return most;
}

/** Returns the address of the WebSocket for the address of a page, such as `http://127.0.0.1:7777`. */
export function socketAddress(address) {
  const url = new URL(/^[a-z]+:\/\//i.test(address) ? address : `http://${address}`);
  const secure = ["https:", "wss:"].includes(url.protocol);
  return `${secure ? "wss" : "ws"}://${url.host}/v1/ws`;
}
