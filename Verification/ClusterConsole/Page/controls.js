// Small controls that several parts of the page share.

import { h } from "./dom.js";
import { icon } from "./icons.js";

/** A button. Disabled buttons stay in the order of focus and say that they are disabled. */
export function button(look, label, onPress, props = {}) {
  const isDisabled = props["aria-disabled"] === true;
  return h("button", {
    type: "button", class: look, onclick: isDisabled ? null : onPress, ...props,
  }, label);
}

/** Choices of which one is shown: tabs while they fit, else a list. */
export function chooser(label, items, selected, onChoose, controls) {
  if (items.length > 3) {
    return pick(label, items.map(item => [item.id, item.title]), selected, onChoose);
  }
  const tabs = items.map(item => h("button", {
    type: "button", role: "tab", id: `tab-${item.id}`, key: item.id, "aria-controls": controls,
    "aria-selected": item.id === selected, tabindex: item.id === selected ? 0 : -1,
    onclick: () => onChoose(item.id),
  }, h("bdi", {}, item.title), item.badge
    ? h("i", { class: "badge", role: "img", "aria-label": String(item.badge) }) : null));
  return h("div", { class: "tabs", role: "tablist", "aria-label": label }, tabs);
}

/** A list of choices with an arrow of the page's own. */
export function pick(label, options, selected, onChoose, props = {}) {
  return h("span", { class: "pick", key: props.key }, h("select", {
    "aria-label": label, value: selected, onchange: event => onChoose(event.target.value), ...props,
  }, options.map(([value, title]) => h("option", { value, key: value, lang: props.ownNames ? value : null }, title))),
  icon("chevron"));
}

export function toggle(label, isOn, onPress, props = {}) {
  return h("button", {
    type: "button", class: "switch", role: "switch", "aria-checked": isOn, onclick: onPress, ...props,
  }, h("span", {}, label), h("i", { "aria-hidden": "true" }));
}

/** Passes on the text of a form's first field, which is emptied when the text has been accepted. */
export function submitting(onText) {
  return async event => {
    event.preventDefault();
    const input = event.target.elements[0];
    const text = input.value.trim();
    if (!text) return;
    const answer = await onText(text);
    if (answer && !answer.problem && input.value.trim() === text) input.value = "";
  };
}

/** A form of one line. */
export function oneLineForm(label, onText, props = {}) {
  return h("form", {
    class: "message-form", key: props.key, autocomplete: "off", onsubmit: submitting(onText),
  }, h("input", {
    "aria-label": label, placeholder: label, autocomplete: "off", maxlength: 400, dir: "auto",
  }), h("button", { "aria-label": props.sendLabel, type: "submit" }, icon("send")));
}
