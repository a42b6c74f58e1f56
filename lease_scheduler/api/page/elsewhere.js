/** What other sites would grant when the site that people wish for refuses. */

import { postJson } from "./rest.js";

/** How alternatives of a gateway begin that name a site in place of a changed term. */
const AT = "at ";

/** The site of an alternative, or null if it has none. */
export const siteOf = ({ change }) => (change?.startsWith(AT) ? change.slice(AT.length) : null);

const countOf = ({ nodes = [], reservations = [] }) =>
  [...nodes.map(({ count }) => count), ...reservations.map(({ amount }) => amount)].reduce((sum, count) => sum + count, 0);

/**
 * Alternatives of other sites for a request that names one; none if it names none. Those with ``isSame`` have the terms
 * of the request.
 * @param {object} body of the request for the lease
 */
export async function elsewhere({ site, ...anywhere }) {
  if (!site) return [];
  try {
    const { quote } = await postJson("v1/quotes", anywhere);
    if (!quote.granted) return quote.alternatives.filter((each) => siteOf(each) !== site);
    const { start, end, preempted_kinds } = quote;
    return [{ change: `${AT}${quote.site}`, start, end, count: countOf(anywhere), preempted_kinds, isSame: true }];
  } catch {
    // The refusal is what people need to see.
    return [];
  }
}

/** A quote and, if it refuses, the alternatives of other sites. */
export async function withOthers(quote, body) {
  return quote.granted ? quote : { ...quote, alternatives: [...quote.alternatives, ...(await elsewhere(body))] };
}
