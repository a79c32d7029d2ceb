// The History page: results that were kept, two of them compared.
// @ts-check

import { byId, make, setText } from "./dom.js";
import { announce, ask, machine, ready, showConnection } from "./page.js";
import { count, quantity } from "./words.js";

/** An experiment has dozens of arms. */
const ARMS = 4;
const LIMIT = 100;

/** Ids of what is compared, in the order of choosing; two at most. @type {string[]} */
let chosen = [];
/** How many arms each result has. @type {Map<string, number>} */
const arms = new Map();

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
 * @param {any[]} results
 * @param {string[]} unreadable
 */
function fill(results, unreadable) {
  for (const { id, arms: all } of results) arms.set(id, all.length);
  const newest = results.length >= LIMIT ? "The newest " : "";
  const words = results.length === 0 ? "No result is kept. `fullclock bench` and `fullclock race` keep theirs." : "";
  setText(byId("summary"), words || `${newest}${count(results.length, "result")}, the newest first.`);
  byId("results").hidden = results.length === 0;
  byId("rows").replaceChildren(...results.map(row));
  byId("unreadable").hidden = unreadable.length === 0;
  byId("unreadable-list").replaceChildren(...unreadable.map((it) => make("li", {}, it)));
}

/** @param {any} it an entry of the list */
function row(it) {
  const box = make("input", { type: "checkbox", value: it.id, "aria-label": `Choose ${it.id}` });
  box.addEventListener("change", () => choose(it.id, box.checked));
  return make(
    "tr",
    { "data-id": it.id },
    make("td", {}, box),
    make("th", { scope: "row" }, ...named(it)),
    make("td", {}, ...armList(it.arms, it.is_live)),
    make("td", {}, it.cpu_model ?? "unknown", make("span", { className: "beside quiet" }, it.kernel ?? "")),
    make("td", {}, doubtWords(it.doubts)),
  );
}

/** @param {any} it */
function named({ id, began, is_race: isRace, is_live: isLive, is_complete: isComplete }) {
  const race = { href: `/race?id=${encodeURIComponent(id)}`, "aria-label": `Race page of ${id}` };
  const links = isRace ? [make("a", race, "Race page")] : [];
  return [make("code", {}, id), when(began, isRace ? "race" : "", state(isLive, isComplete)), ...links];
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
  const all = [began.replace("T", " ").replace("Z", " UTC"), ...words].filter(Boolean);
  return make("span", { className: "beside quiet" }, all.join(", "));
}

/**
 * @param {any[]} all
 * @param {boolean} isLive
 */
function armList(all, isLive) {
  const shown = all.slice(0, ARMS).map((arm) => make("span", { className: "beside" }, armWords(arm, isLive)));
  const rest = all.length - shown.length;
  if (rest > 0) shown.push(make("span", { className: "beside quiet" }, `and ${count(rest, "more arm")}`));
  return shown;
}

/**
 * @param {any} arm
 * @param {boolean} isLive its trials are not counted before its end
 */
function armWords({ name, workload, trials, figure }, isLive) {
  const head = name === workload || name === "" ? workload : `${name}: ${workload}`;
  if (isLive) return head;
  if (figure === null) return `${head}, ${count(trials, "trial")}, no figure`;
  const { name: what, unit, median, interval } = figure;
  const between = interval === null ? "" : ` (${quantity(interval.low, unit)} to ${quantity(interval.high, unit)})`;
  return `${head}, ${count(trials, "trial")}: median ${what} ${quantity(median, unit)}${between}`;
}

/** @param {{doubt: string, arm?: string}[]} doubts */
function doubtWords(doubts) {
  const words = doubts.map(({ doubt, arm }) => (arm === undefined ? doubt : `${doubt} (${arm})`));
  return [...new Set(words)].join(", ").replaceAll("-", " ") || "none";
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
  const isEnough = chosen.length === 2 || (isOne && (arms.get(a) ?? 0) > 1);
  byId("compare").disabled = !isEnough;
  const hint = isOne && !isEnough ? "It has one arm: choose another result to compare it with." : "";
  const words = b === undefined ? `The arms of ${a} among each other.` : `A is ${a}, B is ${b}.`;
  setText(byId("chosen"), chosen.length === 0 ? "Choose one result or two." : hint || words);
}

async function compare() {
  const [a, b] = chosen;
  const asked = new URLSearchParams(b === undefined ? { a } : { a, b });
  const place = byId("comparison");
  place.hidden = false;
  setText(byId("comparison-words"), "Comparing …");
  try {
    setText(byId("comparison-words"), (await ask(`/api/v1/compare?${asked}`)).text);
  } catch (error) {
    setText(byId("comparison-words"), `No comparison: ${/** @type {Error} */ (error).message}`);
  }
  announce("Compared.");
  place.scrollIntoView({ block: "nearest" });
}

byId("compare").addEventListener("click", compare);
machine();
list();
