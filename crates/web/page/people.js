// Who is there and how they are: the order of play, people with their numbers, sheets with the reasons of numbers, the map, and the log.

import { dialog } from "./app.js";
import { h } from "./dom.js";
import { needed, tone, verdict } from "./table.js";

const round = (number) => String(Math.round(number * 100) / 100);

/** Entities that have a seat, a side or numbers: people and things, in the order of play where there is one. */
export function people(app) {
  const { view, entities } = app.table;
  const rank = new Map((view.order?.turns ?? []).map(({ entity }, place) => [entity, place]));
  return [...entities.values()].filter(({ numbers, side, position }) => numbers?.length || position || side)
    .sort((a, b) => (rank.get(a.id) ?? 1e6 + a.id) - (rank.get(b.id) ?? 1e6 + b.id));
}

/** Whether somebody belongs to this viewer. */
export const own = (app, entity) => entity.seat !== undefined && app.seats.includes(entity.seat);

/** Gives each side a class, the viewer's own first: colour and shape of its marks follow from it. */
export function sideClasses(app) {
  const sides = new Map();
  const all = people(app);
  for (const entity of [...all.filter((one) => own(app, one)), ...[...all].sort((a, b) => a.id - b.id)]) {
    if (entity.side && !sides.has(entity.side.title)) sides.set(entity.side.title, ["ours", "theirs", "third"][Math.min(sides.size, 2)]);
  }
  return sides;
}

export const mark = (side) => h("span", { class: `mark ${side}`, "aria-hidden": "true" });

const unit = ({ unit: name }) => (name ? ` ${name}` : "");

/** A number as a text: `HP 9 of 15`. */
export const inWords = (number) => `${number.label} ${round(number.value)}${number.max !== undefined ? ` of ${round(number.max)}` : ""}${unit(number)}`;

/** A bar, or boxes for few points of harm. */
export function meter(number, side) {
  const label = inWords(number);
  if (number.harm && number.max <= 10) {
    return h("span.pips", { role: "img", "aria-label": label }, Array.from({ length: number.max }, (_, place) => h("i", { class: place < number.value ? "on" : "" })));
  }
  const share = Math.max(0, Math.min(1, number.max ? number.value / number.max : 0));
  return h("span", { class: `meter ${side}`, role: "img", "aria-label": label }, h("i", { class: number.harm ? "harm" : "", style: { width: `${share * 100}%` } }));
}

/** The order of play as a strip: who has acted is counted, who acts now stands first. */
export function orderStrip(app) {
  const turns = app.table.view.order?.turns.filter(({ state }) => state !== "out");
  if (!turns?.length) return null;
  const acted = turns.filter(({ state }) => state === "acted").length;
  return h("ol.order", { "aria-label": "Order of play", tabindex: "0" },
    acted > 0 && h("li.done", `${acted} acted ✓`),
    turns.filter(({ state }) => state !== "acted").map(({ entity, title, state, note }) =>
      h("li", { class: `${app.sideClass(entity)}${state === "now" ? " now" : ""}`, "aria-current": state === "now" ? "step" : null }, mark(app.sideClass(entity)), h("b", title), note && h("span.soft", ` ${note}`))));
}

/** People with their first number as a bar. Each row opens the sheet, unless `still`. */
export function peopleList(app, list, still) {
  const turns = new Map((app.table.view.order?.turns ?? []).map((turn) => [turn.entity, turn]));
  return h("ol.turns", list.map((entity) => {
    const turn = turns.get(entity.id);
    const side = app.sideClass(entity.id);
    const [first, ...more] = [...(entity.numbers ?? [])].sort((a, b) => (b.max !== undefined) - (a.max !== undefined));
    const facts = [...(first && first.max === undefined ? [first] : []), ...more].map(inWords);
    const row = [
      h("span.n", turn?.at ?? ""), mark(side), h("b", entity.title, turn?.state === "acted" && h("span.soft", " ✓"), turn?.state === "now" && h("span.heard", ", acts now")),
      first?.max !== undefined && h("span.hp", meter(first, side), h("span", { "aria-hidden": "true" }, still ? round(first.value) : `${round(first.value)}/${round(first.max)}`)),
      h("span.facts", [turn?.note, turn?.state === "out" ? "out" : "", ...facts.slice(0, still ? 2 : 4)].filter(Boolean).join(" · ")),
    ];
    return h("li", { key: entity.id, class: `${turn?.state === "now" ? "now" : ""} ${turn?.state === "acted" || turn?.state === "out" ? "done" : ""}` },
      still ? h("div.line-of", row) : h("button", { class: "line-of", onclick: () => app.openSheet(entity.id) }, row));
  }));
}

