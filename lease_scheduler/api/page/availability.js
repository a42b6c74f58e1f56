/** The view that shows when nodes are available, with and without preemption of other leases. */

import { make, table } from "./elements.js";
import { instantOf, kindCounts, number, shortInstant } from "./format.js";
import { getJson, problemOf } from "./rest.js";

/** Maximum number of windows that are listed. */
const LISTED = 50;

/** One of the two answers: the earliest start, and the windows. */
function answer(title, found, withKinds) {
  const heads = ["From", "Until", "Nodes", ...(withKinds ? ["Preempted"] : [])];
  const rows = found.windows.slice(0, LISTED).map((window) => [
    shortInstant(instantOf(window.start)),
    shortInstant(instantOf(window.end)),
    number(window.count),
    ...(withKinds ? [kindCounts(window.preempted_kinds)] : []),
  ]);
  const first = found.earliest === null ? "Not within the next week." : `From ${shortInstant(instantOf(found.earliest))} on.`;
  const more = found.windows.length - rows.length;
  return make(
    "section", "",
    make("h3", title),
    make("p", first),
    ...(rows.length ? [table("Times are UTC", heads, rows)] : []),
    ...(more > 0 ? [make("p", `${number(more)} more, later ones.`)] : []),
  );
}

export class Availability {
  #form;
  #answer;
  #asked = 0;

  /** @param {HTMLElement} section element with a form and an element of class answer */
  constructor(section) {
    this.#form = section.querySelector("form");
    this.#answer = section.querySelector(".answer");
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#ask();
    });
  }

  async #ask() {
    const query = new URLSearchParams();
    for (const [key, value] of new FormData(this.#form)) {
      if (value) query.set(key, key === "duration" ? `${Math.round(value * 3600)}` : value);
    }
    const number = (this.#asked += 1);
    this.#answer.setAttribute("aria-busy", "true");
    let shown;
    try {
      const { availability } = await getJson(`v1/availability?${query}`);
      shown = [
        answer("As a reservation, which may preempt others", availability, true),
        answer("Without preempting other leases", availability.free, false),
      ];
    } catch (error) {
      shown = [make("p", problemOf(error))];
      shown[0].className = "refused";
    }
    // The answer to an older request may come later.
    if (number !== this.#asked) return;
    this.#answer.replaceChildren(...shown);
    this.#answer.removeAttribute("aria-busy");
  }
}
