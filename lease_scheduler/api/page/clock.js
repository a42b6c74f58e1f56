/**
 * The server's clock between two answers. It may run faster than real time, so its speed is computed from the last two
 * answers. The server sends whole seconds: a small difference from real time is rounding, not speed.
 */

/** Real milliseconds for which the clock goes on without a new answer. */
const CARRY_MS = 6000;
/** Seconds of difference that are not speed: one for rounding, and half of one for slow answers. */
const ROUNDING = 1.5;

export class Clock {
  #told = null;
  #shown = null;
  #rate = 1;

  /**
   * Set the clock from an answer.
   * @param {number} now the server's instant in the answer, s
   * @param {number} at when the answer arrived, ms of performance.now()
   */
  take(now, at) {
    if (this.#told && at > this.#told.at) {
      const real = (at - this.#told.at) / 1000;
      const passed = now - this.#told.now;
      this.#rate = passed < 0 || Math.abs(passed - real) <= ROUNDING ? 1 : passed / real;
    }
    this.#told = { now, at };
    const shown = this.now(at);
    // A clock that is ahead by less than the rounding is not set back.
    const right = this.#rate === 1 && shown !== null && shown >= now && shown - now <= ROUNDING;
    this.#shown = { now: right ? shown : now, at };
  }

  /** The server's instant, s, at a real one, ms of performance.now(), or null before the first answer. */
  now(at = performance.now()) {
    if (!this.#shown) return null;
    return this.#shown.now + (Math.min(at - this.#shown.at, CARRY_MS) / 1000) * this.#rate;
  }

  /** Server seconds per real second. */
  get rate() {
    return this.#rate;
  }
}
