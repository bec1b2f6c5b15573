// What a dataset holds, and a draft of a policy for it.

import { useEffect, useState } from "preact/hooks";
import { isBusy, JobPanel, useJob } from "../job";
import { link } from "../main";
import { count, Notice, percent, RoleMark, usePieces } from "../parts";

type Looked = {
  format: string;
  records: number;
  classes: { path: string; vertices: number; records: number; max_per_record: number }[];
  attributes: {
    path: string;
    type: string;
    distinct: number;
    uniqueness: number;
    records_without: number;
    role: string;
    reason: string;
  }[];
};

export function LookPage({ data }: { data: string }) {
  const look = useJob();
  const draft = useJob((job) => {
    if (job.state === "done") location.hash = link("policy", { policy: name });
  });
  const folder = data.includes("/") ? data.replace(/[^/]*$/, "") : "";
  const [name, setName] = useState(`${folder}policy.toml`);
  const [search, setSearch] = useState("");
  const [record, setRecord] = useState("");
  const [preset, setPreset] = useState("");
  // How to read it, as far as the data does not say so itself.
  const reading = { ...(record && { record }), ...(preset && { preset }) };
  useEffect(() => void look.start({ command: "inspect", data }), [data]);
  const found = look.running.job?.state === "done" ? (look.running.job.result as Looked | null) : null;
  const shown = (found?.attributes ?? []).filter((a) => a.path.toLowerCase().includes(search.toLowerCase()));
  const { piece, more } = usePieces(shown);
  return (
    <>
      <h1>Look</h1>
      <p>
        What <code>{data}</code> holds. No value of it is shown.
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void look.start({ command: "inspect", data, ...reading });
        }}
      >
        <label>
          Where one record is (XML, JSON), or the person table
          <input value={record} placeholder="people/person" onInput={(event) => setRecord(event.currentTarget.value)} />
        </label>
        <label>
          Known standard
          <select value={preset} onChange={(event) => setPreset(event.currentTarget.value)}>
            <option value="">none</option>
            <option>fhir-r4</option>
            <option>fhir-stu3</option>
            <option>fhir-bulk</option>
            <option>omop</option>
          </select>
        </label>
        <button disabled={isBusy(look.running)}>Look again</button>
      </form>
      <JobPanel running={look.running} />
      {found && (
        <>
          <h2>{count(found.records)} records</h2>
          <ul class="tree">
            {found.classes.map((one) => (
              <li class={`depth-${Math.min(6, one.path.split("[]").length - 1)}`}>
                <code>{one.path || "record"}</code> {count(one.vertices)}
                {one.path !== "" && `, up to ${one.max_per_record} per record`}
              </li>
            ))}
          </ul>
          <form
            class="row"
            onSubmit={(event) => {
              event.preventDefault();
              void draft.start({ command: "draft", data, policy: name, ...reading });
            }}
          >
            <label>
              Draft a policy as
              <input value={name} onInput={(event) => setName(event.currentTarget.value)} required />
            </label>
            <button disabled={isBusy(draft.running)}>Draft</button>
          </form>
          <JobPanel running={draft.running} />
          <Notice kind="warning">Roles are proposals by name and content: a person has to look at each of them.</Notice>
          <label>
            Search attributes
            <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
          </label>
          <div class="wide">
            <table>
              <caption>{count(shown.length)} attributes</caption>
              <thead>
                <tr>
                  <th scope="col">Attribute</th>
                  <th scope="col">Type</th>
                  <th scope="col" class="number">
                    Distinct
                  </th>
                  <th scope="col" class="number">
                    Singles out
                  </th>
                  <th scope="col" class="number">
                    Without it
                  </th>
                  <th scope="col">Proposed</th>
                  <th scope="col">Why</th>
                </tr>
              </thead>
              <tbody>
                {piece.map((one) => (
                  <tr>
                    <th scope="row">
                      <code>{one.path}</code>
                    </th>
                    <td>{one.type}</td>
                    <td class="number">{count(one.distinct)}</td>
                    <td class="number">{percent(one.uniqueness)}</td>
                    <td class="number">{percent(one.records_without)}</td>
                    <td>
                      <RoleMark role={one.role} />
                    </td>
                    <td>{one.reason}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {more}
        </>
      )}
    </>
  );
}
