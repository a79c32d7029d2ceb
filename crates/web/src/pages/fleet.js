// The Fleet page: which machines are slower than their peers, as the Prometheus that this server was given tells.
// @ts-check

import { typeset } from "./document.js";
import { byId, setText } from "./dom.js";
import { Refused, announce, ask, entitle, machine, ready, showConnection } from "./page.js";
import { tight, timeOfDay } from "./words.js";

/** @param {boolean} again whether it has to be asked anew; else the answer may be a minute old */
async function fleet(again) {
  const button = byId("fleet-again");
  const main = byId("main");
  button.disabled = true;
  main.setAttribute("aria-busy", "true");
  setText(byId("summary"), "Prometheus is asked: of a large fleet that takes some seconds.");
  try {
    show(await ask(`/api/v1/fleet/document?again=${again}`));
    showConnection("connected");
  } catch (error) {
    // What the server says is no sign of its absence.
    showConnection(error instanceof Refused ? "connected" : "gone");
    setText(byId("summary"), `No answer: ${/** @type {Error} */ (error).message}`);
    announce(byId("summary").textContent);
  }
  button.disabled = false;
  main.removeAttribute("aria-busy");
  ready();
}

/** @param {{began: string, document: import("./document.js").Document}} found */
function show({ began, document: { title, verdict, blocks } }) {
  setText(byId("headline"), tight(verdict ?? title));
  entitle(verdict ?? title);
  setText(byId("summary"), `Asked at ${timeOfDay(Date.parse(began) / 1000)} UTC.`);
  byId("document").replaceChildren(...typeset(blocks));
  announce(verdict ?? title);
}

byId("fleet-again").addEventListener("click", () => fleet(true));
machine();
fleet(false);
