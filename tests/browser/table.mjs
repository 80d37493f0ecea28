// Plays at the page of the table in Chromium: a game master, two phones and a television, with pages that go offline and sleep.
//
//     node tests/browser/table.mjs [--program FILE] [--game RULESET/SCENARIO]... [--shots FOLDER] [--most ANSWERS]
//     node tests/browser/table.mjs --address http://127.0.0.1:7780/ --gm CODE --seat CODE [--shots FOLDER]
//
// Without an address, it starts `riskbreaker table` for each game. Without Chromium or the modules of `package.json` it says so and
// ends well; with `CI_ALL=1` in the environment it fails instead.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { all, check, device, finish, goTo, inspect, option, pause, root, shoot, until } from "./kit.mjs";

const GAMES = ["contest/duel", "riskbreaker-0.0.1/duel", "riskbreaker-0.0.3/duel", "rbf/raid", "silent-winter/duel"];
const MOST_BYTES = 30 * 1024;
const MOST_REQUESTS = 12;

// Playing.

/** Gives one answer on a page, by keys alone or by presses. Returns what was done, or undefined if nothing is asked here. */
async function answerOnce(page, keys) {
  const before = await page.evaluate(() => {
    const card = document.querySelector(".ask.active");
    if (!card) return null;
    const go = card.querySelector(".go");
    return { name: card.dataset.question, ready: go.getAttribute("aria-disabled") !== "true", kind: card.querySelector(".faces") ? "dice" : card.querySelector(".many") ? "many" : card.querySelector(".options") ? "choose" : card.querySelector(".keys") ? "keys" : card.querySelector(".allot") ? "allot" : card.querySelector(".stepper") ? "number" : "line",
      count: card.querySelectorAll("[data-place], [data-number]").length, seq: document.body.dataset.seq };
  });
  if (!before) return undefined;
  const press = (selector) => page.evaluate((at) => document.querySelector(`.ask.active ${at}`)?.click(), selector);
  if (!before.ready || (before.kind === "choose" && Math.random() < 0.5 && page.bold)) {
    const place = 1 + Math.floor(Math.random() * Math.min(before.count, 9));
    if (before.kind === "dice") await press(".row button");
    else if (keys && ["choose", "keys", "many"].includes(before.kind)) await page.keyboard.press(String(place));
    else if (before.kind === "choose" || before.kind === "many") await press(`[data-place="${place - 1}"]`);
    else if (before.kind === "keys") await page.evaluate((at) => { const list = document.querySelectorAll(".ask.active [data-number]"); list[at % list.length].click(); }, place);
    else if (before.kind === "number" || before.kind === "allot") await page.evaluate(() => { const plus = [...document.querySelectorAll(".ask.active .stepper button:last-child")].filter((node) => node.getAttribute("aria-disabled") !== "true"); plus[Math.floor(Math.random() * plus.length)]?.click(); });
    else await page.type(".ask.active textarea, .ask.active input", "over there");
    await pause(40);
  }
  if (keys) await page.keyboard.press("Enter");
  else await press(".go");
  return before;
}

const over = (page) => page.evaluate(() => Boolean(document.querySelector(".waits.over")));

/** Plays on the phones, and on the game master's page what nobody else can answer, until the game is over. */
async function playOn({ gm, phones, tv }, most, events = {}) {
  let given = 0;
  let idle = 0;
  while (given < most) {
    if (await over(gm)) return given;
    let done = false;
    // Chance alone ends no fight: later on, the game master lets a policy answer for the players, where one plays another seat.
    if (given > 40 && await gm.evaluate(() => { const found = [...document.querySelectorAll(".play.two button")].find(({ textContent }) => textContent.startsWith("Let policy")); found?.click(); return Boolean(found); })) {
      given += 1;
      idle = 0;
      await pause(120);
      continue;
    }
    for (const page of [...phones, gm]) {
      const answer = await answerOnce(page, page === phones[0]);
      if (!answer) continue;
      done = true;
      given += 1;
      await events[given]?.();
      // The page has the next step, or says why not.
      await page.waitForFunction((name) => { const card = document.querySelector(".ask.active"); return !card || card.dataset.question !== name || card.querySelector(".refusal") || card.querySelector(".go").getAttribute("aria-disabled") === "true"; }, { timeout: 5_000, polling: 20 }, answer.name).catch(() => {});
      await pause(25);
      break;
    }
    if (done) idle = 0;
    else if (++idle > 200) throw new Error("Nobody is asked, and the game is not over.");
    else await pause(50);
  }
  return given;
}

/** Says what each page shows of the game: all must have seen the same step. */
const seqs = (pages) => Promise.all(pages.map((page) => page.evaluate(() => document.body.dataset.seq)));

async function same(pages, what) {
  for (let tries = 0; tries < 100; tries += 1) {
    const seen = new Set(await seqs(pages));
    if (seen.size === 1) return;
    await pause(50);
  }
  check(false, `${what}: the pages show different steps: ${await seqs(pages)}`);
}

