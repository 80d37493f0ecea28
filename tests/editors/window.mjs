// Tests the extension for VS Code in a window: code-server with headless Chromium, on the folder in RULESETS. `tests/editors/window`
// installs code-server and starts this file.
//
// RISKBREAKER names the program, CODE_SERVER the folder of the npm package, VSIX the extension. `--shots FOLDER` keeps a picture of
// each step.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { RISKBREAKER, RULESETS, CODE_SERVER, VSIX } = process.env;
const shots = process.argv[2] === "--shots" ? process.argv[3] : undefined;
if (shots) mkdirSync(shots, { recursive: true });
const require = createRequire(join(import.meta.dirname, "../browser/package.json"));
const puppeteer = require("puppeteer-core");
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

const LATEST = 120_000;
const own = mkdtempSync(join(tmpdir(), "riskbreaker-window-"));
const port = await new Promise((resolve) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

// What is typed stays as it is typed, and lists open when they are asked for.
const SETTINGS = {
  "riskbreaker.path": RISKBREAKER,
  "editor.autoClosingBrackets": "never",
  "editor.autoClosingQuotes": "never",
  "editor.autoSurround": "never",
  "editor.autoIndent": "none",
  "editor.quickSuggestions": { other: "off", comments: "off", strings: "off" },
  "editor.suggestOnTriggerCharacters": false,
  "editor.parameterHints.enabled": false,
  "editor.minimap.enabled": false,
  "terminal.integrated.gpuAcceleration": "off",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "security.workspace.trust.enabled": false,
};
mkdirSync(join(own, "data/User"), { recursive: true });
writeFileSync(join(own, "data/User/settings.json"), JSON.stringify(SETTINGS));
const entry = join(CODE_SERVER, "out/node/entry.js");
const folders = ["--user-data-dir", join(own, "data"), "--extensions-dir", join(own, "extensions"), "--config", join(own, "config.yaml")];
writeFileSync(join(own, "config.yaml"), "auth: none\n");
execFileSync(process.execPath, [entry, ...folders, "--install-extension", VSIX], { stdio: "pipe", timeout: LATEST });
const quiet = ["--auth", "none", "--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"];
const server = spawn(process.execPath, [entry, ...folders, ...quiet, "--bind-addr", `127.0.0.1:${port}`], { stdio: "pipe" });
process.on("exit", () => server.kill());
await new Promise((resolve, reject) => {
  server.stdout.on("data", (text) => String(text).includes("HTTP server listening") && resolve());
  server.on("exit", () => reject(new Error("code-server has ended")));
});

const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 800 });

let number = 0;
async function step(what) {
  console.log(`window: ${what}`);
  if (shots && number) await page.screenshot({ path: join(shots, `${String(number).padStart(2, "0")}.png`) });
  number += 1;
}

async function fail(text) {
  if (shots) await page.screenshot({ path: join(shots, "failed.png") });
  console.error(`window: ${text}`);
  process.exit(1);
}

/** Waits until an element whose text contains `text` is shown, and returns it; `undefined` if there is none in time. */
async function waited(selector, text, time) {
  const find = (selector, text) => [...document.querySelectorAll(selector)].find((node) => node.checkVisibility() && node.textContent.replaceAll("\u00a0", " ").includes(text));
  const found = await page.waitForFunction(find, { timeout: time, polling: 100 }, selector, text).catch(() => undefined);
  return found?.asElement();
}

const shown = async (selector, text, what) => (await waited(selector, text, LATEST)) ?? fail(`waited in vain for ${what}`);

async function gone(selector, text, what) {
  const none = (selector, text) => ![...document.querySelectorAll(selector)].some((node) => node.checkVisibility() && node.textContent.includes(text));
  await page.waitForFunction(none, { timeout: LATEST, polling: 100 }, selector, text).catch(() => fail(`waited in vain for ${what}`));
}

/** Presses keys together, the last one between the others. */
async function press(...keys) {
  for (const key of keys.slice(0, -1)) await page.keyboard.down(key);
  await page.keyboard.press(keys.at(-1));
  for (const key of keys.slice(0, -1).reverse()) await page.keyboard.up(key);
}

const read = (file) => readFileSync(join(RULESETS, file), "utf8");

/** Presses keys until an element is shown: a busy window loses keys while its focus moves. */
async function pressed(keys, selector, what) {
  for (let left = 8; left > 0; left -= 1) {
    for (const chord of keys) await press(...chord);
    if (await waited(selector, "", LATEST / 8)) return;
  }
  await fail(`waited in vain for ${what}`);
}

