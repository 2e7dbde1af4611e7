// The top bar with the guiding line and the verdict, and the banners below it.

import { setLanguage, toggleTheme } from "./appearance.js";
import { button, pick } from "./controls.js";
import { h } from "./dom.js";
import { childDevices, guardianDevices } from "./facts.js";
import { canGuide, nextStep, STEPS } from "./guide.js";
import { icon } from "./icons.js";
import { returnToLive } from "./look-back.js";
import { openPopover } from "./popovers.js";
import { isLookingBack, link, past, settings, shown } from "./state.js";
import { clockTime, currentLanguage, LANGUAGES, number, t } from "./words.js";

export function topBar() {
  const themes = { auto: "auto", light: "sun", dark: "moon" };
  return [
    h("h1", { class: "brand" }, icon("brand"), h("span", {}, "permission-relay")), familyName(),
    h("span", { class: "grow" }), guideLine(), h("span", { class: "grow second" }), verdictChip(),
    pick(t("language"), LANGUAGES, currentLanguage(), setLanguage, { key: "language", ownNames: true, id: "language" }),
    button("tool", icon(themes[settings.theme]), toggleTheme, { key: "theme", "aria-label": `${t("appearance")}: ${t(`theme_${settings.theme}`)}` }),
    button("tool wide-only", h("kbd", {}, "?"), event => openPopover("help", event.currentTarget),
      { key: "help", "aria-label": t("keyboard"), "aria-haspopup": "dialog", id: "help-button" }),
  ];
}

function familyName() {
  const cluster = shown().cluster;
  if (!cluster) return null;
  const names = [...guardianDevices(), ...childDevices()].map(device => device.name);
  return h("p", { class: "family", key: "family" }, h("b", {}, t("family", cluster.family)), " · ", names.join(", "));
}

function guideLine() {
  const step = nextStep();
  if (!step || !canGuide() || isLookingBack() || link.state !== "live") return null;
  const pips = Array.from({ length: STEPS }, (_, index) =>
    h("i", { class: index < step.number ? "done" : index === step.number ? "next" : "" }));
  return h("p", { class: "guide", key: "guide", "data-step": step.number },
    h("span", { class: "pips", "aria-hidden": "true" }, pips),
    h("span", { class: "count" }, `${Math.min(STEPS, step.number + 1)} / ${STEPS}`), h("b", {}, step.text));
}

/** Only a verdict of the checkers shows green. */
export function verdictState() {
  if (link.state === "connecting") return { look: "unknown", shape: "clock", text: t("connecting") };
  const verdict = shown().verdict;
  if (link.state !== "live" || !verdict || verdict.state === "unknown") {
    return { look: "unknown", shape: "clock", text: t("unknownOffline") };
  }
  if (verdict.state === "violated") {
    const check = verdict.checks.find(each => each.state === "violated");
    return { look: "bad", shape: "cross", text: check ? `${check.name}: ${check.text}` : t("violated") };
  }
  return verdict.state === "waiting"
    ? { look: "warn", shape: "clock", text: t("waitingCount", number(verdict.waiting)) }
    : { look: "ok", shape: "check", text: t("allWell") };
}

function verdictChip() {
  const { look, shape, text } = verdictState();
  return button(`verdict-chip ${look}`, [icon(shape), h("span", { class: "words" }, text)],
    event => openPopover("verdict", event.currentTarget),
    { key: "verdict", "aria-haspopup": "dialog", "aria-label": text, id: "verdict-button", "data-state": look });
}

export function banners() {
  const list = [];
  if (link.state === "refused") list.push(h("p", { class: "banner bad", role: "alert", key: "refused" }, icon("plug"), t("refused")));
  if (link.state === "lost") {
    const seconds = Math.max(1, Math.ceil((link.retryAt - Date.now()) / 1000));
    list.push(h("p", { class: "banner bad", key: "lost" }, icon("plug"), h("span", {}, t("connectionLost", seconds))));
  }
  if (isLookingBack()) {
    list.push(h("p", { class: "banner warn", key: "past" }, icon("clock"), h("span", {}, t("lookingBack", clockTime(past.at))),
      button("button", t("toLive"), returnToLive, { "data-key": "to-live" })));
  }
  return list;
}
