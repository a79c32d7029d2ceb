// The Audit page: what is wrong with this machine, with evidence and what fixes it; and what nobody can tell.
// @ts-check

import { byId, make, setText } from "./dom.js";
import { Refused, announce, ask, machine, ready, showConnection } from "./page.js";
import { count, timeOfDay } from "./words.js";

/** @param {boolean} again whether it has to be made anew; else it may be a minute old */
async function audit(again) {
  const button = byId("audit-again");
  const main = byId("main");
  button.disabled = true;
  main.setAttribute("aria-busy", "true");
  setText(byId("summary"), "Auditing: on a large machine this takes some seconds.");
  try {
    const { at, audit: found } = await ask(`/api/v1/audit?again=${again}`);
    show(found, at);
    showConnection("connected");
  } catch (error) {
    // What the server says is no sign of its absence.
    showConnection(error instanceof Refused ? "connected" : "gone");
    setText(byId("summary"), `No audit: ${/** @type {Error} */ (error).message}`);
    announce(byId("summary").textContent);
  }
  button.disabled = false;
  main.removeAttribute("aria-busy");
  ready();
}

/**
 * @param {any} found
 * @param {number} at when it was made
 */
function show({ machine: host, findings, unknown, not_applicable: without, clean }, at) {
  const words = [
    count(findings.length, "finding"),
    count(unknown.length, "check without a verdict", "checks without a verdict"),
    `${clean.length} clean`,
    `${without.length} not applicable`,
  ].join(", ");
  setText(byId("summary"), `${words}. Made at ${timeOfDay(at)} UTC.`);
  announce(words);
  setText(byId("host"), hostWords(host));
  byId("findings").hidden = false;
  byId("finding-list").replaceChildren(...findings.map(finding));
  byId("no-finding").hidden = findings.length > 0;
  fillChecks("unknown", unknown);
  fillChecks("without", without);
  byId("clean").hidden = clean.length === 0;
  byId("clean-list").replaceChildren(...clean.map((/** @type {string} */ id) => make("li", {}, make("code", {}, id))));
}

/** @param {Record<string, string | null>} host */
function hostWords(host) {
  const parts = [
    [host.vendor, host.product].filter(Boolean).join(" "),
    host.firmware && `firmware ${host.firmware}`,
    host.hypervisor ? `a guest of ${host.hypervisor}` : "",
    host.container && `container ${host.container}`,
  ];
  return parts.filter(Boolean).join(", ");
}

/** @param {any} it */
function finding(it) {
  const about = [`severity ${it.severity}`, `confidence ${it.confidence}`, cpuWords(it.cpus)].filter(Boolean);
  const evidence = it.evidence.map((/** @type {any} */ { source, value }) => {
    return make("tr", {}, make("td", {}, make("code", {}, source)), make("td", {}, make("code", {}, value)));
  });
  return make(
    "article",
    { className: `finding ${it.severity}`, "aria-label": it.id },
    make("h3", {}, make("span", { className: "severity" }, it.severity), " ", it.message),
    make("p", { className: "quiet" }, make("code", {}, it.id), `: ${about.join(", ")}`),
    scrolled(`Evidence of ${it.id}`, make("table", {}, heads("Evidence", "Value"), make("tbody", {}, ...evidence))),
    ...costWords(it.cost),
    ...fixes(it),
    ...references(it.references),
  );
}

/** @param {{list: string, n: number, of: number} | null} cpus */
const cpuWords = (cpus) => (cpus === null ? "" : `CPUs ${cpus.list} (${cpus.n} of ${cpus.of})`);

/** @param {{estimate: string, derivation: string} | null} cost */
const costWords = (cost) => (cost === null ? [] : [make("p", {}, `Cost: ${cost.estimate} (${cost.derivation})`)]);

/** @param {any} finding */
function fixes({ fix, settings = [] }) {
  const parts = [];
  const quoted = settings.map((/** @type {string} */ it) => (/^[\w=.,:@/-]+$/.test(it) ? it : `'${it}'`));
  if (quoted.length > 0) parts.push(["What `fullclock revert` takes back", `fullclock apply ${quoted.join(" ")}`]);
  if (fix.look.length > 0) parts.push(["Look first", fix.look.join("\n")]);
  if (fix.now.length > 0) parts.push(["Now, until the next boot", fix.now.join("\n")]);
  for (const it of fix.by_hand) parts.push([`By hand, not journaled; ${it.risk}; ${it.available}`, it.command]);
  if (fix.refused.length > 0) parts.push(["No command", fix.refused.join("\n")]);
  const commands = parts.map(([title, text]) => {
    return [make("p", {}, `${title}:`), make("pre", { tabIndex: 0, "aria-label": title }, make("code", {}, text))];
  });
  const lasting = fix.lasting === null ? [] : [make("p", {}, `For good: ${fix.lasting}`)];
  return [...commands.flat(), ...lasting];
}

/** @param {{title: string, url: string}[]} all */
function references(all) {
  const links = all.map(({ title, url }) => {
    // Only an address of the web is a link: a script could be in any other.
    const isWeb = /^https?:\/\//.test(url);
    const address = { href: url, target: "_blank", rel: "noopener noreferrer" };
    return make("li", {}, isWeb ? make("a", address, title) : `${title}: ${url}`);
  });
  return links.length === 0 ? [] : [make("ul", { className: "quiet", "aria-label": "References" }, ...links)];
}

/**
 * @param {string} id of the section and of its table
 * @param {{check: string, text: string, remedy: string | null, source: string}[]} checks
 */
function fillChecks(id, checks) {
  byId(id).hidden = checks.length === 0;
  const rows = checks.map(({ check, text, remedy, source }) => {
    const where = text.includes(source) ? [] : [make("span", { className: "beside quiet" }, source)];
    return make(
      "tr",
      {},
      make("td", {}, make("code", {}, check)),
      make("td", {}, text, ...where),
      make("td", {}, remedy ?? "–"),
    );
  });
  byId(`${id}-rows`).replaceChildren(...rows);
}

/** @param {...string} titles */
function heads(...titles) {
  return make("thead", {}, make("tr", {}, ...titles.map((it) => make("th", { scope: "col" }, it))));
}

/**
 * @param {string} label
 * @param {Element} table
 */
function scrolled(label, table) {
  return make("div", { className: "scroll", role: "region", tabIndex: 0, "aria-label": label }, table);
}

byId("audit-again").addEventListener("click", () => audit(true));
machine();
audit(false);
