// Questions as cards: what is asked, the options with their odds, the ways to give an answer, and its keys.

import { h } from "./dom.js";

const clock = 700; // how long a second digit may take, in milliseconds

/** A name of the question that outlives its number, which is another one after a restart. */
export const nameOf = (question) => [question.seat, question.topic, question.about, question.why, question.ask.kind].join("|");

const open = (ask) => ask.options.filter((option) => option.enabled);

/** The answers that are not given yet, by question; kept in the store of this tab. */
export class Drafts {
  #drafts;
  #name;

  constructor(name) {
    this.#name = `drafts ${name}`;
    try {
      this.#drafts = JSON.parse(sessionStorage.getItem(this.#name)) ?? {};
    } catch {
      this.#drafts = {};
    }
  }

  /** The draft of a question: what was chosen, or else what is proposed. */
  of(question) {
    return this.#drafts[nameOf(question)] ?? fresh(question);
  }

  put(question, draft) {
    this.#drafts[nameOf(question)] = draft;
    this.#store();
  }

  /** Forgets all but those of the open questions. */
  keep(questions) {
    const names = new Set(questions.map(nameOf));
    const kept = Object.entries(this.#drafts).filter(([name]) => names.has(name));
    if (kept.length === Object.keys(this.#drafts).length) return;
    this.#drafts = Object.fromEntries(kept);
    this.#store();
  }

  #store() {
    try {
      sessionStorage.setItem(this.#name, JSON.stringify(this.#drafts));
    } catch {
      // A private window without a store: the draft lasts as long as the page.
    }
  }
}

function fresh({ ask, proposal }) {
  const given = proposal ?? undefined;
  switch (ask.kind) {
    case "choose": {
      const options = open(ask);
      if (given !== undefined && !ask.options.some(({ id }) => id === given)) return { other: String(given) };
      return { one: given ?? (options.length === 1 && !ask.other ? options[0].id : undefined) };
    }
    case "choose_many": case "order": return { list: given ?? [] };
    case "number": return { number: given ?? (ask.min === ask.max ? ask.min : undefined) };
    case "allot": return { points: given ?? {} };
    case "confirm": return { one: given };
    case "dice": return { faces: [] };
    default: return { text: given ?? "" };
  }
}

/** The value that `answer` takes, or undefined while something is missing. */
export function valueOf({ ask }, draft) {
  switch (ask.kind) {
    case "choose": return draft.other ? draft.other : draft.one;
    case "confirm": return draft.one;
    case "choose_many": return draft.list.length >= ask.min && draft.list.length <= ask.max ? draft.list : undefined;
    case "order": return [...draft.list, ...open(ask).map(({ id }) => id).filter((id) => !draft.list.includes(id))];
    case "number": return Number.isInteger(draft.number) && draft.number >= ask.min && draft.number <= ask.max ? draft.number : undefined;
    case "allot": {
      const sum = given(draft);
      return sum >= ask.least && sum <= ask.total ? Object.fromEntries(Object.entries(draft.points).filter(([, points]) => points > 0)) : undefined;
    }
    case "dice": return draft.faces.length === ask.sides.length && !draft.faces.includes(undefined) ? draft.faces : undefined;
    default: return draft.text.length <= ask.max ? draft.text : undefined;
  }
}

const given = (draft) => Object.values(draft.points).reduce((sum, points) => sum + points, 0);

/** An answer in words, for the button that gives it. */
function words({ ask }, value) {
  const label = (id) => ask.options?.find((option) => option.id === id)?.label ?? String(id);
  if (value === undefined) return "";
  switch (ask.kind) {
    case "choose": return label(value);
    case "confirm": return value ? "Yes" : "No";
    case "choose_many": return value.length ? value.map(label).join(", ") : "None";
    case "order": return value.map(label).join(", ");
    case "allot": return Object.entries(value).map(([id, points]) => `${label(id)} ${points}`).join(", ") || "Nothing";
    case "dice": return value.join(", ");
    default: return String(value) || "Nothing";
  }
}

/** What is still missing, as a sentence. */
function missing({ ask }, draft) {
  switch (ask.kind) {
    case "number": return `A number from ${ask.min} to ${ask.max}`;
    case "choose_many": return ask.min === ask.max ? `Choose ${ask.min}` : draft.list.length < ask.min ? `Choose ${ask.min} or more` : `Choose ${ask.max} at most`;
    case "allot": return given(draft) > ask.total ? `${given(draft) - ask.total} too many` : `${ask.least - given(draft)} more to give out`;
    case "dice": return `${ask.sides.length - draft.faces.length} more to type`;
    case "line": return `${draft.text.length - ask.max} characters too many`;
    default: return "Choose first";
  }
}

/**
 * Draws a question. `app` has `drafts`, `odds`, `wire`, `ui` and the commands; `active` says whether digits and Enter go to this card;
 * `as` is the seat that a game master answers for.
 */
export function card(app, question, { active, as }) {
  const { ask } = question;
  const draft = app.drafts.of(question);
  const value = valueOf(question, draft);
  const key = nameOf(question);
  const id = `q${question.id.action}-${question.id.ordinal}`;
  const change = (next) => {
    app.drafts.put(question, { ...draft, ...next });
    app.ui.refusals.delete(key);
    app.ui.active = key;
    app.redraw();
  };
  const accept = () => app.answer(question, value, as);
  const off = !app.wire.up || app.ui.sending.has(key) || app.table.view.state.is !== "asking" || (app.table.view.settings.paused && app.role === "seat");
  const shut = ask.options?.filter((option) => !option.enabled) ?? [];
  const person = question.title && !question.why.startsWith(question.title) ? question.title : "";
  const refusal = app.ui.refusals.get(key);
  const { text, rules } = cutRules(question.why);
  return h("section", { key, class: `panel ask${active ? " active" : ""}`, "aria-labelledby": id, "data-question": key, onfocusin: () => { if (app.ui.active !== key) { app.ui.active = key; app.redraw(); } } },
    h("header", null,
      h("h2", { id, tabindex: "-1", class: "question" }, person && h("span", { class: `who ${app.sideClass(question.about)}` }, `${person}: `), text),
      h("p.small.soft", [app.seats.length > 1 || as ? `for ${app.seatName(question.seat)}` : "", question.sealed ? "sealed: nobody sees the answer before all have given theirs" : "", rules].filter(Boolean).join(" · "))),
    body(app, question, draft, change, value),
    shut.length > 0 && closed(shut, key),
    h("div.play",
      brief(app, question, draft, value),
      refusal && h("p.refusal", { role: "alert" }, refusal),
      h("button.go", { "aria-disabled": String(off || value === undefined), onclick: () => !off && value !== undefined && accept() },
        value === undefined ? missing(question, draft) : as ? `Answer for ${app.seatName(as)}` : short(words(question, value)),
        value !== undefined && as && h("small", short(words(question, value)))),
      app.undoButton(active)));
}

const short = (text) => (text.length > 60 ? `${text.slice(0, 58)}…` : text);

/** Splits the ids of rules off the end of a sentence: `which action? (RB1-057)`. */
export function cutRules(text) {
  const found = /^(.*?)\s*\(((?:[A-Z][A-Z0-9]*-[A-Z0-9-]+(?:, )?)+)\)\s*$/s.exec(text);
  return found ? { text: found[1], rules: found[2] } : { text, rules: "" };
}

function closed(options, key) {
  const reasons = Map.groupBy ? Map.groupBy(options, (option) => option.reason ?? "") : options.reduce((map, option) => map.set(option.reason ?? "", [...(map.get(option.reason ?? "") ?? []), option]), new Map());
  return h("details.closed", { key: `closed ${key}` },
    h("summary", `${options.length} closed now: why`),
    h("ul", [...reasons].map(([reason, same]) => {
      const { text, rules } = cutRules(reason);
      return h("li", h("button", { "aria-disabled": "true" },
        h("b", same.map(({ label }) => label).join(", ")), h("span.note", text || "not now", rules && h("span.rule", ` ${rules}`))));
    })));
}

function body(app, question, draft, change, value) {
  const { ask } = question;
  const name = question.why;
  switch (ask.kind) {
    case "choose": return [
      h("ul.options", { "aria-label": name }, open(ask).map((option, place) => optionRow(app, question, option, place, draft.one === option.id && !draft.other,
        () => change({ one: option.id, other: "" })))),
      ask.other && h("label.line", "Something else",
        h("input", { type: "text", maxlength: 200, value: draft.other ?? "", oninput: ({ target }) => change({ other: target.value }) })),
    ];
    case "confirm": return h("ul.options.two", { "aria-label": name },
      [[true, "Yes"], [false, "No"]].map(([id, label], place) => optionRow(app, question, { id, label }, place, draft.one === id, () => change({ one: id }))));
    case "choose_many": return h("ul.options.many", { "aria-label": name }, open(ask).map((option, place) =>
      optionRow(app, question, option, place, draft.list.includes(option.id), () => change({
        list: draft.list.includes(option.id) ? draft.list.filter((id) => id !== option.id) : ask.max === 1 ? [option.id] : [...draft.list, option.id],
      }))));
    case "order": return [
      h("p.hint", "Tap in the order you want. Whoever is left out follows as listed."),
      h("ul.options.ranks", { "aria-label": name }, open(ask).map((option, place) => {
        const rank = draft.list.indexOf(option.id);
        return optionRow(app, question, option, place, rank >= 0,
          () => change({ list: rank >= 0 ? draft.list.filter((id) => id !== option.id) : [...draft.list, option.id] }), String(value.indexOf(option.id) + 1));
      })),
    ];
    case "number": return numberKeys(ask, draft.number, (number) => change({ number }), name, question);
    case "allot": {
      const sum = given(draft);
      return [
        h("p.hint", { "aria-live": "polite" }, `${sum} of ${ask.total} given out${ask.least && ask.least !== ask.total ? `, at least ${ask.least}` : ""}`),
        h("ul.allot", open(ask).map((option, place) => {
          const points = draft.points[option.id] ?? 0;
          const most = Math.min(option.max ?? ask.total, points + ask.total - sum);
          const set = (next) => change({ points: { ...draft.points, [option.id]: Math.max(0, Math.min(next, most)) } });
          return h("li", h("span", h("b", option.label), option.note && h("span.note", option.note)),
            stepper(option.label, points, 0, most, set, { "data-place": place }));
        })),
      ];
    }
    case "dice": return diceKeys(app, ask, draft, change);
    default: return h("label.line", h("span.heard", name),
      h("textarea", { rows: ask.max > 80 ? 3 : 1, maxlength: ask.max, value: draft.text, oninput: ({ target }) => change({ text: target.value }) }));
  }
}

function optionRow(app, question, option, place, on, choose, mark) {
  const odds = question.ask.kind === "choose" || question.ask.kind === "confirm" ? app.odds.of(question, option.id) : undefined;
  const proposed = question.proposal === option.id;
  return h("li", { key: String(option.id) },
    h("button", { "aria-pressed": String(on), "data-place": place, onclick: choose },
      h("span.dot", { "aria-hidden": "true" }, mark ?? (on ? "✓" : "")),
      h("b", option.label),
      h("span.side", proposed && h("span.proposed", "proposed"), odds && chip(odds)),
      option.note && h("span.note", option.note)),
    on && odds && odds.outcomes && report(odds));
}

/** Keys for a small range, otherwise a stepper. */
function numberKeys(ask, number, set, name) {
  const count = ask.max - ask.min + 1;
  if (count <= 12) {
    return h("div.keys", { role: "group", "aria-label": name }, Array.from({ length: count }, (_, place) => ask.min + place).map((value) =>
      h("button", { key: `n${value}`, "data-number": value, "aria-pressed": String(value === number), onclick: () => set(value) }, value)));
  }
  return h("div.line", h("span.hint", `from ${ask.min} to ${ask.max}`), stepper(name, number, ask.min, ask.max, set));
}

export function stepper(name, number, min, max, set, more) {
  const at = number ?? min;
  return h("span.stepper",
    h("button", { "aria-label": `${name}: one less`, "aria-disabled": String(at <= min), onclick: () => set(Math.max(min, at - 1)) }, "−"),
    h("input", { type: "text", inputmode: min < 0 ? "text" : "numeric", "aria-label": `${name}, ${min} to ${max}`, value: number === undefined ? "" : String(number), ...more,
      oninput: ({ target }) => set(/^-?\d+$/.test(target.value.trim()) ? Number(target.value) : undefined) }),
    h("button", { "aria-label": `${name}: one more`, "aria-disabled": String(at >= max), onclick: () => set(Math.min(max, number === undefined ? min : at + 1)) }, "+"));
}

/** The faces of a die as they are typed: 1 to the number of sides. */
export function diceKeys(app, ask, draft, change) {
  const { sides } = ask;
  const next = draft.faces.length;
  const put = (face) => change({ faces: [...draft.faces, face].slice(0, sides.length) });
  const roll = (count) => 1 + Math.floor((crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32) * count);
  const side = sides[Math.min(next, sides.length - 1)];
  return [
    h("p.hint", `Roll ${ask.dice} and type what you see.`),
    h("div.faces", { "aria-live": "polite" },
      sides.map((size, place) => h("span", { class: `die${place === next ? " now" : ""}` }, draft.faces[place] ?? h("span.small.soft", `d${size}`)))),
    next < sides.length && (side <= 20
      ? h("div.keys", { role: "group", "aria-label": `Die ${next + 1} of ${sides.length}, a d${side}` }, Array.from({ length: side }, (_, place) => place + 1).map((face) =>
        h("button", { key: `f${face}`, "data-number": face, onclick: () => put(face) }, face)))
      : h("label.line", `Die ${next + 1} of ${sides.length}, a d${side}`,
        h("input", { type: "text", inputmode: "numeric", key: `die${next}`, onchange: ({ target }) => /^\d+$/.test(target.value) && Number(target.value) >= 1 && Number(target.value) <= side && put(Number(target.value)) }))),
    h("div.row",
      h("button", { onclick: () => change({ faces: [...draft.faces, ...sides.slice(next).map(roll)] }), "aria-disabled": String(next >= sides.length) }, "Roll for me"),
      h("button", { "aria-disabled": String(next === 0), onclick: () => change({ faces: draft.faces.slice(0, -1) }) }, "Take the last one back")),
  ];
}

// The odds.

/** Asks for the odds of each option of the open questions, one request at a time, and forgets them with their question. */
export class Odds {
  #known = new Map();
  #busy = false;
  #wanted = [];
  #running;
  on = true;

  constructor(app) {
    this.app = app;
  }

  #key(question, value) {
    return `${this.app.table.view.seq}|${JSON.stringify(question.id)}|${JSON.stringify(value)}`;
  }

  /** What is known of an answer: a report, `{}` while it is worked out, or nothing. */
  of(question, value) {
    if (!this.on || value === undefined) return undefined;
    return this.#known.get(this.#key(question, value));
  }

  /** Asks for what the page shows now; what nobody looks at any more is cancelled. */
  want(questions) {
    if (!this.on || this.app.role === "watcher") return;
    const seq = `${this.app.table.view.seq}|`;
    for (const key of this.#known.keys()) if (!key.startsWith(seq)) this.#known.delete(key);
    this.#wanted = [];
    for (const question of questions) {
      const { ask } = question;
      const draft = valueOf(question, this.app.drafts.of(question));
      const values = ask.kind === "choose" ? open(ask).map(({ id }) => id) : ask.kind === "confirm" ? [true, false]
        : ["number", "choose_many", "allot"].includes(ask.kind) ? [draft] : [];
      // What is chosen now comes first.
      values.sort((a, b) => (b === draft) - (a === draft));
      for (const value of values.slice(0, 24)) {
        if (value !== undefined && !this.#known.has(this.#key(question, value))) this.#wanted.push({ question, value, key: this.#key(question, value) });
      }
    }
    if (this.#running && !this.#running.key.startsWith(seq)) {
      this.app.wire.call("cancel", { id: this.#running.id }).catch(() => {});
      this.#running = undefined;
    }
    this.#next();
  }

  async #next() {
    if (this.#busy) return;
    this.#busy = true;
    for (let one; (one = this.#wanted.shift()) && this.app.wire.up;) {
      try {
        this.#running = { key: one.key, id: this.app.wire.next };
        const report = await this.app.wire.call("odds", { question: one.question.id, given: [[one.question.topic, one.value]] });
        this.#known.set(one.key, report);
      } catch {
        this.#known.set(one.key, {});
      }
      this.#running = undefined;
      this.app.redraw();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    this.#busy = false;
  }
}

const percent = ({ decimal, low, high, fraction }, exact) => {
  const number = (share) => (share > 0 && share < 0.005 ? "<1" : share > 0.995 && share < 1 ? ">99" : String(Math.round(share * 100)));
  if (!exact && fraction === undefined && low !== undefined && low !== null && number(low) !== number(high)) return `${number(low)}–${number(high)} %`;
  return `${number(decimal)} %`;
};

/** Classes of the outcomes, for bars: by kind if the rules say so, otherwise by rank. */
function parts(odds) {
  const ranks = ["one", "two", "three", "four"];
  return odds.outcomes.map((outcome, place) => ({ ...outcome, tone: { success: "good", failure: "bad" }[outcome.kind] ?? (outcome.kind ? "mid" : ranks[Math.min(place, 3)]) }));
}

function bar(odds) {
  return h("span.whole", { "aria-hidden": "true" }, parts(odds).map(({ chance, tone }) => h("i", { class: tone, style: { "flex-grow": String(chance.decimal) } })));
}

/** The one number that stands beside an option: success, or else a hit, or else how many ways it can end. */
function headline(odds) {
  const kinds = odds.outcomes.filter(({ kind }) => kind === "success");
  if (odds.outcomes.some(({ kind }) => kind === "success" || kind === "failure")) {
    if (kinds.length === 1) return `${percent(kinds[0].chance, odds.exact)} success`;
    const sum = kinds.reduce((all, { chance }) => all + chance.decimal, 0);
    return `${percent({ decimal: sum }, odds.exact)} success`;
  }
  const hits = Object.values(odds.hits ?? {});
  if (hits.length) return `${percent(hits[0], odds.exact)} hit`;
  return odds.outcomes.length > 1 ? `${odds.outcomes.length} ways` : "";
}

function chip(odds) {
  if (!odds.outcomes || odds.outcomes.length < 2) return null;
  return h("span", { class: `chip${odds.exact ? "" : " estimate"}` }, bar(odds), h("span.small", `${odds.exact ? "" : "about "}${headline(odds)}`));
}

function report(odds) {
  if (!odds.outcomes.length) return null;
  const shown = parts(odds).slice(0, 8);
  const rest = odds.outcomes.slice(8).reduce((sum, { chance }) => sum + chance.decimal, odds.remaining?.decimal ?? 0);
  const assumed = odds.answers.filter(({ source }) => source !== "given");
  return h("div", { class: `odds${odds.exact ? "" : " estimate"}` },
    h("p.head", h("span", odds.until?.length ? `until the next ${odds.until.join(" or ")}` : "of this action"), h("span.badge", odds.exact ? "exact" : odds.estimate ? `estimate, ${odds.estimate.samples} plays` : "estimate")),
    h("ul", shown.map(({ chance, text, tone }) => h("li", { class: tone }, h("b", percent(chance, odds.exact)), h("span", plain(text)))),
      rest > 0.0005 && h("li", h("b", percent({ decimal: rest }, true)), h("span", "other"))),
    assumed.length > 0 && h("details.small", h("summary", `takes ${assumed.length === 1 ? "an answer" : `${assumed.length} answers`} for granted`),
      h("ul", assumed.slice(0, 20).map(({ who, topic, answer, source }) => h("li", h("span.soft", `${who}, ${topic}`), h("span", `${answer || "nothing"} (${source})`))))));
}

const plain = (text) => text.replaceAll("->", "→");

/** Above the button: the odds of what is chosen, once more, so that they are never below the edge of the screen. */
function brief(app, question, draft, value) {
  const odds = app.odds.of(question, value);
  if (!odds?.outcomes || odds.outcomes.length < 2) return null;
  const { ask } = question;
  return h("div.brief",
    ["number", "choose_many", "allot"].includes(ask.kind) ? report(odds) : h("p", h("span", headline(odds)), h("span.soft", odds.exact ? "exact" : "estimate")),
    bar(odds));
}

// Keys.

let typed = "";
let typedAt = 0;

/** Takes a key for the active question. Returns whether it was taken. */
export function takeKey(app, question, event, as) {
  const { target, key } = event;
  const typing = target.matches?.("input, textarea, select");
  const draft = app.drafts.of(question);
  const value = valueOf(question, draft);
  if (key === "Enter" && !event.shiftKey) {
    const option = target.closest?.("button, summary, a");
    // Enter on an option chooses it; once more, it is accepted.
    if (option && !(option.closest(".ask") && option.getAttribute("aria-pressed") === "true")) return false;
    if (typing && !target.closest(".ask")) return false;
    if (value === undefined) return false;
    app.answer(question, value, as);
    return true;
  }
  if (typing || !/^\d$/.test(key)) return false;
  typed = Date.now() - typedAt < clock ? typed + key : key;
  typedAt = Date.now();
  const card = document.querySelector(`[data-question="${CSS.escape(nameOf(question))}"]`);
  const attribute = question.ask.kind === "number" || question.ask.kind === "dice" ? "number" : "place";
  const find = (text) => {
    const number = attribute === "place" ? (text === "0" ? 9 : Number(text) - 1) : text === "0" && !card.querySelector('[data-number="0"]') ? 10 : Number(text);
    return card?.querySelector(`[data-${attribute}="${number}"]`);
  };
  const found = (typed.length > 1 && find(typed)) || find(key);
  if (!found) {
    const input = question.ask.kind === "number" && card?.querySelector(".stepper input");
    if (input) {
      app.drafts.put(question, { number: Number(typed) });
      app.redraw();
      return true;
    }
    return false;
  }
  if (!(typed.length > 1 && find(typed))) typed = key;
  if (found.matches("input")) found.focus();
  else if (question.ask.kind === "dice" && typed.length > 1) {
    // The second digit of one face, not a second die.
    app.drafts.put(question, { faces: [...draft.faces.slice(0, -1), Number(typed)] });
    typed = "";
    app.redraw();
  } else if (question.ask.kind === "dice") {
    const size = question.ask.sides[draft.faces.length];
    if (Number(key) * 10 > size) typed = "";
    found.click();
  } else {
    found.click();
    if (found.matches("[aria-pressed]")) found.focus({ preventScroll: false });
  }
  return true;
}
