// The passcode sheet on a child's device: a guardian types, then chooses the answer.

import { button } from "./controls.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { choice, sheet } from "./layers.js";
import { now } from "./state.js";
import { t } from "./words.js";

const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "", "0", "delete"];

export function passcodeSheet(prompt, answer) {
  const isBlocked = (prompt.waitUntil ?? 0) > now();
  const cancel = prompt.choices.find(each => each.role === "cancel" || each.id === "cancel");
  const answers = prompt.choices.filter(each => each !== cancel);
  return sheet("prompt",
    h("h3", { id: "prompt-title" }, prompt.title),
    (prompt.lines ?? []).map((line, index) => h("p", { class: "small", key: `l${index}` }, line)),
    h("form", { class: "passcode", key: `passcode ${prompt.id}`, onsubmit: event => event.preventDefault() },
      h("input", {
        type: "password", inputmode: "numeric", autocomplete: "off", maxlength: 64, class: "dots",
        "aria-label": prompt.lines[0] ?? prompt.title, "data-first": true,
      }),
      h("p", { class: "failure", role: "alert" }, prompt.failure ?? "", isBlocked
        ? ` ${Math.ceil((prompt.waitUntil - now()) / 1000)} s` : ""),
      h("div", { class: "keypad" }, KEYS.map(key => keypadKey(key))),
      h("div", { class: "choices" },
        answers.map(each => choice(each.role, each.title, event => give(event, answer, each),
          { key: each.id, "aria-disabled": isBlocked, "data-key": each.id })),
        cancel ? choice("cancel", cancel.title, () => answer(cancel.id), { key: "cancel", closes: true }) : null)));
}

const passcodeInput = event => event.currentTarget.closest("form").querySelector("input");

function keypadKey(key) {
  if (!key) return h("span", { key: "none" });
  if (key === "delete") {
    return button("plain", icon("back"), event => edit(event, text => text.slice(0, -1)),
      { "aria-label": t("deleteDigit"), key });
  }
  return button("key", key, event => edit(event, text => text + key), { key });
}

function edit(event, change) {
  const input = passcodeInput(event);
  input.value = change(input.value);
}

async function give(event, answer, each) {
  const input = passcodeInput(event);
  const passcode = input.value;
  if (!passcode) return input.focus();
  input.value = "";
  await answer(each.id, { passcode });
}
