// The Now page: what this machine's CPUs do, interval by interval.
// @ts-check

import { Clock } from "./clock.js";
import { byId, make, setText } from "./dom.js";
import { exportCsv, exportPng } from "./export.js";
import { headline } from "./headline.js";
import { Ledger } from "./ledger.js";
import { announce, ask, machine, ready, showConnection } from "./page.js";
import { Painter } from "./painter.js";
import { toggle } from "./panel.js";
import { Rates, THROTTLING, TICKS } from "./rates.js";
import { Stream } from "./stream.js";
import { onThemeChange } from "./theme.js";
import { Threads } from "./threads.js";
import { SEVERITIES, count, timeOfDay } from "./words.js";

/** What is kept, and the longest that can be looked at. */
const KEPT_S = 15 * 60;
/** Readings come every tenth of a second at most. */
const SHORTEST_S = 0.1;
const NOTES = 20;
const AGAIN_MS = 3_000;
/** The headline is the mean of so long; it would flicker else. */
const HEADLINE_S = 10;
/** Soon after the start the time axis is as long as this. */
const LEAST_SPAN_S = 60;
const AUDIT_MS = 300_000;

const main = byId("main");
const state = {
  span: 300,
  /** @type {number | null} */
  cursor: null,
  latest: 0,
  /** The beginning of the first interval. */
  first: Infinity,
  /** @type {number | null} */
  pausedAt: null,
  isBroken: false,
  /** The latest time that notes were told of. */
  told: 0,
  /** @type {import("./headline.js").Item} */
  findings: { name: "Findings", value: "…", about: "the audit runs", href: "/audit" },
};

const desk = {
  frame() {
    const to = state.pausedAt ?? state.latest;
    const from = Math.max(to - state.span, Math.min(state.first, to - LEAST_SPAN_S));
    return { range: { from, to }, cursor: state.cursor };
  },
  /** @param {number | null} time */
  point(time) {
    state.cursor = time;
    desk.redraw();
  },
  redraw: () => painter.request(true),
};

/** @type {(Ledger | Clock | Rates | Threads)[]} */
let panels = [];
const painter = new Painter(draw);

function draw() {
  if (state.latest === 0) return;
  const frame = desk.frame();
  for (const panel of panels) panel.draw(frame);
  const { to } = frame.range;
  const last = { from: to - HEADLINE_S, to };
  const [ledger, clock] = /** @type {[Ledger, Clock]} */ (panels.slice(0, 2));
  headline([...ledger.headline(last), clock.headline(last), state.findings]);
  setText(byId("headline-about"), `Means of the last ${HEADLINE_S} seconds.`);
  const until = `until ${timeOfDay(frame.range.to)} UTC`;
  setText(byId("moment"), state.pausedAt === null ? `Intervals ${until}` : `Paused ${until}; intervals are still kept`);
  ready();
}

/** @param {any} reading */
function take(reading) {
  const to = reading.at;
  const interval = { from: to - reading.elapsed_s, to, isBroken: state.isBroken };
  state.isBroken = false;
  state.latest = to;
  state.first = Math.min(state.first, interval.from);
  for (const panel of panels) panel.take(interval, reading);
  main.dataset.gaps = String(panels[0].ring.gaps);
  // A connection that began anew tells everything once more.
  if (to > state.told) for (const note of reading.notes ?? []) tell(to, note);
  state.told = Math.max(state.told, to);
  painter.request();
}

/** What was noted, the latest last, with how often and since when. @type {Map<string, {first: number, n: number}>} */
const notes = new Map();

/**
 * @param {number} at
 * @param {string} note
 */
function tell(at, note) {
  const { first, n } = notes.get(note) ?? { first: at, n: 0 };
  notes.delete(note);
  notes.set(note, { first, n: n + 1 });
  const again = n > 0 ? ` (${n + 1} times since ${timeOfDay(first)} UTC)` : "";
  const list = byId("note-list");
  for (const it of list.children) if (it.dataset.note === note) it.remove();
  const entry = make("li", {}, `${timeOfDay(at)} UTC: ${note}${again}`);
  entry.dataset.note = note;
  list.prepend(entry);
  while (list.children.length > NOTES) {
    notes.delete(list.lastElementChild.dataset.note);
    list.lastElementChild.remove();
  }
  byId("notes").hidden = false;
  // Those of a history that comes in one piece are no news.
  if (document.body.dataset.ready === "true") announce(note);
}

