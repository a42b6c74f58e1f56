/** What the form of a new lease sends once people have decided: a lease, a hold, or a series. */

import { bothInstants, instantOf, number, plural } from "./format.js";
import { repeats, seriesBody } from "./repeat.js";
import { getJson, postJson } from "./rest.js";

/**
 * What has come of an order.
 * @typedef {{lease: object|null, text: string, quote: object|null, refused: string[]}} Outcome lease to show, what has
 *   been done, the quote that refuses a hold, and which leases of a series were refused
 */
const outcome = (found) => ({ lease: null, text: "", quote: null, refused: [], ...found });

/** Book a lease. The same id again makes no second lease. */
async function book(body, id) {
  const { lease } = await postJson("v1/leases", { ...body, id });
  return outcome({ lease, text: `${lease.name} is booked${lease.site ? ` at ${lease.site}` : ""}` });
}

/** Hold a lease. It is an offer until it is accepted. */
async function hold(body) {
  const { quote } = await postJson("v1/quotes", { ...body, hold: true });
  if (!quote.granted) return outcome({ quote });
  const lease = { id: quote.lease_id, name: body.name, start_date: quote.start };
  return outcome({ lease, text: `${body.name} is held until ${bothInstants(instantOf(quote.expires_at))}` });
}

/** Book a series. Some of its leases may be refused; then none of the others is opened, so that the reasons stay in sight. */
async function bookSeries(values, body) {
  const { series } = await postJson("v1/series", seriesBody(values, body));
  const text = `${plural(series.leases.length, "lease")} of the series ${series.name} booked`;
  const refused = series.refused.map(({ start, message }) => `${bothInstants(instantOf(start))}: ${message}`);
  if (refused.length) return outcome({ text, refused });
  // The rule may make the first lease start later than the form says. The leases exist, whether this is answered or not.
  const { lease } = await getJson(`v1/leases/${series.leases[0]}`).catch(() => ({ lease: null }));
  return outcome({ lease, text });
}

/** What a failed order says if nobody knows whether the server has carried it out. */
export const doubt = (values, isHold) =>
  isHold ? "Look whether the lease is on the calendar before you hold it again."
  : repeats(values) ? "Look whether the leases are on the calendar before you book them again."
  : "Book again: the same request makes no second lease.";

/** The sentence above the refused leases of a series. */
export const refusedText = (refused) => `${number(refused.length)} refused:`;

/**
 * Send an order.
 * @param {object} values of the form
 * @param {object} body of the lease
 * @param {{id: string, isHold: boolean}} how id for a single lease; isHold asks for an offer
 * @returns {Promise<Outcome>}
 */
export function send(values, body, { id, isHold }) {
  if (isHold) return hold(body);
  return repeats(values) ? bookSeries(values, body) : book(body, id);
}
