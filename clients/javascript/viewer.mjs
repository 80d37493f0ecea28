// A viewer's copy of a table, kept up to date over any kind of connection. Runs in Node.js and in browsers.

/** The error of a request that the host refused. `kind` and `data` give the reason to programs, the message to people. */
export class Refused extends Error {
  constructor(error) {
    super(error.message);
    const data = error.data ?? { kind: "unknown" };
    this.data = data.kind === "refused" ? data.refusal : data;
    this.kind = this.data.kind;
  }
}

/** The error of a request without a result: the program has ended. After a restart the view shows whether it was carried out. */
export class Ended extends Error {
  constructor() {
    super("riskbreaker has ended");
  }
}

/**
 * What every connection to a host has: requests that wait for their answers, and the viewers that it opened. A subclass sends lines
 * by `send`, gives those that come to `receive`, and says in `ended` whether there is a connection.
 */
export class Connection {
  #last = 0;
  /** Requests without a result, by id. */
  #waiting = new Map();
  #byNumber = new Map();
  /** Notices to viewers whose `hello` is not answered yet. */
  #early = [];
  onError = (error) => console.error(error);

  /**
   * Sends a request; several may be under way. It is rejected with `Refused` if the host refuses it, and with `Ended` if the
   * connection ends before the answer.
   */
  call(method, params = {}) {
    return this.request(method, params, (result) => result);
  }

  /** Sends a request. `take` makes the result, before any message that follows the answer is taken. */
  request(method, params, take) {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new Ended());
      const id = ++this.#last;
      this.#waiting.set(id, { method, params, take, resolve, reject });
      this.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  /** Whether the host that runs now has the viewer. */
  knows(viewer) {
    return this.#byNumber.get(viewer.number) === viewer;
  }

  /** The viewer has left: nothing more is told to it. */
  forget(viewer) {
    if (this.knows(viewer)) this.#byNumber.delete(viewer.number);
  }

  /** Calls back. `onError` gets an exception. */
  report(callback, ...values) {
    callBack(callback, values, this.onError);
  }

  /** A viewer has taken a step. */
  noteStep() {}

  /** A request has got its result, which is not taken yet. */
  noteResult(request, result) {}

  /** Begins without viewers. */
  begin() {
    this.#byNumber.clear();
    this.#early = [];
  }

  /** The connection is lost: nothing is answered any more. */
  failAll(error) {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }

  /** Gives a viewer the view of its `hello`, with the notices that came before the answer. */
  welcome(viewer, number, view) {
    this.#byNumber.set(number, viewer);
    viewer.begin(number, view);
    for (const [method, params] of this.#early) {
      if (params?.viewer === number) this.report(() => viewer.take(method, params));
    }
    return viewer;
  }

  /** The viewer of a number. */
  viewer(number) {
    return this.#byNumber.get(number);
  }

  /** Takes a message: the answer to a request, or a notice to a viewer. */
  receive({ id, method, params, result, error }) {
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
      this.noteResult(request, result);
      request.resolve(request.take(result));
    } catch (failure) {
      request.reject(failure);
    }
  }
}

/**
 * A viewer of a table. `view` is everything that the viewer may know, and always up to date.
 *
 * Callbacks: `onStep` gets each step, `onView` a view that replaced the last one (after `resync` or a restart), `onPresence` the
 * list of those who are connected, `onBye` the reason for which this viewer has ended; `left` keeps that reason.
 */
export class Viewer {
  #host;
  /** Steps that came too early, since an earlier one is missing, by `seq`. */
  #steps = new Map();
  #asking = false;
  #stale = false;
  number = 0;
  view;
  left;
  onStep = () => {};
  onView = () => {};
  onPresence = () => {};
  onBye = () => {};

  constructor(host, { table, role, seat }) {
    this.#host = host;
    Object.assign(this, { table, role, seat });
  }

  call(method, params = {}) {
    return this.#request(method, params, (result) => result);
  }

  /** The open questions that this viewer may answer. */
  mine() {
    return this.view.questions.filter((question) => question.yours);
  }

  /**
   * Answers a question with an exact value: an option's id, a list of ids, a number, points by id, true or false, a line. After a
   * restart a seat's questions have other numbers: take the question from the view again.
   */
  answer(question, value, key) {
    return this.call("answer", { question: question.id, value, key });
  }

  undo(key) {
    return this.call("undo", { expect: this.view.seq, key });
  }

  /** Leaves the table. Is never rejected. */
  async close() {
    await this.call("bye").catch(() => {});
    this.left ??= "it was closed";
    this.#host.forget(this);
  }

