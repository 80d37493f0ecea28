// Makes the HTML that Foundry shows of a table. Texts come from rulesets and players, so all of them are escaped.

const MARKS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
export const escape = (text) => String(text ?? "").replace(/[&<>"']/g, (mark) => MARKS[mark]);

/** Returns a line of the log as a sentence; null for an event that is not shown. */
export function sentence(line) {
  const { event, title, label, text, reason } = line;
  switch (event) {
    case "answered": return [line.about ?? line.seat, `${line.topic}: ${text}`].filter(Boolean).join(", ");
    case "rolled": return [`${label}: rolled ${line.total}`, line.need && `needs ${line.need}`, line.result ?? verdict(line)].filter(Boolean).join(", ");
    case "changed": return `${title}: ${label} ${text.replaceAll("->", "→")}${reason ? ` (${reason})` : ""}`;
    case "spawned": return `${title} is here now`;
    case "removed": return `${title} is gone`;
    case "edited": return `By hand: ${text}`;
    case "back": case "withdrawn": return null;
    default: return text ?? reason ?? null;
  }
}

const verdict = ({ success }) => (success === undefined || success === null ? undefined : success ? "success" : "failure");

/** Returns the lines of a step as the content of a chat message; an empty text if none is shown. */
export function message(lines) {
  return lines.map(sentence).filter(Boolean).map((line) => `<p>${escape(line)}</p>`).join("");
}

/** Returns the journal page: the parts of the state that everybody may know. */
export function page(view) {
  const { rules } = view.settings;
  const shown = view.entities.filter(({ numbers }) => numbers?.length);
  const sides = [...new Set(shown.map(({ side }) => side?.title ?? ""))];
  const parts = [`<p>${escape(rules.title)} ${escape(rules.version)} · ${escape(standing(view))}</p>`];
  if (view.order?.turns.length) {
    const turn = ({ title, state }) => `<li>${escape(title)}${state === "now" ? " <strong>now</strong>" : state === "acted" ? " (has acted)" : ""}</li>`;
    parts.push(`<h2>${escape(view.order.label ?? "Order")}</h2><ol>${view.order.turns.map(turn).join("")}</ol>`);
  }
  for (const side of sides) {
    const rows = shown.filter((entity) => (entity.side?.title ?? "") === side).map(row);
    parts.push(`${side ? `<h2>${escape(side)}</h2>` : ""}<table><tbody>${rows.join("")}</tbody></table>`);
  }
  return parts.join("");
}

function row({ title, numbers }) {
  const cell = ({ label, value, max, unit }) => `<td>${escape(label)} ${escape(value)}${max == null ? "" : ` / ${escape(max)}`}${unit ? ` ${escape(unit)}` : ""}</td>`;
  return `<tr><th scope="row">${escape(title)}</th>${numbers.map(cell).join("")}</tr>`;
}

function standing({ state, waiting }) {
  if (state.is === "over") return `over: ${state.outcome}`;
  if (state.is === "fault") return "stopped by a fault in its rules";
  return waiting.length ? `waiting for ${waiting.map(({ seat }) => seat).join(", ")}` : "running";
}
