/** The view of the shares of projects: what each of them had in each hour of the last day, and where it stands. */

import { definitions, make, table } from "./elements.js";
import { instantOf, number, plural, shortInstant, timeOfDay } from "./format.js";
import { chosenInstant, instantCell, localTime } from "./localtime.js";
import { getJson, problemOf } from "./rest.js";

const EVERY_MS = 15000;
const SVG = "http://www.w3.org/2000/svg";
/** Projects with a colour of their own; the others share one. */
const SHOWN = 7;
const OTHERS = "other projects";
const HEIGHT = 160;
const COLUMN = 24;
const GAP = 3;

const percent = (share) => (share === null || share === undefined ? "–" : `${number(Math.round(share * 1000) / 10)} %`);
const hoursOf = (flow) => flow.hours.map(({ share }) => share ?? 0);

/** The flows that get a colour, the one with the largest share of the day first; those that are left are one series. */
function seriesOf(flows) {
  const used = flows.filter((flow) => flow.share_of_last_day > 0);
  used.sort((a, b) => b.share_of_last_day - a.share_of_last_day || a.name.localeCompare(b.name));
  const series = used.slice(0, SHOWN).map((flow) => ({ name: flow.name, hours: hoursOf(flow) }));
  const rest = used.slice(SHOWN);
  if (rest.length) {
    const hours = rest.map(hoursOf);
    series.push({ name: OTHERS, hours: hours[0].map((_, index) => hours.reduce((sum, each) => sum + each[index], 0)) });
  }
  return series;
}

function drawn(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A column for each hour, with a piece for each project. */
function chart(series, starts) {
  const width = starts.length * (COLUMN + GAP);
  const pieces = starts.flatMap((start, index) => {
    let top = HEIGHT;
    return series.flatMap(({ name, hours }, turn) => {
      const height = hours[index] * HEIGHT;
      if (!height) return [];
      top -= height;
      const title = drawn("title", {}, `${name}: ${percent(hours[index])} from ${shortInstant(start)}`);
      return [drawn("rect", { class: `share-${turn}`, x: index * (COLUMN + GAP), y: top, width: COLUMN, height }, title)];
    });
  });
  const lines = [0, 0.5, 1].map((share) => {
    const y = HEIGHT - share * HEIGHT;
    return drawn("line", { class: "grid", x1: 0, y1: y, x2: width, y2: y });
  });
  const labels = starts.flatMap((start, index) =>
    index % 4 ? [] : [drawn("text", { x: index * (COLUMN + GAP), y: HEIGHT + 16 }, timeOfDay(start))]);
  const label = `Shares of ${plural(series.length, "project")} in each hour of the last day`;
  return drawn(
    "svg", { viewBox: `0 -4 ${width} ${HEIGHT + 26}`, role: "img", "aria-label": label }, ...lines, ...pieces, ...labels,
  );
}

function legend(series) {
  const list = make("ul");
  for (const [turn, { name }] of series.entries()) {
    const swatch = drawn("svg", { class: "swatch", viewBox: "0 0 1 1", "aria-hidden": "true" });
    swatch.append(drawn("rect", { class: `share-${turn}`, width: 1, height: 1 }));
    list.append(make("li", "", swatch, name));
  }
  return list;
}

/** The own project in words, for somebody who sees only that. */
function standing(flow) {
  return definitions([
    ["Project", flow.name],
    ["Share", percent(flow.share)],
    ["Share of the last day", percent(flow.share_of_last_day)],
    ["Behind by", `${number(flow.owed_host_hours)} host-hours`],
    ["Queued leases", number(flow.queued)],
    ["Next expected start", chosenInstant(firstStart(flow))],
  ]);
}

const firstStart = (flow) =>
  flow.leases.map((lease) => instantOf(lease.expected_start)).filter((start) => start !== null).sort((a, b) => a - b)[0];

function standings(flows) {
  const heads = ["Project", "Weight", "Share", "Last day", "Behind, host-hours", "Queued", "Next expected start"];
  const rows = flows.map((flow) => [
    flow.name,
    flow.weight === null ? "–" : number(flow.weight),
    percent(flow.share),
    percent(flow.share_of_last_day),
    number(flow.owed_host_hours),
    number(flow.queued),
    instantCell(firstStart(flow)),
  ]);
  return table(`Shares of all projects; times are UTC${localTime.note}`, heads, rows);
}

export class Shares {
  #answer;
  #asked = -Infinity;
  #number = 0;

  /** @param {HTMLElement} section element with an element of class answer */
  constructor(section) {
    this.#answer = section.querySelector(".answer");
    localTime.addEventListener("change", () => {
      this.#asked = -Infinity;
    });
  }

  /** Ask for the shares, unless that was done just now. */
  show() {
    if (performance.now() - this.#asked < EVERY_MS) return;
    this.#asked = performance.now();
    this.#ask();
  }

  /** Forget what is shown, because somebody else looks at the page. */
  clear() {
    this.#number += 1;
    this.#asked = -Infinity;
    this.#answer.replaceChildren();
  }

  async #ask() {
    const number = (this.#number += 1);
    let shown;
    try {
      const { flows } = await getJson("v1/flows?visible=true");
      shown = this.#parts(flows);
    } catch (error) {
      shown = [make("p", problemOf(error))];
      shown[0].className = "refused";
    }
    // The answer to an older request may come later.
    if (number === this.#number) this.#answer.replaceChildren(...shown);
  }

  #parts(flows) {
    if (!flows.length) return [make("p", "No project has had a lease yet.")];
    const series = seriesOf(flows);
    const starts = flows[0].hours.map(({ start }) => instantOf(start));
    const policy = ["winks", "budget"].includes(flows[0].policy)
      ? [] : [make("p", `Leases are not queued by shares here: the queueing policy is ${flows[0].policy}.`)];
    return [
      ...policy,
      ...(series.length ? [chart(series, starts), legend(series)] : [make("p", "Nothing was used in the last day.")]),
      flows.length === 1 ? standing(flows[0]) : standings(flows),
    ];
  }
}
