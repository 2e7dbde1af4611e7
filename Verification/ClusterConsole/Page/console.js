// The console's page: it trades the token, opens the stream, and draws what the documents say.

import { aftermath } from "./aftermath.js";
import { applyTheme } from "./appearance.js";
import { banners, topBar } from "./bar.js";
import { childPhone } from "./child.js";
import { patch, startAnimations } from "./dom.js";
import { explainOnHover } from "./explain.js";
import { childDevice, guardianDevice } from "./facts.js";
import { keepFocus, noteFocus } from "./focus.js";
import { guardianPhone, reportSeen } from "./guardian.js";
import { listenToKeys } from "./keys.js";
import { logHead, logTable } from "./log.js";
import { pathDiagram, pathHead } from "./path.js";
import { skeletonPage } from "./phone.js";
import { keyDetails, verdictDetails } from "./popovers.js";
import { otherProcesses, processCards } from "./processes.js";
import { speak } from "./say.js";
import { openEvents, openSession } from "./server.js";
import { childCaption, guardianCaption, partBar } from "./sides.js";
import { changed, link, live, onChange, view } from "./state.js";
import { timeline } from "./timeline.js";
import { currentLanguage, loadWords, preferredLanguage, t } from "./words.js";

const NARROW = matchMedia("(max-width: 679px)");
const TICK = 1000;
const NEAR_END = 80;
const part = id => document.getElementById(id);

/** Draws one part. A document that a part cannot show does not stop the others. */
function fill(id, content) {
  try { patch(part(id), content()); } catch (problem) { console.error(id, problem); }
}

function draw() {
  const screens = [part("child-screen"), part("guardian-screen")];
  noteFocus(screens);
  part("skip").textContent = t("skip");
  fill("bar", topBar);
  fill("banners", banners);
  drawPhones();
  fill("flow", () => [pathHead(), processCards(), pathDiagram(), aftermath(), otherProcesses()]);
  fill("log-head", logHead);
  fill("log", logTable);
  fill("timeline", timeline);
  fill("parts", partBar);
  drawPopovers();
  keepFocus();
  scrollToEnds();
  speak();
  if (live.processes && live.devices.size) startAnimations();
}

function drawPhones() {
  const child = childDevice(), guardian = guardianDevice();
  const stage = part("stage");
  stage.dataset.part = view.part;
  stage.toggleAttribute("data-offline", link.state === "lost" || link.state === "refused");
  fill("child-caption", childCaption);
  fill("guardian-caption", guardianCaption);
  fill("child-screen", () => child ? childPhone(child) : skeletonPage());
  fill("guardian-screen", () => guardian ? guardianPhone(guardian) : skeletonPage());
  if (guardian) reportSeen(guardian, !NARROW.matches || view.part === "guardian");
}

function drawPopovers() {
  part("banners").setAttribute("aria-label", t("messagesOfPage"));
  part("parts").setAttribute("aria-label", t("partsOfPage"));
  part("middle").setAttribute("aria-label", t("relay"));
  fill("verdict", verdictDetails);
  fill("help", keyDetails);
}

const heights = new WeakMap();
/** A conversation that was at its end stays there when it grows. */
function scrollToEnds() {
  for (const element of document.querySelectorAll(".to-end")) {
    const before = heights.get(element) ?? 0;
    if (before === element.scrollHeight) continue;
    heights.set(element, element.scrollHeight);
    if (element.scrollTop + element.clientHeight > before - NEAR_END) element.scrollTop = element.scrollHeight;
  }
}

/** Times grow once a second, and not at all while nobody can see them. */
function tick() {
  if (document.visibilityState === "visible") changed();
  setTimeout(tick, TICK - Date.now() % TICK);
}

async function begin() {
  applyTheme();
  await loadWords(preferredLanguage());
  onChange(draw);
  listenToKeys();
  explainOnHover();
  changed();
  await openSession();
  if (link.state !== "refused") openEvents(currentLanguage());
  changed();
  tick();
  document.addEventListener("visibilitychange", changed);
  addEventListener("resize", changed);
  part("skip").addEventListener("click", event => { event.preventDefault(); part("child-screen").focus(); });
}

begin();
