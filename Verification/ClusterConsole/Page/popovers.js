// The popovers of the bar: the checks behind the verdict, and the keys.

import { toggleSingleKeys } from "./appearance.js";
import { toggle } from "./controls.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { settings, shown } from "./state.js";
import { t } from "./words.js";

const MARGIN = 12;

export function openPopover(id, opener) {
  const element = document.getElementById(id);
  const at = opener.getBoundingClientRect();
  element.showPopover();
  const left = Math.min(innerWidth - element.offsetWidth - MARGIN, at.right - element.offsetWidth);
  element.style.top = `${at.bottom + 8}px`;
  element.style.left = `${Math.max(MARGIN, left)}px`;
  element.focus({ preventScroll: true });
}

const SHAPES = { ok: "check", violated: "cross", unknown: "clock" };

export function verdictDetails() {
  const checks = shown().verdict?.checks ?? [];
  return [h("h3", { id: "verdict-title" }, t("verdict")),
    checks.length ? h("ul", {}, checks.map(check => h("li", { key: check.name, class: check.state },
      icon(SHAPES[check.state] ?? "clock"), h("span", {}, h("b", { class: "mono" }, check.name), " ", check.text))))
      : h("p", {}, t("unknownOffline"))];
}

const KEYS = [
  ["1 2 3", "keysFocus"], ["G", "keysGuardian"], ["K", "keysKill"], ["← → End", "keysTimeline"],
  ["↑ ↓ Enter", "keysLog"], ["L", "toLive"], ["T", "appearance"], ["Esc", "keysClose"], ["?", "keyboard"],
];

export function keyDetails() {
  return [h("h3", { id: "help-title" }, t("keyboard")),
    h("table", {}, h("tbody", {}, KEYS.map(([keys, words]) => h("tr", { key: words },
      h("th", { scope: "row" }, keys.split(" ").map(key => [h("kbd", {}, key), " "])), h("td", {}, t(words)))))),
    toggle(t("singleKeys"), settings.singleKeys, toggleSingleKeys)];
}