/** Opens the quick pick, writes into its field, and takes the entry that contains `entry`. */
async function pick(keys, text, entry) {
  for (let left = 5; ; left -= 1) {
    await pressed([keys], ".quick-input-widget input:focus", "the quick pick");
    await page.keyboard.type(text, { delay: 20 });
    // While files are still searched, a list may stay empty.
    const found = await waited(".quick-input-list .monaco-list-row", entry, left ? LATEST / 8 : LATEST);
    await found?.click();
    if (found) break;
    if (!left) await fail(`the quick pick has no \`${entry}\` for \`${text}\``);
    await press("Escape");
  }
  await gone(".quick-input-widget input", "", "the end of the quick pick");
}

const run = (command) => pick(["F1"], command, command);

/** Opens a file. */
async function open(file) {
  const [, folder, name] = /^(.*)\/([^/]*)$/.exec(file);
  await pick(["Control", "p"], file, name + folder);
  await shown(".tab.active", name, `the tab of ${file}`);
  await shown(".monaco-editor .view-line", "", "the text");
}

/** Selects a piece of the text. */
async function select(piece) {
  await pressed([["Control", "1"], ["Control", "f"]], ".find-widget.visible textarea:focus", "the field of the search");
  await press("Control", "a");
  await page.keyboard.type(piece, { delay: 20 });
  await shown(".find-widget .matchesCount", "1 of", `\`${piece}\` in the text`);
  await press("Escape");
  await gone(".find-widget.visible", "", "the end of the search");
}

/** Puts the cursor behind a piece of the text. */
async function goTo(piece) {
  await select(piece);
  await press("ArrowRight");
}

async function replace(piece, text) {
  await select(piece);
  await page.keyboard.type(text, { delay: 20 });
}

const line = (text, what) => shown(".monaco-editor .view-line", text, what);

await step("the window opens the folder");
await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(RULESETS)}`);
await shown(".statusbar-item", "Riskbreaker", "the status item");

await step("a mistake is shown");
await open("tug/maneuvers/rest.luau");
await replace('"rests"', '"restz"');
await press("Control", "Shift", "m");
await shown(".markers-panel .monaco-list-row", "restz", "the problem in its panel");

await step("its fix takes it away");
await goTo('"restz');
await press("Control", ".");
const fix = await shown(".action-widget .monaco-list-row.action", "rests", "the fix");
await fix.click();
await line('add("rests", 1)', "the corrected line");
await gone(".markers-panel .monaco-list-row", "restz", "the end of the problem");

await step("a verb is completed");
await replace('rb.say("{} rests", ctx.actor)', "rb.act.mo");
await press("Control", "Space");
await shown(".suggest-widget .monaco-list-row", "move_rope", "the verb");
await press("Enter");
await line("rb.act.move_rope", "the completed verb");
await page.keyboard.type("(");
await press("Control", "Shift", "Space");
await shown(".parameter-hints-widget .signature", "move_rope", "the parameters");
await press("Escape");
await press("Escape");
await replace("rb.act.move_rope(", 'rb.say("{} rests", ctx.actor)');

await step("a field is renamed over two layers");
await goTo('add("re');
await pressed([["F2"]], ".rename-box input:focus", "the field of the new name");
await press("Control", "a");
await page.keyboard.type("naps");
await press("Enter");
await line('add("naps", 1)', "the new name");
await run("File: Save All Files");
const renamed = () => read("house/hooks/tired.luau").includes("e.who.naps") && read("tug/kinds.luau").includes("naps = rb.int") && read("tug/maneuvers/rest.luau").includes('add("naps", 1)');
for (const end = Date.now() + LATEST; !renamed(); ) {
  if (Date.now() > end) await fail(`not renamed: ${read("house/hooks/tired.luau")}`);
  await new Promise((resolve) => setTimeout(resolve, 100));
}

await step("odds stand in the hover, before and after an edit");
await open("tug/maneuvers/pull.luau");
await replace("won and risk or -risk", "won and risk or 0");
await goTo('id = "pu');
await press("Control", "k");
await press("Control", "i");
await shown(".monaco-hover-content", "exact, over 2 paths", "exact odds");
for (const wanted of ["Odds in the scenario", "saved", "edited"]) await shown(".monaco-hover-content", wanted, `\`${wanted}\` in the hover`);
await press("Escape");
await replace("won and risk or 0", "won and risk or -risk");

await step("a lens runs a spec");
await open("tug/specs/maneuvers/pull.luau");
const lens = await shown(".codelens-decoration a", "Run this spec", "the lens");
await lens.click();
await shown(".xterm-rows", "1 spec holds", "the verdict in the terminal");

await step("a game is played beside the editor");
await run("Riskbreaker: Play Scenario");
await shown(".xterm-rows", "risk", "the first question");

await step("done");
await browser.close();
process.exit(0);
