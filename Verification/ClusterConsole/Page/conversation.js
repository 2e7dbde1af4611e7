// A child's conversation with the guardians, as one device shows it.

import { onDevice, onPhone } from "./actions.js";
import { button, chooser, oneLineForm } from "./controls.js";
import { h } from "./dom.js";
import { childAvatar, icon, messagesIcon } from "./icons.js";
import { homeBar, strips } from "./phone.js";
import { questionCard } from "./question.js";
import { isSameDay, hourMinute, moment, t } from "./words.js";
import { now, phone } from "./state.js";

const ENTRIES = 40;

export function conversationPage(device, screen, child, { onBack, onDetails, onHome, onChild } = {}) {
  const others = onChild && screen.children.length > 1 ? screen.children : [];
  return h("div", { class: "page", key: `conversation ${child?.person}` },
    h("div", {},
      h("div", { class: "nav-bar" },
        onBack ? button("back", icon("back"), onBack, { "aria-label": t("back") }) : h("span", {}),
        title(device, child, onDetails)),
      others.length ? h("div", { class: "nav-children" }, chooser(t("children"), others.map(
        each => ({ id: String(each.person), title: each.name })), String(child.person), onChild)) : null,
      strips(device)),
    h("div", {
      class: "scroll to-end", role: "log", "aria-live": "off", tabindex: 0,
      "aria-label": child?.name ?? t("messages"),
    }, h("div", { class: "conversation" }, entries(device, child))),
    h("div", {}, oneLineForm(t("message"), text => onDevice(
      device.key, { post: { child: onChild ? child.person : null, text } }), { sendLabel: t("send") }),
    homeBar(onHome)));
}

function title(device, child, onDetails) {
  const name = child?.name ?? "";
  if (!onDetails) return h("div", { class: "nav-title" }, messagesIcon("medium"), h("span", {}, t("guardians")));
  return button("nav-title", [childAvatar(name, "medium"), h("span", {}, h("bdi", {}, name), icon("chevron-right"))],
    onDetails, { "aria-label": `${name}, ${t("details")}`, "data-key": "details" });
}

function entries(device, child) {
  const list = (child?.entries ?? []).filter(isShown);
  if (!list.length) return h("p", { class: "nothing" }, t("noMessages"));
  const count = phone(device.key).entries ?? ENTRIES;
  const more = list.length > count ? h("p", { class: "older", key: "older" }, button("button", t("older"),
    () => onPhone(device.key, { entries: count + ENTRIES }))) : null;
  return [more, entryViews(device, child, list.slice(-count))];
}

/** A question's card shows its decision, which needs no line of its own. */
const isShown = (entry, _, all) => entry.kind !== "decision"
  || !all.some(other => other.question?.outcome && entry.text.includes(other.question.outcome));

function entryViews(device, child, list) {
  let author = null, day = null;
  return list.flatMap(entry => {
    const isNewDay = day === null || !isSameDay(day, entry.at);
    const heading = isNewDay ? h("span", { class: "day", key: `day ${entry.id}` }, dayTitle(entry.at)) : null;
    day = entry.at;
    const isText = entry.kind === "text";
    const signs = isText && !entry.isMine && (isNewDay || author !== entry.author);
    author = isText ? entry.author : null;
    return [heading, signs ? h("span", { class: "author", key: `by ${entry.id}` }, h("bdi", {}, entry.author)) : null,
      entryView(device, child, entry)];
  });
}

const dayTitle = at => isSameDay(at, now()) ? `${t("today")} ${hourMinute(at)}` : moment(at, now());

function entryView(device, child, entry) {
  if (entry.question) return questionCard(device, child, entry);
  if (entry.kind !== "text") {
    return h("p", { class: "system-line", key: entry.id, enter: true }, entry.text);
  }
  return [
    h("div", { class: `bubble ${entry.isMine ? "own" : ""}`, key: entry.id, enter: true, dir: "auto" }, entry.text),
    entry.isMine && entry.deliveryText
      ? h("span", { class: "delivery-line", key: `delivery ${entry.id}` }, entry.deliveryText) : null,
  ];
}

export const openDetails = device => onPhone(device.key, { page: "details" });
