// Actions of a person on the page, as commands for the server.

import { isDown, processes, relayProcess } from "./facts.js";
import { act } from "./server.js";
import { changed, isLive, keepChoices, phone, view } from "./state.js";
import { t } from "./words.js";

const PROBLEM_SHOWN = 8000;
/** The last problem of each phone or process: `{text, until}` by key. */
const problems = new Map();

export function problemOf(key) {
  const problem = problems.get(key);
  return problem && problem.until > Date.now() ? problem.text : null;
}

export function dismissProblem(key) { problems.delete(key); changed(); }

async function send(key, command) {
  const answer = await act(command);
  if (answer?.problem) {
    problems.set(key, {
      text: answer.problem.text || t("noAnswer"), until: Date.now() + PROBLEM_SHOWN,
    });
    setTimeout(changed, PROBLEM_SHOWN + 100);
  } else if (answer) {
    problems.delete(key);
  }
  changed();
  return answer;
}

export const onDevice = (key, command) => send(key, { device: key, act: command });
export const inApp = (key, command) => send(key, { app: key, act: command });
const onProcess = (name, command) => send(name, { process: name, act: command });

/** Kills a process. While “Keep down” is on, its supervisor does not start it again. */
export async function kill(process) {
  if (view.keepDown && process.kind !== "app-agent") await onProcess(process.name, "hold");
  return onProcess(process.name, "kill");
}

export const start = process => onProcess(process.name, "release");
export const pause = process => onProcess(process.name, "pause");
export const resume = process => onProcess(process.name, "resume");
export const setNetwork = (process, isCut) => onProcess(process.name, isCut ? "cut" : "join");

/** “Keep down” applies to the next kill; turned off, it starts what was kept down. */
export function toggleKeepDown() {
  if (!isLive()) return;
  const isOn = !keepsDown();
  choose({ keepDown: isOn });
  if (!isOn) processes().filter(process => process.isHeld).forEach(start);
}

export const keepsDown = () => view.keepDown || processes().some(process => process.isHeld);

/** Remembers a choice of the page. */
export function choose(choices) {
  Object.assign(view, choices);
  keepChoices();
  changed();
}

/** Remembers a choice for one phone. */
export function onPhone(key, choices) {
  Object.assign(phone(key), choices);
  keepChoices();
  changed();
}

export const relayIsDown = () => isDown(relayProcess());
