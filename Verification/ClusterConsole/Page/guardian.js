// A guardian's phone: conversation, review sheet and the settings of a child.

import { onDevice, onPhone } from "./actions.js";
import { conversationPage, openDetails } from "./conversation.js";
import { childOn, screenOf } from "./facts.js";
import { phoneScreen, skeletonPage } from "./phone.js";
import { reviewLayer } from "./review.js";
import { settingsLayer, settingsPage } from "./settings.js";
import { isLive, phone } from "./state.js";

const LOOKING = 1500;
const reported = new Map();
let looking = null;

export function guardianPhone(device) {
  const screen = screenOf(device.key);
  if (!screen) return phoneScreen(device, skeletonPage(), null);
  const child = childOn(screen, phone(device.key).person);
  const page = phone(device.key).page === "details" && child
    ? settingsPage(device, screen, child)
    : conversationPage(device, screen, child, {
      onDetails: child ? () => openDetails(device) : null,
      onChild: person => onPhone(device.key, { person: Number(person) }),
    });
  return phoneScreen(device, page, reviewLayer(device, screen) ?? settingsLayer(device, screen));
}

/** Reports a conversation as read after it has been on the screen for a moment. */
export function reportSeen(device, isVisible) {
  const screen = screenOf(device.key);
  const child = childOn(screen, phone(device.key).person);
  const seq = Math.max(0, ...(child?.entries ?? []).map(entry => entry.seq ?? 0));
  const name = `${device.key} ${child?.person} ${seq}`;
  const isNew = seq > (reported.get(`${device.key} ${child?.person}`) ?? 0);
  const isRead = isVisible && isLive() && isNew && screen?.relay === "connected"
    && phone(device.key).page === "conversation" && document.visibilityState === "visible";
  if (!isRead) { if (looking?.name !== name || !isVisible) stopLooking(); return; }
  if (looking?.name === name) return;
  stopLooking();
  looking = { name, timer: setTimeout(() => report(device, child.person, seq), LOOKING) };
}

function stopLooking() {
  clearTimeout(looking?.timer);
  looking = null;
}

function report(device, person, seq) {
  looking = null;
  reported.set(`${device.key} ${person}`, seq);
  onDevice(device.key, { seen: { child: person, seq } });
}
