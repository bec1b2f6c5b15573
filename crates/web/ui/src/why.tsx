// Why not finer: one published label is split, and what would break is told.

import { useState } from "preact/hooks";
import { isBusy, JobPanel, result, useJob } from "./job";
import { count, Notice } from "./parts";
import type { Listed, NotFiner } from "./types";
import { useValues } from "./values";

/** Labels that are listed at once. */
const MOST = 500;

export function WhyPart({ path, list }: { path: string; list: ReturnType<typeof useJob> }) {
  const [chosen, choose] = useState("");
  const [label, setLabel] = useState("");
  const { shown: _, ...values } = useValues();
  const ask = useJob(`why ${path}`);
  const listed = result<Listed>(list.running);
  const found = result<NotFiner>(ask.running);
  const attributes = (listed?.attributes ?? [])
    .map(({ path, labels }) => ({ path, labels: labels.filter((one) => one.splits) }))
    .filter((one) => one.labels.length > 0);
  const labels = attributes.find((one) => one.path === chosen)?.labels ?? [];
  return (
    <>
      <p>Pick a published label: it is split into those below it, the rest stays as it is, and the verifier says what would break.</p>
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
            void ask.start({ command: "why", policy: path, attribute: chosen, label, ...values });
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
          <button disabled={isBusy(ask.running) || label === ""}>Why not finer?</button>
          {labels.length > MOST && <p>The {MOST} most frequent of {count(labels.length)} labels.</p>}
        </form>
      )}
      <JobPanel running={ask.running} />
      {found && <Notice kind={found.breaks === false ? "good" : "warning"}>{found.sentence}.</Notice>}
    </>
  );
}
