// The History page: results that were kept, found and sorted, two of them compared.
// @ts-check

import { typeset } from "./document.js";
import { byId, make, sentence, setText } from "./dom.js";
import { announce, ask, machine, ready, showConnection } from "./page.js";
import { count, measured, shownMoment, tight } from "./words.js";

/** An experiment has dozens of variants. */
const VARIANTS = 4;
const LIMIT = 100;

/**
 * @typedef {{
 *   name: string, unit: string, typical: number, interval: {low: number, high: number} | null, confidence: number,
 * }} Figure
 * @typedef {{name: string, workload: string, what?: string, trials: number, figure: Figure | null}} Variant
 * @typedef {{
 *   id: string, began: string, arms: Variant[], cpu_model: string | null, kernel: string | null, doubt_names: string[],
 *   is_complete: boolean, is_race: boolean, is_live: boolean,
 * }} Entry
 */

/** Ids of what is compared, in the order of choosing; two at most. @type {string[]} */
let chosen = [];
/** @type {Entry[]} */
let entries = [];

async function list() {
  try {
    const [{ results, unreadable }, { studies }] = await Promise.all([
      ask(`/api/v1/results?limit=${LIMIT}`),
      ask("/api/v1/studies"),
    ]);
    showConnection("connected");
    fill(results, unreadable);
    byId("studies").hidden = studies.length === 0;
    byId("study-rows").replaceChildren(...studies.map(studyRow));
  } catch (error) {
    showConnection("gone");
    setText(byId("summary"), `Unknown which results there are: ${/** @type {Error} */ (error).message}`);
  }
  ready();
}

/**
 * @param {Entry[]} results
 * @param {string[]} unreadable
 */
function fill(results, unreadable) {
  entries = results;
  const newest = results.length >= LIMIT ? "The newest " : "";
  const last = results.length === 0 ? "" : `, the last of ${shownMoment(results[0].began)}`;
  const none = "No result is kept yet: `fullclock bench` and `fullclock race` keep theirs.";
  const head = results.length === 0 ? none : `${newest}${count(results.length, "result")}${last}`;
  byId("summary").replaceChildren(make("span", {}, ...sentence(head)));
  byId("results").hidden = results.length === 0;
  byId("unreadable").hidden = unreadable.length === 0;
  byId("unreadable-list").replaceChildren(...unreadable.map((it) => make("li", {}, it)));
  arrange();
}

/** Which results are shown. @type {Record<string, (entry: Entry) => boolean>} */
const KINDS = {
  all: () => true,
  race: (it) => it.is_race,
  bench: (it) => !it.is_race,
  certain: (it) => !it.is_live && it.doubt_names.length === 0,
};
/** What a variant ran; of a run that has not ended only its workload is known. */
const whatOf = (/** @type {Variant | undefined} */ it) => it?.what ?? it?.workload ?? "";
const trials = (/** @type {Entry} */ it) => it.arms.reduce((sum, arm) => sum + arm.trials, 0);
/** How they are sorted, where the newest come first. @type {Record<string, (a: Entry, b: Entry) => number>} */
const ORDERS = {
  newest: () => 0,
  oldest: (a, b) => a.began.localeCompare(b.began),
  workload: (a, b) => whatOf(a.arms[0]).localeCompare(whatOf(b.arms[0])),
  trials: (a, b) => trials(b) - trials(a),
  doubts: (a, b) => a.doubt_names.length - b.doubt_names.length,
};

/** Shows the results that are looked for, in the order that is chosen. */
function arrange() {
  /** @type {string[]} */
  const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const isFound = (/** @type {Entry} */ it) => {
    const text = [it.id, it.cpu_model, it.kernel, ...it.doubt_names, ...it.arms.map((arm) => `${arm.name} ${whatOf(arm)}`)];
    return words.every((word) => text.join(" ").toLowerCase().includes(word));
  };
  const found = entries.filter((it) => KINDS[byId("kind").value](it) && isFound(it));
  found.sort(ORDERS[byId("order").value]);
  byId("rows").replaceChildren(...found.map(row));
  setText(byId("found"), found.length === entries.length ? "" : `${found.length} of ${count(entries.length, "result")}`);
}

/** @param {Entry} it */
function row(it) {
  const isChosen = chosen.includes(it.id);
  const box = make("input", { type: "checkbox", value: it.id, "aria-label": `Choose ${it.id}`, checked: isChosen });
  box.addEventListener("change", () => choose(it.id, box.checked));
  return make(
    "tr",
    { "data-id": it.id, className: isChosen ? "chosen" : "" },
    make("td", {}, box),
    make("th", { scope: "row" }, ...named(it)),
    make("td", {}, ...variants(it)),
    make("td", {}, it.cpu_model ?? "unknown", make("span", { className: "beside quiet" }, it.kernel ?? "")),
    make("td", {}, it.is_live ? "" : it.doubt_names.join(", ") || "none"),
  );
}

