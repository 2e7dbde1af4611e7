// Live regions: one sentence per event in the system's words, and kills at once.

import { childDevice, guardianDevice, isDown, screenOf } from "./facts.js";
import { processTitle } from "./processes.js";
import { isLive, live } from "./state.js";
import { t } from "./words.js";

const said = new Set();
const states = new Map();
let hasBegun = false;

/** Says what is new. The first state of the page is no event. */
export function speak() {
  if (!isLive() || !live.processes || !live.devices.size) return;
  const sentences = [childDevice(), guardianDevice()].filter(Boolean).flatMap(
    device => newSentences(screenOf(device.key)));
  const faults = newFaults();
  if (hasBegun && sentences.length) say("polite", sentences.at(-1));
  if (hasBegun && faults.length) say("assertive", faults.join(" "));
  hasBegun = true;
}

function say(id, text) { document.getElementById(id).textContent = text; }

function newSentences(screen) {
  const entries = (screen?.children ?? []).flatMap(child => child.entries ?? []).map(entry => ({
    id: `${entry.id} ${entry.question?.outcome ?? ""}`, text: sentenceOf(entry),
  }));
  const notices = (screen?.notices ?? []).map(notice => ({ id: notice.id, text: notice.text }));
  return [...entries, ...notices].filter(({ id }) => !said.has(id) && said.add(id)).map(({ text }) => text);
}

function sentenceOf(entry) {
  if (entry.question) return entry.question.outcome ?? entry.question.sentence;
  return entry.kind === "text" ? `${entry.author}: ${entry.text}` : entry.text;
}

function newFaults() {
  const sentences = [];
  for (const process of live.processes) {
    const old = states.get(process.name);
    states.set(process.name, process.state);
    if (old === process.state || (!isDown(process) && process.state !== "paused")) continue;
    sentences.push(`${processTitle(process)}: ${t(process.state === "paused" ? "paused" : "killed")}`);
  }
  return sentences;
}
