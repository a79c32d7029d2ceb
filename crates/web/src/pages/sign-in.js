// Exchanges the token for a cookie that scripts cannot read, and goes on to the page. It imports nothing: this is all that a
// browser gets before it has signed in.
// @ts-check

const form = /** @type {HTMLFormElement} */ (document.getElementById("sign-in"));
const input = /** @type {HTMLInputElement} */ (document.getElementById("token"));
const state = /** @type {HTMLElement} */ (document.getElementById("state"));
const again = /** @type {HTMLAnchorElement} */ (document.getElementById("again"));
const here = location.pathname + location.search;

/** @param {string} token */
async function signIn(token) {
  state.textContent = "Signing in";
  let answer;
  try {
    const headers = { accept: "application/json", authorization: `Bearer ${token}` };
    answer = await fetch("/api/v1/session", { method: "POST", headers, cache: "no-store" });
  } catch {
    state.textContent = "No answer from the server: is `fullclock serve` still running?";
    return;
  }
  if (answer.ok) {
    location.replace(here);
    return;
  }
  const wrong = answer.status === 401;
  state.textContent = wrong ? "This is not the server's token." : `The server answered ${answer.status}.`;
}

again.href = here;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  signIn(input.value.trim());
});

const token = new URLSearchParams(location.hash.slice(1)).get("token");
// The token stays neither in the address bar nor in the history.
history.replaceState(null, "", here);
if (token) signIn(token);
document.body.dataset.ready = "true";
