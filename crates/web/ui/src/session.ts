// Who this page is. The secret of the address that was printed stands behind its `#`, which no browser sends; it is changed
// for a session, once. The session is told in a header with every request: a cookie would go to every port of this machine.

import type { Entered, Entering } from "./types";

/** What a browser keeps for this address and port alone, for all tabs; it is worth nothing when the server has ended. */
const KEY = "bosket-session";

let session: string | null = null;

function kept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    // Where nothing may be kept, it lasts as long as the page.
    return null;
  }
}

function keep(found: string) {
  session = found;
  try {
    localStorage.setItem(KEY, found);
  } catch {
    // As above.
  }
}

/** Enters with the secret of the address, or goes on with what an earlier page was given. */
export async function enter(): Promise<void> {
  session = kept();
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  // It is not to be seen, nor found again among the pages that were visited.
  history.replaceState(null, "", "/");
  const body: Entering = { token };
  const headers = { "content-type": "application/json" };
  const answer = await fetch("/api/enter", { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.ok) keep(((await answer.json()) as Entered).session);
}

/** The headers that every request bears. */
export const asMyself = (): Record<string, string> => (session === null ? {} : { authorization: `Bearer ${session}` });
