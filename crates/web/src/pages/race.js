// The Race page: nodes against each other, as it happens or as it was.
// @ts-check

import { look, offer, results, usual } from "./choice.js";
import { RaceChart, kindsOf } from "./race_chart.js";
import { typeset } from "./document.js";
import { byId, make, setText, swatch } from "./dom.js";
import { exportCsv, exportPng } from "./export.js";
import { Nodes } from "./nodes.js";
import { announce, entitle, machine, ready, showConnection } from "./page.js";
import { Painter } from "./painter.js";
import { toggle } from "./panel.js";
import { standing } from "./standing.js";
import { Stream } from "./stream.js";
import { onThemeChange } from "./theme.js";
import { View } from "./view.js";
import { count, shownMoment, sinceBegin, tight } from "./words.js";

const AGAIN_MS = 5_000;
const CLOSER = 0.5;
const STEP = 0.25;

const main = byId("main");
const state = {
  /** @type {Nodes | null} */
  nodes: null,
  /** @type {RaceChart[]} */
  raceCharts: [],
  isOverlaid: false,
  /** @type {number | null} */
  cursor: null,
  /** @type {import("./plot.js").Range | null} */
  drag: null,
  /** The last mark that is listed, and of how many. */
  listed: "",
  hasEnded: false,
};
const view = new View(() => state.nodes?.extent() ?? { from: 0, to: 0 });

/** @type {import("./race_chart.js").Desk} */
const desk = {
  frame: () => {
    const [range, limit] = [view.current(), view.limit()];
    const told = { from: range.from, to: Math.min(range.to, limit) };
    return { range, told, limit, cursor: state.cursor, drag: state.drag };
  },
  redraw: () => painter.request(true),
  point(time) {
    state.cursor = time;
    desk.redraw();
  },
  drag(range) {
    state.drag = range;
    desk.redraw();
  },
  choose(from, to) {
    view.choose(from, to);
    desk.redraw();
  },
  all() {
    view.all();
    desk.redraw();
  },
};
const painter = new Painter(draw);

function draw() {
  const { nodes } = state;
  if (nodes === null) return;
  const frame = desk.frame();
  for (const raceChart of state.raceCharts) raceChart.draw(frame);
  const without = state.raceCharts.filter((it) => it.element.hidden).map((it) => it.kind.title);
  byId("without").hidden = without.length === 0;
  setText(byId("without"), `Unknown in every interval: ${without.join(", ")}.`);
  listMarks(nodes, frame.limit);
  if (!state.hasEnded && nodes.received > 0) {
    const { headline, why } = standing(nodes, frame.limit);
    say(headline, why);
  }
  const { from, to } = frame.told;
  const dropped = nodes.dropped();
  const words = [
    `${sinceBegin(from)} to ${sinceBegin(Math.max(from, to))} since it began`,
    view.frozen === null ? "" : "paused; intervals are still kept",
    dropped > 0 ? `${count(dropped, "earlier interval")} no longer shown; the result has them all` : "",
  ];
  setText(byId("moment"), words.filter(Boolean).join("; "));
  if (nodes.received > 0) ready();
}

/**
 * @param {string} headline
 * @param {string} why
 */
function say(headline, why) {
  setText(byId("headline"), tight(headline));
  byId("why").hidden = why === "";
  setText(byId("why"), tight(why));
}

/**
 * @param {Nodes} nodes
 * @param {number} limit
 */
function listMarks(nodes, limit) {
  const shown = nodes.marks.filter((it) => it.at <= limit);
  const key = `${shown.length} ${shown[shown.length - 1]?.number}`;
  if (key === state.listed) return;
  state.listed = key;
  byId("marks").hidden = shown.length === 0;
  const left = (shown[0]?.number ?? 1) - 1;
  byId("marks-left").hidden = left === 0;
  setText(byId("marks-left"), `${count(left, "earlier mark")} left out.`);
  const first = shown[0];
  byId("changed").hidden = first === undefined;
  if (first !== undefined) {
    const link = make("a", { href: "#marks" }, count(nodes.marked, "mark"));
    const what = `, the first at ${sinceBegin(first.at)} on ${nodes.all[first.node].name}: ${first.text}`;
    byId("changed").replaceChildren("Conditions changed during the race: ", link, what);
  }
  byId("mark-list").replaceChildren(...shown.map(({ number, at, node, text }) => {
    return make("li", { value: number }, `${sinceBegin(at)}, ${nodes.all[node].name}: ${text}`);
  }));
}

/** @param {any} race */
function begin(race) {
  // A connection that began anew tells it once more.
  if (state.nodes !== null) return;
  const nodes = new Nodes(race);
  state.nodes = nodes;
  state.raceCharts = kindsOf(nodes).map((kind) => new RaceChart(nodes, kind, desk));
  for (const raceChart of state.raceCharts) raceChart.layOut(state.isOverlaid);
  byId("charts").replaceChildren(...state.raceCharts.map((it) => it.element));
  const names = nodes.all.map((it) => it.name).join(", ");
  setText(byId("about"), `${nodes.id}, began ${shownMoment(nodes.began)}: ${names}`);
  byId("nodes").replaceChildren(...nodes.all.map(card));
  byId("tools").hidden = false;
  painter.request(true);
}

