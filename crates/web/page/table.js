// What this viewer knows of the table, and the connection that it is told by.

const KEPT = 400;

export class Table {
  /** The last view, kept up to date by `step`. */
  view;
  entities = new Map();
  /** Events of the log, the oldest first. Each has the `seq` of its step, where that is known. */
  lines = [];
  chat = [];
  /** Topics that begin an action, as far as questions have shown them. */
  starts = new Set();

  /** Takes a view as a whole. Its log replaces the lines, or follows them where `after` says so. */
  take(view) {
    this.view = view;
    this.entities = new Map(view.entities.map((entity) => [entity.id, entity]));
    if (view.after === undefined || view.after === null) this.lines = [];
    this.#append(view.log);
    this.chat = view.chat ?? this.chat;
    this.#learn();
  }

  /** Takes a step. Returns false if an earlier one is missing: then only a view helps. */
  step(step) {
    const { view } = this;
    if (step.seq <= view.seq) return true;
    if (step.seq !== view.seq + 1 || step.left_out) return false;
    this.lines = this.lines.filter((line) => !line.gone);
    for (const { id, gone, ...entity } of step.changed) {
      if (gone) this.entities.delete(id);
      else this.entities.set(id, { id, ...entity });
    }
    // Parts that a step leaves out have not changed.
    for (const [name, value] of Object.entries(step)) {
      if (name === "order" && value === null) delete view.order;
      else if (value !== null && !["events", "changed", "viewer", "table", "cause", "left_out"].includes(name)) view[name] = value;
    }
    this.#append(step.events, step.seq);
    this.#learn();
    return true;
  }

  title(id) {
    return this.entities.get(id)?.title ?? `#${id}`;
  }

  /** The open questions that this viewer may answer. */
  get mine() {
    return this.view.questions.filter((question) => question.yours);
  }

  #append(events, seq) {
    for (const event of events) {
      if (event.event === "back") this.#takeBack((line) => line.revision > event.to && line.event !== "aside");
      else if (event.event === "withdrawn") this.#takeBack((line) => line.revision >= event.from);
      if (event.event === "withdrawn" || (event.event === "back" && !event.text)) continue;
      this.lines.push({ ...event, seq });
    }
    if (this.lines.length > KEPT) this.lines = this.lines.slice(-KEPT);
  }

  /** Lines that were taken back stay for one step, struck through. */
  #takeBack(which) {
    for (const line of this.lines) if (which(line)) line.gone = true;
  }

  #learn() {
    for (const { id, topic } of this.view.questions) if (id.ordinal === 0) this.starts.add(topic);
  }

  /** The log as groups, the oldest first: `{key, seq, who, head, events, gone}`. Who decided what is the head of an action. */
  groups() {
    const groups = [];
    let group;
    let topics;
    for (const line of this.lines) {
      if (line.event === "answered" && !line.text) continue;
      const answered = line.event === "answered";
      const begins = !group || Boolean(line.gone) !== group.gone || line.event === "back" || group.closed ||
        (line.action !== undefined && line.action !== null ? line.action !== group.action
          : answered && (topics.has(`${line.about} ${line.topic}`) || (this.starts.has(line.topic) && topics.size > 0) || (!topics.size && group.events.length > 0)));
      if (begins) {
        topics = new Set();
        group = { key: line.revision, action: line.action, seq: line.seq, who: undefined, head: [], events: [], gone: Boolean(line.gone), closed: line.event === "back" };
        groups.push(group);
      }
      if (answered) {
        topics.add(`${line.about} ${line.topic}`);
        const who = line.about ?? line.seat;
        if (!group.head.length && !group.events.length) Object.assign(group, { who, seat: line.seat, about: line.about_id });
        if (who === group.who && line.seat === group.seat && !group.events.length) {
          group.head.push(line.text);
          continue;
        }
      }
      group.events.push(line);
    }
    return groups;
  }

  /** The last roll, with who it was for as far as the log says. */
  get lastRoll() {
    for (const group of this.groups().reverse()) {
      const roll = !group.gone && group.events.findLast((line) => line.event === "rolled");
      if (roll) return { roll, group };
    }
    return undefined;
  }
}

/** A line of the log as one sentence, for people who hear it. */
export function sentence(line) {
  switch (line.event) {
    case "answered": return `${line.about ?? line.seat}: ${line.text}`;
    case "rolled": return `${line.label}: ${line.faces.join(", ")}${line.faces.length > 1 ? `, together ${line.total}` : ""}${needed(line) ? `, needed ${needed(line)}` : ""}${verdict(line) ? `, ${verdict(line)}` : ""}`;
    case "changed": return `${line.title}, ${line.label}: ${line.text}`;
    case "spawned": return `${line.title} is here now`;
    case "removed": return `${line.title} is gone`;
    case "cut": return line.reason;
    default: return line.text ?? "";
  }
}

/** Success or failure of a roll in words; empty where the rules say neither. */
export function verdict(roll) {
  return roll.roll?.result ?? roll.result ?? { true: "success", false: "failure" }[roll.success] ?? "";
}

