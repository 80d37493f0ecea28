// Measures the server for tables beside that of boardgame.io, in one run: a table with six clients, each move to the last of them.
//
//   node table.mjs PROGRAM      (a release build of riskbreaker; see the README beside this file)
//
// A game in which two seats choose in turns is played by both. boardgame.io keeps its games in memory, so the campaign is put
// into memory (/dev/shm) for the comparison; a second figure has it on the disk.

import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { Client, Operator, folderWithGame, percentiles, play } from "./client.mjs";

const require = createRequire(import.meta.url);
const PROGRAM = resolve(process.argv[2] ?? "../../target/release/riskbreaker");
const CLIENTS = 6;
const MOVES = Number(process.env.MOVES ?? 2000);
// A connection may send 40 requests at once, and then 20 a second: two seats play a burst and rest, at both servers.
const BURST = 76;
const REST = 2_000;

/** Waits between two bursts. */
const rest = (move) => (move > 0 && move % BURST === 0 ? new Promise((done) => setTimeout(done, REST)) : undefined);

/** One answer after the other, each from its sending to the arrival of its step at the last of the clients. */
async function ours(folder, clientCount) {
	const place = folderWithGame(folder);
	const program = spawn(PROGRAM, ["table", "evening", "--rules", "turns", "--port", "0", "--no-browser"], {
		cwd: place,
		env: { ...process.env, XDG_STATE_HOME: place, NO_COLOR: "1" },
		stdio: ["ignore", "pipe", "inherit"],
	});
	const said = await new Promise((done) => {
		let text = "";
		program.stdout.on("data", (data) => {
			text += data;
			if (text.includes("#gm=")) done(text);
		});
	});
	const [, host, code] = said.match(/http:\/\/([^/]+)\/#gm=(\S+)/);
	const address = `ws://${host}/v1/ws`;
	const master = new Client(address);
	await master.join({ code });
	const invite = async (params) => (await master.ask("invite", { kind: "code", once: false, ...params })).result.code;
	const seats = {};
	const clients = [master];
	for (const seat of ["one", "two"]) {
		seats[seat] = new Client(address);
		await seats[seat].join({ code: await invite({ seats: [seat] }) });
		clients.push(seats[seat]);
	}
	const watching = await invite({ role: "watcher" });
	while (clients.length < clientCount) {
		const watcher = new Client(address);
		await watcher.join({ code: watching });
		clients.push(watcher);
	}
	const times = [];
	for (let move = 0; move < MOVES; move++) {
		await rest(move);
		times.push(await play(seats[move % 2 ? "two" : "one"], clients, move));
	}
	clients.forEach((one) => one.socket.terminate());
	program.kill("SIGKILL");
	await new Promise((done) => program.once("exit", done));
	rmSync(place, { recursive: true });
	return times;
}

/** The same at a table without a network and with one viewer: about the time of the session and of the write. */
async function alone(folder) {
	const place = folderWithGame(folder);
	const operator = new Operator(PROGRAM, place);
	await operator.call("table.new", { table: "alone", ruleset: "turns", campaign: "alone.rbsave" });
	const { viewer, view } = await operator.call("hello", { table: "alone", role: "game_master" });
	let questions = view.questions;
	operator.onNotice = ({ method, params }) => {
		if (method === "step") questions = params.questions;
	};
	const times = [];
	for (let move = 0; move < MOVES; move++) {
		await rest(move);
		const from = performance.now();
		await operator.call("answer", { viewer, question: questions[0].id, value: move % 3 ? "left" : "right" });
		times.push(performance.now() - from);
	}
	operator.program.kill("SIGKILL");
	await new Promise((done) => operator.program.once("exit", done));
	rmSync(place, { recursive: true });
	return times;
}

/** The same with boardgame.io. */
async function theirs() {
	const { Server, Origins } = require("boardgame.io/server");
	const { Client: GameClient } = require("boardgame.io/client");
	const { SocketIO } = require("boardgame.io/multiplayer");
	const game = {
		name: "turns",
		setup: () => ({ at: [0, 0] }),
		turn: { minMoves: 1, maxMoves: 1 },
		moves: {
			step: ({ G, ctx }, by) => {
				G.at[Number(ctx.currentPlayer)] += by;
			},
		},
	};
	const server = Server({ games: [game], origins: [Origins.LOCALHOST] });
	const log = console.log;
	console.log = () => {};
	const running = await server.run(0);
	console.log = log;
	const port = running.appServer.address().port;
	const clients = [];
	for (let at = 0; at < CLIENTS; at++) {
		const playerID = at < 2 ? String(at) : undefined;
		const multiplayer = SocketIO({ server: `http://127.0.0.1:${port}` });
		const client = GameClient({ game, multiplayer, matchID: "measured", numPlayers: 2, playerID, debug: false });
		client.start();
		clients.push(client);
	}
	const state = (client) => client.getState()?._stateID ?? -1;
	const until = async (holds) => {
		while (!holds()) await new Promise((done) => setTimeout(done, 20));
	};
	await until(() => clients.every((client) => client.getState()?.isConnected && state(client) >= 0));
	const times = [];
	for (let move = 0; move < MOVES; move++) {
		await rest(move);
		const from = performance.now();
		const before = Math.max(...clients.map(state));
		// The mover shows its own move at once; the others show it when the server has sent it.
		const others = clients.filter((_, at) => at !== move % 2);
		const everybody = others.map(
			(client) =>
				new Promise((done) => {
					const leave = client.subscribe(() => {
						if (state(client) > before) {
							leave();
							done();
						}
					});
				}),
		);
		clients[move % 2].moves.step(move % 3 ? -1 : 1);
		await Promise.all(everybody);
		times.push(performance.now() - from);
	}
	clients.forEach((client) => client.stop());
	server.kill(running);
	return times;
}

function told(what, times) {
	const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
	console.log(`${what}: ${percentiles(times)}; ${(1000 / mean).toFixed(0)} moves a second, one after the other`);
}

if (!existsSync(PROGRAM)) throw new Error(`no program ${PROGRAM}: cargo build --release`);
const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
console.log(`${MOVES} moves each, from the sending of a move to its arrival at the last client; ${REST} ms of rest after every ${BURST}.`);
told("riskbreaker, campaign in memory, one viewer over a pipe", await alone(memory));
told("riskbreaker, campaign in memory, three clients", await ours(memory, 3));
told(`riskbreaker, campaign in memory, ${CLIENTS} clients`, await ours(memory, CLIENTS));
told(`riskbreaker, campaign on the disk, ${CLIENTS} clients`, await ours(tmpdir(), CLIENTS));
told(`boardgame.io, ${CLIENTS} clients`, await theirs());
process.exit(0);
