// The demo app on a child's phone: its chats and its photos, as the app's process reports them.

import { inApp, onPhone } from "./actions.js";
import { button, oneLineForm } from "./controls.js";
import { h } from "./dom.js";
import { whyButton } from "./explain.js";
import { ownChild, questionAbout, windowOf } from "./facts.js";
import { appIcon, avatar, icon } from "./icons.js";
import { isCued } from "./guide.js";
import { homeBar, strips } from "./phone.js";
import { phone } from "./state.js";
import { t } from "./words.js";

export function landmarksPage(device, screen, goHome) {
  const tab = phone(device.key).tab;
  const app = windowOf(device.key);
  return h("div", { class: "page", key: "landmarks" },
    h("div", {}, h("div", { class: "app-title" },
      h("div", { class: "app-name" }, appIcon("landmarks", "tiny"), "Landmarks"), h("h3", {}, t(tab))),
    strips(device)),
    h("div", { class: "scroll", role: "tabpanel", "aria-label": t(tab), tabindex: 0, key: tab },
      !app?.window ? loadingChats()
        : tab === "chats" ? chatList(device, screen, app.window) : photos(device, screen, app)),
    h("div", {}, tabBar(device, tab), homeBar(goHome)));
}

const tabBar = (device, tab) => h("div", { class: "tab-bar", role: "tablist", "aria-label": "Landmarks" },
  ["chats", "photos"].map(name => h("button", {
    type: "button", role: "tab", key: name, "aria-selected": tab === name, "data-key": `tab-${name}`,
    tabindex: tab === name ? 0 : -1, onclick: () => onPhone(device.key, { tab: name }),
  }, icon(name === "chats" ? "chat" : "photo"), t(name))));

const loadingChats = () => h("ul", { class: "chats", "aria-busy": "true" }, [1, 2, 3, 4].map(row =>
  h("li", {}, h("span", { class: "avatar skeleton" }), h("span", { class: "skeleton", css: { width: `${90 - row * 9}%` } }))));

function chatList(device, screen, window) {
  if (!window.chats.length) return h("p", { class: "nothing" }, h("b", {}, t("noChats")));
  return h("ul", { class: "chats" }, window.chats.map(
    chat => chat.isOpen ? openRow(device, chat) : hiddenRow(device, screen, chat)));
}

function openRow(device, chat) {
  const last = chat.replies.at(-1) ?? chat.preview;
  return h("li", { key: `open ${chat.chat}`, enter: true, "data-chat": chat.chat }, avatar(chat.title),
    h("div", {}, button(`chat-title${isCued(`chat ${chat.chat}`)}`, h("bdi", {}, chat.title),
      () => onPhone(device.key, { chat: chat.chat, chatOpened: true }), { "data-key": `chat-${chat.chat}` }),
    h("p", { class: "preview", dir: "auto" }, last, chat.picture ? icon("photo") : null)));
}

/** A hidden row knows no name, text or picture: the app reports none. */
function hiddenRow(device, screen, chat) {
  const label = t(chat.handles.length > 1 ? "group" : "someone");
  const entry = questionAbout(ownChild(screen), chat.handles);
  const isWaiting = chat.isAsked;
  const subject = { device: device.key, handles: chat.handles };
  return h("li", { key: `hidden ${chat.chat}`, "data-chat": chat.chat },
    h("span", { class: "avatar hidden-one" }, icon("hidden")),
    h("div", {}, h("p", { class: "hidden-label", "data-hover": JSON.stringify(subject) }, label),
      h("div", { class: "row-controls" },
        isWaiting ? delivery(entry) : null,
        button(isWaiting ? "why" : `pill${isCued(`ask ${chat.chat}`)}`, t(isWaiting ? "askAgain" : "ask"),
          () => inApp(device.key, { ask: { chat: chat.chat } }),
          { "aria-label": `${t(isWaiting ? "askAgain" : "ask")}: ${label}`, "data-key": `ask-${chat.chat}` }),
        whyButton(subject, label, `why-${chat.chat}`))));
}

function delivery(entry) {
  const text = entry?.question.state === "open" ? entry.deliveryText : null;
  return text ? h("span", { class: "delivery" }, icon(entry.delivery === "sending" ? "clock" : "check"), text) : null;
}

export function chatPage(device, chat, goHome) {
  return h("div", { class: "page", key: `chat ${chat.chat}` },
    h("div", { class: "nav-bar" }, button("back", icon("back"), () => onPhone(device.key, { chat: null }),
      { "aria-label": t("back") }), h("div", { class: "nav-title" }, avatar(chat.title, "medium"), h("bdi", {}, chat.title))),
    h("div", { class: "scroll to-end", role: "log", "aria-live": "off", "aria-label": chat.title, tabindex: 0 },
      h("div", { class: "conversation" }, bubble(chat.preview, "p"),
        chat.picture ? h("div", { class: "bubble picture" }, icon("photo"), chat.picture) : null,
        chat.replies.map((reply, index) => bubble(reply, index, "own")))),
    h("div", {}, oneLineForm(t("message"), text => inApp(device.key, { reply: { chat: chat.chat, text } }),
      { sendLabel: t("send") }), homeBar(goHome)));
}

const bubble = (text, key, look = "") => text
  ? h("div", { class: `bubble ${look}`, key, dir: "auto" }, text) : null;

function photos(device, screen, app) {
  const { isEnabled, isRequested, line } = app.window.photos ?? {};
  const answers = (ownChild(screen)?.ages ?? []).filter(age => age.appID === app.app || !age.appID);
  return h("div", { class: "photos" },
    h("div", { class: "photo-mark", "aria-hidden": "true" }, icon("photo")),
    h("div", { class: "card-box" }, h("b", {}, t(isEnabled ? "photosOn" : "photosOff")),
      isRequested && line ? h("span", { class: "soft", dir: "auto" }, line) : null,
      isEnabled ? null : button("pill wide", t("turnOn"), () => inApp(device.key, { photos: {} }), { "data-key": "photos" })),
    answers.map(age => h("div", {
      class: "card-box", key: age.appID, "data-hover": JSON.stringify({ device: device.key, age: age.appID }),
    }, h("span", { class: "soft" }, t("yourRange")), age.text.map(text => h("b", { class: "line" }, text)),
    h("span", {}, whyButton({ device: device.key, age: age.appID }, t("yourRange"), "why-age")))));
}

