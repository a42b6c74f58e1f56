/** The time axis: which instants have a line and a label, depending on the zoom. */

import { DAY, date, month, timeOfDay, weekday } from "./format.js";

const STEPS = [60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200, DAY, 2 * DAY, 7 * DAY];
const MONTHS = [1, 3, 6, 12];
/** Start of the first week: 5 January 1970, a Monday. */
const MONDAY = 4 * DAY;
const MONTH = 30.4 * DAY;

function* multiples(start, end, step) {
  const origin = step === 7 * DAY ? MONDAY : 0;
  for (let at = origin + Math.floor((start - origin) / step) * step; at < end; at += step) yield at;
}

function* months(start, end, step) {
  const first = new Date(start * 1000);
  let index = first.getUTCFullYear() * 12 + first.getUTCMonth();
  index -= index % step;
  for (; ; index += step) {
    const at = Date.UTC(0, index) / 1000;
    // Date.UTC reads the years 0 to 99 as 1900 to 1999, so the year is set separately.
    const exact = new Date(at * 1000).setUTCFullYear(Math.floor(index / 12), index % 12, 1) / 1000;
    if (exact >= end) return;
    yield exact;
  }
}

/**
 * Lines and labels for a time range.
 * @param {number} start s
 * @param {number} end s
 * @param {number} perPixel seconds per pixel
 * @returns {{minor: {at: number, label: string}[], major: {at: number, label: string}[]}} instants of the two tiers;
 *   the first one of each is at or before the start
 */
export function ticks(start, end, perPixel) {
  const room = 64 * perPixel;
  const step = STEPS.find((candidate) => candidate >= room);
  if (step === undefined) {
    const count = MONTHS.find((candidate) => candidate * MONTH >= room * 1.4) ?? MONTHS.at(-1);
    const minor = [...months(start, end, count)].map((at) => ({ at, label: month(at).slice(0, 3) }));
    const year = (at) => String(new Date(at * 1000).getUTCFullYear());
    const major = [...months(start, end, 12)].map((at) => ({ at, label: year(at) }));
    return { minor, major };
  }
  const label = step < DAY ? timeOfDay : weekday;
  const minor = [...multiples(start, end, step)].map((at) => ({ at, label: label(at) }));
  const major =
    step < DAY
      ? [...multiples(start, end, DAY)].map((at) => ({ at, label: date(at) }))
      : [...months(start, end, 1)].map((at) => ({ at, label: month(at) }));
  return { minor, major };
}
