// Draws a game: questions with their odds and keys, people with their sheets, the map, the log.

import { dialog, h } from "./dom.js";
import { needed, quiet, sentence } from "./words.js";

// Questions as cards: the text, the options with their odds, and the controls to answer.

/** Returns a name of a question that is the same after a restart; its number is not. */
export const nameOf = ({ seat, topic, about, why, ask }) => [seat, topic, about, why, ask.kind].join("|");

const open = ({ options }) => options.filter(({ enabled }) => enabled);
const sum = (points) => Object.values(points).reduce((all, one) => all + one, 0);
const labels = (ids, { options }) => ids.map((id) => options.find((option) => option.id === id)?.label ?? id).join(", ");
const without = (list, id) => list.filter((one) => one !== id);

/**
 * The kinds of questions. `fresh` makes the first draft from a proposal, `value` the answer from a draft (undefined if it is not
 * complete), `missing` says what is missing, `words` returns the answer in words, and `body` draws the controls.
 */
const kinds = {
  choose: {
    fresh(given, ask) {
      const options = open(ask);
      if (given !== undefined && !ask.options.some(({ id }) => id === given)) return { other: given };
      return { one: given ?? (options.length === 1 && !ask.other ? options[0].id : undefined) };
    },
    value: ({ one, other }) => other || one,
    words: (value, ask) => labels([value], ask),
    body: ({ rows, ask, draft, change }) => [
      rows((id) => draft.one === id && !draft.other, (id) => ({ one: id, other: "" })),
      ask.other && h("label.line", "Something else", h("input", { maxlength: 200, value: draft.other ?? "", oninput: ({ target }) => change({ other: target.value }) })),
    ],
  },
  choose_many: {
    fresh: (given = []) => ({ list: given }),
    value: ({ list }, { min, max }) => (list.length >= min && list.length <= max ? list : undefined),
    missing: ({ list }, { min, max }) => (list.length < min ? `Choose ${min}${max > min ? " or more" : ""}` : `Choose ${max} at most`),
    words: (value, ask) => labels(value, ask) || "None",
    body: ({ rows, ask: { max }, draft: { list } }) => rows((id) => list.includes(id), (id) => ({ list: list.includes(id) ? without(list, id) : max === 1 ? [id] : [...list, id] }), "many"),
  },
  order: {
    fresh: (given = []) => ({ list: given }),
    value: ({ list }, ask) => [...list, ...open(ask).map(({ id }) => id).filter((id) => !list.includes(id))],
    words: labels,
    body: ({ rows, value, draft: { list } }) => [h("p.hint", "Tap in the order you want. Whoever is left out follows as listed."),
      rows((id) => list.includes(id), (id) => ({ list: list.includes(id) ? without(list, id) : [...list, id] }), "ranks", (id) => value.indexOf(id) + 1)],
  },
  number: {
    fresh: (given, { min, max }) => ({ number: given ?? (min === max ? min : undefined) }),
    value: ({ number }, { min, max }) => (number >= min && number <= max ? number : undefined),
    missing: (_, { min, max }) => `A number from ${min} to ${max}`,
    body: ({ ask: { min, max }, draft: { number }, change, name }) => (max - min < 12
      ? keys(name, min, max, number, (to) => change({ number: to }))
      : h("div.line", h("span.note", `from ${min} to ${max}`), stepper(name, number, min, max, (to) => change({ number: to })))),
  },
  allot: {
    fresh: (given = {}) => ({ points: given }),
    value: ({ points }, { least, total }) => (sum(points) >= least && sum(points) <= total ? Object.fromEntries(Object.entries(points).filter(([, count]) => count)) : undefined),
    missing: ({ points }, { least }) => `${least - sum(points)} more to give out`,
    words: (value, ask) => Object.entries(value).map(([id, count]) => `${labels([id], ask)} ${count}`).join(", ") || "Nothing",
    body: ({ ask, draft: { points }, change }) => [h("p.hint", `${sum(points)} of ${ask.total} given out`),
      h("ul.allot", open(ask).map(({ id, label, note, max = ask.total }, place) => {
        const now = points[id] ?? 0;
        const most = Math.min(max ?? ask.total, now + ask.total - sum(points));
        return h("li", h("span", h("b", label), h("span.note", note)), stepper(label, now, 0, most, (to = 0) => change({ points: { ...points, [id]: Math.min(to, most) } }), place));
      }))],
  },
  confirm: {
    fresh: (given) => ({ one: given }),
    value: ({ one }) => one,
    words: (value) => (value ? "Yes" : "No"),
    body: ({ rows, draft: { one } }) => rows((id) => one === id, (id) => ({ one: id })),
  },
  dice: {
    fresh: () => ({ faces: [] }),
    value: ({ faces }, { sides }) => (faces.length === sides.length ? faces : undefined),
    missing: ({ faces }, { sides }) => `${sides.length - faces.length} more to type`,
    body({ ask: { dice, sides }, draft: { faces }, change, name }) {
      const next = faces.length;
      const set = (list) => () => change({ faces: list() });
      const roll = (size) => 1 + (crypto.getRandomValues(new Uint32Array(1))[0] % size);
      return [h("p.hint", `Roll ${dice} and type what you see.`),
        h("div.faces", sides.map((size, place) => h("span", { class: `die${place === next ? " now" : ""}` }, faces[place] ?? h("span.small.soft", `d${size}`)))),
        next < sides.length && keys(name, 1, sides[next], undefined, (face) => change({ faces: [...faces, face] })),
        h("div.row", h("button", { "aria-disabled": next === sides.length, onclick: set(() => [...faces, ...sides.slice(next).map(roll)]) }, "Roll for me"), h("button", { "aria-disabled": !next, onclick: set(() => faces.slice(0, -1)) }, "Take the last one back"))];
    },
  },
  line: {
    fresh: (given = "") => ({ text: given }),
    value: ({ text }, { max }) => (text.length <= max ? text : undefined),
    body: ({ ask: { max }, draft: { text }, change, name }) => h("div.line", h("textarea", { "aria-label": name, rows: max > 80 ? 3 : 1, maxlength: max, value: text, oninput: ({ target }) => change({ text: target.value }) })),
  },
};

