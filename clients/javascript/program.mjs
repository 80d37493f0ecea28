// Finds the program: by the environment variable RISKBREAKER, else in the package for this system that npm has installed beside
// the client.

import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Returns the path of the program; its bare name, which `PATH` resolves, if no package for this system is installed. */
export function findProgram() {
  if (process.env.RISKBREAKER) return process.env.RISKBREAKER;
  const { resolve } = createRequire(import.meta.url);
  const name = `riskbreaker-${process.platform}-${process.arch}`;
  const names = process.platform === "linux" ? (isMusl() ? [`${name}-musl`] : [name, `${name}-musl`]) : [name];
  for (const each of names) {
    try {
      const file = process.platform === "win32" ? "riskbreaker.exe" : "riskbreaker";
      return join(dirname(resolve(`${each}/package.json`)), file);
    } catch {
      // The package is not installed.
    }
  }
  return "riskbreaker";
}

/** True on a Linux without glibc, such as Alpine. */
function isMusl() {
  return !process.report?.getReport?.().header?.glibcVersionRuntime;
}
