/** Series: from the fields of the form to the rule by which a lease repeats. */

import { localZone } from "./format.js";

const RULES = { daily: "FREQ=DAILY", weekdays: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", weekly: "FREQ=WEEKLY" };

/** Whether the form asks for a series. Only reservations can repeat. */
export const repeats = (values) => values.kind === "reservation" && values.repeat !== "";

/** Names of the fields that a series needs, and that are empty. */
export const missingOfRepeat = (values) =>
  repeats(values) && !values.repeat_count.trim() && !values.repeat_until ? ["repeat_count"] : [];

/** The body of POST /v1/series for a form and the body of its first lease. */
export function seriesBody(values, lease) {
  const end = values.repeat_until ? `UNTIL=${values.repeat_until.replaceAll("-", "")}` : `COUNT=${values.repeat_count.trim()}`;
  const zone = values.repeat_local ? { time_zone: localZone() } : {};
  return { name: lease.name, rule: `${RULES[values.repeat]};${end}`, ...zone, lease };
}

const PERIODS = { HOURLY: "every hour", DAILY: "every day", WEEKLY: "every week", MONTHLY: "every month", YEARLY: "every year" };

/** When a series repeats, in words where the rule is one of this page, else the rule itself; with its time zone. */
export function ruleText({ rule, time_zone: zone }) {
  const [, base, name, value] = /^(.*);(COUNT|UNTIL)=(\w+)$/.exec(rule) ?? [];
  const words = base === RULES.weekdays ? "Monday to Friday" : PERIODS[/^FREQ=(\w+)$/.exec(base ?? "")?.[1]];
  const date = value?.replace(/^(\d{4})(\d\d)(\d\d).*$/, "$1-$2-$3");
  const text = words ? `${words}, ${name === "COUNT" ? `${value} times` : `until ${date}`}` : rule;
  return zone ? `${text}, by the clocks of ${zone}` : text;
}