/** The kind of a roll's outcome: `good`, `bad` or nothing. */
export function tone({ roll, success }) {
  const kind = roll?.kind ?? { true: "success", false: "failure" }[success];
  return { success: "good", failure: "bad" }[kind] ?? "";
}

/** What a roll needed, in words. */
export function needed({ roll, need }) {
  if (need) return need;
  const words = { under: "under", at_most: "at most", at_least: "at least" };
  return roll?.need ? `${words[roll.need.is] ?? ""} ${roll.need.value}` : "";
}

// The connection.

const PING = 5_000;
const DEAD = 10_000;

/** The host refused a request. `kind` and `data` say why, for programs; the message is for people. */
export class Refused extends Error {
  constructor(error) {
    super(error.message);
    const data = error.data ?? { kind: "unknown" };
    this.data = data.kind === "refused" ? data.refusal : data;
    this.kind = this.data.kind;
  }
}

/**
 * A socket that comes back by itself. `greet` makes the parameters of `hello`, or null if nothing is known to say.
 *
 * Calls back: `onHello(result)`, `onRefused(error)` of a `hello`, `onNotice(method, params)`, and `onLink()` when `up` or `retry`
 * has changed.
 */
export class Wire {
  #socket;
  #last = 0;
  /** Requests without a result, by id. */
  #waiting = new Map();
  #heard = 0;
  #failures = 0;
  #timer;
  viewer;
  up = false;
  /** When the next attempt is made, in milliseconds of the clock. */
  retry = 0;

  constructor(calls) {
    Object.assign(this, calls);
    const awake = () => document.visibilityState === "visible" && this.wake();
    document.addEventListener("visibilitychange", awake);
    addEventListener("pageshow", awake);
    addEventListener("online", awake);
    addEventListener("offline", () => this.up && this.#lost());
    setInterval(() => this.#beat(), PING);
  }

  /** Looks at once whether the connection is alive: phones keep dead sockets open while they sleep. */
  wake() {
    if (this.#socket && this.#socket.readyState < 2) {
      const asked = Date.now();
      this.#send({ id: ++this.#last, method: "ping", params: {} });
      setTimeout(() => this.up && this.#heard < asked && this.#lost(), 1_500);
    } else this.open();
  }

  open() {
    clearTimeout(this.#timer);
    this.#drop();
    const socket = new WebSocket(this.url);
    this.#socket = socket;
    this.#heard = Date.now();
    this.retry = 0;
    this.onLink();
    socket.onopen = () => this.greetNow();
    socket.onmessage = ({ data }) => socket === this.#socket && this.#take(JSON.parse(data));
    socket.onclose = () => socket === this.#socket && this.#lost();
  }

  /** Says `hello`, once more if something new can be said. */
  async greetNow() {
    const params = this.greet();
    if (!params || this.#socket?.readyState !== 1) return;
    try {
      await this.#request("hello", params, (result) => {
        this.viewer = result.viewer ?? undefined;
        this.#failures = 0;
        this.up = true;
        this.onHello(result);
      });
      // What was under way when the connection was lost: its key keeps it from being done twice.
      for (const [id, request] of [...this.#waiting]) {
        if (!request.again) continue;
        this.#waiting.delete(id);
        this.#request(request.method, request.params, request.resolve).catch(request.reject);
      }
    } catch (error) {
      this.onRefused(error);
    }
    this.onLink();
  }

  /** Asks for something, as the viewer of this page. A command (with a `key`) is sent again after a lost connection. */
  call(method, params = {}) {
    if (!this.up) return Promise.reject(new Refused({ message: "There is no connection.", data: { kind: "offline" } }));
    return new Promise((resolve, reject) => this.#request(method, params, resolve).catch(reject));
  }

  /** The id that the next request gets, for `cancel`. */
  get next() {
    return this.#last + 1;
  }

  close() {
    clearTimeout(this.#timer);
    this.#drop();
    this.up = false;
  }

  #request(method, params, take) {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#waiting.set(id, { method, params, resolve: (result) => resolve(take(result)), reject, again: false });
      this.#send({ id, method, params: method === "hello" ? params : { ...params, viewer: this.viewer } });
    });
  }

  #send(message) {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  #take(message) {
    this.#heard = Date.now();
    const { id, method, params, result, error } = message;
    if (method) return this.onNotice(method, params);
    const request = this.#waiting.get(id);
    if (!request) return;
    this.#waiting.delete(id);
    if (error) request.reject(new Refused(error));
    else request.resolve(result);
  }

  #beat() {
    if (!this.#socket || document.visibilityState !== "visible") return;
    if (this.up && Date.now() - this.#heard > DEAD) this.#lost();
    else this.#send({ id: ++this.#last, method: "ping", params: {} });
  }

  #lost() {
    this.#drop();
    this.up = false;
    for (const [id, request] of [...this.#waiting]) {
      if (request.params?.key) request.again = true;
      else {
        this.#waiting.delete(id);
        request.reject(new Refused({ message: "The connection was lost.", data: { kind: "offline" } }));
      }
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
