// Looking back: the documents of a past moment instead of the stream's.

import { read } from "./server.js";
import { changed, documentsOf, link, past } from "./state.js";
import { currentLanguage } from "./words.js";

let isLoading = false;

/**
 * Shows the moment `at`. While a request runs, only the newest moment is kept. A moment that the
 * server no longer has returns to live.
 */
export async function lookAt(at) {
  if (link.state !== "live") return;
  past.at = Math.floor(at);
  changed();
  if (isLoading) return;
  isLoading = true;
  let loaded = null;
  while (past.at !== null && loaded !== past.at) {
    loaded = past.at;
    const answer = await read(`/past?at=${loaded}&language=${currentLanguage()}`);
    if (answer?.parts) past.documents = documentsOf(answer.parts);
    else if (past.at === loaded) past.at = past.documents = null;
    changed();
  }
  isLoading = false;
}

export function returnToLive() {
  if (past.at === null) return;
  past.at = null;
  past.documents = null;
  changed();
}
