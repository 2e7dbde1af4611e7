// The page's knowledge: the last document of each part, and the person's choices.

import { complete } from "./documents.js";

const KEPT = "choices";

const noDocuments = () => ({
  cluster: null, processes: null, devices: new Map(), apps: new Map(),
  log: null, path: null, verdict: null, timeline: null,
});

/** The last documents of the stream. */
export const live = noDocuments();

/** Choices of this page. They survive a reload, so that it shows the same state. */
export const view = {
  part: "child", child: null, guardian: null, keepDown: false, phones: {}, visited: {},
  ...JSON.parse(sessionStorage.getItem(KEPT) ?? "{}"),
};

/** The state of the connection: connecting, live, lost or refused. */
export const link = { state: "connecting", retryAt: 0 };

export const settings = {
  theme: localStorage.getItem("theme") ?? "auto",
  singleKeys: localStorage.getItem("singleKeys") !== "off",
};

/** The moment that is looked back at; `documents` is null until they have arrived. */
export const past = { at: null, documents: null };

/** The page of the log that was loaded last, or null: the newest rows. */
export const logPage = { events: null };

let draw = () => {};
let isScheduled = false;

export function onChange(render) { draw = render; }

/** Draws at most once per frame, however many documents arrive. */
export function changed() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => { isScheduled = false; draw(); });
}

export function keepChoices() { sessionStorage.setItem(KEPT, JSON.stringify(view)); }

/** Replaces one part by a document of the stream. */
export function receive(part, document) {
  complete(part, document);
  if (part === "device") live.devices.set(document.key, document);
  else if (part === "app") live.apps.set(document.key, document);
  else live[part] = document;
  changed();
}

/** The documents on the page: the stream's, or those of a past moment. */
export const shown = () => (past.at !== null && past.documents) || live;
export const isLookingBack = () => past.at !== null;
export const isLive = () => link.state === "live" && past.at === null;
/** The present, or the moment that is looked back at. Page and cluster have the same clock. */
export const now = () => past.at ?? Date.now();

export function documentsOf(parts) {
  const documents = noDocuments();
  for (const part of ["cluster", "processes", "log", "path", "verdict"]) {
    documents[part] = complete(part, parts[part]);
  }
  for (const device of parts.devices ?? []) documents.devices.set(device.key, complete("device", device));
  for (const app of parts.apps ?? []) documents.apps.set(app.key, complete("app", app));
  return documents;
}

/** The choices for one phone. */
export function phone(key) {
  return view.phones[key] ??= { place: "home", tab: "chats", chat: null, page: "conversation", sheet: null };
}
