// Starts the language server for the rulesets of a window, and registers the commands of its lenses.

import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions, State, TransportKind } from "vscode-languageclient/node";
import * as commands from "./commands";
import { common, program, root, settings, Unusable, version } from "./program";

const GUIDE = "Show how to install it";
const SETTING = "Open the setting";
const AGAIN = "Try again";

let client: LanguageClient | undefined;
let log: vscode.LogOutputChannel;
let status: vscode.StatusBarItem;

/** The interface for other extensions and for tests. */
export interface Api {
  /** Waits until every change is checked; returns false if no server runs. */
  idle(): Promise<boolean>;
  status(): string;
}

export async function activate(context: vscode.ExtensionContext): Promise<Api> {
  log = vscode.window.createOutputChannel("Riskbreaker", { log: true });
  status = vscode.window.createStatusBarItem("riskbreaker", vscode.StatusBarAlignment.Left);
  status.name = "Riskbreaker";
  status.command = "riskbreaker.menu";
  context.subscriptions.push(log, status);
  const command = (name: string, carryOut: (...args: never[]) => unknown) => {
    const told = async (...args: never[]) => {
      try {
        return await carryOut(...args);
      } catch (error) {
        await complain(error as Error);
      }
    };
    context.subscriptions.push(vscode.commands.registerCommand(`riskbreaker.${name}`, told));
  };
  command("run", commands.run);
  command("play", commands.play);
  command("dev", commands.dev);
  command("runSpec", commands.runSpec);
  command("runSpecs", commands.runSpecs);
  command("odds", commands.odds);
  command("overrules", commands.overrules);
  command("restart", restart);
  command("log", () => log.show());
  command("menu", () => vscode.commands.executeCommand("workbench.action.quickOpen", ">Riskbreaker: "));
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("riskbreaker.path") || change.affectsConfiguration("riskbreaker.rulesets")) {
        await restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.languages.onDidChangeDiagnostics(count),
  );
  await restart();
  await warnOfSecondClient();
  return { idle, status: () => status.text };
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

/** Starts the server again; several calls are carried out one after the other. */
let restarting: Promise<void> = Promise.resolve();
function restart(): Promise<void> {
  restarting = restarting.then(start, start);
  return restarting;
}

async function start(): Promise<void> {
  const old = client;
  client = undefined;
  await old?.dispose().catch((error: Error) => log.warn(error.message));
  show("$(loading~spin)", "The language server starts.");
  let found: string;
  try {
    found = await version();
  } catch (error) {
    show("$(warning)", (error as Error).message);
    // Not awaited: the message stays open until it is read, and the start of the extension must not wait for that.
    void complain(error as Error);
    return;
  }
  log.info(`riskbreaker ${found} at ${program()}`);
  const server: ServerOptions = {
    command: program(),
    args: [...common(), "lsp"],
    transport: TransportKind.stdio,
    options: { cwd: root() },
  };
  const patterns = ["**/*.luau", "**/*.toml", "**/RULES.md"];
  const options: LanguageClientOptions = {
    documentSelector: patterns.map((pattern) => ({ scheme: "file", pattern })),
    outputChannel: log,
    middleware: {
      provideCodeLenses: async (document, token, next) => {
        return settings().get<boolean>("lenses") ? next(document, token) : [];
      },
    },
  };
  const started = new LanguageClient("riskbreaker", "Riskbreaker", server, options);
  started.onDidChangeState(({ newState }) => {
    if (started !== client) return;
    if (newState === State.Running) count();
    if (newState === State.Stopped) show("$(error)", "The language server has ended. Run “Restart the Language Server”.");
  });
  client = started;
  try {
    await started.start();
    count();
  } catch (error) {
    show("$(error)", `The language server does not start: ${(error as Error).message}`);
    log.error(error as Error);
  }
}

async function idle(): Promise<boolean> {
  await restarting;
  if (client?.state !== State.Running) return false;
  await client.sendRequest("riskbreaker/idle");
  return true;
}

function show(icon: string, text: string): void {
  status.text = `${icon} Riskbreaker`;
  status.tooltip = text;
  const failed = icon === "$(warning)" || icon === "$(error)";
  status.backgroundColor = failed ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
  status.show();
}

/** Shows the number of problems that the server has found. */
function count(): void {
  if (client?.state !== State.Running) return;
  const all = vscode.languages.getDiagnostics().flatMap(([, found]) => found);
  const problems = all.filter((one) => one.source === "riskbreaker").length;
  show("$(check)", problems === 1 ? "1 problem" : `${problems} problems`);
  if (problems) status.text = `$(check) Riskbreaker: ${problems}`;
}

/** Shows an error, and offers actions against it. */
async function complain(error: Error): Promise<void> {
  log.error(error.message);
  if (!(error instanceof Unusable)) {
    void vscode.window.showErrorMessage(error.message);
    return;
  }
  const chosen = await vscode.window.showErrorMessage(error.message, SETTING, GUIDE, AGAIN);
  if (chosen === SETTING) await vscode.commands.executeCommand("workbench.action.openSettings", "riskbreaker.path");
  if (chosen === GUIDE) await vscode.commands.executeCommand("extension.open", "riskbreaker.riskbreaker");
  if (chosen === AGAIN) await restart();
}

/** Warns if a general client is installed: with the settings that `riskbreaker new` writes it starts a second server. */
async function warnOfSecondClient(): Promise<void> {
  const started = vscode.workspace.getConfiguration("glspc").get<string>("server.command");
  if (started !== "riskbreaker" || !vscode.extensions.getExtension("llllvvuu.llllvvuu-glspc")) return;
  const text = "Generic LSP Client starts riskbreaker here, too, so each problem is shown twice. Disable it in this workspace.";
  void vscode.window.showWarningMessage(text);
}
