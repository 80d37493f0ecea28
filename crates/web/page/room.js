// The pages of the game master and of the television. The game master's has people on the left, questions, map and log in the middle,
// and the tools of a game master on the right. The television shows what everybody may see, readable from four metres, without buttons.

import { actsList, cards, chat, chatLines, headline, link, mapPanel, noticeBars, panel, recap, settings, waitingLine } from "./app.js";
import { h } from "./dom.js";
import { cutRules, faces, log, nameOf, outcome, people, peopleList, stepper } from "./game.js";
import { decision, needed, quiet, seatTitle } from "./words.js";

const taken = new Set();

/** Returns the questions that a game master answers: those of seats without a connected person, and those taken over by a button. */
export const live = (app) => app.table.view.questions.filter((question) => !app.present(question.seat) || taken.has(nameOf(question)));

/** Returns the seat for which the game master answers a question, if a person of that seat is connected. */
export const answersFor = (app, { seat }) => (app.present(seat) ? seat : undefined);

export function news(app, step) {
  if (app.role !== "game_master") return;
  if (!app.ui.acts) app.loadActs();
  if (app.ui.gm.entries) load(app, "entries");
  if (step) return;
  loadPeople(app);
  load(app, "roster");
  load(app, "offers");
}

/** Requests the result of a method for a panel; the panel stays empty if the host does not offer the method. */
async function load(app, name, params) {
  app.ui.gm[name] = await app.ask(name, name === "entries" ? { most: 60, all: true } : params, name === "encounter" ? undefined : quiet);
  app.redraw();
}

export const loadPeople = (app) => load(app, "people");

export function gameMaster(app) {
  const { view } = app.table;
  const mine = live(app);
  const count = (role) => view.presence.reduce((sum, one) => sum + (one.role === role ? one.viewers : 0), 0);
  return [
    h("header.top", h("div.bar", h("h1", headline()), h("span.soft.small", `${view.settings.rules.title} · ${count("seat")} playing, ${count("watcher")} watching`), link()), waitingLine()),
    h("main.gm",
      h("div.column", panel("People", peopleList(app, people(app))), roster(app), chat()),
      h("div.column", noticeBars(), knocks(app), fault(app), cards(mine, (question) => answersFor(app, question)), view.questions.map((question) => mine.includes(question) || look(app, question)),
        mapPanel(Math.max(300, Math.min(640, innerWidth - 720))), panel("What happened", log(app, app.ui.log))),
      h("div.column", time(app), byHand(app), scenes(app), rules(app), seats(app), allows(app), invitations(app), settings())),
  ];
}

const fold = (title, kids, onopen, key = title) => h("details.sub-fold", { key, ontoggle: ({ target }) => target.open && onopen?.() }, h("summary", title), h("div.inside", kids));
const button = (text, onclick, props) => h("button", { onclick, ...props }, text);

/** Draws a question for somebody else, without controls until the game master takes it over. */
function look(app, question) {
  const { ask: { options = [] }, seat, title, about, why, id } = question;
  const [text, rules] = cutRules(why);
  const [policy] = policies(app);
  const take = () => {
    taken.add(nameOf(question));
    app.ui.active = nameOf(question);
    app.redraw();
  };
  const suggest = async () => {
    const { value } = (await app.ask("suggest", { question: id, policy })) ?? {};
    if (value == null) take();
    else app.answer(question, value, seat);
  };
  const closed = options.filter(({ enabled }) => !enabled).map(({ label }) => label).join(", ");
  return h("section.panel.ask", { key: `look ${nameOf(question)}` },
    h("header", h("p.wait", h("span", "Waiting for ", h("b", app.seatName(seat)))), h("h2", title && !text.includes(title) && h("span", { class: app.sideClass(about) }, `${title}: `), text), h("p.small.soft", rules)),
    h("ul.look", options.map(({ label, note, enabled }) => enabled && h("li", h("b", label), h("span.note", note)))), closed && h("p.hint", `Closed: ${closed}`),
    h("div.play.two", button("Answer for them", take), policy && button(`Let policy ${policy} answer`, suggest)));
}

