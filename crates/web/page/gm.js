// The game master's page: people and order on the left, questions, map and log in the middle, and on the right what only a game master
// may do.

import { actsList, cards, chat, headline, link, mapPanel, noticeBars, panel, quiet, settings, waitingLine } from "./app.js";
import { h } from "./dom.js";

import { cutRules, nameOf, stepper } from "./question.js";
import { log, people, peopleList } from "./people.js";
import { load as loadQr, qr } from "./tv.js";

/** Whether a question is the game master's to answer: of nobody who is connected, or taken over by a press. */
const isLive = (app, question) => !app.present(question.seat) || app.ui.gm.taken?.has(nameOf(question));

/** The questions whose cards can be answered here. */
export const live = (app) => app.table.view.questions.filter((question) => isLive(app, question));

/** The seat that an answer is recorded for, if somebody else could have given it. */
export const answersFor = (app, question) => (app.present(question.seat) ? question.seat : undefined);

export function news(app, step) {
  const { gm } = app.ui;
  gm.taken ??= new Set();
  const open = new Set(app.table.view.questions.map(nameOf));
  for (const name of gm.taken) if (!open.has(name)) gm.taken.delete(name);
  if (!app.ui.acts) app.loadActs();
  if (gm.open?.entries) loadEntries(app);
  if (!step) loadPeople(app);
}

export async function loadPeople(app) {
  app.ui.gm.people = await app.ask("people", {}, quiet);
  app.redraw();
}

async function loadEntries(app) {
  app.ui.gm.entries = (await app.ask("entries", { most: 60, all: true }, quiet))?.entries;
  app.redraw();
}

export function screen(app) {
  const { table: { view } } = app;
  const list = people(app);
  const answerable = live(app);
  const others = view.questions.filter((question) => !answerable.includes(question));
  return [
    h("header.top", h("div.bar", h("h1", headline()), h("span.soft", view.order?.label && view.settings.rules.title), presence(app), link()), waitingLine()),
    h("main.gm",
      h("div.column", panel(view.order ? "Order and people" : "People", peopleList(app, list)), chat()),
      h("div.column", noticeBars(), knocks(app), fault(app), cards(answerable, (question) => answersFor(app, question)), others.map((question) => look(app, question)),
        view.state.is === "over" && panel("The end", h("p.question", view.state.outcome)),
        mapPanel(Math.max(300, Math.min(640, innerWidth - 720))), panel("What happened", log(app, app.ui.log))),
      h("div.column", time(app), panel("By the game master's hand", app.ui.acts ? handActs(app) : null, editor(app), dice(app)), rules(app), seats(app), invitations(app), encounter(app), settings())),
  ];
}

function presence(app) {
  const count = (role) => app.table.view.presence.filter((one) => one.role === role).reduce((sum, { viewers }) => sum + viewers, 0);
  const players = count("seat");
  const watchers = count("watcher");
  return h("span.soft.small", [`${players} ${players === 1 ? "page" : "pages"} of players`, watchers ? `${watchers} watching` : ""].filter(Boolean).join(" · "));
}

const fold = (app, name, title, kids, onopen) => h("details.sub-fold", { key: name, ontoggle: ({ target }) => {
  app.ui.gm.open = { ...app.ui.gm.open, [name]: target.open };
  if (target.open) onopen?.();
} }, h("summary", title), h("div.inside", kids));

// What is asked.

