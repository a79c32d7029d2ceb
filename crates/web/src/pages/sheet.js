// A canvas that has the size of its place on the page and the pixels of the screen, and tells where the pointer is.
// @ts-check

import { color, letter } from "./theme.js";

/** A drag that is shorter than this is a click. */
const LEAST_DRAG_PX = 6;

/**
 * What the reader does on a chart, in CSS pixels from its left and top edge.
 * @typedef {{
 *   changed: () => void,
 *   pointed?: (place: {x: number, y: number} | null) => void,
 *   dragging?: (from: number, to: number) => void,
 *   dragged?: (from: number, to: number) => void,
 *   dropped?: () => void,
 *   doubled?: () => void,
 * }} Hands
 */

/** A canvas to draw on in CSS pixels. */
export class Sheet {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {Hands} hands
   */
  constructor(canvas, hands) {
    this.canvas = canvas;
    this.hands = hands;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.width = 0;
    this.height = 0;
    this.ratio = 1;
    /** @type {number | null} */
    this.dragFrom = null;
    this.observer = new ResizeObserver(() => hands.changed());
    this.observer.observe(canvas);
    this.#listen();
  }

  #listen() {
    const { canvas, hands } = this;
    canvas.addEventListener("pointermove", (event) => this.#moved(event));
    canvas.addEventListener("pointerleave", () => hands.pointed?.(null));
    if (hands.dragged === undefined) return;
    canvas.classList.add("zoomable");
    canvas.addEventListener("pointerdown", (event) => this.#pressed(event));
    canvas.addEventListener("pointerup", (event) => this.#released(event));
    canvas.addEventListener("pointercancel", () => this.#dropped());
    canvas.addEventListener("dblclick", () => hands.doubled?.());
  }

  /** @param {PointerEvent} event */
  #moved(event) {
    this.hands.pointed?.({ x: event.offsetX, y: event.offsetY });
    if (this.dragFrom !== null) this.hands.dragging?.(this.dragFrom, event.offsetX);
  }

  /** @param {PointerEvent} event */
  #pressed(event) {
    if (event.button !== 0) return;
    this.dragFrom = event.offsetX;
    this.canvas.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  #released(event) {
    const from = this.dragFrom;
    this.#dropped();
    if (from !== null && Math.abs(event.offsetX - from) >= LEAST_DRAG_PX) this.hands.dragged?.(from, event.offsetX);
  }

  #dropped() {
    this.dragFrom = null;
    this.hands.dropped?.();
  }

  /** An empty sheet; null where it has no place on the page. */
  begin() {
    const { clientWidth, clientHeight } = this.canvas;
    if (clientWidth === 0 || clientHeight === 0) return null;
    this.width = clientWidth;
    this.height = clientHeight;
    this.ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(clientWidth * this.ratio), Math.round(clientHeight * this.ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    const { context } = this;
    context.setTransform(width / clientWidth, 0, 0, height / clientHeight, 0, 0);
    context.fillStyle = color("--page");
    context.fillRect(0, 0, clientWidth, clientHeight);
    context.font = `${letter()}px ${getComputedStyle(this.canvas).fontFamily}`;
    context.textBaseline = "middle";
    return context;
  }

  close() {
    this.observer.disconnect();
  }
}
