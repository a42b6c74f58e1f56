/** Numbers and instants as people read and write them. Instants are seconds since the epoch, shown in UTC. */

const MINUTE = 60;
const HOUR = 3600;
export const DAY = 86400;

/** Longer durations mean "without end". Leases without end last a hundred years, and no others half as long. */
const UNLIMITED = 50 * 365 * DAY;

const LANGUAGE = "en-GB";
const style = (options) => new Intl.DateTimeFormat(LANGUAGE, { timeZone: "UTC", hourCycle: "h23", ...options });
const LONG = style({
  weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
  second: "2-digit",
});
const SHORT = style({ day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
const TIME = style({ hour: "2-digit", minute: "2-digit" });
const DATE = style({ weekday: "short", day: "numeric", month: "short", year: "numeric" });
const WEEKDAY = style({ weekday: "short", day: "numeric" });
const MONTH = style({ month: "long", year: "numeric" });
const LOCAL = new Intl.DateTimeFormat(LANGUAGE, {
  weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short",
});
const ZONE = new Intl.DateTimeFormat(LANGUAGE, { timeZoneName: "short" });
const NUMBER = new Intl.NumberFormat(LANGUAGE);
const NAMES = new Intl.Collator(LANGUAGE, { numeric: true });

/** An instant with seconds, or a dash if there is none. */
export const longInstant = (seconds) => (seconds === null || seconds === undefined ? "–" : LONG.format(seconds * 1000));
/** An instant without seconds, or a dash if there is none. */
export const shortInstant = (seconds) =>
  seconds === null || seconds === undefined ? "–" : SHORT.format(seconds * 1000);
/** Hours and minutes. */
export const timeOfDay = (seconds) => TIME.format(seconds * 1000);
/** Weekday and date. */
export const date = (seconds) => DATE.format(seconds * 1000);
/** The first instant of the day of an instant. */
export const startOfDay = (seconds) => Math.floor(seconds / DAY) * DAY;
/** Weekday and day of the month. */
export const weekday = (seconds) => WEEKDAY.format(seconds * 1000);
/** Month and year. */
export const month = (seconds) => MONTH.format(seconds * 1000);
/** The time zone where the viewer is, such as "Europe/Berlin". */
export const localZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;
/** What the clocks where the viewer is then call their time, such as "GMT+1" or "CET". */
export const zoneAt = (seconds) => ZONE.formatToParts(seconds * 1000).find(({ type }) => type === "timeZoneName").value;
/** By how much the clocks where the viewer is are then ahead of UTC, s. */
export const offsetAt = (seconds) => -MINUTE * new Date(seconds * 1000).getTimezoneOffset();

const inLocal = (seconds) => LOCAL.format(seconds * 1000).replace(",", "");
/** Weekday and time of day where the viewer is, such as "Mon 13:00 GMT+1"; empty where that is UTC. */
export const localInstant = (seconds) => (offsetAt(seconds) ? inLocal(seconds) : "");
/** A start and an end where the viewer is, null for one that is not known; empty where both are UTC. */
export const localRange = (start, end) =>
  [start, end].some((seconds) => seconds !== null && localInstant(seconds))
    ? [start, end].map((seconds) => (seconds === null ? "–" : inLocal(seconds))).join(" to ")
    : "";
/** An instant in UTC without seconds, and where the viewer is unless that is UTC. */
export const bothInstants = (seconds) => [`${shortInstant(seconds)} UTC`, localInstant(seconds)].filter(Boolean).join(", ");
/** A number with separators. */
export const number = (value) => NUMBER.format(value);
/** Compare names so that node-2 comes before node-10. */
export const compareNames = NAMES.compare;

/** "1 host", "2 hosts". */
export const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

/** "2 best-effort leases, 1 deadline lease", or none, of the number of leases of each kind. */
export const kindCounts = (kinds) =>
  Object.entries(kinds).map(([kind, count]) => plural(count, `${kind} lease`)).join(", ") || "none";

/** Whether a duration means "without end". */
export const isUnlimited = (seconds) => seconds >= UNLIMITED;

/** A duration in a sentence: "for 2 h", or "without end". */
export const spell = (seconds) => (isUnlimited(seconds) ? duration(seconds) : `for ${duration(seconds)}`);

/** A duration with its two largest units, or a dash if there is none. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (isUnlimited(seconds)) return "without end";
  const whole = Math.max(0, Math.round(seconds));
  const parts = [
    [Math.floor(whole / DAY), "d"],
    [Math.floor((whole % DAY) / HOUR), "h"],
    [Math.floor((whole % HOUR) / MINUTE), "min"],
    [whole % MINUTE, "s"],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${number(amount)} ${unit}`)
    .join(" ");
}

/** An energy of some watt-hours, with three digits or more. */
export function energy(wattHours) {
  const kilo = Math.abs(wattHours) >= 1000;
  const value = kilo ? wattHours / 1000 : wattHours;
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${number(Number(value.toFixed(digits)))} ${kilo ? "kWh" : "Wh"}`;
}

/** A duration as the server reads it: "1d2h", "90s". */
export function durationText(seconds) {
  const parts = [[DAY, "d"], [HOUR, "h"], [MINUTE, "m"], [1, "s"]];
  let rest = Math.round(seconds);
  return parts
    .map(([unit, name]) => {
      const amount = Math.floor(rest / unit);
      rest -= amount * unit;
      return amount ? `${amount}${name}` : "";
    })
    .join("");
}

/** The seconds of a duration such as "1d2h" or "7200", or null if the text is none. */
export function secondsOfText(text) {
  const found = /^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?:in)?)?(?:(\d+)s?)?$/i.exec(text.replaceAll(/\s/g, ""));
  if (!found?.[0]) return null;
  return [7 * DAY, DAY, HOUR, MINUTE, 1].reduce((sum, unit, index) => sum + unit * Number(found[index + 1] ?? 0), 0);
}

/** An instant as a field for a date and a time holds it, with seconds if it has some. */
export const fieldOfInstant = (seconds) => new Date(seconds * 1000).toISOString().slice(0, seconds % MINUTE ? 19 : 16);

/** The instant in a field for a date and a time, which is UTC, or null if the field is empty. */
export const instantOfField = (text) => (text ? Date.parse(`${text}Z`) / 1000 : null);

/** An instant as the server reads it. */
export const isoInstant = (seconds) => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");

/** The instant in an answer of the server, or null. */
export const instantOf = (text) => (text ? Date.parse(/Z$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`) / 1000 : null);

/** Amounts of resource classes, such as "1 VGPU, 2 VCPU". */
const amounts = (resources) => Object.entries(resources).map(([name, amount]) => `${number(amount)} ${name}`).join(", ");

/** What a node needs of one device, such as "1 VGPU with CUSTOM_A100". */
const groupText = ({ resources, traits = [] }) =>
  traits.length ? `${amounts(resources)} with ${traits.join(", ")}` : amounts(resources);

/** A term of a reservation in words: a text, amounts of resource classes, a list, or groups of resources; "" if empty. */
export function termText(value) {
  if (value === null || typeof value !== "object") return String(value ?? "");
  if (!Array.isArray(value)) return amounts(value);
  const isOfGroups = value.some((each) => each?.resources);
  return isOfGroups ? value.map(groupText).join("; ") : value.join(", ");
}
