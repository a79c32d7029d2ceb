// Charts as a PNG, intervals as CSV: both are made in the page and handed to the browser as a download.
// @ts-check

import { make, seen } from "./dom.js";
import { color, letter } from "./theme.js";

/**
 * @param {string} name
 * @param {Blob} blob
 */
function download(name, blob) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  // Some browsers read it after the click has returned.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/**
 * A name that every file system takes.
 * @param {string} name
 */
const harmless = (name) => name.replace(/[^\w.-]+/g, "-");

/**
 * Charts below each other, as they are drawn now; those of one row beside each other.
 * @param {string} name
 * @param {string} title
 * @param {Picture[]} rows
 */
export function exportPng(name, title, rows) {
  const size = letter() * (window.devicePixelRatio || 1);
  const font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  const image = make("canvas");
  const context = /** @type {CanvasRenderingContext2D} */ (image.getContext("2d"));
  context.font = font;
  const shown = rows.map((row) => measured(context, row, size)).filter((row) => row.charts.length > 0);
  image.width = Math.max(30 * size, ...shown.map((row) => row.width)) + 2 * size;
  image.height = shown.reduce((sum, row) => sum + row.height, 3 * size);
  context.fillStyle = color("--page");
  context.fillRect(0, 0, image.width, image.height);
  context.fillStyle = color("--ink");
  context.font = `bold ${font}`;
  context.fillText(seen(title), size, 2 * size);
  let y = 3 * size;
  for (const row of shown) {
    draw(context, row, y, font, size);
    y += row.height;
  }
  image.toBlob((/** @type {Blob | null} */ blob) => blob && download(`${harmless(name)}.png`, blob), "image/png");
}

/** @typedef {ReturnType<typeof measured>} Row */
/** @typedef {{title: string, charts: {canvas: HTMLCanvasElement, values: import("./values.js").Values}[]}} Picture */

/**
 * A row with its legends in lines, and the room it needs.
 * @param {CanvasRenderingContext2D} context
 * @param {Picture} picture
 * @param {number} size of letters
 */
function measured(context, { title, charts }, size) {
  const shown = charts.filter(({ canvas }) => canvas.width > 0 && canvas.clientWidth > 0);
  const legends = shown.map(({ canvas, values }) => laidOut(context, values.entries, canvas.width, size));
  const head = (1.5 * Math.max(0, ...legends.map((it) => it.lines)) + 2.5) * size;
  const height = head + Math.max(0, ...shown.map((it) => it.canvas.height)) + size;
  const width = shown.reduce((sum, it) => sum + it.canvas.width, 0);
  return { title, charts: shown, legends, head, width, height };
}

/**
 * Where each entry of a legend stands, in lines of this width.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./values.js").Entry[]} entries
 * @param {number} width
 * @param {number} size
 */
function laidOut(context, entries, width, size) {
  let [x, line] = [0, 0];
  const places = entries.map(({ name, value, color: of }) => {
    const text = `${name} ${value}`;
    const room = context.measureText(text).width + 2.5 * size;
    if (x > 0 && x + room > width) [x, line] = [0, line + 1];
    const place = { text, of, x, line };
    x += room;
    return place;
  });
  return { places, lines: line + 1 };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Row} row
 * @param {number} top
 * @param {string} font
 * @param {number} size
 */
function draw(context, row, top, font, size) {
  context.font = `bold ${font}`;
  context.fillText(seen(row.title), size, top + 1.5 * size);
  context.font = font;
  let left = size;
  row.charts.forEach(({ canvas }, chart) => {
    for (const { text, of, x, line } of row.legends[chart].places) {
      const y = top + (3 + 1.5 * line) * size;
      context.fillStyle = of === undefined ? color("--page") : color(of);
      context.fillRect(left + x, y - 0.75 * size, 0.8 * size, 0.8 * size);
      context.fillStyle = color("--ink");
      context.fillText(seen(text), left + x + (of === undefined ? 0 : 1.2 * size), y);
    }
    context.drawImage(canvas, left, top + row.head);
    left += canvas.width;
  });
}

/**
 * @param {string} name
 * @param {Iterable<(string | number)[]>} rows
 */
export function exportCsv(name, rows) {
  const lines = [];
  for (const row of rows) lines.push(row.map(cell).join(",") + "\r\n");
  download(`${harmless(name)}.csv`, new Blob(lines, { type: "text/csv" }));
}

/** @param {string | number} value what is not known is empty */
function cell(value) {
  if (typeof value === "number") return Number.isFinite(value) ? String(Number(value.toPrecision(9))) : "";
  // A spreadsheet would run a text that looks like a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
