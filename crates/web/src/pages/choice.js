// Which race is shown: what is kept, those that run now and races first.
// @ts-check

import { make } from "./dom.js";
import { ask } from "./page.js";

/** @typedef {{id: string, arms: {name: string}[], is_race: boolean, is_live: boolean}} Entry */

/** @returns {Promise<Entry[]>} the newest first */
export async function results() {
  return (await ask("/api/v1/results?limit=100")).results;
}

/**
 * Fails, with the server's words, where there is no such result.
 * @param {string} id
 */
export const look = (id) => ask(`/api/v1/results/${encodeURIComponent(id)}`);

/**
 * The newest race that runs, else the newest race, else what runs.
 * @param {Entry[]} entries
 * @returns {Entry | undefined}
 */
export function usual(entries) {
  const find = (/** @type {(entry: Entry) => boolean} */ holds) => entries.find(holds);
  return find((it) => it.is_race && it.is_live) ?? find((it) => it.is_race) ?? find((it) => it.is_live);
}

/**
 * Fills the list of a form.
 * @param {HTMLSelectElement} list
 * @param {Entry[]} entries
 * @param {string} chosen
 */
export function offer(list, entries, chosen) {
  const groups = [
    ["Running now", entries.filter((it) => it.is_live)],
    ["Races", entries.filter((it) => it.is_race && !it.is_live)],
    ["Other results", entries.filter((it) => !it.is_race && !it.is_live)],
  ];
  const shown = groups.filter(([, group]) => group.length > 0);
  list.replaceChildren(...shown.map(([label, group]) => {
    const options = /** @type {Entry[]} */ (group).map((it) => make("option", { value: it.id }, words(it)));
    return make("optgroup", { label }, ...options);
  }));
  if (!entries.some((it) => it.id === chosen)) list.prepend(make("option", { value: chosen }, chosen));
  list.value = chosen;
}

/** @param {Entry} entry */
function words({ id, arms }) {
  const names = arms.slice(0, 4).map((it) => it.name);
  return `${id}: ${names.join(", ")}${arms.length > names.length ? ", …" : ""}`;
}
