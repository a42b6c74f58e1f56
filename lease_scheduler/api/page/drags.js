/** What dragging on the chart means: moving the chart, a new lease, or another time for a lease. */

import { proposalOf, runOf } from "./changes.js";
import { shortInstant, plural } from "./format.js";

const STEPS = [60, 300, 900, 3600, 6 * 3600, 86400];
/** Least distance between the instants that a drag can choose, px. */
const LEAST = 4;

/** The nearest round instant: as exact as the pointer can be. */
export function rounded(instant, perPixel) {
  const step = STEPS.find((candidate) => candidate >= LEAST * perPixel) ?? STEPS.at(-1);
  return Math.round(instant / step) * step;
}

/**
 * What a drag that begins at a place of the chart is.
 * @param {{lease: object|null, isEnd: boolean, row: number|null, instant: number, isPlot: boolean}} from the place, as
 *   Timeline.at gives it
 * @param {{mayBook: boolean, only: boolean}} how only: whether the person asks to move the chart only
 * @returns {{kind: "pan"|"range"|"start"|"end", from: object}}
 */
export function dragFrom(from, { mayBook, only }) {
  const is = (kind) => ({ kind, from });
  if (only || !from.isPlot) return is("pan");
  if (from.lease) {
    if (from.isEnd && proposalOf(from.lease, "end", runOf(from.lease).end)) return is("end");
    return is(proposalOf(from.lease, "start", runOf(from.lease).start ?? 0) ? "start" : "pan");
  }
  return is(mayBook && from.row !== null ? "range" : "pan");
}

/**
 * The instants and rows that a drag has chosen so far.
 * @param {{kind: string, from: object}} drag
 * @param {{instant: number, row: number|null}} to
 * @param {Timeline} timeline
 * @returns {{start: number, end: number, rows: number[], isNew: boolean}|
 *   {shift: number, instant: number, isNew: boolean}} for a new lease the interval, and the rows; for a lease the shift of
 *   what is dragged, s, and where it then is; isNew: whether that differs from what there is
 */
export function chosenBy({ kind, from }, to, timeline) {
  const { perPixel } = timeline;
  if (kind === "range") {
    const instants = [from.instant, to.instant].map((instant) => rounded(instant, perPixel)).sort((a, b) => a - b);
    const [first, last] = [from.row, to.row ?? from.row].sort((a, b) => a - b);
    const rows = timeline.hostRows(first, last);
    return { start: instants[0], end: instants[1], rows, isNew: instants[0] < instants[1] };
  }
  const old = runOf(from.lease)[kind];
  const instant = rounded(old + to.instant - from.instant, perPixel);
  return { shift: instant - old, instant, isNew: instant !== old };
}

/** What a drag would do, in words. */
export function dragText({ kind, from }, chosen) {
  if (kind === "range") {
    return ["New lease", plural(chosen.rows.length, "host"), `${shortInstant(chosen.start)} to ${shortInstant(chosen.end)} UTC`];
  }
  return [from.lease.name, `New ${kind}: ${shortInstant(chosen.instant)} UTC`];
}