async function sleepAndWake(page, address) {
  const client = await page.createCDPSession();
  await client.send("Network.enable");
  await client.send("Network.emulateNetworkConditions", { offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await page.evaluate(() => dispatchEvent(new Event("offline")));
  await until(page, () => document.querySelector(".link.lost"));
  check(await page.evaluate(() => Boolean(document.querySelector(".ask, .waits, .tv"))), "the page stays readable without a connection");
  await client.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  const start = Date.now();
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await until(page, () => !document.querySelector(".link.lost"));
  await client.detach();
  return Date.now() - start;
}

// One game.

let weighed = false;

async function game(name, { address, codes, stop }) {
  console.log(`== ${name}`);
  if (!weighed) await weigh(address);
  weighed = true;
  const gm = await device("gm", 1280, 900, "light");
  const phones = [await device("phone 1", 390, 844, "dark", true), await device("phone 2", 360, 740, "light", true)];
  const tv = await device("tv", 1920, 1080, "dark");
  const pages = [gm, ...phones, tv];
  await goTo(gm, `${address}#gm=${codes.gm}`);
  await goTo(phones[0], `${address}#j=${codes.seat}`, "Ann");
  await goTo(phones[1], `${address}#j=${codes.seat2 ?? codes.seat}`, "Bo");
  await goTo(tv, `${address}tv`);
  check(!gm.url().includes(codes.gm) && !phones[0].url().includes(codes.seat), `${name}: a code stays in the address`);
  const short = name.replace("/", "-");
  phones[1].bold = true;
  await until(gm, () => document.querySelector(".gm"));
  await pause(1_500);
  for (const page of pages) {
    await inspect(page, `${name}, ${page.name}`);
    await shoot(page, `${short}-${page.name.replace(" ", "")}`, page !== tv);
  }
  await tv.evaluate(() => document.querySelector("button, a, input")?.outerHTML).then((found) => check(!found, `${name}: the television has a control: ${found}`));
  const times = [];
  const given = await playOn({ gm, phones, tv }, Number(option("most") ?? 400), {
    3: async () => times.push(await sleepAndWake(phones[0])),
    6: async () => { await phones[1].reload(); await until(phones[1], () => document.querySelector(".top")); },
    9: async () => times.push(await sleepAndWake(tv)),
    12: async () => { for (const page of pages) { await shoot(page, `${short}-${page.name.replace(" ", "")}-mid`, page !== tv); await inspect(page, `${name}, ${page.name}, in play`); } },
  });
  const ended = await over(gm);
  check(ended, `${name}: the game is not over after ${given} answers`);
  await same(pages, name);
  for (const page of pages) {
    await shoot(page, `${short}-${page.name.replace(" ", "")}-end`);
    if (ended) await inspect(page, `${name}, ${page.name}, at the end`);
    check(page.errors.length === 0, `${name}, ${page.name}: errors: ${page.errors.slice(0, 3).join("\n")}`);
  }
  console.log(`${given} answers, over: ${ended}, current again after ${times.join(", ")} ms`);
  for (const page of pages) await page.browserContext().close();
  await stop?.();
}

/** The bytes and requests of the page, as the server sends it. */
async function weigh(address) {
  const folder = join(root, "crates/web/page");
  const files = readdirSync(folder);
  let bytes = 0;
  for (const file of files) {
    const answer = await fetch(`${address}${file === "index.html" ? "" : file}`);
    check(answer.ok && answer.headers.get("content-security-policy")?.startsWith("default-src 'none'"), `${file} comes with a policy`);
    bytes += gzipSync(Buffer.from(await answer.arrayBuffer()), { level: 9 }).length;
    check(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(readFileSync(join(folder, file), "utf8")), `${file} parses texts as HTML or code`);
  }
  console.log(`The page has ${files.length} files, ${bytes} bytes gzipped.`);
  check(bytes <= MOST_BYTES, `the page has ${bytes} bytes gzipped, more than ${MOST_BYTES}`);
  check(files.length + 1 <= MOST_REQUESTS, `the page takes ${files.length + 1} requests`);
}

/** Starts `riskbreaker table` with a game and reads the addresses from what it prints. */
async function start(program, name) {
  const folder = mkdtempSync(join(tmpdir(), "riskbreaker-table-"));
  const [ruleset, scenario] = name.split("/");
  const child = spawn(program, ["--rulesets", join(root, "rulesets"), "table", "evening", "--rules", ruleset, "--scenario", scenario, "--no-open"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (text) => { printed += text; });
  const found = (pattern) => pattern.exec(printed);
  for (let tries = 0; tries < 200 && !(found(/#gm=(\S+)/) && found(/#j=(\S+)/)); tries += 1) await pause(50);
  const address = found(/(http:\/\/[^\s#]+\/)#gm=/)?.[1];
  if (!address) throw new Error(`The program did not print its addresses:\n${printed}`);
  const stop = () => new Promise((resolve) => { child.on("close", () => { rmSync(folder, { recursive: true, force: true }); resolve(); }); child.kill("SIGINT"); });
  return { address, codes: { gm: found(/#gm=(\S+)/)[1], seat: found(/#j=(\S+)/)[1] }, stop };
}

const address = option("address");
if (address) await game(option("name") ?? "table", { address, codes: { gm: option("gm"), seat: option("seat") } });
else {
  const program = option("program") ?? join(root, "target/debug/riskbreaker");
  const games = all("game");
  for (const name of games.length ? games : GAMES) await game(name, await start(program, name));
}
await finish();
