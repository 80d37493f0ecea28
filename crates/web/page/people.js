// Who is there and how they are: the order of play, people with their numbers, sheets and the reasons of numbers, the map, the log.

import { dialog } from "./app.js";
import { h } from "./dom.js";
import { needed } from "./table.js";

const round = (number) => String(Math.round(number * 100) / 100);
const turnOf = (app, id) => app.table.view.order?.turns.find(({ entity }) => entity === id);

/** Everybody and everything with a number, a side or a position, in the order of play where there is one. */
export function people(app) {
  const rank = new Map(app.table.view.order?.turns.map(({ entity }, place) => [entity, place]));
  const at = ({ id }) => rank.get(id) ?? 1e6 + id;
  return [...app.table.entities.values()].filter(({ numbers, side, position }) => numbers || position || side).sort((a, b) => at(a) - at(b));
}

export const own = (app, { seat }) => app.seats.includes(seat);

/** A class for each side, the viewer's own first: colour and shape of its marks follow from it. */
export function sideClasses(app) {
  const all = [...app.table.entities.values()].filter(({ side }) => side);
  const titles = new Set([...all.filter((one) => own(app, one)), ...all].map(({ side }) => side.title));
  return new Map([...titles].map((title, place) => [title, ["ours", "theirs"][place] ?? "third"]));
}

const mark = (app, id) => h("span", { class: `mark ${app.sideClass(id)}` });

const inWords = ({ label, value, max, unit }) => `${label} ${round(value)}${max == null ? "" : ` of ${round(max)}`}${unit ? ` ${unit}` : ""}`;

/** A number with a maximum as a bar, or as boxes for a few points of harm. */
function meter(number, side) {
  const { value, max, harm } = number;
  const words = { role: "img", "aria-label": inWords(number) };
  if (harm && max <= 10) return h("span.pips", words, Array.from({ length: max }, (_, place) => h("i", { class: place < value ? "on" : "" })));
  return h("span", { class: `meter ${side}`, ...words }, h("i", { class: harm ? "harm" : "", style: { width: `${Math.min(100, Math.max(0, (100 * value) / (max || 1)))}%` } }));
}

/** The order of play as a strip: who has acted is only counted, so that who acts now stands first. */
export function orderStrip(app) {
  const turns = app.table.view.order?.turns.filter(({ state }) => state !== "out") ?? [];
  const acted = turns.filter(({ state }) => state === "acted").length;
  return turns.length > 0 && h("ol.order", { "aria-label": "Order of play", tabindex: "0" }, acted > 0 && h("li.done", `${acted} acted ✓`),
    turns.map(({ entity, title, state, note }) => state !== "acted" && h("li", { class: `${app.sideClass(entity)} ${state}`, "aria-current": state === "now" ? "step" : null }, mark(app, entity), h("b", title), note && h("span.soft", `, ${note}`))));
}

/** People with their first number as a bar. Each row opens a sheet, unless the list is `still`. */
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
  sheet.rows = told?.rows ?? told?.lines.map(([label, text]) => ({ label, text })) ?? [];
  app.redraw();
}

async function why(app, sheet, name) {
  sheet.why = sheet.why?.name === name ? undefined : { name };
  if (sheet.why) sheet.why.told = (await app.ask("why", { entity: sheet.id, name }, (error) => { sheet.why.problem = error.message; }))?.explanation;
  app.redraw();
}

/** The open sheet. A number that has a name tells where it comes from. */
export function sheetCard(app) {
  const { sheet } = app.ui;
  if (!sheet) return null;
  const { id, rows, problem } = sheet;
  const list = people(app);
  const mine = list.filter((one) => own(app, one));
  const tabs = mine.some((one) => one.id === id) ? mine : list;
  return dialog("sheet", [mark(app, id), app.table.title(id)], () => { app.ui.sheet = undefined; app.redraw(); },
    tabs.length > 1 && h("div.tabs", tabs.map((one) => h("button", { key: one.id, "aria-pressed": one.id === id, onclick: () => app.openSheet(one.id) }, one.title))),
    h("ul.rows", rows?.map((row, place) => {
      const name = row.number?.name ?? row.name;
      const open = name && sheet.why?.name === name;
      const inner = [h("span.soft", row.label), h("b", row.number?.max != null && meter(row.number, app.sideClass(id)), row.text)];
      return h("li", { key: place }, name ? h("button", { "aria-expanded": open, onclick: () => why(app, sheet, name) }, inner) : h("div", inner), open && reasons(sheet.why));
    })), rows && !rows.length && h("p.soft", problem ?? "Nothing is written here."));
}

function reasons({ told, problem }) {
  if (!told) return h("p.why", problem ?? "…");
  const { title, value, terms, changes } = told;
  return h("div.why", h("p", title, " ", h("b", value)),
    h("ul", terms.map((term) => h("li", { style: { "padding-left": `${term.depth}rem` } }, h("span", term.label), h("b", term.value))), changes.map((change) => h("li", change)), !terms.length && !changes.length && h("li", "as it was at the start")));
}

// The map.

const up = ({ position }) => (position.h ? ` (${round(position.h)} up)` : "");

