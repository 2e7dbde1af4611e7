// The focus belongs to the person. It moves only where it would be lost otherwise: into a layer
// that covers the phone in which it was, and back to the control that opened the layer.

const openers = new Map();
let before = null;

const layerOf = screen => screen.querySelector(":scope > .layer");

/** Notes the focus before the page changes. */
export function noteFocus(screens) {
  const active = document.activeElement;
  before = screens.map(screen => ({
    screen, layer: layerOf(screen), key: active?.dataset?.key ?? null, active,
    hasFocus: screen.contains(active), inLayer: !!layerOf(screen)?.contains(active),
  }));
}

/** Moves the focus after the page has changed. */
export function keepFocus() {
  for (const { screen, layer, key, active, hasFocus, inLayer } of before ?? []) {
    const layerNow = layerOf(screen);
    if (!hasFocus) continue;
    if (layerNow && layerNow !== layer) {
      if (!inLayer) openers.set(screen, key);
      (layerNow.querySelector("[data-first]") ?? layerNow.querySelector("button, input"))?.focus({ preventScroll: true });
    } else if (!layerNow && layer) {
      returnFocus(screen);
    } else if (document.activeElement === document.body && active !== document.body) {
      restore(screen, key);
    }
  }
}

function returnFocus(screen) {
  const key = openers.get(screen);
  openers.delete(screen);
  restore(screen, key);
}

function restore(screen, key) {
  const found = key && screen.querySelector(`[data-key="${CSS.escape(key)}"]`);
  (found && !found.closest("[inert]") ? found : screen).focus({ preventScroll: true });
}
