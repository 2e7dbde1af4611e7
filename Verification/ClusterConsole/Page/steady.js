// A state that lasted 3 ms is shown for 400 ms. The times that the page writes are the true ones.

import { changed, isLookingBack } from "./state.js";

const SHOWN = 400;
const states = new Map();

/** The state to show for `name`; states that arrive too fast are shown one after the other. */
export function steady(name, state) {
  if (isLookingBack()) return state;
  const now = performance.now();
  const entry = states.get(name) ?? { queue: [{ state, since: now }] };
  states.set(name, entry);
  const { queue } = entry;
  if (queue.at(-1).state !== state) queue.push({ state, since: 0 });
  while (queue.length > 1 && now - queue[0].since >= SHOWN) {
    queue.shift();
    queue[0].since = now;
  }
  if (queue.length > 1) setTimeout(changed, SHOWN - (now - queue[0].since) + 1);
  return queue[0].state;
}
