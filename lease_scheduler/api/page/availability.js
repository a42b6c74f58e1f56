/** The view that shows when nodes are available, with and without preemption of other leases. */

import { getJson } from "./connection.js";
import { make, table } from "./elements.js";
import { number, shortInstant } from "./format.js";

/** Maximum number of windows that are listed. */
const LISTED = 50;

const seconds = (text) => (text === null ? null : Date.parse(text) / 1000);

/** "2 best-effort leases, 1 deadline lease", or none. */
function preempted(kinds) {
  const texts = Object.entries(kinds).map(([kind, count]) => `${number(count)} ${kind} ${count === 1 ? "lease" : "leases"}`);
  return texts.join(", ") || "none";
}

/** One of the two answers: the earliest start, and the windows. */
function answer(title, found, withKinds) {
  const heads = ["From", "Until", "Nodes", ...(withKinds ? ["Preempted"] : [])];
  const rows = found.windows.slice(0, LISTED).map((window) => [
    shortInstant(seconds(window.start)),
    shortInstant(seconds(window.end)),
    number(window.count),
    ...(withKinds ? [preempted(window.preempted_kinds)] : []),
  ]);
  const first = found.earliest === null ? "Not within the next week." : `From ${shortInstant(seconds(found.earliest))} on.`;
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
      shown = [make("p", error.status ? error.message : "The server does not answer.")];
      shown[0].className = "refused";
    }
    // The answer to an older request may come later.
    if (number !== this.#asked) return;
    this.#answer.replaceChildren(...shown);
    this.#answer.removeAttribute("aria-busy");
  }
}