/** Draws the characters of the campaign in the state in which they are kept between scenes. */
function roster(app) {
  const kept = Object.entries(app.ui.gm.roster?.characters ?? {});
  return kept.length > 0 && fold(`Roster: ${kept.length}`, kept.map(([name, { ruleset, fields }]) => h("p.small", h("b", name), ` ${ruleset}`, h("span.note", Object.entries(fields).filter(([, value]) => typeof value === "number").map((pair) => pair.join(" ")).join(", ")))));
}

/** Draws the people in the waiting room. */
function knocks(app) {
  const { waiting = [], people: known } = app.ui.gm.people ?? {};
  return waiting.map(({ request, name }) => {
    const admit = (text, more) => button(text, () => app.ask("admit", { request, ...more }).then(() => loadPeople(app)));
    return h("div.note-bar", { key: `knock ${request}` }, h("span", h("b", name), " waits at the door. Which seat?"), known.map((one) => one.name === name && admit(`One more device of ${name}`, { person: one.person })),
      seatsOf(app).map((seat) => admit(seatTitle(seat), { role: "seat", seats: [seat] })), admit("Only watch", { role: "watcher" }), admit("Turn away", { refuse: true }));
  });
}

/** Returns the seats, those of people first. */
const seatsOf = ({ table: { view: { settings: { seats: drivers } } } }) => Object.keys(drivers).sort((a, b) => (drivers[b] === "human") - (drivers[a] === "human"));

function fault(app) {
  const { is, fault: told } = app.table.view.state;
  if (is !== "fault" || !told) return null;
  const { card, message, path, line, column = 1, length = 0, source_line: source = "", action, context = [], cure, chain } = told;
  const { id, layers } = app.table.view.settings.rules;
  const remedy = (text, name) => button(text, () => app.command("remedy", { remedy: name }));
  return h("section.panel.fault", { role: "alert", key: "fault" }, h("h2", card && `${card}: `, message), path && h("p", [path, line, column].filter(Boolean).join(":")), [action, ...context].map((text) => h("p.small", text)),
    source && h("pre", { tabindex: "0" }, `${line} | `, source.slice(0, column - 1), h("mark", source.slice(column - 1, length ? column - 1 + length : undefined)), length ? source.slice(column - 1 + length) : ""),
    h("p", cure), chain.map((text) => h("p.small", text)),
    h("div.row", remedy("Try again", "retry"), remedy("Leave the action out", "skip_action"), button("Undo", () => app.askUndo()), button("Read the edited rules", () => change(app, id, layers))),
    h("p.small", "To rule by hand, leave the action out and edit what it should have changed."));
}

function time(app) {
  const { undo, seq, settings: { paused } } = app.table.view;
  const { entries } = app.ui.gm;
  return panel("Time",
    h("div.two", button("Undo", () => undo.allowed && app.askUndo(), { "aria-disabled": !undo.allowed }), button("Redo", () => undo.redo && app.command("redo", { expect: seq }), { "aria-disabled": !undo.redo }),
      button(paused ? "Go on" : "Pause", () => app.command("pause", { paused: !paused }), { "aria-pressed": paused })),
    undo.takes_back && h("p.small.soft", `Undo takes back: ${decision(undo.takes_back)}`),
    fold("Entries and branches", entries ? h("ol.entries.scroll", entries.entries.map(({ entry, text, stands, here, last, after }) => h("li", { key: entry, class: stands ? "" : "off" },
      button([h("span.soft", entry), h("span", text, !stands && h("i", last ? `, end of a branch from ${after}` : ", on a branch"), here && h("i", ", here"))], () => app.command("goto", { entry }), { "aria-current": here ? "step" : null }))).reverse())
      : h("p.small.soft", "This table is not kept in a campaign."), () => load(app, "entries")));
}

