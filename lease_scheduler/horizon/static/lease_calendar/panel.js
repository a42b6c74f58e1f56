/**
 * Shows the calendar page in a frame, and hands it the session of Horizon.
 *
 * The page asks for a session by a message, and gets one by a message that browsers deliver only to the origin of the
 * service. The token is in no address and no element.
 */

const ASK = "lease-scheduler.ask";
const SESSION = "lease-scheduler.session";
/** Time for the page to ask, after the browser has loaded the frame, be it with the page or with an error. */
const SILENCE_MS = 4000;
/** Horizon has forgotten an idle session a little after its end. */
const AFTER_END_MS = 2000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const panel = document.getElementById("lease-calendar");
const { page, origin, owner, session: address } = panel.dataset;
const frame = document.createElement("iframe");
let endTimer = null;

function show(state) {
  panel.dataset.state = state;
  for (const message of panel.querySelectorAll("[data-message]")) message.hidden = message.dataset.message !== state;
}

/** Take the page away with everything that it knows, and say why. */
function close(state) {
  clearTimeout(endTimer);
  frame.remove();
  show(state);
}

/** Return the session of Horizon, or null if it has ended. */
async function load() {
  const response = await fetch(address, {
    method: "POST",
    headers: {
      "X-CSRFToken": panel.elements.namedItem("csrfmiddlewaretoken").value,
      // Horizon then answers with a status, and does not redirect.
      "X-Requested-With": "XMLHttpRequest",
    },
    cache: "no-store",
    redirect: "error",
  });
  if (response.status === 401 || response.status === 403) return null;
  if (!response.ok) throw new Error(`answer ${response.status}`);
  return response.json();
}

/** Return the session if it is still that of the page; otherwise take the page away, and return null. */
async function check() {
  const found = await load();
  if (!frame.isConnected) return null;
  if (found?.owner === owner) {
    clearTimeout(endTimer);
    endTimer = setTimeout(look, Math.min(found.seconds * 1000 + AFTER_END_MS, LONGEST_TIMER_MS));
    return found;
  }
  close(found ? "changed" : "ended");
  return null;
}

/** Look whether the session has ended or changed. If Horizon does not answer, that is not known. */
const look = () => check().catch(() => {});

async function answer() {
  try {
    const found = await check();
    if (!found) return;
    frame.contentWindow.postMessage({ type: SESSION, token: found.token, owner }, origin);
    show("shown");
  } catch {
    show("silent");
  }
}

addEventListener("message", (event) => {
  if (event.source !== frame.contentWindow || event.origin !== origin || event.data?.type !== ASK) return;
  answer();
});
// Somebody may have logged out or changed the project in another tab. There are no regular requests, because each would
// make Horizon's session last longer.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && frame.isConnected) look();
});
frame.addEventListener("load", () => {
  setTimeout(() => {
    if (panel.dataset.state === "loading") show("unreachable");
  }, SILENCE_MS);
});
frame.title = "Lease calendar";
frame.referrerPolicy = "no-referrer";
// The page must not lead the window to another site.
frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
frame.src = page;
panel.append(frame);
