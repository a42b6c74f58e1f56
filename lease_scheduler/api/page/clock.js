/**
 * The server's clock between two answers. It may run faster than real time, so its speed is computed from the last two
 * answers. The server sends whole seconds: a small difference from real time is rounding, not speed.
 */

/** Real milliseconds for which the clock goes on without a new answer. */
const CARRY_MS = 25000;
/** Seconds of difference that are not speed: one for rounding, and half of one for slow scripts. */
const ROUNDING = 1.5;

/**
 * Whether a clock in real time could have given both answers. The server has answered some time between a request and
 * its arrival, and performance.now() stands still while the viewer's machine sleeps.
 */
function isReal(before, after) {
  const passed = after.now - before.now;
  const least = (after.sent - before.at) / 1000;
  const most = (after.at - before.sent) / 1000;
  const slept = (after.wall - before.wall) / 1000;
  return (
    (passed >= least - ROUNDING && passed <= most + ROUNDING) ||
    Math.abs(passed - slept) <= ROUNDING + (after.at - after.sent) / 1000
  );
}

export class Clock {
  #told = null;
  #shown = null;
  #rate = 1;

  /**
   * Set the clock from an answer.
   * @param {number} now the server's instant in the answer, s
   * @param {number} at when the answer arrived, ms of performance.now()
   * @param {number} sent when the request was sent, ms of performance.now()
   * @param {number} wall the viewer's time when the answer arrived, ms of Date.now()
   */
  take(now, at, sent = at, wall = Date.now()) {
    const told = { now, at, sent, wall };
    if (this.#told && at > this.#told.at) {
      const passed = now - this.#told.now;
      this.#rate = passed < 0 || isReal(this.#told, told) ? 1 : passed / ((at - this.#told.at) / 1000);
    }
    this.#told = told;
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
