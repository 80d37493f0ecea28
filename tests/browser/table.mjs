// Plays at the page of `riskbreaker table` in Chromium: a game master, four phones and a television. Meanwhile phones go offline and
// sleep, and the program is killed once and started again.
//
//     node tests/browser/table.mjs [--game RULESET/SCENARIO]... [--page FOLDER] [--shots FOLDER] [--most ANSWERS]
//
// `RISKBREAKER` in the environment names the program (default: target/debug/riskbreaker); `--page` takes the page from a folder
// instead of the program. Without Chromium or the modules of `package.json`, the test prints that and succeeds; with `CI_ALL=1` in
// the environment it fails.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { all, check, device, finish, goTo, inspect, option, pause, root, shoot, until } from "./kit.mjs";
import { Program, freePort } from "./program.mjs";

const GAMES = ["riskbreaker-0.0.1/duel", "contest/duel", "rbf/ambush", "riskbreaker-0.0.3/adventure", "silent-winter/crypt"];
const MOST_BYTES = 30 * 1024;
const MOST_REQUESTS = 12;

// Playing.

/** Gives one answer on a page, by keys or by clicks. Returns a description of it, or undefined if the page has no question. */
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

/** Plays on the phones until the game is over; questions that no phone can answer are answered on the game master's page. */
async function playOn({ gm, phones }, most, events) {
  let given = 0;
  let idle = 0;
  while (given < most) {
    await events[given]?.();
    delete events[given];
    if (await over(gm)) return given;
    let answer;
    // Random answers may never end a fight: after some time the game master lets a policy answer for the players.
    if (given > 40) {
      answer = await gm.evaluate(() => {
        const found = [...document.querySelectorAll(".play.two button")].find(({ textContent }) => textContent.startsWith("Let policy"));
        found?.click();
        return found && { name: found.closest(".ask").dataset.question, seq: document.body.dataset.seq };
      });
    }
    let at = gm;
    for (const page of [...phones, gm]) {
      if (answer) break;
      at = page;
      answer = await answerOnce(page, page === phones[0]);
    }
    if (answer) {
      given += 1;
      idle = 0;
      // The page shows the next step, or a refusal.
      await at.waitForFunction((seq) => {
        const card = document.querySelector(".ask.active");
        return document.body.dataset.seq !== seq || card?.querySelector(".refusal, .go:not([aria-disabled=true])");
      }, { timeout: 5_000, polling: 20 }, answer.seq).catch(() => {});
      await pause(25);
    } else if (++idle > 200) {
      await shoot(gm, "stuck-gm", true);
      throw new Error("Nobody is asked, and the game is not over.");
    } else await pause(50);
  }
  return given;
}

/** Returns the number of the last step that each page shows. */
const seqs = (pages) => Promise.all(pages.map((page) => page.evaluate(() => document.body.dataset.seq)));

async function same(pages, what) {
  for (let tries = 0; tries < 100; tries += 1) {
    const seen = new Set(await seqs(pages));
    if (seen.size === 1) return;
    await pause(50);
  }
  check(false, `${what}: the pages show different steps: ${await seqs(pages)}`);
}

