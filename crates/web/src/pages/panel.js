// A section of the Now page: a chart with its values, its figures, and words in their place where nothing is known.
// @ts-check

import { byId, make, sentence } from "./dom.js";
import { Figures } from "./figures.js";
import { Plot, pointer, timeAxis } from "./plot.js";
import { Sheet } from "./sheet.js";
import { Values } from "./values.js";
import { missingWords, timeOfDay } from "./words.js";

/**
 * What is looked at: a range of time, and the moment that the reader points at.
 * @typedef {{range: import("./plot.js").Range, cursor: number | null}} Frame
 */

/** So many intervals are shown as figures. */
export const FIGURES = 15;
/** A value that was known within this time is not called unknown: one interval without it is a gap. */
const LATELY_S = 10;

/** A section that is on the page already. */
export class Panel {
  /**
   * @param {string} id of the section
   * @param {{frame: () => Frame, point: (time: number | null) => void, redraw: () => void}} desk
   */
  constructor(id, desk) {
    const section = byId(id);
    this.desk = desk;
    this.title = section.querySelector("h2").textContent;
    this.note = section.querySelector(".missing");
    this.place = section.querySelector(".drawn");
    this.values = new Values(`${this.title}: values`);
    this.place.append(this.values.element);
    this.figures = new Figures(this.title, () => this.table());
    section.append(this.figures.element);
    this.sheet = new Sheet(section.querySelector("canvas"), {
      changed: desk.redraw,
      pointed: (place) => this.#pointed(place),
    });
    /** @type {Plot | null} */
    this.plot = null;
    this.row = 0;
  }

  /** @param {{x: number, y: number} | null} place */
  #pointed(place) {
    const { plot } = this;
    const isInside = place !== null && plot !== null && place.x >= plot.left && place.x <= plot.right;
    this.row = isInside ? (place.y - plot.top) / plot.height : 0;
    this.desk.point(isInside ? plot.time(place.x) : null);
  }

  /**
   * Says why the latest value is missing; the chart stays for as long as it has something to show.
   * @param {any} missing null where it is known
   * @param {Frame} frame
   * @param {(range: import("./plot.js").Range) => number} highest of a range of time; no number where nothing is known
   */
  showMissing(missing, { range }, highest) {
    const isKnown = (/** @type {number} */ from) => highest({ from, to: range.to }) > -Infinity;
    const isEmpty = missing !== null && !isKnown(range.from);
    this.note.hidden = missing === null || (!isEmpty && isKnown(range.to - LATELY_S));
    const words = missing === null ? "" : missingWords(missing);
    if (this.note.dataset.words !== words) this.note.replaceChildren(make("span", {}, ...sentence(words)));
    this.note.dataset.words = words;
    this.place.hidden = isEmpty;
    this.figures.element.hidden = isEmpty;
  }

  /**
   * Draws with the axes of time around it.
   * @param {Frame} frame
   * @param {import("./plot.js").Scale} scale
   * @param {(context: CanvasRenderingContext2D, plot: Plot) => void} draw
   */
  paint(frame, scale, draw) {
    const context = this.sheet.begin();
    if (context === null) return;
    const plot = new Plot(this.sheet, frame.range, scale);
    this.plot = plot;
    draw(context, plot);
    timeAxis(context, plot, timeOfDay);
    pointer(context, plot, { cursor: frame.cursor, drag: null });
    this.figures.update();
  }

  /**
   * Shows values beside the chart, and says them of the canvas.
   * @param {Parameters<Values["update"]>[0]} entries
   */
  showValues(entries) {
    this.values.update(entries);
    this.sheet.canvas.setAttribute("aria-label", `${this.title}: ${this.values.words()}`);
  }

  /**
   * The interval whose values are shown: that of the pointer, else the last.
   * @param {import("./ring.js").Ring} ring
   * @param {Frame} frame
   */
  index(ring, { range, cursor }) {
    return cursor === null ? ring.lastBy(range.to) : ring.at(cursor);
  }

  /**
   * The last intervals shown, the latest first.
   * @param {import("./ring.js").Ring} ring
   * @param {string[]} heads
   * @param {(index: number) => string[]} cells
   */
  lastRows(ring, heads, cells) {
    const last = ring.lastBy(this.desk.frame().range.to);
    const rows = [];
    for (let index = last; index > last - FIGURES && index >= 0; index -= 1) {
      rows.push([timeOfDay(ring.to(index)), ...cells(index)]);
    }
    return { heads: ["UTC", ...heads], rows };
  }

  /** @returns {{heads: string[], rows: string[][]}} */
  table() {
    return { heads: [], rows: [] };
  }
}

/**
 * A button that is on or off.
 * @param {string} id
 * @param {(isOn: boolean) => void} turned
 */
export function toggle(id, turned) {
  const button = byId(id);
  button.addEventListener("click", () => {
    const isOn = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(isOn));
    turned(isOn);
  });
}
