// Documents of the server, with empty lists where a field is absent. The views then need no checks.

const lists = (object, ...names) => {
  for (const name of names) object[name] ??= [];
  return object;
};

const COMPLETE = {
  cluster: document => lists(document, "devices"),
  processes: document => {
    for (const process of document) {
      lists(process, "devices");
      if (process.fault) Object.assign(process.fault, { newPid: process.fault.newPid ?? null, back: process.fault.back ?? null });
    }
  },
  device: document => completeScreen(document.screen ??= null),
  app: document => {
    document.window ??= null;
    if (document.window) lists(document.window, "chats").chats.forEach(chat => lists(chat, "handles", "replies"));
  },
  log: document => lists(document, "events").events.forEach(event => lists(event, "heldBy", "holders")),
  path: document => {
    lists(document, "lanes", "hops", "pauses", "faults");
    document.pauses.forEach(pause => lists(pause, "who"));
  },
  verdict: document => lists(document, "checks"),
  timeline: document => lists(document, "lanes", "marks"),
};

/** Fills in the lists of one document in place, and returns it. */
export function complete(part, document) {
  if (document) COMPLETE[part]?.(document);
  return document ?? null;
}

function completeScreen(screen) {
  if (!screen) return;
  lists(screen, "notices", "banners", "refusals", "prompts", "children");
  screen.prompts.forEach(prompt => lists(prompt, "lines", "people", "fields", "choices"));
  for (const child of screen.children) {
    lists(child, "entries", "known", "ages", "apps", "web");
    child.web.forEach(day => lists(day, "sites"));
    child.ages.forEach(age => { age.text = [age.text ?? []].flat(); });
    child.entries.forEach(entry => entry.question && lists(entry.question, "people", "choices"));
  }
}
