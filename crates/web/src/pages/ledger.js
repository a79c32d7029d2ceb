// The ledger as a stacked band: what was lost at the bottom, then what is unexplained, useful work, and idle time.
// @ts-check

import { Panel, toggle } from "./panel.js";
import { valueAxis } from "./plot.js";
import { Ring } from "./ring.js";
import { roundScale } from "./scale.js";
import { bands, extremes } from "./trace.js";
import { mean } from "./headline.js";
import { isMissing, quantity } from "./words.js";

/** What is not lost, and can be left out. */
const KEPT = ["useful", "idle"];
const UNEXPLAINED = { id: "unexplained", title: "unexplained" };

/** @typedef {{id: string, title: string}} Loss */

export class Ledger extends Panel {
  /**
   * @param {Panel["desk"]} desk
   * @param {number} limit
   * @param {Loss[]} losses in the order of the ledger
   */
  constructor(desk, limit, losses) {
    super("ledger", desk);
    const kept = KEPT.flatMap((id) => losses.filter((it) => it.id === id));
    /** From the bottom up. */
    this.lines = [...losses.filter((it) => !KEPT.includes(it.id)), UNEXPLAINED, ...kept];
    this.ring = new Ring(limit, this.lines.length);
    /** @type {Set<string>} */
    this.hidden = new Set(KEPT);
    /** @type {any} */
    this.missing = null;
    for (const id of KEPT) toggle(`show-${id}`, (isOn) => this.#show(id, isOn));
  }

  /**
   * @param {string} id
   * @param {boolean} isShown
   */
  #show(id, isShown) {
    if (isShown) this.hidden.delete(id);
    else this.hidden.add(id);
    this.desk.redraw();
  }

  /**
   * @param {{from: number, to: number, isBroken: boolean}} interval
   * @param {any} reading
   */
  take({ from, to, isBroken }, { ledger }) {
    this.missing = isMissing(ledger) ? ledger : null;
    const shares = this.missing === null ? sharesOf(ledger) : new Map();
    this.ring.rewind(to);
    this.ring.push(from, to, this.lines.map((it) => shares.get(it.id)), isBroken);
  }

  /** @param {import("./panel.js").Frame} frame */
  draw(frame) {
    const { ring } = this;
    const shown = this.lines.map((line, column) => ({ ...line, column })).filter((it) => !this.hidden.has(it.id));
    const sum = (/** @type {typeof shown} */ lines) => (/** @type {number} */ index) => sumOf(ring, lines, index);
    const whole = sum(shown);
    const highest = (/** @type {import("./plot.js").Range} */ range) => extremes(ring, range, whole).high;
    const high = highest(frame.range);
    this.showMissing(this.missing, frame, highest);
    const parts = shown.map(({ id, column }) => ({
      color: `--${id}`,
      valueAt: (/** @type {number} */ index) => ring.value(column, index),
    }));
    const lost = sum(shown.filter((it) => !KEPT.includes(it.id)));
    // Lines that overlap are a little more than the whole; that is no reason for a scale to 150 %.
    const scale = high > 95 ? { low: 0, high: Math.max(high, 100), step: 20 } : roundScale(0, Math.max(high, 0.1));
    this.paint(frame, scale, (context, plot) => {
      valueAxis(context, plot, { unit: "%" });
      plot.clipped(context, () => bands(context, plot, ring, parts, lost));
    });
    this.#showValues(frame);
  }

  /**
   * How busy the CPUs were, and what was lost of their time.
   * @param {import("./plot.js").Range} range
   * @returns {import("./headline.js").Item[]}
   */
  headline(range) {
    const { first, end } = this.ring.within(range);
    const indexes = Array.from({ length: end - first }, (_, place) => first + place);
    const means = this.lines.map(({ id, title }, column) => {
      return { id, title, share: mean(indexes.map((index) => this.ring.value(column, index))) };
    });
    const idle = means.find((it) => it.id === "idle")?.share ?? NaN;
    const losses = means.filter((it) => !KEPT.includes(it.id) && it.share > 0).sort((a, b) => b.share - a.share);
    const isKnown = means.some((it) => !Number.isNaN(it.share));
    const lost = isKnown ? losses.reduce((sum, it) => sum + it.share, 0) : NaN;
    const most = losses.length > 0 ? `most: ${losses[0].title} ${quantity(losses[0].share, "%")}` : "";
    return [
      { name: "Busy", value: quantity(100 - idle, "%"), about: "of the time of all CPUs" },
      { name: "Lost", value: quantity(lost, "%"), about: most, href: "#ledger" },
    ];
  }

  /** @param {import("./panel.js").Frame} frame */
  #showValues(frame) {
    const index = this.index(this.ring, frame);
    const entries = this.lines.map(({ id, title }, column) => ({
      name: title,
      color: `--${id}`,
      value: index < 0 ? "–" : quantity(this.ring.value(column, index), "%"),
    }));
    // As in the chart: the highest first.
    this.showValues(entries.reverse());
  }

  table() {
    const heads = this.lines.map((it) => `${it.title}, %`);
    const share = (/** @type {number} */ value) => (Number.isNaN(value) ? "unknown" : value.toFixed(2));
    return this.lastRows(this.ring, heads, (index) => heads.map((_, column) => share(this.ring.value(column, index))));
  }
}

/**
 * What each line has of the capacity, in percent; a line of several parts is unknown only where all of them are.
 * @param {{capacity_ns: number, lines: [string, string, number | null][], unexplained_ns: number}} ledger
 */
function sharesOf({ capacity_ns: capacity, lines, unexplained_ns: unexplained }) {
  const shares = new Map([["unexplained", (unexplained / capacity) * 100]]);
  for (const [id, , ns] of lines) {
    if (ns !== null) shares.set(id, (shares.get(id) ?? 0) + (ns / capacity) * 100);
  }
  return shares;
}

/**
 * The height of these lines; NaN where none of them is known.
 * @param {Ring} ring
 * @param {{column: number}[]} lines
 * @param {number} index
 */
function sumOf(ring, lines, index) {
  let sum = NaN;
  for (const { column } of lines) {
    const value = ring.value(column, index);
    if (!Number.isNaN(value)) sum = (Number.isNaN(sum) ? 0 : sum) + Math.max(0, value);
  }
  return sum;
}
