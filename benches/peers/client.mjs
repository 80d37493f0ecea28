// What the measurements of the server for tables share: a game of two seats that answer in turns, and a client.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import WebSocket from "ws";

/** The game, by file. */
const RULESET = {
	"ruleset.toml": 'id = "turns"\ntitle = "Turns"\nversion = "1"\nscenario = "two"\n[seats]\none = "One"\ntwo = "Two"\n',
	"scenarios/two.toml": 'title = "Two"\n',
	"kinds.luau":
		'local rb = require("@riskbreaker")\nreturn rb.kinds({ pawn = { title = "name", fields = { name = rb.text(), seat = rb.text(), at = rb.int({ label = "At" }) } } })\n',
	"play.luau": `local rb = require("@riskbreaker")
return rb.play({
	start = function()
		for at, seat in { "one", "two" } do
			local pawn = rb.spawn("pawn", { name = seat, seat = seat })
			rb.recur("turn", at, 2, pawn)
		end
	end,
	entries = {
		turn = function(pawn)
			local step = rb.choose({ seat = pawn.seat, topic = "step", about = pawn, options = { "left", "right" } })
			pawn:set("at", if step == "left" then pawn.at - 1 else pawn.at + 1)
		end,
	},
})
`,
};

export function percentiles(times) {
	const sorted = [...times].sort((a, b) => a - b);
	const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
	return `p50 ${at(0.5).toFixed(2)} ms, p99 ${at(0.99).toFixed(2)} ms`;
}

/** A viewer on a connection of its own. */
export class Client {
	constructor(address) {
		this.socket = new WebSocket(address);
		this.waiting = new Map();
		this.next = 1;
		this.seq = 0;
		this.open = new Promise((done, failed) => this.socket.once("open", done).once("error", failed));
		this.socket.on("message", (data) => this.take(JSON.parse(data)));
	}

	take(message) {
		if (message.method === "step") {
			this.seq = message.params.seq;
			this.questions = message.params.questions ?? this.questions;
			this.onStep?.(message.params.seq);
		} else if (message.id !== undefined) {
			this.waiting.get(message.id)?.(message);
			this.waiting.delete(message.id);
		}
	}

	ask(method, params) {
		const id = this.next++;
		this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
		return new Promise((done) => this.waiting.set(id, done));
	}

	async join(params) {
		await this.open;
		const { result, error } = await this.ask("hello", params);
		if (error) throw new Error(error.message);
		this.seq = result.view.seq;
		this.questions = result.view.questions;
		return result;
	}
}

/**
 * Plays a move: the client answers its question. Returns the milliseconds until the last of the clients has the step.
 */
export async function play(client, clients, move) {
	const question = client.questions.find((question) => question.yours);
	const from = performance.now();
	const everybody = clients.map(
		(one) =>
			new Promise((done) => {
				one.onStep = () => done();
			}),
	);
	const answered = client.ask("answer", { question: question.id, value: move % 3 ? "left" : "right" });
	await Promise.all(everybody);
	const time = performance.now() - from;
	const { error } = await answered;
	if (error) throw new Error(error.message);
	return time;
}

/** Makes a folder with the game. */
export function folderWithGame(inside) {
	const place = mkdtempSync(join(inside, "riskbreaker-measure-"));
	for (const [path, text] of Object.entries(RULESET)) {
		mkdirSync(join(place, "rulesets/turns/scenarios"), { recursive: true });
		writeFileSync(join(place, "rulesets/turns", path), text);
	}
	return place;
}

/** The program with its operator at standard input. */
export class Operator {
	constructor(program, place) {
		const args = ["serve", "--stdio", "--websocket", "127.0.0.1:0"];
		this.program = spawn(program, args, { cwd: place, stdio: ["pipe", "pipe", "pipe"] });
		this.waiting = new Map();
		this.next = 1;
		createInterface({ input: this.program.stdout }).on("line", (line) => {
			const message = JSON.parse(line);
			this.onNotice?.(message);
			this.waiting.get(message.id)?.(message);
			this.waiting.delete(message.id);
		});
		this.address = new Promise((done) => {
			let text = "";
			this.program.stderr.on("data", (data) => {
				text += data;
				const found = text.match(/ws:\/\/(\S+)/);
				if (found) done(found[0]);
			});
		});
	}

	async call(method, params) {
		const id = this.next++;
		this.program.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
		const { result, error } = await new Promise((done) => this.waiting.set(id, done));
		if (error) throw new Error(`${method}: ${error.message}`);
		return result;
	}

	/** Seconds of processor time, and MB of memory in use. */
	used() {
		const stat = readFileSync(`/proc/${this.program.pid}/stat`, "utf8").split(") ")[1].split(" ");
		const memory = readFileSync(`/proc/${this.program.pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1];
		return { seconds: (Number(stat[11]) + Number(stat[12])) / 100, megabytes: Number(memory) / 1024 };
	}
}
