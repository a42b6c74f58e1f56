/** The page to which a login at another site returns: takes its token, if this tab has begun that login. */

import { postLogin, problemOf } from "./rest.js";
import { ended, keepSession, lastProject } from "./session.js";

const { content: token } = document.querySelector("meta[name=token]");
const line = document.querySelector("[role=status]");

async function take() {
  const begun = ended();
  if (!begun) {
    line.textContent = "This tab has not begun to log in, or did so too long ago. Log in again from the calendar.";
    return;
  }
  try {
    keepSession(await postLogin("token", { token, project_id: lastProject() }));
  } catch (error) {
    line.textContent = problemOf(error);
    return;
  }
  const calendar = new URL("../", location.href);
  calendar.hash = begun.hash;
  location.replace(calendar);
}

take();
