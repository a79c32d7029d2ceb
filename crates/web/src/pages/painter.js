// When to draw: after something changed, ten times a second at most, and never while nobody can see it.
// @ts-check

const SHORTEST_MS = 100;
/** For those who asked for little motion: data then move once a second, and what the reader does is shown at once. */
const CALM_MS = 1000;

/** Hundreds of CPUs take longer to draw: the page leaves most of the time to others. */
const LEAST_REST = 4;

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Puts wishes to draw together. */
export class Painter {
  /** @param {() => void} draw */
  constructor(draw) {
    this.draw = draw;
    this.drawn = -Infinity;
    this.took = 0;
    /** @type {number | undefined} */
    this.timer = undefined;
    this.frame = 0;
    document.addEventListener("visibilitychange", () => this.request(true));
  }

  /** @param {boolean} [isByReader] */
  request(isByReader = false) {
    if (document.hidden || this.frame !== 0) return;
    if (this.timer !== undefined && !isByReader) return;
    clearTimeout(this.timer);
    const pause = calm.matches && !isByReader ? CALM_MS : SHORTEST_MS;
    const wait = Math.max(0, this.drawn + Math.max(pause, this.took * LEAST_REST) - performance.now());
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.frame = requestAnimationFrame(() => this.#paint());
    }, wait);
  }

  #paint() {
    this.frame = 0;
    this.drawn = performance.now();
    this.draw();
    this.took = performance.now() - this.drawn;
  }
}
