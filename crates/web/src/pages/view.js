// Which part of a race is looked at: all of it, a range, or its end as it grows; and whether it stands still.
// @ts-check

/** @typedef {import("./plot.js").Range} Range */

/** A race that has just begun is drawn as if it had lasted so long. */
const LEAST_WHOLE_S = 10;
const LEAST_S = 0.5;

export class View {
  /** @param {() => Range} extent what is kept of the race */
  constructor(extent) {
    this.extent = extent;
    /** @type {Range | null} all of it where there is none */
    this.range = null;
    /** Whether the range ends where the race does, and goes on with it. */
    this.follows = false;
    /** @type {Range | null} what was kept when the view was stopped */
    this.frozen = null;
  }

  /** All that may be looked at. */
  whole() {
    const { from, to } = this.frozen ?? this.extent();
    return { from, to: Math.max(to, from + LEAST_WHOLE_S) };
  }

  /** @returns {Range} */
  current() {
    const whole = this.whole();
    if (this.range === null) return whole;
    const { from, to } = this.range;
    return this.follows ? { from: whole.to - (to - from), to: whole.to } : { from, to };
  }

  /** The last moment that may be told of. */
  limit() {
    return (this.frozen ?? this.extent()).to;
  }

  /** @param {boolean} isPaused */
  pause(isPaused) {
    this.frozen = isPaused ? this.extent() : null;
  }

  all() {
    this.range = null;
    this.follows = false;
  }

  /**
   * @param {number} one
   * @param {number} other
   */
  choose(one, other) {
    const whole = this.whole();
    const length = Math.max(LEAST_S, Math.abs(other - one));
    const from = Math.min(Math.max(whole.from, Math.min(one, other)), whole.to - length);
    if (length >= whole.to - whole.from) {
      this.all();
      return;
    }
    this.range = { from, to: from + length };
    this.follows = from + length >= whole.to;
  }

  /**
   * Looks at so many times as much; about the end where that is shown, else about the middle.
   * @param {number} factor
   */
  zoom(factor) {
    const { from, to } = this.current();
    const length = Math.max(LEAST_S, (to - from) * factor);
    const end = to >= this.whole().to ? to : (from + to) / 2 + length / 2;
    this.choose(end - length, end);
  }

  /**
   * Moves by a share of what is shown.
   * @param {number} share
   */
  move(share) {
    if (this.range === null) return;
    const whole = this.whole();
    const { from, to } = this.current();
    const by = Math.min(Math.max((to - from) * share, whole.from - from), whole.to - to);
    this.choose(from + by, to + by);
  }
}
