// Settings that a guardian may change for a child: contacts, limits, age sharing, sites, pictures and the passcode.

import { onDevice, onPhone } from "./actions.js";
import { button, pick, submitting, toggle } from "./controls.js";
import { h } from "./dom.js";
import { whyButton } from "./explain.js";
import { appIcon, avatar, childAvatar, icon } from "./icons.js";
import { alertBox, choice, layer } from "./layers.js";
import { homeBar, strips } from "./phone.js";
import { now, phone } from "./state.js";
import { moment, t } from "./words.js";

const SHORTEST_PASSCODE = 6;

export function settingsPage(device, screen, child) {
  return h("div", { class: "page settings", key: `settings ${child.person}` },
    h("div", {}, h("div", { class: "nav-bar" },
      button("back", icon("back"), () => onPhone(device.key, { page: "conversation" }),
        { "aria-label": t("back"), "data-key": "back" }),
      h("div", { class: "nav-title" }, h("bdi", {}, child.name))), strips(device)),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("details") },
      h("div", { class: "setting-list" },
        h("div", { class: "setting-head" }, childAvatar(child.name, "big")),
        h("ul", { class: "rows" }, h("li", { key: "limits" }, toggle(t("limits"), child.limitsOn,
          () => onDevice(device.key, { limits: { child: child.person, on: !child.limitsOn } }), { "data-key": "limits" }))),
        contacts(device, child), ages(device, child), webRules(device, child), web(child), safety(device, child),
        passcode(device, screen))),
    homeBar(null));
}

function contacts(device, child) {
  const known = child.known ?? [];
  return [h("h3", {}, t("knownContacts")), known.length
    ? h("ul", { class: "rows" }, known.map(each => contactRow(device, child, each)))
    : h("p", { class: "soft-line" }, t("noContacts")),
  contactForm(device, child)];
}

function contactRow(device, child, known) {
  const [name, ...more] = known.text.split(" · ");
  const subject = { device: device.key, child: child.person, handles: [known], app: known.app };
  const id = `${known.handleKind} ${known.handle} ${known.app ?? ""}`;
  return h("li", { key: id }, avatar(name, "medium"),
    h("div", { class: "row-text" }, h("b", {}, h("bdi", {}, name)),
      more.length ? h("span", {}, h("bdi", {}, more.join(" · "))) : null,
      known.app ? null : h("span", {}, t("everyApp")),
      known.until ? h("span", {}, t("until", moment(known.until, now()))) : null,
      whyButton(subject, known.text, `why ${id}`)),
    button("withdraw", t("withdraw"), () => onPhone(device.key, { sheet: { name: "withdraw", child: child.person, known } }),
      { "aria-label": `${t("withdraw")}: ${name}`, "data-key": `withdraw ${id}` }));
}

function contactForm(device, child) {
  const add = text => {
    const handleKind = text.includes("@") ? "email" : /^\+?[\d ()-]+$/.test(text) ? "phone" : "custom";
    return onDevice(device.key, { contact: { child: child.person, handle: text, handleKind, known: true } });
  };
  return rowForm("handle", t("newContact"), add, { key: "contact-form", maxlength: 200 });
}

/** A form of one row that adds something. */
function rowForm(name, label, onText, { key, maxlength }) {
  return h("form", { class: "row-form", onsubmit: submitting(onText), key },
    h("input", { name, "aria-label": label, placeholder: label, autocomplete: "off", maxlength }),
    h("button", { type: "submit", class: "text" }, t("add")));
}

function ages(device, child) {
  const choices = ["always", "ask", "never"].map(each => [each, t(`sharing_${each}`)]);
  return [h("h3", {}, t("ageRange")), h("ul", { class: "rows" },
    h("li", { key: "sharing" }, h("div", { class: "row-text" }, t("sharing")),
      pick(t("sharing"), choices, child.sharing, value => onDevice(
        device.key, { sharing: { child: child.person, sharing: value } }))),
    (child.ages ?? []).map(age => h("li", { key: age.appID }, appIcon(age.app, "medium"),
      h("div", { class: "row-text" }, h("b", {}, age.app), age.text.map(text => h("span", {}, text))),
      whyButton({ device: device.key, child: child.person, age: age.appID }, age.app, `why-age-${age.appID}`))),
    (child.apps ?? []).map(app => h("li", { key: `app ${app.app} ${app.text}` }, appIcon(app.app, "medium"),
      h("div", { class: "row-text" }, h("b", {}, app.app), h("span", {}, app.text)))))];
}

