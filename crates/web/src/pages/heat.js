// A heat map: a row for each CPU, time to the right. Where a pixel has several intervals, it shows the lowest value.
// @ts-check

import { seen } from "./dom.js";
import { channels, color, letter } from "./theme.js";

/** @typedef {import("./plot.js").Plot} Plot */
/** @typedef {import("./ring.js").Ring} Ring */

const SHADES = 256;
const OPAQUE = 255 << 24;

/** Draws on a canvas of its own first, one pixel a cell. */
export class Heat {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Plot} plot
   * @param {Ring} ring a column for each CPU
   * @param {{low: number, high: number}} values what has the first and the last shade
   */
  draw(context, plot, ring, values) {
    const width = Math.round(plot.width * plot.ratio);
    const rows = ring.width;
    if (this.canvas.width !== width || this.canvas.height !== rows) {
      Object.assign(this.canvas, { width, height: rows });
    }
    const image = this.context.createImageData(width, rows);
    fill(new Uint32Array(image.data.buffer), spansOf(plot, ring, width), ring, width, values);
    this.context.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, plot.left, plot.top, plot.width, plot.height);
  }
}

/**
 * The pixels of each interval shown.
 * @param {Plot} plot
 * @param {Ring} ring
 * @param {number} width
 */
function spansOf(plot, ring, width) {
  const { first, end } = ring.within(plot.range);
  const pixel = (/** @type {number} */ time) => Math.floor((plot.x(time) - plot.left) * plot.ratio);
  const spans = [];
  for (let index = first; index < end; index += 1) {
    const from = Math.max(0, pixel(ring.from(index)));
    spans.push({ index, from, to: Math.min(width, Math.max(from + 1, pixel(ring.to(index)))) });
  }
  return spans;
}

/**
 * @param {Uint32Array} pixels
 * @param {{index: number, from: number, to: number}[]} spans
 * @param {Ring} ring
 * @param {number} width
 * @param {{low: number, high: number}} values
 */
function fill(pixels, spans, ring, width, { low, high }) {
  const shades = ramp();
  const unknown = packed(channels("--unknown"));
  const lowest = new Float32Array(width);
  for (let row = 0; row < ring.width; row += 1) {
    lowest.fill(NaN);
    for (const { index, from, to } of spans) {
      const value = ring.value(row, index);
      // An empty place: there was no such row.
      if (value < 0) continue;
      for (let x = from; x < to; x += 1) {
        // An interval that is not known leaves its mark only where no other is.
        if (Number.isNaN(lowest[x])) lowest[x] = Number.isNaN(value) ? Infinity : value;
        else if (value < lowest[x]) lowest[x] = value;
      }
    }
    for (let x = 0; x < width; x += 1) {
      if (Number.isNaN(lowest[x])) continue;
      const share = (lowest[x] - low) / (high - low);
      const shade = shades[Math.round(Math.min(1, Math.max(0, share)) * (SHADES - 1))];
      pixels[row * width + x] = lowest[x] === Infinity ? unknown : shade;
    }
  }
}

/** The shades from the lowest to the highest value, as pixels of an image. */
function ramp() {
  const [low, middle, high] = ["--heat-low", "--heat-middle", "--heat-high"].map(channels);
  return Array.from({ length: SHADES }, (_, place) => {
    const share = place / (SHADES - 1);
    return share < 0.5 ? packed(mixed(low, middle, share * 2)) : packed(mixed(middle, high, share * 2 - 1));
  });
}

/**
 * @param {number[]} one
 * @param {number[]} other
 * @param {number} share
 */
const mixed = (one, other, share) => one.map((it, place) => it + (other[place] - it) * share);

/**
 * Browsers run on little-endian machines only: alpha is the highest byte.
 * @param {number[]} channels
 */
const packed = ([red, green, blue]) => (OPAQUE | (blue << 16) | (green << 8) | red) >>> 0;

/**
 * What the shades mean, above the chart: a picture of it that is passed on says so too.
 * @param {CanvasRenderingContext2D} context
 * @param {Plot} plot
 * @param {{low: number, high: number}} values
 */
export function legend(context, plot, { low, high }) {
  const size = letter();
  const [y, width] = [plot.top - size, 7 * size];
  let x = plot.left;
  const write = (/** @type {string} */ text) => {
    context.fillStyle = color("--quiet");
    context.fillText(seen(text), x, y);
    x += context.measureText(text).width + 0.5 * size;
  };
  const box = (/** @type {string | CanvasGradient} */ paint, /** @type {number} */ length) => {
    context.fillStyle = paint;
    context.fillRect(x, y - 0.4 * size, length, 0.8 * size);
    x += length + 0.5 * size;
  };
  context.textAlign = "left";
  write(String(low));
  const shades = context.createLinearGradient(x, 0, x + width, 0);
  ["--heat-low", "--heat-middle", "--heat-high"].forEach((it, place) => shades.addColorStop(place / 2, color(it)));
  box(shades, width);
  write(`${high} MHz`);
  x += size;
  box(color("--unknown"), size);
  write("unknown");
}

/**
 * Numbers of CPUs beside their rows, as many as there is room for.
 * @param {CanvasRenderingContext2D} context
 * @param {Plot} plot
 * @param {number[]} cpus
 */
export function cpuAxis(context, plot, cpus) {
  const row = plot.height / cpus.length;
  let step = 1;
  while (step * row < 1.4 * letter()) step *= 2;
  context.textAlign = "right";
  context.fillStyle = color("--quiet");
  for (let place = 0; place < cpus.length; place += step) {
    context.fillText(String(cpus[place]), plot.left - 0.5 * letter(), plot.top + (place + 0.5) * row);
  }
  context.fillText("CPU", plot.left - 0.5 * letter(), plot.top - letter());
}
