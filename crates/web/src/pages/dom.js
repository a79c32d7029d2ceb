// Builds elements. What comes from the server becomes text or an attribute here, never markup.
// @ts-check

// Characters that draw nothing where they stand: controls but for tabs and line ends, which are blanks on a page, and those that
// change how their neighbours are drawn. The same as in the terminal's output.
const UNSEEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * The text with what no reader would see as escapes: a name may not reverse the direction of its line.
 * @param {string} text
 */
export function seen(text) {
  return String(text ?? "").replace(UNSEEN, (it) =>
    it.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""));
}

/**
 * An element with properties or attributes; children that are strings become text.
 * @param {string} name
 * @param {Record<string, any>} [properties] those that are undefined are left out
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function make(name, properties = {}, ...children) {
  const element = /** @type {any} */ (document.createElement(name));
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.map((it) => (typeof it === "string" ? seen(it) : it)));
  return element;
}

/**
 * The element with this id; pages have all that their scripts ask for.
 * @param {string} id
 * @returns {any}
 */
export const byId = (id) => document.getElementById(id);

/**
 * Leaves the page alone where it says so already: each change costs a layout, and a screen reader a look.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  const shown = seen(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/**
 * A text whose paths break behind their slashes where a line is too short for them.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function breakable(text) {
  const parts = text.split(/(?<=\S\/)(?=\S)/);
  return parts.flatMap((part, place) => (place === 0 ? [part] : [make("wbr"), part]));
}

/**
 * A sentence in which backticks set code off.
 * @param {string} text
 */
export function sentence(text) {
  const parts = text.split("`");
  return parts.flatMap((part, place) => (place % 2 === 0 ? breakable(part) : [make("code", {}, ...breakable(part))]));
}

/**
 * A coloured square before a name. The page's policy allows no style in markup; a property is no markup.
 * @param {string} color the name of a custom property
 */
export function swatch(color) {
  const square = make("span", { className: "swatch", "aria-hidden": "true" });
  square.style.setProperty("--color", `var(${color})`);
  return square;
}
