// The review sheet of a guardian: everything about a question, then the choices.

import { onPhone } from "./actions.js";
import { button } from "./controls.js";
import { h } from "./dom.js";
import { personTitle, questionsOf } from "./facts.js";
import { isCued } from "./guide.js";
import { appIcon, avatar, childAvatar, icon } from "./icons.js";
import { choice, layer, sheet } from "./layers.js";
import { decide } from "./question.js";
import { now, phone } from "./state.js";
import { moment, t } from "./words.js";

/** The sheet, as long as its question waits for an answer. */
export function reviewLayer(device, screen) {
  const wanted = phone(device.key).sheet;
  if (wanted?.name !== "review") return null;
  const child = screen.children?.find(each => each.person === wanted.child);
  const entry = questionsOf(child).find(each => each.question.id === wanted.question);
  if (entry?.question.state !== "open" || entry.question.answering) return null;
  return layer(`review ${wanted.question}`, reviewSheet(device, child, entry));
}

function reviewSheet(device, child, entry) {
  const { question } = entry;
  const close = () => onPhone(device.key, { sheet: null });
  return sheet("review",
    h("div", { class: "grip", "aria-hidden": "true" }),
    h("div", { class: "pair" }, childAvatar(child.name, "big"), appIcon(question.app, "small"),
      question.people.slice(0, 2).map(person => avatar(personTitle(person), "big"))),
    h("h3", { id: "review-title" }, question.sentence),
    question.description ? h("p", { class: "described", dir: "auto" }, question.description) : null,
    h("div", { class: "details" }, question.people.map(person => personDetails(device, person)),
      h("dl", { class: "detail-list" }, detail("app", h("bdi", {}, question.app)),
        detail("askedAt", moment(entry.at, now())))),
    h("div", { class: "choices" },
      question.choices.map((each, index) => answerButton(device, question, each, index)),
      choice("cancel", t("notNow"), close, { closes: true, key: "later" })));
}

const detail = (word, value, look = "") => h("div", { key: word },
  h("dt", {}, t(word)), h("dd", { class: look }, value));

const HANDLE_WORDS = { phone: "phoneNumber", email: "emailAddress", custom: "userName" };

function personDetails(device, person) {
  return h("div", { key: person.handle },
    h("dl", { class: "detail-list" }, person.name ? detail("person", h("bdi", {}, person.name)) : null,
      detail(HANDLE_WORDS[person.handleKind] ?? "userName", h("bdi", {}, person.handle), "mono")),
    person.picture ? pictureRow(person) : null);
}

/** Pictures stay on the devices: the page knows their type, size and judgement. */
function pictureRow({ picture }) {
  return h("div", { class: "picture-row" }, h("span", { class: "blurred", "aria-hidden": "true" }),
    h("span", {}, picture.text, " ", h("span", { class: "mono" }, picture.mediaType)));
}

function answerButton(device, question, each, index) {
  const isApproval = each.answer === "approval";
  const look = isApproval ? index === 0 ? "approve" : "secondary" : "deny";
  return choice(`${look}${index === 0 ? isCued("approve") : ""}`,
    [icon(isApproval ? "check" : "cross"), each.title],
    async () => { onPhone(device.key, { sheet: null }); await decide(device, question, each, true); },
    { first: index === 0, key: each.id, "data-key": `choice-${each.id}` });
}
