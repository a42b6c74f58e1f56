/**
 * The server's clock between two answers. It may run faster than real time, so its speed is taken from the last two
 * answers. The server tells whole seconds: a difference of one second to real time is rounding, not speed.
 */

/** How far, in real milliseconds, the clock is carried on without a new answer. */
const CARRY_MS = 6000;

export class Clock {
  #last = null;
  #rate = 1;

  /**
   * Take the instant of an answer.
   * @param {number} now instant that the server told, s
   * @param {number} at when the answer came, ms of performance.now()
   */
  take(now, at) {
    if (this.#last && at > this.#last.at) {
      const real = (at - this.#last.at) / 1000;
      const told = now - this.#last.now;
      this.#rate = told < 0 || Math.abs(told - real) <= 1 ? 1 : told / real;
    }
    this.#last = { now, at };
  }

  /** The server's instant, s, at the given real one, ms; none before the first answer. */
  now(at = performance.now()) {
    if (!this.#last) return null;
    return this.#last.now + (Math.min(at - this.#last.at, CARRY_MS) / 1000) * this.#rate;
  }

  /** Server seconds in a real second. */
  get rate() {
    return this.#rate;
  }
}
