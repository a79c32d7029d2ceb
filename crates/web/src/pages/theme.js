// Colours and the size of letters from the style sheet, for what is drawn on canvas, light or dark.
// @ts-check

const dark = matchMedia("(prefers-color-scheme: dark)");
/** @type {Map<string, string>} */
let colors = new Map();

/**
 * @param {string} name of a custom property
 * @returns {string}
 */
export function color(name) {
  const known = colors.get(name);
  if (known !== undefined) return known;
  const found = getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888888";
  colors.set(name, found);
  return found;
}

/** The height of letters in a chart, in CSS pixels. */
export function letter() {
  return 0.75 * parseFloat(getComputedStyle(document.documentElement).fontSize);
}

/**
 * Red, green and blue of a colour that is written #rrggbb.
 * @param {string} name
 */
export function channels(name) {
  const bits = parseInt(color(name).slice(1), 16);
  return [(bits >> 16) & 255, (bits >> 8) & 255, bits & 255];
}

/**
 * @param {() => void} redraw
 * @param {() => void} draw the same at once: a browser that prints waits for nothing
 */
export function onThemeChange(redraw, draw) {
  const again = (/** @type {() => void} */ act) => () => {
    colors = new Map();
    act();
  };
  dark.addEventListener("change", again(redraw));
  // Paper is white, whatever the screen is.
  matchMedia("print").addEventListener("change", again(draw));
}
