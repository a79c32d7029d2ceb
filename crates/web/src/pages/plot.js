// Where times and values lie in a chart, and its axes.
// @ts-check

import { seen } from "./dom.js";
import { marks, timeMarks } from "./scale.js";
import { color, letter } from "./theme.js";
import { number } from "./words.js";

/** @typedef {{from: number, to: number}} Range */
/** @typedef {{low: number, high: number, step: number}} Scale */

/** Room for labels, in letters: the same in all charts, so that moments are below each other. */
const LEFT = 4.6;
const RIGHT = 1;
const TOP = 1.6;
const BOTTOM = 1.9;

/** The rectangle of a chart without its labels. */
export class Plot {
  /**
   * @param {import("./sheet.js").Sheet} sheet
   * @param {Range} range
   * @param {Scale} scale
   * @param {Range} told the part of the range that is drawn
   */
  constructor(sheet, range, scale, told = range) {
    const size = letter();
    this.range = range;
    this.told = told;
    this.scale = scale;
    this.ratio = sheet.ratio;
    this.left = LEFT * size;
    this.top = TOP * size;
    this.width = Math.max(1, sheet.width - this.left - RIGHT * size);
    this.height = Math.max(1, sheet.height - this.top - BOTTOM * size);
    this.right = this.left + this.width;
    this.bottom = this.top + this.height;
  }

  /** @param {number} time */
  x(time) {
    const { from, to } = this.range;
    return this.left + ((time - from) / (to - from)) * this.width;
  }

  /** @param {number} value */
  y(value) {
    const { low, high } = this.scale;
    return this.bottom - ((value - low) / (high - low)) * this.height;
  }

  /**
   * The time below a place; beyond the edges that of the edge.
   * @param {number} x
   */
  time(x) {
    const { from, to } = this.range;
    const share = Math.min(1, Math.max(0, (x - this.left) / this.width));
    return from + share * (to - from);
  }

  /**
   * Nothing that draw draws leaves the rectangle, but for half the width of a line at its edge.
   * @param {CanvasRenderingContext2D} context
   * @param {() => void} draw
   */
  clipped(context, draw) {
    context.save();
    context.beginPath();
    context.rect(this.left, this.top - 1, this.width, this.height + 2);
    context.clip();
    draw();
    context.restore();
  }
}

/**
 * Lines across, their numbers, and the unit above them.
 * @param {CanvasRenderingContext2D} context
 * @param {Plot} plot
 * @param {{unit: string, divisor?: number}} labels what numbers are divided by to be in this unit
 */
export function valueAxis(context, plot, { unit, divisor = 1 }) {
  const { low, high, step } = plot.scale;
  context.textAlign = "right";
  for (const value of marks(low, high, step)) {
    const y = Math.round(plot.y(value)) + 0.5;
    context.fillStyle = color("--grid");
    context.fillRect(plot.left, y - 0.5, plot.width, 1);
    context.fillStyle = color("--quiet");
    context.fillText(axisNumber(value / divisor, step / divisor), plot.left - 0.5 * letter(), y);
  }
  context.fillText(seen(unit), plot.left - 0.5 * letter(), plot.top - letter());
}

/**
 * All numbers of an axis have the decimals of its step.
 * @param {number} value
 * @param {number} step
 */
function axisNumber(value, step) {
  if (Math.abs(value) >= 1e6) return number(value);
  return value.toFixed(Math.min(6, Math.max(0, -Math.floor(Math.log10(step) + 1e-6))));
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Plot} plot
 * @param {(time: number) => string} words
 */
export function timeAxis(context, plot, words) {
  const room = 1.5 * Math.max(context.measureText(words(plot.range.to)).width, 4 * letter());
  context.fillStyle = color("--quiet");
  for (const time of timeMarks(plot.range, Math.max(1, Math.floor(plot.width / room)))) {
    const x = plot.x(time);
    const half = context.measureText(words(time)).width / 2;
    context.textAlign = x + half > plot.right + letter() ? "right" : "center";
    context.fillRect(Math.round(x), plot.bottom, 1, 0.35 * letter());
    context.fillText(seen(words(time)), x, plot.bottom + 1.2 * letter());
  }
  context.fillRect(plot.left, Math.round(plot.bottom), plot.width, 1);
}

/**
 * The moment at which the reader points, and what is being chosen.
 * @param {CanvasRenderingContext2D} context
 * @param {Plot} plot
 * @param {{cursor: number | null, drag: Range | null}} pointing
 */
export function pointer(context, plot, { cursor, drag }) {
  if (drag !== null) {
    context.save();
    context.globalAlpha = 0.25;
    context.fillStyle = color("--point");
    context.fillRect(plot.x(drag.from), plot.top, plot.x(drag.to) - plot.x(drag.from), plot.height);
    context.restore();
  }
  if (cursor === null || cursor < plot.range.from || cursor > plot.range.to) return;
  context.fillStyle = color("--ink");
  context.fillRect(Math.round(plot.x(cursor)), plot.top, 1, plot.height);
}
