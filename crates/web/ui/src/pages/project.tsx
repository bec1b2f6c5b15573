// The folder: policies with their state, data, publications; how to begin.

import { useState } from "preact/hooks";
import type { DataState, Project, State } from "../api";
import { isBusy, JobPanel, useJob } from "../job";
import { link } from "../main";
import { bring, bytes, count, FilePicker, Next, Notice, usePieces, Wide } from "../parts";

/** A state by its mark, its word, and what it means. */
export const states: Record<State, [string, string, string]> = {
  broken: ["✗", "broken", "has errors: open it to see which"],
  draft: ["○", "draft", "not checked with its data yet"],
  fits: ["◐", "fits", "fits its data, nothing published yet"],
  published: ["●", "published", "with its certificate"],
  verified: ["✓", "verified", "read again from its bytes, and holds"],
  changed: ["△", "changed since", "policy, data or publication are newer than the certificate"],
};

export function StateMark({ state }: { state: State }) {
  const [mark, word, meaning] = states[state];
  return (
    <span class={`state state-${state}`}>
      <b>
        <span aria-hidden="true">{mark}</span> <span>{word}</span>
      </b>
      <span class="meaning">{meaning}</span>
    </span>
  );
}

const kinds: Record<DataState["kind"], string> = {
  file: "file",
  tables: "folder of linked tables",
  documents: "folder of documents (FHIR, JSON, XML)",
  sqlite: "SQLite database",
  database: "database, named by a policy",
};

/** What to do with a folder as it is. */
function Advice({ project }: { project: Project }) {
  const { policies, data } = project;
  const of = (state: State) => policies.find((policy) => policy.state === state);
  const broken = of("broken");
  const open = of("draft") ?? of("fits") ?? of("changed");
  const done = of("verified") ?? of("published");
  if (policies.length === 0 && data[0])
    return (
      <Next>
        open <a href={link("data", { data: data[0].path })}>{data[0].path}</a> to see what it holds, and begin.
      </Next>
    );
  if (broken)
    return (
      <Next>
        <a href={link("policy", { policy: broken.path })}>{broken.path}</a> has errors: open it, they stand at their lines.
      </Next>
    );
  if (open)
    return (
      <Next>
        go on with <a href={link("data", { policy: open.path })}>{open.path}</a>: your data, who may know what, and what comes out.
      </Next>
    );
  if (done)
    return (
      <Next>
        look at the <a href={link("result", { policy: done.path })}>result of {done.path}</a>, or go on to{" "}
        <a href={link("publish", { policy: done.path })}>publish</a> it.
      </Next>
    );
  return null;
}

export function ProjectPage({ project, reload }: { project: Project; reload: () => void }) {
  const { running, start } = useJob("demo", reload);
  const [error, setError] = useState<string | null>(null);
  const { piece, more } = usePieces(project.data, 50);
  const isEmpty = project.policies.length === 0 && project.data.length === 0;
  const take = (files: FileList | null) =>
    void bring(files).then((problem) => {
      setError(problem);
      reload();
    });
  return (
    <div
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        take(event.dataTransfer?.files ?? null);
      }}
    >
      <h1>Project</h1>
      <p>
        Folder <code>{project.folder}</code>
        {project.more && " (it holds more than is listed here)"}
      </p>
      {isEmpty && (
        <div class="empty">
          <p>
            <b>Nothing is here yet.</b> Begin with the example, invented patients with visits, diagnoses and treatments, or drop a file of
            your own on this page.
          </p>
          <p>What can be dropped, compressed with gzip or zstd or not:</p>
          <ul>
            <li>nested records: NDJSON, JSON, XML, Parquet, FHIR bundles</li>
            <li>a flat table: CSV, Parquet; linked tables: SQLite</li>
            <li>baskets: a text file with the items of one person per line</li>
          </ul>
          <p>
            Folders of linked CSV tables or of FHIR bundles are copied into this folder. A PostgreSQL database is named by a policy:{" "}
            <code>bosket inspect postgres://user@host/database --draft policy.toml</code>.
          </p>
        </div>
      )}
      <Advice project={project} />
      <div class="row">
        <button type="button" class={isEmpty ? "main" : ""} disabled={isBusy(running)} onClick={() => void start({ command: "demo", folder: "bosket-demo" })}>
          Start with the example
        </button>
        <FilePicker label="Add a file…" take={take} />
      </div>
      {error && <Notice kind="error">{error}</Notice>}
      <JobPanel running={running} />
      {project.policies.length > 0 && (
        <Wide label="Policies table">
          <table>
            <caption>Policies</caption>
            <thead>
              <tr>
                <th scope="col">Policy</th>
                <th scope="col">State</th>
                <th scope="col">Guarantee</th>
                <th scope="col">Data</th>
                <th scope="col">Publication</th>
              </tr>
            </thead>
            <tbody>
              {project.policies.map((policy) => (
                <tr>
                  <th scope="row">
                    <a href={link(policy.state === "broken" ? "policy" : "data", { policy: policy.path })}>{policy.path}</a>
                  </th>
                  <td>
                    <StateMark state={policy.state} />
                  </td>
                  <td>{policy.model ?? "–"}</td>
                  <td>{policy.source ?? "–"}</td>
                  <td>{policy.publication ? <a href={link("result", { policy: policy.path })}>{policy.publication}</a> : "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
      {project.data.length > 0 && (
        <Wide label="Data table">
          <table>
            <caption>Data</caption>
            <thead>
              <tr>
                <th scope="col">Dataset</th>
                <th scope="col">What it is</th>
                <th scope="col">State</th>
                <th scope="col" class="number">
                  Size
                </th>
              </tr>
            </thead>
            <tbody>
              {piece.map((data) => (
                <tr>
                  <th scope="row">
                    {data.kind === "database" ? <code>{data.path}</code> : <a href={link("data", { data: data.path })}>{data.path}</a>}
                  </th>
                  <td>
                    {kinds[data.kind]}
                    {data.files !== null && `, ${count(data.files)} files`}
                  </td>
                  <td>{data.policies.length === 0 ? "no policy yet" : `read by ${data.policies.join(", ")}`}</td>
                  <td class="number">{data.bytes === null ? "–" : bytes(data.bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
      {more}
      {project.publications.length > 0 && (
        <Wide label="Publications table">
          <table>
            <caption>Publications</caption>
            <thead>
              <tr>
                <th scope="col">Certificate</th>
                <th scope="col">Publication</th>
                <th scope="col">State</th>
                <th scope="col">Signature</th>
              </tr>
            </thead>
            <tbody>
              {project.publications.map((one) => (
                <tr>
                  <th scope="row">
                    <a href={link("check", { certificate: one.certificate, ...(one.policy && { policy: one.policy }) })}>{one.certificate}</a>
                  </th>
                  <td>{one.publication ?? "not in this folder"}</td>
                  <td>
                    <StateMark state={one.state} />
                  </td>
                  <td>{one.signature ? "signed" : "not signed"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </div>
  );
}
