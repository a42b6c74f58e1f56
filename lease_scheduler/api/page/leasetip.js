/** What the page says of a lease or a host that somebody points at or selects. */

import { energy, localRange, plural, shortInstant } from "./format.js";
import { conditionOf, savedBy } from "./model.js";
import { shortSiteText } from "./sites.js";
import { stateText } from "./words.js";

/** Size, project and times of a lease. */
const times = (lease, model) => [
  `${plural(lease.nodes, "node")}, project ${model.projectName(lease.project_id)}`,
  `${shortInstant(lease.start)} to ${shortInstant(lease.end)}`,
  ...(lease.start !== null && localRange(lease.start, lease.end) ? [`${localRange(lease.start, lease.end)} where you are`] : []),
];

/** A lease in one sentence, for screen readers. */
export const spoken = (lease, model) => [lease.name, lease.kind, stateText(lease.state), ...(lease.site ? [`at ${shortSiteText(lease)}`] : []), ...times(lease, model)].join(", ");

/**
 * The lines beside the pointer, or null if there is nothing to say.
 * @param {object|null} lease lease at the pointer
 * @param {object|undefined} host host of the row at the pointer
 * @param {Model} model
 * @param {number} now s
 */
export function tipOf(lease, host, model, now) {
  const condition = host && conditionOf(host);
  const on = host && `${host.stands_for ? "" : "host "}${host.name}${condition ? `, ${condition}` : ""}`;
  if (lease) return [lease.name, `${lease.kind}, ${stateText(lease.state)}`, ...times(lease, model), on];
  if (!condition) return null;
  return [on, host.power && `${energy(savedBy(host, now))} saved by sleeping`].filter(Boolean);
}
