// The commands of the extension. Most of them type a line in a terminal.

import * as path from "node:path";
import * as vscode from "vscode";
import { common, output } from "./program";
import { specAt } from "./specs";
import { lineFor, lineOf, type Place, placeOf, type } from "./terminal";

interface Listed {
  id: string;
  manifest: { over: { id: string }[]; title?: string } | null;
}

interface Shown {
  scenarios: string[];
}

/** The error of a command that does not fit the open file. The message is shown to the author. */
class Misplaced extends Error {}

async function place(uri?: vscode.Uri): Promise<{ place: Place; uri: vscode.Uri }> {
  const file = uri ?? vscode.window.activeTextEditor?.document.uri;
  const found = file?.scheme === "file" ? await placeOf(file) : undefined;
  if (!file || !found) throw new Misplaced("Open a file of a ruleset first: a folder with a `ruleset.toml`.");
  return { place: found, uri: file };
}

/** Returns the options with which the program finds the ruleset of a file. */
function around(found: Place): string[] {
  return common().length ? [] : ["--rulesets", path.dirname(found.folder)];
}

/** Returns the options that name the rules to play: a ruleset, or a set of house rules over another ruleset. */
async function ways(found: Place): Promise<string[]> {
  const listed = JSON.parse(await output([...common(), ...around(found), "rules", "list", "--json"])) as Listed | Listed[];
  const all = Array.isArray(listed) ? listed : [listed];
  const over = all.find((one) => one.id === found.id)?.manifest?.over ?? [];
  const known = over.filter((base) => all.some((one) => one.id === base.id));
  return known.length ? known.map((base) => `${base.id}+${found.id}`) : [found.id];
}

async function chosen(names: string[], what: string): Promise<string | undefined> {
  return names.length < 2 ? names[0] : vscode.window.showQuickPick(names, { placeHolder: what });
}

/** Returns the ruleset of the open file, or else one that the author chooses among those of the window. */
async function ruleset(): Promise<Place | undefined> {
  const open = vscode.window.activeTextEditor?.document.uri;
  const found = open?.scheme === "file" ? await placeOf(open) : undefined;
  if (found) return found;
  const manifests = await vscode.workspace.findFiles("**/ruleset.toml", "**/node_modules/**", 200);
  const places = (await Promise.all(manifests.map(placeOf))).filter((one): one is Place => one !== undefined);
  if (!places.length) throw new Misplaced("There is no ruleset in this window. `riskbreaker new NAME` writes one.");
  const id = await chosen(places.map((one) => one.id).sort(), "Which ruleset?");
  return places.find((one) => one.id === id);
}

/** Runs the command line of a lens of the server. */
export async function run(line: unknown): Promise<void> {
  if (typeof line !== "string") return;
  const document = vscode.window.activeTextEditor?.document;
  if (document) await saved(document);
  type(lineOf(line));
}

export async function runSpec(uri?: vscode.Uri, name?: string): Promise<void> {
  const found = await place(uri);
  const document = await vscode.workspace.openTextDocument(found.uri);
  const cursor = vscode.window.activeTextEditor?.selection.active.line ?? 0;
  const wanted = name ?? specAt(document.getText(), cursor)?.name;
  if (!wanted) throw new Misplaced("There is no spec here. A spec is a call of `rb.spec` in a file under `specs/`.");
  await saved(document);
  type(lineFor([...around(found.place), "test", found.place.id, "--filter", wanted, "--trace"]));
}

export async function runSpecs(uri?: vscode.Uri): Promise<void> {
  const found = await place(uri);
  const file = found.place.inside.startsWith("specs/") ? found.place.inside : `specs/${found.place.inside}`;
  await saved(await vscode.workspace.openTextDocument(found.uri));
  type(lineFor([...around(found.place), "test", found.place.id, "--filter", file]));
}

/** Saves a file, since specs and odds read it from the disk. */
async function saved(document: vscode.TextDocument): Promise<void> {
  if (document.isDirty && !(await document.save())) throw new Misplaced("The file could not be saved, so nothing was run.");
}

function cardOf(found: Place): string {
  const card = /^(?:maneuvers|items)\/(.+)\.luau$/.exec(found.inside)?.[1];
  if (!card) throw new Misplaced("This is no card. Cards are the files in `maneuvers/` and `items/`.");
  return path.posix.basename(card);
}

export async function odds(uri?: vscode.Uri): Promise<void> {
  const found = await place(uri);
  const card = cardOf(found.place);
  const way = await chosen(await ways(found.place), "Over which ruleset?");
  if (!way) return;
  await saved(await vscode.workspace.openTextDocument(found.uri));
  type(lineFor([...around(found.place), "odds", card, "--rules", way]));
}

export async function overrules(uri?: vscode.Uri): Promise<void> {
  const found = await place(uri);
  const card = cardOf(found.place);
  const way = await chosen(await ways(found.place), "Over which ruleset?");
  if (way) type(lineFor([...around(found.place), "rules", "explain", card, "--rules", way]));
}

/** True if `riskbreaker dev` runs a game beside the editor. */
async function playsInDev(): Promise<boolean> {
  return /--play\b/.test(await output(["dev", "--help"]));
}

export async function play(): Promise<void> {
  const found = await ruleset();
  const way = found && (await chosen(await ways(found), "Over which ruleset?"));
  if (!found || !way) return;
  const options = around(found);
  const shown = JSON.parse(await output([...common(), ...options, "rules", "show", way, "--json"])) as Shown;
  if (!shown.scenarios.length) throw new Misplaced(`${way} has no scenario. \`riskbreaker new scenario NAME --in ${found.id}\` writes one.`);
  const scenario = await chosen(shown.scenarios, "Which scenario?");
  if (!scenario) return;
  const args = (await playsInDev()) ? ["dev", way, "--play", scenario] : ["play", scenario, "--rules", way];
  type(lineFor([...options, ...args]), scenario);
}

export async function dev(): Promise<void> {
  const found = await ruleset();
  if (found) type(lineFor([...around(found), "dev", found.id]), `dev ${found.id}`);
}
