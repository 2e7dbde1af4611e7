// The captions of both phones: whose it is, the switch between devices, and the network.

import { choose, setNetwork } from "./actions.js";
import { button, chooser } from "./controls.js";
import { h } from "./dom.js";
import {
  childDevice, childDevices, guardianDevice, guardianDevices, isDown, openQuestions, processes, processOf, screenOf,
} from "./facts.js";
import { icon } from "./icons.js";
import { isLive, live, view } from "./state.js";
import { t } from "./words.js";

export const childCaption = () => caption(childDevices(), childDevice(), "child", t("children"));
export const guardianCaption = () => caption(guardianDevices(), guardianDevice(), "guardian", t("guardians"));

function caption(devices, device, side, label) {
  if (!device) return h("h2", { id: `${side}-name`, class: "hidden-text" }, label);
  const items = devices.map(each => ({
    id: each.key, title: titleAmong(devices, each), badge: each !== device && openQuestions(screenOf(each.key)),
  }));
  return [
    h("h2", { id: `${side}-name`, class: devices.length > 1 ? "hidden-text" : "" }, devices.length > 1 ? label : h("bdi", {}, device.name)),
    devices.length > 1 ? chooser(label, items, device.key, key => choose({ [side]: key }), `${side}-screen`) : null,
    h("span", { class: "role" }, t(`role_${device.role}`)), h("span", { class: "grow" }), networkButton(device)];
}

/** Two devices of one person are told apart by their key. */
const titleAmong = (devices, device) =>
  devices.filter(each => each.name === device.name).length > 1 ? `${device.name} ${device.key}` : device.name;

function networkButton(device) {
  const process = processOf(device);
  if (!process || typeof process.isCut !== "boolean") return null;
  const label = t("cutNetwork", device.name);
  return button("network", icon(process.isCut ? "no-network" : "network"), () => setNetwork(process, !process.isCut),
    { "aria-pressed": process.isCut, "aria-label": label, title: label, "aria-disabled": !isLive(), "data-key": `network-${device.key}` });
}

/** The bar that switches between the three parts on narrow screens. */
export function partBar() {
  const child = childDevice(), guardian = guardianDevice();
  const noticed = live.devices.get(child?.key)?.screen?.notices?.some(notice => !notice.isRead);
  const asked = guardian && openQuestions(screenOf(guardian.key)) > 0;
  const broken = processes().some(process => isDown(process) || process.state === "paused");
  return [["child", "phone", child?.name ?? t("role_child"), noticed && "new"],
    ["relay", "relay", t("relay"), broken && "bad"],
    ["guardian", "chat", guardian?.name ?? t("guardian"), asked && "new"]].map(([id, drawing, name, mark]) => h("button", {
    type: "button", key: id, "aria-current": view.part === id ? "page" : null, onclick: () => choose({ part: id }), id: `part-${id}`,
  }, icon(drawing), h("bdi", {}, name), mark && view.part !== id ? h("i", { class: `badge ${mark}` }) : null));
}
