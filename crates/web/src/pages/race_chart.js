// The charts of a race: which there are, and each of them for nodes side by side or in one.
// @ts-check

import { make, seen } from "./dom.js";
import { FIGURES } from "./panel.js";
import { Figures } from "./figures.js";
import { Plot, pointer, timeAxis, valueAxis } from "./plot.js";
import { roundScale } from "./scale.js";
import { Sheet } from "./sheet.js";
import { color, letter } from "./theme.js";
import { bands, extremes, line } from "./trace.js";
import { Values } from "./values.js";
import { number, quantity, sinceBegin } from "./words.js";

/** @typedef {import("./nodes.js").Nodes} Nodes */
/** @typedef {import("./nodes.js").Node} Node */
/** @typedef {import("./plot.js").Range} Range */

/**
 * A chart of one column, or of several that are parts of one time.
 * @typedef {{name: string, title: string, columns: string[], parts?: string[], isFromZero: boolean}} Kind
 * @typedef {{range: Range, told: Range, limit: number, cursor: number | null, drag: Range | null}} Frame
 * @typedef {{
 *   frame: () => Frame, redraw: () => void, point: (time: number | null) => void, drag: (range: Range | null) => void,
 *   choose: (from: number, to: number) => void, all: () => void,
 * }} Desk
 */

/** @type {Kind[]} */
const KINDS = [
  { name: "commits", title: "Commits", columns: ["commits"], isFromZero: true },
  { name: "log-writes", title: "Log writes", columns: ["log writes"], isFromZero: true },
  {
    name: "write-time",
    title: "Time of a log write",
    columns: ["log write, in the call", "log write, waiting for a CPU"],
    parts: ["in the call", "waiting for a CPU"],
    isFromZero: true,
  },
  { name: "clock", title: "Clock", columns: ["clock"], isFromZero: false },
  {
    name: "session-wait",
    title: "Run-queue wait per commit",
    columns: ["commit, waiting for a CPU"],
    isFromZero: true,
  },
  {
    name: "writer-wait",
    title: "Run-queue wait of the log writer",
    columns: ["log writer, waiting for a CPU"],
    isFromZero: true,
  },
];
/** Of a result that is no race: so many of its columns have a chart. */
const COLUMNS = 8;
/** Time in the call, and on top of it the wait for a CPU. */
const PARTS = ["--write-call", "--write-wait"];
/** A clock that moves by less is drawn flat. */
const LEAST_CLOCK_SPAN = 0.04;
/** Room that the words of a mark need, in letters. */
const MARK_ROOM = 5;

/**
 * The charts that the columns of a result allow.
 * @param {Nodes} nodes
 * @returns {Kind[]}
 */
export function kindsOf(nodes) {
  const has = (/** @type {string} */ name) => nodes.columns.some((it) => it.name === name);
  if (KINDS.some((kind) => kind.name !== "clock" && kind.columns.some(has))) return KINDS;
  const columns = nodes.columns.slice(0, COLUMNS);
  return columns.map(({ name }, place) => {
    return { name: `column-${place}`, title: name, columns: [name], isFromZero: name !== "clock" };
  });
}

/** A chart with all of its nodes. */
export class RaceChart {
  /**
   * @param {Nodes} nodes
   * @param {Kind} kind
   * @param {Desk} desk
   */
  constructor(nodes, kind, desk) {
    this.nodes = nodes;
    this.kind = kind;
    this.desk = desk;
    this.places = kind.columns.map((name) => nodes.columns.findIndex((it) => it.name === name));
    this.unit = nodes.columns[this.places.find((it) => it >= 0) ?? -1]?.unit ?? "";
    this.note = make("p", { className: "missing", hidden: true }, "Unknown in every interval shown.");
    this.row = make("div", { className: "nodes" });
    this.figures = new Figures(kind.title, () => this.#table());
    const title = make("h2", { id: `${kind.name}-title` }, kind.title);
    const labelled = { className: "chart", "aria-labelledby": title.id };
    this.element = make("section", labelled, title, this.note, this.row, this.figures.element);
    /** @type {Panel[]} */
    this.panels = [];
  }

  /** @param {boolean} isOverlaid */
  layOut(isOverlaid) {
    for (const panel of this.panels) panel.sheet.close();
    const groups = isOverlaid ? [this.nodes.all] : this.nodes.all.map((it) => [it]);
    this.panels = groups.map((group) => new Panel(this, group));
    this.row.replaceChildren(...this.panels.map((it) => it.element));
    this.row.classList.toggle("beside", groups.length > 1);
  }

  /** @param {Frame} frame */
  draw(frame) {
    const all = this.nodes.all.map((node) => extremes(node.ring, frame.told, this.total(node)));
    const low = Math.min(...all.map((it) => it.low));
    const high = Math.max(...all.map((it) => it.high));
    const isEmpty = high === -Infinity;
    const isWaiting = this.nodes.received === 0;
    const whole = { from: -Infinity, to: Infinity };
    // What was known once keeps its place, also where it is not shown.
    this.element.hidden = isEmpty && !isWaiting
      && this.nodes.all.every((node) => extremes(node.ring, whole, this.total(node)).high === -Infinity);
    if (this.element.hidden) return;
    this.note.hidden = !isEmpty || isWaiting;
    this.row.hidden = isEmpty && !isWaiting;
    const scale = this.#scale(isEmpty ? 0 : low, isEmpty ? 1 : high);
    for (const panel of this.panels) panel.draw(frame, scale);
    this.figures.update();
  }

  /**
   * One scale for all nodes.
   * @param {number} low
   * @param {number} high
   */
  #scale(low, high) {
    if (this.kind.isFromZero) return roundScale(0, high > 0 ? high : 1);
    const lack = Math.max(0, high * LEAST_CLOCK_SPAN - (high - low)) / 2;
    return roundScale(low - lack, high + lack);
  }

