// Checks every screen of the page and every kind of question without the program: a fake socket in the page sends the messages.
//
//     node tests/browser/screens.mjs [--short] [--shots FOLDER]
//
// `--short` checks only the narrowest and the widest screen.

import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { check, device, finish, inspect, option, pause, root, shoot, until } from "./kit.mjs";

const folder = join(root, "crates/web/page");
const types = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript" };
const server = createServer((request, answer) => {
  const path = request.url === "/" || request.url === "/tv" ? "/index.html" : request.url;
  const file = join(folder, path);
  if (path === "/v1/qr") return answer.end(JSON.stringify({ rows: Array.from({ length: 25 }, (_, y) => Array.from({ length: 25 }, (_, x) => ((x * y + x) % 3 ? "0" : "1")).join("")) }));
  if (!existsSync(file)) return answer.writeHead(404).end();
  return answer.writeHead(200, {
    "content-type": types[extname(file)],
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  }).end(readFileSync(file));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const address = `http://127.0.0.1:${server.address().port}/`;

// The messages of a fake table.

const option_ = (id, label, more = {}) => ({ id, label, enabled: true, ...more });
const OPTIONS = [option_("strike", "Strike", { note: "one weapon, one target" }), option_("guard", "Guard"), option_("run", "Run for the gate, and take the banner along", { note: "up to your speed" }),
  option_("sing", "Sing", { enabled: false, reason: "nobody listens (AB-12)" }), option_("cast", "Cast a spell", { enabled: false, reason: "nobody listens (AB-12)" }), option_("fly", "Fly", { enabled: false, reason: "you have no wings" })];
const ask = {
  choose: { kind: "choose", options: OPTIONS, other: true },
  many: { kind: "choose_many", min: 1, max: 2, options: OPTIONS },
  order: { kind: "order", options: OPTIONS.slice(0, 3) },
  number: { kind: "number", min: 0, max: 5 },
  wide: { kind: "number", min: -20, max: 400 },
  allot: { kind: "allot", least: 2, total: 4, options: [option_("a", "Ann", { max: 3 }), option_("b", "Bo", { note: "already hurt" }), option_("c", "Cy")] },
  confirm: { kind: "confirm" },
  line: { kind: "line", max: 200 },
  dice: { kind: "dice", dice: "2d10+d20", sides: [10, 10, 20] },
};
const question = (kind, ordinal, more = {}) => ({ id: { action: 3, ordinal }, seat: "players", topic: kind, about: 7, title: "Ann", why: `which ${kind}? (AB-${ordinal})`, ask: ask[kind], sealed: false, yours: true, ...more });
const person = (id, title, side, seat, hp, position) => ({ id, kind: "actor", title, fields: { hp, name: title, place: null }, seat, side: { title: side },
  numbers: [{ name: "hp", label: "HP", value: hp, max: 15 }, { name: "harm", label: "Harm", value: 2, max: 5, harm: true }, { name: "pace", label: "speed", value: 4, unit: "m" }], position });
const ENTITIES = [person(7, "Ann", "Heroes", "players", 9, { x: 0, y: 0, unit: "m" }), person(8, "Bo", "Heroes", "players", 15, { x: 0, y: 1, unit: "m" }), person(9, "Captain Ironfist", "Raiders", "foes", 3, { x: 12.5, y: 0, h: 2, unit: "m" }),
  person(10, "Thug", "Raiders", "foes", 10, { x: 14, y: 4, unit: "m" }), person(11, "Wolf", "Beasts", "foes", 7, { place: { entity: 20, title: "the bridge" } }), { id: 12, kind: "thing", title: "Barrel", fields: {}, position: { x: 6, y: 2, unit: "m" } }];
const roll = { event: "rolled", label: "Ann rolls Sword", dice: "2d8+3", faces: [1, 5], total: 8, roll: { parts: [{ dice: "2d8", faces: [{ sides: 8, value: 5 }, { sides: 8, value: 1, fate: "dropped" }], amount: 5 }, { amount: 3 }], need: { is: "at_least", value: 8 }, total: 8, result: "Success", kind: "success" } };
const LOG = [{ event: "said", text: "Round 3" }, { event: "answered", seat: "foes", topic: "choose", about: "Thug", text: "Strike" }, { event: "answered", seat: "foes", topic: "target", about: "Thug", text: "Ann" }, { ...roll, label: "Thug rolls Axe", roll: { ...roll.roll, kind: "failure", result: "Failure" } },
  { event: "changed", entity: 7, title: "Ann", field: "hp", label: "HP", from: 15, to: 9, text: "15 -> 9", reason: "a cut" }, { event: "answered", seat: "players", topic: "choose", about: "Ann", text: "Strike" }, roll, { event: "aside", text: "The answer to `with` does not fit." }].map((line, place) => ({ ...line, revision: place + 1 }));
const view = (role, more = {}) => ({ table: "evening", role, seat: role === "seat" ? "players" : undefined, seq: 5, revision: 8, state: { is: "asking" }, entities: ENTITIES, questions: [], waiting: [{ seat: "players", questions: 1 }], undo: { allowed: role !== "watcher", decisions: 2, reach: role === "watcher" ? undefined : 3, takes_back: { seat: "players", about: "Ann", text: "choose: Strike" }, redo: true },
  presence: [{ role: "seat", seat: "players", viewers: 2, people: ["Ann", "Bo"] }, { role: "game_master", viewers: 1 }, { role: "watcher", viewers: 1 }], log: LOG, chat: [{ id: 1, name: "Bo", role: "seat", seats: ["players"], text: "Careful with the wolf!" }],
  order: { label: "Round 3", turns: [{ entity: 9, title: "Captain Ironfist", state: "acted", at: 15 }, { entity: 7, title: "Ann", state: "now", at: 12 }, { entity: 8, title: "Bo", state: "to_come", at: 10, note: "holds" }, { entity: 10, title: "Thug", state: "to_come", at: 9 }, { entity: 11, title: "Wolf", state: "out" }] },
  settings: { paused: false, rules: { id: "arena", title: "Arena", version: "1.0.0", hash: "0", layers: ["house-armour"] }, seats: { players: "human", foes: { policy: "bold" }, gm: "absent" }, switches: { ties: "fail", reach: 2, quick: true }, options: { undo: "own", odds: true, delay: 0 } }, ...more });
const chance = (decimal, more = {}) => ({ decimal, ...more });
const REPLIES = {
  odds: { exact: true, partial: false, dealt: false, until: ["round"], remaining: chance(0), answers: [{ who: "Captain", topic: "soak", answer: "none", source: "default" }], outcomes: [{ chance: chance(0.55), text: "Captain HP 3 -> 0", kind: "success" }, { chance: chance(0.3), text: "nothing changes", kind: "failure" }, { chance: chance(0.15), text: "the sword breaks", kind: "other" }] },
  sheet: { lines: [], rows: [{ label: "HP", text: "9 of 15", number: { name: "hp", label: "HP", value: 9, max: 15 } }, { label: "Harm", text: "2 of 5", number: { name: "harm", label: "Harm", value: 2, max: 5, harm: true } }, { label: "place", text: "0, 0" }] },
  why: { explanation: { title: "Ann, HP", value: "9", terms: [{ label: "base", value: "15", path: "a.luau", line: 1, depth: 0 }, { label: "cut", value: "-6", path: "a.luau", line: 2, depth: 1 }], changes: ["15 -> 9 (a cut)"] } },
  acts: { acts: [{ name: "flee", title: "Leave the fight", seat: "gm", enabled: true }, { name: "word", title: "A word to friends", seat: "players", enabled: true }, { name: "hold", title: "Take a held turn", seat: "gm", enabled: false, reason: "nobody holds (AB-3)" }] },
  people: { waiting: [{ request: 4, name: "Cy" }], people: [{ person: 1, name: "Ann", role: "seat", seats: ["players"], devices: [{ device: 1, viewers: 1 }, { device: 2, name: "tablet", viewers: 0 }] }], invitations: [{ id: 3, role: "seat", seats: ["players"], code: true, viewers: 0 }], lobby: { open: true, watch: false } },
  lobby: { open: true, watch: true, code: "abcd", address },
  roster: { characters: { Ann: { ruleset: "arena", kind: "actor", fields: { hp: 9, wit: 3 } } } },
  offers: { rulesets: ["arena", "duel"], policies: ["bold", "careful"], switches: [{ name: "ties", text: "Who wins a tie.", default: "fail", values: ["fail", "win"] }, { name: "quick", text: "One roll for all.", default: false, values: [false, true] }, { name: "reach", text: "Metres.", default: 1, range: [1, 5] }], scenarios: [{ name: "gate", title: "At the gate" }, { name: "bridge", title: "The bridge" }], cast: ["thug", "wolf"] },
  card: { id: "strike", title: "Strike", text: "One weapon, one target. A hit deals its damage.", rules: ["AB-1"] },
  entries: { entries: [{ entry: 1, after: 0, text: "the start", stands: true, here: false, last: false }, { entry: 2, after: 1, text: "Ann: Guard", stands: false, here: false, last: true }, { entry: 3, after: 1, text: "Ann: Strike", stands: true, here: true, last: true }] },
  "undo.preview": { decisions: 2, takes_back: [{ seat: "players", about: "Ann", text: "choose: Strike" }, { seat: "foes" }] },
  "rules.preview": { from: "arena 1.0.0", to: "arena 2.0.0", waits_for: "round", changes: ["Strike costs 2"], notes: [{ fate: "carried", topic: "HP", text: "stays" }, { fate: "breach", topic: "Ann", text: "has too much Wit", rule: "AB-6" }] },
  recap: { paragraphs: ["Ann met the Captain at the bridge. It ended badly."] },
  scenes: { scenes: [{ title: "The bridge", first: 1, last: 3 }] },
  encounter: { title: "Ann against 2 x Thug", games: 400, undecided: 0, notes: ["Ann: Has too much Wit (AB-6)."], seats: {}, partial: false, results: [{ result: "Heroes", count: 280, share: 0.7, low: 0.65, high: 0.74 }, { result: "Foes", count: 120, share: 0.3, low: 0.26, high: 0.35 }] },
  invite: { id: 5, code: "0123456789" },
};
const FAULT = { message: "`ctx.bonus` is nil", chain: ["arena/maneuvers/strike.luau:21"], fatal: false, path: "arena/maneuvers/strike.luau", line: 21, column: 13, length: 9, source_line: "\treturn 1 + ctx.bonus", card: "Strike", action: "Ann: Strike", context: ["d10 rolled 7"], cure: "look whether it is there first" };

/** Opens the page with a fake socket: `hello` gets `welcome`, every other request its reply in `replies`. */
async function open(name, width, height, theme, path, welcome, replies = REPLIES) {
  const page = await device(name, width, height, theme, width < 500);
  await page.evaluateOnNewDocument((hello, replies) => {
    localStorage.setItem("rb:seat", "token");
    localStorage.setItem("rb:gm", "token");
    globalThis.sent = [];
    globalThis.WebSocket = class {
      readyState = 0;

      constructor() {
        globalThis.socket = this;
        setTimeout(() => { if (globalThis.dead) return this.onclose?.(); this.readyState = 1; this.onopen?.(); });
      }

      send(text) {
        const { id, method, params } = JSON.parse(text);
        globalThis.sent.push({ method, params });
        const result = method === "hello" ? hello : replies[method];
        const reply = result?.error ? { id, error: result.error } : result || method === "ping" ? { id, result: result ?? {} } : { id, error: { code: 1, message: `there is no method ${method}`, data: { kind: "unknown_method" } } };
        setTimeout(() => this.onmessage?.({ data: JSON.stringify({ jsonrpc: "2.0", ...reply }) }));
      }

      close() { this.readyState = 3; }
    };
    globalThis.tell = (method, params) => globalThis.socket.onmessage({ data: JSON.stringify({ jsonrpc: "2.0", method, params }) });
  }, welcome, replies);
  await page.goto(`${address}${path}`);
  await until(page, () => document.querySelector(".top, .tv, .door form"));
  await pause(500);
  return page;
}

const seat = (more) => ({ viewer: 1, role: "seat", seat: "players", name: "Ann", view: view("seat", more) });
const step = (more) => ({ viewer: 1, table: "evening", seq: 6, cause: "answer", state: { is: "asking" }, events: [], questions: [], waiting: [], undo: { allowed: true, decisions: 1, reach: 5 }, changed: [], ...more });
const unfold = (page) => page.evaluate(() => { for (const node of document.querySelectorAll("details")) node.open = true; });

async function look(page, name) {
  await pause(250);
  await inspect(page, name);
  await shoot(page, name.replace(/[^a-z0-9]+/gi, "-"), true);
  check(page.errors.length === 0, `${name}: ${page.errors[0]}`);
}

const close = (page) => page.browserContext().close();

// Every kind of question, at once and alone, on phones, tablets and laptops, dark and light.

const kinds = Object.keys(ask);
const sizes = [[360, 740], [390, 844], [768, 1024], [1024, 768], [1280, 800], [1600, 900], [1920, 1080]].filter(([width]) => !process.argv.includes("--short") || [360, 1920].includes(width));
const themes = (work) => Promise.all(["light", "dark"].map(work));
for (const [width, height] of sizes) {
  await themes(async (theme) => {
    const page = await open("seat", width, height, theme, "", seat({ questions: kinds.map((kind, place) => question(kind, place, kind === "choose" ? { proposal: "strike" } : {})) }));
    await unfold(page);
    await look(page, `questions ${width} ${theme}`);
    await close(page);
  });
  await themes(async (theme) => {
    const page = await open("gm", width, height, theme, "#gm", { viewer: 1, role: "game_master", view: view("game_master", { questions: [question("choose", 0), question("number", 1, { seat: "gm" })] }) });
    await unfold(page);
    await look(page, `game master ${width} ${theme}`);
    await close(page);
    const tv = await open("tv", width, height, theme, "tv", { viewer: 1, role: "watcher", view: view("watcher", { questions: [question("choose", 0, { yours: false })] }) });
    await look(tv, `television ${width} ${theme}`);
    check(await tv.evaluate(() => !document.querySelector("button, a, input, select, summary")), `television ${width}: it has a control`);
    check(await tv.evaluate(() => { const [text, panel] = [".code p", ".code"].map((at) => document.querySelector(at)?.getBoundingClientRect()); return !text || (text.left >= panel.left && text.right <= panel.right); }), `television ${width}: the address is cut off`);
    if (width === 1920) check(await tv.evaluate(() => document.documentElement.scrollHeight <= innerHeight), "the television scrolls");
    await close(tv);
  });
}

// The game master makes an encounter.

{
  const page = await open("encounter", 1280, 900, "light", "#gm", { viewer: 1, role: "game_master", view: view("game_master", { questions: [question("choose", 0)] }) });
  await unfold(page);
  for (const [side, name] of [["Heroes", "Ann"], ["Foes", "thug"], ["Foes", "wolf"]]) {
    await page.evaluate(([title, who]) => {
      const select = [...document.querySelectorAll("label")].find(({ firstChild }) => firstChild.textContent === title).querySelector("select");
      select.value = who;
      select.dispatchEvent(new Event("change", { bubbles: true }));
    }, [side, name]);
    await pause(50);
  }
  await page.evaluate(() => document.querySelector('[aria-label="thug: one more"]').click());
  await page.evaluate(() => [...document.querySelectorAll("button")].find(({ textContent }) => textContent === "Chances").click());
  await pause(100);
  const sides = await page.evaluate(() => globalThis.sent.findLast(({ method }) => method === "encounter").params.sides);
  check(JSON.stringify(sides) === JSON.stringify([{ members: [{ name: "Ann", count: 1 }] }, { members: [{ name: "thug", count: 2 }, { name: "wolf", count: 1 }] }]), `the sides of an encounter: ${JSON.stringify(sides)}`);
  check(await page.evaluate(() => document.body.textContent.includes("70 % Heroes")), "the chances of an encounter");
  await look(page, "encounter light");
  await close(page);
}

// Screens and states.

await themes(async (theme) => {
  const screens = {
    "sheet": [seat({ questions: [question("choose", 0)] }), async (page) => { await page.keyboard.press("s"); await pause(300); await page.click(".rows button"); }],
    "undo": [seat({ questions: [question("choose", 0)] }), async (page) => { await page.keyboard.press("u"); }],
    "a vote": [seat({ questions: [question("choose", 0)] }), async (page) => {
      await page.evaluate((told) => globalThis.tell("vote", told), { viewer: 1, outcome: "open", vote: { id: 1, by: { role: "seat", seats: ["foes"] }, name: "Di", decisions: 1, takes_back: [{ seat: "foes", about: "Thug", text: "choose: Strike" }], agreed: [], asked: [{ role: "seat", seats: ["players"] }, { role: "game_master" }], yours: true } });
      await pause(100);
      check(await page.evaluate(() => document.querySelector(".note-bar").textContent.includes("Di asks to take back: Thug, choose: Strike")), "a vote says what it takes back");
    }],
    "closed options": [seat({ questions: [question("choose", 0)] }), async (page) => { await page.evaluate(() => { document.querySelector(".closed").open = true; document.querySelector(".closed button").focus(); }); check(await page.evaluate(() => document.activeElement.textContent.includes("nobody listens")), "a closed option has the focus and its reason as text"); }],
    "waiting for others": [seat({ waiting: [{ seat: "foes", questions: 0 }] })],
    "the end": [seat({ state: { is: "over", outcome: "the field goes to the Heroes" } })],
    "fault for a player": [seat({ state: { is: "fault" } })],
    "paused": [seat({ settings: { ...view("seat").settings, paused: true }, questions: [question("choose", 0)] })],
    "lost connection": [seat({ questions: [question("choose", 0)] }), async (page) => { await page.evaluate(() => { globalThis.dead = true; globalThis.socket.onclose(); }); await pause(400); check(await page.evaluate(() => Boolean(document.querySelector(".link.lost") && document.querySelector(".ask"))), "a lost connection leaves the question readable"); }],
    "taken back": [seat({ questions: [question("choose", 0)] }), async (page) => { await page.evaluate((told) => globalThis.tell("step", told), step({ cause: "undo", events: [{ event: "back", revision: 9, to: 5, cause: "undo", text: "The game master took back: Ann: Strike." }], questions: [question("choose", 0)] })); }],
    "estimate": [seat({ questions: [question("choose", 0, { proposal: "strike" })] }), async () => {}, { odds: { ...REPLIES.odds, exact: false, estimate: { samples: 554, why: "too long" }, outcomes: [{ chance: chance(0.62, { low: 0.53, high: 0.71 }), text: "Heroes win", kind: "success" }, { chance: chance(0.38, { low: 0.29, high: 0.47 }), text: "Raiders win", kind: "failure" }] } }],
  };
  for (const [name, [welcome, act, replies]] of Object.entries(screens)) {
    const page = await open(name, 390, 844, theme, "", welcome, { ...REPLIES, ...replies });
    await act?.(page);
    await look(page, `${name} ${theme}`);
    await close(page);
  }
  const page = await open("fault", 1280, 800, theme, "#gm", { viewer: 1, role: "game_master", view: view("game_master", { state: { is: "fault", fault: FAULT } }) });
  await look(page, `fault for the game master ${theme}`);
  await close(page);
  const joining = await open("join", 390, 844, theme, "#j=abc", { waiting: true, viewer: 1, token: "t", name: "Ann" });
  await look(joining, `join ${theme}`);
  check(!joining.url().includes("abc"), "the code stays in the address");
  await joining.type("[name=name]", "Ann");
  await joining.keyboard.press("Enter");
  await look(joining, `waiting room ${theme}`);
  await joining.evaluate(() => globalThis.tell("admitted", { viewer: 1, admitted: false }));
  await look(joining, `turned away ${theme}`);
  await close(joining);
  const unknown = await open("unknown", 390, 844, theme, "", { error: { code: 1, message: "This code is not known here.", data: { kind: "unknown_token" } } });
  await look(unknown, `unknown token ${theme}`);
  await close(unknown);
});

// Every kind of question can be answered with the keyboard alone.

const sentAnswer = (page) => page.evaluate(() => globalThis.sent.filter(({ method }) => method === "answer").at(-1)?.params.value);
const byKeys = {
  choose: ["2", "Enter", "guard"], many: ["1", "3", "Enter", ["strike", "run"]], order: ["3", "1", "Enter", ["run", "strike", "guard"]], number: ["4", "Enter", 4], confirm: ["2", "Enter", false],
  dice: ["7", "1", "0", "2", "0", "Enter", [7, 10, 20]], wide: ["1", "1", "Enter", 11],
};
for (const [kind, keys] of Object.entries(byKeys)) {
  const page = await open(kind, 390, 844, "light", "", seat({ questions: [question(kind, 0)] }));
  for (const key of keys.slice(0, -1)) {
    await page.keyboard.press(key);
    // Two digits in quick succession are one number, so the test waits between answers.
    await pause(["dice", "many", "order"].includes(kind) && !(kind === "dice" && (key === "1" || key === "2")) ? 800 : 60);
  }
  const value = await sentAnswer(page);
  check(JSON.stringify(value) === JSON.stringify(keys.at(-1)), `${kind} by keys: ${JSON.stringify(value)}`);
  await close(page);
}

// A half-typed answer survives a reload, a step and a lost connection, and a new question does not take its focus.

const page = await open("draft", 390, 844, "light", "", seat({ questions: [question("line", 0)] }));
await page.type("textarea", "over the w");
await page.evaluate((told) => globalThis.tell("step", told), step({ questions: [question("line", 0), question("number", 1)] }));
await pause(200);
check(await page.evaluate(() => document.activeElement.matches("textarea") && document.activeElement.value === "over the w"), "a step takes neither the focus nor the text");
await page.evaluate(() => { globalThis.socket.onclose(); });
await pause(600);
check(await page.evaluate(() => document.querySelector("textarea").value === "over the w" && document.activeElement.matches("textarea")), "a lost connection keeps the text");
await page.reload();
await until(page, () => document.querySelector("textarea"));
check(await page.evaluate(() => document.querySelector("textarea").value === "over the w"), "a reload keeps the text");
await page.evaluate(() => document.activeElement.blur());
await page.evaluate((told) => globalThis.tell("step", told), step({ questions: [question("confirm", 2)] }));
await pause(200);
check(await page.evaluate(() => document.activeElement.matches(".ask h2")), "a new question takes the focus if nothing is typed");
await close(page);

// The accessibility tree names the questions and the buttons.

const tree = await open("tree", 390, 844, "light", "", seat({ questions: [question("choose", 0)] }));
const names = [];
const walk = (node) => { names.push(`${node.role} ${node.name}`); for (const child of node.children ?? []) walk(child); };
walk(await tree.accessibility.snapshot());
for (const name of ["heading Ann: which choose?", "button Strike", "button Sheet"]) check(names.some((one) => one.startsWith(name)), `the accessibility tree has no ${name}: ${names.slice(0, 30).join("; ")}`);
await close(tree);

server.close();
if (option("shots")) console.log(`The pictures are in ${option("shots")}.`);
await finish();