/** Takes a page offline until `meanwhile` is done. Returns how long it took to connect again, in milliseconds. */
async function offline(page, meanwhile) {
  const client = await page.createCDPSession();
  const network = (gone) => client.send("Network.emulateNetworkConditions", { offline: gone, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await client.send("Network.enable");
  await network(true);
  // The emulation keeps open sockets alive, so the event of a real loss is sent as well.
  await page.evaluate(() => dispatchEvent(new Event("offline")));
  await until(page, () => document.querySelector(".link.lost"));
  check(await page.evaluate(() => Boolean(document.querySelector(".ask, .waits, .tv"))), "the page stays readable without a connection");
  await meanwhile();
  await network(false);
  const start = Date.now();
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await until(page, () => !document.querySelector(".link.lost"));
  await client.detach();
  return Date.now() - start;
}

/** Freezes a page until `meanwhile` is done, as phones do in the background. Returns the milliseconds to the last step. */
async function asleep(page, meanwhile, awake) {
  const client = await page.createCDPSession();
  await client.send("Page.setWebLifecycleState", { state: "frozen" });
  await meanwhile();
  const seq = await awake.evaluate(() => document.body.dataset.seq);
  const start = Date.now();
  await client.send("Page.setWebLifecycleState", { state: "active" });
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await until(page, (last) => Number(document.body.dataset.seq) >= Number(last) && !document.querySelector(".link.lost"), seq);
  await client.detach();
  return Date.now() - start;
}

// One game.

let weighed = false;
let managed = false;

/** Lets somebody in from the waiting room, on the game master's page. */
async function admit(gm, name, seat) {
  const press = ([who, where]) => {
    const bar = [...document.querySelectorAll(".note-bar")].find(({ textContent }) => textContent.startsWith(who));
    [...bar?.querySelectorAll("button") ?? []].find(({ textContent }) => textContent === where)?.click();
    return Boolean(bar);
  };
  await until(gm, press, [name, seat]);
}

/** Makes a code for one seat on the game master's page. */
async function invitation(gm, seat) {
  const fold = () => [...document.querySelectorAll("details")].find(({ firstChild }) => firstChild.textContent === "Invite by code");
  await until(gm, `(${fold})()`);
  await gm.evaluate(`(() => { const fold = (${fold})(); fold.open = true; [...fold.querySelectorAll("button")].find(({ textContent }) => textContent === ${JSON.stringify(seat)}).click(); })()`);
  await until(gm, () => document.querySelector("input[readonly]")?.value.includes("#j="));
  return gm.evaluate(() => document.querySelector("input[readonly]").value);
}

/** Chooses on the game master's page who plays a seat. */
const drive = (gm, seat, driver) => gm.evaluate(([of, to]) => {
  const select = [...document.querySelectorAll("label")].find(({ firstChild }) => new RegExp(`(^|\\()${of}\\)?$`).test(firstChild.textContent)).querySelector("select");
  select.value = to;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}, [seat, driver]);

/** Uses the tools on the game master's page and checks their effect on the other pages. */
async function manage(gm, phone, tv, name) {
  const has = (page, text) => until(page, (words) => document.body.textContent.includes(words), text).catch(() => check(false, `${name}, ${page.name}: nowhere says "${text}"`));
  const press = async (page, text) => {
    await until(page, (words) => { const found = [...document.querySelectorAll("button")].find(({ textContent, ariaDisabled }) => textContent === words && ariaDisabled !== "true"); found?.click(); return Boolean(found); }, text)
      .catch(() => check(false, `${name}, ${page.name}: there is no button "${text}"`));
    await pause(150);
  };
  const fill = async (page, label, value) => {
    await until(page, ([words, to]) => {
      const box = [...document.querySelectorAll("label")].find(({ firstChild }) => firstChild.textContent === words)?.querySelector("input, select") ?? document.querySelector(`[aria-label="${words}"]`);
      if (!box) return false;
      const choice = [...box.options ?? []].find(({ value, textContent }) => value === to || textContent.startsWith(to));
      box.value = choice?.value ?? to;
      box.dispatchEvent(new Event(choice ? "change" : "input", { bubbles: true }));
      return true;
    }, [label, value]).catch(() => check(false, `${name}, ${page.name}: there is no field "${label}"`));
    await pause(150);
  };
  for (const page of [gm, phone]) await page.evaluate(() => { for (const node of document.querySelectorAll("details")) node.open = true; });
  await pause(500);
  await press(gm, "Pause");
  await has(phone, "Paused by the game master.");
  await press(gm, "Go on");
  await fill(gm, "Note", "It begins to rain.");
  await press(gm, "Write");
  for (const page of [phone, tv]) await has(page, "It begins to rain.");
  const [who] = await gm.evaluate(() => [...document.querySelectorAll(".turns b")].map(({ firstChild }) => firstChild.textContent));
  await fill(gm, "Whose", who);
  await fill(gm, "Field", "name");
  await fill(gm, "Value", "Somebody Else");
  await press(gm, "Write it");
  for (const page of [phone, tv]) await has(page, "Somebody Else");
  await press(gm, "Undo");
  await press(gm, "Take back");
  await until(tv, (title) => [...document.querySelectorAll(".turns b")].some(({ textContent }) => textContent.startsWith(title)), who).catch(() => check(false, `${name}: undo does not take an edit back`));
  await fill(gm, "Faces in the order they are rolled, such as 7, 2, 10", "1, 1");
  await press(gm, "Give");
  await press(gm, "Take all away");
  // One of the games can be migrated to another version.
  if (name.startsWith("riskbreaker-0.0.1")) {
    await fill(gm, "Ruleset", "riskbreaker-0.0.3");
    await press(gm, "Preview");
    await has(gm, " → riskbreaker-0.0.3");
  }
  await fill(phone, "Say to everybody", "Hello, table!");
  await press(phone, "Say");
  for (const page of [gm, tv]) await has(page, "Hello, table!");
  await fill(gm, "Who takes decisions back", "the table votes");
  // In some games secrets were shown since then, so the button does not exist.
  if (await phone.evaluate(() => [...document.querySelectorAll("button")].some(({ textContent }) => textContent === "Undo"))) {
    await press(phone, "Undo");
    await press(phone, "Ask the table");
    await has(gm, "asks to take back");
    await press(gm, "Agree");
    await until(tv, () => [...document.querySelectorAll(".gone")].some(({ textContent }) => textContent.includes("It begins to rain."))).catch(() => check(false, `${name}: a vote takes nothing back`));
  }
  await fill(gm, "Who takes decisions back", "who decided last");
  if (await gm.evaluate(() => [...document.querySelectorAll("summary")].some(({ textContent }) => textContent === "Encounter"))) {
    for (const side of ["Heroes", "Foes"]) {
      await gm.evaluate((title) => {
        const select = [...document.querySelectorAll("label")].find(({ firstChild }) => firstChild.textContent === title).querySelector("select");
        select.selectedIndex = 1;
        select.dispatchEvent(new Event("change", { bubbles: true }));
      }, side);
      await pause(100);
    }
    await press(gm, "Chances");
    await until(gm, () => /\d+ to \d+ %, \d+ games/.test(document.body.textContent)).catch(() => check(false, `${name}: an encounter has no chances`));
  }
  check(await gm.evaluate(() => document.querySelectorAll(".entries li").length > 0), `${name}: no entries of the campaign`);
  check(!(await gm.evaluate(() => document.querySelector(".note-bar")?.textContent)), `${name}: a notice is open on the game master's page`);
  await inspect(gm, `${name}, gm, all open`);
  await shoot(gm, `${name.replace("/", "-")}-gm-open`, true);
}

async function game(name, table) {
  console.log(`== ${name}`);
  const { address, codes } = table;
  if (!weighed) await weigh(address);
  weighed = true;
  const gm = await device("gm", 1280, 900, "light");
  const phones = [];
  for (const [place, theme] of ["dark", "light", "dark", "light"].entries()) phones.push(await device(`phone ${place + 1}`, 390, 844, theme, true));
  const tv = await device("tv", 1920, 1080, "dark");
  const pages = [gm, ...phones, tv];
  await goTo(gm, `${address}#gm=${codes.gm}`);
  await until(gm, () => document.querySelector(".gm"));
  await goTo(tv, `${address}tv`);
  // Two phones enter by the waiting room, one by a code for a seat, and one for the other side.
  const seats = ["players", "players", "players", "foes"];
  for (const [place, who] of ["Ann", "Bo", "Cy", "Di"].entries()) {
    const page = phones[place];
    const link = who === "Cy" ? await invitation(gm, seats[place]) : `${address}#j=${codes.join}`;
    await goTo(page, link, who);
    if (who !== "Cy") await admit(gm, who, seats[place]);
    await until(page, () => document.querySelector(".player"));
    check(!page.url().includes("="), `${name}: a code stays in the address of ${who}`);
  }
  check(!gm.url().includes(codes.gm), `${name}: a code stays in the address of the game master`);
  const policy = await gm.evaluate(() => [...document.querySelectorAll("select")].find(({ value }) => !["human", "absent"].includes(value))?.value);
  if (policy) await drive(gm, "foes", "human");
  const short = name.replace("/", "-");
  const look = async (when, whole = true) => {
    for (const page of pages) {
      await inspect(page, `${name}, ${page.name}${when}`);
      await shoot(page, `${short}-${page.name.replace(" ", "")}${when.replaceAll(" ", "-")}`, whole && page !== tv);
    }
  };
  phones[1].bold = true;
  await pause(1_500);
  await look("");
  check(!(await tv.evaluate(() => document.querySelector("button, a, input, select")?.outerHTML)), `${name}: the television has a control`);
  if (!managed) await manage(gm, phones[0], tv, name);
  managed = true;
  const times = [];
  const some = (rest) => () => playOn({ gm, phones: phones.filter((page) => page !== rest) }, 3, {});
  const given = await playOn({ gm, phones }, Number(option("most") ?? 600), {
    3: async () => times.push(`offline ${await offline(phones[0], some(phones[0]))} ms`),
    6: async () => {
      await phones[1].reload();
      await until(phones[1], () => document.querySelector(".player"));
      const undos = () => gm.evaluate(() => document.querySelectorAll(".log .head button").length);
      const before = await undos();
      await gm.reload();
      await until(gm, () => document.querySelector(".log li"));
      // A view has the last 50 lines.
      check(before === 0 || (await undos()) > 0, `${name}: after a reload the log has no undo, and had ${before}`);
    },
    9: async () => times.push(`asleep ${await asleep(phones[2], some(phones[2]), gm)} ms`),
    12: () => look(" in play"),
    15: async () => {
      await same(pages, name);
      const [before] = await seqs([gm]);
      await table.kill();
      for (const page of pages) await until(page, () => document.querySelector(".link.lost"));
      await shoot(phones[0], `${short}-phone1-lost`, true);
      const start = Date.now();
      await table.start();
      for (const page of pages) await until(page, () => document.querySelector(".top, .tv") && !document.querySelector(".link.lost"));
      times.push(`killed ${Date.now() - start} ms`);
      await same(pages, `${name}, after the kill`);
      const [after] = await seqs([gm]);
      check(Number(after) >= Number(before), `${name}: the kill has lost steps: ${before} before, ${after} after`);
    },
    40: () => policy && drive(gm, "foes", policy),
  });
  const ended = await over(gm);
  check(ended, `${name}: the game is not over after ${given} answers`);
  await same(pages, name);
  if (ended) await look(" end", false);
  for (const page of pages) check(page.errors.length === 0, `${name}, ${page.name}: errors: ${page.errors.slice(0, 3).join("\n")}`);
  console.log(`${given} answers, over: ${ended}; ${times.join(", ")}`);
  for (const page of pages) await page.browserContext().close();
  await table.stop();
}

/** Returns the number of bytes and requests that load the page. */
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

const games = all("game");
for (const name of games.length ? games : GAMES) await game(name, await new Program(name, await freePort()).start());
await finish();
