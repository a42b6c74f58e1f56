/** The view that shows when nodes are available, with and without preemption of other leases. */

import { make, table } from "./elements.js";
import { bothInstants, instantOf, kindCounts, localInstant, number, shortInstant } from "./format.js";
import { getJson, problemOf } from "./rest.js";

/** Maximum number of windows that are listed. */
const LISTED = 50;

/** An instant in UTC, and below it where the viewer is. */
const cell = (seconds) => make("span", shortInstant(seconds), make("small", localInstant(seconds)));

/** One of the two answers: the earliest start, and the windows; each has a button if there is something that books it. */
function answer(title, found, { withKinds, onBook }) {
  const heads = ["From", "Until", "Nodes", ...(withKinds ? ["Preempted"] : []), ...(onBook ? ["Lease"] : [])];
  const rows = found.windows.slice(0, LISTED).map((window) => [
    cell(instantOf(window.start)),
    cell(instantOf(window.end)),
    number(window.count),
    ...(withKinds ? [kindCounts(window.preempted_kinds)] : []),
    ...(onBook ? [bookButton(() => onBook(instantOf(window.start)))] : []),
  ]);
  const first = found.earliest === null ? "Not within the next week." : `From ${bothInstants(instantOf(found.earliest))} on.`;
  const more = found.windows.length - rows.length;
  return make(
    "section", "",
    make("h3", title),
    make("p", first),
    ...(rows.length ? [table("Times are UTC", heads, rows)] : []),
    ...(more > 0 ? [make("p", `${number(more)} more, later ones.`)] : []),
  );
}

/** What was asked for, from an instant on, for the form of a new lease. */
function leaseOf({ count, vcpus, memory_mb: memory, duration, pool }, start) {
  const others = { DISK_GB: "", exclusive: false, resources: "", groups: "", traits: "", per_host: "", flavor: "" };
  const values = { ...others, count, VCPU: vcpus, MEMORY_MB: memory, pool };
  return { start, end: start + Math.round(duration * 3600), values };
}

function bookButton(onClick) {
  const button = Object.assign(make("button", "Book this"), { type: "button" });
  button.addEventListener("click", onClick);
  return button;
}

export class Availability {
  #form;
  #answer;
  #asked = 0;
  #mayBook;
  #onBook;

  /**
   * @param {HTMLElement} section element with a form and an element of class answer
   * @param {{mayBook: () => boolean, onBook: (chosen: object) => void}} actions onBook opens the form of a new lease (see
   *   NewLease.open)
   */
  constructor(section, { mayBook, onBook }) {
    this.#mayBook = mayBook;
    this.#onBook = onBook;
    this.#form = section.querySelector("form");
    this.#answer = section.querySelector(".answer");
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#ask();
    });
  }

  async #ask() {
    const query = new URLSearchParams();
    const asked = Object.fromEntries(new FormData(this.#form));
    for (const [key, value] of Object.entries(asked)) {
      if (value) query.set(key, key === "duration" ? `${Math.round(value * 3600)}` : value);
    }
    const number = (this.#asked += 1);
    this.#answer.setAttribute("aria-busy", "true");
    let shown;
    try {
      const { availability } = await getJson(`v1/availability?${query}`);
      const onBook = this.#mayBook() ? (start) => this.#onBook(leaseOf(asked, start)) : null;
      shown = [
        answer("As a reservation, which may preempt others", availability, { withKinds: true, onBook }),
        answer("Without preempting other leases", availability.free, { withKinds: false, onBook }),
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