/** The drafts of answers that were not sent yet, by question. The store of the tab keeps them when the page is loaded again. */
export class Drafts {
  #all = {};
  #name;

  constructor(name) {
    this.#name = name;
    try {
      this.#all = JSON.parse(sessionStorage.getItem(name)) ?? {};
    } catch {}
  }

  of(question) {
    const { ask, proposal } = question;
    const draft = this.#all[nameOf(question)];
    // An option that the host left out of a long list may have been found by its name.
    const offered = (id) => !ask.options || question.more || open(ask).some((option) => option.id === id);
    // The same question may be asked again with other options.
    if (!draft || (draft.one !== undefined && !offered(draft.one))) return kinds[ask.kind].fresh(proposal ?? undefined, ask);
    return draft.list ? { list: draft.list.filter(offered) } : draft;
  }

  put(question, draft) {
    this.#store({ ...this.#all, [nameOf(question)]: draft });
  }

  /** Removes the drafts of questions that are not open any more. */
  keep(questions) {
    const names = questions.map(nameOf);
    this.#store(Object.fromEntries(Object.entries(this.#all).filter(([name]) => names.includes(name))));
  }

  #store(all) {
    this.#all = all;
    try {
      sessionStorage.setItem(this.#name, JSON.stringify(all));
    } catch {}
  }
}

const valueOf = ({ ask }, draft) => kinds[ask.kind].value(draft, ask);

/** Splits a sentence such as `which action? (RB1-057)` into its text and the ids of rules. */
export function cutRules(text) {
  const [, start, rules] = /^(.*?)\s*\(((?:[A-Z][A-Z0-9]*-[A-Z0-9-]+(?:, )?)+)\)$/s.exec(text) ?? [null, text, ""];
  return [start, rules];
}

// Options of long lists that were found by a part of their names, by question. The host sends only the first ones of such a list.
const finds = {};

