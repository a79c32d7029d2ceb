// The page of one result: what it says, what that rests on, and where it was measured.
// @ts-check

import { table, typeset } from "./document.js";
import { byId, make, setText } from "./dom.js";
import { announce, ask, entitle, machine, ready, showConnection } from "./page.js";
import { count, tight } from "./words.js";

const id = new URLSearchParams(location.search).get("id") ?? "";
const address = `/api/v1/results/${encodeURIComponent(id)}`;

async function show() {
  setText(byId("id"), id);
  try {
    fill(await ask(`${address}/document`));
    showConnection("connected");
  } catch (error) {
    showConnection("gone");
    setText(byId("headline"), `No result: ${/** @type {Error} */ (error).message}`);
  }
  announce(byId("headline").textContent);
  ready();
}

/** @param {any} found */
function fill(found) {
  const { fullclock, n_trials: trials, is_complete: isComplete, is_live: isLive, is_race: isRace } = found;
  const { machines, document: { title, verdict, blocks } } = found;
  setText(byId("headline"), tight(verdict ?? title));
  entitle(verdict ?? title);
  const state = isLive ? "running now" : isComplete ? "" : "cut short";
  const words = [count(trials, isRace ? "interval" : "trial"), `fullclock ${fullclock}`, state];
  setText(byId("about"), words.filter(Boolean).join(", "));
  byId("links").replaceChildren(
    ...(isRace ? [make("a", { href: `/race?id=${encodeURIComponent(id)}` }, "Charts on the Race page")] : []),
    make("a", { href: address }, "Everything as JSON"),
    make("code", {}, `fullclock history show ${id}`),
  );
  byId("document").replaceChildren(...typeset(blocks));
  byId("context").hidden = machines.length === 0;
  byId("machines").replaceChildren(...machines.map(settings));
}

/** @param {{of: string, settings: Record<string, string>}} machine */
function settings({ of, settings }) {
  const rows = Object.entries(settings).map((row) => row.map((it) => [it]));
  const title = [of, settings["cpu model"], count(rows.length, "setting")].filter(Boolean).join(", ");
  const all = table(`Settings of the machine ${of}`, ["Setting", "Value"], rows);
  return make("details", {}, make("summary", {}, title), all);
}

machine();
show();
