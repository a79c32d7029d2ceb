// What is kept of a race: the intervals of every node, and what was marked during it.
// @ts-check

import { Ring } from "./ring.js";

/** So many intervals of a node are kept: eleven hours at one a second. */
const INTERVALS = 40_000;
/** So many marks are drawn and listed. */
const MARKS = 200;

/**
 * @typedef {{name: string, unit: string}} Column
 * @typedef {{
 *   name: string, model: string | null, what: string, about: [string, string][], ring: Ring, color: string, failure: string,
 * }} Node
 * @typedef {{number: number, node: number, at: number, text: string}} Mark
 * @typedef {{
 *   node: number, at: number, length: number, values: (number | null)[], marks?: string[], failed?: string,
 * }} Interval as the server tells it
 */

export class Nodes {
  /**
   * @param {{
   *   id: string, began: string, nodes: string[], cpu_models?: (string | null)[], columns: Column[],
   *   about?: {what: string, about: [string, string][]}[],
   * }} race
   */
  constructor({ id, began, nodes, cpu_models: models = [], columns, about = [] }) {
    this.id = id;
    this.began = began;
    this.columns = columns;
    /** @type {Node[]} */
    this.all = nodes.map((name, place) => ({
      name,
      model: models[place] ?? null,
      what: about[place]?.what ?? "",
      about: about[place]?.about ?? [],
      ring: new Ring(INTERVALS, columns.length),
      color: `--series-${place % 6}`,
      failure: "",
    }));
    /** @type {Mark[]} */
    this.marks = [];
    this.marked = 0;
    this.received = 0;
    this.lastId = -Infinity;
  }

  /**
   * Keeps an interval; false where it is known already, because the connection began anew.
   * @param {Interval} it
   * @param {string} id
   */
  take({ node: place, at, length, values, marks = [], failed }, id) {
    const number = Number(id);
    if (id !== "" && number <= this.lastId) return false;
    if (id !== "") this.lastId = number;
    const node = this.all[place];
    if (node === undefined) return false;
    this.received += 1;
    const note = marks.length > 0 || failed ? { marks, failed } : undefined;
    node.ring.push(at, at + length, failed ? [] : values, false, note);
    for (const text of marks) this.#mark(place, at, text);
    // A node that goes on failing says so once.
    if (failed && failed !== node.failure) this.#mark(place, at, `no values: ${failed}`);
    node.failure = failed ?? "";
    return true;
  }

  /**
   * @param {number} node
   * @param {number} at
   * @param {string} text
   */
  #mark(node, at, text) {
    this.marked += 1;
    this.marks.push({ number: this.marked, node, at, text: text.replaceAll("->", "→") });
    if (this.marks.length > MARKS) this.marks.shift();
  }

  /** All of the time that is kept. */
  extent() {
    const rings = this.all.map((it) => it.ring).filter((it) => it.size > 0);
    if (rings.length === 0) return { from: 0, to: 0 };
    return {
      from: Math.min(...rings.map((it) => it.from(0))),
      to: Math.max(...rings.map((it) => it.to(it.size - 1))),
    };
  }

  /** How often a node's intervals were not one behind the other. */
  gaps() {
    return this.all.reduce((sum, it) => sum + it.ring.gaps, 0);
  }

  /** Intervals that made room for later ones. */
  dropped() {
    return this.all.reduce((sum, it) => sum + it.ring.dropped, 0);
  }

  /** Every interval that is kept, node by node. */
  *rows() {
    const heads = this.columns.map(({ name, unit }) => `${name}, ${unit}`);
    yield ["node", "at, s", "length, s", ...heads, "marks", "failed"];
    for (const { name, ring } of this.all) {
      for (let index = 0; index < ring.size; index += 1) {
        const { marks = [], failed = "" } = ring.note(index) ?? {};
        const values = this.columns.map((_, column) => ring.value(column, index));
        const length = ring.to(index) - ring.from(index);
        yield [name, ring.from(index), length, ...values, marks.join("; "), failed];
      }
    }
  }
}
