// The words of the page: decisions, seats and lines of the log as texts.

/** Returns what a roll needed, in words. */
export const needed = ({ roll: { need } }) => need && `${need.is.replace("_", " ")} ${need.value}`;

/** Returns a decision that an undo takes back, in words; its text is missing if this viewer may not know it. */
export const decision = ({ seat, about, text }) => (text ? [about, text].filter(Boolean).join(", ") : `a decision of ${seatTitle(seat)}`);

/** Returns the name of a seat as the page shows it. */
export const seatTitle = (seat) => (seat === "gm" ? "game master" : seat);

/** Returns an answer in words, with its topic. */
export const said = ({ topic, text }) => `${topic.replaceAll("_", " ")}: ${text}`;

/** Returns a line of the log in words, without the name of `who`, under which the page shows it. */
export function sentence(line, who) {
  const { event, title, label, text, reason } = line;
  const about = line.about ?? seatTitle(line.seat);
  switch (event) {
    case "answered": return about === who ? said(line) : `${about}, ${said(line)}`;
    case "rolled": return [`${label}: ${line.total}`, needed(line) && `needed ${needed(line)}`, line.roll.result].filter(Boolean).join(", ");
    case "changed": return `${title} ${label} ${text.replaceAll("->", "→")}${reason ? ` (${reason})` : ""}`;
    case "spawned": return `${title} is here now`;
    case "removed": return `${title} is gone`;
    case "edited": return `By hand: ${text}`;
    default: return text ?? reason;
  }
}

/** Says nothing about the refusal of a request. */
export const quiet = () => {};
