// Finds text that leaves its box: [box, text, pixels] for each place.
// Text that ends in an ellipsis or scrolls is no finding, nor is text that a sighted person never sees.
() => {
  const BOXES = "button, select, .process-card, .alert, .sheet, .bubble, .question-card, .caption, .bar, "
    + ".panel-head, .legend, .pill, .banner, .strip, .notice, .path, .tabs, .veil > div, .card-box, .rows, "
    + ".timeline, .parts, .screen, [popover], th, td";
  const TOLERANCE = 1.5;
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const isCut = style => style.textOverflow === "ellipsis" || ["auto", "scroll"].includes(style.overflowX);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (!node.nodeValue.trim() || parent.closest(".hidden-text, .skip, .symbols, script, option")) continue;
    if (!parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const box = parent.closest(BOXES);
    if (!box) continue;
    let isAllowed = false;
    for (let element = parent; element && element !== box.parentElement; element = element.parentElement) {
      const style = getComputedStyle(element);
      if (isCut(style) || style.clipPath !== "none") { isAllowed = true; break; }
    }
    if (isAllowed) continue;
    range.selectNodeContents(node);
    const edge = box.getBoundingClientRect();
    for (const part of range.getClientRects()) {
      const out = Math.max(edge.left - part.left, part.right - edge.right);
      if (part.width && out > TOLERANCE) {
        found.push([box.className || box.localName, node.nodeValue.trim().slice(0, 60), Math.round(out)]);
        break;
      }
    }
  }
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) found.push(["page", "", page.scrollWidth - innerWidth]);
  return found;
}
