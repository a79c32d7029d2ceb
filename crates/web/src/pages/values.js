// Names with colours and values beside a chart: a legend whose numbers are those of now, or of the pointer's moment.
// @ts-check

import { make, setText, swatch } from "./dom.js";

/** @typedef {{name: string, value: string, color?: string}} Entry */

/** A list whose entries are used again. */
export class Values {
  /** @param {string} label */
  constructor(label) {
    this.element = make("ul", { className: "values", "aria-label": label });
    this.colors = "";
    /** @type {Entry[]} */
    this.entries = [];
  }

  /** @param {Entry[]} entries */
  update(entries) {
    this.entries = entries;
    // Colours seldom change; names of threads do.
    const colors = entries.map((it) => it.color ?? "").join();
    if (colors !== this.colors) this.element.replaceChildren(...entries.map(entry));
    this.colors = colors;
    entries.forEach(({ name, value }, place) => {
      const [label, figure] = this.element.children[place].querySelectorAll("[data-part]");
      setText(label, name);
      setText(figure, value);
    });
  }

  /** What is shown, in words. */
  words() {
    return this.entries.map(({ name, value }) => `${name} ${value}`).join(", ");
  }
}

/** @param {Entry} entry */
function entry({ color }) {
  const square = color === undefined ? [] : [swatch(color)];
  const name = make("span", { "data-part": "name" });
  return make("li", {}, ...square, name, " ", make("span", { className: "number", "data-part": "value" }));
}
