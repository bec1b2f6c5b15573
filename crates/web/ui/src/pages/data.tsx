// The first step: what the data holds, who is counted, what each column is, and how many can be found in it as it is.

import { useEffect, useState } from "preact/hooks";
import { type AttributeView, nameAfter, type PolicyView, type Project, stopJob } from "../api";
import { RiskSentence } from "../attack";
import { isBusy, isKept, JobPanel, result, useJob } from "../job";
import { link } from "../main";
import { count, Diagnostics, Next, NotTaken, Notice, Path, percent, RoleMark, sentence, usePieces } from "../parts";
import { Term } from "../term";
import type { Attacked, Looked, LookedAttribute } from "../types";
import { useValues } from "../values";
import { freeName, Links } from "./look";
import { RoleChoice, roleEdits, usePolicy } from "./policy";

/** What happens to a column, by its role. */
const roleWords: Record<string, string> = {
  quasi: "may be known: made coarser",
  sensitive: "nobody should learn it: kept, guarded",
  identifying: "names the person: removed",
  insensitive: "says nothing: published as it is",
  key: "links rows: new numbers",
  drop: "left out",
  pseudonym: "a code in its place",
};

export function DataPage(props: { path: string | null; data: string | null; project: Project; reload: () => void }) {
  return props.path ? <Decided {...props} path={props.path} /> : <Begun data={props.data ?? ""} project={props.project} />;
}

/** Looks at data once; who is in it, and how many can be found. */
function useLook(data: string | null, isAsked: boolean) {
  const { shown, ...values } = useValues();
  const named = (what: string) => `${what} ${data} ${shown}`;
  const look = useJob(named("look"), (job) => {
    if (job.state === "done") void risk.start({ command: "inspect", data: data ?? "", risk: true, ...values });
  });
  const risk = useJob(named("raw"));
  const start = () => void look.start({ command: "inspect", data: data ?? "", ...values });
  useEffect(() => {
    if (isAsked && data && !isKept(named("look"))) start();
  }, [data, shown]);
  return { look, risk, start, found: result<Looked>(look.running), raw: result<Looked>(risk.running) };
}

/** Before there is a policy. */
function Begun({ data, project }: { data: string; project: Project }) {
  const { look, risk, found, raw } = useLook(data, true);
  const folder = data.includes("/") ? data.replace(/[^/]*$/, "") : "";
  const [name] = useState(() => freeName(folder, project));
  const draft = useJob(`begin ${data}`, (job) => {
    const go = () => (location.hash = link("data", { policy: name }));
    if (job.state === "done") void nameAfter(name, data).then(go, go);
  });
  return (
    <>
      <h1>Your data</h1>
      <Next>
        look at what each column is taken for, then begin: all of it can be changed afterwards. If records or people are taken for something else,{" "}
        <a href={link("look", { data })}>say how to read the data</a>.
      </Next>
      <button
        type="button"
        class="main"
        disabled={!found || isBusy(draft.running)}
        onClick={() => {
          // Whom the raw data gives away can be asked again: a draft does not wait for it.
          if (isBusy(risk.running) && risk.running.job) void stopJob(risk.running.job.id);
          void draft.start({ command: "draft", data, policy: name });
        }}
      >
        Begin with these proposals
      </button>
      <JobPanel running={draft.running} />
      <JobPanel running={look.running} />
      {found && <Holds found={found} />}
      <JobPanel running={risk.running} />
      <Raw attacked={raw?.risk ?? null} uncounted={raw?.uncounted ?? null} people={found?.records} />
      {found && <Columns looked={found.attributes} />}
    </>
  );
}

/** With a policy: each column can be changed. */
function Decided({ path, data, project }: { path: string; data: string | null; project: Project }) {
  const { policy, error, edit, load } = usePolicy(path);
  const isDatabase = project.policies.find((one) => one.path === path)?.is_database ?? false;
  const { look, risk, found, raw, start } = useLook(isDatabase ? null : data, false);
  const played = useJob(`risk ${path}`);
  const { shown: _, ...values } = useValues();
  if (!policy) return error ? <Notice kind="error">{error.message}</Notice> : <p>Loading…</p>;
  const attacked = result<Attacked>(played.running) ?? raw?.risk ?? null;
  return (
    <>
      <h1>Your data</h1>
      <NotTaken error={error} load={load} />
      <Next>
        say of each column what it is, then go on to <a href={link("who", { policy: path })}>who may know what</a>.
      </Next>
      <Diagnostics all={policy.diagnostics} />
      {found && <Holds found={found} />}
      <JobPanel running={look.running} />
      <JobPanel running={risk.running} />
      <Raw attacked={attacked} uncounted={raw?.uncounted ?? null} people={found?.records} />
      <JobPanel running={played.running} version={policy.version} />
      <div class="row">
        {!found && data && !isDatabase && (
          <button type="button" disabled={isBusy(look.running)} onClick={start}>
            Look at the data
          </button>
        )}
        <button type="button" disabled={isBusy(played.running)} onClick={() => void played.start({ command: "attack", policy: path, ...values })}>
          Who can be found as it is
        </button>
      </div>
      <Columns looked={found?.attributes ?? []} policy={policy} choose={(own) => <RoleChoice
        own={own}
        words={roleWords}
        setRole={(role) => void edit(roleEdits(policy, [own.path], role))}
        edit={(edits) => void edit(edits)}
      />} />
    </>
  );
}