/** @param {Entry} it */
function named({ id, began, is_race: isRace, is_live: isLive, is_complete: isComplete }) {
  const address = `id=${encodeURIComponent(id)}`;
  const race = { href: `/race?${address}`, "aria-label": `Race page of ${id}` };
  const links = isRace ? [make("a", race, "Race page")] : [];
  const name = make("a", { href: `/result?${address}` }, make("code", {}, id));
  return [name, when(began, isRace ? "race" : "", state(isLive, isComplete)), ...links];
}

/** @param {any} it a study */
function studyRow({ id, began, is_complete: isComplete, n_trials: trials, verdict, report }) {
  const link = { href: report, target: "_blank", rel: "noopener", "aria-label": `Report of ${id}, in a new tab` };
  return make(
    "tr",
    { "data-id": id },
    make("th", { scope: "row" }, make("code", {}, id), when(began, state(false, isComplete)), make("a", link, "Report")),
    make("td", {}, String(verdict ?? "none")),
    make("td", { className: "number" }, String(trials)),
  );
}

/**
 * @param {boolean} isLive
 * @param {boolean} isComplete
 */
function state(isLive, isComplete) {
  if (isLive) return "running now";
  return isComplete ? "" : "cut short";
}

/**
 * @param {string} began
 * @param {string[]} words
 */
function when(began, ...words) {
  return make("span", { className: "beside quiet" }, [shownMoment(began), ...words].filter(Boolean).join(", "));
}

/** @param {Entry} entry */
function variants({ arms, is_race: isRace, is_live: isLive }) {
  const shown = arms.slice(0, VARIANTS).map((arm) => variant(arm, arms.length > 1, isRace, isLive));
  const rest = arms.length - shown.length;
  if (rest > 0) shown.push(make("span", { className: "beside quiet" }, `and ${count(rest, "more variant")}`));
  return shown;
}

/**
 * @param {Variant} variant
 * @param {boolean} isNamed whether it has to be told from others
 * @param {boolean} isRace whether its trials are the intervals of a node
 * @param {boolean} isLive its trials are not counted before its end
 */
function variant(variant, isNamed, isRace, isLive) {
  const { name, trials, figure } = variant;
  const what = whatOf(variant);
  const head = isNamed ? [make("strong", {}, name), " "] : [];
  const words = isLive ? "" : figureWords(figure, count(trials, isRace ? "interval" : "trial"));
  return make(
    "span",
    { className: "beside" },
    ...head,
    make("code", { className: "clipped", title: what }, what),
    make("span", { className: "beside quiet" }, tight(words)),
  );
}

/**
 * @param {Figure | null} figure
 * @param {string} trials how many
 */
function figureWords(figure, trials) {
  if (figure === null) return `no value from ${trials}`;
  const { value, between } = measured(figure.typical, figure.unit, figure.interval);
  const interval = between === "" ? "" : ` (${between}, ${Math.round(100 * figure.confidence)} % interval)`;
  return `${figure.name} ${value}${interval}, from ${trials}`;
}

/**
 * The third that is chosen takes the place of the first.
 * @param {string} id
 * @param {boolean} isChosen
 */
function choose(id, isChosen) {
  chosen = isChosen ? [...chosen, id].slice(-2) : chosen.filter((it) => it !== id);
  for (const box of byId("rows").querySelectorAll("input")) {
    box.checked = chosen.includes(box.value);
    box.closest("tr").classList.toggle("chosen", box.checked);
  }
  const [a, b] = chosen;
  const isOne = chosen.length === 1;
  const hasSeveral = (entries.find((it) => it.id === a)?.arms.length ?? 0) > 1;
  const isEnough = chosen.length === 2 || (isOne && hasSeveral);
  byId("compare").disabled = !isEnough;
  const hint = isOne && !isEnough ? "It has one variant: choose another result to compare it with." : "";
  const words = b === undefined ? `The variants of ${a} with each other.` : `A is ${a}, B is ${b}.`;
  setText(byId("chosen"), chosen.length === 0 ? "Choose one result or two to compare." : hint || words);
}

async function compare() {
  const [a, b] = chosen;
  const asked = new URLSearchParams(b === undefined ? { a } : { a, b });
  const place = byId("comparison");
  place.hidden = false;
  setText(byId("comparison-words"), "Comparing …");
  try {
    const { document: { verdict, blocks } } = await ask(`/api/v1/compare?${asked}`);
    const head = make("p", { className: "verdict" }, tight(verdict ?? "No verdict"));
    byId("comparison-words").replaceChildren(head, ...typeset(blocks));
  } catch (error) {
    setText(byId("comparison-words"), `No comparison: ${/** @type {Error} */ (error).message}`);
  }
  announce("Compared.");
  place.scrollIntoView({ block: "nearest" });
}

for (const id of ["find", "kind", "order"]) byId(id).addEventListener("input", arrange);
byId("compare").addEventListener("click", compare);
machine();
list();
