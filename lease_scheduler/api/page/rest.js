/** Requests to the server, with the token of this browser tab. */

import { tabStore } from "./kept.js";

const TIMEOUT_MS = 20000;
/** A login waits for Keystone, several times. */
const LOGIN_TIMEOUT_MS = 60000;
const TOKEN_KEY = "lease-scheduler.token";

/** The refusal of a policy rule, and options of the service, such as " ([enforcement] max_duration)". */
const OF_POLICY = /^Policy doesn't allow /;
const OF_OPTIONS = / \(\[\w+\] [^)]*\)/g;

/** An answer that is not a success. */
export class ServerError extends Error {
  /**
   * @param {number} status HTTP status
   * @param {object|null} body body of the answer, null if it is not JSON
   * @param {number} wait seconds to wait before the next request, as the server asks for; 0 if it does not
   */
  constructor(status, body, wait) {
    super(body?.error_message ?? `answer ${status}`);
    this.status = status;
    this.wait = wait;
    /** JSON path of the wrong part of the request, or null. */
    this.field = body?.field ?? null;
    /** Terms that would be granted instead. */
    this.alternatives = body?.alternatives ?? [];
  }

  /**
   * What the server said, without the options and rules that only operators know.
   * @param {string|null} label what the page calls the wrong field: "" where the text is shown at the field, null if the
   *   page has no such field
   */
  words(label) {
    if (this.status === 403 && OF_POLICY.test(this.message)) return "You may not do this in this project.";
    const said = this.message.replaceAll(OF_OPTIONS, "");
    const named = `${this.field}: `;
    if (label === null || !this.field || !said.startsWith(named)) return said;
    const rest = said.slice(named.length);
    return label ? `${label}: ${rest}` : rest.charAt(0).toUpperCase() + rest.slice(1);
  }
}

/** The token of this browser tab, or null. */
export const token = () => tabStore.getItem(TOKEN_KEY);

/** Keep a token for this tab; null deletes the kept token. */
export function keepToken(value) {
  if (value) tabStore.setItem(TOKEN_KEY, value);
  else tabStore.removeItem(TOKEN_KEY);
}

/**
 * Send a request and return the JSON value of the answer, or null if it has none.
 * @param {string} method
 * @param {string|URL} path relative to the page
 * @param {object|undefined} body
 * @param {object} headers further headers
 * @param {number} timeout ms
 * @throws {ServerError} the server refused the request
 * @throws {TypeError|DOMException} the server did not answer
 */
async function send(method, path, body, headers, timeout) {
  const response = await fetch(path, {
    method,
    headers: {
      Accept: "application/json",
      "OpenStack-API-Version": "reservation latest",
      ...headers,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    signal: AbortSignal.timeout(timeout),
  });
  if (response.ok) return response.status === 204 ? null : response.json();
  const wait = Number(response.headers.get("Retry-After")) || 0;
  throw new ServerError(response.status, await response.json().catch(() => null), wait);
}

/** Send a request with the token of this tab. */
const ask = (method, path, body) => send(method, path, body, { "X-Auth-Token": token() ?? "noauth" }, TIMEOUT_MS);

export const getJson = (path) => ask("GET", path);
export const postJson = (path, body) => ask("POST", path, body);
export const deleteJson = (path) => ask("DELETE", path);

/** The address of a part of the login. It is next to this file, also for the page to which WebSSO returns. */
const loginPath = (name) => new URL(`login${name}`, import.meta.url);

/** What the server offers for logging in. */
export const getLogin = () => send("GET", loginPath(""), undefined, {}, TIMEOUT_MS);

/** Log in or out. These requests have no token but those in their body. */
export const postLogin = (name, body) => send("POST", loginPath(`/${name}`), body, {}, LOGIN_TIMEOUT_MS);

/** What to tell people about a request that failed. The label is that of ``ServerError.words``. */
export const problemOf = (error, label = null) =>
  error instanceof ServerError ? error.words(label) : "The server does not answer.";
