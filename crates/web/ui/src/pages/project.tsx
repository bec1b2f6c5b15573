// The folder: policies with their state, data, publications; how to begin.

import { useState } from "preact/hooks";
import { type PolicyState, type Project, upload } from "../api";
import { isBusy, JobPanel, useJob } from "../job";
import { link } from "../main";
import { bytes, Notice, usePieces } from "../parts";

const states: Record<PolicyState["state"], string> = {
  broken: "does not fit: open it to see why",
  draft: "not published yet",
  published: "published and verified",
  changed: "changed since it was published",
};

const isData = (path: string) =>
  /\.(ndjson|jsonl|json|xml|csv|tsv|txt|parquet|sqlite|db|fhir)(\.gz|\.zst)?$/i.test(path) &&
  !/(^|\/)(hierarchies|private)\//.test(path) &&
  !/\.schema\.json$/.test(path);

export function ProjectPage({ project, reload }: { project: Project; reload: () => void }) {
  const { running, start } = useJob(reload);
  const [error, setError] = useState<string | null>(null);
  const published = new Set(project.policies.flatMap((policy) => (policy.publication ? [policy.publication] : [])));
  const data = project.files.filter((file) => isData(file.path) && !published.has(file.path));
  const { piece, more } = usePieces(data, 50);
  const isEmpty = project.policies.length === 0 && data.length === 0;

  async function take(files: FileList | null) {
    setError(null);
    for (const file of Array.from(files ?? [])) {
      try {
        await upload(file);
      } catch (refused) {
        setError(`${file.name}: ${(refused as Error).message}`);
      }
    }
    reload();
  }

  return (
    <div
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void take(event.dataTransfer?.files ?? null);
      }}
    >
      <h1>Project</h1>
      <p>
        Folder <code>{project.folder}</code>
        {project.more && " (it holds more than is listed here)"}
      </p>
      {isEmpty && (
        <p>
          Nothing is here yet. Begin with the example, invented patients with visits, diagnoses and treatments, or drop a file: nested
          JSON or NDJSON, XML, FHIR bundles, CSV, Parquet, SQLite, or baskets as text, compressed with gzip or zstd or not.
        </p>
      )}
      <div class="row">
        <button type="button" disabled={isBusy(running)} onClick={() => void start({ command: "demo", folder: "bosket-demo" })}>
          Start with the example
        </button>
        <label class="button">
          Add a file…
          <input type="file" multiple class="hidden" onChange={(event) => void take(event.currentTarget.files)} />
        </label>
      </div>
      {error && <Notice kind="error">{error}</Notice>}
      <JobPanel running={running} />
      {project.policies.length > 0 && (
        <table>
          <caption>Policies</caption>
          <thead>
            <tr>
              <th scope="col">Policy</th>
              <th scope="col">State</th>
              <th scope="col">Model</th>
              <th scope="col">Data</th>
              <th scope="col">Publication</th>
            </tr>
          </thead>
          <tbody>
            {project.policies.map((policy) => (
              <tr>
                <th scope="row">
                  <a href={link("policy", { policy: policy.path })}>{policy.path}</a>
                </th>
                <td>{states[policy.state]}</td>
                <td>{policy.model ?? "–"}</td>
                <td>{policy.source ?? "–"}</td>
                <td>{policy.publication ? <a href={link("result", { policy: policy.path })}>{policy.publication}</a> : "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {data.length > 0 && (
        <table>
          <caption>Data</caption>
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col" class="number">
                Size
              </th>
            </tr>
          </thead>
          <tbody>
            {piece.map((file) => (
              <tr>
                <th scope="row">
                  <a href={link("look", { data: file.path })}>{file.path}</a>
                </th>
                <td class="number">{bytes(file.bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {more}
    </div>
  );
}