/** A question that somebody else is asked: to look at, until the game master takes it over. */
function look(app, question) {
  const { ask } = question;
  const { text, rules } = cutRules(question.why);
  const shut = ask.options?.filter(({ enabled }) => !enabled) ?? [];
  const driver = Object.values(app.table.view.settings.seats).find((one) => one.policy)?.policy;
  const take = async (policy) => {
    app.ui.gm.taken.add(nameOf(question));
    if (policy) {
      const told = await app.ask("suggest", { question: question.id, policy });
      if (told?.value !== undefined && told.value !== null) return app.answer(question, told.value, question.seat);
    }
    app.ui.active = nameOf(question);
    app.redraw();
    return undefined;
  };
  return h("section.panel.ask.looked", { key: `look ${nameOf(question)}` },
    h("header", h("p.wait", h("span", "Waiting for ", h("b", app.seatName(question.seat)))), h("h2", question.title && !text.startsWith(question.title) && h("span", { class: app.sideClass(question.about) }, `${question.title}: `), text), rules && h("p.small.soft", rules)),
    ask.options && h("ul.look", ask.options.filter(({ enabled }) => enabled).map(({ id, label, note }) => h("li", { key: id }, h("b", label), note && h("span", note)))),
    shut.length > 0 && h("p.small.soft.closed-line", `${shut.length} closed: ${shut.map(({ label }) => label).join(", ")}`),
    h("div.play.two", h("button", { onclick: () => take() }, "Answer for them"), driver && h("button", { onclick: () => take(driver) }, "Let policy ", h("b", driver), " answer")));
}

/** Those in the waiting room. */
function knocks(app) {
  const admit = (request, more) => app.ask("admit", { request, ...more }).then(() => loadPeople(app));
  return app.ui.gm.people?.waiting?.map(({ request, name }) => h("section.note-bar", { key: `knock ${request}` }, h("span", h("b", name ?? "Somebody"), " waits at the door. Which seat?"),
    Object.keys(app.table.view.settings.seats).map((seat) => h("button", { onclick: () => admit(request, { role: "seat", seats: [seat] }) }, seat)),
    h("button", { onclick: () => admit(request, { role: "watcher" }) }, "Only watch"), h("button", { onclick: () => admit(request, { refuse: true }) }, "Turn away")));
}

function fault(app) {
  const { state } = app.table.view;
  if (state.is !== "fault") return null;
  const { fault: told } = state;
  const remedy = (name) => app.command("remedy", { remedy: name });
  const cut = told?.column ? told.column - 1 : 0;
  const line = told?.source_line ?? "";
  return h("section.panel.fault", { role: "alert", key: "fault" }, h("h2", told?.card ? `${told.card}: ` : "", told?.message ?? "The rules have an error"),
    told?.path && h("p", `${told.path}${told.line ? `:${told.line}` : ""}${told.column ? `:${told.column}` : ""}`), told?.action && h("p", told.action),
    told?.context?.map((text) => h("p.small", text)),
    line && h("pre", { tabindex: "0" }, `${told.line} | `, line.slice(0, cut), h("mark", line.slice(cut, cut + (told.length || line.length))), told.length ? line.slice(cut + told.length) : ""),
    told?.cure && h("p", told.cure),
    told?.chain.length > 0 && h("details", h("summary", "Calls"), h("ul", told.chain.map((text) => h("li.small", text)))),
    h("div.row", h("button.go", { onclick: () => remedy("retry") }, "Try again"), h("button", { onclick: () => remedy("skip_action") }, "Leave the action out"),
      h("button", { onclick: () => app.askUndo() }, "Undo")),
    h("p.small", "To rule by hand, leave the action out and edit what it should have changed. Edited files count at once after ", h("b", "Read the rules again"), ": ", h("button", { onclick: () => changeRules(app, app.table.view.settings.rules.id, app.table.view.settings.rules.layers) }, "Read the rules again")));
}

// Time.

