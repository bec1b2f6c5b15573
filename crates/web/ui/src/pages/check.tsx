// A publication and a certificate, nothing else needed.

import { useState } from "preact/hooks";
import type { Project } from "../api";
import { isBusy, JobPanel, useJob } from "../job";
import { Notice } from "../parts";

type Checked = {
  holds: boolean;
  records: number;
  witness: unknown;
  left_over: unknown[];
  certificate?: { holds: boolean; problems: string[]; known: string[]; published_as_they_are: string[]; not_checked: string[] };
};

export function CheckPage({ project, query }: { project: Project; query: URLSearchParams }) {
  const [publication, setPublication] = useState(query.get("publication") ?? "");
  const [certificate, setCertificate] = useState(query.get("certificate") ?? project.certificates[0]?.path ?? "");
  const [values, setValues] = useState(false);
  const check = useJob();
  const found = check.running.job?.state === "done" ? (check.running.job.result as Checked | null) : null;
  const guess = publication || certificate.replace(/\.certificate\.json$/, "");
  return (
    <>
      <h1>Check</h1>
      <p>Does a publication keep what its certificate says? Nothing else is needed.</p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void check.start({ command: "verify", publication: guess, certificate, show_values: values });
        }}
      >
        <label>
          Certificate
          <input list="certificates" value={certificate} required onInput={(event) => setCertificate(event.currentTarget.value)} />
          <datalist id="certificates">
            {project.certificates.map((file) => (
              <option value={file.path} />
            ))}
          </datalist>
        </label>
        <label>
          Publication
          <input value={guess} required onInput={(event) => setPublication(event.currentTarget.value)} />
        </label>
        <label class="inline">
          <input type="checkbox" checked={values} onChange={(event) => setValues(event.currentTarget.checked)} />
          show values
        </label>
        <button disabled={isBusy(check.running)}>Check</button>
      </form>
      <JobPanel running={check.running} />
      {found && (
        <>
          <Notice kind={found.holds ? "good" : "error"}>
            <b>{found.holds ? "HOLDS" : "VIOLATED"}</b> for {found.records} records
          </Notice>
          {found.certificate && (
            <>
              <Notice kind={found.certificate.holds ? "good" : "error"}>
                {found.certificate.holds ? "AS CERTIFIED: the files are those of the certificate" : "NOT AS CERTIFIED"}
              </Notice>
              <List title="Problems" all={found.certificate.problems} />
              <List title="Counts as known" all={found.certificate.known} />
              <List title="Published as it is, without protection" all={found.certificate.published_as_they_are} />
              <List title="Not checked" all={found.certificate.not_checked} />
            </>
          )}
          {found.witness !== null && found.witness !== undefined && (
            <>
              <h2>Who would be found</h2>
              <pre>{JSON.stringify(found.witness, null, 2)}</pre>
            </>
          )}
        </>
      )}
    </>
  );
}

function List({ title, all }: { title: string; all: string[] }) {
  if (all.length === 0) return null;
  return (
    <>
      <h2>{title}</h2>
      <ul>
        {all.map((one) => (
          <li>
            <code>{one}</code>
          </li>
        ))}
      </ul>
    </>
  );
}
