// “Why?”: the explanation of a hidden chat, a contact or an age answer, by the device itself.

import { h, patch } from "./dom.js";
import { icon } from "./icons.js";
import { act } from "./server.js";
import { isLive } from "./state.js";
import { t } from "./words.js";

const HOVER = 450;
const popover = () => document.getElementById("explain");
let asked = 0;
let hovered = 0;

export function whyButton(subject, label, key) {
  return h("button", {
    type: "button", class: "why", "aria-haspopup": "dialog", "data-key": key,
    "aria-label": `${t(subject.age ? "whyAge" : "whyHidden")} ${label}`,
    onclick: event => open(subject, event.currentTarget, true),
  }, icon("question"), t("why"));
}

/** Opens an explanation when the pointer rests on what it is about. Focus does not move. */
export function explainOnHover() {
  document.addEventListener("pointerover", event => {
    clearTimeout(hovered);
    const place = event.pointerType === "mouse" ? event.target.closest?.("[data-hover]") : null;
    if (place && !place.closest("[inert]")) {
      hovered = setTimeout(() => open(JSON.parse(place.dataset.hover), place, false), HOVER);
    }
  });
}

async function open(subject, place, takesFocus) {
  if (!isLive()) return;
  const number = ++asked;
  draw(subject, null, null);
  show(place, takesFocus);
  const explanations = [];
  for (const question of questions(subject)) {
    const answer = await act({ device: subject.device, act: question });
    if (number !== asked) return;
    if (!answer || answer.problem) return finish(place, subject, null, answer?.problem?.text || t("noAnswer"));
    explanations.push(...(answer.result?.explanations ?? []));
  }
  finish(place, subject, explanations, null);
}

function finish(place, subject, explanations, problem) {
  draw(subject, explanations, problem);
  if (popover().matches(":popover-open")) position(place);
}

function questions({ child = null, age, app = null, handles = [] }) {
  if (age !== undefined) return [{ explainAge: { child, app: age } }];
  return handles.map(({ handle, handleKind }) => ({ explain: { child, handle, handleKind, app } }));
}

function draw(subject, explanations, problem) {
  const sections = (explanations ?? []).map((each, index) => h("div", { key: index },
    h("dt", {}, h("bdi", {}, each.app)), each.sentences.map(sentence => h("dd", {}, sentence))));
  patch(popover(), [
    h("h3", { id: "explain-title" }, icon("question"), t(titleOf(subject))),
    h("div", { class: "subjects" }, (subject.handles ?? []).map(
      each => h("span", { class: "tag", key: each.handle }, h("bdi", {}, each.handle)))),
    problem ? h("p", { class: "failure" }, problem)
      : explanations ? h("div", { role: "status" }, h("dl", {}, sections))
        : h("div", { "aria-busy": "true" }, h("span", { class: "skeleton" }), h("span", { class: "skeleton" })),
  ]);
}

const titleOf = subject => subject.age !== undefined ? "whyAge" : subject.child ? "whyKnown" : "whyHidden";

function show(place, takesFocus) {
  const element = popover();
  if (!element.matches(":popover-open")) element.showPopover();
  position(place);
  if (takesFocus) {
    element.focus({ preventScroll: true });
    // A popover that a script has opened does not return the focus.
    element.ontoggle = event => { if (event.newState === "closed") { element.ontoggle = null; if (place.isConnected && document.activeElement === document.body) place.focus({ preventScroll: true }); } };
  }
}

function position(place) {
  const element = popover();
  if (innerWidth < 680) return;
  const at = place.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = element;
  const isLeft = at.left + at.width / 2 < innerWidth / 2;
  const x = isLeft ? at.right + 12 : at.left - width - 12;
  element.style.left = `${Math.max(12, Math.min(innerWidth - width - 12, x))}px`;
  element.style.top = `${Math.max(12, Math.min(innerHeight - height - 12, at.top - 24))}px`;
}
