// Lines and stacked bands of intervals. Where a pixel has many intervals, none of their extremes is lost.
// @ts-check

import { color } from "./theme.js";

/** @typedef {import("./plot.js").Plot} Plot */
/** @typedef {import("./ring.js").Ring} Ring */
/** @typedef {(index: number) => number} ValueAt */
/** @typedef {{valueAt: ValueAt, color: string}} Part */

/**
 * The least and the greatest value of those in a range; no numbers where none is known.
 * @param {Ring} ring
 * @param {{from: number, to: number}} range
 * @param {ValueAt} valueAt
 */
export function extremes(ring, range, valueAt) {
  const { first, end } = ring.within(range);
  let low = Infinity;
  let high = -Infinity;
  for (let index = first; index < end; index += 1) {
    const value = valueAt(index);
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { low, high };
}

/**
 * @param {Ring} ring
 * @param {Plot} plot
 */
function shown(ring, plot) {
  const { first, end } = ring.within(plot.told);
  return { first, end, isDense: end - first > plot.width * plot.ratio };
}

/**
 * A step for each interval; not known, or lost, is no line.
 * @param {CanvasRenderingContext2D} context
 * @param {Plot} plot
 * @param {Ring} ring
 * @param {ValueAt} valueAt
 * @param {{color: string, dash?: number[]}} look
 */
export function line(context, plot, ring, valueAt, look) {
  context.beginPath();
  const { first, end, isDense } = shown(ring, plot);
  (isDense ? denseLine : steps)(context, plot, ring, valueAt, first, end);
  context.strokeStyle = color(look.color);
  context.lineWidth = isDense ? 1 : 1.75;
  context.lineJoin = "round";
  context.setLineDash(look.dash ?? []);
  context.stroke();
  context.setLineDash([]);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Plot} plot
 * @param {Ring} ring
 * @param {ValueAt} valueAt
 * @param {number} first
 * @param {number} end
 */
function steps(context, plot, ring, valueAt, first, end) {
  let before = NaN;
  for (let index = first; index < end; index += 1) {
    const value = valueAt(index);
    if (ring.isBroken(index)) before = NaN;
    const [x, y] = [plot.x(ring.from(index)), plot.y(value)];
    if (Number.isNaN(before)) {
      context.moveTo(x, y);
    } else if (!Number.isNaN(y)) {
      // The moment between two intervals belongs to the first: a step is upright.
      context.lineTo(x, before);
      context.lineTo(x, y);
    }
    if (!Number.isNaN(y)) context.lineTo(plot.x(ring.to(index)), y);
    before = y;
  }
}

/**
 * A column of pixels at a time: from its first value over the least and the greatest to its last.
 * @param {CanvasRenderingContext2D} context
 * @param {Plot} plot
 * @param {Ring} ring
 * @param {ValueAt} valueAt
 * @param {number} start
 * @param {number} end
 */
function denseLine(context, plot, ring, valueAt, start, end) {
  let isDown = false;
  let column = -Infinity;
  let [first, low, high, last] = [NaN, Infinity, -Infinity, NaN];
  const flush = () => {
    if (Number.isNaN(first)) return;
    const x = column / plot.ratio;
    if (isDown) context.lineTo(x, plot.y(first));
    else context.moveTo(x, plot.y(first));
    context.lineTo(x, plot.y(low));
    context.lineTo(x, plot.y(high));
    // The half pixel shows a value that has no neighbour: a line without a length is not drawn.
    context.lineTo(x + 0.5, plot.y(last));
    isDown = true;
    [first, low, high, last] = [NaN, Infinity, -Infinity, NaN];
  };
  for (let index = start; index < end; index += 1) {
    const value = valueAt(index);
    const place = Math.floor(plot.x(ring.from(index)) * plot.ratio);
    const isOff = Number.isNaN(value);
    if (place !== column || isOff || ring.isBroken(index)) flush();
    if (isOff || ring.isBroken(index)) isDown = false;
    column = place;
    if (isOff) continue;
    if (Number.isNaN(first)) first = value;
    low = Math.min(low, value);
    high = Math.max(high, value);
    last = value;
  }
  flush();
}

/**
 * Parts on top of each other, the first at the bottom. A pixel with many intervals shows the one that ranks highest, as
 * it was: parts of different moments would sum to what never happened.
 * @param {CanvasRenderingContext2D} context
 * @param {Plot} plot
 * @param {Ring} ring
 * @param {Part[]} parts what is not known of one counts as none; below 0 is not drawn
 * @param {ValueAt} rank NaN where nothing at all is known
 */
export function bands(context, plot, ring, parts, rank) {
  const cells = cellsOf(plot, ring, rank);
  const sums = cells.map(({ index }) => {
    let sum = 0;
    return parts.map((part) => (sum += Math.max(0, part.valueAt(index) || 0)));
  });
  // From the highest down, each area whole: neighbours that only touch would let the page shine through.
  for (let part = parts.length - 1; part >= 0; part -= 1) {
    context.fillStyle = color(parts[part].color);
    context.beginPath();
    for (let from = 0; from < cells.length; ) from = area(context, plot, cells, from, (cell) => sums[cell][part]);
    context.fill();
  }
}

/**
 * What is drawn between two edges: an interval, or a column of pixels.
 * @typedef {{left: number, right: number, index: number, rank: number, isStart: boolean}} Cell
 */

/**
 * @param {Plot} plot
 * @param {Ring} ring
 * @param {ValueAt} rank
 */
function cellsOf(plot, ring, rank) {
  const { first, end, isDense } = shown(ring, plot);
  /** @type {Cell[]} */
  const cells = [];
  let isStart = true;
  for (let index = first; index < end; index += 1) {
    const here = rank(index);
    if (ring.isBroken(index)) isStart = true;
    if (Number.isNaN(here)) {
      isStart = true;
      continue;
    }
    const [from, to] = [ring.from(index), ring.to(index)];
    const [left, right] = isDense ? column(plot, from) : [plot.x(from), plot.x(to)];
    const before = cells[cells.length - 1];
    if (before !== undefined && isDense && before.left === left) {
      if (here > before.rank) Object.assign(before, { index, rank: here });
    } else {
      cells.push({ left, right, index, rank: here, isStart });
    }
    isStart = false;
  }
  return cells;
}

/**
 * The column of pixels of a moment.
 * @param {Plot} plot
 * @param {number} time
 */
function column(plot, time) {
  const place = Math.floor(plot.x(time) * plot.ratio);
  return [place / plot.ratio, (place + 1) / plot.ratio];
}

/**
 * The area below a run of cells without a gap; the first cell of the next run.
 * @param {CanvasRenderingContext2D} context
 * @param {Plot} plot
 * @param {Cell[]} cells
 * @param {number} from
 * @param {(cell: number) => number} valueOf
 */
function area(context, plot, cells, from, valueOf) {
  let cell = from;
  context.moveTo(cells[from].left, plot.y(0));
  do {
    const y = plot.y(valueOf(cell));
    context.lineTo(cells[cell].left, y);
    context.lineTo(cells[cell].right, y);
    cell += 1;
  } while (cell < cells.length && !cells[cell].isStart);
  context.lineTo(cells[cell - 1].right, plot.y(0));
  context.closePath();
  return cell;
}
