// Layers in front of a phone's page: alerts in the middle, sheets from below.

import { button } from "./controls.js";
import { h } from "./dom.js";

/** A layer of a phone. Its name tells one layer from the next. */
export const layer = (name, view) => ({ name, view });

export const alertBox = (id, picture, title, more, buttons, text = null) => h("div", {
  class: "alert", role: "alertdialog", "aria-modal": "true", "aria-labelledby": `${id}-title`,
  "aria-describedby": text ? `${id}-text` : null,
}, picture, h("p", { id: `${id}-title` }, title), text ? h("p", { id: `${id}-text`, class: "small" }, text) : null,
more, h("div", { class: "choices" }, buttons));

export const sheet = (id, ...content) => h("div", {
  class: "sheet", role: "dialog", "aria-modal": "true", "aria-labelledby": `${id}-title`,
}, content);

/** A choice of a layer. `first` receives the focus, `closes` is what Esc presses. */
export function choice(look, label, onPress, { first = false, closes = false, ...props } = {}) {
  return button(`choice ${look}`, label, onPress, {
    "data-first": first, "data-closes": closes, ...props,
  });
}
