// The page: who looks, what they know and can do, and which screen shows it.

import { draw, h } from "./dom.js";
import { card, Drafts, nameOf, Odds, shut, takeKey } from "./question.js";
import { loadSheet, log, map, orderStrip, own, people, peopleList, sheetCard, sideClasses } from "./people.js";
import { decision, Refused, sentence, Table, Wire } from "./table.js";

/** Reads, writes or (with null) removes a text in a store of the browser. Without one, whoever closes the page joins again. */
function store(kind, name, value) {
  try {
    if (value === undefined) return kind.getItem(name) ?? undefined;
    if (value === null) kind.removeItem(name);
    else kind.setItem(name, value);
  } catch {}
  return undefined;
}

/** Tokens are kept by kind of page: a laptop can be the game master's and show the television, too. */
const slot = () => (location.pathname === "/tv" ? "tv" : { "#gm": "gm", "#tv": "tv" }[location.hash] ?? "seat");

const app = {
  table: new Table(),
  role: undefined,
  seats: [],
  name: store(localStorage, "rb:name") ?? "",
  screen: "join", // or `waiting`, `play`, `ended`
  code: undefined,
  problem: undefined,
  /** What the page itself remembers: nothing here comes from the host. */
  ui: { sending: new Set(), refusals: new Map(), log: 12, heard: [], since: Date.now(), gm: {} },

  redraw() {
    if (!app.drawing) setTimeout(render);
    app.drawing = true;
  },

  /** Sends a command once. Returns its result, or undefined if it was refused; the refusal is shown. */
  command(method, params, refused) {
    // `randomUUID` is missing on plain HTTP.
    return app.ask(method, { ...params, key: crypto.getRandomValues(new Uint32Array(4)).join("-") }, refused);
  },

  /** Asks for something. Returns undefined if the host refuses it: `refused` is told, or whoever looks. */
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
    await app.command("answer", { question: question.id, value, as }, (error) => {
      if (["stale", "offline"].includes(error.kind)) refresh();
      else app.ui.refusals.set(name, error.message);
    });
    app.ui.sending.delete(name);
    app.redraw();
  },

  /** Shows what an undo would take back, and asks once. */
  async askUndo(to) {
    const told = await app.ask("undo.preview", { to }, quiet);
    const { seq } = app.table.view;
    app.ui.undo = { to, expect: seq, lines: told?.takes_back.map(decision) ?? [to === undefined ? "The last decision." : "Everything since then."] };
    app.redraw();
  },

  undoButton: (active) => active && app.table.view.undo.allowed && h("button.undo", { onclick: () => app.askUndo() }, "Undo"),

  openSheet(id) {
    loadSheet(app, id);
    app.redraw();
  },

  sideOf: (entity) => app.sides.get(entity?.side?.title) ?? "",
  sideClass: (id) => app.sideOf(app.table.entities.get(id)),
  sideOfTitle: (title) => app.sideOf([...app.table.entities.values()].find((entity) => entity.title === title)),

  /** The entries of presence of those who play a seat. */
  players: (seat) => app.table.view.presence.filter((one) => one.role === "seat" && (one.seat === seat || one.seats?.includes(seat))),

  /** A seat by the people who play it, or else by its own name. */
  seatName(seat) {
    const names = app.players(seat).flatMap((one) => one.people ?? []);
    return names.length ? `${names.join(", ")} (${seat})` : seat;
  },

  present: (seat) => app.players(seat).some(({ viewers }) => viewers > 0),

  async loadActs() {
    app.ui.acts = (await app.ask("acts", {}, quiet))?.acts ?? [];
    app.redraw();
  },
};

export const quiet = () => {};

// Joining.

/** What `hello` says: a code once, then the token; a television may come without either. */
function greet() {
  const { view } = app.table;
  const base = { protocol: 1, client: "page", since: view?.revision, seq: view?.seq };
  if (app.code) return app.named ? { ...base, code: app.code, name: app.name || undefined } : null;
  const token = store(sessionStorage, "rb:token") ?? store(localStorage, `rb:${slot()}`);
  return token ? { ...base, token } : slot() === "tv" ? { ...base, watch: true } : null;
}

/** Takes a code out of the address, where it would stay in the history. */
function takeCode() {
  const [, kind, code] = /^#(j|gm|tv|see)=(.+)$/.exec(location.hash) ?? [];
  if (!code) return;
  app.code = decodeURIComponent(code);
  app.named = kind !== "j";
  app.looks = kind === "see";
  history.replaceState(null, "", ["gm", "tv"].includes(kind) ? `#${kind}` : location.pathname);
}

