/** The settings of the user: view, filters, zoom. They are in the hash of the address, so that links include them. */

import { GROUPS, KINDS, groupOf, isBusy } from "./model.js";

export const VIEWS = ["timeline", "queue", "leases", "free", "shares", "project"];

/** The known values in a list, or all known values if there is no list. */
function chosen(text, known) {
  return new Set(text === null ? known : text.split(",").filter((value) => known.includes(value)));
}

/** A positive number, or null. */
function positive(text) {
  const value = Number(text);
  return text !== null && Number.isFinite(value) && value > 0 ? value : null;
}

/** Read the settings from a hash such as "#view=queue&kind=deadline". */
export function readSettings(hash) {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  const rows = values.get("rows");
  return {
    view: VIEWS.includes(values.get("view")) ? values.get("view") : "timeline",
    kinds: chosen(values.get("kind"), KINDS),
    groups: chosen(values.get("state"), Object.keys(GROUPS)),
    // null: the own project if the user has one, else all; an empty text: all
    project: values.get("project"),
    name: values.get("name") ?? "",
    site: values.get("site") ?? "",
    lease: values.get("lease"),
    span: positive(values.get("span")),
    start: positive(values.get("start")),
    rows: positive(rows) ?? "fit",
  };
}

/** The hash for settings, without those that have their default. */
export function writeSettings(settings) {
  const values = new URLSearchParams();
  if (settings.view !== "timeline") values.set("view", settings.view);
  if (settings.kinds.size < KINDS.length) values.set("kind", [...settings.kinds].join(","));
  if (settings.groups.size < Object.keys(GROUPS).length) values.set("state", [...settings.groups].join(","));
  if (settings.project !== null) values.set("project", settings.project);
  if (settings.name) values.set("name", settings.name);
  if (settings.site) values.set("site", settings.site);
  if (settings.lease) values.set("lease", settings.lease);
  if (settings.span !== null) values.set("span", Math.round(settings.span));
  if (settings.start !== null) values.set("start", Math.round(settings.start));
  if (settings.rows !== "fit") values.set("rows", settings.rows);
  const text = values.toString().replaceAll("%2C", ",");
  return text && `#${text}`;
}

/** The settings with the project that they stand for. */
export const inEffect = (settings, own) => ({ ...settings, project: settings.project ?? own?.id ?? "" });

/** Whether people have set any filter. */
export const isFiltered = (settings) =>
  settings.kinds.size < KINDS.length ||
  settings.groups.size < Object.keys(GROUPS).length ||
  Boolean(settings.project) ||
  settings.site !== "" ||
  settings.name !== "";

/** A function that returns whether a lease passes the filters. The name filter matches parts of names, or an id. */
export function matcher(settings) {
  const name = settings.name.trim().toLowerCase();
  return (lease) =>
    !isBusy(lease) &&
    (settings.kinds.has(lease.kind) || !KINDS.includes(lease.kind)) &&
    settings.groups.has(groupOf(lease)) &&
    (!settings.project || lease.project_id === settings.project) &&
    (!settings.site || lease.site === settings.site) &&
    (!name || lease.name.toLowerCase().includes(name) || lease.id.toLowerCase() === name);
}
