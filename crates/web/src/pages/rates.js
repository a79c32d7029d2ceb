// Timer ticks, and time throttled: lines over time.
// @ts-check

import { Panel } from "./panel.js";
import { valueAxis } from "./plot.js";
import { Ring } from "./ring.js";
import { roundScale } from "./scale.js";
import { extremes, line } from "./trace.js";
import { cpuNumbers, isMissing, number, quantity } from "./words.js";

/**
 * How a value of a reading becomes lines.
 * @typedef {{
 *   id: string, unit: string,
 *   pick: (reading: any) => any,
 *   series: {name: string, color: string}[],
 *   split: (value: any) => number[],
 *   hint?: (value: any, reading: any) => string[],
 * }} Kind
 */

/** @type {Kind} */
export const TICKS = {
  id: "ticks",
  unit: "1/s",
  pick: (reading) => reading.ticks,
  series: [
    { name: "the CPU with most", color: "--series-1" },
    { name: "mean of CPUs", color: "--ticks" },
    { name: "the CPU with fewest", color: "--series-2" },
  ],
  split: (value) => {
    const known = knownOf(value);
    return [Math.max(...known), known.reduce((sum, it) => sum + it, 0) / known.length, Math.min(...known)].map(finite);
  },
  hint: (value, { cpus }) => {
    const numbers = cpuNumbers(cpus);
    const known = knownOf(value);
    const which = (/** @type {number} */ it) => `, CPU ${numbers[value.indexOf(it)]}`;
    return known.length > 1 ? [which(Math.max(...known)), "", which(Math.min(...known))] : [];
  },
};

/** @type {Kind} */
export const THROTTLING = {
  id: "throttling",
  unit: "ms/s",
  pick: (reading) => reading.throttled,
  series: [{ name: "throttled", color: "--slow-clock" }],
  split: (value) => [value ?? NaN],
};

/** @param {(number | null)[]} value */
const knownOf = (value) => /** @type {number[]} */ (value.filter((it) => it !== null));

/** @param {number} value */
const finite = (value) => (Number.isFinite(value) ? value : NaN);

export class Rates extends Panel {
  /**
   * @param {Panel["desk"]} desk
   * @param {number} limit
   * @param {Kind} kind
   */
  constructor(desk, limit, kind) {
    super(kind.id, desk);
    this.kind = kind;
    this.ring = new Ring(limit, kind.series.length);
    /** @type {any} */
    this.missing = null;
  }

  /**
   * @param {{from: number, to: number, isBroken: boolean}} interval
   * @param {any} reading
   */
  take({ from, to, isBroken }, reading) {
    const value = this.kind.pick(reading);
    this.missing = isMissing(value) ? value : null;
    const isKnown = this.missing === null;
    this.ring.rewind(to);
    const hint = isKnown ? this.kind.hint?.(value, reading) : undefined;
    this.ring.push(from, to, isKnown ? this.kind.split(value) : [], isBroken, hint);
  }

  /** @param {import("./panel.js").Frame} frame */
  draw(frame) {
    const { ring, kind } = this;
    const lines = kind.series.map((it, column) => ({
      ...it,
      valueAt: (/** @type {number} */ index) => ring.value(column, index),
    }));
    const highest = (/** @type {import("./plot.js").Range} */ range) =>
      Math.max(...lines.map((it) => extremes(ring, range, it.valueAt).high));
    const high = highest(frame.range);
    this.showMissing(this.missing, frame, highest);
    this.paint(frame, roundScale(0, Math.max(high, 1)), (context, plot) => {
      valueAxis(context, plot, { unit: kind.unit });
      plot.clipped(context, () => lines.forEach((it) => line(context, plot, ring, it.valueAt, it)));
    });
    const index = this.index(ring, frame);
    this.showValues(lines.map(({ name, color, valueAt }, place) => ({
      name,
      color,
      value: index < 0 ? "–" : quantity(valueAt(index), kind.unit) + (ring.note(index)?.[place] ?? ""),
    })));
  }

  table() {
    const heads = this.kind.series.map((it) => `${it.name}, ${this.kind.unit}`);
    return this.lastRows(this.ring, heads, (index) => heads.map((_, column) => number(this.ring.value(column, index))));
  }
}
