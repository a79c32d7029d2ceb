// CPU time of the kernel's own threads: those with most, on top of each other.
// @ts-check

import { Panel } from "./panel.js";
import { valueAxis } from "./plot.js";
import { Ring } from "./ring.js";
import { roundScale } from "./scale.js";
import { bands, extremes } from "./trace.js";
import { isMissing, quantity } from "./words.js";

/** So many threads have a colour; the others are one band. */
const SHOWN = 5;
/** So many are kept of each interval: names come and go. */
const KEPT = 12;

/** @typedef {{threads: [string, number][], others: number}} Note */

export class Threads extends Panel {
  /**
   * @param {Panel["desk"]} desk
   * @param {number} limit
   */
  constructor(desk, limit) {
    super("kernel-threads", desk);
    this.ring = new Ring(limit, 1);
    /** @type {any} */
    this.missing = null;
    /** A name stays in its place, and keeps its colour, for as long as it is one of those with most. */
    this.names = Array(SHOWN).fill("");
  }

  /**
   * @param {{from: number, to: number, isBroken: boolean}} interval
   * @param {any} reading
   */
  take({ from, to, isBroken }, { kernel_threads: found }) {
    this.missing = isMissing(found) ? found : null;
    this.ring.rewind(to);
    if (this.missing !== null) {
      this.ring.push(from, to, [], isBroken);
      return;
    }
    /** @type {[string, number][]} */
    const sorted = [...found].sort((a, b) => b[1] - a[1]);
    const rest = sorted.slice(KEPT).reduce((sum, it) => sum + it[1], 0);
    const all = sorted.reduce((sum, it) => sum + it[1], 0);
    this.ring.push(from, to, [all], isBroken, { threads: sorted.slice(0, KEPT), others: rest });
  }

  /** @param {import("./panel.js").Frame} frame */
  draw(frame) {
    const { ring } = this;
    this.#choose(frame);
    const whole = (/** @type {number} */ index) => ring.value(0, index);
    const highest = (/** @type {import("./plot.js").Range} */ range) => extremes(ring, range, whole).high;
    const high = highest(frame.range);
    this.showMissing(this.missing, frame, highest);
    const parts = this.#parts();
    this.paint(frame, roundScale(0, Math.max(high, 1)), (context, plot) => {
      valueAxis(context, plot, { unit: "%" });
      plot.clipped(context, () => bands(context, plot, ring, parts, whole));
    });
    const index = this.index(ring, frame);
    const value = (/** @type {import("./trace.js").ValueAt} */ it) => (index < 0 ? "–" : quantity(it(index), "%"));
    const named = parts.filter((it) => it.name !== "").reverse();
    const entries = named.map(({ name, color, valueAt }) => ({ name, color, value: value(valueAt) }));
    this.showValues([{ name: "all of them", value: value(whole) }, ...entries]);
  }

  /**
   * The names with most of the time shown.
   * @param {import("./panel.js").Frame} frame
   */
  #choose({ range }) {
    const { first, end } = this.ring.within(range);
    /** @type {Map<string, number>} */
    const sums = new Map();
    for (let index = first; index < end; index += 1) {
      for (const [name, percent] of this.ring.note(index)?.threads ?? []) {
        sums.set(name, (sums.get(name) ?? 0) + percent);
      }
    }
    const most = [...sums].sort((a, b) => b[1] - a[1]).slice(0, SHOWN).map((it) => it[0]);
    const fresh = most.filter((it) => !this.names.includes(it));
    this.names = this.names.map((it) => (most.includes(it) ? it : fresh.shift() ?? ""));
  }

  #parts() {
    const { ring, names } = this;
    const shown = names.map((name, place) => ({
      name,
      color: `--series-${place}`,
      valueAt: (/** @type {number} */ index) => shareOf(ring.note(index), name),
    }));
    const rest = (/** @type {number} */ index) => {
      return Math.max(0, shown.reduce((left, it) => left - it.valueAt(index), ring.value(0, index)));
    };
    return [...shown, { name: "others", color: "--series-5", valueAt: rest }];
  }

  table() {
    const words = (/** @type {Note | undefined} */ note) => {
      if (note === undefined) return "unknown";
      const threads = note.threads.map(([name, percent]) => `${name} ${percent.toFixed(2)}`);
      return threads.join(", ") + (note.others > 0 ? `, others ${note.others.toFixed(2)}` : "") || "none";
    };
    const heads = ["all, % of one CPU", "threads, % of one CPU"];
    return this.lastRows(this.ring, heads, (index) => {
      return [quantity(this.ring.value(0, index), "%"), words(this.ring.note(index))];
    });
  }
}

/**
 * @param {Note | undefined} note
 * @param {string} name
 */
function shareOf(note, name) {
  for (const thread of note?.threads ?? []) if (thread[0] === name) return thread[1];
  return 0;
}
