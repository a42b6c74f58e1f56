/** Requests to the server, with the token of this browser tab. */

const TIMEOUT_MS = 20000;
const TOKEN_KEY = "lease-scheduler.token";

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
}

/** The token of this browser tab, or null. */
export const token = () => sessionStorage.getItem(TOKEN_KEY);

/** Keep a token for this tab; null deletes the kept token. */
export function keepToken(value) {
  if (value) sessionStorage.setItem(TOKEN_KEY, value);
  else sessionStorage.removeItem(TOKEN_KEY);
}

/**
 * Send a request and return the JSON value of the answer, or null if it has none.
 * @param {string} method
 * @param {string} path relative to the page
 * @param {object} [body]
 * @throws {ServerError} the server refused the request
 * @throws {TypeError|DOMException} the server did not answer
 */
async function ask(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: {
      Accept: "application/json",
      "OpenStack-API-Version": "reservation latest",
      "X-Auth-Token": token() ?? "noauth",
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.ok) return response.status === 204 ? null : response.json();
  const wait = Number(response.headers.get("Retry-After")) || 0;
  throw new ServerError(response.status, await response.json().catch(() => null), wait);
}

export const getJson = (path) => ask("GET", path);
export const postJson = (path, body) => ask("POST", path, body);

/** What to tell people about a request that failed. */
export const problemOf = (error) => (error instanceof ServerError ? error.message : "The server does not answer.");
