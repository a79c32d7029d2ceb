// Builds elements. What comes from the server becomes text or an attribute here, never markup.
// @ts-check

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
  element.append(...children);
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
  if (element.textContent !== text) element.textContent = text;
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
