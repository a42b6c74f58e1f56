/** Quotes: what a request would come to. Asks for them while people type, and shows them. */

import { alternativeText } from "./booking.js";
import { make } from "./elements.js";
import { bothInstants, instantOf, kindCounts, number } from "./format.js";
import { postJson, problemOf } from "./rest.js";

/** Milliseconds without a change after which a quote is asked for. */
const PAUSE_MS = 400;
const WOULD_FIT = /; would fit: .*$/s;
/** In place of a quote while an error is shown at a field. */
export const NOT_RIGHT = "A field is not right yet.";

/** The reason of a refusal, without the alternatives if they are shown as such. */
const reasonText = (reason, alternatives) => (alternatives.length ? reason.replace(WOULD_FIT, "") : reason);

/** When a lease ends of which nothing is planned after it is interrupted. */
function openEnd(earliest, latest) {
  if (latest === null) return `Ends at the earliest ${bothInstants(earliest)}.`;
  return `Ends between ${bothInstants(earliest)} and ${bothInstants(latest)}.`;
}

/** Which sites did not answer a gateway; the reason of a refusal says it as well. */
const silent = ({ unanswered = [] }) => (unanswered.length ? `No answer from ${unanswered.join(", ")}.` : "");

/**
 * A quote in sentences.
 * @param {object} quote of POST /v1/quotes or /v1/leases/{id}/quote
 * @returns {string[]} the verdict first
 */
export function sentences(quote) {
  if (!quote.granted) return [`Not possible: ${reasonText(quote.reason, quote.alternatives)}.`.replace(/\.\.$/, ".")];
  const [start, end, cut, latest] = ["start", "end", "preempted_at", "latest_end"].map((key) => instantOf(quote[key]));
  const place = Number.isInteger(quote.queue_position) ? `, place ${number(quote.queue_position)} in the queue` : "";
  const price = Number.isFinite(quote.price) ? `Price: ${number(quote.price)}` : "";
  const before = price && Number.isFinite(quote.present_price) ? `, now ${number(quote.present_price)}` : "";
  return [
    `Possible${quote.site ? ` at ${quote.site}` : ""}${quote.pool ? ` in pool ${quote.pool}` : ""}${place}.`,
    start === null ? "The start is not known yet." : `Starts ${bothInstants(start)}.`,
    cut === null ? "" : `Runs until ${bothInstants(cut)}, then makes room for other leases.`,
    end === null ? "" : cut === null || latest === end ? `Ends ${bothInstants(end)}.` : openEnd(end, latest),
    price ? `${price}${before}.` : "",
    quote.promise ? `Lifetime: ${quote.promise}.` : "",
    silent(quote),
    quote.preempted ? `Preempts ${kindCounts(quote.preempted_kinds)}.` : "No other lease has to make room.",
  ].filter(Boolean);
}

/** Show the alternatives of a refusal. Those that the form can express are buttons that fill it. */
function alternativeList(alternatives, onChoose, fits) {
  const list = make("ul");
  list.className = "alternatives";
  for (const alternative of alternatives) {
    const text = alternativeText(alternative);
    if (!fits(alternative)) {
      list.append(make("li", text));
      continue;
    }
    const button = make("button", text);
    button.type = "button";
    button.addEventListener("click", () => onChoose(alternative));
    list.append(make("li", "", button));
  }
  return list;
}

/** The view of a quote and of refusals. */
export class QuoteView {
  #element;
  #onChoose;
  #fits;
  #shown = "";
  /** The button that had the focus when a new answer was asked for, or null. */
  #focused = null;

  /**
   * @param {HTMLElement} element
   * @param {(alternative: object) => void} onChoose a person has chosen an alternative
   * @param {(alternative: object) => boolean} [fits] whether the form can express an alternative
   */
  constructor(element, onChoose, fits = () => true) {
    this.#element = element;
    this.#onChoose = onChoose;
    this.#fits = fits;
  }

  /** Show texts without a verdict. */
  say(...texts) {
    this.#fill("", texts, []);
  }

  /** Show a quote. */
  show(quote) {
    this.#fill(quote.granted ? "granted" : "refused", sentences(quote), quote.granted ? [] : quote.alternatives);
  }

  /**
   * Show why the server did not do something, and what it would do instead.
   * @param {string|null} label what the form calls the field that is the reason
   */
  refuse(error, hint = "", label = null) {
    const alternatives = error.alternatives ?? [];
    this.#fill("refused", [reasonText(problemOf(error, label), alternatives), hint].filter(Boolean), alternatives);
  }

  /** Show that a new answer is coming. The alternatives belong to terms that are not those of the form any more. */
  wait() {
    // A button that is disabled loses the focus.
    if (this.#element.contains(document.activeElement)) this.#focused = document.activeElement;
    this.#element.setAttribute("aria-busy", "true");
    for (const button of this.#buttons) button.disabled = true;
  }

  get #buttons() {
    return this.#element.querySelectorAll("button");
  }

  /** Let people use the buttons again, the one with the focus too if it went nowhere else meanwhile. */
  #resume() {
    for (const button of this.#buttons) button.disabled = false;
    if (document.activeElement === document.body) this.#focused?.focus();
    this.#focused = null;
  }

  #fill(verdict, texts, alternatives) {
    const shown = JSON.stringify([verdict, texts, alternatives]);
    this.#element.removeAttribute("aria-busy");
    if (shown === this.#shown) {
      // The same answer again is no news: new buttons would take away the focus, and the one that is being clicked.
      this.#resume();
      return;
    }
    this.#focused = null;
    this.#shown = shown;
    this.#element.dataset.verdict = verdict;
    const parts = texts.map((text) => make("p", text));
    if (alternatives.length) {
      parts.push(make("p", "Possible at present:"), alternativeList(alternatives, this.#onChoose, this.#fits));
    }
    this.#element.replaceChildren(...parts);
  }
}

/** Asks for quotes, after a pause. Only the answer to the latest question counts. */
export class Asker {
  #timer = null;
  #asked = 0;
  /** The question, or null if there is none. */
  #question = null;
  #onQuote;
  #onError;
  #complete;

  /**
   * @param {(quote: object) => void} onQuote
   * @param {(error: Error) => void} onError
   * @param {(quote: object, body: object) => Promise<object>} [complete] returns a quote with what else people need
   */
  constructor(onQuote, onError, complete = async (quote) => quote) {
    this.#onQuote = onQuote;
    this.#onError = onError;
    this.#complete = complete;
  }

  /** Ask soon, unless another question comes before. */
  ask(path, body) {
    this.stop();
    this.#question = [path, body];
    this.#send();
  }

  /** Ask the latest question again, because the site has changed. The answer that is shown stays until then. */
  again() {
    if (!this.#question) return;
    clearTimeout(this.#timer);
    this.#asked += 1;
    this.#send();
  }

  #send() {
    const number = this.#asked;
    const [path, body] = this.#question;
    this.#timer = setTimeout(async () => {
      try {
        const { quote: first } = await postJson(path, body);
        const quote = await this.#complete(first, body);
        if (number === this.#asked) this.#onQuote(quote);
      } catch (error) {
        if (number === this.#asked) this.#onError(error);
      }
    }, PAUSE_MS);
  }

  /** Forget the latest question. */
  stop() {
    this.#question = null;
    clearTimeout(this.#timer);
    this.#asked += 1;
  }
}
