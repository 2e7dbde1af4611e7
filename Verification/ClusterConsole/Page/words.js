// The page's own words, and numbers and times in the chosen language.
// Words of devices arrive translated in the documents.

export const LANGUAGES = [
  ["en", "English"], ["fr", "Français"], ["es", "Español"], ["pt-BR", "Português"],
  ["ja", "日本語"], ["zh-Hans", "简体中文"],
];

let words = {};
let language = "en";
const formats = new Map();

export const currentLanguage = () => language;

/** Loads the words of one language. Its module is the only one that the browser fetches. */
export async function loadWords(code) {
  const module = await import(`./words-${code}.js`);
  words = module.default;
  language = code;
  document.documentElement.lang = code;
}

/** The language of the last visit, else the browser's first one that the page has. */
export function preferredLanguage() {
  const known = LANGUAGES.map(([code]) => code);
  const saved = localStorage.getItem("language");
  if (known.includes(saved)) return saved;
  for (const tag of navigator.languages ?? []) {
    const found = known.find(code => code === tag || code.split("-")[0] === tag.split("-")[0]);
    if (found) return found;
  }
  return "en";
}

/** The words of `key`; {0}, {1} … are replaced by the arguments. */
export function t(key, ...values) {
  return (words[key] ?? key).replace(/\{(\d)\}/g, (_, index) => values[index] ?? "");
}

/** As `t`, with elements for the placeholders. */
export function parts(key, ...nodes) {
  return (words[key] ?? key).split(/(\{\d\})/).map(
    part => /^\{\d\}$/.test(part) ? nodes[part[1]] : part);
}

function format(Kind, options) {
  const key = `${language} ${Kind.name} ${JSON.stringify(options)}`;
  if (!formats.has(key)) formats.set(key, new Kind(language, options));
  return formats.get(key);
}

export const number = (value, digits = 0) => format(
  Intl.NumberFormat, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
const date = (at, options) => format(Intl.DateTimeFormat, options).format(at);

export const hourMinute = at => date(at, { hour: "numeric", minute: "2-digit" });
/** The time on a phone's status bar, which never says AM or PM. */
export const phoneClock = at => format(Intl.DateTimeFormat, { hour: "numeric", minute: "2-digit" })
  .formatToParts(at).filter(part => part.type !== "dayPeriod").map(part => part.value).join("").trim();
export const clockTime = at => date(
  at, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
export const milliseconds = at => String(Math.floor(at % 1000)).padStart(3, "0");
export const longDay = at => date(at, { weekday: "long", day: "numeric", month: "long" });
export const shortDay = at => date(at, { day: "numeric", month: "short" });
export const dayAndTime = at => date(
  at, { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });
export const isSameDay = (one, other) => new Date(one).toDateString() === new Date(other).toDateString();
/** Today is named by its time alone. */
export const moment = (at, now) => isSameDay(at, now) ? hourMinute(at) : dayAndTime(at);
export const orList = names => format(Intl.ListFormat, { type: "disjunction" }).format(names);

/** A time span as people read it: 340 ms, 1.2 s, 2 min 5 s. */
export function span(ms) {
  if (ms < 1000) return `${number(Math.max(0, ms))} ms`;
  if (ms < 60000) return `${number(ms / 1000, 1)} s`;
  return `${Math.floor(ms / 60000)} min ${Math.floor(ms / 1000) % 60} s`;
}

/** The age of a process, in its largest two units. */
export function uptime(ms) {
  const minutes = Math.floor(Math.max(0, ms) / 60000);
  if (minutes < 1) return `${Math.floor(Math.max(0, ms) / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