function welcome(result) {
  app.problem = undefined;
  if (result.token) {
    store(sessionStorage, "rb:token", result.token);
    app.code = undefined;
  }
  app.name = result.name ?? app.name;
  if (result.waiting) app.screen = "waiting";
  if (!result.view) return;
  const { view, role } = result;
  const kind = { game_master: "gm", watcher: "tv" }[role] ?? "seat";
  const token = store(sessionStorage, "rb:token");
  if (token && !app.looks) store(localStorage, `rb:${kind}`, token);
  if (kind !== slot()) history.replaceState(null, "", kind === "seat" ? "/" : `#${kind}`);
  app.seats = result.seats ?? view.seats ?? (result.seat ? [result.seat] : []);
  if (app.screen !== "play") app.drafts = new Drafts(`rb:${view.table} ${role} ${app.seats}`);
  Object.assign(app, { role, screen: "play" });
  app.table.take(view);
  news([]);
}

function refusedHello({ kind, message }) {
  app.problem = message;
  if (kind === "unknown_token") {
    store(sessionStorage, "rb:token", null);
    store(localStorage, `rb:${slot()}`, null);
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
  chat: ({ line }) => { app.table.chat = [...app.table.chat, line].slice(-50); },
  people: () => app.room?.loadPeople(app),
  notice: ({ text }) => app.tell(text),
  bye({ reason }) {
    app.problem = reason;
    app.screen = "ended";
    // The seats of a person may have changed: then the token is good for others.
    app.wire.greetNow();
  },
};

/** Something is different: what is said, what is asked, what is worked out. */
function news(events, step) {
  const { ui, table } = app;
  app.sides = sideClasses(app);
  app.drafts.keep(table.view.questions);
  const told = events.map(sentence).filter(Boolean).join(". ").slice(0, 500);
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
    return door("Join the table", !app.code && h("p.soft", "Scan the QR code on the television or the laptop, or type the code below it."),
      h("form.form", { onsubmit: join },
        h("label", "Your name", h("input", { name: "name", maxlength: 40, autocomplete: "nickname", required: true, value: app.name, oninput: ({ target }) => { app.name = target.value; } })),
        !app.code && h("label", "Code", h("input", { name: "code", autocomplete: "off", autocapitalize: "none", spellcheck: "false", required: true })),
        h("button.go", { type: "submit" }, "Join")));
  },
  waiting: () => door(`Welcome${app.name ? `, ${app.name}` : ""}`, h("p.wait", h("span", "The game master lets you in. Keep this page open."))),
  ended: () => door("This page has left the table", h("button.go", { onclick: () => location.reload() }, "Try again")),
  play: () => ({ game_master: app.room?.gameMaster, watcher: app.room?.television, seat: playerScreen })[app.role]?.(app),
};

/** The state of the connection, in the bar on top. */
export function link() {
  const { up, retry } = app.wire;
  const wait = Math.ceil((retry - Date.now()) / 1000);
  return h("span", { class: `link${up ? "" : " lost"}`, role: "status" }, h("span", { class: up ? "heard" : "" }, up ? "connected" : `reconnecting${wait > 0 ? `, ${wait} s` : ""}`));
}

/** One line: what waits for me, or whom the table waits for. */
export function waitingLine() {
  const { view, mine } = app.table;
  const line = (kind, ...kids) => h("p", { class: `waits ${kind}`, role: "status" }, kids);
  if (view.state.is === "over") return line("over", h("b", "The end: "), view.state.outcome);
  if (view.state.is === "fault") return line("", "The rules have an error. The game master decides how it goes on.");
  if (view.settings.paused) return line("", "Paused by the game master.");
  if (mine.length && app.role === "seat") return line("mine", h("b", "You: "), mine.length > 1 ? `${mine.length} questions` : mine[0].title ?? mine[0].why);
  const minutes = Math.floor((Date.now() - app.ui.since) / 60_000);
  const gm = view.presence.some(({ role }) => role === "game_master");
  return line("wait", h("span", "Waiting for ", view.waiting.length ? view.waiting.map(({ seat, questions }, place) => {
    const facts = [questions > 1 && `${questions} questions`, minutes && `${minutes} min`, !app.present(seat) && !gm && "away"].filter(Boolean);
    return [place ? ", " : "", h("b", app.seatName(seat), facts.length > 0 && ` (${facts.join(", ")})`)];
  }) : "the game"));
}

const bar = (key, text, ...kids) => h("p.note-bar", { key, role: "status" }, h("span", text), kids);