const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? null));

/** Reads a typed text as a value of the same type as `before`. */
function read(text, before) {
  try {
    return typeof before === "string" ? text : JSON.parse(text);
  } catch {
    return text;
  }
}

const choice = (label, value, options, set) => h("label", label, h("select", { value: String(value ?? ""), onchange: ({ target }) => set(target.value) }, options.map(([id, text]) => h("option", { key: id, value: id }, text))));

/** Draws a form with one text field. Each of `actions` is a button; Enter presses the first. */
function line(app, label, ...actions) {
  const texts = app.ui.gm.texts ??= {};
  const go = (send) => async (event) => {
    event.preventDefault();
    if (texts[label] && await send(texts[label])) texts[label] = "";
    app.redraw();
  };
  return h("form.form", { onsubmit: go(actions[0][1]) }, h("label", label, h("input", { value: texts[label] ?? "", oninput: ({ target }) => { texts[label] = target.value; } })),
    h("div.row", actions.map(([text, send], place) => button(text, place ? go(send) : null, { type: place ? "button" : "submit" }))));
}

function byHand(app) {
  const acts = app.ui.acts ?? [];
  const own = acts.filter(({ seat }) => seat === "gm");
  const others = acts.filter(({ seat, enabled }) => seat !== "gm" && enabled);
  const edit = app.ui.gm.edit ??= {};
  const entity = app.table.entities.get(Number(edit.id));
  const before = entity?.fields[edit.field];
  const set = (next) => { Object.assign(edit, next); app.redraw(); };
  const send = (what) => app.command("edit", { edit: what });
  const known = people(app);
  const write = async (event) => {
    event.preventDefault();
    if (await send({ set: { entity: entity.id, field: edit.field, value: read(edit.value ?? shown(before), before) } })) set({ value: undefined });
  };
  return panel("By the game master's hand", actsList(own), others.length > 0 && fold(`For other seats: ${others.length}`, actsList(others)),
    fold("Edit a field", h("form.form", { onsubmit: write },
      choice("Whose", edit.id, [["", "–"], ...[...known, ...[...app.table.entities.values()].filter((one) => !known.includes(one))].map(({ id, title, kind }) => [id, `${title} (${kind})`])], (id) => set({ id, field: undefined, value: undefined })),
      entity && choice("Field", edit.field, [["", "–"], ...Object.keys(entity.fields).sort().map((name) => [name, name])], (field) => set({ field, value: undefined })),
      entity && edit.field && [h("label", "Value", typeof before === "number" ? stepper("Value", Number(edit.value ?? before), -1e9, 1e9, (to) => set({ value: shown(to) })) : h("input", { value: edit.value ?? shown(before), oninput: ({ target }) => set({ value: target.value }) })), h("button.go", { type: "submit" }, "Write it")],
      entity && button(`Take ${entity.title} away`, () => send({ remove: { entity: entity.id } })))),
    fold("Write a note into the log", line(app, "Note", ["Write", (text) => send({ say: { text } })])),
    fold("Switch a part of the rules off", line(app, "Card, hook, entry or free act, by name", ["Switch off", (name) => send({ leave_out: { name } })], ["Switch on", (name) => send({ take_in: { name } })])),
    fold("Give the next dice", line(app, "Faces in the order they are rolled, such as 7, 2, 10", ["Give", (text) => app.command("dice", { faces: text.split(/\D+/).filter(Boolean).map(Number) })], ["Take all away", () => app.command("dice", { faces: [] })])));
}

async function change(app, ruleset, layers, dry) {
  const ask = { ruleset, layers };
  const told = dry ? await app.ask("rules.preview", ask) : await app.command("rules.change", ask);
  app.ui.gm.preview = told && { ...told, ask: dry && ask };
  app.redraw();
}