/** The machine's own answer, however long the server takes to be there. */
async function whenThere() {
  for (;;) {
    const found = await machine();
    if (found !== null) return found;
    showConnection("reconnecting");
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}

/** How many findings an audit has; the server makes one a minute at most. */
async function audit() {
  try {
    const { audit: found } = await ask("/api/v1/audit");
    const { findings, unknown } = found;
    const severities = findings.map((/** @type {any} */ it) => it.severity);
    const worst = SEVERITIES.find((it) => severities.includes(it));
    const about = worst === undefined ? `${count(unknown.length, "check")} unknown` : `worst: ${worst}`;
    state.findings = { ...state.findings, value: String(findings.length), about };
  } catch (error) {
    state.findings = { ...state.findings, value: "unknown", about: /** @type {Error} */ (error).message };
  }
  painter.request();
  setTimeout(audit, AUDIT_MS);
}

async function begin() {
  const found = await whenThere();
  const interval = Math.max(SHORTEST_S, Number(found.interval_s) || 1);
  const limit = Math.ceil(KEPT_S / interval) + 2;
  panels = [
    new Ledger(desk, limit, found.losses),
    new Clock(desk, limit),
    new Rates(desk, limit, TICKS),
    new Rates(desk, limit, THROTTLING),
    new Threads(desk, limit),
  ];
  const handlers = { reading: take, gap: () => (state.isBroken = true) };
  new Stream("/api/v1/now", handlers, showConnection);
  audit();
  byId("export-png").disabled = false;
  byId("export-csv").disabled = false;
}

function listen() {
  toggle("pause", (isOn) => {
    state.pausedAt = isOn ? state.latest : null;
    desk.redraw();
  });
  byId("span").addEventListener("change", (/** @type {any} */ event) => {
    state.span = Number(event.target.value);
    desk.redraw();
  });
  byId("export-png").addEventListener("click", () => {
    const charts = panels.map((it) => ({
      title: it.title,
      charts: [{ canvas: it.sheet.canvas, values: it.values }],
    }));
    exportPng(fileName(), `${document.title}, ${new Date(desk.frame().range.to * 1000).toISOString()}`, charts);
  });
  byId("export-csv").addEventListener("click", () => exportCsv(fileName(), rows()));
}

const fileName = () => `fullclock-now-${new Date(desk.frame().range.to * 1000).toISOString()}`;

/** The intervals shown: the ledger in percent, clocks in MHz. */
function* rows() {
  const [ledger, clock, ticks, throttling] = /** @type {[Ledger, Clock, Rates, Rates]} */ (panels.slice(0, 4));
  const cpus = clock.cpus.map((it) => `CPU ${it}, MHz`);
  const lines = ledger.lines.map((it) => `${it.title}, %`);
  const rates = [ticks, throttling].flatMap(({ kind }) => {
    return kind.series.map(({ name }) => `${kind.id}: ${name}, ${kind.unit}`);
  });
  yield ["from", "to", ...lines, ...rates, ...cpus];
  const { first, end } = ledger.ring.within(desk.frame().range);
  for (let index = first; index < end; index += 1) {
    const { ring } = ledger;
    const at = clock.ring.at(ring.to(index));
    const row = [ring.from(index), ring.to(index)].map((it) => new Date(it * 1000).toISOString());
    const values = [ledger, ticks, throttling].flatMap((panel) => {
      return Array.from({ length: panel.ring.width }, (_, column) => panel.ring.value(column, index));
    });
    yield [...row, ...values, ...clock.cpus.map((_, row) => (at < 0 ? NaN : clock.mhz(row, at)))];
  }
}

onThemeChange(desk.redraw, draw);
listen();
begin();
