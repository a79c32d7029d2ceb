// Numbers, times and what is missing, as words.
// @ts-check

const UNKNOWN = "unknown";
/** How bad a finding is, the worst first. */
export const SEVERITIES = ["critical", "high", "medium", "low", "info"];

/**
 * As many digits as a number deserves.
 * @param {number} value
 */
export function number(value) {
  if (!Number.isFinite(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size >= 1e8) return `${(value / 1e6).toFixed(0)}M`;
  if (size >= 100 || size < 0.005) return String(Math.round(value) || 0);
  return value.toFixed(size >= 10 ? 1 : 2);
}

/**
 * A number with its unit; microseconds become milliseconds where there are many.
 * @param {number} value
 * @param {string} unit as the server names it
 */
export function quantity(value, unit) {
  if (!Number.isFinite(value)) return UNKNOWN;
  if (unit === "us") return Math.abs(value) >= 1000 ? `${number(value / 1000)} ms` : `${number(value)} µs`;
  if (unit === "MHz") return `${value.toFixed(0)} MHz`;
  if (unit === "%") return `${value.toFixed(Math.abs(value) >= 9.995 ? 1 : 2)} %`;
  if (unit === "1/s") return `${number(value)}/s`;
  return `${number(value)} ${unit}`.trim();
}

/** Units that are shown as larger or smaller ones: from which size on, and what a value is divided by. */
const SCALES = /** @type {Record<string, [number, number, string][]>} */ ({
  us: [[1e3, 1e3, "ms"], [0, 1, "µs"]],
  s: [[1, 1, "s"], [1e-3, 1e-3, "ms"], [1e-6, 1e-6, "µs"], [0, 1e-9, "ns"]],
  "1/s": [[0, 1, "/s"]],
  Hz: [[0, 1e9, "GHz"]],
  cycles: [[1e9, 1e9, "G cycles"], [1e6, 1e6, "M cycles"], [0, 1, "cycles"]],
});

/**
 * A measured value and its ends with the digits that their distance allows, so that different ends are shown differently, and the
 * unit that fits the value.
 * @param {number} value
 * @param {string} unit
 * @param {{low: number, high: number} | null} interval
 */
export function measured(value, unit, interval) {
  const scale = SCALES[unit]?.find(([from]) => Math.abs(value) >= from) ?? [0, 1, unit];
  const half = interval === null ? 0 : Math.abs(interval.high - interval.low) / 2;
  const places = decimals(Math.abs(value / scale[1]), half / scale[1]);
  const shown = (/** @type {number} */ it) => (it / scale[1]).toFixed(places);
  const named = scale[2].startsWith("/") ? scale[2] : ` ${scale[2]}`.trimEnd();
  const between = interval === null ? "" : `${shown(interval.low)} to ${shown(interval.high)}${named}`;
  return { value: `${shown(value)}${named}`, between };
}

/**
 * How many decimals show a value that is known to +- half, or with four digits where half is 0.
 * @param {number} value
 * @param {number} half
 */
function decimals(value, half) {
  const MOST = 12;
  if (value === 0) return half > 0 ? Math.min(MOST, Math.max(0, Math.ceil(-Math.log10(half)))) : 0;
  const significant = half > 0 ? Math.max(3, Math.ceil(-Math.log10(half / value)) + 1) : 4;
  return Math.min(MOST, Math.max(0, significant - Math.floor(Math.log10(value)) - 1));
}

/**
 * A number and its percent sign stay in one line.
 * @param {string} text
 */
export const tight = (text) => text.replaceAll(" %", "\u00a0%");

/**
 * A moment as the server writes it (RFC 3339), for a reader.
 * @param {string} moment
 */
export const shownMoment = (moment) => moment.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");

/** @param {number} value */
const two = (value) => String(value).padStart(2, "0");

/**
 * The time of day, UTC as everywhere in fullclock.
 * @param {number} unix seconds
 */
export function timeOfDay(unix) {
  const date = new Date(unix * 1000);
  return [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(":");
}

/**
 * Time since a race began: 12.5 s, 3:05, 1:02:03.
 * @param {number} seconds
 */
export function sinceBegin(seconds) {
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const whole = Math.floor(seconds + 1e-6);
  const tenths = Math.floor((seconds - whole) * 10 + 1e-6);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const head = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${head}:${two(whole % 60)}${tenths > 0 ? `.${tenths}` : ""}`;
}

/**
 * Whether there is a reason in place of a value.
 * @param {any} value
 */
export const isMissing = (value) => value !== null && typeof value === "object" && "missing" in value;

/**
 * Why a value is missing, and what to do.
 * @param {{missing: string, remedy?: string | null}} value
 */
export function missingWords(value) {
  const words = `Unknown: ${value.missing}`;
  return value.remedy ? `${ended(words)} To do: ${ended(value.remedy)}` : ended(words);
}

/** @param {string} text */
const ended = (text) => (/[.!?:]$/.test(text) ? text : `${text}.`);

/**
 * A count and its noun.
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/**
 * The numbers of a list of CPUs like 0-3,8.
 * @param {string} list
 */
export function cpuNumbers(list) {
  return list.split(",").filter(Boolean).flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, place) => first + place);
  });
}
