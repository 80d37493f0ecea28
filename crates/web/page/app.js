// The page: the copy of the table, the connection, the commands, and the choice of the screen.

import { dialog, draw, h } from "./dom.js";
import { card, Drafts, loadSheet, log, map, nameOf, Odds, orderStrip, own, people, peopleList, score, sheetCard, shut, sideClasses, takeKey } from "./game.js";
import { decision, quiet, said, seatTitle, sentence } from "./words.js";

// The copy of the table that this viewer sees, and the connection that keeps it up to date.

class Table {
  /** The last view, kept up to date by each `step`. */
  view;
  entities = new Map();
  /** Events of the log, the oldest first; each has the `seq` of its step, if that is known. */
  lines = [];
  chat = [];
  /** Topics that begin an action, collected from the questions that came so far. */
  #starts = new Set();

  take(view) {
    const last = view.after == null ? -1 : this.lines.at(-1)?.revision ?? -1;
    if (view.after == null) this.lines = [];
    this.view = view;
    this.entities = new Map(view.entities.map((entity) => [entity.id, entity]));
    this.chat = view.chat ?? this.chat;
    // Two views that were requested at once may both have a line.
    const stepOf = (revision) => view.steps?.find(({ first, last }) => first <= revision && revision <= last)?.seq;
    this.#append(view.log.filter(({ revision }) => revision > last), stepOf);
  }

  /** Applies a step. Returns false if an earlier one is missing: then the page must request a view. */
  step({ events, changed, viewer, table, cause, left_out, ...step }) {
    const { view } = this;
    if (step.seq <= view.seq) return true;
    if (step.seq !== view.seq + 1 || left_out) return false;
    this.lines = this.lines.filter(({ gone }) => !gone);
    view.vote = undefined;
    for (const entity of changed) {
      if (entity.gone) this.entities.delete(entity.id);
      else this.entities.set(entity.id, entity);
    }
    // A member that a step leaves out has not changed; null removes the order.
    for (const [name, value] of Object.entries(step)) if (value !== null || name === "order") view[name] = value ?? undefined;
    this.#append(events, () => step.seq);
    return true;
  }

  title = (id) => this.entities.get(id)?.title ?? "gone";

  get mine() {
    return this.view.questions.filter(({ yours }) => yours);
  }

