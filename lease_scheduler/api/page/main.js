/** Puts the parts of the page together. */

import { Account, endSession, loadAgain, ownFirst } from "./account.js";
import { Agenda } from "./agenda.js";
import { Announcer } from "./announcer.js";
import { Availability } from "./availability.js";
import { proposalOf } from "./changes.js";
import { showChoices } from "./choices.js";
import { Clock } from "./clock.js";
import { leaseColumns, queueColumns } from "./columns.js";
import { Connection } from "./connection.js";
import { Details } from "./details.js";
import { FilterBar } from "./filterbar.js";
import { DAY, instantOf } from "./format.js";
import { listen } from "./gestures.js";
import { Handover } from "./handover.js";
import { spoken, tipOf } from "./leasetip.js";
import { fillLegend } from "./legend.js";
import { localTime } from "./localtime.js";
import { Login } from "./login.js";
import { whatToSay } from "./messages.js";
import { Model, isBusy } from "./model.js";
import { NewLease } from "./newlease.js";
import { Project } from "./project.js";
import { ProjectNames } from "./projectnames.js";
import { ServerError, postLogin, problemOf, token } from "./rest.js";
import { forgetSession, keepDraft, keepSession, session, takeDraft } from "./session.js";
import { inEffect, isFiltered, matcher, readSettings, writeSettings } from "./settings.js";
import { Shares } from "./shares.js";
import { showClock, showCounts, showMatches, showMessage, showStatus, showTip } from "./status.js";
import { Table } from "./table.js";
import { listenTabs, showView } from "./tabs.js";
import { Timeline } from "./timeline.js";
import { listenTools, showTools } from "./tools.js";

const TICK_MS = 100;
const COUNT_MS = 1000;
const HASH_MS = 300;
/** By how much the agenda looks further ahead at once. */
const LATER = 4;

const element = (id) => document.getElementById(id);

const model = new Model();
const clock = new Clock();
const announcer = new Announcer(element("announcements"));
/** The hash of the address that the settings are from, or were written to. */
let knownHash = location.hash;
let settings = readSettings(knownHash);
let loaded = false;
/** Id of a lease whose details open when it comes in. */
let awaited = settings.lease;
/** Time range that was requested from the server. */
let range = null;
let hashTimer = null;
/** State of the connection that is shown. */
let shownState = null;
/** The own project and those of the login, as they are shown. */
let shownProjects = "";

const projectName = (id) => model.projectName(id);
const otherProjects = new ProjectNames(model, () => {
  showProjects();
  refresh();
});
const connection = new Connection(take, status);
const timeline = new Timeline(element("chart"), () => clock.now(), moved);
const shares = new Shares(element("view-shares"));
const project = new Project(element("view-project"), () => model.mayBook);
const open = (lease, proposal = null) => {
  settings.lease = lease.id;
  timeline.selected = lease.id;
  timeline.draw();
  details.open(lease, proposal);
  saveSettings();
};
const details = new Details(element("details"), {
  model,
  now: () => clock.now(),
  onShow: (id) => {
    agenda.choose(true);
    choose("timeline");
    timeline.reveal(id);
  },
  onChange: (text) => {
    announcer.say(text);
    connection.poll();
  },
  onClose: () => {
    settings.lease = null;
    saveSettings();
  },
});
const newLease = new NewLease(element("booking"), {
  clock,
  onBooked: booked,
  onProject: workFor,
  onProposal: (proposal) => timeline.setGhost(proposal && { ...proposal, rows: model.rowsFor(proposal) }),
});
const agenda = new Agenda(element("agenda"), {
  now: () => clock.now(),
  onOpen: (id) => open(model.leases.get(id)),
  onLater: () => timeline.zoomTo(timeline.span * LATER),
  onSwitch: refresh,
});
const account = new Account(element("account"), { onProject: workFor, onLeave: logOut });
const login = new Login(element("login"), {
  onToken: useToken,
  onSession: loggedIn,
  onLeave: () => keepDraft({ booking: newLease.draft, change: details.proposal && { lease: details.id, ...details.proposal } }),
});
const handover = new Handover(useToken);
const leases = new Table(element("view-leases"), () => leaseColumns(model), { key: "submitted", down: true }, open);
const queue = new Table(element("view-queue"), () => queueColumns(() => clock.now(), model), { key: "position", down: false }, open);
const filters = new FilterBar(element("filter-form"), (chosen) => {
  Object.assign(settings, chosen);
  applyFilters();
  saveSettings();
});

