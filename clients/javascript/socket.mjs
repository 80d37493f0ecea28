// A connection to the tables of `riskbreaker table` or `riskbreaker serve --websocket`. Runs in browsers and in Node.js 22.
//
//     const host = await SocketHost.connect("ws://127.0.0.1:7777/v1/ws");
//     const viewer = await host.enter({ code: "...", name: "Ann" });   // then: host.enter({ token: viewer.token })
//     viewer.onStep = (step) => console.log(step.events);

import { callBack, Ended, Refused, Viewer } from "./viewer.mjs";

export { Ended, Refused, Viewer };

/** A WebSocket with the viewers that it opened. It is not the operator of the host: each viewer enters by a token or a code. */
export class SocketHost {
  #address;
  #WebSocket;
  #socket;
  #last = 0;
  /** Requests without a result yet, by id. */
  #waiting = new Map();
  #byNumber = new Map();
  /** Notices to viewers whose `hello` is not answered yet. */
  #early = [];
  /** The parameters by which each viewer enters again. */
  #credentials = new Map();
  /** The promises of those in a waiting room. */
  #admissions = new Set();
  #closed = false;
  onError = (error) => console.error(error);
  /** Called when the connection is lost. */
  onLost = () => {};

  constructor(address, WebSocket) {
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

  call(method, params = {}) {
    return this.request(method, params, (result) => result);
  }

  close() {
    this.#closed = true;
    this.#socket?.close();
  }

  /** Sends a request. `take` makes the result from the answer, before any later message is handled. */
  request(method, params, take) {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new Ended());
      const id = ++this.#last;
      this.#waiting.set(id, { take, resolve, reject });
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  knows(viewer) {
    return this.#byNumber.get(viewer.number) === viewer;
  }

  forget(viewer) {
    if (this.knows(viewer)) this.#byNumber.delete(viewer.number);
    this.#credentials.delete(viewer);
  }

  /** Calls a callback. An exception goes to `onError`. */
  report(callback, ...values) {
    callBack(callback, values, this.onError);
  }

  noteStep() {}

  async #open() {
    this.#byNumber.clear();
    this.#early = [];
    const socket = new this.#WebSocket(this.#address);
    this.#socket = socket;
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error(`cannot connect to ${this.#address}`));
    });
    socket.onerror = () => {};
    socket.onmessage = ({ data }) => socket === this.#socket && this.#take(JSON.parse(data));
    socket.onclose = () => socket === this.#socket && this.#lost();
  }

  #lost() {
    const waiting = [...this.#waiting.values(), ...this.#admissions];
    this.#waiting.clear();
    this.#admissions.clear();
    for (const { reject } of waiting) reject(new Ended());
    if (!this.#closed) this.report(this.onLost);
  }

  #admitted() {
    return new Promise((resolve, reject) => this.#admissions.add({ resolve, reject }));
  }

  #begin(viewer, { viewer: number, view, token }) {
    this.#byNumber.set(number, viewer);
    Object.assign(viewer, { table: view.table, role: view.role, seat: view.seat, token: token ?? viewer.token });
    viewer.begin(number, view);
    for (const [method, params] of this.#early) {
      if (params?.viewer === number) this.report(() => viewer.take(method, params));
    }
    return viewer;
  }

  #remember(viewer, { token, seat, watch }) {
    viewer.token = token;
    this.#credentials.set(viewer, watch ? { watch } : { token, seat });
    return viewer;
  }

  #take({ id, method, params, result, error }) {
    if (method) {
      if (method === "admitted") return this.#settleAdmissions(params);
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
      request.resolve(request.take(result));
    } catch (failure) {
      request.reject(failure);
    }
  }

  #settleAdmissions({ admitted }) {
    for (const { resolve, reject } of this.#admissions) {
      if (admitted) resolve();
      else reject(new Refused({ message: "the game master does not let you in", data: { kind: "not_admitted" } }));
    }
    this.#admissions.clear();
  }
}
