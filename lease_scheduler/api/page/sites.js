/** The sites behind a gateway, which are the rows of its timeline. A site itself has none. */

/** Number of colours of bands (see calendar.css and palette.js); further sites have the same ones again. */
export const BANDS = 6;

/** What the page says of a site that does not answer. */
export const SILENT = "does not answer";

/** The row of a site on the timeline. All leases at the site are on it, in lanes. */
export const rowOfSite = ({ name, unreachable_since: since }, index) => ({
  id: name, name, state: since === null ? "up" : "down", vcpus: 0, memory_mb: 0, stands_for: "site", band: index % BANDS,
});

/**
 * One stretch for a lease of which the gateway has no plan: it is over, or has started after it had waited. Without an
 * end, it is as long as its duration.
 */
function stretchOf({ start, end, duration }) {
  const last = end ?? (start !== null && duration ? start + duration : null);
  if (start === null || last === null) return [];
  return [{ start, run_start: start, run_end: last, end: last, closing: "shutdown" }];
}

/** A lease with its site in the place of hosts, which the gateway does not know. */
export function atSite(lease) {
  if (!lease.site) return lease;
  const holdings = lease.holdings.length ? lease.holdings : stretchOf(lease);
  return { ...lease, holdings: holdings.map((held) => ({ ...held, hosts: [lease.site] })) };
}

/** The class that gives an element the colour of a site. */
export const bandOf = (site, sites) => {
  const index = sites.findIndex(({ name }) => name === site);
  return index < 0 ? "" : `band band-${index % BANDS}`;
};

/** The site of a lease in few words, or an empty text. */
export const shortSiteText = ({ site, unreachable }) => (unreachable ? `${site} (${SILENT})` : (site ?? ""));

/** The site of a lease in words, or null if it has none. */
export function siteText({ site, unreachable }) {
  if (!site) return null;
  return unreachable ? `${site}, which ${SILENT}; this is what was last known` : site;
}
