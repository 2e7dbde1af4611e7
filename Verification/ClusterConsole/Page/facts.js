// Facts that follow from the documents. Nothing here is remembered or guessed.

import { live, shown, view } from "./state.js";

const LEFT = ["child", "adult"];

const devicesOf = isLeft => (shown().cluster?.devices ?? live.cluster?.devices ?? [])
  .filter(device => LEFT.includes(device.role) === isLeft);

export const childDevices = () => devicesOf(true);
export const guardianDevices = () => devicesOf(false);

const chosen = (devices, key) => devices.find(device => device.key === key) ?? devices[0] ?? null;
export const childDevice = () => chosen(childDevices(), view.child);
export const guardianDevice = () => chosen(guardianDevices(), view.guardian);

export const screenOf = key => shown().devices.get(key)?.screen ?? null;
export const windowOf = key => shown().apps.get(key) ?? null;
export const nameOf = key => [...childDevices(), ...guardianDevices()]
  .find(device => device.key === key)?.name ?? key;

export const processes = () => shown().processes ?? [];
export const processNamed = name => processes().find(process => process.name === name) ?? null;
export const processOf = device => device && processNamed(device.process);
export const relayProcess = () => processes().find(process => process.kind === "relay") ?? null;

export const isRunning = process => process?.state === "up";
export const isDown = process => ["down", "held"].includes(process?.state);

/** A killed process that was started again and has not answered yet. */
export const isComingBack = process => isRunning(process) && !!process.fault
  && process.fault.kind !== "paused" && process.fault.newPid !== null
  && process.fault.back === null;

/** The state of a phone: ok, loading, paused, down or starting. */
export function phoneState(device) {
  const document = device && shown().devices.get(device.key);
  const process = processOf(device);
  if (process?.state === "paused") return "paused";
  if (isDown(process)) return "down";
  if (!document?.screen) return "loading";
  return document.isStale ? "starting" : "ok";
}

/** The own child's part of a child's screen. */
export const ownChild = screen => screen?.children?.find(child => child.person === screen.person)
  ?? screen?.children?.[0] ?? null;

/** The child that a guardian's phone shows. */
export const childOn = (screen, person) => screen?.children?.find(child => child.person === person)
  ?? screen?.children?.[0] ?? null;

export const questionsOf = child => (child?.entries ?? [])
  .filter(entry => entry.question);

/** The newest question about one of `handles`, with its entry. */
export const questionAbout = (child, handles) => questionsOf(child).findLast(entry =>
  entry.question.people.some(person => handles.some(
    other => other.handle === person.handle && other.handleKind === person.handleKind)));

export const personTitle = person => person.name || person.handle;
export const isOpenQuestion = question => question?.state === "open" && !question.answering;
export const openQuestions = screen => (screen?.children ?? [])
  .flatMap(child => questionsOf(child)).filter(entry => isOpenQuestion(entry.question)).length;

/** The process names of the path's lanes; without a path those of the first family's devices. */
export function lanes() {
  const named = shown().path?.lanes ?? [];
  if (named.length) return named;
  const order = ["app-agent", "child-agent", "relay", "parent-agent"];
  return processes().filter(process => order.includes(process.kind))
    .sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind))
    .slice(0, 6).map(process => process.name);
}

/** The commands that wait in the outboxes of a process's devices. */
export const waitingIn = process => (process?.devices ?? [])
  .reduce((sum, key) => sum + (screenOf(key)?.outbox ?? 0), 0);
