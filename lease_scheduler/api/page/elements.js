/** Functions that make elements from texts. */

/** An element with a text and children. */
export function make(tag, text = "", ...children) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  element.append(...children);
  return element;
}

/** A list of names and values. Pairs without a value are left out. */
export function definitions(pairs) {
  const list = make("dl");
  for (const [key, value] of pairs) {
    if (value === null || value === undefined || value === "") continue;
    list.append(make("div", "", make("dt", key), make("dd", value)));
  }
  return list;
}

/** A table with a caption, a row of headings, and rows of texts or elements. */
export function table(caption, heads, rows) {
  const element = make("table");
  element.append(make("caption", caption));
  const head = element.createTHead().insertRow();
  for (const text of heads) {
    const cell = make("th", text);
    cell.scope = "col";
    head.append(cell);
  }
  const body = element.createTBody();
  for (const cells of rows) body.append(make("tr", "", ...cells.map((cell) => make("td", "", cell))));
  return element;
}
