// Finds the specs of a text, for the command that runs the spec at the cursor.

/** A call of `rb.spec` or `rb.cases` with its name; the name may hold escaped quotes. */
const SPEC = /\brb\.(?:spec|cases)\(\s*"((?:[^"\\\n]|\\.)+)"/g;

export interface Spec {
  name: string;
  line: number;
}

/** Returns the specs of a text, in order. */
export function specsOf(text: string): Spec[] {
  return [...text.matchAll(SPEC)].map((match) => ({
    name: match[1].replace(/\\(.)/g, "$1"),
    line: text.slice(0, match.index).split("\n").length - 1,
  }));
}

/** Returns the spec at a line: the last one that begins at the line or before it. */
export function specAt(text: string, line: number): Spec | undefined {
  return specsOf(text).findLast((spec) => spec.line <= line);
}