  /**
   * A part of the value; NaN where it is not known.
   * @param {Node} node
   * @param {number} part
   */
  part({ ring }, part) {
    const column = this.places[part];
    return (/** @type {number} */ index) => (column < 0 ? NaN : ring.value(column, index));
  }

  /**
   * The whole value: the sum of the parts that are known.
   * @param {Node} node
   */
  total(node) {
    const parts = this.places.map((_, part) => this.part(node, part));
    if (parts.length === 1) return parts[0];
    const [first, second] = parts;
    return (/** @type {number} */ index) => {
      const [one, other] = [first(index), second(index)];
      if (Number.isNaN(one)) return other;
      return Number.isNaN(other) ? one : one + other;
    };
  }

  #table() {
    const { range, limit } = this.desk.frame();
    const parts = this.kind.parts ?? [this.kind.title];
    const heads = this.nodes.all.flatMap((node) => parts.map((it) => `${node.name}: ${it}, ${this.unit}`));
    const end = Math.min(range.to, limit);
    const lasts = this.nodes.all.map((node) => node.ring.lastBy(end));
    const lead = this.nodes.all.findIndex((_, place) => lasts[place] === Math.max(...lasts));
    const rows = [];
    for (let back = 0; back < FIGURES && lasts[lead] - back >= 0; back += 1) {
      const at = this.nodes.all[lead].ring.to(lasts[lead] - back);
      const cells = this.nodes.all.flatMap((node) => {
        const index = node.ring.lastBy(at + LATE_S);
        const isThere = index >= 0 && node.ring.to(index) > at - LATE_S;
        return parts.map((_, part) => (isThere ? number(this.part(node, part)(index)) : "no interval"));
      });
      rows.push([sinceBegin(at), ...cells]);
    }
    return { heads: ["since it began", ...heads], rows };
  }
}

/** Intervals of nodes that end within this are one row of the figures. */
const LATE_S = 0.05;

/** A canvas with one node or all of them. */
class Panel {
  /**
   * @param {RaceChart} raceChart
   * @param {Node[]} group
   */
  constructor(raceChart, group) {
    const { kind, desk } = raceChart;
    this.raceChart = raceChart;
    this.group = group;
    const names = group.map((it) => it.name).join(", ");
    this.canvas = make("canvas", { role: "img", "data-chart": kind.name, "data-node": names });
    this.values = new Values(`${kind.title}, ${names}: values`);
    this.element = make("div", { className: "lane" }, this.values.element, this.canvas);
    /** @type {Plot | null} */
    this.plot = null;
    const time = (/** @type {number} */ x) => this.plot?.time(x) ?? 0;
    this.sheet = new Sheet(this.canvas, {
      changed: desk.redraw,
      pointed: (place) => desk.point(place === null ? null : time(place.x)),
      dragging: (from, to) => desk.drag({ from: time(from), to: time(to) }),
      dragged: (from, to) => desk.choose(time(from), time(to)),
      dropped: () => desk.drag(null),
      doubled: desk.all,
    });
  }

  /**
   * @param {Frame} frame
   * @param {import("./plot.js").Scale} scale
   */
  draw(frame, scale) {
    const context = this.sheet.begin();
    if (context === null) return;
    const plot = new Plot(this.sheet, frame.range, scale, frame.told);
    this.plot = plot;
    valueAxis(context, plot, axisUnit(this.raceChart.unit, scale.high));
    plot.clipped(context, () => {
      for (const node of this.group) this.#trace(context, plot, node);
    });
    marks(context, plot, this.#marks(frame), this.raceChart.nodes);
    if (!this.#hasValues(frame)) nothing(context, plot);
    timeAxis(context, plot, sinceBegin);
    pointer(context, plot, frame);
    this.#showValues(frame);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Plot} plot
   * @param {Node} node
   */
  #trace(context, plot, node) {
    const { raceChart } = this;
    const total = raceChart.total(node);
    if (raceChart.kind.parts === undefined) {
      line(context, plot, node.ring, total, node);
    } else if (this.group.length === 1) {
      const parts = PARTS.map((it, part) => ({ color: it, valueAt: raceChart.part(node, part) }));
      bands(context, plot, node.ring, parts, total);
    } else {
      line(context, plot, node.ring, total, node);
      line(context, plot, node.ring, raceChart.part(node, 0), { ...node, dash: [2, 3] });
    }
  }

  /** @param {Frame} frame */
  #hasValues({ told }) {
    const { raceChart } = this;
    return this.group.some((it) => extremes(it.ring, told, raceChart.total(it)).high > -Infinity);
  }

  /** @param {Frame} frame */
  #marks({ limit }) {
    const { all, marks } = this.raceChart.nodes;
    return marks.filter((it) => it.at <= limit && this.group.includes(all[it.node]));
  }

