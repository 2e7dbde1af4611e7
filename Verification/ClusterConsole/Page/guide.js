// The guiding line: the next step of the main job, derived from the state of the devices.

import { relayIsDown } from "./actions.js";
import {
  childDevice, guardianDevice, guardianDevices, ownChild, phoneState, questionAbout, questionsOf,
  screenOf, windowOf,
} from "./facts.js";
import { isLive, now, phone, shown, view } from "./state.js";
import { t } from "./words.js";

export const STEPS = 6;
const NOTICE_SHOWN = 9000;
let cue = null;

/** The class of a control that the guiding line points to. */
export const isCued = name => isLive() && cue === name ? " cue" : "";

/** The step `{number, text, cue}`; null if the page shows no family yet. */
export function nextStep() {
  const device = childDevice();
  const screen = device && screenOf(device.key);
  const step = screen ? stepOf(device, screen) : null;
  cue = step?.cue ?? null;
  return step;
}

const step = (number, text, pointsTo) => ({ number, text, cue: pointsTo });

function stepOf(device, screen) {
  const prompt = screen.prompts?.[0];
  if (prompt) return promptStep(prompt);
  const entry = questionsOf(ownChild(screen)).at(-1);
  const question = entry?.question;
  if (question?.state === "open") return waitingStep(question);
  if (question?.state === "answered" && isLast(entry)) return answeredStep(device, screen, entry);
  return askStep(device);
}

function promptStep(prompt) {
  const guardians = prompt.to?.replace(/^[^:：]*[:：]\s*/, "") ?? "";
  if (prompt.kind === "permission") return step(1, t("guideByMessage"), "prompt askByMessage");
  if (prompt.kind === "compose") return step(2, t("guideSend", guardians), "prompt send");
  return step(1, t("guideAnswer", prompt.app), null);
}

function waitingStep(question) {
  const isAnswered = guardianDevices().some(device => (screenOf(device.key)?.children ?? []).some(
    child => questionsOf(child).some(each => each.question.id === question.id && each.question.answering)));
  if (isAnswered && relayIsDown()) return step(3, t("guideStart"), "start relay");
  if (isAnswered) return step(4, t("guideWait"), null);
  const guardian = guardianDevice();
  const sheet = guardian && phone(guardian.key).sheet;
  if (sheet?.name === "review" && sheet.question === question.id) return step(4, t("guideApprove"), "approve");
  return step(3, t("guideReview", guardian?.name ?? t("guardian")), "review");
}

/** The answer of the last question is guided to its chat until that chat was opened. */
const isLast = entry => shown().path?.question === entry.question.id;

function answeredStep(device, screen, entry) {
  const window = windowOf(device.key)?.window;
  const chat = window?.chats.findLast(
    each => each.isOpen && questionAbout(ownChild(screen), each.handles) === entry);
  if (!chat) return askStep(device);
  if (phone(device.key).chat === chat.chat && windowOf(device.key).isOpen) {
    view.visited[entry.question.id] = true;
    return step(6, t("guideDone"), null);
  }
  if (view.visited[entry.question.id]) return askStep(device);
  const isTold = (screen.notices ?? []).some(notice => notice.kind === "decided"
    && (!windowOf(device.key).isOpen || (!notice.isRead && now() - notice.at < NOTICE_SHOWN)));
  return isTold ? step(5, t("guideNotice", device.name), "notice")
    : step(5, t("guideOpen", device.name), `chat ${chat.chat}`);
}

function askStep(device) {
  const app = windowOf(device.key);
  if (!app?.isOpen) return step(0, t("guideLaunch", device.name), "open-app");
  const hidden = app.window?.chats.find(chat => !chat.isOpen);
  const isAsking = phone(device.key).tab === "chats" && phone(device.key).chat === null;
  return hidden ? step(0, t("guideAsk", device.name), isAsking ? `ask ${hidden.chat}` : null)
    : step(6, t("guideDone"), null);
}

export const canGuide = () => !!shown().cluster && phoneState(childDevice()) !== "loading";
