/** What the page says when there is nothing to show, and what one can do about it. */

import { plural } from "./format.js";
import { isFiltered } from "./settings.js";

/**
 * The message to show above the view, or instead of it, or null.
 * @param {object} page loaded (whether an answer has come), status of the connection, model, settings, and how many
 *   leases match the filters (matching)
 * @param {object} actions what buttons do: retry, book, clear (the filters), showAll (projects)
 */
export function whatToSay({ loaded, status, model, settings, matching }, actions) {
  if (status.state === "token") return null;
  if (!loaded && status.state === "lost") {
    const action = { label: status.trying ? "Trying…" : "Try again", run: actions.retry };
    return { kind: "error", title: "The calendar cannot be loaded", text: status.message, action, instead: true };
  }
  if (!loaded) return { kind: "loading", title: "Loading the calendar…", text: "", instead: true };
  if (!model.rows.length && !model.leases.size) {
    const text = "An administrator fills the pool with lease-scheduler-manage pool fill, or lease-scheduler-embedded "
      + "--fill-pool. Hosts then appear here, with the leases that are planned on them.";
    return { kind: "empty", title: "The pool has no hosts", text, instead: true };
  }
  if (!model.known().length && model.total) {
    const text = `There ${model.total === 1 ? "is" : "are"} ${plural(model.total, "lease")} at other times. Move the timeline or zoom out.`;
    return { kind: "empty", title: "There are no leases at this time", text };
  }
  if (!model.known().length) {
    const action = model.mayBook ? { label: "New lease", run: actions.book } : null;
    return { kind: "empty", title: "There are no leases yet", text: "", action };
  }
  if (!matching && !isFiltered(settings) && model.own) {
    const title = `There are no leases of the project ${model.own.name} at this time`;
    return { kind: "empty", title, text: "", action: { label: "Show all projects", run: actions.showAll } };
  }
  if (!matching) return { kind: "empty", title: "No lease matches the filters", text: "", action: { label: "Clear filters", run: actions.clear } };
  return null;
}
