// The television: what everybody may see, large enough for four metres, and nothing to press.

import { chatLines, headline, link, mapPanel, quiet, waitingLine } from "./app.js";
import { h } from "./dom.js";
import { faces, log, outcome, people, peopleList } from "./people.js";
import { needed } from "./table.js";

export function screen(app) {
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

/** The address to join at, as a QR code in the corner. */
function corner(app) {
  if (!app.joins) {
    app.joins = {};
    join(app, app.joins);
  }
  const { address, rows } = app.joins;
  return rows && h("aside.panel.code", { key: "code", "aria-label": "Join" }, qr(app.joins), h("p.small", "Scan to join"));
}

async function join(app, joins) {
  const { address, code, open } = (await app.ask("lobby", {}, quiet)) ?? {};
  if (code && open !== false) await loadQr(app, joins, `${address}#j=${code}`);
}

/** Gets the rows of the QR code of an address. */
export async function loadQr(app, into, address) {
  Object.assign(into, { address, rows: undefined });
  const told = await fetch("/v1/qr", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ text: address }) }).catch(quiet);
  if (told?.ok) into.rows = (await told.json()).rows;
  app.redraw();
}

export function qr({ rows, address }) {
  const size = rows.length + 8;
  const path = rows.flatMap((row, y) => [...row].map((cell, x) => (cell === "1" ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return h("svg.qr", { viewBox: `-4 -4 ${size} ${size}`, role: "img", "aria-label": `QR code of ${address}`, "shape-rendering": "crispEdges" }, h("rect", { x: -4, y: -4, width: size, height: size }), h("path", { d: path }));
}
