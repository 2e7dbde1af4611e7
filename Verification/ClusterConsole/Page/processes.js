// Cards of processes: the heads of the path's lifelines.

import { kill, pause, problemOf, resume, start } from "./actions.js";
import { button } from "./controls.js";
import { h } from "./dom.js";
import { isComingBack, isDown, lanes, nameOf, processes, processNamed, waitingIn } from "./facts.js";
import { isCued } from "./guide.js";
import { glyph, icon } from "./icons.js";
import { steady } from "./steady.js";
import { isLive, now } from "./state.js";
import { t, uptime } from "./words.js";

const SHAPES = { up: "disc", asleep: "hollow", paused: "bars", down: "cross", held: "cross", starting: "ring" };
const WORDS = { up: "up", asleep: "asleep", paused: "paused", down: "killed", held: "killed", starting: "starting" };

/** The state that a card shows, for at least a moment. */
export const cardState = process => steady(
  process.name, isComingBack(process) ? "starting" : process.state);

/** A process in words: its program and whose it is. */
export const processTitle = process => process.owner ? `${process.kind} ${process.owner}` : process.kind;

export function processCards() {
  const names = lanes();
  if (!processes().length || !names.length) return skeletons();
  return h("ul", { class: "cards", css: { "--lanes": String(names.length) } },
    names.map(name => h("li", { key: name }, card(processNamed(name) ?? unknown(name)))));
}

const unknown = name => ({ name, kind: name, owner: null, devices: [], pid: null, state: "asleep" });

const skeletons = () => h("ul", { class: "cards", "aria-busy": "true", css: { "--lanes": "5" } },
  [1, 2, 3, 4, 5].map(() => h("li", {}, h("div", { class: "process-card" },
    [40, 80, 60].map(width => h("span", { class: "skeleton", css: { width: `${width}%` } }))))));

function card(process) {
  const state = cardState(process);
  const waiting = waitingIn(process);
  const owner = process.owner ?? process.devices.map(nameOf).join(", ");
  return h("div", { class: `process-card ${state} ${process.kind}`, "data-process": process.name, "data-state": state },
    waiting ? h("span", { class: "waiting", title: t("inOutbox"), role: "img", "aria-label": `${waiting} ${t("inOutbox")}` }, String(waiting)) : null,
    h("div", { class: "state" }, glyph(SHAPES[state] ?? "hollow"), h("span", {}, t(WORDS[state] ?? state)),
      process.started && state === "up" ? h("span", { class: "uptime" }, uptime(now() - process.started)) : null),
    h("div", { class: "kind" }, h("span", { class: "full" }, process.kind), h("span", { class: "short" }, process.kind === "relay" ? "relay" : owner || process.kind)),
    h("div", { class: "identity" }, h("span", { class: "owner" }, ownerLine(process)),
      h("span", { class: "mono" }, process.pid ?? t("noProcess")),
      process.restarts ? h("span", { class: "restarts" }, ` · ↻${process.restarts}`) : null),
    problemOf(process.name) ? h("p", { class: "failure" }, problemOf(process.name)) : null,
    h("div", { class: "process-buttons" }, buttons(process, state)));
}

function ownerLine(process) {
  if (process.kind === "relay") return "ROUTER, XPUB";
  const devices = process.devices.length > 2
    ? t("devices", process.devices.length) : process.devices.join(" ");
  const owner = process.owner ?? (process.devices.length === 1 ? nameOf(process.devices[0]) : null);
  return [owner, devices].filter(Boolean).join(" · ");
}

function buttons(process, state) {
  const title = processTitle(process);
  if (state === "paused") {
    return [
      button("small-button go", icon("play"), () => resume(process), { key: "resume", "aria-label": t("resume", title) }),
      button("small-button kill narrow", "-9", () => kill(process), { key: "kill", "aria-label": t("kill", title) }),
    ];
  }
  if (isDown(process) && process.kind !== "app-agent") {
    return button(`small-button go${isCued(`start ${process.name}`)}`, [icon("play"), h("span", {}, t("start"))], () => start(process),
      { key: "start", "aria-label": `${t("start")} ${title}`, "aria-disabled": !isLive(), "data-key": `start-${process.name}` });
  }
  const isOff = !process.pid || !isLive();
  return [
    button("small-button kill", ["kill", h("span", { class: "signal" }, "\u00a0-9")], () => kill(process),
      { key: "kill", "aria-label": t("kill", title), "aria-disabled": isOff, "data-key": `kill-${process.name}` }),
    button("small-button", icon("pause"), () => pause(process),
      { key: "pause", "aria-label": t("pause", title), title: "SIGSTOP", "aria-disabled": isOff, "data-key": `pause-${process.name}` }),
  ];
}

/** Processes beside the path's own, in one row each. */
export function otherProcesses() {
  const named = new Set(lanes());
  const others = processes().filter(process => !named.has(process.name));
  if (!others.length) return null;
  return h("details", { class: "others", key: "others" },
    h("summary", {}, t("moreProcesses", others.length)),
    h("ul", {}, others.map(process => otherRow(process))));
}

function otherRow(process) {
  const state = cardState(process);
  return h("li", { key: process.name, class: state, "data-process": process.name, "data-state": state },
    h("span", { class: "state" }, glyph(SHAPES[state] ?? "hollow"), t(WORDS[state] ?? state)),
    h("span", { class: "mono" }, processTitle(process)), h("span", { class: "mono soft" }, process.pid ?? ""),
    h("span", { class: "process-buttons" }, buttons(process, state)));
}
