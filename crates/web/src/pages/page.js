// What all pages share: the machine's name, the connection, answers of the server, and what a screen reader is told.
// @ts-check

import { byId, seen, setText } from "./dom.js";
import { signInAgain } from "./stream.js";
import { timeOfDay } from "./words.js";

/** Who listens to a page cannot listen to everything: so long between two announcements. */
const QUIET_MS = 5_000;

// A link that signs in holds the token, which is of no use to a browser that has done so already.
if (location.hash.startsWith("#token=")) history.replaceState(null, "", location.pathname + location.search);

/** What the server says instead of an answer. */
export class Refused extends Error {}

/**
 * An answer of the server.
 * @param {string} path
 * @returns {Promise<any>} rejected with words for the reader
 */
export async function ask(path) {
  let answer;
  try {
    answer = await fetch(path, { headers: { accept: "application/json" }, cache: "no-store" });
  } catch {
    throw new Error("the server does not answer: is `fullclock serve` still running?");
  }
  if (answer.status === 401) signInAgain();
  const body = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(body?.error ?? `the server answered ${answer.status}`);
  if (body === null) throw new Error("the server's answer is not JSON");
  return body;
}

/** What the page is about, and the machine. */
const named = [document.title];

/**
 * Says in the title what the page is about.
 * @param {string} words
 */
export function entitle(words) {
  named[0] = words;
  document.title = seen([...named, "fullclock"].join(" – "));
}

/** Names the machine on the page and in the title, and gives what is known of it; null where nobody answers. */
export async function machine() {
  try {
    const found = await ask("/api/v1/machine");
    const { host, cpu_model: model, kernel, cpus } = found;
    const words = [host, model ?? "processor unknown", `CPUs ${cpus}`, kernel ? `Linux ${kernel}` : null];
    setText(byId("machine"), words.filter(Boolean).join(", "));
    named[1] = host;
    entitle(named[0]);
    return found;
  } catch (error) {
    setText(byId("machine"), `Machine unknown: ${/** @type {Error} */ (error).message}`);
    return null;
  }
}

/** @type {Record<import("./stream.js").State, string>} */
const STATES = {
  connecting: "Connecting",
  connected: "Connected",
  reconnecting: "Reconnecting",
  gone: "The server is gone since",
  ended: "Ended",
};

/**
 * @param {import("./stream.js").State} state
 * @param {number} [since] milliseconds, of the browser's clock
 */
export function showConnection(state, since = Date.now()) {
  const element = byId("connection");
  const words = state === "gone" ? `${STATES.gone} ${timeOfDay(since / 1000)} UTC` : STATES[state];
  if (element.dataset.state !== state && state !== "connecting") announce(words);
  element.dataset.state = state;
  setText(element, words);
}

/** @type {string[]} */
let waiting = [];
let spoken = -Infinity;
/** @type {number | undefined} */
let timer;

/**
 * Tells a screen reader. What comes too fast is told together, and of much only how much it is.
 * @param {string} text
 */
export function announce(text) {
  if (waiting.length < 100) waiting.push(text);
  if (timer !== undefined) return;
  const wait = Math.max(0, spoken + QUIET_MS - performance.now());
  timer = setTimeout(() => {
    timer = undefined;
    spoken = performance.now();
    const rest = waiting.length - 3;
    const words = rest > 0 ? [...waiting.slice(-3), `and ${rest} more`] : waiting;
    setText(byId("announcements"), words.join("; "));
    waiting = [];
  }, wait);
}

/** The first data, or the reason why there are none, are on the page. */
export function ready() {
  document.body.dataset.ready = "true";
}
