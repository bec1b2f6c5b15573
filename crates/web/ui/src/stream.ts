// What a job says, as it says it. `EventSource` could not tell who asks: it sends no headers.

import { getJob, Refused } from "./api";
import { asMyself } from "./session";

/** How long before a line that was lost is taken up again. */
const PAUSE = 1000;

const wait = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

/** Events are apart by empty lines; each has a number and its words. */
function parsed(event: string): { id: string | null; data: string | null } {
  const line = (name: string) => new RegExp(`^${name}: ?(.*)$`, "m").exec(event)?.[1] ?? null;
  return { id: line("id"), data: line("data") };
}

/** Hears all that a job says, also what it said before, until it is over; a line that was lost goes on where it was. */
export function listen(id: number, heard: (data: string) => boolean, lost: (error: Error) => void): () => void {
  const stop = new AbortController();
  let last = "0";
  async function once(): Promise<boolean> {
    const headers = { ...asMyself(), "last-event-id": last };
    const answer = await fetch(`/api/jobs/${id}/events`, { headers, signal: stop.signal });
    if (!answer.ok || !answer.body) throw new Error(answer.statusText);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return false;
      const events = (rest + value).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events.map(parsed)) {
        if (event.data === null) continue;
        last = event.id ?? last;
        if (heard(event.data)) return true;
      }
    }
  }
  async function go() {
    while (!stop.signal.aborted) {
      try {
        if (await once()) break;
      } catch {
        if (stop.signal.aborted) return;
        try {
          await getJob(id);
        } catch (error) {
          // Nobody is there any more, or nobody knows the job.
          if (!stop.signal.aborted) lost(error instanceof Refused ? error : new Error(String(error)));
          return;
        }
      }
      await wait(PAUSE);
    }
    stop.abort();
  }
  void go();
  return () => stop.abort();
}
