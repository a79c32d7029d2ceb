// Who is ahead while a race runs, and what differs most: the headline until there is a verdict.
// @ts-check

import { mean } from "./headline.js";
import { count, quantity } from "./words.js";

/** @typedef {import("./nodes.js").Nodes} Nodes */

/** What is said is of so long. */
const LAST_S = 10;
/** Rates that differ by less are called level: a verdict takes statistics, and comes at the end. */
const LEVEL = 0.03;
/** A time that is longer by less than this share of it explains nothing. */
const LEAST_DIFFERENCE = 0.2;

/**
 * Who is ahead, and the time that is most longer on the last node than on the first.
 * @param {Nodes} nodes
 * @param {number} to the last moment that is shown
 */
export function standing(nodes, to) {
  const range = { from: to - LAST_S, to };
  const column = nodes.columns.findIndex((it) => it.name === "commits");
  const rated = nodes.all.map((node) => ({ node, rate: meanOf(node, column, range) }));
  const sorted = rated.filter((it) => !Number.isNaN(it.rate)).sort((a, b) => b.rate - a.rate);
  const [first, last] = [sorted[0], sorted[sorted.length - 1]];
  if (column < 0 || sorted.length < 2) return { headline: `Intervals of ${count(nodes.all.length, "node")}`, why: "" };
  const rates = sorted.map(({ node, rate }) => `${node.name} ${Math.round(rate)}`).join(", ");
  const isLevel = last.rate > first.rate * (1 - LEVEL);
  const head = isLevel ? "The nodes are level" : `${first.node.name} is ahead`;
  const why = isLevel ? "" : difference(nodes, first.node, last.node, range);
  return { headline: `${head}: ${rates} commits/s in the last ${LAST_S} s`, why };
}

/**
 * @param {Nodes} nodes
 * @param {Nodes["all"][0]} first
 * @param {Nodes["all"][0]} last
 * @param {import("./plot.js").Range} range
 */
function difference(nodes, first, last, range) {
  const times = nodes.columns.map(({ name, unit }, column) => {
    const [there, here] = [meanOf(first, column, range), meanOf(last, column, range)];
    return { name, unit, there, here, by: here - there };
  });
  const known = times.filter(({ unit, here, by }) => unit === "us" && by > LEAST_DIFFERENCE * here);
  const most = known.reduce((a, b) => (b.by > a.by ? b : a), known[0]);
  if (most === undefined) return "";
  const { name, unit, there, here } = most;
  return `What takes longer: ${name}, ${quantity(here, unit)} on ${last.name}, ${quantity(there, unit)} on ${first.name}.`;
}

/**
 * @param {Nodes["all"][0]} node
 * @param {number} column
 * @param {import("./plot.js").Range} range
 */
function meanOf({ ring }, column, range) {
  const { first, end } = ring.within(range);
  if (column < 0) return NaN;
  return mean(Array.from({ length: end - first }, (_, place) => ring.value(column, first + place)));
}
