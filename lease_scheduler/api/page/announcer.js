/** Announces changes to screen readers, no more often than people can listen. */

import { plural } from "./format.js";
import { stateText } from "./words.js";

const PAUSE_MS = 5000;
const NAMED = 3;

export class Announcer {
  #region;
  #waiting = new Map();
  #timer = null;
  #last = -Infinity;

  /** @param {HTMLElement} region element with aria-live="polite" */
  constructor(region) {
    this.#region = region;
  }

  /** Announce a text at once, in answer to an action of the user. */
  say(text) {
    this.#region.textContent = text;
    this.#last = performance.now();
  }

  /** Announce the new state of a lease, together with other leases that change before the next announcement. */
  changed(lease) {
    this.#waiting.set(lease.id, lease);
    if (this.#timer === null) this.#wait();
  }

  #wait() {
    const wait = Math.max(0, this.#last + PAUSE_MS - performance.now());
    this.#timer = setTimeout(() => this.#flush(), wait);
  }

  #flush() {
    if (performance.now() < this.#last + PAUSE_MS) {
      // Meanwhile the answer to an action was announced, which people have to be able to hear.
      this.#wait();
      return;
    }
    const leases = [...this.#waiting.values()];
    const named = leases.slice(0, NAMED).map((lease) => `${lease.name} is ${stateText(lease.state)}`);
    const more = leases.length - NAMED;
    this.say(named.join(", ") + (more > 0 ? `, and ${plural(more, "more change")}` : ""));
    this.#waiting.clear();
    this.#timer = null;
  }
}
