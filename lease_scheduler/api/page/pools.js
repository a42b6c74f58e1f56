/** The choice of a pool of hosts, in every form that has one. A site with one pool shows none. */

/** Show the pools that the project may use, in the order in which they are tried. */
export function showPools(pools) {
  for (const select of document.querySelectorAll("select[name=pool]")) {
    select.closest("label").hidden = pools.length < 2;
    const names = [...select.options].slice(1).map(({ value }) => value);
    if (names.length === pools.length && names.every((name, index) => name === pools[index])) continue;
    const { value } = select;
    const none = select.dataset.none;
    select.replaceChildren(new Option(none, ""), ...pools.map((name) => new Option(name, name)));
    select.value = pools.includes(value) ? value : "";
  }
}
