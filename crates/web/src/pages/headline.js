// The headline of the Now page: a few names with their values, each with a word about it.
// @ts-check

import { byId, make, setText } from "./dom.js";

/** @typedef {{name: string, value: string, about?: string, href?: string}} Item */

/**
 * Shows them in the page's heading, whose elements are used again.
 * @param {Item[]} items
 */
export function headline(items) {
  const place = byId("headline");
  if (place.children.length === 0) place.replaceChildren();
  while (place.children.length < items.length) place.append(item());
  items.forEach(({ name, value, about = "", href }, at) => {
    const [label, figure, words] = place.children[at].children;
    setText(label, name);
    setText(figure, value);
    setText(words, about);
    if (href !== undefined) place.children[at].href = href;
  });
}

function item() {
  const parts = ["quiet", "value", "quiet about"].map((className) => make("span", { className }));
  return make("a", { className: "item" }, parts[0], " ", parts[1], " ", parts[2]);
}

/**
 * The mean of what is known.
 * @param {number[]} values
 */
export function mean(values) {
  const known = values.filter((it) => !Number.isNaN(it));
  return known.reduce((sum, it) => sum + it, 0) / known.length;
}
