/** The time axis: which instants have a line and a label, depending on the zoom. */

import { DAY, date, month, offsetAt, timeOfDay, weekday, zoneAt } from "./format.js";

const STEPS = [60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200, DAY, 2 * DAY, 7 * DAY];
const MONTHS = [1, 3, 6, 12];
/** Start of the first week: 5 January 1970, a Monday. */
const MONDAY = 4 * DAY;
const MONTH = 30.4 * DAY;
/** Least distance of lines, px. */
const ROOM = 64;

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

const shortMonth = (at) => month(at).slice(0, 3);

/** Distance of the lines in seconds, or undefined if they are months. */
const stepOf = (perPixel) => STEPS.find((candidate) => candidate >= ROOM * perPixel);

/** First instants of months, for lines that are no days. */
function monthMarks(start, end, perPixel) {
  const count = MONTHS.find((candidate) => candidate * MONTH >= ROOM * perPixel * 1.4) ?? MONTHS.at(-1);
  return [...months(start, end, count)];
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
  const step = stepOf(perPixel);
  if (step === undefined) {
    const minor = monthMarks(start, end, perPixel).map((at) => ({ at, label: shortMonth(at) }));
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

/**
 * The instants at which local clocks show a time, given as the instant at which clocks in UTC show it. A time that is
 * skipped has none, and one that is repeated has two. A day whose midnight is skipped begins when the clocks change.
 */
function instantsOf(shown) {
  const before = shown - offsetAt(shown - DAY);
  const found = [...new Set([before, shown - offsetAt(shown + DAY)])].filter((at) => at + offsetAt(at) === shown);
  return found.length || shown % DAY ? found : [before];
}

/**
 * Lines and labels of local time for a time range. They are at round local times, which in some zones are not those of
 * UTC. A label names the day where one begins, and the zone where the clocks have changed since the label before.
 * @returns {{at: number, label: string, isDay: boolean}[]} isDay: whether a day begins between the lines of its hours
 */
export function localTicks(start, end, perPixel) {
  const step = stepOf(perPixel);
  const offsets = [offsetAt(start), offsetAt(end)];
  const [first, last] = [start + Math.min(...offsets), end + Math.max(...offsets)];
  const shown = step === undefined ? monthMarks(first, last, perPixel) : [...multiples(first, last, step)];
  const byInstant = new Map();
  for (const time of shown) {
    // Where midnight is skipped, the new day has the line of the hour to which the clocks go.
    for (const at of instantsOf(time)) if (!byInstant.has(at)) byInstant.set(at, time);
  }
  const found = [...byInstant].sort(([at], [other]) => at - other);
  return found.map(([at, time], index) => {
    const isDay = time % DAY === 0;
    const text = step === undefined ? shortMonth(time) : isDay ? weekday(time) : timeOfDay(time);
    const isChanged = index > 0 && offsetAt(at) !== offsetAt(found[index - 1][0]);
    return { at, label: isChanged ? `${text} ${zoneAt(at)}` : text, isDay: isDay && step < DAY };
  });
}
