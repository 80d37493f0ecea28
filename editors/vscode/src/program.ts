// Finds and runs the program `riskbreaker`, and checks whether it can serve an editor.

import { execFile } from "node:child_process";
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";

const OLDEST = "0.1.0";

/** The error of a program that cannot be used. The message is shown to the author. */
export class Unusable extends Error {}

export function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("riskbreaker");
}

/** Returns the first folder of the window. */
export function root(): string {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir();
}

/** Returns the program that the settings name: a name to search in PATH, or a path. */
export function program(): string {
  const named = settings().get<string>("path")?.trim() || "riskbreaker";
  const home = named.startsWith("~") ? homedir() + named.slice(1) : named;
  const whole = home.replaceAll("${workspaceFolder}", root());
  return /[\\/]/.test(whole) ? path.resolve(root(), whole) : whole;
}

/** Returns the options of every call. */
export function common(): string[] {
  const folder = settings().get<string>("rulesets")?.trim();
  if (!folder) return [];
  return ["--rulesets", path.resolve(root(), folder.replaceAll("${workspaceFolder}", root()))];
}

/** Runs the program and returns its output. */
export function output(args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program(), args, { cwd: root(), maxBuffer: 64 << 20, timeout: 60_000 }, (error, printed, said) => {
      if (!error) return resolve(printed);
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return reject(new Unusable(notFound()));
      if ((error as NodeJS.ErrnoException).code === "EACCES") {
        return reject(new Unusable(`\`${program()}\` may not be run. Give the setting \`riskbreaker.path\` the path of the program.`));
      }
      reject(new Error(said.trim() || error.message));
    });
  });
}

function notFound(): string {
  const named = program();
  if (/[\\/]/.test(named)) {
    return `There is no program at ${named}. Correct the setting \`riskbreaker.path\`, or install Riskbreaker.`;
  }
  return `The program \`${named}\` is not in the PATH. Install Riskbreaker, or give the setting \`riskbreaker.path\` its path.`;
}

/** Returns the version of the program. Throws `Unusable` if it cannot serve an editor. */
export async function version(): Promise<string> {
  const printed = await output(["--version"]);
  const found = /^riskbreaker (\S+)/.exec(printed)?.[1];
  if (!found) throw new Unusable(`\`${program()}\` is another program. Correct the setting \`riskbreaker.path\`.`);
  await output(["lsp", "--help"]).catch((error: Error) => {
    if (error instanceof Unusable) throw error;
    throw new Unusable(`Riskbreaker ${found} has no language server. Update it to ${OLDEST} or later.`);
  });
  return found;
}
