// The family's log as the relay sees it: numbers, kinds, signers and sizes; never a text.

import { button } from "./controls.js";
import { h } from "./dom.js";
import { childDevices, nameOf } from "./facts.js";
import { firstLetter, icon } from "./icons.js";
import { lookAt } from "./look-back.js";
import { read } from "./server.js";
import { changed, isLive, logPage, now, shown } from "./state.js";
import { clockTime, currentLanguage, dayAndTime, isSameDay, milliseconds, number, t } from "./words.js";

const ROWS = 60;
const HOLDERS_SHOWN = 6;
/** A row looks back at the moment when devices have applied its event, in milliseconds after it. */
const APPLIED = 300;
/** The kinds whose content the relay holds sealed. */
const SEALED = new Set([
  "accountChanged", "asked", "posted", "contactChanged", "answeredInPerson", "withdrawn", "ageNoted", "ageSet",
]);
let focusedRow = null;

export function logHead() {
  const newest = shown().log?.newest;
  return [h("h2", { id: "log-title" }, t("log")), h("span", { class: "note" }, t("logNote")),
    h("span", { class: "grow" }),
    logPage.events ? button("button", t("newest"), () => { logPage.events = null; changed(); }, { key: "newest" }) : null,
    newest ? h("span", { class: "tag", key: "number" }, `#${newest}`) : null];
}

export function logTable() {
  const events = (logPage.events ?? shown().log?.events)?.slice(0, ROWS);
  if (!events) return loadingRows();
  const first = events.some(event => event.seq === focusedRow) ? focusedRow : events[0]?.seq;
  return [h("table", { class: "log", key: "rows" },
    h("caption", { class: "hidden-text" }, `${t("log")}: ${t("logNote")}`),
    h("thead", {}, h("tr", {}, ["number", "time", "event", "signer", "audience", "content", "heldBy"].map(
      column => h("th", { scope: "col", class: `in-${column}` }, t(`col_${column}`))))),
    h("tbody", {}, events.flatMap((event, index) => [
      index ? gapRow(events[index - 1].seq, event.seq) : null, row(event, event.seq === first)]))),
  (events.at(-1)?.seq ?? 1) > 1 && isLive()
    ? h("p", { class: "log-more", key: "more" }, button("button", t("older"), () => older(events.at(-1).seq))) : null];
}

const loadingRows = () => h("div", { class: "log-loading", "aria-busy": "true", key: "loading" },
  [70, 85, 60, 90, 75].map(width => h("span", { class: "skeleton", css: { width: `${width}%` } })));

async function older(seq) {
  const page = await read(`/log?before=${seq}&language=${currentLanguage()}`);
  if (page?.events?.length) logPage.events = page.events;
  changed();
}

/** A missing number is never hidden. */
function gapRow(above, below) {
  if (above - below <= 1) return null;
  return h("tr", { class: "gap-row", key: `gap ${above}` }, h("td", { colspan: 7 },
    icon("cross"), t("logGap", above - below > 2 ? `#${below + 1}–${above - 1}` : `#${above - 1}`)));
}

function row(event, isFocusable) {
  return h("tr", { key: String(event.seq), enter: true, onclick: () => lookAt(event.at + APPLIED), "data-seq": event.seq },
    h("td", { class: "in-number" }, h("button", {
      type: "button", tabindex: isFocusable ? 0 : -1, onfocus: () => { focusedRow = event.seq; }, "data-key": `log-${event.seq}`,
      "aria-label": `#${event.seq}, ${event.kind ?? "?"}: ${t("momentShown")} ${clockTime(event.at)}`,
    }, event.seq)),
    h("td", { class: "mono in-time" }, time(event.at)),
    h("td", {}, h("span", { class: `event-kind ${isChild(event.device) ? "by-child" : ""}` }, event.kind ?? "?")),
    h("td", {}, h("bdi", {}, event.signer ?? "")),
    h("td", { class: "in-audience" }, event.audience),
    h("td", { class: "in-content" }, content(event)),
    h("td", { class: "in-heldBy" }, holders(event)));
}

function content({ kind, bytes }) {
  if (bytes === null || bytes === undefined) return "–";
  const isSealed = SEALED.has(kind);
  return h("span", { class: "sealed" }, isSealed ? icon("lock") : null,
    t(isSealed ? "sealed" : "unsealed", number(bytes)));
}

function time(at) {
  return isSameDay(at, now())
    ? [clockTime(at), h("span", { class: "soft fraction" }, `.${milliseconds(at)}`)] : dayAndTime(at);
}

const isChild = key => childDevices().some(device => device.key === key);

function holders(event) {
  const having = event.holders.filter(key => event.heldBy.includes(key));
  const label = having.map(nameOf).join(", ") || "–";
  if (event.holders.length > HOLDERS_SHOWN) {
    return h("span", { class: "holders", role: "img", "aria-label": label }, `${having.length}/${event.holders.length}`);
  }
  return h("span", { class: "holders", role: "img", "aria-label": label }, event.holders.map(key => h("i", {
    key, class: having.includes(key) ? "has" : "", title: `${nameOf(key)}${having.includes(key) ? "" : " –"}`,
  }, firstLetter(nameOf(key)))));
}
