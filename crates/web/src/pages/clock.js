// The clock of busy CPUs as a heat map: a row for each CPU.
// @ts-check

import { Heat, cpuAxis, legend } from "./heat.js";
import { mean } from "./headline.js";
import { Panel } from "./panel.js";
import { Ring } from "./ring.js";
import { letter } from "./theme.js";
import { extremes } from "./trace.js";
import { cpuNumbers, isMissing, quantity } from "./words.js";

/** Clocks that differ by less have the same colour, more or less: noise is not to look like a finding. */
const LEAST_SPAN_MHZ = 100;
const ROUND_MHZ = 50;
/** In place of a clock while the CPU is offline. */
const OFFLINE = -1;
/** Axis and labels around the rows, in letters. */
const AROUND = 3.6;

export class Clock extends Panel {
  /**
   * @param {Panel["desk"]} desk
   * @param {number} limit
   */
  constructor(desk, limit) {
    super("clock", desk);
    this.heat = new Heat();
    this.list = "";
    /** Every CPU that was online since the page was opened, a row each. @type {number[]} */
    this.cpus = [];
    /** The rows of those that are online. @type {number[]} */
    this.online = [];
    this.ring = new Ring(limit, 0);
    /** @type {any} */
    this.missing = null;
  }

  /**
   * @param {{from: number, to: number, isBroken: boolean}} interval
   * @param {any} reading
   */
  take({ from, to, isBroken }, { cpus, clock_mhz: clock }) {
    if (cpus !== this.list) this.#admit(cpus);
    this.missing = isMissing(clock) ? clock : null;
    const values = Array(this.cpus.length).fill(OFFLINE);
    this.online.forEach((row, place) => (values[row] = this.missing === null ? clock[place] : NaN));
    this.ring.rewind(to);
    this.ring.push(from, to, values, isBroken);
  }

  /**
   * Gives a row to those that have none.
   * @param {string} list of the CPUs that are online
   */
  #admit(list) {
    this.list = list;
    const online = cpuNumbers(list);
    const all = [...new Set([...this.cpus, ...online])].sort((a, b) => a - b);
    if (all.length > this.cpus.length) {
      const rows = new Map(this.cpus.map((cpu, row) => [cpu, row]));
      this.ring = this.ring.withColumns(all.map((cpu) => rows.get(cpu) ?? -1), OFFLINE);
      this.cpus = all;
    }
    const rows = new Map(all.map((cpu, row) => [cpu, row]));
    this.online = online.map((cpu) => rows.get(cpu) ?? 0);
  }

  /**
   * NaN where it is not known, and while the CPU is offline.
   * @param {number} row
   * @param {number} index
   */
  mhz(row, index) {
    const value = this.ring.value(row, index);
    return value === OFFLINE ? NaN : value;
  }

  /**
   * The mean of all CPUs whose clock is known, and which of them is slowest.
   * @param {import("./plot.js").Range} range
   * @returns {import("./headline.js").Item}
   */
  headline(range) {
    const { first, end } = this.ring.within(range);
    const of = (/** @type {number} */ row) =>
      mean(Array.from({ length: end - first }, (_, place) => this.mhz(row, first + place)));
    const known = this.cpus.map((cpu, row) => ({ cpu, mhz: of(row) })).filter((it) => !Number.isNaN(it.mhz));
    const slowest = known.reduce((a, b) => (b.mhz < a.mhz ? b : a), known[0]);
    const about = slowest === undefined ? "no value" : `lowest: ${quantity(slowest.mhz, "MHz")}, CPU ${slowest.cpu}`;
    return { name: "Clock", value: quantity(mean(known.map((it) => it.mhz)), "MHz"), about, href: "#clock" };
  }

  /** @param {import("./panel.js").Frame} frame */
  draw(frame) {
    const { low, high } = this.#span(frame.range);
    this.showMissing(this.missing, frame, (range) => this.#span(range).high);
    this.sheet.canvas.style.height = `${this.#height()}px`;
    const values = shades(low, high);
    this.paint(frame, { low: 0, high: this.cpus.length, step: 1 }, (context, plot) => {
      cpuAxis(context, plot, this.cpus);
      this.heat.draw(context, plot, this.ring, values);
      legend(context, plot, values);
    });
    this.#showValues(frame);
  }

  /** A row has a pixel at least, and few rows do not fill the screen. */
  #height() {
    const size = letter();
    const rows = Math.max(this.cpus.length, Math.min(this.cpus.length * 2 * size, 20 * size), 4 * size);
    return Math.ceil(rows + AROUND * size);
  }

  /** @param {import("./plot.js").Range} range */
  #span(range) {
    const all = { low: Infinity, high: -Infinity };
    for (let row = 0; row < this.ring.width; row += 1) {
      const { low, high } = extremes(this.ring, range, (index) => this.mhz(row, index));
      all.low = Math.min(all.low, low);
      all.high = Math.max(all.high, high);
    }
    return all;
  }

  /** @param {import("./panel.js").Frame} frame */
  #showValues(frame) {
    const index = this.index(this.ring, frame);
    const known = this.#known(index);
    const of = (/** @type {{cpu: number, mhz: number} | undefined} */ it) =>
      it === undefined ? "unknown" : `${quantity(it.mhz, "MHz")}, CPU ${it.cpu}`;
    const entries = [
      { name: "highest", value: of(known[known.length - 1]) },
      { name: "mean of CPUs", value: quantity(mean(known.map((it) => it.mhz)), "MHz") },
      { name: "lowest", value: of(known[0]) },
      { name: "CPUs without a value", value: String(this.online.length - known.length) },
    ];
    this.showValues([...entries, ...this.#pointedAt(frame, index)]);
  }

  /**
   * The row below the pointer.
   * @param {import("./panel.js").Frame} frame
   * @param {number} index
   */
  #pointedAt({ cursor }, index) {
    const row = Math.floor(this.row * this.cpus.length);
    if (cursor === null || index < 0 || this.row <= 0 || row >= this.cpus.length) return [];
    return [{ name: `CPU ${this.cpus[row]}`, value: quantity(this.mhz(row, index), "MHz") }];
  }

  /**
   * CPUs whose clock is known, the slowest first.
   * @param {number} index
   */
  #known(index) {
    if (index < 0) return [];
    const clocks = this.cpus.map((cpu, row) => ({ cpu, mhz: this.mhz(row, index) }));
    return clocks.filter((it) => !Number.isNaN(it.mhz)).sort((a, b) => a.mhz - b.mhz);
  }

  table() {
    const { range } = this.desk.frame();
    const last = this.ring.lastBy(range.to);
    const rows = this.cpus.map((cpu, row) => {
      const valueAt = (/** @type {number} */ index) => this.mhz(row, index);
      const { low, high } = extremes(this.ring, range, valueAt);
      const cells = [last < 0 ? NaN : valueAt(last), low, high];
      return [String(cpu), ...cells.map((it) => (Number.isFinite(it) ? it.toFixed(0) : "unknown"))];
    });
    return { heads: ["CPU", "last, MHz", "lowest shown", "highest shown"], rows };
  }
}

/**
 * Round ends for the colours.
 * @param {number} low
 * @param {number} high
 */
function shades(low, high) {
  if (high === -Infinity) return { low: 0, high: LEAST_SPAN_MHZ };
  const from = Math.floor(low / ROUND_MHZ) * ROUND_MHZ;
  const to = Math.ceil(high / ROUND_MHZ) * ROUND_MHZ;
  return { low: from, high: Math.max(to, from + LEAST_SPAN_MHZ) };
}
