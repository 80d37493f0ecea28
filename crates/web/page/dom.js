// Draws a tree of plain objects into the document. Keeps every node that the new tree shares with the old one, and so the focus, the
// selection, half-typed text and open details. Texts become text nodes; nothing is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Returns an element to draw: `h("p.small", { id: "a" }, "text")`; the properties may be left out. `key` names it among its siblings,
 * `on…` are handlers, `style` is an object, and `set` is called once it is created.
 */
export function h(name, ...kids) {
  const [tag, ...classes] = name.split(".");
  const props = kids[0] && typeof kids[0] === "object" && !kids[0].tag && !Array.isArray(kids[0]) ? kids.shift() : {};
  if (classes.length) props.class = classes.join(" ");
  if (tag === "button") props.type ??= "button";
  return { tag, props, kids: flat(kids) };
}

/** Returns the children as a flat list: numbers, texts and items of nested lists, without null, false and empty texts. */
function flat(kids) {
  return kids.flat(Infinity).filter((kid) => kid !== null && kid !== undefined && kid !== false && kid !== true && kid !== "")
    .map((kid) => (typeof kid === "object" ? kid : String(kid)));
}

/** Draws a dialog over the page; Escape closes it as well. */
export const dialog = (key, title, close, ...kids) => h("dialog.panel", { key, "aria-labelledby": key, onclose: close, set: (node) => setTimeout(() => node.isConnected && node.showModal()) },
  h("header", h("h2", { id: key }, title), h("button", { onclick: close }, "Close")), kids);

/** Draws `kids` in `parent` in place of its present children. */
export function draw(parent, ...kids) {
  const focused = document.activeElement;
  fill(parent, flat(kids));
  // A node that is moved loses the focus, so it gets it again.
  if (focused !== document.activeElement && focused?.isConnected && document.activeElement === document.body) focused.focus({ preventScroll: true });
}

function fill(parent, kids) {
  const old = parent.drawn ?? [];
  const keyed = new Map();
  const plain = new Map();
  for (const one of old) {
    if (one.key !== undefined) keyed.set(one.key, one);
    else plain.set(one.tag, [...(plain.get(one.tag) ?? []), one]);
  }
  const drawn = kids.map((kid) => {
    const tag = typeof kid === "string" ? "#text" : kid.tag;
    const key = kid.props?.key;
    let before;
    if (key !== undefined) {
      before = keyed.get(key);
      if (before?.tag === tag) keyed.delete(key);
      else before = undefined;
    } else before = plain.get(tag)?.shift();
    if (tag === "#text") {
      const node = before?.node ?? document.createTextNode(kid);
      if (node.data !== kid) node.data = kid;
      return { tag, node };
    }
    const svg = tag === "svg" || parent.namespaceURI === SVG;
    const node = before?.node ?? (svg ? document.createElementNS(SVG, tag) : document.createElement(tag));
    dress(node, before?.props ?? {}, kid.props);
    fill(node, kid.kids);
    if (tag === "select" && "value" in kid.props && node.value !== kid.props.value) node.value = kid.props.value;
    if (!before) kid.props.set?.(node);
    return { tag, key, node, props: kid.props };
  });
  for (const { node } of [...keyed.values(), ...[...plain.values()].flat()]) node.remove();
  let at = parent.firstChild;
  for (const { node } of drawn) {
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
  }
  parent.drawn = drawn;
}

function dress(node, before, props) {
  for (const name of Object.keys(before)) if (!(name in props)) put(node, name, before[name], undefined);
  for (const name of Object.keys(props)) put(node, name, before[name], props[name]);
}

function put(node, name, before, value) {
  if (name === "key" || name === "set") return;
  if (name === "value" || name === "checked") {
    if (node[name] !== value) node[name] = value ?? "";
  } else if (name.startsWith("on")) {
    node[name] = value ?? null;
  } else if (name === "style") {
    for (const rule of Object.keys({ ...before, ...value })) node.style.setProperty(rule, value?.[rule] ?? "");
  } else if (before !== value) {
    if (name.startsWith("aria-") && value != null) node.setAttribute(name, value);
    else if (value == null || value === false) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : value);
  }
}
