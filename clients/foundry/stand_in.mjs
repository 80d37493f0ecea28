// A stand-in for the few calls of Foundry that the module uses. It keeps documents in memory and follows the shapes that Foundry's
// documentation gives them; it is not Foundry.

class Document {
  constructor(data) {
    Object.assign(this, structuredClone(data));
  }

  /** Takes `{ "flags.riskbreaker.struck": true }` and nested objects. */
  async update(changes) {
    for (const [path, value] of Object.entries(changes)) {
      const names = path.split(".");
      const last = names.pop();
      const place = names.reduce((at, name) => (at[name] ??= {}), this);
      const isPlain = value !== null && typeof value === "object" && !Array.isArray(value);
      place[last] = isPlain ? { ...place[last], ...structuredClone(value) } : value;
    }
    return this;
  }
}

/** A world with one user, and the globals that a module sees. */
export function world({ isActiveGM = true } = {}) {
  const declared = new Map();
  const values = new Map();
  const hooks = new Map();
  const warnings = [];
  const messages = [];
  const journal = [];
  const on = (name, once) => (work) => hooks.set(name, [...(hooks.get(name) ?? []), { work, once }]);
  return {
    warnings, messages, journal, declared,
    async call(name) {
      const called = hooks.get(name) ?? [];
      hooks.set(name, called.filter(({ once }) => !once));
      for (const { work } of called) await work();
    },
    surroundings: {
      origin: "http://localhost:30000",
      Hooks: { on: (name, work) => on(name, false)(work), once: (name, work) => on(name, true)(work) },
      ui: { notifications: { warn: (text) => warnings.push(text) } },
      game: {
        users: { activeGM: { isSelf: isActiveGM } },
        messages, journal,
        settings: {
          register: (id, name, data) => declared.set(`${id}.${name}`, data),
          get(id, name) {
            const data = declared.get(`${id}.${name}`);
            if (!data) throw new Error(`"${id}.${name}" is not a registered game setting`);
            return structuredClone(values.get(`${id}.${name}`) ?? data.default);
          },
          async set(id, name, value) {
            this.get(id, name);
            values.set(`${id}.${name}`, structuredClone(value));
            await declared.get(`${id}.${name}`).onChange?.(value);
          },
        },
      },
      ChatMessage: { create: async (data) => messages[messages.push(new Document(data)) - 1] },
      JournalEntry: {
        create: async ({ pages, ...data }) => {
          const entry = new Document(data);
          entry.pages = { contents: pages.map((page) => new Document(page)) };
          return journal[journal.push(entry) - 1];
        },
      },
    },
  };
}