function time(app) {
  const { view } = app.table;
  const { undo, settings: { paused } } = view;
  const entries = app.ui.gm.entries;
  const redo = undo.redo !== false;
  return panel("Time",
    h("div.two", h("button", { "aria-disabled": String(!undo.allowed), onclick: () => undo.allowed && app.askUndo() }, "Undo"),
      h("button", { "aria-disabled": String(!redo), onclick: () => redo && app.command("redo", { expect: view.seq }) }, "Redo"),
      h("button", { "aria-pressed": String(paused), onclick: () => app.command("pause", { paused: !paused }) }, paused ? "Go on" : "Pause"),
      h("button", { onclick: () => recap(app) }, "Recap")),
    undo.takes_back && h("p.small.soft", `Undo takes back: ${undo.takes_back}`),
    app.ui.gm.recap && h("div.recap", app.ui.gm.recap.map((text) => h("p.small", text))),
    fold(app, "entries", "Entries and branches", !entries ? h("p.small.soft", "This table is not kept in a campaign.") :
      h("ol.entries", [...entries].reverse().map(({ entry, text, stands, here, last, after }) => h("li", { key: entry, class: `${stands ? "" : "off"}${here ? " here" : ""}` },
        h("button", { "aria-current": here ? "step" : null, onclick: () => app.command("goto", { entry }) }, h("span.n", entry), h("span", text, !stands && h("span.soft.small", last ? `, end of a branch from ${after}` : ", on a branch"), here && h("span.soft.small", ", here")))))), () => loadEntries(app)));
}

async function recap(app) {
  const { gm } = app.ui;
  gm.recap = gm.recap ? undefined : (await app.ask("recap", {}, quiet))?.lines ?? app.table.groups().filter(({ gone }) => !gone).map(({ who, head, events }) => (who ? `${who}: ${head.join(", ")}` : events[0]?.text)).filter(Boolean).slice(-30);
  app.redraw();
}

// By hand.

function handActs(app) {
  const own = app.ui.acts.filter(({ seat }) => seat === "gm");
  const others = app.ui.acts.filter(({ seat, enabled }) => seat !== "gm" && enabled);
  return [actsList(own.length ? own : app.ui.acts), own.length > 0 && others.length > 0 && fold(app, "acts", `For other seats: ${others.length}`, actsList(others))];
}

const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? null));

