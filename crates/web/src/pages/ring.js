// Intervals and their values in a ring of fixed size, so that a page that is open for days stays as small as it is.
// @ts-check

const FIRST_ROOM = 1024;

/** Intervals in the order of time, each with a value in every column; what is not known is NaN. */
export class Ring {
  /**
   * @param {number} limit how many intervals are kept at most; the oldest make room
   * @param {number} width how many columns there are
   */
  constructor(limit, width) {
    this.limit = limit;
    this.width = width;
    this.size = 0;
    /** Intervals that made room. */
    this.dropped = 0;
    /** Gaps before intervals, of all that came and were not taken back. */
    this.gaps = 0;
    this.start = 0;
    this.room = 0;
    this.froms = new Float64Array(0);
    this.tos = new Float64Array(0);
    this.breaks = new Uint8Array(0);
    this.columns = Array.from({ length: width }, () => new Float32Array(0));
    /** @type {any[]} */
    this.notes = [];
    this.#grow(Math.min(limit, FIRST_ROOM));
  }

  /** @param {number} room */
  #grow(room) {
    this.froms = enlarged(this.froms, new Float64Array(room));
    this.tos = enlarged(this.tos, new Float64Array(room));
    this.breaks = enlarged(this.breaks, new Uint8Array(room));
    this.columns = this.columns.map((column) => enlarged(column, new Float32Array(room)));
    this.room = room;
  }

  /**
   * Keeps an interval. One that begins well behind the end of the last has a gap before it, said or not.
   * @param {number} from
   * @param {number} to
   * @param {ArrayLike<number | null | undefined>} values
   * @param {boolean} isBroken whether intervals before it were lost
   * @param {any} [note] whatever else is kept with it
   */
  push(from, to, values, isBroken, note) {
    // Once it has turned round it is as large as it may be: it only grows while it begins at 0.
    if (this.size === this.room && this.room < this.limit) this.#grow(Math.min(this.limit, this.room * 2));
    const breaks = this.size > 0 && (isBroken || from - this.to(this.size - 1) > (to - from) / 2);
    const place = (this.start + this.size) % this.room;
    if (this.size === this.room) {
      this.start = (this.start + 1) % this.room;
      this.dropped += 1;
    } else {
      this.size += 1;
    }
    this.froms[place] = from;
    this.tos[place] = to;
    this.breaks[place] = Number(breaks);
    this.gaps += Number(breaks);
    this.notes[place] = note;
    for (let column = 0; column < this.width; column += 1) this.columns[column][place] = values[column] ?? NaN;
  }

  /**
   * The same intervals in other columns.
   * @param {number[]} sources the column that each is now, or -1 for a new one
   * @param {number} value what a new one has
   */
  withColumns(sources, value) {
    const ring = new Ring(this.limit, sources.length);
    for (let index = 0; index < this.size; index += 1) {
      const values = sources.map((it) => (it < 0 ? value : this.value(it, index)));
      ring.push(this.from(index), this.to(index), values, this.isBroken(index), this.note(index));
    }
    return ring;
  }

  /**
   * Takes back what ends at this time or later: a server that starts over sends it once more, and a clock that was set
   * back would draw it twice.
   * @param {number} time
   */
  rewind(time) {
    while (this.size > 0 && this.to(this.size - 1) >= time) {
      this.size -= 1;
      this.gaps -= this.breaks[this.#place(this.size)];
    }
  }

  /** @param {number} index */
  #place(index) {
    const place = this.start + index;
    return place < this.room ? place : place - this.room;
  }

  /** @param {number} index */
  from(index) {
    return this.froms[this.#place(index)];
  }

  /** @param {number} index */
  to(index) {
    return this.tos[this.#place(index)];
  }

  /** @param {number} index */
  isBroken(index) {
    return this.breaks[this.#place(index)] === 1;
  }

  /**
   * @param {number} column
   * @param {number} index
   */
  value(column, index) {
    return this.columns[column][this.#place(index)];
  }

  /** @param {number} index */
  note(index) {
    return this.notes[this.#place(index)];
  }

  /**
   * The intervals that lie in a range of time, at least in part: the first, and the one behind the last.
   * @param {{from: number, to: number}} range
   */
  within({ from, to }) {
    const first = this.#search((index) => this.to(index) > from);
    return { first, end: this.#search((index) => this.from(index) >= to) };
  }

  /**
   * The interval that holds a moment, or -1.
   * @param {number} time
   */
  at(time) {
    const index = this.#search((it) => this.to(it) >= time);
    return index < this.size && this.from(index) <= time ? index : -1;
  }

  /**
   * The last interval that has ended by then, or -1.
   * @param {number} time
   */
  lastBy(time) {
    return this.#search((index) => this.to(index) > time) - 1;
  }

  /**
   * The first interval for which something holds that holds for all later ones.
   * @param {(index: number) => boolean} holds
   */
  #search(holds) {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/**
 * @template {Float64Array | Float32Array | Uint8Array} T
 * @param {T} old
 * @param {T} larger
 */
function enlarged(old, larger) {
  larger.set(old);
  return larger;
}
