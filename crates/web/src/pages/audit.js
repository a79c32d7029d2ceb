// The Audit page: what is wrong with this machine, with evidence and what fixes it; and what nobody can tell.
// @ts-check

import { table } from "./document.js";
import { breakable, byId, make, sentence, setText } from "./dom.js";
import { Refused, announce, ask, machine, ready, showConnection } from "./page.js";
import { SEVERITIES, count, tight, timeOfDay } from "./words.js";

const COPIED_MS = 2_000;

/** @param {boolean} again whether it has to be made anew; else it may be a minute old */
async function audit(again) {
  const button = byId("audit-again");
  const main = byId("main");
  button.disabled = true;
  main.setAttribute("aria-busy", "true");
  setText(byId("summary"), "The audit runs: on a large machine it takes some seconds.");
  try {
    const { verdict, audit: found } = await ask(`/api/v1/audit?again=${again}`);
    show(found, verdict);
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
 * @param {string} verdict
 */
function show({ began, machine: host, findings, unknown, not_applicable: without, clean }, verdict) {
  const rank = (/** @type {any} */ it) => SEVERITIES.indexOf(it.severity);
  const sorted = [...findings].sort((a, b) => rank(a) - rank(b));
  setText(byId("headline"), tight(verdict));
  const words = `${count(unknown.length, "check")} unknown, ${clean.length} clean, ${without.length} do not apply here`;
  setText(byId("summary"), `${words}. Made at ${timeOfDay(Date.parse(began) / 1000)} UTC.`);
  announce(`${verdict} ${words}`);
  setText(byId("host"), hostWords(host));
  byId("findings").hidden = sorted.length === 0;
  byId("finding-list").replaceChildren(...sorted.map(finding));
  fillChecks("unknown", unknown);
  fillChecks("without", without);
  byId("clean").hidden = clean.length === 0;
  byId("clean-list").replaceChildren(...clean.map((/** @type {string} */ id) => make("li", {}, explained(id))));
}

/**
 * The name of a check, which leads to what `fullclock explain` says of it.
 * @param {string} id
 */
function explained(id) {
  return make("a", { href: `/explain/${encodeURIComponent(id)}`, className: "check" }, make("code", {}, id));
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
    return [source, value].map((text) => [make("code", {}, ...breakable(text))]);
  });
  return make(
    "article",
    { className: `finding ${it.severity}`, "aria-label": it.id },
    make("h3", {}, make("span", { className: "severity" }, it.severity), " ", ...sentence(it.message)),
    make("p", { className: "quiet" }, explained(it.id), `: ${about.join(", ")}`),
    ...fixes(it),
    table(`Evidence of ${it.id}`, ["Evidence", "Value"], evidence),
    ...costWords(it.cost),
    ...references(it.references),
  );
}

/** @param {{list: string, n: number, of: number} | null} cpus */
const cpuWords = (cpus) => (cpus === null ? "" : `CPU${cpus.n === 1 ? "" : "s"} ${cpus.list} (${cpus.n} of ${cpus.of})`);

/** @param {{estimate: string, derivation: string} | null} cost */
const costWords = (cost) => (cost === null ? [] : [make("p", {}, ...sentence(`Cost: ${cost.estimate} (${cost.derivation})`))]);

/** @param {any} finding */
function fixes({ fix, settings = [] }) {
  const parts = [];
  const quoted = settings.map((/** @type {string} */ it) => (/^[\w=.,:@/-]+$/.test(it) ? it : `'${it}'`));
  if (quoted.length > 0) {
    parts.push(["Fix (`fullclock revert` undoes it)", `fullclock apply ${quoted.join(" ")}`]);
  }
  if (fix.look.length > 0) parts.push(["Look first", fix.look.join("\n")]);
  if (fix.now.length > 0) parts.push(["Now, until the next boot", fix.now.join("\n")]);
  for (const it of fix.by_hand) parts.push([`By hand, not journaled; ${it.risk}; ${it.available}`, it.command]);
  const commands = parts.map(([title, text]) => {
    return [make("p", {}, ...sentence(`${title}:`)), command(title, text)];
  });
  const refused = fix.refused.map((/** @type {string} */ it) => make("p", {}, ...sentence(`No command: ${it}`)));
  const lasting = fix.lasting === null ? [] : [make("p", {}, ...sentence(`For good: ${fix.lasting}`))];
  return [...commands.flat(), ...refused, ...lasting];
}

/**
 * Lines to type, with a button that copies them where the browser lets it.
 * @param {string} title
 * @param {string} text
 */
function command(title, text) {
  const code = make("pre", { tabIndex: 0, "aria-label": title }, make("code", {}, text));
  const { clipboard } = navigator;
  if (clipboard === undefined) return code;
  const button = make("button", { type: "button", "aria-label": `Copy: ${text}` }, "Copy");
  button.addEventListener("click", async () => {
    await clipboard.writeText(text).then(() => setText(button, "Copied"), () => setText(button, "Not copied"));
    setTimeout(() => setText(button, "Copy"), COPIED_MS);
  });
  return make("div", { className: "command" }, code, button);
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
 * Checks that the same would help are listed together.
 * @param {string} id of the section and of its list
 * @param {{check: string, text: string, remedy: string | null, source: string}[]} checks
 */
function fillChecks(id, checks) {
  byId(id).hidden = checks.length === 0;
  const remedies = [...new Set(checks.map((it) => it.remedy))];
  byId(`${id}-list`).replaceChildren(...remedies.flatMap((remedy) => {
    const alike = checks.filter((it) => it.remedy === remedy);
    const items = alike.map(({ check, text, source }) => {
      const where = text.includes(source) ? "" : ` (${source})`;
      return make("li", {}, explained(check), " ", ...sentence(text), make("span", { className: "quiet" }, where));
    });
    const head = remedy === null ? [] : [make("p", {}, `${count(alike.length, "check")}: `, ...sentence(remedy))];
    return [...head, make("ul", { className: "checks" }, ...items)];
  }));
}

byId("audit-again").addEventListener("click", () => audit(true));
machine();
audit(false);