/** Notices on top of the page; none of them covers it. */
export function noticeBars() {
  const { wire, ui, table: { view } } = app;
  const { pending } = view.settings.rules;
  return [
    !wire.up && bar("lost", "No connection. Your choice is kept and not sent.", h("button", { onclick: () => wire.open() }, "Now")),
    app.looks && bar("looks", `You look as ${app.seats.join(", ")}. Nothing can be answered here.`),
    ui.toast && bar("toast", ui.toast, h("button", { onclick: () => app.tell() }, "Close")),
    pending && bar("pending", `Other rules take over later: ${pending}`, app.role === "game_master" && h("button", { onclick: () => app.command("rules.keep") }, "Keep the present rules")),
    view.state.is === "fault" && app.role === "seat" && h("section.panel.fault", { key: "fault" }, h("h2", "The rules have an error"), h("p", "Nothing is lost: the action was taken back to its start. The game master decides how it goes on.")),
  ];
}

/** A dialog over the page, closed by Escape, too. */
export const dialog = (key, title, close, ...kids) => h("dialog.panel", { key, "aria-labelledby": key, onclose: close, set: (node) => setTimeout(() => node.isConnected && node.showModal()) },
  h("header", h("h2", { id: key }, title), h("button", { onclick: close }, "Close")), kids);

function undoDialog() {
  const { undo } = app.ui;
  const close = () => { app.ui.undo = undefined; app.redraw(); };
  return undo && dialog("undo", "Take back?", close, h("ul.takes", undo.lines.map((text) => h("li", text))),
    h("div.row", h("button.go", { autofocus: true, onclick: () => { close(); app.command("undo", { to: undo.to, expect: undo.expect }); } }, "Take back"), h("button", { onclick: close }, "Keep")));
}

/** The cards of open questions; the active one takes digits and Enter. */
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
  const { view, chat: lines } = app.table;
  const send = (event) => {
    event.preventDefault();
    const input = event.target.querySelector("input");
    if (input.value.trim()) app.ask("say", { text: input.value.trim() }).then((sent) => { if (sent) input.value = ""; });
  };
  return view.chat && fold("Talk", lines.at(-1)?.text.slice(0, 40), chatLines(20),
    h("form.inline", { onsubmit: send }, h("input", { "aria-label": "Say to everybody", maxlength: 1000 }), h("button", { type: "submit" }, "Say")));
}

export const chatLines = (most) => h("ul.chat", app.table.chat.slice(-most).map(({ id, name, seats, role, text }) => h("li", { key: id }, h("b", `${name ?? seats?.join(", ") ?? role}: `), text)));

export const settings = () => fold("This page", "",
  h("label", "Your name", h("input", { maxlength: 40, value: app.name, onchange: ({ target }) => app.ask("name", { name: target.value }).then((told) => { app.name = told?.name ?? app.name; app.redraw(); }) })),
  app.table.view.settings.odds !== false && h("button", { "aria-pressed": app.odds.on, onclick: () => { store(localStorage, "rb:odds", (app.odds.on = !app.odds.on) ? "on" : "off"); app.redraw(); } }, "Odds beside options"),
  h("p.hint", "Keys: digits choose, Enter accepts, s opens the sheet, u takes back."));

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
    const title = entity.side?.title ?? "Things";
    sides.set(title, new Set([...(sides.get(title) ?? []), entity]));
  }
  const sheet = list.find((one) => one.id === mine[0]?.about && own(app, one)) ?? list.find((one) => own(app, one)) ?? list[0];
  const others = mine.length ? [] : view.questions;
  return [
    h("header.top", h("div.bar", h("h1", headline()), link(), sheet && h("button", { onclick: () => app.openSheet(sheet.id) }, "Sheet")), waitingLine(), orderStrip(app)),
    h("main.player",
      h("div.column", noticeBars(), cards(mine),
        others.map((question) => h("section.panel", { key: nameOf(question) }, h("p.soft.small", app.seatName(question.seat)), h("p", question.why))),
        view.state.is === "over" && panel("The end", h("p.question", view.state.outcome)),
        !mine.length && app.undoButton(true),
        fold("At any time", "", { ontoggle: ({ target }) => { if (target.open) app.loadActs(); else app.ui.acts = undefined; } }, app.ui.acts && actsList(app.ui.acts)),
        panel("What happened", log(app, app.ui.log))),
      h("div.column", mapPanel(Math.min(innerWidth, 640) - 62), [...sides].map(([title, members]) => panel(title, peopleList(app, [...members]))), chat(), settings())),
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
  app.odds.want(role === "watcher" || view.settings.odds === false ? [] : app.room?.live(app) ?? app.table.mine);
  // A new question takes the focus, unless somebody types or is elsewhere.
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
  if (key === "u" && app.table.view.undo.allowed) app.askUndo();
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