/** The page's own state of the open sheet. */
export async function loadSheet(app, id) {
  const sheet = app.ui.sheet = { id, rows: app.ui.sheet?.id === id ? app.ui.sheet.rows : undefined };
  try {
    const { rows, lines } = await app.wire.call("sheet", { entity: id });
    sheet.rows = rows ?? lines.map(([label, text]) => ({ label, text, name: fieldOf(app, id, label) }));
  } catch (error) {
    sheet.rows = [];
    sheet.problem = error.message;
  }
  app.redraw();
}

/** The field that a label names, where the host does not say it. */
function fieldOf(app, id, label) {
  const name = label.toLowerCase().replaceAll(" ", "_");
  return name in (app.table.entities.get(id)?.fields ?? {}) ? name : undefined;
}

async function why(app, sheet, row) {
  if (sheet.why?.name === row.name) {
    sheet.why = undefined;
    return app.redraw();
  }
  sheet.why = { name: row.name };
  try {
    sheet.why.told = (await app.wire.call("why", { entity: sheet.id, name: row.name })).explanation;
  } catch (error) {
    sheet.why.problem = error.message;
  }
  app.redraw();
}

/** The open sheet, with tabs for all who can be seen. */
export function sheetCard(app) {
  const { sheet } = app.ui;
  if (!sheet) return null;
  const entity = app.table.entities.get(sheet.id);
  const list = people(app);
  const mine = list.filter((one) => own(app, one));
  const tabs = mine.length ? [...mine, ...(mine.some(({ id }) => id === sheet.id) || !entity ? [] : [entity])] : list;
  return h("dialog.panel.sheet", { "aria-labelledby": "sheet", key: "sheet", set: (node) => setTimeout(() => node.isConnected && node.showModal()), onclose: () => { app.ui.sheet = undefined; app.redraw(); } },
    h("header", h("h2", { id: "sheet", tabindex: "-1" }, mark(app.sideClass(sheet.id)), entity?.title ?? "gone"), h("button", { onclick: ({ target }) => target.closest("dialog").close() }, "Close")),
    tabs.length > 1 && h("div.tabs", tabs.map(({ id, title }) => h("button", { key: id, "aria-pressed": String(id === sheet.id), onclick: () => app.openSheet(id) }, title))),
    !sheet.rows ? h("p.soft", "…") : sheet.rows.length === 0 ? h("p.soft", sheet.problem ?? "Nothing is written here.") :
      h("ul.rows", sheet.rows.map((row, place) => {
        const numbers = row.max !== undefined && row.value !== undefined;
        const inner = [h("span.soft", row.label), h("b", numbers && meter(row, app.sideClass(sheet.id)), row.text)];
        const shown = sheet.why?.name === row.name && row.name;
        return h("li", { key: place },
          row.name ? h("button", { "aria-expanded": String(Boolean(shown)), onclick: () => why(app, sheet, row) }, inner) : h("div", inner),
          shown && reasons(sheet.why));
      })));
}

function reasons({ told, problem }) {
  if (!told) return h("p.why.soft", problem ?? "…");
  return h("div.why", h("p", told.title, " ", h("b", told.value)),
    h("ul", told.terms.map(({ label, value, depth }) => h("li", { style: { "padding-left": `${depth}rem` } }, h("span", label), h("b", value))),
      told.changes.map((change) => h("li", h("span", change)))),
    !told.terms.length && !told.changes.length && h("p.soft", "as it was at the start"));
}

// The map.

