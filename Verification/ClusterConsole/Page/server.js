// Calls of the console's server. A command is a POST with a header that no form can set.

import { changed, isLive, link, receive } from "./state.js";
import { currentLanguage } from "./words.js";

const PARTS = ["cluster", "processes", "device", "app", "log", "path", "verdict", "timeline"];
const RETRY_SECONDS = 3;
let stream = null;
let retry = 0;

const post = (path, body) => fetch(path, {
  method: "POST", body: JSON.stringify(body),
  headers: { "Content-Type": "application/json", "X-Console": "1" },
});

/** Trades the token of the URL for the cookie, and removes it from the URL and the history. */
export async function openSession() {
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  const response = await post("/session", { token }).catch(() => null);
  if (response && !response.ok) link.state = "refused";
}

/** Opens the stream of documents. A second call replaces the first stream. */
export function openEvents(language) {
  clearTimeout(retry);
  stream?.close();
  const own = stream = new EventSource(`/events?language=${encodeURIComponent(language)}`);
  own.onopen = () => { link.state = "live"; changed(); };
  own.onerror = () => lose(own, language);
  for (const part of PARTS) {
    own.addEventListener(part, event => {
      if (own === stream) receive(part, JSON.parse(event.data));
    });
  }
}

async function lose(own, language) {
  if (own !== stream) return;
  own.close();
  const answer = await fetch("/log?before=1").catch(() => null);
  if (own !== stream) return;
  link.state = answer?.status === 403 || answer?.status === 401 ? "refused" : "lost";
  link.retryAt = Date.now() + RETRY_SECONDS * 1000;
  retry = setTimeout(() => openEvents(language), RETRY_SECONDS * 1000);
  changed();
}

/** Sends a command. Returns `{result}` or `{problem}`; null if the page shows no live state. */
export async function act(command) {
  if (!isLive()) return null;
  try {
    const response = await post(`/act?language=${currentLanguage()}`, command);
    const answer = await response.json().catch(() => ({}));
    return response.ok ? { result: answer.result ?? null } : { problem: answer.problem ?? {} };
  } catch {
    return { problem: {} };
  }
}

export const read = async path => {
  const response = await fetch(path).catch(() => null);
  return response?.ok ? response.json() : null;
};
