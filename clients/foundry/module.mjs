// The module for Foundry VTT: runs the mirror with Foundry's calls, only in the browser of the active game master.

import { SocketHost } from "./client.mjs";
import { Mirror } from "./mirror.mjs";

const ID = "riskbreaker";

/** Returns the calls of Foundry that the mirror uses. */
export function foundryCalls({ game, ui, ChatMessage, JournalEntry, origin }) { // must be called after the hook `init`
  const get = (name) => game.settings.get(ID, name);
  const set = (name, value) => game.settings.set(ID, name, value);
  return {
    origin,
    settings: () => ({ address: get("address").trim(), code: get("code").trim(), token: get("token") }),
    remember: async (values) => {
      for (const [name, value] of Object.entries(values)) await set(name, value);
    },
    seen: (table) => get("seen")[table],
    see: (table, what) => set("seen", { ...get("seen"), [table]: what }),
    chat: (data) => ChatMessage.create(data),
    messages: () => game.messages.filter((document) => document.flags?.[ID])
      .map((document) => ({ document, content: document.content, flag: document.flags[ID] })),
    journal: async (name, content) => {
      const text = { content, format: 1 };
      const entry = game.journal.find((entry) => entry.flags?.[ID]?.page === name);
      const page = entry?.pages.contents[0];
      if (page) return page.update({ text });
      // Everybody may look at it.
      const data = { name, ownership: { default: 2 }, flags: { [ID]: { page: name } }, pages: [{ name, type: "text", text }] };
      return JournalEntry.create(data);
    },
    warn: (text) => ui.notifications.warn(text),
    pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  };
}

/** Declares the settings. A change of the address or of the code starts the mirror again. */
export function registerSettings(game, restart) {
  const declare = (name, data) => game.settings.register(ID, name, { scope: "world", default: "", type: String, ...data });
  declare("address", {
    name: "Address of the table", config: true, onChange: restart,
    hint: "As `riskbreaker table` prints it, such as http://127.0.0.1:7777. Empty: nothing is mirrored.",
  });
  declare("code", {
    name: "Code of a watcher", config: true, onChange: (code) => code && restart(),
    hint: "From the page of the game master. Empty if everybody may watch the table.",
  });
  declare("token", { config: false });
  declare("seen", { config: false, type: Object, default: {} });
}

/** Registers the module. `surroundings` are the globals of Foundry. */
export function install(surroundings, connect = (address) => SocketHost.connect(address)) {
  let mirror;
  const { Hooks } = surroundings;
  // If several browsers mirrored, each message would come several times.
  const isChosen = () => surroundings.game.users.activeGM?.isSelf === true;
  const restart = async () => {
    mirror?.stop();
    mirror = undefined;
    if (!isChosen()) return;
    // A new code replaces the token of the last entry.
    if (surroundings.game.settings.get(ID, "code")) await surroundings.game.settings.set(ID, "token", "");
    mirror = new Mirror(foundryCalls(surroundings), connect);
    await mirror.start();
  };
  Hooks.once("init", () => registerSettings(surroundings.game, restart));
  Hooks.once("ready", restart);
  // Another game master takes over when the chosen one leaves.
  Hooks.on("userConnected", async () => {
    if (!isChosen()) {
      mirror?.stop();
      mirror = undefined;
    } else if (!mirror) {
      await restart();
    }
  });
  return { mirror: () => mirror };
}

if (globalThis.Hooks) {
  // Foundry makes some of them after the modules are loaded.
  const later = (name) => ({ get: () => globalThis[name], enumerable: true });
  const names = ["Hooks", "game", "ui", "ChatMessage", "JournalEntry"];
  const surroundings = Object.defineProperties({}, Object.fromEntries(names.map((name) => [name, later(name)])));
  install(Object.assign(surroundings, { origin: globalThis.location.origin }));
}
