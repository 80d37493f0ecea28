#!/usr/bin/env node
// `npx riskbreaker`: runs the program with the same terminal, arguments and exit code.

import { spawn } from "node:child_process";
import { findProgram } from "./program.mjs";

const program = findProgram();
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends these signals to the program as well, and the program decides when to end.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => signal === "SIGINT" || child.kill(signal));
child.on("error", (error) => {
  console.error(error.code === "ENOENT" ? noProgram() : `${program}: ${error.message}`);
  process.exit(1);
});
child.on("close", (code, signal) => {
  if (!signal) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

function noProgram() {
  const system = `${process.platform}-${process.arch}`;
  return `There is no riskbreaker for ${system} here. Install the optional dependencies, or name a program in RISKBREAKER.`;
}
