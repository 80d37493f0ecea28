// Lenses of the extension, beside those of the server: each spec by itself, and what overrules a card.

import * as vscode from "vscode";
import { placeOf } from "./terminal";

/** A call of `rb.spec` or `rb.cases` with its name; the name may hold escaped quotes. */
const SPEC = /\brb\.(?:spec|cases)\(\s*"((?:[^"\\\n]|\\.)+)"/g;

export interface Spec {
  name: string;
  line: number;
}

/** The specs of a text, in order. */
export function specsOf(text: string): Spec[] {
  return [...text.matchAll(SPEC)].map((match) => ({
    name: match[1].replace(/\\(.)/g, "$1"),
    line: text.slice(0, match.index).split("\n").length - 1,
  }));
}

/** The spec at a line: the last one that begins at it or before. */
export function specAt(text: string, line: number): Spec | undefined {
  return specsOf(text).findLast((spec) => spec.line <= line);
}

/** The rulesets under which the server plays a card, as its lens of the odds names them. */
export function wayOf(lenses: readonly vscode.CodeLens[]): string | undefined {
  for (const lens of lenses) {
    const way = / --rules (\S+)$/.exec(String(lens.command?.arguments?.[0] ?? ""))?.[1];
    if (way) return way;
  }
  return undefined;
}

/** The lenses for a file. `served` are those of the server. */
export async function lensesFor(document: vscode.TextDocument, served: vscode.CodeLens[]): Promise<vscode.CodeLens[]> {
  const place = await placeOf(document.uri);
  if (!place) return served;
  const own: vscode.CodeLens[] = [];
  if (place.inside.startsWith("specs/")) {
    for (const spec of specsOf(document.getText())) {
      const command = { title: "Run this spec", command: "riskbreaker.runSpec", arguments: [document.uri, spec.name] };
      own.push(new vscode.CodeLens(new vscode.Range(spec.line, 0, spec.line, 0), command));
    }
  } else if (/^(?:maneuvers|items)\/.*\.luau$/.test(place.inside)) {
    const command = { title: "Who overrules this", command: "riskbreaker.overrules", arguments: [document.uri, wayOf(served)] };
    own.push(new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), command));
  }
  return [...served, ...own];
}
