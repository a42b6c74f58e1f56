/** Tells screen readers what has changed, not more often than one can listen to. */

import { plural } from "./format.js";

const PAUSE_MS = 5000;
const NAMED = 3;

export class Announcer {
  #region;
  #waiting = new Map();
  #timer = null;
  #last = -Infinity;

  /** @param {HTMLElement} region with aria-live="polite" */
  constructor(region) {
    this.#region = region;
  }

  /** Say something at once, in answer to what somebody did. */
  say(text) {
    this.#region.textContent = text;
  }

  /** Say in which state a lease is now, together with others that change meanwhile. */
  changed(lease) {
    this.#waiting.set(lease.id, lease);
    if (this.#timer === null) {
      const wait = Math.max(0, this.#last + PAUSE_MS - performance.now());
      this.#timer = setTimeout(() => this.#flush(), wait);
    }
  }

  #flush() {
    const leases = [...this.#waiting.values()];
    const named = leases.slice(0, NAMED).map((lease) => `${lease.name} is ${lease.state}`);
    const more = leases.length - NAMED;
    this.say(named.join(", ") + (more > 0 ? `, and ${plural(more, "more change")}` : ""));
    this.#waiting.clear();
    this.#timer = null;
    this.#last = performance.now();
  }
}
