// A question in a conversation: its card with the buttons that are open to the reader.

import { onDevice, onPhone } from "./actions.js";
import { button } from "./controls.js";
import { h } from "./dom.js";
import { isCued } from "./guide.js";
import { appIcon, icon } from "./icons.js";
import { personRow } from "./prompts.js";
import { now } from "./state.js";
import { moment, t } from "./words.js";

const isGuardian = device => !["child", "adult"].includes(device.role);

export function questionCard(device, child, entry) {
  const { question } = entry;
  return h("article", {
    class: "question-card", key: entry.id, enter: true, "data-question": question.id, "data-state": question.state,
  },
  h("div", { class: "card-head" }, appIcon(question.app, "small"), h("bdi", {}, question.app),
    h("time", {}, moment(entry.at, now()))),
  h("p", { class: "card-text" }, question.sentence),
  question.people.map(personRow),
  foot(device, child, entry));
}

function foot(device, child, entry) {
  const { question } = entry;
  if (question.outcome) return outcome(question);
  if (entry.kind === "inPerson") return outcome({ ...question, state: "answered", outcome: entry.text });
  if (question.answering) {
    return h("p", { class: "outcome warn" }, icon("clock"), `${question.answering.title} · ${t("sending")}`);
  }
  if (question.state !== "open") return outcome(question);
  return isGuardian(device) ? guardianButtons(device, child, question) : ownButtons(device, entry);
}

function outcome(question) {
  const look = question.state !== "answered" ? "gone" : isApproval(question) ? "ok" : "bad";
  const shape = { gone: "clock", ok: "check", bad: "cross" }[look];
  return h("p", { class: `outcome ${look}`, key: "outcome" }, icon(shape), question.outcome ?? t(question.state));
}

/** The outcome's sentence quotes the chosen title; the choice itself is no field of its own. */
function isApproval(question) {
  const quoted = question.choices.find(choice => question.outcome?.includes(choice.title));
  return quoted ? quoted.answer === "approval" : true;
}

function guardianButtons(device, child, question) {
  const denial = question.choices.find(choice => choice.answer === "denial");
  return h("div", { class: "card-buttons" },
    denial ? button("card-button", denial.title, () => decide(device, question, denial, false),
      { "data-key": `decline-${question.id}` }) : null,
    button(`card-button filled${isCued("review")}`, t("review"),
      () => onPhone(device.key, { sheet: { name: "review", question: question.id, child: child.person } }),
      { "data-key": `review-${question.id}` }));
}

function ownButtons(device, entry) {
  return h("div", { class: "card-buttons own" },
    h("span", { class: "delivery" }, entry.deliveryText ? [icon(entry.delivery === "sending" ? "clock" : "check"), entry.deliveryText] : null),
    button("card-button", t("cancelRequest"),
      () => onDevice(device.key, { cancel: { question: entry.question.id } })));
}

export async function decide(device, question, choice, reviewed) {
  return onDevice(device.key, { decide: { question: question.id, choice: choice.id, reviewed } });
}
