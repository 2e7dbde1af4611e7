// The sentence about the last fault, and the switch “Keep down”.

import { keepsDown, toggleKeepDown } from "./actions.js";
import { toggle } from "./controls.js";
import { h } from "./dom.js";
import { processes } from "./facts.js";
import { icon } from "./icons.js";
import { processTitle } from "./processes.js";
import { shown } from "./state.js";
import { parts, span, t } from "./words.js";

export function aftermath() {
  const { look, shape, words } = sentence(lastFault());
  return h("div", { class: "legend", key: "legend" },
    h("p", { class: `message ${look}` }, icon(shape), h("span", {}, words)),
    toggle(t("keepDown"), keepsDown(), toggleKeepDown, { "data-key": "keep-down" }));
}

/** The process with the newest fault. */
const lastFault = () => processes().filter(process => process.fault)
  .reduce((last, process) => !last || process.fault.at > last.fault.at ? process : last, null);

function sentence(process) {
  if (!process) return { look: "ok", shape: "check", words: t("faultNone") };
  const { fault } = process;
  const name = h("b", {}, processTitle(process));
  return fault.kind === "paused" ? afterPause(name, fault) : afterEnd(process, name, fault);
}

function afterPause(name, fault) {
  if (fault.back === null) return { look: "warn", shape: "pause", words: parts("faultPaused", name) };
  const time = span(fault.back - fault.at);
  return { look: "ok", shape: "check", words: [parts("faultResumed", name, time), " ", counts(fault)] };
}

function afterEnd(process, name, fault) {
  const ended = parts(fault.kind === "ended" ? "faultEnded" : "faultKilled", name);
  if (process.state === "held" || process.isHeld) return { look: "bad", shape: "cross", words: [ended, " ", t("faultHeld")] };
  if (process.kind === "app-agent" && fault.back === null) return { look: "ok", shape: "check", words: [ended, " ", t("faultApp")] };
  if (fault.back === null) return { look: "bad", shape: "cross", words: [ended, " ", t("faultRestart")] };
  const pid = h("span", { class: "mono" }, fault.newPid ?? "");
  const time = span(fault.back - fault.at);
  return { look: "ok", shape: "check", words: [parts(fault.kind === "ended" ? "faultResumed" : "faultBack", name, time, pid), " ", counts(fault)] };
}

/** The verdict counts what was lost and applied twice; without it only the own number is known. */
function counts(fault) {
  const verdict = shown().verdict;
  if (!verdict || verdict.state === "unknown") return t("faultAgain", fault.sentAgain ?? 0);
  return t("faultCounts", fault.sentAgain ?? 0, verdict.lost, verdict.twice);
}
