// A job: the command line that runs, how far it is, what it says, and a button that stops it.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Diagnostic, getJob, type JobView, Refused, startJob, stopJob } from "./api";
import { Diagnostics, Notice } from "./parts";

type Said = {
  state?: string;
  stage?: string;
  share?: number | null;
  left?: number | null;
  diagnostic?: Diagnostic;
  line?: string;
  row?: unknown;
};

export type Running = {
  job: JobView | null;
  stage: string;
  share: number | null;
  left: number | null;
  diagnostics: Diagnostic[];
  lines: string[];
  rows: unknown[];
  error: string | null;
};

const nothing: Running = {
  job: null,
  stage: "",
  share: null,
  left: null,
  diagnostics: [],
  lines: [],
  rows: [],
  error: null,
};

/** Runs one job after the other for a part of a page. */
export function useJob(done?: (job: JobView) => void) {
  const [running, set] = useState<Running>(nothing);
  const source = useRef<EventSource | null>(null);
  useEffect(() => () => source.current?.close(), []);

  function hear(id: number) {
    source.current?.close();
    const events = new EventSource(`/api/jobs/${id}/events`);
    source.current = events;
    events.onmessage = (event) => {
      const said = JSON.parse(event.data) as Said;
      set((now) => {
        const next = { ...now };
        if (said.stage !== undefined) {
          next.stage = said.stage;
          next.share = said.share ?? null;
          next.left = said.left ?? null;
        }
        if (said.diagnostic) next.diagnostics = [...now.diagnostics, said.diagnostic];
        if (said.line) next.lines = [...now.lines, said.line];
        if (said.row !== undefined) next.rows = [...now.rows, said.row];
        return next;
      });
      if (said.state === "running") set((now) => now.job && { ...now, job: { ...now.job, state: "running" } } || now);
      if (said.state === "done" || said.state === "failed" || said.state === "stopped") {
        events.close();
        getJob(id).then(
          (job) => {
            set((now) => ({ ...now, job, share: null, stage: "" }));
            done?.(job);
          },
          (error: Error) => set((now) => ({ ...now, error: error.message })),
        );
      }
    };
  }

  async function start(command: Record<string, unknown>) {
    set(nothing);
    try {
      const job = await startJob(command);
      set({ ...nothing, job });
      hear(job.id);
    } catch (error) {
      const diagnostics = error instanceof Refused ? error.diagnostics : [];
      set({ ...nothing, error: (error as Error).message, diagnostics });
    }
  }

  return { running, start };
}

export const isBusy = (running: Running) => running.job?.state === "waiting" || running.job?.state === "running";

/** Shows a job. */
export function JobPanel({ running }: { running: Running }) {
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
    <section class="job" aria-label="Job">
      <p class="command">
        <code>{job.line}</code>
      </p>
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
      {job.state === "stopped" && <Notice kind="warning">Stopped; nothing was written.</Notice>}
      {job.state === "failed" && <Notice kind="error">This did not work (exit code {job.code ?? "unknown"}).</Notice>}
      <Diagnostics all={running.diagnostics} />
      {job.state === "failed" && running.lines.length > 0 && <pre>{running.lines.join("\n")}</pre>}
    </section>
  );
}
