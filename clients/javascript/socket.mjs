// A connection to the tables of `riskbreaker table` or `riskbreaker serve --websocket`. Runs in browsers and in Node.js 22.
//
//     const host = await SocketHost.connect("ws://127.0.0.1:7777/v1/ws");
//     const viewer = await host.enter({ code: "...", name: "Ann" });   // then: host.enter({ token: viewer.token })
//     viewer.onStep = (step) => console.log(step.events);

import { Connection, Ended, Refused, Viewer } from "./viewer.mjs";

export { Ended, Refused, Viewer };

/** A WebSocket with the viewers that it opened. It is not the operator of the host: each viewer enters by a token or a code. */
export class SocketHost extends Connection {
  #address;
  #WebSocket;
  #socket;
  /** The parameters by which each viewer enters again. */
  #credentials = new Map();
  /** The promises of those in a waiting room. */
  #admissions = new Set();
  #closed = false;
  /** Called when the connection is lost. */
  onLost = () => {};

  constructor(address, WebSocket) {
    super();
    this.#address = address;
    this.#WebSocket = WebSocket;
  }

  /** Connects to an address such as `ws://127.0.0.1:7777/v1/ws`. */
  static async connect(address, { WebSocket = globalThis.WebSocket } = {}) {
    const host = new SocketHost(address, WebSocket);
    await host.#open();
    return host;
  }

  /** True if the connection is lost or closed. */
  get ended() {
    return this.#socket?.readyState !== 1;
  }

  /**
   * Opens a viewer by a `token`, by a `code` with a `name`, or with `watch` at a table that everybody may watch. In a waiting room
   * it waits until a game master lets it in. `viewer.token` opens the viewer again; it is undefined for a viewer by `watch`.
   */
  async enter({ token, code, name, seat, watch }) {
    const params = watch ? { watch } : token ? { token, seat } : { code, name };
    const result = await this.request("hello", params, (told) => (told.waiting ? told : this.#begin(new Viewer(this, {}), told)));
    if (result instanceof Viewer) return this.#remember(result, { ...params, token: result.token ?? token });
    await this.#admitted();
    return this.enter({ token: result.token, seat });
  }

  /** Connects again after the connection was lost; each viewer continues from its last step. */
  async reconnect() {
    await this.#open();
    for (const [viewer, credentials] of [...this.#credentials]) {
      const { view } = viewer;
      const params = { ...credentials, since: view.revision, seq: view.seq };
      await this.request("hello", params, (told) => this.#begin(viewer, told));
    }
  }

  close() {
    this.#closed = true;
    this.#socket?.close();
  }

  send(line) {
    this.#socket.send(line);
  }

  forget(viewer) {
    super.forget(viewer);
    this.#credentials.delete(viewer);
  }

  receive(message) {
    if (message.method === "admitted") this.#settleAdmissions(message.params);
    else super.receive(message);
  }

  async #open() {
    this.begin();
    const socket = new this.#WebSocket(this.#address);
    this.#socket = socket;
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error(`cannot connect to ${this.#address}`));
    });
    socket.onerror = () => {};
    socket.onmessage = ({ data }) => socket === this.#socket && this.receive(JSON.parse(data));
    socket.onclose = () => socket === this.#socket && this.#lost();
  }

  #lost() {
    const admissions = [...this.#admissions];
    this.#admissions.clear();
    for (const { reject } of admissions) reject(new Ended());
    this.failAll(new Ended());
    if (!this.#closed) this.report(this.onLost);
  }

  #admitted() {
    return new Promise((resolve, reject) => this.#admissions.add({ resolve, reject }));
  }

  #begin(viewer, { viewer: number, view, token }) {
    Object.assign(viewer, { table: view.table, role: view.role, seat: view.seat, token: token ?? viewer.token });
    return this.welcome(viewer, number, view);
  }

  #remember(viewer, { token, seat, watch }) {
    viewer.token = token;
    this.#credentials.set(viewer, watch ? { watch } : { token, seat });
    return viewer;
  }

  #settleAdmissions({ admitted }) {
    for (const { resolve, reject } of this.#admissions) {
      if (admitted) resolve();
      else reject(new Refused({ message: "the game master does not let you in", data: { kind: "not_admitted" } }));
    }
    this.#admissions.clear();
  }
}