function Holds({ found }: { found: Looked }) {
  const people = found.linked?.tables.find((table) => table.parent === null)?.name;
  const below = found.classes.filter((one) => one.path !== "");
  return (
    <section aria-labelledby="holds">
      <h2 id="holds">{count(found.records)} people</h2>
      <p>
        {people ? (
          <>
            Each row of <code>{people}</code> counts as one person.
          </>
        ) : (
          <>
            Each <Term name="record" /> counts as one person.
          </>
        )}
        {below.length > 0 && " What belongs to a person:"}
      </p>
      {below.length > 0 && (
        <ul>
          {below.map((one) => (
            <li>
              <Path path={one.path} />: {count(one.vertices)} in all, up to {count(one.max_per_record)} of one person
            </li>
          ))}
        </ul>
      )}
      {found.linked && <Links linked={found.linked} />}
    </section>
  );
}

function Raw({ attacked, uncounted, people }: { attacked: Attacked | null; uncounted: string | null; people: number | undefined }) {
  if (!attacked && !uncounted) return null;
  return (
    <section aria-labelledby="raw">
      <h2 id="raw">Who can be found as it is</h2>
      {uncounted && <Notice kind="warning">{sentence(uncounted)}</Notice>}
      {attacked && <RiskSentence attacked={attacked} {...(people !== undefined && { people })} />}
    </section>
  );
}

/** What a column holds, in words. */
function about(one: LookedAttribute): string {
  const missing = one.records_without > 0 ? `, ${percent(one.records_without)} of all people have none` : "";
  const alone = one.uniqueness > 0 ? `; by it alone ${percent(one.uniqueness)} of all people are found` : "; by it alone nobody is found";
  return `${one.type}, ${count(one.distinct)} different ${one.distinct === 1 ? "value" : "values"}${missing}${alone}`;
}

type ColumnsProps = { looked: LookedAttribute[]; policy?: PolicyView; choose?: (own: AttributeView) => preact.JSX.Element };

function Columns({ looked, policy, choose }: ColumnsProps) {
  const { shown: showsValues } = useValues();
  const [search, setSearch] = useState("");
  const known = new Map(looked.map((one) => [one.path, one]));
  const all = policy ? policy.attributes.map((own) => ({ path: own.path, own, seen: known.get(own.path) })) : looked.map((seen) => ({ path: seen.path, own: null, seen }));
  const shown = all.filter((one) => one.path.toLowerCase().includes(search.toLowerCase()));
  const { piece, more } = usePieces(shown);
  return (
    <section aria-labelledby="columns">
      <h2 id="columns">What each column is</h2>
      <p>
        Proposals go by name and content: a person has to look at each of them. What a column is for somebody who looks for a person is its{" "}
        <Term name="role" />.
      </p>
      <label>
        Search columns
        <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      </label>
      <ul class="cards" aria-label="Columns">
        {piece.map(({ path, own, seen }) => {
          const role = own?.role ?? seen?.role ?? "";
          return (
            <li key={path}>
              <Path path={path} />
              <div>
                <Term name={role}>
                  <RoleMark role={role} />
                </Term>
                {own && choose ? choose(own) : <span>{roleWords[role]}</span>}
              </div>
              {seen && <p>{about(seen)}</p>}
              {(own?.why ?? own?.comment ?? seen?.reason) && <p class="help">{own?.why ?? own?.comment ?? seen?.reason}</p>}
              {policy && role === "quasi" && own?.hierarchy && (
                <p>
                  <a href={link("hierarchies", { policy: policy.path, attribute: path })}>How it is made coarser</a>
                </p>
              )}
              {showsValues && seen?.values && <p>Most frequent: {seen.values.map((v) => `${v.value} (${count(v.count)})`).join(", ")}</p>}
            </li>
          );
        })}
      </ul>
      {more}
    </section>
  );
}
