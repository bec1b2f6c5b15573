// A job: the command line that runs, how far it is, what it says, and a button that stops it.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Asked, type Diagnostic, getJob, getJobs, type JobView, Refused, type Row, type Said, startJob, stopJob } from "./api";
import { Diagnostics, Notice } from "./parts";
import { listen } from "./stream";

export type Running = {
  job: JobView | null;
  stage: string;
  share: number | null;
  left: number | null;
  diagnostics: Diagnostic[];
  lines: string[];
  rows: Row[];
  error: string | null;
};

const nothing: Running = { job: null, stage: "", share: null, left: null, diagnostics: [], lines: [], rows: [], error: null };

/** The last job of each part of a page, so that whoever comes back finds it again. */
const last = new Map<string, number>();

/** Finds the jobs of all parts again: of this page before it was loaded anew, and of others. */
export async function findJobs(): Promise<void> {
  const all = await getJobs().catch(() => []);
  for (const job of all) if (job.part !== null) last.set(job.part, Math.max(job.id, last.get(job.part) ?? 0));
}

/** Whether a part of a page has run a job before. */
export const isKept = (name: string) => last.has(name);

const isOver = (state: string | null | undefined) => state === "done" || state === "failed" || state === "stopped";

/** Runs one job after the other for a part of a page, which has a name of its own. */
export function useJob(name: string, done?: (job: JobView) => void) {
  const [running, set] = useState<Running>(nothing);
  const source = useRef<(() => void) | null>(null);
  const then = useRef(done);
  then.current = done;

  function hear(id: number, isNews: boolean) {
    source.current?.();
    const fail = (error: Error) => set((now) => ({ ...now, job: null, error: error.message }));
    source.current = listen(
      id,
      (data) => {
        const said = JSON.parse(data) as Partial<Said>; // What is not said is left out.
        set((now) => {
          const next = { ...now };
          if (typeof said.stage === "string") {
            next.stage = said.stage;
            next.share = said.share ?? null;
            next.left = said.left ?? null;
          }
          if (said.diagnostic) next.diagnostics = [...now.diagnostics, said.diagnostic];
          if (said.line) next.lines = [...now.lines, said.line];
          if (said.row) next.rows = [...now.rows, said.row];
          if (said.state === "running" && now.job) next.job = { ...now.job, state: "running" };
          return next;
        });
        if (!isOver(said.state)) return false;
        getJob(id).then((job) => {
          set((now) => ({ ...now, job, share: null, stage: "" }));
          if (isNews) then.current?.(job);
        }, fail);
        return true;
      },
      fail,
    );
  }

  useEffect(() => {
    const id = last.get(name);
    set(nothing);
    if (id !== undefined)
      getJob(id).then(
        (job) => {
          if (last.get(name) !== id) return;
          const over = isOver(job.state);
          // Its result is there when all that it said is.
          set({ ...nothing, job: over ? { ...job, state: "running" } : job });
          hear(id, !over);
        },
        () => last.delete(name),
      );
    return () => source.current?.();
  }, [name]);

  /** Starts a job that is asked for in a way of its own. */
  async function order(send: (part: string) => Promise<JobView>) {
    set(nothing);
    try {
      const job = await send(name);
      last.set(name, job.id);
      set({ ...nothing, job });
      hear(job.id, true);
    } catch (error) {
      const diagnostics = error instanceof Refused ? error.diagnostics : [];
      set({ ...nothing, error: (error as Error).message, diagnostics });
    }
  }

  const start = (command: Asked) => order((part) => startJob(part, command));
  return { running, start, order };
}

export const isBusy = (running: Running) => running.job?.state === "waiting" || running.job?.state === "running";

/** What a job printed, once it is done. */
export const result = <T,>(running: Running) => (running.job?.state === "done" ? (running.job.result as T | null) : null);

/** Whether a job was about another text of the policy than the one that there is now. */
export const isOld = (running: Running, version: string | undefined) =>
  version !== undefined && (running.job?.about ?? version) !== version && !isBusy(running);

/** Shows a job; with the version of the policy's text that there is now it says whether it was about an earlier one. */
export function JobPanel({ running, version }: { running: Running; version?: string }) {
  const { job } = running;
  if (running.error) {
    return (
      <Notice kind="error">
        {running.error}
        <Diagnostics all={running.diagnostics} />
      </Notice>
    );
  }
  if (!job) return null;
  const percent = running.share === null ? null : Math.round(100 * running.share);
  return (
    <section class={`job ${job.state === "done" && running.diagnostics.length === 0 ? "quiet" : ""}`} aria-label={`Job ${job.id}`}>
      <details class="command">
        <summary>Command line</summary>
        <code>{job.line}</code>
      </details>
      {isBusy(running) && (
        <div class="row">
          <label>
            {job.state === "waiting" ? "Waits for the job before it" : running.stage || "Begins"}
            <progress max={100} value={percent ?? undefined} />
          </label>
          <span class="number" role="status">
            {percent !== null && `${percent} %`}
            {running.left !== null && running.left > 1 && `, ${running.left} s left`}
          </span>
          <button type="button" onClick={() => void stopJob(job.id)}>
            Stop
          </button>
        </div>
      )}
      {isOld(running, version) && <Notice kind="warning">The policy was edited since: this was said of its earlier text.</Notice>}
      {job.state === "stopped" && <Notice kind="warning">Stopped; nothing was written.</Notice>}
      {job.state === "failed" && <Notice kind="error">This did not work (exit code {job.code ?? "unknown"}).</Notice>}
      <Diagnostics all={running.diagnostics} />
      {job.state === "failed" && running.lines.length > 0 && <pre>{running.lines.join("\n")}</pre>}
    </section>
  );
}

/** All jobs of the server, whichever page began them. */
export function JobList() {
  const [all, set] = useState<JobView[] | null>(null);
  const [isOpen, open] = useState(false);
  useEffect(() => {
    if (!isOpen) return undefined;
    const look = () => void getJobs().then(set, () => set(null));
    look();
    const again = setInterval(look, 2000);
    return () => clearInterval(again);
  }, [isOpen]);
  return (
    <details onToggle={(event) => open(event.currentTarget.open)}>
      <summary>Jobs</summary>
      {all === null || all.length === 0 ? (
        <p>None yet.</p>
      ) : (
        <ol class="jobs">
          {all.map((job) => (
            <li>
              <code>{job.line}</code> <b>{job.state}</b>{" "}
              {!isOver(job.state) && (
                <button type="button" onClick={() => void stopJob(job.id)} aria-label={`Stop ${job.line}`}>
                  Stop
                </button>
              )}
            </li>
          ))}
        </ol>
      )}
    </details>
  );
}
