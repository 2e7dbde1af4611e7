// The timeline: what happened on each lane, and the handle that looks back.

import { button } from "./controls.js";
import { h } from "./dom.js";
import { childDevices } from "./facts.js";
import { glyph, icon } from "./icons.js";
import { lookAt, returnToLive } from "./look-back.js";
import { isLookingBack, link, live, past } from "./state.js";
import { clockTime, phoneClock, t } from "./words.js";

const percent = share => `${(Math.min(1, Math.max(0, share)) * 100).toFixed(2)}%`;
const SPANS = new Set(["killed", "paused"]);
const NARROW = 680;
let end = 0;

export function timeline() {
  const document = live.timeline;
  const length = document ? document.now - document.from : 240000;
  if (!isLookingBack()) end = Math.ceil(Date.now() / 1000) * 1000;
  const from = end - length;
  const place = at => percent((at - from) / length);
  return [
    h("div", { class: "timeline-head" }, h("h2", { id: "timeline-title" }, t("timeline")), liveButton(), legend()),
    h("div", {}, h("div", { class: "lanes", css: { "--lanes": String(document?.lanes.length ?? 5) } },
      (document?.lanes ?? []).map((name, index) => lane(document, name, index, from, place)),
      h("div", { class: "track front" }, h("span", { class: `head ${isLookingBack() ? "off" : ""}`, css: { left: place(past.at ?? end) } })),
      scrubber(document, from, length)),
    axis(from, length, place)),
  ];
}

function liveButton() {
  if (link.state !== "live") return button("live-button off", [icon("plug"), clockTime(end)], returnToLive, { key: "live" });
  return isLookingBack()
    ? button("live-button off", [icon("play"), t("toLive")], returnToLive, { key: "live", "data-key": "live" })
    : button("live-button", [glyph("disc"), t("live")], returnToLive, { key: "live", "data-key": "live" });
}

const legend = () => h("div", { class: "timeline-legend" },
  [["question", "diamond"], ["killed", "block"], ["paused", "hatched"]].map(
    ([word, shape]) => h("span", { key: word }, glyph(shape), t(`mark_${word}`))));

function lane(document, name, index, from, place) {
  const marks = document.marks.filter(mark => mark.lane === index && (mark.until ?? Infinity) > from
    && (mark.at >= from || SPANS.has(mark.kind)) && mark.at <= end + 1000);
  return h("div", { class: "lane", key: String(index), css: { "--index": String(index) } },
    h("span", { class: "lane-name" }, name), h("span", { class: "rail" }),
    h("div", { class: "track" }, marks.map(mark => markView(mark, name, from, place))));
}

function markView(mark, lane, from, place) {
  const title = `${mark.seq ? `#${mark.seq} ` : ""}${mark.kind} ${clockTime(mark.at)}`;
  const key = `${mark.kind} ${mark.at} ${mark.seq ?? ""}`;
  if (!SPANS.has(mark.kind)) {
    const look = mark.kind === "message" && isChildName(lane) ? "message child" : mark.kind;
    return h("i", { class: `mark ${look}`, key, title, css: { left: place(mark.at) } });
  }
  const until = mark.until ?? Math.max(end, mark.at);
  const width = parseFloat(place(until)) - parseFloat(place(Math.max(from, mark.at)));
  return h("u", { class: `bar-mark ${mark.kind}`, key, title, css: { left: place(mark.at), width: `${width}%` } });
}

const isChildName = name => childDevices().some(device => device.name === name);

function scrubber(document, from, length) {
  const seconds = Math.round(length / 1000);
  const at = past.at ?? end;
  const nearest = live.log?.events.find(event => event.at <= at);
  const text = isLookingBack() ? clockTime(at) : t("live");
  return h("div", { class: "scrubber" }, h("input", {
    type: "range", id: "scrub", min: 0, max: seconds, step: 1, value: String(Math.round((at - from) / 1000)),
    "aria-label": t("momentShown"), disabled: !document,
    "aria-valuetext": nearest ? `${text}, #${nearest.seq} ${nearest.kind} ${nearest.signer ?? ""}` : text,
    oninput: event => {
      const value = Number(event.target.value);
      if (value >= seconds) returnToLive(); else lookAt(from + value * 1000);
    },
  }));
}

function axis(from, length, place) {
  const step = innerWidth < NARROW ? 120000 : 60000;
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at < end - step * .6; at += step) ticks.push(at);
  return h("div", { class: "axis", "aria-hidden": "true" },
    ticks.filter(at => at - from > length * .03).map(at => h("span", { key: String(at), css: { left: place(at) } }, phoneClock(at))),
    h("span", { key: "end", class: "end" }, clockTime(end)));
}
