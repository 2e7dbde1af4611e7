// A child's phone: home screen, the demo app, and the own conversation with the guardians.

import { inApp, onPhone } from "./actions.js";
import { button } from "./controls.js";
import { conversationPage } from "./conversation.js";
import { h } from "./dom.js";
import { ownChild, questionAbout, questionsOf, screenOf, windowOf } from "./facts.js";
import { isCued } from "./guide.js";
import { appIcon, messagesIcon } from "./icons.js";
import { chatPage, landmarksPage } from "./landmarks.js";
import { homeBar, notices, phoneScreen, skeletonPage, strips, whenNoticeOpens } from "./phone.js";
import { promptLayer } from "./prompts.js";
import { now, phone } from "./state.js";
import { longDay, phoneClock, t } from "./words.js";

export function childPhone(device) {
  const screen = screenOf(device.key);
  if (!screen) return phoneScreen(device, skeletonPage(), null);
  const place = placeOf(device);
  return phoneScreen(device, pageAt(place, device, screen), promptLayer(device, screen),
    { isHome: place === "home" });
}

/** The app's window is open on the device, or closed: the page follows the device. */
export function placeOf(device) {
  const isOpen = windowOf(device.key)?.isOpen === true;
  const place = phone(device.key).place;
  if (place === "messages") return "messages";
  return isOpen ? "app" : "home";
}

function pageAt(place, device, screen) {
  if (place === "home") return homePage(device);
  const goHome = () => leave(device, place);
  if (place === "messages") {
    return conversationPage(device, screen, ownChild(screen), { onHome: goHome, onBack: goHome });
  }
  const chat = openChatOf(device);
  return chat ? chatPage(device, chat, goHome) : landmarksPage(device, screen, goHome);
}

function leave(device, place) {
  onPhone(device.key, { place: "home" });
  if (place === "app") inApp(device.key, { close: {} });
}

/** The chat that the person opened, as long as it may be seen. */
export function openChatOf(device) {
  const chats = windowOf(device.key)?.window?.chats ?? [];
  return chats.find(chat => chat.chat === phone(device.key).chat && chat.isOpen) ?? null;
}

function homePage(device) {
  const app = windowOf(device.key);
  return h("div", { class: "home-page", key: "home" },
    h("div", { class: "home-clock" }, h("div", {}, longDay(now())),
      h("div", { class: "hour" }, phoneClock(now()))),
    h("div", { class: "home-notices" }, strips(device), notices(device, false, () => true)),
    h("div", { class: "home-apps" },
      app ? button(`app-button${isCued("open-app")}`, [appIcon("landmarks", "large"), "Landmarks"],
        () => openApp(device), { "aria-label": t("open", "Landmarks"), "data-key": "open-app" }) : null,
      button("app-button", [messagesIcon("large"), t("messages")],
        () => onPhone(device.key, { place: "messages" }), { "aria-label": t("open", t("messages")) })));
}

function openApp(device, choices = {}) {
  onPhone(device.key, { place: "home", ...choices });
  if (!windowOf(device.key)?.isOpen) inApp(device.key, { open: {} });
}

/** A tapped notification opens what it is about: the conversation, or the app at the answered chat. */
function follow(device, notice) {
  if (!["child", "adult"].includes(device.role)) return;
  if (notice.kind === "message") return onPhone(device.key, { place: "messages" });
  openApp(device, { tab: "chats", chat: notice.kind === "decided" ? answeredChat(device, notice) : null });
}

function answeredChat(device, notice) {
  const child = ownChild(screenOf(device.key));
  const chats = windowOf(device.key)?.window?.chats ?? [];
  const answered = questionsOf(child).filter(entry => entry.question.state === "answered");
  const entry = answered.filter(entry => entry.at <= notice.at).at(-1) ?? answered.at(-1);
  // Other chats may contain the same person: the open one counts, else the one with fewest people.
  const about = chats.filter(chat => entry && questionAbout(child, chat.handles) === entry)
    .sort((one, other) => other.isOpen - one.isOpen || one.handles.length - other.handles.length);
  return about[0]?.chat ?? null;
}

whenNoticeOpens(follow);
