/** What the page keeps in the browser. */

/** Whether another page shows this one in a frame. */
export const isFramed = window.parent !== window;

/** Keeps texts until the page is left, in the way of the browser's own stores. */
class Memory {
  #texts = new Map();

  getItem(key) {
    return this.#texts.get(key) ?? null;
  }

  setItem(key, text) {
    this.#texts.set(key, text);
  }

  removeItem(key) {
    this.#texts.delete(key);
  }

  clear() {
    this.#texts.clear();
  }
}

// Browsers may forbid a frame of another site to keep anything, and even to look. Also, the session in a frame is that of
// the dashboard around it: it must not become that of the tab.
/** Kept until the tab is closed. */
export const tabStore = isFramed ? new Memory() : sessionStorage;
/** Kept when the tab is closed. */
export const browserStore = isFramed ? new Memory() : localStorage;
