/** The agenda: the leases in sight as a list by day, the next one first. Narrow windows show it in place of the chart. */

import { make } from "./elements.js";
import { date, plural, shortInstant, startOfDay, timeOfDay } from "./format.js";
import { browserStore } from "./kept.js";
import { chosenInstant, localTime } from "./localtime.js";
import { groupOf, isOffered } from "./model.js";
import { shortSiteText } from "./sites.js";
import { stateText } from "./words.js";

const NARROW = "(max-width: 40rem)";
/** Whether people have chosen the chart in narrow windows. It is kept in the browser. */
const KEY = "lease-scheduler.chart";
const NOT_PLANNED = "Not planned yet";

const element = (id) => document.getElementById(id);

/** The day of a lease that runs or is planned, as the first instant of it, or null. What runs is of today. */
const dayOf = (lease, now) => (lease.start === null ? null : startOfDay(Math.max(lease.start, now)));

/**
 * Leases that are not over, by day.
 * @returns {{day: number|null, leases: object[]}[]} the present day first; null for leases that are not planned yet, last
 */
export function byDay(leases, now) {
  const at = (lease) => lease.start ?? Infinity;
  const next = leases.filter((lease) => groupOf(lease) !== "past").sort((a, b) => at(a) - at(b) || a.submitted - b.submitted);
  const days = new Map();
  for (const lease of next) {
    const day = dayOf(lease, now);
    days.set(day, [...(days.get(day) ?? []), lease]);
  }
  return [...days].map(([day, found]) => ({ day, leases: found }));
}

/** The times of a lease: hours, and the day of an end on another day. */
function times({ start, end }, day) {
  if (start === null) return "";
  const from = start < day ? `since ${shortInstant(start)}` : timeOfDay(start);
  if (end === null) return from;
  return `${from} to ${startOfDay(end) === day ? timeOfDay(end) : shortInstant(end)}`;
}

export class Agenda {
  #list;
  #toggle;
  #now;
  #onOpen;
  #narrow = matchMedia(NARROW);
  #shown = "";

  /**
   * @param {HTMLElement} section element with places for days and a button that loads later leases
   * @param {{now: () => number, onOpen: (id: string) => void, onLater: () => void, onSwitch: () => void}} parts onLater
   *   loads later leases; onSwitch shows what is chosen now
   */
  constructor(section, { now, onOpen, onLater, onSwitch }) {
    this.#list = section.querySelector(".days");
    this.#toggle = element("agenda-toggle");
    this.#now = now;
    this.#onOpen = onOpen;
    section.querySelector(".later").addEventListener("click", onLater);
    this.#toggle.addEventListener("click", () => {
      this.choose(this.isChosen);
      onSwitch();
    });
    this.#narrow.addEventListener("change", onSwitch);
  }

  /** Whether the agenda is to be shown in place of the chart. */
  get isChosen() {
    return this.#narrow.matches && browserStore.getItem(KEY) === null;
  }

  /** Choose the chart, or the agenda again, for narrow windows. */
  choose(isChart) {
    if (isChart) browserStore.setItem(KEY, "1");
    else browserStore.removeItem(KEY);
  }

  /** Show the agenda or the chart in the view of the timeline. */
  show(isTimeline) {
    const { isChosen } = this;
    element("agenda").hidden = !isChosen;
    element("agenda").setAttribute("aria-label", `Agenda, times are UTC${localTime.note}`);
    for (const id of ["chart", "legend"]) element(id).hidden = isChosen;
    element("tools").hidden = !isTimeline || isChosen;
    this.#toggle.hidden = !isTimeline || !this.#narrow.matches;
    this.#toggle.textContent = isChosen ? "Chart" : "Agenda";
  }

  /** Show these leases. The same ones again leave the focus where it is. */
  setLeases(leases, until) {
    const days = byDay(leases, this.#now());
    const parts = days.map(({ day, leases: found }) => [day === null ? NOT_PLANNED : date(day), found.map((lease) => [lease, this.#texts(lease, day)])]);
    const shown = JSON.stringify(parts.map(([title, found]) => [title, found.map(([{ id }, texts]) => [id, texts])]));
    element("agenda").querySelector(".until").textContent = until === null ? "" : `Leases until ${chosenInstant(until)}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const focused = this.#list.contains(document.activeElement) ? document.activeElement.dataset.lease : null;
    const sections = parts.map(([title, found]) => this.#day(title, found));
    this.#list.replaceChildren(...(sections.length ? sections : [make("p", "No lease runs or is planned at this time.")]));
    if (focused) [...this.#list.querySelectorAll("button")].find(({ dataset }) => dataset.lease === focused)?.focus();
  }

  #texts(lease, day) {
    const held = isOffered(lease) ? `held until ${chosenInstant(lease.offered_until)}` : stateText(lease.state);
    return [lease.name, times(lease, day), localTime.range(lease.start, lease.end), [held, plural(lease.nodes, "node"), shortSiteText(lease)].filter(Boolean).join(", "), lease.kind];
  }

  #day(title, found) {
    const list = make("ul");
    for (const [lease, [name, when, local, state, kind]] of found) {
      const mark = make("span", kind);
      mark.className = `kind kind-${kind}`;
      const button = make("button", "", make("strong", name), make("span", when), make("small", state), mark);
      if (local) button.children[1].after(Object.assign(make("small", local), { className: "local" }));
      button.type = "button";
      button.dataset.lease = lease.id;
      button.addEventListener("click", () => this.#onOpen(lease.id));
      list.append(make("li", "", button));
    }
    return make("section", "", make("h2", title), list);
  }
}
