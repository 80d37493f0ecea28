// What this viewer knows of the table, and the connection that it is told by.

export class Table {
  /** The last view, kept up to date by each `step`. */
  view;
  entities = new Map();
  /** Events of the log, the oldest first; each has the `seq` of its step, where that is known. */
  lines = [];
  chat = [];
  /** Topics that begin an action, as far as questions have shown them. */
  #starts = new Set();

  take(view) {
    const last = view.after == null ? -1 : this.lines.at(-1)?.revision ?? -1;
    if (view.after == null) this.lines = [];
    this.view = view;
    this.entities = new Map(view.entities.map((entity) => [entity.id, entity]));
    this.chat = view.chat ?? this.chat;
    // Two views that were asked for at once may both tell a line.
    this.#append(view.log.filter(({ revision }) => revision > last));
  }

  /** Takes a step. Returns false if an earlier one is missing: then only a view helps. */
  step({ events, changed, viewer, table, cause, left_out, ...step }) {
    const { view } = this;
    if (step.seq <= view.seq) return true;
    if (step.seq !== view.seq + 1 || left_out) return false;
    this.lines = this.lines.filter(({ gone }) => !gone);
    for (const entity of changed) {
      if (entity.gone) this.entities.delete(entity.id);
      else this.entities.set(entity.id, entity);
    }
    // What a step leaves out has not changed; an order that is null is over.
    for (const [name, value] of Object.entries(step)) if (value !== null || name === "order") view[name] = value ?? undefined;
    this.#append(events, step.seq);
    return true;
  }

  title = (id) => this.entities.get(id)?.title ?? "gone";

  get mine() {
    return this.view.questions.filter(({ yours }) => yours);
  }

