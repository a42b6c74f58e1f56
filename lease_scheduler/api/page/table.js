/** Tables of leases, with sorting and pages. They keep focus and selection while their content changes. */

import { make } from "./elements.js";
import { number } from "./format.js";

const PAGE = 100;

/**
 * A column: key, label, whether it is a number, value(lease) to sort by, text(lease) to show, a line below the text,
 * which may be empty, and a class for its cells.
 * @typedef {{key: string, label: string, numeric?: boolean, value: (lease: object) => any,
 *   text: (lease: object) => string, below?: (lease: object) => string, style?: (lease: object) => string}} Column
 */

/** Compare two values; missing ones come last. */
function compare(a, b) {
  const [none, other] = [a === null || a === undefined, b === null || b === undefined];
  if (none || other) return none - other;
  return typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
}

/** Set a text only if it differs, so that selections and screen readers are not disturbed. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set a text and the line below it, in the same way. */
function setLines(element, text, below) {
  const small = element.querySelector("small");
  if (below) {
    if (small?.textContent !== below || element.firstChild.data !== text) element.replaceChildren(text, make("small", below));
    return;
  }
  small?.remove();
  setText(element, text);
}

export class Table {
  #head;
  #body;
  #heads = new Map();
  #pager;
  #columnsOf;
  #columns = [];
  #onOpen;
  #rows = new Map();
  #leases = [];
  #page = 0;
  #sort;

  /**
   * @param {HTMLElement} section element with a table and an element of class pager
   * @param {() => Column[]} columnsOf returns the columns, which may become others; the first one has the buttons that
   *   open the details
   * @param {{key: string, down: boolean}} sort initial order
   * @param {(lease: object) => void} onOpen
   */
  constructor(section, columnsOf, sort, onOpen) {
    this.#columnsOf = columnsOf;
    this.#sort = sort;
    this.#onOpen = onOpen;
    const table = section.querySelector("table");
    this.#head = table.createTHead().insertRow();
    this.#body = table.createTBody();
    this.#pager = section.querySelector(".pager");
    const [back, , forth] = this.#pager.children;
    back.addEventListener("click", () => this.#turn(-1));
    forth.addEventListener("click", () => this.#turn(1));
    this.#useColumns();
  }

  /** Use the columns that there are now. If they are others, the table begins anew. */
  #useColumns() {
    const columns = this.#columnsOf();
    if (columns.map(({ key }) => key).join() === this.#columns.map(({ key }) => key).join()) return;
    this.#columns = columns;
    this.#heads.clear();
    this.#rows.clear();
    this.#head.replaceChildren(...columns.map((column) => this.#headOf(column)));
    this.#body.replaceChildren();
    this.#mark();
  }

  /** Show these leases. */
  setLeases(leases) {
    this.#useColumns();
    this.#leases = leases;
    this.#show();
  }

  #headOf(column) {
    const cell = document.createElement("th");
    cell.scope = "col";
    if (column.numeric) cell.className = "numeric";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = column.label;
    button.addEventListener("click", () => {
      this.#sort = { key: column.key, down: this.#sort.key === column.key && !this.#sort.down };
      this.#page = 0;
      this.#mark();
      this.#show();
    });
    cell.append(button);
    this.#heads.set(column.key, cell);
    return cell;
  }

  #mark() {
    for (const [key, cell] of this.#heads) {
      const direction = this.#sort.down ? "descending" : "ascending";
      if (key === this.#sort.key) cell.setAttribute("aria-sort", direction);
      else cell.removeAttribute("aria-sort");
    }
  }

  #turn(step) {
    this.#page += step;
    this.#show();
    this.#body.parentElement.parentElement.scrollTop = 0;
  }

  #show() {
    const { value } = this.#columns.find((column) => column.key === this.#sort.key);
    const sign = this.#sort.down ? -1 : 1;
    const keyed = this.#leases.map((lease) => ({ lease, key: value(lease) }));
    keyed.sort((a, b) => {
      const missing = (a.key ?? null) === null || (b.key ?? null) === null;
      return (missing ? 1 : sign) * compare(a.key, b.key) || compare(a.lease.id, b.lease.id);
    });
    const pages = Math.max(1, Math.ceil(keyed.length / PAGE));
    this.#page = Math.min(Math.max(this.#page, 0), pages - 1);
    const first = this.#page * PAGE;
    this.#fill(keyed.slice(first, first + PAGE).map(({ lease }) => lease));
    const [back, range, forth] = this.#pager.children;
    this.#pager.hidden = pages === 1;
    back.disabled = this.#page === 0;
    forth.disabled = this.#page === pages - 1;
    const last = Math.min(first + PAGE, keyed.length);
    setText(range, `${number(first + 1)} to ${number(last)} of ${number(keyed.length)}`);
  }

  #fill(leases) {
    const focused = this.#body.contains(document.activeElement) ? document.activeElement : null;
    const before = this.#rows;
    this.#rows = new Map();
    let next = this.#body.firstElementChild;
    for (const lease of leases) {
      const row = before.get(lease.id) ?? this.#row(lease.id);
      before.delete(lease.id);
      this.#rows.set(lease.id, row);
      row.lease = lease;
      this.#columns.forEach((column, index) => {
        const target = index ? row.element.cells[index] : row.button;
        if (column.below) setLines(target, column.text(lease), column.below(lease));
        else setText(target, column.text(lease));
        if (column.style) target.className = column.style(lease);
      });
      if (row.element === next) next = next.nextElementSibling;
      else this.#body.insertBefore(row.element, next);
    }
    for (const row of before.values()) row.element.remove();
    // Moving a row takes the focus away from its button.
    if (focused && focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  }

  #row(id) {
    const element = document.createElement("tr");
    const button = document.createElement("button");
    const row = { element, button, lease: null };
    button.type = "button";
    button.dataset.lease = id;
    // The button is for keys and screen readers; a click counts anywhere in the row, unless it ends a selection of text.
    element.addEventListener("click", (event) => {
      if (event.target === button || getSelection().isCollapsed) this.#onOpen(row.lease);
    });
    this.#columns.forEach((column, index) => {
      const cell = document.createElement(index ? "td" : "th");
      if (!index) {
        cell.scope = "row";
        cell.append(button);
      }
      if (column.numeric) cell.className = "numeric";
      element.append(cell);
    });
    return row;
  }
}
