// A document of the server, set as a page: what `fullclock` prints, with the roles that its words have.
// @ts-check

import { make } from "./dom.js";
import { tight } from "./words.js";

/**
 * @typedef {[role: "plain" | "strong" | "quiet" | "code", words: string][]} Text
 * @typedef {{columns: {heading: string, is_number: boolean}[], rows: (Text | object)[][]}} Table
 * @typedef {{
 *   heading?: string, paragraph?: Text, note?: Text, label?: string, text?: Text, list?: Text[], code?: string, table?: Table,
 *   chart?: {title: string, about: string, values: Table | null}, details?: {summary: string, body: Block[]},
 *   item?: {severity: string, head: Text, body: Block[]},
 * }} Block one key, or a label and its text
 * @typedef {{title: string, verdict: string | null, blocks: Block[]}} Document
 */

/**
 * What stands in a document besides its verdict.
 * @param {Block[]} blocks
 * @returns {Element[]}
 */
export function typeset(blocks) {
  /** @type {Element[]} */
  const placed = [];
  for (const block of blocks) {
    if (block.label === undefined) {
      placed.push(...whole(block));
      continue;
    }
    // Neighbouring labelled lines are one list.
    let list = placed[placed.length - 1];
    if (list?.tagName !== "DL") placed.push((list = make("dl")));
    // Several lines of one name have it once.
    const names = list.querySelectorAll("dt");
    if (block.label !== "" && names[names.length - 1]?.textContent !== block.label) {
      list.append(make("dt", {}, block.label));
    }
    list.append(make("dd", {}, ...spans(block.text ?? [])));
  }
  return placed;
}

/**
 * @param {Block} block any but a labelled line
 * @returns {Element[]}
 */
function whole({ heading, paragraph, note, list, code, table: rows, chart, details, item }) {
  if (heading !== undefined) return [make("h2", {}, heading)];
  if (paragraph !== undefined) return [make("p", {}, ...spans(paragraph))];
  if (note !== undefined) return [make("p", { className: "quiet" }, ...spans(note))];
  if (list !== undefined) return [make("ul", {}, ...list.map((it) => make("li", {}, ...spans(it))))];
  if (code !== undefined) return [make("pre", { tabIndex: 0 }, make("code", {}, code))];
  if (rows !== undefined) return [tableOf(rows)];
  if (chart !== undefined) return chartOf(chart);
  if (details !== undefined) return [make("details", {}, make("summary", {}, details.summary), ...typeset(details.body))];
  if (item === undefined) return [];
  const head = make("h3", {}, make("span", { className: "severity" }, item.severity), " ", ...spans(item.head));
  return [make("section", { className: `finding ${item.severity}` }, head, ...typeset(item.body))];
}

/**
 * The values of a chart; nothing without them.
 * @param {{title: string, about: string, values: Table | null}} chart
 */
function chartOf({ title, about, values }) {
  return values === null ? [] : [make("h3", {}, title), make("p", { className: "quiet" }, about), tableOf(values)];
}

/** @param {Table} table */
function tableOf({ columns, rows }) {
  const heads = columns.map((it) => it.heading);
  const cells = rows.map((row) => row.map((it) => (Array.isArray(it) ? spans(it) : [])));
  return table("", heads, cells, columns.map((it) => it.is_number));
}

/** @type {Record<string, [string, string]>} the element of each role, and its class */
const ROLES = { strong: ["strong", ""], quiet: ["span", "quiet"], code: ["code", ""] };

/**
 * @param {Text} text
 * @returns {(string | Element)[]}
 */
function spans(text) {
  return text.map(([role, words]) => {
    const [name, className] = ROLES[role] ?? ["", ""];
    return name === "" ? tight(words) : make(name, { className }, role === "code" ? words : tight(words));
  });
}

/**
 * A table that scrolls where it is too wide.
 * @param {string} caption empty where what stands before the table says what is in it
 * @param {string[]} heads
 * @param {(string | Element)[][][]} rows what is in each cell
 * @param {boolean[]} [areNumbers] of each column
 */
export function table(caption, heads, rows, areNumbers = []) {
  const className = (/** @type {number} */ place) => (areNumbers[place] ? "number" : "");
  const cell = (/** @type {(string | Element)[]} */ it, /** @type {number} */ place) => {
    const name = place === 0 ? "th" : "td";
    return make(name, { className: className(place), scope: place === 0 ? "row" : undefined }, ...it);
  };
  const head = heads.map((it, place) => make("th", { scope: "col", className: className(place) }, tight(it)));
  return make(
    "div",
    { className: "scroll", role: "region", tabIndex: 0, "aria-label": caption || heads.filter(Boolean).join(", ") },
    make(
      "table",
      {},
      ...(caption === "" ? [] : [make("caption", { className: "unseen" }, caption)]),
      ...(heads.some(Boolean) ? [make("thead", {}, make("tr", {}, ...head))] : []),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell)))),
    ),
  );
}
