// Why not finer: one published label is split, and what would break is told.

import { useState } from "preact/hooks";
import { isBusy, JobPanel, useJob } from "./job";
import { count, Notice } from "./parts";

export type Listed = { attributes: { path: string; labels: { label: string; places: number; splits: boolean }[] }[] };
type NotFiner = { path: string; label: string; sentence: string; breaks: boolean | null };

/** Labels that are listed at once. */
const MOST = 500;

export function WhyPart({ path }: { path: string }) {
  const [chosen, choose] = useState("");
  const [label, setLabel] = useState("");
  const [showValues, setShowValues] = useState(false);
  const list = useJob();
  const ask = useJob();
  const listed = list.running.job?.state === "done" ? (list.running.job.result as Listed | null) : null;
  const found = ask.running.job?.state === "done" ? (ask.running.job.result as NotFiner | null) : null;
  const attributes = (listed?.attributes ?? [])
    .map(({ path, labels }) => ({ path, labels: labels.filter((one) => one.splits) }))
    .filter((one) => one.labels.length > 0);
  const labels = attributes.find((one) => one.path === chosen)?.labels ?? [];
  return (
    <section aria-labelledby="why">
      <h2 id="why">Why not finer?</h2>
      {!listed && (
        <button type="button" disabled={isBusy(list.running)} onClick={() => void list.start({ command: "why", policy: path })}>
          List what is coarser than it was
        </button>
      )}
      <JobPanel running={list.running} />
      {listed && attributes.length === 0 && <p>Nothing is coarser than it was.</p>}
      {attributes.length > 0 && (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            void ask.start({ command: "why", policy: path, attribute: chosen, label, show_values: showValues });
          }}
        >
          <label>
            Published attribute
            <select
              value={chosen}
              required
              onChange={(event) => {
                choose(event.currentTarget.value);
                setLabel("");
              }}
            >
              <option value="" disabled>
                choose
              </option>
              {attributes.map((one) => (
                <option>{one.path}</option>
              ))}
            </select>
          </label>
          <label>
            Published label
            <select value={label} required onChange={(event) => setLabel(event.currentTarget.value)}>
              <option value="" disabled>
                choose
              </option>
              {labels.slice(0, MOST).map((one) => (
                <option value={one.label}>
                  {one.label}: {count(one.places)} places
                </option>
              ))}
            </select>
          </label>
          <label class="inline">
            <input type="checkbox" checked={showValues} onChange={(event) => setShowValues(event.currentTarget.checked)} />
            show values
          </label>
          <button disabled={isBusy(ask.running) || label === ""}>Why not finer?</button>
          {labels.length > MOST && <p>The {MOST} most frequent of {count(labels.length)} labels.</p>}
        </form>
      )}
      <JobPanel running={ask.running} />
      {found && <Notice kind={found.breaks === false ? "good" : "warning"}>{found.sentence}.</Notice>}
    </section>
  );
}
