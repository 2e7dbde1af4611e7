// Choices about the page itself: language, light or dark, single keys.

import { openEvents } from "./server.js";
import { changed, settings } from "./state.js";
import { loadWords } from "./words.js";

const NEXT = { auto: "light", light: "dark", dark: "auto" };

export async function setLanguage(code) {
  localStorage.setItem("language", code);
  await loadWords(code);
  openEvents(code);
  changed();
}

export function applyTheme() {
  if (settings.theme === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset.theme = settings.theme;
}

export function toggleTheme() {
  settings.theme = NEXT[settings.theme] ?? "auto";
  localStorage.setItem("theme", settings.theme);
  applyTheme();
  changed();
}

export function toggleSingleKeys() {
  settings.singleKeys = !settings.singleKeys;
  localStorage.setItem("singleKeys", settings.singleKeys ? "on" : "off");
  changed();
}
