// "Show values": the last values of a chart as a table, for who cannot see it or wants numbers.
// @ts-check

import { make, setText } from "./dom.js";

/** A reader needs time to read: figures change this often at most. */
const PAUSE_MS = 1000;

/** A table in a disclosure; its rows are used again, and it costs nothing while it is closed. */
export class Figures {
  /**
   * @param {string} caption
   * @param {() => {heads: string[], rows: string[][]}} look what to show now
   */
  constructor(caption, look) {
    this.look = look;
    this.shown = -Infinity;
    this.head = make("tr");
    this.body = make("tbody");
    const name = make("caption", { className: "unseen" }, caption);
    const table = make("table", {}, name, make("thead", {}, this.head), this.body);
    const scroll = make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": caption }, table);
    const summary = make("summary", { "aria-label": `Show values: ${caption}` }, "Show values");
    this.element = make("details", { className: "figures" }, summary, scroll);
    this.element.addEventListener("toggle", () => this.update(true));
  }

  /** @param {boolean} [isByReader] */
  update(isByReader = false) {
    const now = performance.now();
    if (!this.element.open || (!isByReader && now - this.shown < PAUSE_MS)) return;
    this.shown = now;
    const { heads, rows } = this.look();
    fillRow(this.head, heads, "th");
    fit(this.body, rows.length, () => make("tr"));
    rows.forEach((row, place) => fillRow(this.body.children[place], row, "td"));
  }
}

/**
 * @param {Element} row
 * @param {string[]} cells
 * @param {string} kind
 */
function fillRow(row, cells, kind) {
  const attributes = kind === "th" ? { scope: "col" } : {};
  fit(row, cells.length, (place) => make(kind, { ...attributes, className: place > 0 ? "number" : "" }));
  cells.forEach((text, place) => setText(row.children[place], text));
}

/**
 * @param {Element} element
 * @param {number} n
 * @param {(place: number) => Element} child
 */
function fit(element, n, child) {
  while (element.children.length > n) element.lastElementChild?.remove();
  while (element.children.length < n) element.append(child(element.children.length));
}