/** Where everybody is, as a drawing `width` pixels wide with a table beside it; for places without coordinates a list. */
export function map(app, width, still) {
  const all = people(app).filter(({ position }) => position);
  const points = all.filter(({ position }) => position.x !== undefined && position.y !== undefined);
  const placed = all.filter(({ position }) => position.place);
  if (!points.length && !placed.length) return null;
  return [points.length > 0 && drawing(app, points, width, still), points.length > 0 && !still && tableOf(points), placed.length > 0 && places(app, placed)];
}

const height = ({ position: { h: up } }) => (up ? ` (${round(up)} up)` : "");

function tableOf(points) {
  const { unit: name } = points[0].position;
  return h("details", h("summary", "As a table"),
    h("table", h("thead", h("tr", ["Who", "Side", `x, ${name ?? ""}`, `y, ${name ?? ""}`].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", points.map((entity) => h("tr", { key: entity.id }, h("th", { scope: "row" }, entity.title), h("td", entity.side?.title ?? ""), h("td", round(entity.position.x)), h("td", round(entity.position.y), height(entity)))))));
}

function places(app, placed) {
  const groups = new Map();
  for (const entity of placed) groups.set(entity.position.place.title, [...(groups.get(entity.position.place.title) ?? []), entity]);
  return h("ul.places", [...groups].map(([title, list]) => h("li", h("b", title), h("span", list.map((entity) => h("span", { key: entity.id }, mark(app.sideClass(entity.id)), `${entity.title}${height(entity)} `))))));
}

const STEPS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000];

function drawing(app, points, width, still) {
  const font = still ? 26 : 13;
  const edge = font * 2;
  const xs = points.map(({ position }) => position.x);
  const ys = points.map(({ position }) => position.y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const label = Math.min(9 * font, width / 4);
  const scale = Math.min((width - label - 2 * edge) / Math.max(right - left, 1), (still ? 340 : 300) / Math.max(bottom - top, 1));
  const size = font * 0.45;
  // Marks that would lie on each other are moved apart; the table has the true numbers.
  const spots = [];
  for (const entity of points) {
    const spot = { entity, x: edge + (entity.position.x - left) * scale + (width - label - 2 * edge - (right - left) * scale) / 2, y: edge + (bottom - entity.position.y) * scale };
    while (spots.some((other) => Math.abs(other.x - spot.x) < 2.4 * size && Math.abs(other.y - spot.y) < font * 1.25)) spot.y += font * 1.3;
    spots.push(spot);
  }
  const tall = Math.max(...spots.map(({ y }) => y)) + edge + font;
  const taken = spots.map(({ x, y }) => [x - size, y - size, x + size, y + size]);
  const free = (box) => box[0] >= 0 && box[2] <= width && box[1] >= 0 && !taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1]);
  const names = spots.map(({ entity, x, y }) => {
    const text = entity.title + height(entity);
    const long = text.length * font * 0.58;
    const tries = [["start", x + 2 * size, y], ["end", x - 2 * size, y], ["middle", x, y - 1.3 * font], ["middle", x, y + 1.3 * font], ["start", x + 2 * size, y - font], ["start", x + 2 * size, y + font]];
    const box = ([anchor, tx, ty]) => {
      const from = anchor === "start" ? tx : anchor === "end" ? tx - long : tx - long / 2;
      return [from, ty - font * 0.6, from + long, ty + font * 0.5];
    };
    const spot = tries.find((one) => free(box(one)));
    if (!spot) return null; // no room: the mark stays, and the table has the name
    taken.push(box(spot));
    return h("text", { x: spot[1], y: spot[2] + font * 0.35, "text-anchor": spot[0], "font-size": font }, text);
  });
  const step = STEPS.find((one) => (right - left) / one <= width / (font * 7)) ?? 2000;
  const lines = [];
  for (let at = Math.ceil(left / step) * step; at <= right; at += step) {
    const x = edge + (at - left) * scale + (width - label - 2 * edge - (right - left) * scale) / 2;
    lines.push(h("line", { x1: x, x2: x, y1: 0, y2: tall - font * 1.4, class: "grid" }), h("text", { x, y: tall - font * 0.3, "text-anchor": "middle", "font-size": font, class: "grid" }, `${round(at)}${lines.length ? "" : unit(points[0].position)}`));
  }
  const turns = new Map((app.table.view.order?.turns ?? []).map(({ entity, state }) => [entity, state]));
  return h("svg.map", { viewBox: `0 0 ${width} ${tall}`, role: "img", "aria-label": `A sketch of who is where: ${points.map(({ title, position: { x, y } }) => `${title} ${round(x)}, ${round(y)}`).join("; ")}` },
    lines, spots.map(({ entity, x, y }) => {
      const side = app.sideClass(entity.id) || "nobody";
      const shape = { ours: h("circle", { cx: x, cy: y, r: size }), theirs: h("rect", { x: x - size, y: y - size, width: 2 * size, height: 2 * size }),
        third: h("path", { d: `M${x} ${y - size}l${size} ${2 * size}h${-2 * size}z` }) }[side] ?? h("path", { d: `M${x} ${y - size}l${size} ${size}l${-size} ${size}l${-size} ${-size}z` });
      return h("g", { class: side, key: entity.id }, shape, turns.get(entity.id) === "now" && h("circle", { cx: x, cy: y, r: size * 1.7, class: "now" }));
    }), names);
}

// The log.

/** The faces of a roll, those that do not count struck through. */
export function faces(line) {
  const parts = line.roll?.parts;
  if (!parts) return line.faces.map((face) => h("span.die", face));
  return parts.map((part) => (part.faces
    ? part.faces.map(({ value, fate, exploded }) => h("span", { class: `die${fate ? " lost" : ""}`, title: fate ?? (exploded ? "exploded" : null) }, value, fate && h("span.heard", ` ${fate}`)))
    : h("span.plus", part.amount < 0 ? `− ${-part.amount}` : `+ ${part.amount}`)));
}

function event(line, group) {
  switch (line.event) {
    case "rolled": {
      const words = verdict(line);
      const sum = line.faces.length > 1 || line.total !== line.faces[0];
      const need = needed(line);
      return [h("p.quiet", line.label),
        h("p", faces(line), " ", sum && h("span", ` ${line.total}`), need && h("span", `${sum ? ", needs" : "needs"} ${need}`), words && h("span", { class: tone(line) }, `${sum || need ? ": " : ""}${{ good: "✓ ", bad: "✕ " }[tone(line)] ?? ""}${words}`))];
    }
    case "answered": return h("p.quiet", line.about && line.about !== group.who ? `${line.about}: ` : "", line.text);
    case "changed": return h("p.quiet", `${line.title} ${line.label} ${line.text.replaceAll("->", "→")}`, line.reason && ` (${line.reason})`);
    case "spawned": return h("p.quiet", `${line.title} is here now`);
    case "removed": return h("p.quiet", `${line.title} is gone`);
    case "over": return h("p", h("b", line.text));
    case "edited": case "notice": return h("p", "By hand: ", line.text);
    case "cut": return h("p", line.reason);
    case "back": return h("p.quiet", line.text);
    default: return h("p", line.text);
  }
}

/** The log, the newest first. `still` shows the last few without any button. */
export function log(app, most, still) {
  const all = app.table.groups();
  const shown = all.slice(-most).reverse();
  const { undo } = app.table.view;
  return h("div.logs",
    h("ol.log", { reversed: true }, shown.map((group, place) => {
      const side = app.sideOfTitle(group.who);
      const head = group.head.join(", ");
      // Back to before this group: to the step before the one that told its first line.
      const to = group.seq !== undefined ? group.seq - 1 : undefined;
      const back = !still && !group.gone && group.head.length > 0 && to !== undefined && undo.allowed && (app.role === "game_master" || place === 0);
      return h("li", { key: group.key, class: `${side || "none"}${group.gone ? " gone" : ""}` },
        head && h("p", h("b", group.who), ` ${head}`),
        group.events.map((line) => event(line, group)),
        group.gone && h("p.quiet.taken", "taken back"),
        back && h("button", { class: "to-here", onclick: () => app.askUndo(to) }, "Undo to here"));
    })),
    !still && all.length > most && h("button", { onclick: () => { app.ui.log += 40; app.redraw(); } }, "Earlier lines"));
}