/** Returns a question's `ask` with the options to draw: the chosen ones, and those found. */
function askOf(question, { one, list = [], points = {} }) {
  const { ask } = question;
  const { known, found } = finds[idOf(question)] ?? {};
  if (!known) return ask;
  const chosen = [one, ...list, ...Object.keys(points)].map((id) => known[id]).filter(Boolean);
  return { ...ask, options: Object.values(byId([...chosen, ...found])) };
}

/** Draws the field for the words to search for. */
function finder(app, question) {
  const { ask, id, more } = question;
  const oninput = async ({ target }) => {
    const told = await app.ask("find", { question: id, text: target.value }, quiet);
    if (!told) return;
    const { known = byId(ask.options) } = finds[idOf(question)] ?? {};
    finds[idOf(question)] = { known: { ...known, ...byId(told.options) }, found: told.options };
    app.redraw();
  };
  return more && h("label.line", `Find (${more} more)`, h("input", { type: "search", oninput }));
}

const byId = (options) => Object.fromEntries(options.map((option) => [option.id, option]));
const idOf = ({ id }) => `q${id.action}-${id.ordinal}`;

/** Draws a question. Digits and Enter go to the `active` card; `as` is the seat that a game master answers for. */
export function card(app, question, { active, as }) {
  const { seat, sealed, title, about, proposal } = question;
  const draft = app.drafts.of(question);
  const ask = askOf(question, draft);
  const kind = kinds[ask.kind];
  const value = kind.value(draft, ask);
  const key = nameOf(question);
  const id = idOf(question);
  const { settings, state } = app.table.view;
  const off = app.looks || !app.wire.up || app.ui.sending.has(key) || state.is !== "asking" || (settings.paused && app.role === "seat");
  const refusal = app.ui.refusals.get(key);
  const [text, rules] = cutRules(question.why);
  const words = value === undefined ? kind.missing?.(draft, ask) ?? "Choose first" : (kind.words?.(value, ask) ?? String(value)) || "Nothing";
  const change = (next) => {
    app.drafts.put(question, { ...draft, ...next });
    app.ui.refusals.delete(key);
    app.ui.active = key;
    app.redraw();
  };
  const rows = (on, next, style = "", mark) => h("ul", { class: `options ${style}`, "aria-label": text }, (ask.kind === "confirm" ? [{ id: true, label: "Yes" }, { id: false, label: "No" }] : open(ask)).map((option, place) => {
    const odds = app.odds.of(question, option.id);
    const pressed = on(option.id);
    return h("li", { key: String(option.id) }, h("button", { "aria-pressed": pressed, "data-place": place, onclick: () => change(next(option.id)) },
      h("span.dot", { "aria-hidden": "true" }, mark?.(option.id) ?? (pressed && "✓")), h("b", option.label),
      h("span.side", proposal === option.id && h("span.proposed", "proposed"), chip(odds)), option.note && h("span.note", option.note)), pressed && h("div.more", ask.kind === "choose" && printed(app, option.id), report(odds)));
  }));
  const odds = app.odds.of(question, value);
  return h("section", { key, class: `panel ask${active ? " active" : ""}`, "aria-labelledby": id, "data-question": key, onfocusin: () => { app.ui.active = key; if (!active) app.redraw(); } },
    h("header", h("h2", { id, tabindex: "-1" }, title && !text.includes(title) && h("span", { class: app.sideClass(about) }, `${title}: `), text),
      h("p.small.soft", [(app.seats.length > 1 || as) && `for ${app.seatName(seat)}`, sealed && "sealed until all have answered", rules].filter(Boolean).join(" · "))),
    finder(app, question),
    kind.body({ ask, draft, change, value, rows, name: text }),
    shut(ask.options?.filter(({ enabled }) => !enabled) ?? []),
    h("div.play", odds?.outcomes?.length > 1 && h("div.brief", ["choose", "confirm"].includes(ask.kind) ? h("p", h("span", headline(odds)), h("span.soft", odds.exact ? "exact" : "estimate")) : report(odds), bar(odds)),
      refusal && h("p.refusal", { role: "alert" }, refusal),
      h("button.go", { "aria-disabled": off || value === undefined, onclick: () => off || value === undefined || app.answer(question, value, as) },
        value !== undefined && as ? [`Answer for ${app.seatName(as)}`, h("small", words)] : words.length > 60 ? `${words.slice(0, 58)}…` : words),
      app.undoButton(active)));
}