/** Show an answer of the server. */
function take(answer, at, sent) {
  const first = !loaded;
  loaded = true;
  clock.take(answer.now, at, sent);
  connection.speed = Math.max(clock.rate, 1);
  const changes = model.merge(answer);
  const news = answer.complete || answer.leases.length || answer.removed.length || answer.hosts.length || model.hasOtherSites;
  if (first) {
    startView();
    element("view-timeline").removeAttribute("aria-busy");
  } else {
    for (const { lease, from } of changes) if (!isBusy(lease) && (from !== null || !answer.complete)) announcer.changed(lease);
  }
  if (news) {
    timeline.setData(model);
    newLease.news();
  }
  showChoices(model);
  showProjects();
  const lease = model.leases.get(awaited);
  const draft = first ? takeDraft() : null;
  if (first || lease) awaited = null;
  if (draft) newLease.restore(draft.booking);
  if (lease && !isBusy(lease)) open(lease, draft?.change?.lease === lease.id ? draft.change : null);
  if (news) details.refresh();
  refresh();
  needRange();
}

/** Show the projects to choose from, that of the user first. */
function showProjects() {
  const { own } = model;
  const known = session()?.projects ?? [];
  for (const { id, name } of [own, ...known].filter(Boolean)) model.projectNames.set(id, name);
  otherProjects.learn();
  const named = (id) => ({ id, name: projectName(id) });
  const chosen = inEffect(settings, own).project;
  filters.setProjects(model.projects().map(named), own, chosen);
  const shown = JSON.stringify([own, known]);
  if (shown === shownProjects) return;
  shownProjects = shown;
  newLease.setProjects(own ? ownFirst(known, own) : []);
  applyFilters();
}

/** Continue with a token that is of no login of this page. */
function useToken(value) {
  const isOther = session() !== null;
  forgetSession();
  connection.setToken(value);
  // Whose token it is cannot be known here, so nothing stays of the person who had logged in.
  if (isOther) startOver();
}

/** Show a login, and continue with its token. */
function loggedIn(found) {
  // What is shown is for the project before.
  shares.clear();
  project.clear();
  if (keepSession(found)) connection.setToken(found.token);
  else startOver();
}

/** Work for another project from now on. */
async function workFor(id) {
  const before = token();
  try {
    const found = await postLogin("token", { token: session().unscoped, project_id: id });
    loggedIn(found);
    account.show(session());
    announcer.say(`Project ${found.project.name}`);
    // The token of the project before is of no use any more. If this fails, it expires.
    postLogin("end", { tokens: [before] }).catch(() => {});
  } catch (error) {
    account.show(session());
    account.say(problemOf(error));
    if (error instanceof ServerError && error.status === 401) connection.setToken(null);
    shownProjects = "";
    showProjects();
  }
}

/** Log out, and forget everything that the page knows. */
async function logOut() {
  await endSession();
  startOver();
}

/** Load the page again, without what somebody has typed or chosen. */
function startOver() {
  clearTimeout(hashTimer);
  loadAgain();
}

/** Say what was booked just now, and show the lease if there is one to show. */
function booked(lease, text) {
  announcer.say(text);
  awaited = lease?.id ?? null;
  const start = lease && instantOf(lease.start_date);
  if (start !== null && !(range.start <= start && start < range.end)) timeline.show(start - timeline.span / 3, timeline.span);
  connection.poll();
}

/** Show a new state of the connection. */
function status(next) {
  showStatus(next);
  const isAsked = next.state === "token";
  if (next.state !== shownState) account.show(isAsked ? null : session());
  shownState = next.state;
  if (isAsked) {
    shares.clear();
    project.clear();
    const problem = next.message && session() ? "Your login has ended. What you have typed is still there." : next.message;
    handover.ask(() => login.ask(problem));
  } else login.close();
  element("forget").hidden = token() === null || isAsked || session() !== null || handover.isDone;
  if (next.state !== "live") refresh();
}

/** Show the time range that is in the address, or one around now. */
function startView() {
  timeline.span = settings.span ?? DAY;
  if (settings.start !== null) timeline.show(settings.start, timeline.span);
  else timeline.setFollow(true);
  timeline.setRows(settings.rows);
}

