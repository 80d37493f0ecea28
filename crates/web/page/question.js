// Questions as cards: what is asked, the options with their odds, the ways to answer, and their keys.

import { h } from "./dom.js";

/** A name of the question that outlives its number, which is another one after a restart. */
export const nameOf = ({ seat, topic, about, why, ask }) => [seat, topic, about, why, ask.kind].join("|");

const open = ({ options }) => options.filter(({ enabled }) => enabled);
const sum = (points) => Object.values(points).reduce((all, one) => all + one, 0);
const labels = (ids, { options }) => ids.map((id) => options.find((option) => option.id === id)?.label ?? id).join(", ");
const without = (list, id) => list.filter((one) => one !== id);

/**
 * What can be asked. `fresh` makes the first draft of a proposal, `value` the answer (undefined while something is missing), `missing`
 * says what that is, `words` is the answer in words, and `body` draws the ways to give it.
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

/** The answers that are not given yet, by question. They outlive the page in the store of its tab. */
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
    return this.#all[nameOf(question)] ?? kinds[question.ask.kind].fresh(question.proposal ?? undefined, question.ask);
  }

  put(question, draft) {
    this.#store({ ...this.#all, [nameOf(question)]: draft });
  }

  /** Forgets all but those of the open questions. */
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

/** Splits the ids of rules off a sentence: `which action? (RB1-057)`. */
export function cutRules(text) {
  const [, start, rules] = /^(.*?)\s*\(((?:[A-Z][A-Z0-9]*-[A-Z0-9-]+(?:, )?)+)\)$/s.exec(text) ?? [null, text, ""];
  return [start, rules];
}

/** Draws a question. Digits and Enter go to the `active` card; `as` is the seat that a game master answers for. */
export function card(app, question, { active, as }) {
  const { ask, seat, sealed, title, about, proposal } = question;
  const kind = kinds[ask.kind];
  const draft = app.drafts.of(question);
  const value = valueOf(question, draft);
  const key = nameOf(question);
  const id = `q${question.id.action}-${question.id.ordinal}`;
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
      h("span.side", proposal === option.id && h("span.proposed", "proposed"), chip(odds)), option.note && h("span.note", option.note)), pressed && report(odds));
  }));
  const odds = app.odds.of(question, value);
  return h("section", { key, class: `panel ask${active ? " active" : ""}`, "aria-labelledby": id, "data-question": key, onfocusin: () => { app.ui.active = key; if (!active) app.redraw(); } },
    h("header", h("h2", { id, tabindex: "-1" }, title && !text.includes(title) && h("span", { class: app.sideClass(about) }, `${title}: `), text),
      h("p.small.soft", [(app.seats.length > 1 || as) && `for ${app.seatName(seat)}`, sealed && "sealed until all have answered", rules].filter(Boolean).join(" · "))),
    kind.body({ ask, draft, change, value, rows, name: text }),
    shut(ask.options?.filter(({ enabled }) => !enabled) ?? []),
    h("div.play", odds?.outcomes?.length > 1 && h("div.brief", ["choose", "confirm"].includes(ask.kind) ? h("p", h("span", headline(odds)), h("span.soft", odds.exact ? "exact" : "estimate")) : report(odds), bar(odds)),
      refusal && h("p.refusal", { role: "alert" }, refusal),
      h("button.go", { "aria-disabled": off || value === undefined, onclick: () => off || value === undefined || app.answer(question, value, as) },
        value !== undefined && as ? [`Answer for ${app.seatName(as)}`, h("small", words)] : words.length > 60 ? `${words.slice(0, 58)}…` : words),
      app.undoButton(active)));
}

/** Options and acts that are closed, with their reasons as text; equal reasons once. */
export function shut(list) {
  const reasons = new Map();
  for (const { reason, label, title } of list) reasons.set(reason, [...(reasons.get(reason) ?? []), label ?? title]);
  return list.length > 0 && h("details.closed", h("summary", `${list.length} closed now: why`), h("ul", [...reasons].map(([reason, names]) => {
    const [text, rules] = cutRules(reason ?? "not now");
    return h("li", h("button", { "aria-disabled": "true" }, h("b", names.join(", ")), h("span.note", text, rules && h("span.rule", ` ${rules}`))));
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

/** The odds of the answers that the page shows, asked for one after the other and forgotten with the step. */
export class Odds {
  #known = new Map();
  #wanted = [];
  #running;
  on = true;

  constructor(app) {
    this.app = app;
  }

  #key = (question, value) => `${this.app.table.view.seq} ${JSON.stringify([question.id, value])}`;

  of(question, value) {
    return this.on && value !== undefined ? this.#known.get(this.#key(question, value)) : undefined;
  }

  want(questions) {
    const { app } = this;
    const seq = `${app.table.view.seq} `;
    for (const key of this.#known.keys()) if (!key.startsWith(seq)) this.#known.delete(key);
    this.#wanted = this.on ? questions.flatMap((question) => {
      const { ask } = question;
      const now = valueOf(question, app.drafts.of(question));
      const values = { choose: () => open(ask).map(({ id }) => id), confirm: () => [true, false] }[ask.kind]?.() ?? (["dice", "line", "order"].includes(ask.kind) ? [] : [now]);
      // What is chosen comes first.
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
      // The host takes 20 requests a second.
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    this.#running = undefined;
  }
}

const number = (of) => (of > 0 && of < 0.005 ? "<1" : of > 0.995 && of < 1 ? ">99" : String(Math.round(of * 100)));
const percent = ({ decimal, low, high }) => `${low != null && number(low) !== number(high) ? `${number(low)}–${number(high)}` : number(decimal)} %`;

/** The class of an outcome: its colour and pattern. */
const tone = ({ kind }) => ({ success: "good", failure: "bad" })[kind] ?? "mid";
const share = ({ outcomes }, one) => outcomes.reduce((all, outcome) => all + (tone(outcome) === one ? outcome.chance.decimal : 0), 0);

const bar = (odds) => h("span.whole", { "aria-hidden": "true" }, ["good", "mid", "bad"].map((one) => share(odds, one) > 0 && h("i", { class: one, style: { "flex-grow": String(share(odds, one)) } })));

/** The one number beside an option. */
function headline(odds) {
  const good = odds.outcomes.filter(({ kind }) => kind === "success");
  return good.length === 1 ? `${percent(good[0].chance)} success` : share(odds, "mid") < 0.9999 ? `${number(share(odds, "good"))} % success` : `${odds.outcomes.length} ways`;
}

const chip = (odds) => odds?.outcomes?.length > 1 && h("span", { class: `chip${odds.exact ? "" : " estimate"}` }, bar(odds), h("span.small", odds.exact ? "" : "about ", headline(odds)));

function report(odds) {
  if (!odds?.outcomes?.length) return null;
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

/** Takes a key for the active question. Returns whether it was taken. */
export function takeKey(app, question, { target, key, shiftKey }, as) {
  const typing = target.matches("input, textarea, select");
  if (key === "Enter" && !shiftKey) {
    const button = target.closest("button, summary, a");
    const value = valueOf(question, app.drafts.of(question));
    // Enter on an option chooses it; once more, it is accepted.
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