function rules(app) {
  const { rules: { id, title, version, layers }, switches } = app.table.view.settings;
  const { gm } = app.ui;
  const { preview } = gm;
  const next = gm.next ??= { id, layers: layers.join(", ") };
  const text = (label, name) => h("label", label, h("input", { value: next[name], oninput: ({ target }) => { next[name] = target.value; } }));
  return panel("Rules", h("p.small", `${title} ${version}`, layers.length > 0 && ` with ${layers.join(", ")}`),
    fold(`House rules: ${Object.keys(switches).length}`, Object.entries(switches).map(([name, value]) => {
      const { values, text: about } = gm.offers?.switches.find((one) => one.name === name) ?? {};
      const set = (to) => app.command("switch", { name, value: read(to, value) });
      const label = [name.replaceAll("_", " "), h("span.note", about)];
      return values ? choice(label, value, values.map((one) => [one, shown(one)]), set) : h("label", { key: name }, label, h("input", { key: shown(value), value: shown(value), onchange: ({ target }) => set(target.value) }));
    })),
    fold("Other rules", [h("form.form", { onsubmit: (event) => { event.preventDefault(); change(app, next.id, next.layers.split(/[\s,]+/).filter(Boolean), true); } }, gm.offers ? choice("Ruleset", next.id, gm.offers.rulesets.map((one) => [one, one]), (to) => { next.id = to; app.redraw(); }) : text("Ruleset", "id"), text("House rules on top", "layers"), h("button", { type: "submit" }, "Preview")),
      preview && h("div", h("p", `${preview.from} → ${preview.to}`, preview.waits_for && `, before the next ${preview.waits_for}`), preview.changes.map((one) => h("p.small", one)),
        preview.notes.map(({ fate, topic, text: note, rule }) => h("p.small", { class: fate }, h("b", `${topic}, ${fate}: `), note, rule && ` (${rule})`)), preview.ask && button("Change to these rules", () => change(app, preview.ask.ruleset, preview.ask.layers), { class: "go" }))]));
}

function seats(app) {
  const { seats: drivers } = app.table.view.settings;
  const known = ["human", "absent", ...policies(app)];
  return panel("Seats", seatsOf(app).map((seat) => h("div.inline", { key: seat },
    choice(app.seatName(seat), drivers[seat].policy ?? drivers[seat], known.map((one) => [one, { human: "a person", absent: "nobody: defaults" }[one] ?? `policy ${one}`]), (to) => app.command("seat", { seat, driver: ["human", "absent"].includes(to) ? to : { policy: to } })),
    button("View", () => viewAs(app, seat), { "aria-label": `View as ${seatTitle(seat)}` }))));
}

/** Draws the scenes of the campaign: those that were played, the next one, and the estimate of an encounter. */
function scenes(app) {
  const { gm } = app.ui;
  const { scenarios = [], cast = [] } = gm.offers ?? {};
  const sides = gm.sides ??= [{}, {}];
  const names = [...new Set([...Object.keys(gm.roster?.characters ?? {}), ...cast])];
  const put = (side, name, count) => { side[name] = count || undefined; gm.encounter = undefined; app.redraw(); };
  const people = (side) => Object.entries(side).filter(([, count]) => count);
  const meet = () => ({ sides: sides.map((side) => ({ members: people(side).map(([name, count]) => ({ name, count })) })) });
  return panel("Scenes",
    fold("The story so far", recap(app), () => load(app, "recap", { all: true })),
    fold("Scenes that were played", gm.scenes?.scenes.map(({ title, last }) => button(`${title}, to entry ${last}`, () => app.command("goto", { entry: last }))), () => load(app, "scenes")),
    fold("Begin a scene", h("div.row", scenarios.map(({ name, title }) => button(title, () => app.command("scene", { scenario: name }))))),
    cast.length > 0 && fold("Encounter", [
      sides.map((side, at) => [choice(["Heroes", "Foes"][at], "", [["", "add somebody"], ...names.map((name) => [name, name])], (name) => put(side, name, 1)),
        people(side).map(([name, count]) => h("label", { key: at + name }, name, stepper(name, count, 0, 20, (to) => put(side, name, to))))]),
      h("div.two", button("Chances", () => load(app, "encounter", meet())), button("Begin it", () => app.command("scene", meet()))),
      gm.encounter && [gm.encounter.notes.map((text) => h("p.small", text)), gm.encounter.results.map(({ result, share, low, high }) => h("p", h("b", `${Math.round(share * 100)} % `), result, h("span.note", `${Math.round(low * 100)} to ${Math.round(high * 100)} %, ${gm.encounter.games} games`)))]]));
}