/** Show the chosen view, with the leases that pass the filters. */
function refresh() {
  const passes = matcher(inEffect(settings, model.own));
  const all = model.known();
  const waiting = model.queue();
  const shown = all.filter(passes);
  const message = whatToSay({ loaded, status: connection.status, model, settings, matching: shown.length }, {
    retry: () => connection.poll(),
    book: () => newLease.open(),
    clear: () => element("filter-form").elements.namedItem("clear").click(),
    showAll: showAllProjects,
  });
  showView(settings.view, loaded && connection.status.state !== "token" && !message?.instead);
  agenda.show(settings.view === "timeline");
  showMessage(message);
  element("book").hidden = !loaded || !model.mayBook || connection.status.state === "token";
  if (!loaded) return;
  if (settings.view === "shares" && !message?.instead) shares.show();
  project.show(settings.view === "project" && !message?.instead && connection.status.state !== "token");
  showCounts(model, clock.now(), waiting.length);
  showMatches({ total: model.total, all: all.length, shown: shown.length, isFiltered: isFiltered(settings), range });
  if (settings.view === "timeline") agenda.setLeases(shown, range?.end ?? null);
  if (settings.view === "leases") leases.setLeases(shown);
  if (settings.view === "queue") {
    queue.setLeases(waiting.filter(passes));
    const none = element("view-queue").querySelector(".none");
    none.hidden = waiting.some(passes);
    none.textContent = waiting.length ? "No waiting lease matches the filters." : "No leases are waiting.";
  }
}

/** Show the leases of all projects. */
function showAllProjects() {
  settings.project = "";
  applyFilters();
  saveSettings();
}

/** Request the visible time range from the server, unless it was requested before. */
function needRange() {
  const end = timeline.start + timeline.span;
  if (range && range.start <= timeline.start && end <= range.end) return;
  range = { start: Math.max(0, timeline.start - timeline.span), end: end + timeline.span };
  connection.setRange(range.start, range.end);
}

/** React to a change of the visible time range or of the row height. */
function moved() {
  if (!loaded) return;
  needRange();
  showTools(timeline);
  saveSettings();
}

/** Write the settings into the address, with a delay, so that a drag makes few changes. */
function saveSettings() {
  hashTimer ??= setTimeout(() => {
    hashTimer = null;
    // Somebody has changed the address, and the browser has yet to say so.
    if (location.hash !== knownHash) return;
    settings.span = Math.round(timeline.span) === DAY ? null : timeline.span;
    settings.start = timeline.follow ? null : timeline.start;
    settings.rows = timeline.rows;
    const hash = writeSettings(settings);
    if (hash !== knownHash) history.replaceState(null, "", `${location.pathname}${location.search}${hash}`);
    knownHash = location.hash;
  }, HASH_MS);
}

/** Choose a view. */
function choose(view) {
  settings.view = view;
  refresh();
  saveSettings();
}

function applyFilters() {
  const shown = inEffect(settings, model.own);
  filters.show(settings, shown.project);
  timeline.setFilter(matcher(shown));
  refresh();
}

function listenButtons() {
  element("book").addEventListener("click", () => newLease.open());
  element("retry").addEventListener("click", () => connection.poll());
  element("forget").addEventListener("click", () => connection.setToken(null));
  element("skip").addEventListener("click", (event) => {
    event.preventDefault();
    const inTimeline = agenda.isChosen ? "agenda" : "chart";
    element(settings.view === "timeline" ? inTimeline : `view-${settings.view}`).focus();
  });
}

listen(element("chart"), timeline, {
  open,
  point: (lease, row, event) => {
    if (row !== timeline.hover) {
      timeline.hover = row;
      timeline.draw();
    }
    element("chart").classList.toggle("over", lease !== null);
    showTip(tipOf(lease, model.rows[row], model, clock.now()), event);
  },
  mayBook: () => model.mayBook,
  drag: showTip,
  choose: (drag, { start, end, rows, instant }) => {
    if (drag.kind === "range") {
      newLease.open({ start, end, rows, site: model.siteOf(rows) });
      return;
    }
    // The lease may have changed meanwhile.
    const lease = model.leases.get(drag.from.lease.id);
    const proposal = lease && proposalOf(lease, drag.kind, instant);
    if (proposal) open(lease, proposal);
  },
  create: () => {
    if (model.mayBook) newLease.open();
  },
  select: (lease) => {
    timeline.selected = lease.id;
    timeline.reveal(lease.id);
    announcer.say(spoken(lease, model));
  },
});
new Availability(element("view-free"), { mayBook: () => model.mayBook, onBook: (chosen) => newLease.open(chosen) });
listenTools(timeline);
listenButtons();
listenTabs(choose);
fillLegend(element("legend"));
localTime.offer(refresh);
addEventListener("hashchange", () => {
  knownHash = location.hash;
  settings = readSettings(knownHash);
  if (loaded) startView();
  applyFilters();
});
element("filters").open = matchMedia("(min-width: 56rem)").matches;
applyFilters();
setInterval(() => {
  timeline.tick();
  showClock(clock);
}, TICK_MS);
setInterval(() => {
  if (loaded) showCounts(model, clock.now(), model.queue().length);
  if (connection.status.state === "lost") showStatus(connection.status);
}, COUNT_MS);
handover.ask(() => connection.poll());

/** For tests and for the console. */
window.calendar = Object.freeze({ model, timeline, clock, connection });
