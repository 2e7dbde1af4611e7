// The keyboard: single keys, Esc, arrows in tabs and in the log, and Tab inside a layer.

import { toggleTheme } from "./appearance.js";
import { choose } from "./actions.js";
import { guardianDevice, guardianDevices } from "./facts.js";
import { returnToLive } from "./look-back.js";
import { settings } from "./state.js";

const TYPING = "input, select, textarea";
const FOCUSABLE = "button, input, select, [tabindex='0']";
const PARTS = { 1: ["child", "child-screen"], 2: ["relay", "flow"], 3: ["guardian", "guardian-screen"] };

export function listenToKeys() {
  document.addEventListener("keydown", event => {
    const handled = event.key === "Escape" ? escape(event)
      : event.key === "Tab" ? stayInLayer(event)
        : moveInTabs(event) || moveInLog(event) || singleKey(event);
    if (handled) event.preventDefault();
  });
}

const layerAround = element => element.closest?.(".screen")?.querySelector(":scope > .layer");

/** Esc closes the innermost: a popover closes on its own, then a layer, then the past. */
function escape(event) {
  if (document.querySelector(":popover-open")) return false;
  const layer = layerAround(event.target);
  if (layer) layer.querySelector("[data-closes]")?.click(); else returnToLive();
  return true;
}

function stayInLayer(event) {
  const layer = layerAround(event.target);
  if (!layer) return false;
  const stops = [...layer.querySelectorAll(FOCUSABLE)].filter(stop => stop.tabIndex >= 0 && !stop.hidden);
  const index = stops.indexOf(event.target);
  const isAtEdge = event.shiftKey ? index <= 0 : index === stops.length - 1 || index < 0;
  if (isAtEdge) stops.at(event.shiftKey ? -1 : 0)?.focus();
  return isAtEdge;
}

function moveInTabs(event) {
  const list = event.target.closest?.("[role=tablist]");
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!list || !step) return false;
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const next = tabs.at((tabs.indexOf(event.target) + step) % tabs.length);
  next.click();
  next.focus();
  return true;
}

function moveInLog(event) {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const row = step && event.target.closest?.("table.log tr");
  if (!row) return false;
  const buttons = [...row.closest("table").querySelectorAll("tbody button")];
  buttons[buttons.indexOf(event.target) + step]?.focus();
  return true;
}

function singleKey(event) {
  if (!settings.singleKeys || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.target.matches?.(TYPING)) return false;
  const action = ACTIONS[event.key.toLowerCase()];
  action?.(event.key);
  return !!action;
}

const ACTIONS = {
  1: goToPart, 2: goToPart, 3: goToPart,
  g: otherGuardian,
  k: () => document.querySelector("[data-process=relay] .process-buttons button")?.focus(),
  l: returnToLive,
  t: toggleTheme,
  "?": () => document.getElementById("help-button")?.click(),
};

function goToPart(key) {
  const [part, id] = PARTS[key];
  choose({ part });
  // The part is shown at once: a later focus could overtake the next key.
  document.getElementById("stage").dataset.part = part;
  const screen = document.getElementById(id);
  (screen.querySelector(":scope > .layer [data-first]") ?? screen).focus();
}

function otherGuardian() {
  const devices = guardianDevices();
  const index = devices.findIndex(device => device.key === guardianDevice()?.key);
  if (devices.length > 1) choose({ guardian: devices[(index + 1) % devices.length].key });
}