/** Draws the settings of the table that are not house rules. */
function allows(app) {
  const { undo, odds, delay } = app.table.view.settings.options;
  const set = (to) => app.command("options", to);
  return panel("At this table", h("div.form", choice("Who takes decisions back", undo, [["game_master", "the game master"], ["own", "who decided last"], ["ask", "the table votes"]], (to) => set({ undo: to })),
    button("Odds for players", () => set({ odds: !odds }), { "aria-pressed": odds }),
    choice("Watchers see the game", delay, [0, 15, 60, 300].map((one) => [one, one ? `${one} s later` : "at once"]), (to) => set({ delay: Number(to) }))));
}

/** Returns the policies that can play a seat: those of the ruleset, or else those that have played a seat since the page was opened. */
function policies(app) {
  const { gm } = app.ui;
  for (const { policy } of Object.values(app.table.view.settings.seats)) if (policy) (gm.policies ??= new Set()).add(policy);
  return gm.offers?.policies ?? [...gm.policies ?? []];
}

/** Opens another page that sees what a seat sees and cannot answer. */
async function viewAs(app, seat) {
  const tab = open("about:blank");
  const told = await app.ask("invite", { role: "seat", seats: [seat], kind: "code", look: true });
  if (told && tab) tab.location = `/#see=${told.code}`;
  else tab?.close();
}

function invitations(app) {
  const { gm } = app.ui;
  const { people: known = [], invitations: codes = [], lobby } = gm.people ?? {};
  const ask = (method, params) => app.ask(method, params).finally(() => loadPeople(app));
  const invite = (text, whose) => button(text, async () => {
    const told = await ask("invite", { ...whose, kind: "code" });
    if (told) loadQr(app, gm.invited = { text }, `${lobby?.address ?? `${location.origin}/`}${whose.role === "watcher" ? "tv" : ""}#j=${told.code}`);
  });
  const revoke = (what, text = "Revoke") => button(text, () => ask("revoke", what));
  const toggle = (text, pressed, onclick) => button(text, onclick, { "aria-pressed": pressed });
  const door = (text, name) => toggle(text, lobby[name], () => ask("lobby", { [name]: !lobby[name] }));
  const is = (role, of) => of.map(seatTitle).join(", ") || role.replace("_", " ");
  return panel("People and devices",
    known.map(({ person, name, role, seats: of, devices }) => fold(`${name}: ${is(role, of)}${devices.some(({ viewers }) => viewers) ? "" : ", away"}`, [
      h("ul.devices", devices.map(({ device, viewers }) => h("li", { key: device }, `Device ${device}, ${viewers ? "here" : "away"}`, revoke({ device })))),
      role === "seat" && h("div.row", { role: "group", "aria-label": `Seats of ${name}` }, seatsOf(app).map((seat) => toggle(seatTitle(seat), of.includes(seat), () => ask("person", { person, seats: of.includes(seat) ? of.filter((one) => one !== seat) : [...of, seat] })))),
      h("div.row", invite(`One more device of ${name}`, { person }), revoke({ person }, `Revoke ${name}`))], undefined, person)),
    h("ul.devices", codes.map(({ id, code, role, seats: of }) => code && h("li", { key: id }, `A code for ${is(role, of)}, not used yet`, revoke({ id })))),
    fold("Invite by code", h("div.row", seatsOf(app).map((seat) => invite(seatTitle(seat), { role: "seat", seats: [seat] })), invite("Television", { role: "watcher" }))),
    gm.invited && h("label", `${gm.invited.text}, once`, h("input", { readonly: true, value: gm.invited.address, onfocus: ({ target }) => target.select() })), gm.invited?.rows && qr(gm.invited),
    lobby && fold("The door", h("div.row", door("People may ask to join", "open"), door("Everybody may watch", "watch"), button("New join code", () => ask("lobby", { renew: true })))));
}