  /** @param {Frame} frame */
  #showValues({ range, limit, cursor }) {
    const { raceChart } = this;
    const parts = raceChart.kind.parts;
    const entries = this.group.flatMap((node) => {
      const index = cursor === null ? node.ring.lastBy(Math.min(range.to, limit)) : node.ring.at(cursor);
      const value = (/** @type {import("./trace.js").ValueAt} */ valueAt) =>
        index < 0 ? "–" : quantity(valueAt(index), raceChart.unit);
      if (parts === undefined) return [{ name: node.name, color: node.color, value: value(raceChart.total(node)) }];
      const isAlone = this.group.length === 1;
      const looks = isAlone ? ["", ""] : [" (dotted)", " (on top of it)"];
      return parts.map((part, place) => ({
        name: `${node.name}, ${part}${looks[place]}`,
        color: isAlone ? PARTS[place] : node.color,
        value: value(raceChart.part(node, place)),
      }));
    });
    this.values.update(entries);
    this.canvas.setAttribute("aria-label", `${raceChart.kind.title}: ${this.values.words()}`);
  }
}

/**
 * Microseconds are labelled as milliseconds where there are many.
 * @param {string} unit
 * @param {number} high
 */
function axisUnit(unit, high) {
  if (unit === "us") return high >= 2000 ? { unit: "ms", divisor: 1000 } : { unit: "µs" };
  return { unit };
}

/**
 * A line for each moment, with the numbers that its marks have in the list below the charts, and their words where they have
 * room.
 * @param {CanvasRenderingContext2D} context
 * @param {Plot} plot
 * @param {import("./nodes.js").Mark[]} all
 * @param {Nodes} nodes
 */
function marks(context, plot, all, nodes) {
  const places = moments(plot, all.filter((it) => it.at >= plot.range.from && it.at <= plot.range.to));
  context.textAlign = "left";
  places.forEach(({ x, marks: here }, place) => {
    const room = (places[place + 1]?.x ?? plot.right) - x - letter();
    context.fillStyle = color(nodes.all[here[0].node].color);
    for (let y = plot.top; y < plot.bottom; y += 6) context.fillRect(x, y, 1.5, 4);
    const numbers = here.map((it) => it.number).join(", ");
    if (room < context.measureText(numbers).width) return;
    // Of a path its last name: there is little room.
    const words = here.map((it) => `${it.number} ${it.text.replace(/\S*\/(?=[^/\s]+:)/, "")}`).join("; ");
    const text = room < here.length * MARK_ROOM * letter() ? numbers : fitting(context, words, room);
    // Above the chart, so that they hide no value.
    const y = plot.top - 0.8 * letter();
    context.fillStyle = color("--mark");
    context.fillRect(x + 2, y - 0.7 * letter(), context.measureText(text).width + 0.5 * letter(), 1.4 * letter());
    context.fillStyle = color("--ink");
    context.fillText(seen(text), x + 2 + 0.25 * letter(), y);
  });
}

/**
 * Marks by the pixel they stand on.
 * @param {Plot} plot
 * @param {import("./nodes.js").Mark[]} all in the order of their numbers
 */
function moments(plot, all) {
  /** @type {Map<number, import("./nodes.js").Mark[]>} */
  const found = new Map();
  for (const mark of all) {
    const x = Math.round(plot.x(mark.at));
    found.set(x, [...(found.get(x) ?? []), mark]);
  }
  return [...found].map(([x, marks]) => ({ x, marks })).sort((a, b) => a.x - b.x);
}

/**
 * Words in place of a line: beside other nodes' charts an empty one would look like zero.
 * @param {CanvasRenderingContext2D} context
 * @param {Plot} plot
 */
function nothing(context, plot) {
  context.fillStyle = color("--quiet");
  context.textAlign = "center";
  context.fillText("unknown here", plot.left + plot.width / 2, plot.top + plot.height / 2);
}

/**
 * As much of a text as there is room for.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} room
 */
function fitting(context, text, room) {
  const width = context.measureText(text).width;
  if (width <= room) return text;
  return `${text.slice(0, Math.max(1, Math.floor((text.length * room) / width) - 1))}…`;
}
