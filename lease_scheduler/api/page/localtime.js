/** Whether the page shows local time beside UTC in all its views: a choice of people, which the browser keeps. */

import { make } from "./elements.js";
import { bothInstants, localInstant, localRange, localZone, shortInstant } from "./format.js";
import { browserStore } from "./kept.js";

const KEY = "lease-scheduler.local-time";

class LocalTime extends EventTarget {
  /** A zone whose clocks are those of UTC is no choice. */
  #isElsewhere = localZone() !== "UTC";
  #isChosen = browserStore.getItem(KEY) !== null;

  /** Whether local time is shown beside UTC. */
  get isShown() {
    return this.#isElsewhere && this.#isChosen;
  }

  /** Let people choose with a box in the head of the page. What is called then shows the views anew. */
  offer(onChange) {
    const box = document.getElementById("local-time");
    box.closest("label").hidden = !this.#isElsewhere;
    box.checked = this.#isChosen;
    box.addEventListener("change", () => this.#choose(box.checked));
    this.addEventListener("change", onChange);
    this.#note();
  }

  /** What the captions say of their times after "times are UTC". */
  get note() {
    return this.isShown ? ", with local time below" : "";
  }

  /** An instant as local clocks show it; empty if that is not shown, or is UTC, or if there is no instant. */
  instant(seconds) {
    return this.isShown && Number.isFinite(seconds) ? localInstant(seconds) : "";
  }

  /** A start and an end as local clocks show them; empty if they are not shown, or are UTC, or if there is no start. */
  range(start, end) {
    return this.isShown && start !== null ? localRange(start, end) : "";
  }

  #choose(isChosen) {
    this.#isChosen = isChosen;
    if (isChosen) browserStore.setItem(KEY, "1");
    else browserStore.removeItem(KEY);
    this.#note();
    this.dispatchEvent(new Event("change"));
  }

  #note() {
    for (const place of document.querySelectorAll("[data-local-note]")) place.textContent = this.note;
  }
}

/** The choice. Its event "change" is for what does not follow from the views. */
export const localTime = new LocalTime();

/** An instant in a sentence, as UTC or as both. */
export const chosenInstant = (seconds) =>
  localTime.isShown && Number.isFinite(seconds) ? bothInstants(seconds) : shortInstant(seconds);

/** An instant for a cell of a table, with local time below it if that is shown. */
export function instantCell(seconds) {
  const local = localTime.instant(seconds);
  return local ? make("span", shortInstant(seconds), make("small", local)) : shortInstant(seconds);
}