/** Draws the printed text of a card, and requests it the first time. Options that are no cards have none. */
function printed(app, id) {
  const { cards } = app.ui;
  if (!(id in cards)) {
    cards[id] = "";
    app.ask("card", { card: id }, quiet).then((told) => { cards[id] = told?.text; app.redraw(); });
  }
  return cards[id] && h("p.printed", cards[id]);
}

/** Draws the options and acts that are closed, with their reasons; equal reasons once. */
export function shut(list) {
  const reasons = new Map();
  for (const { reason, label, title } of list) reasons.set(reason, [...(reasons.get(reason) ?? []), label ?? title]);
  return list.length > 0 && h("details.closed", h("summary", `${list.length} closed now: why`), h("ul", [...reasons].map(([reason, names]) => {
    const [text, rules] = cutRules(reason ?? "not now");
    return h("li", h("button", { "aria-disabled": "true" }, h("b", names.join(", ")), h("span.note", text, rules && ` ${rules}`)));
  })));
}

const keys = (name, min, max, now, set) => h("div.keys", { role: "group", "aria-label": name }, Array.from({ length: max - min + 1 }, (_, place) => min + place).map((value) =>
  h("button", { key: value, "data-number": value, "aria-pressed": now === undefined ? null : value === now, onclick: () => set(value) }, value)));

export function stepper(name, now, min, max, set, place) {
  const step = (to, sign, words) => h("button", { "aria-label": `${name}: one ${words}`, "aria-disabled": to < min || to > max, onclick: () => to >= min && to <= max && set(to) }, sign);
  return h("span.stepper", step((now ?? min + 1) - 1, "−", "less"),
    h("input", { inputmode: min < 0 ? "text" : "numeric", "aria-label": `${name}, ${min} to ${max}`, "data-place": place, value: String(now ?? ""), oninput: ({ target }) => set(/^-?\d+$/.test(target.value) ? Number(target.value) : undefined) }),
    step((now ?? min - 1) + 1, "+", "more"));
}

// Odds.

/** The odds of the answers that the page shows. They are requested one after the other, and each step clears them. */
export class Odds {
  #known = new Map();
  #wanted = [];
  #running;
  on = true;

  constructor(app) {
    this.app = app;
  }

  /** True if this table allows odds and this page shows them. */
  get shown() {
    return this.on && (this.app.role === "game_master" || this.app.table.view.settings.options.odds);
  }

  #key = (question, value) => `${this.app.table.view.seq} ${JSON.stringify([question.id, value])}`;

  of(question, value) {
    return this.shown && value !== undefined ? this.#known.get(this.#key(question, value)) : undefined;
  }

