// Measures the server for tables with many tables: a hundred of six clients, each table with one answer every two seconds.
//
//   node tables.mjs PROGRAM      (a release build of riskbreaker; see the README beside this file)
//
// Reported are the time from the sending of an answer to its arrival at the last client of its table, the processor time of the
// server in that time, and the memory that each further table takes. TABLES and SECONDS in the environment set the numbers,
// FOLDER where the campaigns are kept.

import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { Client, Operator, folderWithGame, percentiles, play } from "./client.mjs";

const PROGRAM = resolve(process.argv[2] ?? "../../target/release/riskbreaker");
const TABLES = Number(process.env.TABLES ?? 100);
const SECONDS = Number(process.env.SECONDS ?? 60);
const EVERY = 2_000;
const CLIENTS = 6;

const pause = (millis) => new Promise((done) => setTimeout(done, millis));

/** A table with a game master, two players and watchers, each on a connection of its own. */
async function table(operator, address, name) {
	await operator.call("table.new", { table: name, ruleset: "turns", campaign: `${name}.rbsave` });
	const code = async (params) =>
		(await operator.call("invite", { table: name, kind: "code", once: false, ...params })).code;
	const codes = [{ role: "game_master" }, { seats: ["one"] }, { seats: ["two"] }];
	while (codes.length < CLIENTS) codes.push({ role: "watcher" });
	const clients = [];
	for (const params of codes) {
		const client = new Client(address);
		await client.join({ code: await code(params) });
		clients.push(client);
	}
	return { clients, seats: [clients[1], clients[2]], moves: 0 };
}

/** One of the two seats of a table answers. */
const answer = ({ clients, seats }, move) => play(seats[move % 2], clients, move);

if (!existsSync(PROGRAM)) throw new Error(`no program ${PROGRAM}: cargo build --release`);
const folder = process.env.FOLDER ?? (existsSync("/dev/shm") ? "/dev/shm" : tmpdir());
const place = folderWithGame(folder);
const operator = new Operator(PROGRAM, place);
const address = await operator.address;
const tables = [await table(operator, address, "t0")];
await answer(tables[0], 0);
tables[0].moves = 1;
const one = operator.used();
while (tables.length < TABLES) tables.push(await table(operator, address, `t${tables.length}`));
await pause(1_000);
const [before, began, times] = [operator.used(), performance.now(), []];
const plays = tables.map(async (table, at) => {
	await pause((at * EVERY) / TABLES);
	for (let due = performance.now(); performance.now() - began < SECONDS * 1_000; due += EVERY) {
		times.push(await answer(table, table.moves++));
		await pause(due + EVERY - performance.now());
	}
});
await Promise.all(plays);
const [after, took] = [operator.used(), (performance.now() - began) / 1_000];
console.log(`${TABLES} tables of ${CLIENTS} clients, ${times.length} answers in ${took.toFixed(0)} s, to the last client: ${percentiles(times)}`);
console.log(`processor: ${((100 * (after.seconds - before.seconds)) / took).toFixed(1)} % of a core`);
const further = (used) => ((used.megabytes - one.megabytes) / (TABLES - 1)).toFixed(2);
console.log(`memory: ${one.megabytes.toFixed(0)} MB with one table, ${further(before)} MB for each further one, ${further(after)} MB after play`);
operator.program.kill("SIGKILL");
rmSync(place, { recursive: true });
process.exit(0);
