/** The head of the page (clock, counts, connection), and the messages above a view or in its place. */

import { duration, energy, localInstant, longInstant, number, plural, shortInstant } from "./format.js";
import { localTime } from "./localtime.js";

const element = (id) => document.getElementById(id);

/** Show the server's clock, the time where the viewer is unless that is the same, and the speed unless it is real time. */
export function showClock(clock) {
  const now = clock.now();
  if (now === null) return;
  const text = `${longInstant(Math.floor(now))} UTC`;
  if (element("clock").textContent !== text) {
    element("clock").textContent = text;
    element("clock").dateTime = new Date(Math.floor(now) * 1000).toISOString();
    element("local").textContent = localInstant(now) && `${localInstant(now)} where you are`;
  }
  const fast = Math.abs(clock.rate - 1) > 0.05 && clock.rate > 0;
  const speed = fast ? `1 s here is ${duration(clock.rate)} there` : "";
  if (element("speed").textContent !== speed) element("speed").textContent = speed;
}

/** Show the number of leases in each group of states, the share of hosts that are held, and what sleeping hosts save. */
export function showCounts(model, now, queued) {
  const counts = model.counts();
  for (const group of ["active", "planned", "queued", "suspended"]) {
    element(`count-${group}`).textContent = number(counts[group]);
  }
  element("queue-count").textContent = queued ? number(queued) : "";
  const { held, usable } = model.use;
  const share = usable ? held / usable : 0;
  element("use").textContent = usable ? `${Math.round(share * 100)} %` : "–";
  element("use-counts").textContent = usable ? `${number(held)} of ${number(usable)}` : "";
  element("use-bar").value = share;
  const sleep = model.sleep(now);
  element("sleep").hidden = !sleep;
  if (!sleep) return;
  element("count-asleep").textContent = number(sleep.asleep);
  element("saved").textContent = `${energy(sleep.saved)} saved`;
}

/**
 * Show how many leases there are, and how many of them are loaded and pass the filters.
 * @param {{total: number, all: number, shown: number, isFiltered: boolean, range: object|null}} found number of leases, of
 *   loaded ones and of those that pass the filters, whether people have set filters, and the period that is loaded
 */
export function showMatches({ total, all, shown, isFiltered, range }) {
  const isPart = isFiltered || shown < all;
  const some = `${number(isPart ? shown : all)} of ${plural(total, "lease")}`;
  element("matches").textContent = isPart ? `${some} shown` : all < total ? `${some} loaded` : plural(total, "lease");
  const period = range && `${shortInstant(range.start)} to ${shortInstant(range.end)}`;
  element("view-leases").querySelector("caption").textContent =
    all < total && period
      ? `${number(all)} of ${plural(total, "lease")}: those from ${period}, and those that wait. Times are UTC${localTime.note}.`
      : `All leases; times are UTC${localTime.note}`;
}

/** Show the state of the connection. Screen readers ignore the countdown. */
export function showStatus({ state, message, retryAt, trying }) {
  const line = element("status");
  const words = { loading: "Loading…", live: "Live", lost: "Connection lost, retrying", token: "Token needed" };
  if (line.dataset.state !== state) line.textContent = words[state];
  line.dataset.state = state;
  line.title = message;
  element("retry").hidden = state !== "lost";
  element("retry").textContent = trying ? "Trying…" : "Retry now";
  const shown = line.querySelector("span");
  if (retryAt === null) shown?.remove();
  else {
    const seconds = Math.max(0, Math.ceil((retryAt - performance.now()) / 1000));
    const countdown = shown ?? line.appendChild(document.createElement("span"));
    countdown.setAttribute("aria-hidden", "true");
    countdown.textContent = ` in ${seconds} s`;
  }
}

/** Show a message with a title, a text and optionally a button; null hides the message. */
export function showMessage(message) {
  const section = element("message");
  section.hidden = !message;
  if (!message) return;
  const [title, text, button] = section.children;
  section.className = message.kind;
  if (title.textContent !== message.title) title.textContent = message.title;
  if (text.textContent !== message.text) text.textContent = message.text;
  button.hidden = !message.action;
  button.textContent = message.action?.label ?? "";
  button.onclick = message.action?.run ?? null;
}

/** Show lines of text beside the pointer; null hides them. */
export function showTip(lines, event) {
  const tip = element("tip");
  tip.hidden = !lines;
  if (!lines) return;
  tip.replaceChildren(...lines.map((line) => Object.assign(document.createElement("div"), { textContent: line })));
  const box = tip.parentElement.getBoundingClientRect();
  const x = event.clientX - box.left;
  const y = event.clientY - box.top;
  tip.style.left = `${Math.max(4, Math.min(x + 14, box.width - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + 18 + tip.offsetHeight > box.height ? y - tip.offsetHeight - 10 : y + 18}px`;
}