  want(questions) {
    const { app } = this;
    const seq = `${app.table.view.seq} `;
    for (const key of this.#known.keys()) if (!key.startsWith(seq)) this.#known.delete(key);
    this.#wanted = this.shown ? questions.flatMap((question) => {
      const { ask } = question;
      const now = valueOf(question, app.drafts.of(question));
      const values = { choose: () => open(ask).map(({ id }) => id), confirm: () => [true, false] }[ask.kind]?.() ?? (["dice", "line", "order"].includes(ask.kind) ? [] : [now]);
      // The chosen value comes first.
      return values.sort((a, b) => (b === now) - (a === now)).slice(0, 24).map((value) => ({ id: question.id, given: [[question.topic, value]], key: this.#key(question, value) }));
    }).filter(({ given, key }) => given[0][1] !== undefined && !this.#known.has(key)) : [];
    if (!this.#running) this.#run();
    else if (!this.#running.key.startsWith(seq)) app.wire.call("cancel", { id: this.#running.call }).catch(() => {});
  }

  async #run() {
    const { app } = this;
    for (let one; (one = this.#wanted.shift()) && app.wire.up;) {
      this.#running = { key: one.key, call: app.wire.next };
      this.#known.set(one.key, await app.wire.call("odds", { question: one.id, given: one.given }).catch(() => ({})));
      app.redraw();
      // The host accepts 20 requests a second.
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    this.#running = undefined;
  }
}

const number = (of) => (of > 0 && of < 0.005 ? "<1" : of > 0.995 && of < 1 ? ">99" : String(Math.round(of * 100)));
const percent = ({ decimal, low, high }) => `${low != null && number(low) !== number(high) ? `${number(low)}–${number(high)}` : number(decimal)} %`;

/** Returns the CSS class of an outcome, for its colour and pattern. */
const tone = ({ kind }) => ({ success: "good", failure: "bad" })[kind] ?? "mid";
const share = ({ outcomes }, one) => outcomes.reduce((all, outcome) => all + (tone(outcome) === one ? outcome.chance.decimal : 0), 0);

const bar = (odds) => share(odds, "mid") < 0.9999 && h("span.whole", { "aria-hidden": "true" }, ["good", "mid", "bad"].map((one) => share(odds, one) > 0 && h("i", { class: one, style: { "flex-grow": String(share(odds, one)) } })));

/** Returns the number that is shown beside an option. */
function headline(odds) {
  const good = odds.outcomes.filter(({ kind }) => kind === "success");
  return good.length === 1 ? `${percent(good[0].chance)} success` : share(odds, "mid") < 0.9999 ? `${number(share(odds, "good"))} % success` : `${odds.outcomes.length} outcomes`;
}

const chip = (odds) => odds?.outcomes?.length > 1 && h("span", { class: `chip${odds.exact ? "" : " estimate"}` }, bar(odds), h("span.small", odds.exact ? "" : "about ", headline(odds)));

function report(odds) {
  if (!(odds?.outcomes?.length > 1)) return null;
  const { exact, estimate, until = [], answers, outcomes, remaining } = odds;
  const assumed = answers.filter(({ source }) => source !== "given");
  const rest = outcomes.slice(8).reduce((all, { chance }) => all + chance.decimal, remaining.decimal);
  return h("div", { class: `odds${exact ? "" : " estimate"}` },
    h("p.head", h("span", until.length ? `until the next ${until.join(" or ")}` : "of this action"), h("span.badge", exact ? "exact" : estimate ? `estimate, ${estimate.samples} plays` : "estimate")),
    h("ul", outcomes.slice(0, 8).map((outcome) => h("li", { class: tone(outcome) }, h("b", percent(outcome.chance)), h("span", outcome.text.replaceAll("->", "→")))), rest > 0.0005 && h("li", h("b", `${number(rest)} %`), h("span", "other"))),
    assumed.length > 0 && h("details", h("summary", "taken for granted"), h("ul", assumed.map(({ who, topic, answer, source }) => h("li", h("span.soft", `${who}, ${topic}`), h("span", `${answer || "nothing"} (${source})`))))));
}

// Keys.

let typed = "";
let typedAt = 0;

/** Handles a key for the active question. Returns true if the key has a meaning for it. */
export function takeKey(app, question, { target, key, shiftKey }, as) {
  const typing = target.matches("input, textarea, select");
  if (key === "Enter" && !shiftKey) {
    const button = target.closest("button, summary, a");
    const value = valueOf(question, app.drafts.of(question));
    // Enter on an option chooses it; a second Enter sends the answer.
    if (value === undefined || (button && !(button.closest(".ask") && button.getAttribute("aria-pressed") === "true")) || (typing && !target.closest(".ask"))) return false;
    app.answer(question, value, as);
    return true;
  }
  if (typing || !/^\d$/.test(key)) return false;
  const card = document.querySelector(".ask.active");
  const find = (text) => card.querySelector(`[data-number="${Number(text)}"], [data-place="${text === "0" ? 9 : text - 1}"]`);
  // A second digit in time makes one number of both.
  typed = Date.now() - typedAt < 700 ? typed + key : key;
  const found = find(typed) ?? find(key);
  if (found !== find(typed)) typed = key;
  typedAt = Date.now();
  const { faces } = app.drafts.of(question);
  if (found?.matches("input")) found.focus();
  else if (faces?.length && typed.length > 1) app.drafts.put(question, { faces: [...faces.slice(0, -1), Number(typed)] });
  else if (found) {
    found.click();
    found.focus();
  } else card.querySelector(".stepper input")?.focus();
  app.redraw();
  return Boolean(found);
}

// People.

const round = (number) => String(Math.round(number * 100) / 100);
const turnOf = (app, id) => app.table.view.order?.turns.find(({ entity }) => entity === id);

/** Returns all entities with a number, a side or a position, in the order of play if there is one. */
export function people(app) {
  const rank = new Map(app.table.view.order?.turns.map(({ entity }, place) => [entity, place]));
  const at = ({ id }) => rank.get(id) ?? 1e6 + id;
  return [...app.table.entities.values()].filter(({ numbers, side, position }) => numbers || position || side).sort((a, b) => at(a) - at(b));
}

export const own = (app, { seat }) => app.seats.includes(seat);

/** Returns a CSS class for each side, the viewer's own first; it sets the colour and shape of the marks. */
export function sideClasses(app) {
  const all = [...app.table.entities.values()].filter(({ side }) => side);
  const titles = new Set([...all.filter((one) => own(app, one)), ...all].map(({ side }) => side.title));
  return new Map([...titles].map((title, place) => [title, ["ours", "theirs"][place] ?? "third"]));
}

const mark = (app, id) => h("span", { class: `mark ${app.sideClass(id)}` });

const inWords = ({ label, value, max, unit }) => `${label} ${round(value)}${max == null ? "" : ` of ${round(max)}`}${unit ? ` ${unit}` : ""}`;

/** Draws a number with a maximum as a bar, or a few points of harm as boxes. */
function meter(number, side) {
  const { value, max, harm } = number;
  const words = { role: "img", "aria-label": inWords(number) };
  if (harm && max <= 10) return h("span.pips", words, Array.from({ length: max }, (_, place) => h("i", { class: place < value ? "on" : "" })));
  return h("span", { class: `meter ${side}`, ...words }, h("i", { class: harm ? "harm" : "", style: { width: `${Math.min(100, Math.max(0, (100 * value) / (max || 1)))}%` } }));
}

/** Draws the numbers of entities without side and place, such as the Advantage of a fight. */
export function score(app) {
  const counted = people(app).filter(({ side, position }) => !side && !position);
  return counted.length > 0 && h("p.score", counted.map(({ id, title, numbers }) => h("span", { key: id }, `${title}: `, h("b", numbers.map(inWords).join(", ")))));
}

/** Draws the order of play as a strip that begins with the present turn; turns that are over are only counted. */
export function orderStrip(app) {
  const turns = app.table.view.order?.turns.filter(({ state }) => state !== "out") ?? [];
  const acted = turns.filter(({ state }) => state === "acted").length;
  return turns.length > 0 && h("ol.order", { "aria-label": "Order of play", tabindex: "0" }, acted > 0 && h("li.done", `${acted} acted ✓`),
    turns.map(({ entity, title, state, note }) => state !== "acted" && h("li", { class: `${app.sideClass(entity)} ${state}`, "aria-current": state === "now" ? "step" : null }, mark(app, entity), h("b", title), note && h("span.soft", `, ${note}`))));
}

/** Draws a list of people with their first number as a bar. Each row opens a sheet, unless the list is `still`. */
export const peopleList = (app, list, still) => h("ol.turns", list.map(({ id, title, numbers = [] }) => {
  const { state, at, note } = turnOf(app, id) ?? {};
  const first = numbers.find(({ max }) => max != null);
  const facts = [note, state === "out" && "out", ...numbers.filter((one) => one !== first).slice(0, still ? 2 : 4).map(inWords)].filter(Boolean);
  return h("li", { key: id, class: state ?? "" }, h(still ? "div.line-of" : "button.line-of", still ? {} : { onclick: () => app.openSheet(id) },
    h("span.n", at), mark(app, id), h("b", title, state === "acted" && " ✓", state === "now" && h("span.heard", ", acts now")),
    first && h("span.hp", meter(first, app.sideClass(id)), h("span", { "aria-hidden": "true" }, still ? round(first.value) : `${round(first.value)}/${round(first.max)}`)), h("span.facts", facts.join(" · "))));
}));

// Sheets.

export async function loadSheet(app, id) {
  const sheet = app.ui.sheet?.id === id ? app.ui.sheet : app.ui.sheet = { id };
  const told = await app.ask("sheet", { entity: id }, (error) => { sheet.problem = error.message; });
  sheet.rows = told?.rows ?? [];
  app.redraw();
}

async function why(app, sheet, name) {
  sheet.why = sheet.why?.name === name ? undefined : { name };
  if (sheet.why) sheet.why.told = (await app.ask("why", { entity: sheet.id, name }, (error) => { sheet.why.problem = error.message; }))?.explanation;
  app.redraw();
}

/** Draws the open sheet. A number with a name shows how it was computed. */
export function sheetCard(app) {
  const { sheet } = app.ui;
  if (!sheet) return null;
  const { id, rows, problem } = sheet;
  const list = people(app);
  const mine = list.filter((one) => own(app, one));
  const tabs = mine.some((one) => one.id === id) ? mine : list;
  return dialog("sheet", [mark(app, id), app.table.title(id)], () => { app.ui.sheet = undefined; app.redraw(); },
    tabs.length > 1 && h("div.row", tabs.map((one) => h("button", { key: one.id, "aria-pressed": one.id === id, onclick: () => app.openSheet(one.id) }, one.title))),
    h("ul.rows", rows?.map((row, place) => {
      const name = row.number?.name;
      const open = name && sheet.why?.name === name;
      const inner = [h("span.soft", row.label), h("b", row.number?.max != null && meter(row.number, app.sideClass(id)), row.text)];
      return h("li", { key: place }, name ? h("button", { "aria-expanded": open, onclick: () => why(app, sheet, name) }, inner) : h("div", inner), open && reasons(sheet.why));
    })), rows && !rows.length && h("p.soft", problem ?? "Nothing is written here."));
}

function reasons({ told, problem }) {
  if (!told) return h("p.why", problem ?? "…");
  const { title, value, terms, changes } = told;
  return h("div.why", h("p", title, " ", h("b", value)),
    h("ul", terms.map((term) => h("li", { style: { "padding-left": `${term.depth}rem` } }, h("span", term.label), h("b", term.value))), changes.map((change) => h("li", change.replaceAll("->", "→"))), !terms.length && !changes.length && h("li", "as it was at the start")));
}

// The map.

const up = ({ position }) => (position.h ? ` (${round(position.h)} up)` : "");

/** Draws the map, `width` pixels wide, with a table unless it is `still`, and a list of places with those who are there. */
export function map(app, width, still) {
  const all = people(app).filter(({ position }) => position);
  const points = all.filter(({ position }) => position.x != null);
  const places = new Map();
  for (const one of all) if (one.position.place) places.set(one.position.place.title, [...(places.get(one.position.place.title) ?? []), one]);
  return all.length > 0 && [points.length > 0 && drawing(app, points, width, still),
    points.length > 0 && !still && h("details", h("summary", "As a table"), h("table", h("thead", h("tr", ["Who", "Side", "x", "y"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", points.map((one) => h("tr", h("th", { scope: "row" }, one.title), h("td", one.side?.title), h("td", round(one.position.x)), h("td", round(one.position.y), up(one))))))),
    h("ul.places", [...places].map(([title, list]) => h("li", h("b", title), list.map((one) => h("span", mark(app, one.id), `${one.title}${up(one)} `)))))];
}

function drawing(app, points, width, still) {
  const font = still ? 26 : 13;
  const [xs, ys] = ["x", "y"].map((name) => points.map(({ position }) => position[name]));
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const room = Math.min(9 * font, width / 4);
  const scale = Math.min((width - room - 4 * font) / Math.max(right - left, 1), (still ? 190 : 300) / Math.max(bottom - top, 1));
  const across = (x) => (width - room - (right - left) * scale) / 2 + (x - left) * scale;
  // Marks and names that would overlap are moved up or down; the table has the true numbers.
  const taken = [];
  const put = (x, y, long) => {
    const free = (row) => !taken.some(([from, at, to]) => Math.abs(row - at) < 1.2 * font && x < to && x + long > from);
    const row = [0, 1, -1, 2, -2, 3, -3].map((rows) => y + 1.3 * font * rows).find(free) ?? y;
    taken.push([x, row, x + long]);
    return row;
  };
  const text = (x, y, words, props) => h("text", { x, y: y + font * 0.35, "font-size": font, ...props }, words);
  const spots = points.map((one) => {
    const x = across(one.position.x);
    return { one, x, y: put(x - font / 2, (bottom - one.position.y) * scale, font) };
  });
  const drawn = spots.map(({ one, x, y }) => {
    const side = app.sideOf(one);
    const name = one.title + up(one);
    const long = name.length * font * 0.6;
    const from = Math.max(0, Math.min(x + font, width - long));
    return [text(x, y, { ours: "●", theirs: "■", third: "▲" }[side] ?? "◆", { class: side || "nobody", "text-anchor": "middle" }),
      turnOf(app, one.id)?.state === "now" && h("circle", { cx: x, cy: y, r: font * 0.8 }), text(from, put(from, y, long), name)];
  });
  const rows = taken.map(([, row]) => row);
  const [high, low] = [Math.min(...rows) - font, Math.max(...rows) + font];
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((one) => (right - left) / one <= width / (font * 7)) ?? 1000;
  const lines = Array.from({ length: Math.floor(right / step) - Math.ceil(left / step) + 1 }, (_, place) => (Math.ceil(left / step) + place) * step).map((at, place) =>
    [h("path", { d: `M${across(at)} ${high}V${low}` }), text(across(at), low + font * 0.7, [at, !place && points[0].position.unit && ` ${points[0].position.unit}`], { class: "soft", "text-anchor": "middle" })]);
  return h("svg", { viewBox: `0 ${high} ${width} ${low - high + 1.5 * font}`, role: "img", "aria-label": points.map(({ title, position: { x, y } }) => `${title} at ${round(x)}, ${round(y)}`).join("; ") }, lines, drawn);
}

// The log.

/** Draws the faces of a roll; those that do not count are struck out. */
export const faces = ({ roll }) => roll.parts.map(({ faces: list, amount }) => list?.map(({ value, fate }) => h("span", { class: `die${fate ? " lost" : ""}` }, value, fate && h("span.heard", ` ${fate}`)))
  ?? h("span.plus", `${amount < 0 ? "−" : "+"} ${Math.abs(amount)} `));

/** Draws the result of a roll, in words with a sign. */
export function outcome({ roll: { kind, result } }) {
  const [tone, sign] = { success: ["good", "✓ "], failure: ["bad", "✕ "] }[kind] ?? [];
  // A number alone needs a word beside it.
  return (sign || result) && h("span", { class: tone }, sign, /[a-z]/i.test(result ?? "") ? result : [sign ? kind : "result", " ", result]);
}

const QUIET = ["answered", "changed", "spawned", "removed", "back"];

function event(line, who) {
  if (line.event !== "rolled") return h(QUIET.includes(line.event) ? "p.quiet" : "p", sentence(line, who));
  const sum = line.faces.length > 1 || line.total !== line.faces[0];
  return [h("p.quiet", line.label), h("p", faces(line), sum && `= ${line.total} `, needed(line) && `needs ${needed(line)} `, outcome(line))];
}

/** Draws the log, the newest first, with an item for each action. With `still` it has no button. */
export function log(app, most, still) {
  const groups = app.table.groups();
  const { reach } = app.table.view.undo;
  return [h("ol.log", { reversed: true }, groups.slice(-most).reverse().map(({ key, who, head, events, gone, seq }) => {
    const back = !still && !gone && head.length > 0 && seq > reach;
    return h("li", { key, class: `${app.sideOfTitle(who) || "none"}${gone ? " gone" : ""}` },
      h("div.head", who && h("p", h("b", who), ` ${head.join(", ")}`), back && h("button", { title: "Undo to here", "aria-label": `Undo to before ${who} ${head}`, onclick: () => app.askUndo(seq - 1) }, "↶")),
      events.map((line) => event(line, who)), gone && h("p.quiet.taken", "taken back"));
  })), !still && groups.length > most && h("button", { onclick: () => { app.ui.log += 40; app.redraw(); } }, "Earlier lines")];
}