/** Where everybody is: a drawing `width` pixels wide, with a table unless it is `still`; and a list of those in places. */
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
  const size = font * 0.45;
  const edge = font * 2;
  const room = Math.min(9 * font, width / 4);
  const xs = points.map(({ position }) => position.x);
  const ys = points.map(({ position }) => position.y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min((width - room - 2 * edge) / Math.max(right - left, 1), (still ? 190 : 300) / Math.max(bottom - top, 1));
  const across = (x) => (width - room - (right - left) * scale) / 2 + (x - left) * scale;
  // Marks that would lie on each other are moved apart; the table has the true numbers.
  const spots = [];
  for (const one of points) {
    const spot = { one, side: app.sideOf(one), x: across(one.position.x), y: edge + (bottom - one.position.y) * scale };
    while (spots.some(({ x, y }) => Math.abs(x - spot.x) < 2.4 * size && Math.abs(y - spot.y) < font * 1.25)) spot.y += font * 1.3;
    spots.push(spot);
  }
  const tall = Math.max(...spots.map(({ y }) => y)) + edge + font;
  const taken = spots.map(({ x, y }) => [x - size, y - size, x + size, y + size]);
  const names = spots.map(({ one, x, y }) => {
    const text = one.title + up(one);
    const long = text.length * font * 0.58;
    for (const [anchor, dx, dy] of [["start", 2 * size, 0], ["end", -2 * size, 0], ["middle", 0, -1.3 * font], ["middle", 0, 1.3 * font], ["start", 2 * size, -font], ["start", 2 * size, font]]) {
      const from = x + dx - { start: 0, middle: long / 2, end: long }[anchor];
      const box = [from, y + dy - font * 0.6, from + long, y + dy + font * 0.5];
      if (box[0] < 0 || box[2] > width || box[1] < 0 || taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
      taken.push(box);
      return h("text", { x: x + dx, y: y + dy + font * 0.35, "text-anchor": anchor, "font-size": font }, text);
    }
    return null; // no room: the table has the name
  });
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((one) => (right - left) / one <= width / (font * 7)) ?? 1000;
  const lines = Array.from({ length: Math.floor(right / step) - Math.ceil(left / step) + 1 }, (_, place) => (Math.ceil(left / step) + place) * step).map((at, place) =>
    [h("path", { d: `M${across(at)} 0V${tall - font * 1.4}` }), h("text.soft", { x: across(at), y: tall - font * 0.3, "text-anchor": "middle", "font-size": font }, at, !place && points[0].position.unit && ` ${points[0].position.unit}`)]);
  return h("svg", { viewBox: `0 0 ${width} ${tall}`, role: "img", "aria-label": points.map(({ title, position: { x, y } }) => `${title} at ${round(x)}, ${round(y)}`).join("; ") },
    lines, spots.map(({ one, side, x, y }) => h("g", { class: side || "nobody" },
      { ours: h("circle", { cx: x, cy: y, r: size }), theirs: h("path", { d: `M${x - size} ${y - size}h${2 * size}v${2 * size}h${-2 * size}z` }), third: h("path", { d: `M${x} ${y - size}l${size} ${2 * size}h${-2 * size}z` }) }[side] ?? h("path", { d: `M${x} ${y - size}l${size} ${size}l${-size} ${size}l${-size} ${-size}z` }),
      turnOf(app, one.id)?.state === "now" && h("circle.now", { cx: x, cy: y, r: size * 1.7 }))), names);
}

// The log.

/** The faces of a roll; those that do not count are struck through. */
export const faces = ({ roll }) => roll.parts.map(({ faces: list, amount }) => list?.map(({ value, fate }) => h("span", { class: `die${fate ? " lost" : ""}` }, value, fate && h("span.heard", ` ${fate}`)))
  ?? h("span.plus", `${amount < 0 ? "−" : "+"} ${Math.abs(amount)} `));

/** What came of a roll, in words with a sign. */
export function outcome({ roll: { kind, result } }) {
  const [tone, sign] = { success: ["good", "✓ "], failure: ["bad", "✕ "] }[kind] ?? [];
  return (sign || result) && h("span", { class: tone }, sign, result ?? kind);
}

function event(line, who) {
  const quietly = (...kids) => h("p.quiet", kids);
  switch (line.event) {
    case "rolled": {
      const sum = line.faces.length > 1 || line.total !== line.faces[0];
      return [quietly(line.label), h("p", faces(line), sum && `= ${line.total} `, needed(line) && `needs ${needed(line)} `, outcome(line))];
    }
    case "answered": return quietly(line.about !== who && line.about && `${line.about}: `, line.text);
    case "changed": return quietly(`${line.title} ${line.label} ${line.text.replaceAll("->", "→")}`, line.reason && ` (${line.reason})`);
    case "spawned": return quietly(`${line.title} is here now`);
    case "removed": return quietly(`${line.title} is gone`);
    case "back": return quietly(line.text);
    case "edited": return h("p", "By hand: ", line.text);
    default: return h("p", line.text ?? line.reason);
  }
}

/** The log, the newest first, an item for each action. `still` has no button. */
export function log(app, most, still) {
  const groups = app.table.groups();
  const { allowed } = app.table.view.undo;
  return [h("ol.log", { reversed: true }, groups.slice(-most).reverse().map(({ key, who, head, events, gone, seq }, place) => {
    const back = !still && allowed && !gone && head.length > 0 && seq !== undefined && (app.role === "game_master" || !place);
    return h("li", { key, class: `${app.sideOfTitle(who) || "none"}${gone ? " gone" : ""}` },
      h("div.head", who && h("p", h("b", who), ` ${head.join(", ")}`), back && h("button", { title: "Undo to here", "aria-label": `Undo to before ${who} ${head}`, onclick: () => app.askUndo(seq - 1) }, "↶")),
      events.map((line) => event(line, who)), gone && h("p.quiet.taken", "taken back"));
  })), !still && groups.length > most && h("button", { onclick: () => { app.ui.log += 40; app.redraw(); } }, "Earlier lines")];
}
