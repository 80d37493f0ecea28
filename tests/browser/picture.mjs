// Takes the screenshot of the page for README.md: `node tests/browser/picture.mjs [--shots docs/images]`. A game master plays the first turns
// of a game at the page of `riskbreaker table`; `RISKBREAKER` names the program.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { browser, device, goTo, option, pause, root } from "./kit.mjs";

const program = process.env.RISKBREAKER ?? join(root, "target/debug/riskbreaker");
const shots = option("shots") ?? join(root, "docs/images");
const folder = mkdtempSync(join(tmpdir(), "picture-"));
const args = ["table", "evening", "ambush", "--rules", "rbf", "--rulesets", join(root, "rulesets"), "--no-browser", "--port", "0", "--seat", "foes=bold"];
const table = spawn(program, args, { cwd: folder, env: { ...process.env, XDG_STATE_HOME: folder, NO_COLOR: "1" }, stdio: ["ignore", "pipe", "inherit"] });
try {
  let address;
  for await (const line of createInterface({ input: table.stdout })) {
    address ??= /http:\S+#gm=\w+/.exec(line)?.[0];
    if (address) break;
  }
  table.stdout.resume();
  const page = await device("gm", 1200, 760, "light");
  await goTo(page, address, "Ann");
  for (let turn = 0; turn < 6; turn++) {
    await pause(400);
    await page.evaluate(() => {
      const card = document.querySelector(".ask.active");
      const go = card?.querySelector(".go");
      if (go?.getAttribute("aria-disabled") === "true") card.querySelector("[data-place]:not([aria-disabled=true])")?.click();
    });
    await pause(200);
    await page.evaluate(() => document.querySelector(".ask.active .go")?.click());
  }
  await pause(800);
  await page.screenshot({ path: join(shots, "table.png") });
} finally {
  table.kill("SIGKILL");
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
