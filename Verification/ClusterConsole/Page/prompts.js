// Prompts of a child's device. Each button is an answer of that prompt.

import { onDevice, onPhone } from "./actions.js";
import { h } from "./dom.js";
import { personTitle } from "./facts.js";
import { isCued } from "./guide.js";
import { appIcon, avatar } from "./icons.js";
import { alertBox, choice, layer, sheet } from "./layers.js";
import { passcodeSheet } from "./passcode.js";
import { keepChoices, phone } from "./state.js";
import { t } from "./words.js";

export function promptLayer(device, screen) {
  const prompt = screen.prompts?.[0];
  if (!prompt) return null;
  const answer = (id, more = {}) => onDevice(
    device.key, { answerPrompt: { prompt: prompt.id, choice: id, ...more } });
  const views = { compose: composeSheet, passcode: passcodeSheet, ageSettings: passcodeSheet };
  return layer(`prompt ${prompt.id} ${prompt.kind}`, (views[prompt.kind] ?? promptAlert)(prompt, answer, device));
}

/** Esc presses the choice that cancels, which sends nothing. */
const isCancel = each => each.role === "cancel" || each.id === "cancel";

function promptAlert(prompt, answer) {
  const first = prompt.choices.find(each => each.role === "primary") ?? prompt.choices[0];
  const more = [
    (prompt.lines ?? []).map((line, index) => h("p", { class: "small", key: index }, line)),
    prompt.failure ? h("p", { class: "failure", role: "alert" }, prompt.failure) : null,
  ];
  const buttons = prompt.choices.map(each => choice(
    `${each.role}${isCued(`prompt ${each.id}`)}`, each.title, () => answer(each.id),
    { key: each.id, first: each === first, closes: isCancel(each), "data-key": each.id }));
  return alertBox("prompt", appIcon(prompt.app, "large"), prompt.title, more, buttons);
}

function composeSheet(prompt, answer, device) {
  const send = prompt.choices.find(each => !isCancel(each));
  const cancel = prompt.choices.find(isCancel);
  const names = draft(device, prompt);
  const sendNow = () => answer(send.id, { names: prompt.fields.map(field => names[field.id] ?? field.value) });
  return sheet("prompt",
    h("div", { class: "sheet-head" },
      cancel ? choice("text", cancel.title, () => answer(cancel.id), { closes: true, key: "cancel" }) : null,
      choice(`text filled${isCued("prompt send")}`, send.title, sendNow, { first: true, key: "send", "data-key": "send" })),
    prompt.to ? h("p", { class: "to-line" }, prompt.to) : null,
    h("div", { class: "question-card" },
      h("div", { class: "card-head" }, appIcon(prompt.app, "small"), prompt.app),
      h("p", { class: "card-text", id: "prompt-title" }, prompt.title),
      (prompt.lines ?? []).map((line, index) => h("p", { class: "card-more", key: index }, line)),
      (prompt.people ?? []).map(person => personRow(person))),
    h("form", { onsubmit: event => { event.preventDefault(); sendNow(); } },
      (prompt.fields ?? []).map(field => nameField(field, names, prompt.id)),
      h("button", { type: "submit", hidden: true })));
}

function nameField(field, names, prompt) {
  return h("label", { class: "field", key: `${prompt} ${field.id}` }, field.label, h("input", {
    type: "text", maxlength: 60, autocomplete: "off", dir: "auto", value: names[field.id] ?? field.value,
    oninput: event => { names[field.id] = event.target.value; keepChoices(); },
  }));
}

/** Names that were typed and not sent. They outlive a reload, not their prompt. */
function draft(device, prompt) {
  const choices = phone(device.key);
  if (choices.draft?.prompt !== prompt.id) choices.draft = { prompt: prompt.id, names: {} };
  return choices.draft.names;
}

export const personRow = person => h("div", { class: "person-row", key: person.handle },
  avatar(personTitle(person), "medium"), h("div", {}, h("b", {}, h("bdi", {}, personTitle(person))),
    h("span", { class: "mono" }, h("bdi", {}, person.handle))));