/** The access to sites: of each rule, and of all others. */
function webRules(device, child) {
  const rule = (site, access) => onDevice(device.key, { webRule: { child: child.person, site, access } });
  const choices = ["allow", "ask", "block"].map(each => [each, t(`web_${each}`)]);
  return [h("h3", {}, t("webRules")), h("ul", { class: "rows" },
    h("li", { key: "web-others" }, h("div", { class: "row-text" }, t("webOthers")),
      pick(t("webOthers"), choices, child.webOthers, value => rule(null, value), { "data-key": "web-others" })),
    (child.webRules ?? []).map(each => h("li", { key: `rule ${each.site}` },
      h("div", { class: "row-text" }, h("bdi", {}, each.site)),
      pick(each.site, [...choices, ["", t("webNoRule")]], each.access, value => rule(each.site, value || null),
        { "data-key": `rule ${each.site}` })))),
  rowForm("site", t("webNewSite"), site => rule(site, "ask"), { key: "site-form", maxlength: 253 })];
}

/** How the child's apps treat sensitive pictures. */
function safety(device, child) {
  const choices = ["off", "simple", "descriptive"].map(each => [each, t(`safety_${each}`)]);
  return [h("h3", {}, t("pictures")), h("ul", { class: "rows" },
    h("li", { key: "safety" }, h("div", { class: "row-text" }, t("safety")),
      pick(t("safety"), choices, child.safety, setting => onDevice(
        device.key, { safety: { child: child.person, setting } }), { "data-key": "safety" })))];
}

/** The use of the web, as far as guardians chose to read it. */
function web(child) {
  const days = child.web ?? [];
  if (!days.length) return null;
  return [h("h3", {}, t("webUse")), h("ul", { class: "rows" },
    days.map(day => h("li", { key: `web ${day.day}` }, h("div", { class: "row-text" },
      h("b", {}, `${day.day} · ${day.text}`),
      day.sites.map(site => h("span", {}, h("bdi", {}, site))),
      day.isShortened ? h("span", {}, t("webShortened")) : null))))];
}

function passcode(device, screen) {
  const save = async event => {
    event.preventDefault();
    const input = event.target.elements[0];
    const answer = await onDevice(device.key, { passcode: input.value });
    if (answer && !answer.problem) input.value = "";
  };
  const label = t(screen.hasPasscode ? "changePasscode" : "setPasscode");
  return [h("h3", {}, t("passcode")), h("form", { class: "row-form", onsubmit: save, key: "passcode-form" },
    h("input", { type: "password", "aria-label": label, placeholder: label, autocomplete: "new-password", minlength: SHORTEST_PASSCODE, maxlength: 64, required: true }),
    h("button", { type: "submit", class: "text" }, t("save")))];
}

/** Withdrawing is confirmed, and starts on Cancel. */
export function settingsLayer(device) {
  const wanted = phone(device.key).sheet;
  if (wanted?.name !== "withdraw") return null;
  const { known, child } = wanted;
  const close = () => onPhone(device.key, { sheet: null });
  const withdraw = () => {
    close();
    onDevice(device.key, { withdraw: { child, handle: known.handle, handleKind: known.handleKind, app: known.app } });
  };
  return layer(`withdraw ${known.handle}`, alertBox("withdraw", avatar(known.text, "big"),
    t("withdrawAsk", known.text.split(" · ")[0]), null, [
      choice("deny", t("withdraw"), withdraw, { key: "yes", "data-key": "confirm-withdraw" }),
      choice("cancel", t("cancel"), close, { key: "no", first: true, closes: true }),
    ], t("withdrawText")));
}
