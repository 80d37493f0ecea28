// The program `riskbreaker`: where it is, and whether it can serve an editor.

import { execFile } from "node:child_process";
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";

const OLDEST = "0.1.0";

/** Why the program cannot be used, in words for the author. */
export class Unusable extends Error {}

export function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("riskbreaker");
}

/** The folder that the window shows first. */
export function root(): string {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir();
}

/** The program that the settings name: a name for the PATH, or a whole path. */
export function program(): string {
  const named = settings().get<string>("path")?.trim() || "riskbreaker";
  const home = named.startsWith("~") ? homedir() + named.slice(1) : named;
  const whole = home.replaceAll("${workspaceFolder}", root());
  return /[\\/]/.test(whole) ? path.resolve(root(), whole) : whole;
}

/** The options that every call gets. */
export function common(): string[] {
  const folder = settings().get<string>("rulesets")?.trim();
  if (!folder) return [];
  return ["--rulesets", path.resolve(root(), folder.replaceAll("${workspaceFolder}", root()))];
}

/** What the program prints. */
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

/** The version of the program; an error if it cannot serve an editor. */
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
