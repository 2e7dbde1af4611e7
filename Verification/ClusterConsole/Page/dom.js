// Elements are patched in place: focus, scroll positions and running animations survive a change.
// Text reaches the page only as text nodes and attributes, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "use"]);
const drawn = new WeakMap();
let animates = false;

/** Elements that enter from now on carry `data-in`, so that the first picture does not move. */
export function startAnimations() { animates = true; }

/** Describes an element. `css` holds style properties, `key` its identity among its siblings. */
export function h(tag, props, ...children) {
  return { tag, props: props ?? {}, children };
}

const isShown = node => node !== null && node !== undefined && node !== false && node !== "";
const flat = nodes => [nodes].flat(Infinity).filter(isShown);
const keyOf = element => drawn.get(element)?.props.key;

/** Makes the children of `parent` equal to `nodes`. */
export function patch(parent, nodes) {
  const list = flat(nodes);
  const wanted = new Set(list.map(node => node.props?.key).filter(key => key !== undefined));
  const keyed = new Map();
  for (const element of [...parent.children]) {
    const key = keyOf(element);
    if (key === undefined) continue;
    // A stale element leaves first: its followers then keep their place and their focus.
    if (wanted.has(key)) keyed.set(key, element); else element.remove();
  }
  let current = parent.firstChild;
  for (const node of list) {
    const found = match(node, current, keyed);
    if (!found) {
      parent.insertBefore(make(node), current);
    } else {
      if (found === current) current = current.nextSibling;
      else parent.insertBefore(found, current);
      update(found, node);
    }
  }
  while (current) {
    const next = current.nextSibling;
    current.remove();
    current = next;
  }
}

function match(node, current, keyed) {
  const key = node.props?.key;
  if (key !== undefined) {
    const element = keyed.get(key);
    return element?.localName === node.tag ? element : null;
  }
  if (!current || keyOf(current) !== undefined) return null;
  if (!node.tag) return current.nodeType === Node.TEXT_NODE ? current : null;
  return current.localName === node.tag ? current : null;
}

function make(node) {
  if (!node.tag) return document.createTextNode(String(node));
  const element = SVG_TAGS.has(node.tag)
    ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag);
  if (animates && node.props.enter) element.setAttribute("data-in", "");
  update(element, node);
  return element;
}

function update(element, node) {
  if (!node.tag) {
    if (element.nodeValue !== String(node)) element.nodeValue = String(node);
    return;
  }
  const old = drawn.get(element)?.props ?? {};
  drawn.set(element, node);
  for (const name in old) if (!(name in node.props)) set(element, name, null, old[name]);
  for (const name in node.props) {
    if (name !== "value") set(element, name, node.props[name], old[name]);
  }
  patch(element, node.children);
  // The value of a select needs its options.
  if ("value" in node.props) setValue(element, node.props.value, old.value);
}

function setValue(element, value, old) {
  // A person's typing is kept: only a changed value of the document overwrites it.
  if (value !== old && element.value !== String(value)) element.value = value;
}

function set(element, name, value, old) {
  if (name === "key" || name === "enter" || name === "value") return;
  if (name === "css") return setStyle(element, value ?? {}, old ?? {});
  if (name.startsWith("on")) { element[name] = value ?? null; return; }
  if (value === old) return;
  const text = name.startsWith("aria-") && typeof value === "boolean" ? String(value) : value;
  if (text === null || text === undefined || text === false) element.removeAttribute(name);
  else element.setAttribute(name, text === true ? "" : text);
}

function setStyle(element, style, old) {
  for (const name in old) if (!(name in style)) element.style.removeProperty(name);
  for (const name in style) {
    if (style[name] !== old[name]) element.style.setProperty(name, style[name]);
  }
}
