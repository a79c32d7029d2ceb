// Round numbers for axes.
// @ts-check

/** Distances of marks on a time axis, in seconds. */
const TIME_STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];

/**
 * The round number from which so many steps cover a span.
 * @param {number} span
 * @param {number} steps
 */
function roundStep(span, steps) {
  const rough = span / steps;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((it) => it * power >= rough * 0.999) ?? 10);
}

/**
 * A scale whose ends and marks are round.
 * @param {number} low
 * @param {number} high
 * @param {number} [steps]
 */
export function roundScale(low, high, steps = 4) {
  const step = roundStep(high > low ? high - low : Math.abs(high) || 1, steps);
  const from = Math.floor(low / step + 1e-6) * step;
  const to = Math.max(Math.ceil(high / step - 1e-6) * step, from + step);
  return { low: from, high: to, step };
}

/**
 * @param {number} from
 * @param {number} to
 * @param {number} step
 */
export function marks(from, to, step) {
  const first = Math.ceil(from / step - 1e-6);
  const last = Math.floor(to / step + 1e-6);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => (first + place) * step);
}

/**
 * Round times, so many at most.
 * @param {{from: number, to: number}} range
 * @param {number} most
 */
export function timeMarks({ from, to }, most) {
  const step = TIME_STEPS.find((it) => (to - from) / it <= most) ?? 86400 * Math.ceil((to - from) / 86400 / most);
  return marks(from, to, step);
}
