// Helpers of the browser tests: Chromium, devices, checks, pictures.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "../..");
const args = process.argv.slice(2);
export const option = (name) => { const at = args.indexOf(`--${name}`); return at < 0 ? undefined : args[at + 1]; };
export const all = (name) => args.flatMap((text, at) => (text === `--${name}` ? [args[at + 1]] : []));

function skip(what) {
  console.log(`The browser test is skipped: ${what}.`);
  process.exit(process.env.CI_ALL ? 1 : 0);
}

const chromium = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
if (!chromium) skip("Chromium is missing");
const puppeteer = await import("puppeteer-core").then((module) => module.default, () => skip("run `npm ci` in tests/browser first"));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
let checks = 0;
const failures = [];
export function check(holds, text) {
  checks += 1;
  if (!holds) {
    failures.push(text);
    console.log(`FAILED: ${text}`);
  }
}

/** Waits until `test` returns true in the page. */
export const until = (page, test, ...values) => page.waitForFunction(test, { timeout: 60_000, polling: 50 }, ...values);

// Pages.

export const browser = await puppeteer.launch({ executablePath: chromium, headless: true, protocolTimeout: 600_000, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

/** Opens a page on a device of its own, which shares no storage with the others. */
export async function device(name, width, height, theme, touch = false) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.name = name;
  page.errors = [];
  page.on("pageerror", (error) => page.errors.push(String(error.stack ?? error)));
  page.on("console", (message) => message.type() === "error" && !/ERR_INTERNET_DISCONNECTED|WebSocket|favicon/.test(message.text()) && page.errors.push(message.text()));
  page.requests = [];
  page.on("request", (request) => page.requests.push(request.url()));
  await page.setViewport({ width, height, deviceScaleFactor: 1, hasTouch: touch, isMobile: touch });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: "reduce" }]);
  return page;
}

export async function goTo(page, url, name) {
  await page.goto(url, { waitUntil: "load" });
  await until(page, () => document.querySelector(".door form, .top, .tv"));
  if (name && (await page.$(".door form"))) {
    await page.type("[name=name]", name);
    await page.click(".door .go");
  }
  await until(page, () => document.querySelector(".top, .tv, .door .wait"));
}

const shots = option("shots");
if (shots) mkdirSync(shots, { recursive: true });
export const shoot = async (page, name, fullPage = false) => shots && page.screenshot({ path: join(shots, `${name}.png`), fullPage });

/** Checks a screen: no finding of axe, nothing wider than the page, and targets of at least 44 pixels. */
export async function inspect(page, what) {
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what}: scrolls sideways`);
  const small = await page.evaluate(() => [...document.querySelectorAll("button, summary, input, select, textarea")].filter((node) => node.checkVisibility() && !node.closest(".heard"))
    .map((node) => [node.getBoundingClientRect(), node.textContent.slice(0, 30) || node.name]).filter(([{ width, height }]) => width > 0 && (height < 43.9 || width < 43.9)).map(([{ width, height }, text]) => `${text} ${width}x${height}`));
  check(small.length === 0, `${what}: targets below 44 px: ${small.slice(0, 5).join("; ")}`);
  // The content security policy of the page forbids `eval`, so axe is loaded through the debugger.
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"], rules: { "color-contrast": { enabled: true } } }).then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary.slice(0, 200)}`).join(" | ")}`)));
  check(found.length === 0, `${what}: axe: ${found.join("\n")}`);
}

/** Ends the process with the result of all checks. */
export async function finish() {
  await browser.close();
  console.log(failures.length ? `${failures.length} of ${checks} checks failed.` : `All ${checks} checks hold.`);
  process.exit(failures.length ? 1 : 0);
}
