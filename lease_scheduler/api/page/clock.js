/**
 * The server's clock between two answers. It may run faster than real time, so its speed is taken from the last two
 * answers. The server tells whole seconds: a small difference to real time is rounding, not speed.
 */

/** How far, in real milliseconds, the clock is carried on without a new answer. */
const CARRY_MS = 6000;
/** The second that rounding hides, and half of one for answers that take their time. */
const ROUNDING = 1.5;

export class Clock {
  #told = null;
  #shown = null;
  #rate = 1;

  /**
   * Take the instant of an answer.
   * @param {number} now instant that the server told, s
   * @param {number} at when the answer came, ms of performance.now()
   */
  take(now, at) {
    if (this.#told && at > this.#told.at) {
      const real = (at - this.#told.at) / 1000;
      const passed = now - this.#told.now;
      this.#rate = passed < 0 || Math.abs(passed - real) <= ROUNDING ? 1 : passed / real;
    }
    this.#told = { now, at };
    const shown = this.now(at);
    // A clock that is ahead by less than the rounding is right, and does not go back.
    const right = this.#rate === 1 && shown !== null && shown >= now && shown - now <= ROUNDING;
    this.#shown = { now: right ? shown : now, at };
  }

  /** The server's instant, s, at the given real one, ms; none before the first answer. */
  now(at = performance.now()) {
    if (!this.#shown) return null;
    return this.#shown.now + (Math.min(at - this.#shown.at, CARRY_MS) / 1000) * this.#rate;
  }

  /** Server seconds in a real second. */
  get rate() {
    return this.#rate;
  }
}
