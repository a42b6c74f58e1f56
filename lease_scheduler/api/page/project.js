/** The view of what a project has besides leases: its series, its calendar feeds, and whom the service tells about leases. */

import { bothInstants, instantOf, number } from "./format.js";
import { Listing } from "./listing.js";
import { ruleText } from "./repeat.js";

const since = ({ created_at: created }) => (created ? bothInstants(instantOf(created)) : "–");

/** Events that people can choose, besides all of them. */
const EVENTS = {
  times: [
    "lease.event.before_start_lease", "lease.event.start_lease", "lease.event.before_end_lease",
    "lease.event.before_end_lease.stop", "lease.event.end_lease",
  ],
  warnings: [
    "lease.event.before_end_lease", "lease.event.preemption_warning", "lease.event.idle", "lease.event.trust_missing",
    "lease.degraded", "lease.healed",
  ],
};

const SERIES = {
  path: "v1/series",
  key: "series",
  caption: "Leases that repeat",
  heads: ["Name", "Repeats", "Since"],
  row: (series) => [series.name, ruleText(series), since(series)],
  none: "There are no series. Repeat makes one in the form of a new lease.",
  remove: { label: "End", question: "Its leases that have not started are deleted." },
};

const FEEDS = {
  path: "v1/feeds",
  key: "feeds",
  one: "feed",
  caption: "Secret addresses for calendar programs",
  heads: ["Name", "Since"],
  row: (feed) => [feed.name, since(feed)],
  none: "There are no feeds.",
  remove: { label: "Revoke", question: "Programs that use its address get nothing more." },
  body: ({ name }) => ({ name: name.trim() }),
  secret: ({ url }) => ({ label: "Address for your calendar program", text: url }),
};

const SUBSCRIPTIONS = {
  path: "v1/subscriptions",
  key: "subscriptions",
  one: "subscription",
  caption: "Where the service sends notifications",
  heads: ["To", "About", "Waiting", "Latest error"],
  row: (subscription) => [
    subscription.target,
    [subscription.event_types.join(", ") || "all events", subscription.lease_id && `of lease ${subscription.lease_id}`]
      .filter(Boolean).join(" "),
    number(subscription.waiting),
    subscription.last_error ?? "–",
  ],
  none: "There are no subscriptions.",
  remove: { label: "Delete", question: "What waits to be sent is dropped." },
  body: ({ driver, target, events }) => ({
    driver, target: target.trim(), ...(EVENTS[events] ? { event_types: EVENTS[events] } : {}),
  }),
  secret: ({ secret }) => (secret ? { label: "Secret of the signatures", text: secret } : null),
};

export class Project {
  #lists;
  #isShown = false;

  /**
   * @param {HTMLElement} section
   * @param {() => boolean} mayChange whether the person may make and delete things of the project
   */
  constructor(section, mayChange) {
    const list = (name, kind) => new Listing(section.querySelector(`.${name}`), kind, mayChange);
    this.#lists = [list("series", SERIES), list("feeds", FEEDS), list("subscriptions", SUBSCRIPTIONS)];
  }

  /** Show the view or not. The lists are loaded whenever it begins to be shown. */
  show(isShown) {
    if (isShown && !this.#isShown) for (const each of this.#lists) each.load();
    this.#isShown = isShown;
  }

  /** Forget what is shown: it was for another project. */
  clear() {
    this.#isShown = false;
    for (const each of this.#lists) each.clear();
  }
}
