// What a dataset holds, and a draft of a policy for it.

import { useEffect, useState } from "preact/hooks";
import { nameAfter, type Project } from "../api";
import { Attack, RiskSentence } from "../attack";
import { isBusy, isKept, JobPanel, result, useJob } from "../job";
import { link } from "../main";
import { count, Next, Notice, Path, percent, RoleMark, sentence, usePieces, Wide } from "../parts";
import { Term } from "../term";
import type { Looked } from "../types";
import { useValues } from "../values";

/** A name for a policy that no file has. */
export function freeName(folder: string, project: Project): string {
  const names = ["policy.toml", ...Array.from({ length: 98 }, (_, i) => `policy-${i + 2}.toml`)].map((name) => folder + name);
  return names.find((name) => !project.files.some((file) => file.path === name)) ?? `${folder}policy.toml`;
}

export function LookPage({ data, project }: { data: string; project: Project }) {
  const { shown: showsValues, ...values } = useValues();
  // What it holds comes at once; whom it gives away takes a second reading.
  const named = (what: string) => `${what} ${data} ${showsValues}`;
  const look = useJob(named("look"), (job) => {
    if (job.state === "done") void risk.start({ command: "inspect", data, ...reading, risk: true, ...values });
  });
  const risk = useJob(named("raw"));
  const draft = useJob(`draft ${data}`, (job) => {
    const go = () => (location.hash = link("policy", { policy: name }));
    if (job.state === "done") void nameAfter(name, data).then(go, go);
  });
  const folder = data.includes("/") ? data.replace(/[^/]*$/, "") : "";
  const [name, setName] = useState(() => freeName(folder, project));
  const [search, setSearch] = useState("");
  const [record, setRecord] = useState("");
  const [preset, setPreset] = useState("");
  // How to read it, as far as the data does not say so itself.
  const reading = { ...(record && { record }), ...(preset && { preset }) };
  useEffect(() => {
    if (!isKept(named("look"))) void look.start({ command: "inspect", data, ...reading, ...values });
  }, [data, showsValues]);
  const found = result<Looked>(look.running);
  const raw = result<Looked>(risk.running);
  const attacked = raw?.risk;
  const shown = (found?.attributes ?? []).filter((a) => a.path.toLowerCase().includes(search.toLowerCase()));
  const { piece, more } = usePieces(shown);
  return (
    <>
      <h1>Look</h1>
      <p>
        What <code>{data}</code> holds. {showsValues ? "The most frequent values of each attribute are shown." : "No value of it is shown."}
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void look.start({ command: "inspect", data, ...reading, ...values });
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
          <Next>look through the proposed roles below, then draft a policy; roles can be changed there one by one or many at once.</Next>
          <ul class="tree">
            {found.classes.map((one) => (
              <li class={`depth-${Math.min(6, one.path.split("[]").length - 1)}`}>
                <code>{one.path || "record"}</code> {count(one.vertices)}
                {one.path !== "" && `, up to ${one.max_per_record} per record`}
              </li>
            ))}
          </ul>
          {found.linked && <Links linked={found.linked} />}
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
            <button class="main" disabled={isBusy(draft.running)}>Draft</button>
          </form>
          <JobPanel running={draft.running} />
          <section aria-labelledby="risk">
            <h2 id="risk">Risk of the raw data</h2>
            <p>Before anything is decided, if the proposed roles are right:</p>
            <JobPanel running={risk.running} />
            {raw?.uncounted && <Notice kind="warning">{sentence(raw.uncounted)}</Notice>}
            {attacked && <RiskSentence attacked={attacked} />}
            {attacked && <Attack attacked={attacked} />}
          </section>
          <h2>Attributes</h2>
          <Notice kind="warning">Roles are proposals by name and content: a person has to look at each of them.</Notice>
          <label>
            Search attributes
            <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
          </label>
          <Wide label="Attributes table">
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
                    <Term name="singles out">Singles out</Term>
                  </th>
                  <th scope="col" class="number">
                    Without it
                  </th>
                  <th scope="col">Proposed</th>
                  <th scope="col">Why</th>
                  {showsValues && <th scope="col">Most frequent</th>}
                </tr>
              </thead>
              <tbody>
                {piece.map((one) => (
                  <tr>
                    <th scope="row">
                      <Path path={one.path} />
                    </th>
                    <td>{one.type}</td>
                    <td class="number">{count(one.distinct)}</td>
                    <td class="number">{percent(one.uniqueness)}</td>
                    <td class="number">{percent(one.records_without)}</td>
                    <td>
                      <RoleMark role={one.role} />
                    </td>
                    <td>{one.reason}</td>
                    {showsValues && <td>{(one.values ?? []).map((v) => `${v.value} (${count(v.count)})`).join(", ")}</td>}
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
          {more}
        </>
      )}
    </>
  );
}

/** How tables are linked, and what was not read. */
export function Links({ linked }: { linked: NonNullable<Looked["linked"]> }) {
  return (
    <section aria-labelledby="links">
      <h2 id="links">How the tables belong together</h2>
      <p>{linked.guessed ? "Guessed from names and values: nobody has declared any key." : "As the keys of the database say."}</p>
      <ul>
        {linked.tables.map((table) => (
          <li>
            <code>{table.name}</code> {table.parent ? `below ${table.parent} by ${table.foreign_key.join(", ")}` : "holds the people"}
          </li>
        ))}
      </ul>
      {linked.notes.length > 0 && (
        <Notice kind="warning">
          <ul>
            {linked.notes.map((note) => (
              <li>{note}</li>
            ))}
          </ul>
        </Notice>
      )}
    </section>
  );
}
