/** The session that a dashboard hands to the page in its frame. */

import { isFramed } from "./kept.js";
import { getLogin, token } from "./rest.js";

const ASK = "lease-scheduler.ask";
const SESSION = "lease-scheduler.session";
/** Time that the dashboard has for an answer. */
const PATIENCE_MS = 5000;
/** Least time between two questions whether the session is still the same. */
const PAUSE_MS = 30000;
const TOKEN = /^[A-Za-z0-9._~+/=-]{1,8192}$/;
const ACTIONS = ["focus", "pointerdown", "keydown"];

/** The sites that may hand a session to the page: those that may show it in a frame. Null if the server does not say. */
async function allowedOrigins() {
  const offer = await getLogin().catch(() => null);
  return offer && (offer.frame_ancestors ?? []).map((site) => (site === "self" ? location.origin : site));
}

export class Handover {
  #onToken;
  #origins = null;
  #owner = null;
  #timer = null;
  #askedAt = -Infinity;

  /** @param {(token: string) => void} onToken gets each token that is new to the page */
  constructor(onToken) {
    this.#onToken = onToken;
    if (!isFramed) return;
    addEventListener("message", (event) => this.#take(event));
    for (const action of ACTIONS) addEventListener(action, () => this.#askAgain(), true);
  }

  /** Whether a dashboard has handed over a session. */
  get isDone() {
    return this.#owner !== null;
  }

  /**
   * Ask the page around this one for a session.
   * @param {() => void} otherwise called if there is no such page, or no other token from it in time
   */
  ask(otherwise) {
    if (isFramed) this.#askFor(otherwise);
    else otherwise();
  }

  async #askFor(otherwise) {
    this.#origins ??= await allowedOrigins();
    if (!this.#origins?.length) {
      otherwise();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(otherwise, PATIENCE_MS);
    this.#send();
  }

  /** Have the dashboard look whether its session is still the same, now that somebody does something here. */
  #askAgain() {
    if (this.isDone && performance.now() > this.#askedAt + PAUSE_MS) this.#send();
  }

  #send() {
    this.#askedAt = performance.now();
    // The question is no secret, and the page cannot know which of the sites shows it.
    window.parent.postMessage({ type: ASK }, "*");
  }

  #take({ source, origin, data }) {
    if (source !== window.parent || !this.#origins?.includes(origin) || data?.type !== SESSION) return;
    const { token: given, owner } = data;
    if (typeof given !== "string" || !TOKEN.test(given) || typeof owner !== "string") return;
    if (this.isDone && owner !== this.#owner) {
      // Nothing stays of the person or the project before.
      location.reload();
      return;
    }
    this.#owner = owner;
    // A token that the server has refused does not help.
    if (given === token()) return;
    clearTimeout(this.#timer);
    this.#onToken(given);
  }
}