// The television.

export function television(app) {
  const { table: { view } } = app;
  const acting = view.order?.turns.find(({ state }) => state === "now");
  const question = view.questions[0];
  const who = acting?.title ?? question?.title;
  const list = people(app);
  const drawn = mapPanel(1160, true);
  return [
    h("header.bar", h("h1", headline()), view.order?.label && h("span.soft", view.settings.rules.title), link()),
    h("main", { class: `tv${drawn ? "" : " flat"}` },
      h("section", { class: `panel people${list.length > 6 ? " many" : ""}${list.length > (drawn ? 9 : 14) ? " crowd" : ""}` }, h("h2", view.order ? "Order of play" : "Who is here"), peopleList(app, list, true)),
      h("section.panel.now-box",
        view.state.is === "over" ? [h("p.soft", "The end"), h("p.big", view.state.outcome)] : [
          h("p.soft", "Now deciding"), who && h("p", { class: `big ${acting ? app.sideClass(acting.entity) : app.sideClass(question.about)}` }, who), waitingLine()],
        lastRoll(app)),
      h("section.panel.happened", h("h2", "What happened"), app.table.chat.length > 0 && chatLines(3), log(app, 9, true)),
      drawn, corner(app)),
  ];
}

function lastRoll(app) {
  const { roll, group } = app.table.lastRoll ?? {};
  return roll && h("div.last", h("p.soft", "Last roll"), h("p", h("b", group.who), ` ${group.head.join(", ")}`), h("p.soft.small", roll.label),
    h("div.roll", faces(roll)), h("p", "makes ", h("b", roll.total), needed(roll) && `, needs ${needed(roll)}`), h("p.verdict", outcome(roll)));
}

/** Draws the address to join at as a QR code in the corner. */
function corner(app) {
  if (!app.joins) {
    app.joins = {};
    join(app, app.joins);
  }
  const { address, rows } = app.joins;
  const [link, code] = address?.split("#j=") ?? [];
  return rows && h("aside.panel.code", { key: "code", "aria-label": "Join" }, h("p.small", "Scan to join, or open ", h("b", link), " and type ", h("b", code)), qr(app.joins));
}

async function join(app, joins) {
  const { address, code, open } = (await app.ask("lobby", {}, quiet)) ?? {};
  if (code && open !== false) await loadQr(app, joins, `${address}#j=${code}`);
}

/** Requests the rows of the QR code of an address. */
async function loadQr(app, into, address) {
  Object.assign(into, { address, rows: undefined });
  const told = await fetch("/v1/qr", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ text: address }) }).catch(quiet);
  if (told?.ok) into.rows = (await told.json()).rows;
  app.redraw();
}

function qr({ rows, address }) {
  const size = rows.length + 8;
  const path = rows.flatMap((row, y) => [...row].map((cell, x) => (cell === "1" ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return h("svg.qr", { viewBox: `-4 -4 ${size} ${size}`, role: "img", "aria-label": `QR code of ${address}`, "shape-rendering": "crispEdges" }, h("rect", { x: -4, y: -4, width: size, height: size }), h("path", { d: path }));
}
