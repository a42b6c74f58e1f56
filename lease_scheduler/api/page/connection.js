/** The connection to the server: polls for changes, backs off on errors, asks for a token when one is needed. */

import { ServerError, getJson, keepToken, problemOf, token } from "./rest.js";

/** Wait after the first failure; doubles with every further one. */
const RETRY_MS = 2000;
const SHORTEST_WAIT_MS = 2000;
/** Seconds. */
const HOUR = 3600;
const LONGEST_WAIT_MS = 30000;
/** Interval of complete answers, which are necessary because changes do not include hosts that were removed. */
const COMPLETE_EVERY_MS = 300000;

const hasNews = (answer) => answer.complete || answer.leases.length > 0 || answer.removed.length > 0;

/**
 * Time until the next poll, ms.
 * @param {number} quiet number of answers without news since the last one with news
 * @param {number} least ms after an answer with news
 * @param {number} most ms
 * @param {number} speed by how much polls are more frequent
 */
export const intervalOf = (quiet, least, most, speed) =>
  Math.max(Math.min(least * 2 ** quiet, most) / speed, SHORTEST_WAIT_MS);

/**
 * Polls /v1/calendar, one request at a time.
 *
 * States: "loading" (no answer yet), "live", "lost" (no answer or an error; tries again), "token" (waits for a token).
 */
export class Connection {
  #onAnswer;
  #onStatus;
  #range = null;
  #answered = null;
  #revision = null;
  #sent = 0;
  #completeAt = 0;
  #failures = 0;
  #timer = null;
  #busy = false;
  #again = false;
  /** Whether somebody has asked for a poll while another one was on its way. */
  #wanted = false;
  #quiet = 0;
  /** Interval of polls, ms: after an answer with news, and when there has been none for long. */
  leastWait = 10000;
  mostWait = 20000;
  /** By how much polls are more frequent, at least 1: the clock of a simulated cloud may run fast. */
  speed = 1;
  status = { state: "loading", message: "", retryAt: null, trying: false };

  /**
   * @param {(answer: object, at: number, sent: number) => void} onAnswer gets a body, when it arrived and when it was
   *   requested, ms of performance.now()
   * @param {(status: {state: string, message: string, retryAt: number|null, trying: boolean}) => void} onStatus
   *   trying says that a poll is on its way after one that has failed
   */
  constructor(onAnswer, onStatus) {
    this.#onAnswer = onAnswer;
    this.#onStatus = onStatus;
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.status.state !== "token") this.poll();
    });
  }

  /**
   * Ask for another time range. Before the first call, the server chooses one.
   * @param {number} start s
   * @param {number} end s
   */
  setRange(start, end) {
    // Whole hours, so that many pages ask for the same, which the server has then already.
    this.#range = { start: Math.floor(start / HOUR) * HOUR, end: Math.ceil(end / HOUR) * HOUR };
    if (this.#busy) this.#again = true;
    else if (this.status.state === "live") this.#schedule(150);
  }

  /** Keep a token for this tab and poll with it; null deletes the kept token. */
  setToken(value) {
    keepToken(value);
    this.#answered = null;
    this.poll();
  }

  /** Poll now; if a poll is on its way, again after it, even if it fails. */
  async poll() {
    if (this.#busy) {
      this.#again = this.#wanted = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#busy = true;
    this.#again = this.#wanted = false;
    if (this.status.state === "lost") this.#setStatus("lost", this.status.message, null, true);
    const sender = token();
    try {
      const answer = await this.#ask();
      if (token() !== sender) {
        this.#startAgain();
        return;
      }
      this.#failures = 0;
      this.#setStatus("live");
      this.#onAnswer(answer, performance.now(), this.#sent);
      this.#quiet = hasNews(answer) ? 0 : this.#quiet + 1;
      this.#schedule(this.#again ? 0 : intervalOf(this.#quiet, this.leastWait, this.mostWait, this.speed));
    } catch (error) {
      if (token() === sender) this.#fail(error);
      else this.#startAgain();
    } finally {
      this.#busy = false;
    }
  }

  async #ask() {
    const range = this.#range;
    const since = this.#answered === range && performance.now() < this.#completeAt ? this.#revision : null;
    const query = new URLSearchParams();
    if (range) {
      query.set("start", range.start);
      query.set("end", range.end);
    }
    if (since !== null) query.set("since", since);
    this.#sent = performance.now();
    let answer = await getJson(`v1/calendar?${query}`);
    if (since !== null && !answer.complete && answer.revision < since) {
      // A smaller revision means that the server has another database, so a complete answer is necessary.
      query.delete("since");
      this.#sent = performance.now();
      answer = await getJson(`v1/calendar?${query}`);
    }
    this.#answered = range;
    this.#revision = answer.revision;
    if (answer.complete) this.#completeAt = performance.now() + COMPLETE_EVERY_MS;
    return answer;
  }

  /** Ask for everything: the answer was for another token than that of now. */
  #startAgain() {
    this.#answered = null;
    this.#schedule(0);
  }

  #fail(error) {
    if (error instanceof ServerError && error.status === 401) {
      this.#setStatus("token", token() ? "The server does not accept this token." : "");
      return;
    }
    const asked = error instanceof ServerError ? error.wait * 1000 : 0;
    const wait = this.#wanted ? 0 : Math.min(Math.max(RETRY_MS * 2 ** this.#failures, asked), LONGEST_WAIT_MS);
    this.#failures += 1;
    this.#setStatus("lost", problemOf(error), performance.now() + wait);
    this.#schedule(wait);
  }

  #schedule(wait) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // While the page is hidden there are no polls; the next one comes when it is visible.
      if (!document.hidden) this.poll();
    }, wait);
  }

  #setStatus(state, message = "", retryAt = null, trying = false) {
    this.status = { state, message, retryAt, trying };
    this.#onStatus(this.status);
  }
}