  #append(events, stepOf) {
    const { view } = this;
    for (const event of events) {
      view.revision = Math.max(view.revision, event.revision);
      const back = { back: event.to + 1, withdrawn: event.from }[event.event];
      // Lines that were taken back stay for one step, struck out.
      if (back) for (const line of this.lines) line.gone ||= line.revision >= back && line.event !== "aside";
      if (!back || event.text) this.lines.push({ ...event, seq: stepOf(event.revision) });
    }
    this.lines = this.lines.slice(-400);
    for (const { id, topic } of view.questions) if (!id.ordinal) this.#starts.add(topic);
  }

  /** Returns the log by action, the oldest first. The first decision of an action is its `head`, and the rest are its `events`. */
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
      const who = line.about ?? seatTitle(line.seat);
      if (answered) topics.add(topic);
      if (answered && !group.events.length && (group.who ?? who) === who) {
        group.who = who;
        // The first answer needs no topic, unless it is only a number or a yes or no.
        group.head.push(group.head.length || /^(yes|no|none|nothing|[-\d]+)$/.test(line.text) ? said(line) : line.text);
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

/** The error of a request that the host refused. `kind` gives the reason to programs, the message to people. */
class Refused extends Error {
  constructor({ message, data }) {
    super(message);
    this.kind = (data?.refusal ?? data)?.kind;
  }
}

const offline = () => new Refused({ message: "There is no connection.", data: { kind: "offline" } });

/**
 * A socket that connects again by itself. `greet` makes the parameters of `hello`, or null. Calls back: `onHello(result)`,
 * `onRefused(error)` of a `hello`, `onNotice(method, params)`, and `onLink()` when `up` or `retry`, the time of the next attempt, change.
 */
class Wire {
  #socket;
  #last = 0;
  #heard = 0;
  #failures = 0;
  #timer;
  /** Requests without a result yet, by id. */
  #waiting = new Map();
  up = false;
  retry = 0;

  constructor(calls) {
    Object.assign(this, calls);
    const awake = () => document.hidden || this.wake();
    for (const event of ["visibilitychange", "resume"]) document.addEventListener(event, awake);
    for (const event of ["pageshow", "online"]) addEventListener(event, awake);
    addEventListener("offline", () => this.up && this.#lost());
    setInterval(() => document.hidden || (this.up && this.#ping(10_000)), 5_000);
  }

  /** Tests now whether the connection is alive, since phones keep dead sockets open while they sleep. After a long silence, connects again. */
  wake() {
    this.#ping(7_000);
    if (!(this.#socket?.readyState < 2)) return this.open();
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

  /** Sends `hello`, and sends it again if its parameters change meanwhile. */
  async greetNow() {
    const params = this.greet();
    if (!params || this.#socket?.readyState !== 1) return;
    try {
      const result = await this.#request("hello", params);
      this.viewer = result.viewer;
      this.#failures = 0;
      this.up = true;
      this.onHello(result);
      // Commands whose result was lost with the connection are sent again; their keys keep them from being done twice.
      for (const [id, { method, params: before, resolve, reject, again }] of [...this.#waiting]) {
        if (again && this.#waiting.delete(id)) this.call(method, before).then(resolve, reject);
      }
    } catch (error) {
      this.onRefused(error);
    }
    this.onLink();
  }

  /** Sends a request as the viewer of this page. A command, which has a `key`, is sent again after a lost connection. */
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
    // The first attempt is made at once.
    const wait = this.#failures && Math.min(5_000, 125 * 2 ** this.#failures);
    this.#failures += 1;
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

// The page.

/** Reads, writes or (with null) removes a text in a store of the browser. Without a store people have to join again after they close the page. */
function store(kind, name, value) {
  try {
    if (value === undefined) return kind.getItem(name) ?? undefined;
    if (value === null) kind.removeItem(name);
    else kind.setItem(name, value);
  } catch {}
  return undefined;
}

/** Returns the kind of this page, under which its token is kept: one laptop can show the pages of the game master, of a seat and of the television. */
const slot = () => (location.pathname === "/tv" ? "tv" : { "#gm": "gm", "#see": "see" }[location.hash] ?? "seat");

const app = {
  table: new Table(),
  role: undefined,
  seats: [],
  name: store(localStorage, "rb:name") ?? "",
  screen: "join", // or `waiting`, `play`, `ended`
  code: undefined,
  problem: undefined,
  /** The state of the page itself, such as open panels. */
  ui: { sending: new Set(), refusals: new Map(), log: 12, heard: [], cards: {}, since: Date.now(), gm: {} },

  redraw() {
    if (!app.drawing) setTimeout(render);
    app.drawing = true;
  },

  /** Sends a command once. Returns its result, or undefined if it was refused; the refusal is shown. */
  command(method, params, refused) {
    // `randomUUID` is missing on plain HTTP.
    return app.ask(method, { ...params, key: crypto.getRandomValues(new Uint32Array(4)).join("-") }, refused);
  },

  /** Sends a request. Returns undefined if the host refuses it, and passes the error to `refused`; by default the page shows it. */
  async ask(method, params = {}, refused = (error) => app.tell(error.message)) {
    try {
      return await app.wire.call(method, params);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused(error);
      app.redraw();
      return undefined;
    }
  },

  tell(text) {
    app.ui.toast = text;
    app.redraw();
  },

  async answer(question, value, as) {
    const name = nameOf(question);
    if (app.ui.sending.has(name) || !app.wire.up) return;
    app.ui.sending.add(name);
    app.redraw();
    const taken = await app.command("answer", { question: question.id, value, as }, (error) => {
      if (["stale", "offline"].includes(error.kind)) refresh();
      else app.ui.refusals.set(name, error.message);
    });
    if (taken) app.drafts.put(question);
    app.ui.sending.delete(name);
    app.redraw();
  },

  /** Shows what an undo would take back, and asks once. */
  async askUndo(to) {
    const told = await app.ask("undo.preview", { to }, app.role === "game_master" ? quiet : undefined);
    const { seq } = app.table.view;
    // Decisions that only the campaign file has are not in the preview.
    if (told || app.role === "game_master") app.ui.undo = { to, expect: seq, lines: told?.takes_back.map(decision) ?? ["The last decision."] };
    app.redraw();
  },

  undoButton: (active) => active && app.table.view.undo.reach >= 0 && h("button.undo", { onclick: () => app.askUndo() }, "Undo"),

  openSheet(id) {
    loadSheet(app, id);
    app.redraw();
  },

  sideOf: (entity) => app.sides.get(entity?.side?.title) ?? "",
  sideClass: (id) => app.sideOf(app.table.entities.get(id)),
  sideOfTitle: (title) => app.sideOf([...app.table.entities.values()].find((entity) => entity.title === title)),

  /** Returns the entries of presence of those who play a seat. */
  players: (seat) => app.table.view.presence.filter((one) => one.role === "seat" && (one.seat === seat || one.seats?.includes(seat))),

  /** Returns the names of the people who play a seat, or else the name of the seat. */
  seatName(seat) {
    const named = (list) => app.players(seat).flatMap((one) => one[list] ?? []).join(", ");
    const names = named("people") || named("absent");
    return names ? `${names} (${seat})` : seatTitle(seat);
  },

  present: (seat) => app.players(seat).some(({ viewers }) => viewers > 0),

  async loadActs() {
    app.ui.acts = (await app.ask("acts", {}, quiet))?.acts ?? [];
    app.redraw();
  },
};

// Joining.

/** Returns the parameters of `hello`: a code the first time, then the token; a television may enter without either. */
function greet() {
  const { view } = app.table;
  const base = { protocol: 1, client: "page", since: view?.revision, seq: view?.seq };
  if (app.code) return app.named ? { ...base, code: app.code, name: app.name || undefined } : null;
  const token = store(sessionStorage, `rb:${slot()}`) ?? store(localStorage, `rb:${slot()}`);
  return token ? { ...base, token } : slot() === "tv" ? { ...base, watch: true } : null;
}

/** Moves the code out of the address, so that it does not stay in the history of the browser. */
function takeCode() {
  const [, kind, code] = /^#(j|gm|see)=(.+)$/.exec(location.hash) ?? [];
  if (!code) return;
  app.code = decodeURIComponent(code);
  app.named = kind !== "j" || slot() === "tv";
  history.replaceState(null, "", { gm: "#gm", see: "#see" }[kind] ?? location.pathname);
}

function welcome(result) {
  app.problem = undefined;
  if (result.token) {
    app.token = result.token;
    app.code = undefined;
    store(sessionStorage, `rb:${slot()}`, app.token);
  }
  app.name = result.name ?? app.name;
  if (result.waiting) app.screen = "waiting";
  if (!result.view) return;
  const { view, role } = result;
  app.looks = slot() === "see";
  const kind = app.looks ? "see" : { game_master: "gm", watcher: "tv" }[role] ?? "seat";
  if (kind !== slot()) history.replaceState(null, "", { gm: "/#gm", tv: "/tv" }[kind] ?? "/");
  // A look as a seat ends with its tab.
  if (app.token) for (const kept of app.looks ? [sessionStorage] : [sessionStorage, localStorage]) store(kept, `rb:${kind}`, app.token);
  app.seats = result.seats ?? [result.seat].filter(Boolean);
  if (app.screen !== "play") app.drafts = new Drafts(`rb:${view.table} ${role} ${app.seats}`);
  Object.assign(app, { role, screen: "play" });
  app.table.take(view);
  news([]);
}

function refusedHello({ kind, message }) {
  app.problem = message;
  if (kind === "unknown_token") {
    for (const kept of [sessionStorage, localStorage]) store(kept, `rb:${slot()}`, null);
    app.code = undefined;
    app.screen = "join";
  }
}

async function refresh() {
  const { revision, seq } = app.table.view;
  const view = await app.ask("view", { since: revision, seq }, quiet);
  if (!view || view.seq < app.table.view.seq) return;
  app.table.take(view);
  news([]);
}

const notices = {
  admitted({ admitted }) {
    if (admitted) return app.wire.greetNow();
    app.problem = "The game master does not let you in.";
    app.screen = "ended";
  },
  step(step) {
    if (app.table.step(step)) news(step.events, step);
    else refresh();
  },
  resync: refresh,
  presence: ({ presence }) => { app.table.view.presence = presence; },
  vote({ outcome, vote }) {
    app.table.view.vote = vote;
    if (outcome === "refused") app.tell("The table lets it stand: nothing is taken back.");
  },
  chat: ({ line }) => { app.table.chat = [...app.table.chat, line].slice(-50); },
  people: () => app.room?.loadPeople(app),
  notice: ({ text }) => app.tell(text),
  bye({ reason }) {
    app.problem = reason;
    app.screen = "ended";
    // The seats of the person may have changed, so the token may open other seats now.
    app.wire.greetNow();
  },
};

/** Updates announcements, drafts and odds after a change of the view. */
function news(events, step) {
  const { ui, table } = app;
  app.sides = sideClasses(app);
  app.drafts.keep(table.view.questions);
  const told = events.map((line) => sentence(line)).filter(Boolean).join(". ").slice(0, 500);
  if (told) ui.heard = [...ui.heard.slice(-3), { key: step.seq, text: told }];
  const asked = table.mine.length > 0;
  if (asked && !ui.asked && app.role === "seat" && document.hidden) navigator.vibrate?.(80);
  Object.assign(ui, { asked, undo: undefined, since: step ? Date.now() : ui.since });
  if (ui.sheet) loadSheet(app, ui.sheet.id);
  if (ui.acts) app.loadActs();
  app.room?.news(app, step);
  app.redraw();
}

// Screens.

const door = (title, ...kids) => h("main.door", h("section.panel", { role: "status" }, h("h1", title), app.problem && h("p.refusal", app.problem), kids));

const screens = {
  join() {
    const join = (event) => {
      event.preventDefault();
      app.code ??= event.target.querySelector("[name=code]").value.trim();
      app.named = true;
      store(localStorage, "rb:name", app.name);
      app.wire.greetNow();
    };
    return door("Join the table", !app.code && h("p.soft", "Scan the QR code on the television or the laptop, or type the code beside it."),
      h("form.form", { onsubmit: join },
        h("label", "Your name", h("input", { name: "name", maxlength: 40, autocomplete: "nickname", required: true, value: app.name, oninput: ({ target }) => { app.name = target.value; } })),
        !app.code && h("label", "Code", h("input", { name: "code", autocomplete: "off", autocapitalize: "none", spellcheck: "false", required: true })),
        h("button.go", { type: "submit" }, "Join")));
  },
  waiting: () => door(`Welcome${app.name ? `, ${app.name}` : ""}`, h("p.wait", h("span", "The game master lets you in. Keep this page open."))),
  ended: () => door("You have left the table", h("button.go", { onclick: () => location.reload() }, "Try again")),
  play: () => ({ game_master: app.room?.gameMaster, watcher: app.room?.television, seat: playerScreen })[app.role]?.(app),
};

/** Draws the state of the connection in the bar on top. */
export function link() {
  const { up, retry } = app.wire;
  const wait = Math.ceil((retry - Date.now()) / 1000);
  return h("span", { class: `link${up ? "" : " lost"}`, role: "status" }, h("span", { class: up ? "heard" : "" }, up ? "connected" : `reconnecting${wait > 0 ? `, ${wait} s` : ""}`));
}

/** Returns one line: the number of questions for this viewer, or those whom the table waits for. */
export function waitingLine() {
  const { view, mine } = app.table;
  const line = (kind, ...kids) => h("p", { class: `waits ${kind}`, role: "status" }, kids);
  if (view.state.is === "over") return line("over", h("b", "The end: "), view.state.outcome);
  if (view.state.is === "fault") return line("broken", "The rules have an error. Nothing is lost; the game master decides how it goes on.");
  if (view.settings.paused) return line("", "Paused by the game master.");
  if (mine.length && app.role === "seat") return line("mine", h("b", "You: "), mine.length > 1 ? `${mine.length} questions` : mine[0].title ?? mine[0].why);
  const minutes = Math.floor((Date.now() - app.ui.since) / 60_000);
  return line("wait", h("span", "Waiting for ", view.waiting.length ? view.waiting.map(({ seat, questions }, place) => {
    const facts = [questions > 1 && `${questions} questions`, minutes && `${minutes} min`, !app.present(seat) && "away"].filter(Boolean);
    return [place ? ", " : "", h("b", app.seatName(seat), facts.length > 0 && ` (${facts.join(", ")})`)];
  }) : "the game"));
}

const bar = (key, text, ...kids) => h("p.note-bar", { key, role: "status" }, h("span", text), kids);

/** Draws a vote on an undo: what it takes back, and the buttons to vote. */
function voteBar(vote) {
  if (!vote) return null;
  const { id, by: { seats }, name, takes_back, asked, yours } = vote;
  const word = (text, agree) => h("button", { onclick: () => app.command("vote", { id, agree }) }, text);
  return bar("vote", `${name ?? seats.join(", ")} asks to take back: ${takes_back.map(decision).join("; ")}. Still asked: ${asked.map((one) => one.seats?.join(", ") ?? "game master").join("; ")}.`,
    yours && word("Agree", true), (yours || seats.join() === app.seats.join()) && word(yours ? "Refuse" : "Call it off", false));
}

/** Draws notices at the top of the page; none of them covers the page. */
export function noticeBars() {
  const { wire, ui, table: { view } } = app;
  const { pending } = view.settings.rules;
  return [
    !wire.up && bar("lost", "No connection. Your choice is kept.", h("button", { onclick: () => wire.open() }, "Now")),
    app.looks && bar("looks", `You look as ${app.seats.join(", ")}. Nothing can be answered here.`),
    voteBar(view.vote),
    ui.toast && bar("toast", ui.toast, h("button", { onclick: () => app.tell() }, "Close")),
    pending && bar("pending", `Other rules take over later: ${pending}`, app.role === "game_master" && h("button", { onclick: () => app.command("rules.keep") }, "Keep the present rules")),
  ];
}

function undoDialog() {
  const { undo } = app.ui;
  const close = () => { app.ui.undo = undefined; app.redraw(); };
  return undo && dialog("undo", "Take back?", close, h("ul.takes", undo.lines.map((text) => h("li", text))),
    h("div.row", h("button.go", { autofocus: true, onclick: () => { close(); app.command("undo", { to: undo.to, expect: undo.expect }); } }, app.table.view.undo.asks ? "Ask the table" : "Take back"), h("button", { onclick: close }, "Keep")));
}

/** Draws the cards of open questions; the active card takes digits and Enter. */
export function cards(list, as) {
  const active = list.find((question) => nameOf(question) === app.ui.active) ?? list[0];
  return list.map((question) => card(app, question, { active: question === active, as: as?.(question) }));
}

export function actsList(acts) {
  const several = app.role === "game_master" || app.seats.length > 1;
  return [h("ul.menu", acts.map(({ name, title, seat, enabled }) => enabled && h("li", { key: `${seat} ${name}` }, h("button", { onclick: () => app.command("act", { name, as: several ? seat : undefined }) }, title)))), shut(acts.filter(({ enabled }) => !enabled))];
}

const fold = (title, hint, ...kids) => h("details.panel.fold", { key: title, ontoggle: kids[0]?.ontoggle }, h("summary", h("h2", title), h("span.soft.small", hint)), kids.slice(kids[0]?.ontoggle ? 1 : 0));

export function chat() {
  const { chat: lines } = app.table;
  const send = (event) => {
    event.preventDefault();
    const input = event.target.querySelector("input");
    if (input.value.trim()) app.ask("say", { text: input.value.trim() }).then((sent) => { if (sent) input.value = ""; });
  };
  return fold("Talk", lines.at(-1)?.text.slice(0, 40), chatLines(20),
    h("form.inline", { onsubmit: send }, h("input", { "aria-label": "Say to everybody", maxlength: 1000 }), h("button", { type: "submit" }, "Say")));
}

/** Draws the recap of the campaign; nothing before it was received, and for a table without one. */
export const recap = ({ ui: { gm } }) => gm.recap?.paragraphs.map((text) => h("p", text));

export const chatLines = (most) => h("ul.chat", app.table.chat.slice(-most).map(({ id, name, seats, role, text }) => h("li", { key: id }, h("b", `${name ?? seats?.join(", ") ?? role}: `), text)));

export const settings = () => fold("This page", "",
  h("label", "Your name", h("input", { maxlength: 40, value: app.name, onchange: ({ target }) => app.ask("name", { name: target.value }).then((told) => { app.name = told?.name ?? app.name; app.redraw(); }) })),
  app.table.view.settings.options.odds && h("button", { "aria-pressed": app.odds.on, onclick: () => { store(localStorage, "rb:odds", (app.odds.on = !app.odds.on) ? "on" : "off"); app.redraw(); } }, "Odds beside options"),
  h("p.hint", "Keys: digits choose, Enter accepts, s: sheet, u: undo."));

export const panel = (title, ...kids) => h("section.panel", { key: title }, h("h2", title), kids);

export const headline = () => app.table.view.order?.label || app.table.view.settings.rules.title;

export function mapPanel(width, still) {
  const drawn = map(app, width, still);
  return drawn && h("section.panel.map", { key: "map" }, !still && h("h2", "Who is where"), drawn);
}

function playerScreen() {
  const { view, mine } = app.table;
  const list = people(app);
  const sides = new Map();
  for (const entity of [...list.filter((one) => own(app, one)), ...list]) {
    const title = entity.side?.title ?? "On no side";
    sides.set(title, new Set([...(sides.get(title) ?? []), entity]));
  }
  const sheet = list.find((one) => one.id === mine[0]?.about && own(app, one)) ?? list.find((one) => own(app, one)) ?? list[0];
  const others = mine.length ? [] : view.questions;
  return [
    h("header.top", h("div.bar", h("h1", headline()), link(), sheet && h("button", { onclick: () => app.openSheet(sheet.id) }, "Sheet")), waitingLine(), score(app), orderStrip(app)),
    h("main.player",
      h("div.column", noticeBars(), cards(mine),
        others.map((question) => h("section.panel", { key: nameOf(question) }, h("p.soft.small", app.seatName(question.seat)), h("p", question.why))),
        !mine.length && app.undoButton(true),
        fold("At any time", "", { ontoggle: ({ target }) => { if (target.open) app.loadActs(); else app.ui.acts = undefined; } }, app.ui.acts && actsList(app.ui.acts)),
        panel("What happened", log(app, app.ui.log)),
        fold("The story so far", "", { ontoggle: async () => { app.ui.gm.recap ??= await app.ask("recap", {}, quiet); app.redraw(); } }, recap(app))),
      h("div.column", mapPanel(Math.max(280, Math.min(innerWidth, 640) - 62)), [...sides].map(([title, members]) => panel(title, peopleList(app, [...members]))), chat(), settings())),
  ];
}

// Drawing and keys.

let focused;

function render() {
  app.drawing = false;
  const { role, screen, table: { view } } = app;
  const playing = screen === "play";
  document.body.className = playing ? role : screen;
  document.body.dataset.seq = view?.seq ?? "";
  if (playing && role !== "seat" && !app.room) import("./room.js").then((room) => { app.room = room; news([]); });
  draw(document.getElementById("page"), screens[screen](), playing && [sheetCard(app), undoDialog(),
    h("div.heard", { role: "log", "aria-label": "News", key: "heard" }, app.ui.heard.map(({ key, text }) => h("p", { key }, text)))]);
  document.title = playing ? `${role === "seat" && view.questions.some(({ yours }) => yours) ? "● Your turn · " : ""}${view.settings.rules.title}` : "Riskbreaker";
  if (!playing) return;
  app.odds.want(role === "watcher" ? [] : app.room?.live(app) ?? app.table.mine);
  // A new question takes the focus, unless the person types or has the focus elsewhere.
  const card = document.querySelector(".ask.active");
  const name = card?.dataset.question;
  const at = document.activeElement;
  if (card && name !== focused && !at.matches("input, textarea, select") && (at === document.body || (at.closest(".ask") && !at.closest("dialog")))) {
    card.querySelector("h2").focus({ preventScroll: role !== "seat" });
  }
  focused = name;
}

addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || app.screen !== "play" || target.closest?.("dialog")) return;
  const name = document.querySelector(".ask.active")?.dataset.question;
  const question = app.table.mine.find((one) => nameOf(one) === name);
  if (question && !app.looks && takeKey(app, question, event, app.room?.answersFor(app, question))) return event.preventDefault();
  if (target.matches("input, textarea, select")) return undefined;
  if (key === "u" && app.table.view.undo.reach >= 0) app.askUndo();
  if (key === "s") document.querySelector(".top .bar button, .line-of")?.click();
  return undefined;
});

takeCode();
app.odds = new Odds(app);
app.odds.on = store(localStorage, "rb:odds") !== "off";
app.wire = new Wire({
  url: `${location.protocol.replace("http", "ws")}//${location.host}/v1/ws`, greet, onHello: welcome, onRefused: refusedHello, onLink: app.redraw,
  onNotice(method, params) {
    if (app.screen === "play" || ["admitted", "bye"].includes(method)) notices[method]?.(params);
    app.redraw();
  },
});
app.wire.open();
addEventListener("resize", app.redraw);
addEventListener("hashchange", () => location.reload());
setInterval(() => app.wire.up || app.redraw(), 1_000);
setInterval(app.redraw, 30_000);
render();
