// The path of the last question as a sequence diagram below the process cards.

import { h } from "./dom.js";
import { lanes, processNamed, screenOf } from "./facts.js";
import { icon } from "./icons.js";
import { now, shown } from "./state.js";
import { number, orList, span, t } from "./words.js";

const isKnown = value => value !== null && value !== undefined;
const percent = share => `${(share * 100).toFixed(2)}%`;
const COLOURS = {
  "app-agent": "var(--app)", "child-agent": "var(--child)", relay: "var(--ink)", "parent-agent": "var(--guardian)",
};
const WORDS = {
  ask: "hopAsk", issue: "hopSealed", broadcast: "hopBroadcast", decide: "hopAnswer", decision: "hopBroadcast", wake: "hopWake",
};

export function pathHead() {
  const path = shown().path;
  const done = path?.hops?.filter(hop => hop.state === "done").length ?? 0;
  return h("div", { class: "panel-head" }, h("h2", { id: "path-title" }, t("path")),
    path?.question ? [
      h("span", { class: "tag" }, path.question.slice(0, 8).toUpperCase()),
      h("span", { class: "note hops" }, t("hops", done))] : null,
    h("span", { class: "grow" }),
    isKnown(path?.machines) ? statistic("machines", `${number(path.machines, 2)} ms`) : null,
    isKnown(path?.people) ? statistic("people", span(peopleTime(path) * 1000)) : null);
}

const statistic = (word, value) => h("span", { class: "statistic", key: word }, h("b", {}, value), t(word));

/** People's time grows while a person thinks; the document says since when. */
const pauseTime = pause => pause.isWaiting && pause.since
  ? Math.max(pause.seconds, (now() - pause.since) / 1000) : pause.seconds;
const peopleTime = path => path.people
  + path.pauses.reduce((sum, pause) => sum + pauseTime(pause) - pause.seconds, 0);

export function pathDiagram() {
  const path = shown().path;
  if (!path) return h("div", { class: "nothing path-space", "aria-busy": true, key: "loading" });
  if (!path.question || !path.hops?.length) {
    return h("div", { class: "nothing", key: "none" }, h("b", {}, t("pathNone")), t("pathNoneText"));
  }
  const names = lanes();
  const place = name => (Math.max(0, names.indexOf(name)) + .5) / names.length;
  const rows = path.hops.flatMap((hop, index) => [
    ...between(path, index - 1, place, names), hopRow(path, hop, index, place)]);
  return h("ol", { class: "path", "aria-label": t("path"), key: `path ${path.question}` },
    names.map(name => h("li", { class: "lifeline", "aria-hidden": "true", key: `line ${name}`, css: { left: percent(place(name)) } })),
    rows, between(path, path.hops.length - 1, place, names));
}

/** Faults and people's pauses after the hop with an index. */
function between(path, after, place, names) {
  return [
    ...(path.faults ?? []).filter(fault => fault.after === after).map((fault, index) => faultRow(fault, index, place)),
    ...(path.pauses ?? []).filter(pause => pause.after === after).map(pause => pauseRow(pause, place, names)),
  ];
}

function hopRow(path, hop, index, place) {
  const [from, to] = [place(hop.from), place(hop.to)];
  const isHeld = hop.state === "waiting" && isNext(path, index) && outboxOf(hop.from) > 0;
  const look = hop.state === "waiting" ? isHeld ? "waiting held" : "waiting" : hop.state;
  const far = (hop.also ?? []).map(name => {
    const end = place(name);
    // The thin line continues the main arrow to a receiver beyond its end.
    const isBeyond = to > from ? end > to : end < to;
    return arrow(isBeyond ? to : from, end, "thin", name);
  });
  const colour = hop.state === "done" || isHeld ? COLOURS[kindOf(hop.from)] : null;
  return h("li", {
    class: `hop ${look}`, key: `hop ${index} ${hop.state}`, enter: true, css: colour ? { "--c": colour } : {},
    "data-hop": hop.kind, "data-state": hop.state,
  }, arrow(from, to, "", "main"), far,
  h("span", { class: "commit", css: { left: percent(to) } }),
  h("span", { class: "hop-label", css: { left: percent((from + to) / 2) } },
    h("em", {}, hopWords(hop, isHeld)), isKnown(hop.took)
      ? [" ", h("b", {}, `${number(hop.took, 2)} ms`)] : null));
}

const isNext = (path, index) => path.hops.findIndex(hop => hop.state === "waiting") === index;
const kindOf = name => processNamed(name)?.kind ?? name;
const outboxOf = name => (processNamed(name)?.devices ?? [])
  .reduce((sum, key) => sum + (screenOf(key)?.outbox ?? 0), 0);

function hopWords(hop, isHeld) {
  if (hop.state === "refused") return t("hopRefused", hop.problem ?? "");
  if (isHeld) return t("inOutbox");
  const words = t(WORDS[hop.kind] ?? hop.kind, hop.seq ? `#${hop.seq}` : "").trim();
  return hop.again ? `${words}, ${t("hopAgain")}` : words;
}

function arrow(from, to, look, key) {
  return h("span", {
    class: `arrow ${to > from ? "right" : "left"} ${look}`, key: `arrow ${key}`,
    css: { left: percent(Math.min(from, to)), width: percent(Math.abs(to - from)) },
  });
}

function faultRow(fault, index, place) {
  const at = place(fault.process);
  const isBack = isKnown(fault.seconds);
  const command = fault.kind === "paused" ? "SIGSTOP " : fault.kind === "killed" ? "kill -9 " : "";
  return h("li", { class: `fault ${fault.kind} ${isBack ? "over" : ""}`, key: `fault ${fault.after} ${index}`, enter: true },
    h("span", { class: "gap", css: { left: percent(at) } }),
    h("span", { class: `pill ${at < .6 ? "after" : "before"}`, css: { left: percent(at) } },
      icon(fault.kind === "paused" ? "pause" : "cross"),
      h("span", { class: "mono" }, h("span", { class: "command" }, command), fault.pid),
      isBack ? h("span", { class: "recovered" }, "→ ", fault.newPid ? [h("span", { class: "mono" }, fault.newPid), " · "] : null,
        span(fault.seconds * 1000)) : null));
}

function pauseRow(pause, place, names) {
  const time = h("b", {}, span(pauseTime(pause) * 1000));
  const lane = names.find(name => pause.who.includes(processNamed(name)?.owner)) ?? names.at(-1);
  const over = kindOf(lane) === "child-agent" ? "sentAfter" : "decidedAfter";
  const centre = Math.min(.82, Math.max(.2, place(lane) + (pause.isWaiting ? .06 : 0)));
  return h("li", { class: "thinking", key: `pause ${pause.after}` },
    h("span", { class: "pill", css: { left: percent(centre) } }, icon("clock"),
      h("span", {}, pause.isWaiting ? t("waitingFor", orList(pause.who)) : t(over, orList(pause.who)), " "), time));
}

