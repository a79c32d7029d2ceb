// Numbers, times and what is missing, as words.
// @ts-check

const UNKNOWN = "unknown";

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
  if (unit === "%") return `${value.toFixed(2)} %`;
  if (unit === "1/s") return `${number(value)}/s`;
  return `${number(value)} ${unit}`.trim();
}

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
