// The frame of a phone's screen: status bar, strips, page, notifications, layer and veil.

import { dismissProblem, onDevice, onPhone, problemOf } from "./actions.js";
import { button } from "./controls.js";
import { h } from "./dom.js";
import { ownChild, phoneState, processOf, questionsOf, screenOf } from "./facts.js";
import { isCued } from "./guide.js";
import { appIcon, glyph, icon, messagesIcon } from "./icons.js";
import { isLive, now, phone } from "./state.js";
import { moment, phoneClock, t } from "./words.js";

const NOTICE_SHOWN = 9000;
const REFUSAL_SHOWN = 120000;
const NOTICES_AT_ONCE = 3;

/** The children of a `.screen`: `content` below, `layer` in front of it. */
export function phoneScreen(device, content, layer, { isHome = false } = {}) {
  const state = phoneState(device);
  const covered = state !== "ok";
  return [
    statusBar(device, state),
    h("div", { class: "content", key: "content", inert: covered || !!layer || !isLive() }, content),
    layer ? h("div", { class: "layer", key: `layer ${layer.name}`, enter: true, inert: covered || !isLive() }, layer.view) : null,
    isHome || layer ? null : notices(device, covered, banner),
    covered && state !== "loading" ? veil(device, state) : null,
  ];
}

function statusBar(device, state) {
  const relay = screenOf(device.key)?.relay;
  const isOff = state !== "ok" || relay !== "connected";
  return h("div", { class: "status-bar", key: "status", "aria-hidden": "true" },
    h("span", {}, phoneClock(now())),
    h("span", { class: isOff ? "off" : "" }, icon(isOff ? "no-network" : "network")));
}

function veil(device, state) {
  const process = processOf(device);
  const glyphs = { paused: "bars", down: "cross", starting: "ring" };
  const words = { paused: "paused", down: "killed", starting: "starting" };
  return h("div", { class: `veil ${state}`, key: "veil" }, h("div", {},
    glyph(glyphs[state]), `${process?.kind ?? device.process}: ${t(words[state])}`,
    h("span", {}, t("lastScreen"))));
}

/** Strips below the title: no connection, a refused command of one's own, a failed command. */
export function strips(device) {
  const screen = screenOf(device.key);
  const problem = problemOf(device.key);
  const refusal = problem ? null : lastRefusal(device.key, screen);
  return h("div", { class: "strips", key: "strips" },
    (screen?.banners ?? []).map(text => h("p", { class: "strip warn", key: text }, text)),
    problem ? strip(problem, () => dismissProblem(device.key)) : null,
    refusal ? strip(refusal.text, () => onPhone(device.key, { refusalSeen: refusal.at })) : null);
}

const strip = (text, onClose) => h("div", { class: "strip bad", role: "status", key: "problem" },
  h("span", {}, text), button("plain", icon("cross"), onClose, { "aria-label": t("close") }));

function lastRefusal(key, screen) {
  const newest = (screen?.refusals ?? []).reduce(
    (last, refusal) => !last || refusal.at > last.at ? refusal : last, null);
  const isSeen = newest && newest.at <= (phone(key).refusalSeen ?? 0);
  return newest && !isSeen && now() - newest.at < REFUSAL_SHOWN ? newest : null;
}

const banner = notice => now() - notice.at < NOTICE_SHOWN && !notice.isRead;

/** Notifications of a phone; `isShown` chooses among them. */
export function notices(device, isInert, isShown) {
  const kinds = device.role === "child" || device.role === "adult"
    ? () => true : notice => !["message", "asked", "reminded"].includes(notice.kind);
  const list = (screenOf(device.key)?.notices ?? [])
    .filter(kinds).filter(isShown).slice(0, NOTICES_AT_ONCE);
  if (!list.length) return null;
  return h("div", { class: "notices", key: "notices", inert: isInert || !isLive() },
    list.map(notice => noticeCard(device, notice)));
}

function noticeCard(device, notice) {
  const isMessage = notice.kind === "message";
  const app = isMessage ? t("messages") : questionsOf(ownChild(screenOf(device.key))).at(-1)?.question.app;
  const cue = notice.kind === "decided" ? isCued("notice") : "";
  return h("button", {
    type: "button", class: `notice${cue}`, key: notice.id, enter: true, "data-kind": notice.kind,
    onclick: () => openNotice(device, notice),
  }, isMessage ? messagesIcon("medium") : appIcon(app ?? t("notice"), "medium"), h("span", {},
    h("b", {}, app ?? t("notice"), h("time", {}, moment(notice.at, now()))), notice.text));
}

let onNotice = () => {};
/** Sets what a child's phone does when a notification is tapped. */
export function whenNoticeOpens(action) { onNotice = action; }

function openNotice(device, notice) {
  onDevice(device.key, { dismissNotice: { id: notice.id } });
  onNotice(device, notice);
}

/** The bar at the bottom of a phone. It is a button where it leads home. */
export const homeBar = onHome => h("div", { class: "home-bar", key: "home-bar" },
  onHome ? button("plain", h("i", {}), onHome, { "aria-label": t("goHome") }) : h("i", {}));

/** A phone of which nothing is known yet. */
export const skeletonPage = () => h("div", { class: "page", "aria-busy": "true", key: "skeleton" },
  [58, 40, 90, 30].map(width => h("span", { class: "skeleton", css: { width: `${width}%` } })));
