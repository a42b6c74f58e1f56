/** What people can choose of what the service has: its pools of hosts or, behind a gateway, the sites. */

import { SILENT } from "./sites.js";

/** Fill the fields for a choice in every form that has one. A single choice is not shown. */
function fillChoices(name, choices, least) {
  for (const select of document.querySelectorAll(`select[name=${name}]`)) {
    select.closest("label").hidden = choices.length < least;
    const wanted = [[select.dataset.none, ""], ...choices];
    const shown = [...select.options].map(({ text, value }) => [text, value]);
    if (JSON.stringify(wanted) === JSON.stringify(shown)) continue;
    const { value } = select;
    select.replaceChildren(...wanted.map(([text, choice]) => new Option(text, choice)));
    select.value = choices.some(([, choice]) => choice === value) ? value : "";
  }
}

/**
 * Show the pools that the project may use, in the order in which they are tried, and the sites behind a gateway. Parts of
 * the page for what a gateway does not have are not shown there (of the class ``of-site``, see calendar.css).
 * @param {{pools: string[], sites: {name: string, unreachable_since: number|null}[]}} model
 */
export function showChoices({ pools, sites }) {
  fillChoices("pool", pools.map((name) => [name, name]), 2);
  fillChoices("site", sites.map(({ name, unreachable_since: since }) => [since === null ? name : `${name} (${SILENT})`, name]), 1);
  const isGateway = sites.length > 0;
  document.body.classList.toggle("gateway", isGateway);
  document.getElementById("rows-fit").textContent = isGateway ? "All sites" : "All hosts";
  document.getElementById("chart").setAttribute("aria-label", isGateway ? "Sites over time" : "Hosts over time");
  document.getElementById("legend-down").lastChild.data = isGateway ? "site does not answer" : "host down or disabled";
}
