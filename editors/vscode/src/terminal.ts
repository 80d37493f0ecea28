// Makes command lines and types them in a terminal.

import * as path from "node:path";
import * as vscode from "vscode";
import { common, program, root } from "./program";

const NAME = "Riskbreaker";

/** Quotes an argument for the shell: with POSIX quotes, or double quotes on Windows. */
export function quoted(argument: string, windows = process.platform === "win32"): string {
  if (/^[\w./:@+-]+$/.test(argument) || (windows && /^[\w./:@+\\-]+$/.test(argument))) return argument;
  return windows ? `"${argument.replaceAll('"', '`"')}"` : `'${argument.replaceAll("'", "'\\''")}'`;
}

/** Returns the program as the first word of a line. PowerShell runs a quoted path only after `&`. */
function first(shell: string): string {
  const named = quoted(program());
  return named.startsWith('"') && /pwsh|powershell/i.test(shell) ? `& ${named}` : named;
}

/** Returns the command line of a lens with the path of the program in place of its name. */
export function lineOf(fromServer: string, shell = vscode.env.shell): string {
  return fromServer.replace(/^riskbreaker(?=\s|$)/, () => first(shell));
}

export function lineFor(args: string[], shell = vscode.env.shell): string {
  return [first(shell), ...[...common(), ...args].map((argument) => quoted(argument))].join(" ");
}

/** Types a line in the terminal of the extension, or in a new terminal with the name `own`. */
export function type(line: string, own?: string): vscode.Terminal {
  const name = own ? `${NAME}: ${own}` : NAME;
  const old = vscode.window.terminals.find((terminal) => terminal.name === name && terminal.exitStatus === undefined);
  // A game may still wait for answers in the old terminal, so that is closed.
  if (own) old?.dispose();
  const terminal = (!own && old) || vscode.window.createTerminal({ name, cwd: root() });
  terminal.show(true);
  terminal.sendText(line);
  return terminal;
}

/** The ruleset around a file: its folder, its id, and the path of the file inside it. */
export interface Place {
  folder: string;
  id: string;
  inside: string;
}

export async function placeOf(uri: vscode.Uri): Promise<Place | undefined> {
  let folder = path.dirname(uri.fsPath);
  for (;;) {
    const manifest = vscode.Uri.file(path.join(folder, "ruleset.toml"));
    const found = await vscode.workspace.fs.stat(manifest).then(() => true, () => false);
    if (found) {
      const inside = path.relative(folder, uri.fsPath).replaceAll("\\", "/");
      return { folder, id: path.basename(folder), inside };
    }
    const above = path.dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
}
