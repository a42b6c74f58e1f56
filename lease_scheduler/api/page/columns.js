/** Columns of the tables of leases. */

import { duration, number, shortInstant } from "./format.js";
import { localTime } from "./localtime.js";
import { remaining } from "./model.js";
import { bandOf, shortSiteText } from "./sites.js";
import { stateText } from "./words.js";

const name = { key: "name", label: "Name", value: (lease) => lease.name, text: (lease) => lease.name };
const kind = {
  key: "kind", label: "Kind", value: (lease) => lease.kind, text: (lease) => lease.kind,
  style: (lease) => `kind kind-${lease.kind}`,
};
const state = {
  key: "state", label: "State", value: (lease) => stateText(lease.state), text: (lease) => stateText(lease.state),
};
const project = (model) => ({
  key: "project", label: "Project", value: (lease) => model.projectName(lease.project_id),
  text: (lease) => model.projectName(lease.project_id), style: () => "code",
});
/** The site of a lease, behind a gateway. */
const sites = (model) => (model.sites.length ? [{
  key: "site", label: "Site", value: (lease) => lease.site ?? null, text: shortSiteText,
  style: (lease) => bandOf(lease.site, model.sites),
}] : []);
const nodes = {
  key: "nodes", label: "Nodes", numeric: true, value: (lease) => lease.nodes, text: (lease) => number(lease.nodes),
};
const instant = (key, label) => ({
  key, label, numeric: true, value: (lease) => lease[key], text: (lease) => shortInstant(lease[key]),
  below: (lease) => localTime.instant(lease[key]),
});

/** Start of the first holding of a lease, or null if none is planned. */
const planned = (lease) => lease.holdings[0]?.start ?? null;

/**
 * Columns of the table of all leases.
 * @param {Model} model
 */
export const leaseColumns = (model) => [
  name, kind, state, ...sites(model), project(model), nodes, instant("start", "Start"), instant("end", "End"), instant("deadline", "Deadline"),
  instant("submitted", "Submitted"),
];

/**
 * Columns of the queue.
 * @param {() => number} now the server's instant, s
 * @param {Model} model
 */
export function queueColumns(now, model) {
  return [
    name,
    {
      key: "position", label: "Position", numeric: true, value: (lease) => lease.queue_position,
      text: (lease) => (Number.isInteger(lease.queue_position) ? number(lease.queue_position) : "–"),
    },
    state, ...sites(model), project(model), nodes, instant("submitted", "Submitted"),
    {
      key: "waiting", label: "Waiting", numeric: true, value: (lease) => now() - lease.submitted,
      text: (lease) => duration(now() - lease.submitted),
    },
    {
      key: "remaining", label: "Remaining", numeric: true, value: (lease) => remaining(lease, now()),
      text: (lease) => duration(remaining(lease, now())),
    },
    {
      key: "planned", label: "Planned for", numeric: true, value: planned, text: (lease) => shortInstant(planned(lease)),
      below: (lease) => localTime.instant(planned(lease)),
    },
  ];
}
