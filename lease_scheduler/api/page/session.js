/** The login of this browser tab: who has logged in, and for which project. It ends with the tab. */

import { browserStore, tabStore } from "./kept.js";
import { keepToken } from "./rest.js";

const SESSION = "lease-scheduler.session";
const DRAFT = "lease-scheduler.draft";
const BEGUN = "lease-scheduler.websso";
const NOTE = "lease-scheduler.note";
/** Id of the project that was used last in this browser. It is no secret, and stays when the tab is closed. */
const PROJECT = "lease-scheduler.project";
/** Longest time that a login at an identity provider may take. */
const LONGEST_LOGIN_MS = 600000;

const read = (key) => JSON.parse(tabStore.getItem(key) ?? "null");
const write = (key, value) => tabStore.setItem(key, JSON.stringify(value));

/** Return what is kept under a key, and forget it. */
function take(key) {
  const value = read(key);
  tabStore.removeItem(key);
  return value;
}

/**
 * The login of this tab, or null if there is none, or a token was given by hand.
 * @returns {{unscoped: string|null, user: string, domain: string, project: {id: string, name: string},
 *   projects: {id: string, name: string}[], expires_at: string}|null}
 */
export const session = () => read(SESSION);

/** Id of the project that was used last in this browser, or null. */
export const lastProject = () => browserStore.getItem(PROJECT);

/**
 * Keep a login as the server has sent it. Return false if the tab was used by somebody else before, of whom nothing is
 * kept.
 */
export function keepSession({ token: value, ...others }) {
  const before = session();
  const isSame = before === null || (before.user === others.user && before.domain === others.domain);
  if (!isSame) tabStore.clear();
  keepToken(value);
  write(SESSION, others);
  browserStore.setItem(PROJECT, others.project.id);
  return isSame;
}

/** Forget the login, the token and everything else that this tab keeps. */
export const forgetSession = () => tabStore.clear();

/** Keep a text that the login shows once, after the page is loaded again. */
export const keepNote = (text) => write(NOTE, text);
export const takeNote = () => take(NOTE) ?? "";

/** Keep what people have typed while they log in at another site. */
export const keepDraft = (draft) => write(DRAFT, draft);
export const takeDraft = () => take(DRAFT);

/**
 * Remember that this tab begins a login at another site. Only then does it take the token that comes back, so that no
 * other site can log people in as somebody else.
 * @param {string} hash settings of the page, to which the login returns
 */
export const begin = (hash) => write(BEGUN, { at: Date.now(), hash });

/** Return the login that this tab has begun and not ended yet, or null if there is none, or it has taken too long. */
export function ended() {
  const begun = take(BEGUN);
  const age = begun ? Date.now() - begun.at : Infinity;
  return age >= 0 && age < LONGEST_LOGIN_MS ? begun : null;
}
