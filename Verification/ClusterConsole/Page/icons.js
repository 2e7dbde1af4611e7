// Drawings of the page. The symbols are in index.html.

import { h } from "./dom.js";

export const icon = (name, extra = "") => h(
  "svg", { class: `icon ${extra}`.trim(), "aria-hidden": "true" }, h("use", { href: `#i-${name}` }));

/** A state's glyph: each state has a shape, so that colour is never the only sign. */
export const glyph = shape => h("i", { class: `glyph ${shape}`, "aria-hidden": "true" });

/** The icon of an app: a drawing for the demo app, the first letter for others. */
export function appIcon(app, size) {
  const isLandmarks = (app ?? "").toLowerCase().includes("landmarks");
  return isLandmarks
    ? h("svg", { class: `app-icon ${size}`, viewBox: "0 0 40 40", "aria-hidden": "true" },
      h("use", { href: "#i-landmarks" }))
    : h("span", { class: `app-icon letter ${size}`, "aria-hidden": "true" }, firstLetter(app));
}

export const messagesIcon = size => h(
  "span", { class: `app-icon messages ${size}`, "aria-hidden": "true" }, icon("chat"));

const HUES = ["blue", "teal", "rose", "amber", "green"];

/** The circle of a child, in the colour that stands for the child everywhere. */
export const childAvatar = (name, size) => h(
  "span", { class: `avatar violet ${size}`, "aria-hidden": "true" }, firstLetter(name));

/** The circle of another person. Its colour follows from the name: all devices show the same. */
export function avatar(name, size = "") {
  let sum = 0;
  for (const character of name ?? "") sum = (sum * 31 + character.codePointAt(0)) % 9973;
  return h("span", { class: `avatar ${HUES[sum % HUES.length]} ${size}`, "aria-hidden": "true" },
    firstLetter(name));
}

export function firstLetter(name) {
  const letter = [...(name ?? "")].find(character => /[\p{L}\p{N}]/u.test(character));
  return (letter ?? "?").toUpperCase();
}