/** @param {Nodes["all"][0]} node */
function card({ name, model, color, what, about }) {
  const isPlace = (/** @type {[string, string]} */ [key]) => key === "place";
  const more = about.filter((it) => !isPlace(it));
  const blocks = more.map(([label, words]) => ({ label, text: /** @type {any} */ ([["plain", words]]) }));
  const settings = make("details", {}, make("summary", {}, "Settings"), ...typeset(blocks));
  return make(
    "li",
    {},
    make("p", {}, swatch(color), make("strong", {}, name), ...about.filter(isPlace).map((it) => ` ${it[1]}`)),
    make("p", { className: "quiet" }, [what, model].filter(Boolean).join(", ")),
    ...(more.length > 0 ? [settings] : []),
  );
}

/**
 * @param {any} interval
 * @param {string} id
 */
function take(interval, id) {
  const { nodes } = state;
  if (nodes === null || !nodes.take(interval, id)) return;
  main.dataset.intervals = String(nodes.received);
  main.dataset.gaps = String(nodes.gaps());
  // A race of yesterday comes in one piece: its marks are no news.
  if (document.body.dataset.ready === "true") {
    for (const text of interval.marks ?? []) announce(`${nodes.all[interval.node].name}: ${text}`);
  }
  painter.request();
}

/** @param {{is_complete: boolean, document: import("./document.js").Document | null}} result */
function end({ is_complete: isComplete, document: found }) {
  state.hasEnded = true;
  // What has ended stands still.
  byId("pause").hidden = true;
  view.pause(false);
  const stopped = "The race was stopped before its planned end.";
  const failed = "The race failed: its process ended without a result. The intervals up to then are shown.";
  const words = isComplete ? "The race has ended." : found === null ? failed : stopped;
  byId("end-words").hidden = false;
  setText(byId("end-words"), words);
  const headline = found?.verdict ?? "No verdict";
  say(headline, "");
  entitle(headline);
  // What explains the verdict stands below it, what it was made of below the charts.
  const blocks = found?.blocks ?? [];
  const cut = blocks.findIndex((it) => it.heading !== undefined);
  const [reasons, numbers] = cut < 0 ? [blocks, []] : [blocks.slice(0, cut), blocks.slice(cut)];
  byId("reasons").replaceChildren(...typeset(reasons));
  byId("numbers").replaceChildren(...typeset(numbers));
  announce(`${words} ${headline}`);
  painter.request(true);
  ready();
}

function listen() {
  toggle("pause", (isOn) => {
    view.pause(isOn);
    desk.redraw();
  });
  byId("layout").addEventListener("click", () => {
    state.isOverlaid = !state.isOverlaid;
    setText(byId("layout"), state.isOverlaid ? "Side by side" : "Overlay nodes");
    for (const raceChart of state.raceCharts) raceChart.layOut(state.isOverlaid);
    desk.redraw();
  });
  for (const [id, act] of Object.entries(ZOOMS)) byId(id).addEventListener("click", () => zoom(act));
  document.addEventListener("keydown", (event) => {
    const id = KEYS[event.key];
    const place = event.target instanceof Element ? event.target.closest("select, summary, pre, .scroll") : null;
    // These have a use of their own for keys.
    if (id === undefined || place !== null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    zoom(ZOOMS[id]);
  });
  byId("export-png").addEventListener("click", () => {
    const rows = state.raceCharts.map(({ kind, panels }) => ({ title: kind.title, charts: panels }));
    exportPng(fileName(), byId("about").textContent, rows);
  });
  byId("export-csv").addEventListener("click", () => exportCsv(fileName(), state.nodes?.rows() ?? []));
}

/** @type {Record<string, () => void>} */
const ZOOMS = {
  "zoom-in": () => view.zoom(CLOSER),
  "zoom-out": () => view.zoom(1 / CLOSER),
  "earlier": () => view.move(-STEP),
  "later": () => view.move(STEP),
  "zoom-all": () => view.all(),
};
/** @type {Record<string, string>} */
const KEYS = {
  "+": "zoom-in",
  "=": "zoom-in",
  "-": "zoom-out",
  "ArrowLeft": "earlier",
  "ArrowRight": "later",
  "0": "zoom-all",
};

/** @param {() => void} act */
function zoom(act) {
  act();
  desk.redraw();
}

const fileName = () => `fullclock-race-${state.nodes?.id ?? ""}`;

/** Looks for a race until there is one. */
async function choose() {
  const asked = new URLSearchParams(location.search).get("id");
  for (;;) {
    try {
      const entries = await results().catch((error) => {
        showConnection("reconnecting");
        throw error;
      });
      showConnection("connected");
      if (asked !== null && !entries.some((it) => it.id === asked)) await look(asked);
      const id = asked ?? usual(entries)?.id;
      if (id !== undefined) {
        byId("nothing").hidden = true;
        offer(byId("race"), entries, id);
        byId("choice").hidden = false;
        return id;
      }
      byId("nothing").hidden = false;
      ready();
    } catch (error) {
      setText(byId("nothing"), `No race to show: ${/** @type {Error} */ (error).message}`);
      byId("nothing").hidden = false;
    }
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}

async function start() {
  listen();
  machine();
  const id = await choose();
  byId("show").addEventListener("click", () => location.assign(`/race?id=${encodeURIComponent(byId("race").value)}`));
  const stream = new Stream(`/api/v1/results/${encodeURIComponent(id)}/intervals`, {
    race: begin,
    interval: take,
    end: (result) => {
      stream.close();
      end(result);
    },
    failed: (why) => {
      stream.close();
      setText(byId("nothing"), `The result cannot be read any further: ${why}`);
      byId("nothing").hidden = false;
      announce(byId("nothing").textContent);
      ready();
    },
  }, showConnection);
}

onThemeChange(desk.redraw, draw);
start();