  /** Requests a view. A view that is older than the last step is dropped. */
  async refresh() {
    this.#stale = true;
    if (this.#asking) return;
    this.#asking = true;
    try {
      while (this.#stale && this.left === undefined) {
        this.#stale = false;
        const { seq, revision } = this.view;
        await this.#request("view", { since: revision, seq }, (view) => this.#takeView(view));
        // Some steps may still wait for a lost one.
        this.#stale ||= this.#steps.size > 0 && this.view.seq > seq;
      }
    } finally {
      this.#asking = false;
    }
  }

  /** Takes the number and the view from the result of a `hello`. After a restart of the host `seq` is above all earlier ones. */
  begin(number, view) {
    const again = this.view !== undefined;
    this.number = number;
    this.#steps.clear();
    this.#put(view);
    if (again) this.#host.report(this.onView, view);
  }

  /** Handles a notice. Steps are applied to `view` once each, in the order of `seq`, whatever the order in which they come. */
  take(method, params) {
    if (method === "step") {
      if (params.seq > this.view.seq) this.#steps.set(params.seq, params);
      this.#takeSteps();
      if (this.#steps.size > 0 && !this.#asking) return this.refresh();
    } else if (method === "resync") {
      return this.refresh();
    } else if (method === "presence") {
      this.view.presence = params.presence;
      this.#host.report(this.onPresence, params.presence);
    } else if (method === "chat") {
      // A view that was requested meanwhile may have the line already.
      const lines = (this.view.chat ??= []);
      if (!(lines.at(-1)?.id >= params.line.id)) lines.push(params.line);
    } else if (method === "bye") {
      this.left = params.reason;
      this.#host.forget(this);
      this.#host.report(this.onBye, params.reason);
    }
  }

  #request(method, params, take) {
    if (this.left !== undefined) { // its number may be another viewer's after a restart
      const error = { message: `this viewer has left: ${this.left}`, data: { kind: "unknown_viewer" } };
      return Promise.reject(new Refused(error));
    }
    if (!this.#host.knows(this)) return Promise.reject(new Ended());
    return this.#host.request(method, { ...params, viewer: this.number }, take);
  }

  #takeView(view) {
    if (view.seq < this.view.seq) return;
    this.#put(view);
    this.#host.report(this.onView, view);
    this.#takeSteps();
  }

  #put(view) {
    if (view.after !== undefined) {
      const known = this.view.log.filter((line) => line.revision <= view.after);
      view.log = withEvents(known, view.log);
      view.steps = [...this.view.steps ?? [], ...view.steps ?? []];
    }
    this.view = view;
  }

  #takeSteps() {
    for (const seq of this.#steps.keys()) if (seq <= this.view.seq) this.#steps.delete(seq);
    for (let step; (step = this.#steps.get(this.view.seq + 1)); ) {
      this.#steps.delete(step.seq);
      this.#takeStep(step);
    }
  }

  #takeStep(step) {
    const { view } = this;
    const entities = new Map(view.entities.map((entity) => [entity.id, entity]));
    for (const entity of step.changed) {
      if (entity.gone) entities.delete(entity.id);
      else entities.set(entity.id, entity);
    }
    view.entities = [...entities.values()].sort((one, two) => one.id - two.id);
    view.log = withEvents(view.log, step.events);
    if (step.events.length > 0) view.steps = [...view.steps ?? [], { seq: step.seq, first: step.events[0].revision, last: step.events.at(-1).revision }];
    view.revision = step.events.at(-1)?.revision ?? view.revision;
    for (const name of ["seq", "state", "questions", "waiting", "undo", "order", "settings"]) {
      if (name in step) view[name] = step[name];
    }
    this.#host.noteStep();
    this.#host.report(this.onStep, step);
  }
}

/** Returns a log with more events applied. */
function withEvents(log, events) {
  for (const line of events) {
    if (line.event === "back") log = log.filter((known) => known.revision <= line.to);
    else if (line.event !== "aside") log.push(line); // an aside is not a line of the log
  }
  return log;
}

/** Calls a callback. An exception goes to `onError`, unless it says that the connection has ended. */
function callBack(callback, values, onError) {
  const failed = (error) => {
    if (error instanceof Ended) return;
    try {
      onError(error);
    } catch (worse) {
      console.error(worse);
    }
  };
  try {
    // The callback may be asynchronous.
    Promise.resolve(callback(...values)).catch(failed);
  } catch (error) {
    failed(error);
  }
}