/** Reads what was typed as the kind of value that the field has now. */
function read(text, before) {
  if (typeof before === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const choice = (label, value, options, set) => h("label", label, h("select", { value: String(value ?? ""), onchange: ({ target }) => set(target.value) }, h("option", { value: "" }, "–"), options.map(([id, text]) => h("option", { key: id, value: id }, text))));

function editor(app) {
  const edit = app.ui.gm.edit ??= {};
  const entity = app.table.entities.get(Number(edit.id));
  const set = (next) => { Object.assign(edit, next); app.redraw(); };
  const known = people(app);
  const all = [...known, ...[...app.table.entities.values()].filter((one) => !known.includes(one))];
  const fields = entity ? Object.keys(entity.fields).sort() : [];
  const before = entity?.fields[edit.field];
  return [
    fold(app, "edit", "Edit a field", h("form.form", { onsubmit: async (event) => {
      event.preventDefault();
      if (!entity || !edit.field) return;
      const done = await app.command("edit", { edit: { set: { entity: entity.id, field: edit.field, value: read(edit.value ?? shown(before), before) } } });
      if (done) set({ value: undefined });
    } },
      choice("Whose", edit.id, all.map(({ id, title, kind }) => [id, known.some((one) => one.id === id) ? title : `${title} (${kind} ${id})`]), (id) => set({ id, field: undefined, value: undefined })),
      entity && choice("Field", edit.field, fields.map((name) => [name, name]), (field) => set({ field, value: undefined })),
      entity && edit.field && h("label", "Value", typeof before === "number" ? stepper("Value", Number(edit.value ?? before), -1e9, 1e9, (number) => set({ value: number === undefined ? "" : String(number) }))
        : h("input", { type: "text", value: edit.value ?? shown(before), oninput: ({ target }) => set({ value: target.value }) })),
      entity && edit.field && h("button.go", { type: "submit" }, "Write it"),
      entity && h("button", { onclick: () => app.command("edit", { edit: { remove: { entity: entity.id } } }) }, `Take ${entity.title} away`))),
    fold(app, "say", "Write a note into the log", line(app, "note", "Note", "Write", (text) => app.command("edit", { edit: { say: { text } } }))),
    fold(app, "part", "Switch a part of the rules off", [h("p.small.soft", "A card, hook, entry or free act, by its name."),
      line(app, "part", "Name", "Switch off", (name) => app.command("edit", { edit: { leave_out: { name } } }), ["Switch on", (name) => app.command("edit", { edit: { take_in: { name } } })])]),
  ];
}

/** A form of one text with a button, or two. */
function line(app, name, label, action, send, second) {
  const texts = app.ui.gm.texts ??= {};
  const go = async (what) => {
    const text = (texts[name] ?? "").trim();
    if (text && (await what(text))) texts[name] = "";
    app.redraw();
  };
  return h("form.form", { onsubmit: (event) => { event.preventDefault(); go(send); } },
    h("label", label, h("input", { type: "text", value: texts[name] ?? "", oninput: ({ target }) => { texts[name] = target.value; app.redraw(); } })),
    h("div.row", h("button", { type: "submit" }, action), second && h("button", { onclick: () => go(second[1]) }, second[0])));
}

function dice(app) {
  return fold(app, "dice", "Give the next dice", [h("p.small.soft", "Faces in the order in which they are rolled, such as 7, 2, 10. No undo takes them back."),
    line(app, "faces", "Faces", "Give", (text) => app.command("dice", { faces: text.split(/[\s,;]+/).filter(Boolean).map(Number) }), ["Take all away", () => app.command("dice", { faces: [] })])]);
}

// Rules, seats, people.

async function changeRules(app, ruleset, layers) {
  app.ui.gm.preview = await app.command("rules.change", { ruleset, layers });
  app.redraw();
}

function rules(app) {
  const { settings: { rules: now, switches }, switches_offered: offered } = app.table.view;
  const { gm } = app.ui;
  const next = gm.next ??= {};
  const id = next.id ?? now.id;
  const layers = (next.layers ?? now.layers.join(", ")).split(/[\s,]+/).filter(Boolean);
  const { preview } = gm;
  const sets = gm.sets ??= {};
  return panel("Rules",
    h("p.small", `${now.title} ${now.version}`, now.layers.length > 0 && ` with ${now.layers.join(", ")}`),
    fold(app, "switches", `House rules: ${Object.keys(switches).length}`, h("ul.switches", Object.entries(switches).map(([name, value]) => {
      const about = offered?.find((one) => one.name === name);
      const change = (text) => app.command("switch", { name, value: about?.values ? text : read(text, value) }).then((done) => { if (done) delete sets[name]; app.redraw(); });
      return h("li", { key: name }, h("label", name.replaceAll("_", " "), about?.text && h("span.note", about.text),
        about?.values ? h("select", { value, onchange: ({ target }) => change(target.value) }, about.values.map((one) => h("option", { key: one, value: one }, one)))
          : h("span.inline", h("input", { type: "text", value: sets[name] ?? shown(value), oninput: ({ target }) => { sets[name] = target.value; app.redraw(); } }), sets[name] !== undefined && sets[name] !== shown(value) && h("button", { onclick: () => change(sets[name]) }, "Set"))));
    }))),
    fold(app, "version", "Other rules", [h("form.form", { onsubmit: async (event) => { event.preventDefault(); gm.preview = await app.ask("rules.preview", { ruleset: id, layers }); gm.asked = { id, layers }; app.redraw(); } },
      h("label", "Ruleset", h("input", { type: "text", value: id, list: "rulesets", oninput: ({ target }) => { next.id = target.value; app.redraw(); } })),
      h("label", "House rules on top", h("input", { type: "text", value: next.layers ?? now.layers.join(", "), oninput: ({ target }) => { next.layers = target.value; app.redraw(); } })),
      h("div.row", h("button", { type: "submit" }, "Preview"))),
    preview && h("div.preview", h("p", `${preview.from} → ${preview.to}`, preview.waits_for && `, before the next ${preview.waits_for}`),
      preview.changes.length > 0 && h("details", h("summary", `${preview.changes.length} changes of rules`), h("ul", preview.changes.map((text) => h("li.small", text)))),
      h("ul", preview.notes.map(({ fate, topic, text, rule }) => h("li", { class: `small ${fate}` }, h("b", `${topic}, ${fate}: `), text, rule && ` (${rule})`))),
      gm.asked && preview.seq == null && h("button.go", { onclick: () => changeRules(app, gm.asked.id, gm.asked.layers) }, "Change to these rules"))]));
}

function seats(app) {
  const { settings: { seats: drivers }, policies } = app.table.view;
  const { gm } = app.ui;
  return panel("Seats", h("ul.switches", Object.entries(drivers).map(([seat, driver]) => {
    const now = driver.policy ?? driver;
    const known = [...new Set(["human", "absent", ...(policies?.[seat] ?? policies ?? []), ...Object.values(drivers).map((one) => one.policy).filter(Boolean)])];
    return h("li", { key: seat }, h("label", app.seatName(seat), h("select", { value: now, onchange: ({ target }) => app.command("seat", { seat, driver: ["human", "absent"].includes(target.value) ? target.value : { policy: target.value } }) },
      known.map((one) => h("option", { key: one, value: one }, { human: "a person", absent: "nobody: defaults" }[one] ?? `policy ${one}`)))),
    h("button", { onclick: () => viewAs(app, seat, gm) }, "View as this seat"));
  })));
}

/** Opens another page that sees what a seat sees, and answers nothing. */
async function viewAs(app, seat) {
  const tab = open("about:blank");
  const told = await app.ask("invite", { role: "seat", seats: [seat], kind: "code", once: true, name: `a look as ${seat}` });
  if (!told) tab?.close();
  else if (tab) tab.location = `${location.origin}/#see=${told.code ?? told.token}`;
}

function invitations(app) {
  const { gm } = app.ui;
  const known = gm.people ?? {};
  const then = () => loadPeople(app);
  const invite = async (role, seat) => {
    const told = await app.ask("invite", { role, seats: seat && [seat], kind: "code", once: true });
    const { address } = (await app.ask("lobby", {}, quiet)) ?? {};
    if (told) loadQr(app, gm.invited = {}, `${address ?? `${location.origin}/`}#j=${told.code ?? told.token}`);
    then();
  };
  const revoke = (what) => h("button", { onclick: () => app.ask("revoke", what).then(then) }, "Revoke");
  const lobby = (change) => app.ask("lobby", change).then(then);
  const { open, watch } = known.lobby ?? {};
  return panel("People and devices",
    h("ul.devices", known.people?.map(({ person, name, role, seats: of, devices }) => h("li", { key: person }, h("span", h("b", name ?? "Nobody yet"), h("span.note", of?.join(", ") || role), devices.map(({ device, name: what, viewers }) => h("span.note", { key: device }, `${what ?? `device ${device}`}, ${viewers ? "here" : "away"}`))), revoke({ person }))),
      known.invitations?.filter((one) => one.code).map(({ id, role, seats: of }) => h("li", { key: `i${id}` }, h("span", "A code for ", of?.join(", ") || role, ", not used yet"), revoke({ id })))),
    fold(app, "invite", "Invite by code", [h("div.row", Object.keys(app.table.view.settings.seats).map((seat) => h("button", { onclick: () => invite("seat", seat) }, seat)), h("button", { onclick: () => invite("watcher") }, "Television")),
      gm.invited && h("label", "For one person, once", h("input", { readonly: true, value: gm.invited.address, onfocus: ({ target }) => target.select() })), gm.invited?.rows && qr(gm.invited.rows, "the invitation"),
      known.lobby && h("div.row", h("button", { "aria-pressed": String(open), onclick: () => lobby({ open: !open }) }, "Let people ask to join"), h("button", { "aria-pressed": String(watch), onclick: () => lobby({ watch: !watch }) }, "Let everybody watch"), h("button", { onclick: () => lobby({ renew: true }) }, "New join code"))]));
}

// Encounters and the roster: shown where the host offers them.

function encounter(app) {
  return undefined;
}