  #append(events, seq) {
    const { view } = this;
    for (const event of events) {
      view.revision = Math.max(view.revision, event.revision);
      const back = { back: event.to + 1, withdrawn: event.from }[event.event];
      // Lines that were taken back stay for one step, struck through.
      if (back) for (const line of this.lines) line.gone ||= line.revision >= back && line.event !== "aside";
      if (!back || event.text) this.lines.push({ ...event, seq });
    }
    this.lines = this.lines.slice(-400);
    for (const { id, topic } of view.questions) if (!id.ordinal) this.#starts.add(topic);
  }

  /** The log by action, the oldest first. What somebody decided first is the `head` of the action, and the rest are its `events`. */
  groups() {
    const groups = [];
    let group;
    let topics;
    for (const line of this.lines) {
      const answered = line.event === "answered";
      if (answered && !line.text) continue;
      const topic = `${line.about} ${line.topic}`;
      const other = answered && (topics?.has(topic) || (topics?.size ? this.#starts.has(line.topic) : group?.events.length));
      if (!group || other || Boolean(line.gone) !== group.gone || line.event === "back") {
        topics = new Set();
        group = { key: line.revision, seq: line.seq, gone: Boolean(line.gone), head: [], events: [] };
        groups.push(group);
      }
      const who = line.about ?? line.seat;
      if (answered) topics.add(topic);
      if (answered && !group.events.length && (group.who ?? who) === who) {
        group.who = who;
        group.head.push(line.text);
      } else group.events.push(line);
    }
    return groups;
  }

  get lastRoll() {
    for (const group of this.groups().reverse()) {
      const roll = !group.gone && group.events.findLast(({ event }) => event === "rolled");
      if (roll) return { roll, group };
    }
    return undefined;
  }
}

/** What a roll needed, in words. */
export const needed = ({ roll: { need } }) => need && `${need.is.replace("_", " ")} ${need.value}`;

/** A decision that an undo takes back; its text is missing where this viewer may not know it. */
export const decision = ({ seat, about, text }) => (text ? [about, text].filter(Boolean).join(", ") : `a decision of ${seat}`);

/** A line of the log as a sentence, for people who hear it. */
export function sentence(line) {
  switch (line.event) {
    case "answered": return `${line.about ?? line.seat}: ${line.text}`;
    case "rolled": return [`${line.label}: ${line.total}`, needed(line) && `needed ${needed(line)}`, line.roll.result].filter(Boolean).join(", ");
    case "changed": return `${line.title}, ${line.label}: ${line.text}`;
    case "withdrawn": case "spawned": case "removed": return "";
    default: return line.text ?? line.reason;
  }
}

/** The host refused a request. `kind` says why, for programs; the message is for people. */
export class Refused extends Error {
  constructor({ message, data }) {
    super(message);
    this.kind = (data?.refusal ?? data)?.kind;
  }
}

const offline = () => new Refused({ message: "There is no connection.", data: { kind: "offline" } });

/**
 * A socket that comes back by itself. `greet` makes the parameters of `hello`, or null. Calls back: `onHello(result)`,
 * `onRefused(error)` of a `hello`, `onNotice(method, params)`, and `onLink()` when `up` or `retry`, the time of the next attempt, change.
 */
export class Wire {
  #socket;
  #last = 0;
  #heard = 0;
  #failures = 0;
  #timer;
  /** Requests without a result, by id. */
  #waiting = new Map();
  up = false;
  retry = 0;

  constructor(calls) {
    Object.assign(this, calls);
    const awake = () => document.hidden || this.wake();
    document.addEventListener("visibilitychange", awake);
    for (const event of ["pageshow", "online"]) addEventListener(event, awake);
    addEventListener("offline", () => this.up && this.#lost());
    setInterval(() => document.hidden || (this.up && this.#ping(10_000)), 5_000);
  }

  /** Looks at once whether the connection is alive: phones keep dead sockets open while they sleep. */
  wake() {
    if (!(this.#socket?.readyState < 2)) return this.open();
    this.#ping(1e9);
    const asked = Date.now();
    return setTimeout(() => this.up && this.#heard < asked && this.#lost(), 1_500);
  }

  open() {
    clearTimeout(this.#timer);
    this.#drop();
    const socket = this.#socket = new WebSocket(this.url);
    this.#heard = Date.now();
    this.retry = 0;
    socket.onopen = () => this.greetNow();
    socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
    socket.onclose = () => this.#lost();
    this.onLink();
  }

  /** Says `hello`, again if there is something new to say. */
  async greetNow() {
    const params = this.greet();
    if (!params || this.#socket?.readyState !== 1) return;
    try {
      const result = await this.#request("hello", params);
      this.viewer = result.viewer;
      this.#failures = 0;
      this.up = true;
      this.onHello(result);
      // Commands that the connection was lost under: their keys keep them from being done twice.
      for (const [id, { method, params: before, resolve, reject, again }] of [...this.#waiting]) {
        if (again && this.#waiting.delete(id)) this.call(method, before).then(resolve, reject);
      }
    } catch (error) {
      this.onRefused(error);
    }
    this.onLink();
  }

  /** Asks for something as the viewer of this page. A command, which has a `key`, is sent again after a lost connection. */
  call = (method, params = {}) => (this.up ? this.#request(method, params) : Promise.reject(offline()));

  /** The id of the next request, for `cancel`. */
  get next() {
    return this.#last + 1;
  }

  #request(method, params) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(++this.#last, { method, params, resolve, reject });
      this.#send(this.#last, method, method === "hello" ? params : { ...params, viewer: this.viewer });
    });
  }

  #send(id, method, params) {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  }

  #ping(patience) {
    if (Date.now() - this.#heard > patience) this.#lost();
    else this.#send(++this.#last, "ping", {});
  }

  #take({ id, method, params, result, error }) {
    this.#heard = Date.now();
    if (method) return this.onNotice(method, params);
    const request = this.#waiting.get(id);
    this.#waiting.delete(id);
    return error ? request?.reject(new Refused(error)) : request?.resolve(result);
  }

  #lost() {
    this.#drop();
    this.up = false;
    for (const [id, request] of [...this.#waiting]) {
      if (request.params.key) request.again = true;
      else if (this.#waiting.delete(id)) request.reject(offline());
    }
    const wait = Math.min(5_000, 250 * 2 ** this.#failures++);
    this.retry = Date.now() + wait;
    this.#timer = setTimeout(() => this.open(), wait);
    this.onLink();
  }

  #drop() {
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket) socket.onclose = socket.onmessage = socket.onopen = null;
    socket?.close();
  }
}
