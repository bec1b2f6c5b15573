// The policy: attributes with their roles, what may be known, and the text beside it. The file is the state.

import { useEffect, useRef, useState } from "preact/hooks";
import { type AttributeView, type Edit, editPolicy, getPolicy, type PolicyView, type Project, Refused, writePolicy } from "../api";
import { Attack, RiskSentence } from "../attack";
import { Attackers, forgetting } from "../attackers";
import { Guarantee } from "../guarantee";
import { isBusy, isOld, JobPanel, result, useJob } from "../job";
import { link } from "../main";
import { Diagnostics, Next, Notice, Path, type Refusal, RoleMark, roles, usePieces, Wide } from "../parts";
import type { Attacked } from "../types";
import { TomlText } from "../toml";
import { useValues } from "../values";

/** Loads a policy, and sends edits one after the other, each on top of what came of the one before. */
export function usePolicy(path: string) {
  const [policy, set] = useState<PolicyView | null>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const now = useRef<PolicyView | null>(null);
  const line = useRef<Promise<boolean>>(Promise.resolve(true));
  const fail = (refused: Error) => {
    setError({ message: refused.message, isOld: refused instanceof Refused && refused.status === 409 });
    return false;
  };
  const take = (next: PolicyView) => {
    now.current = next;
    set(next);
    setError(null);
    return true;
  };
  const load = () => getPolicy(path).then(take, fail);
  useEffect(() => void load(), [path]);
  /** Whether it was taken. */
  const send = (change: (policy: PolicyView) => Promise<PolicyView>) => {
    line.current = line.current.then(() => (now.current ? change(now.current).then(take, fail) : false));
    return line.current;
  };
  const settings = (policy?.settings ?? {}) as Record<string, Record<string, unknown>>;
  return {
    policy,
    settings,
    error,
    load,
    edit: (edits: Edit[]) => send((policy) => editPolicy(policy, edits)),
    write: (text: string) => send((policy) => writePolicy(policy, text)),
  };
}

/** What may protect a sensitive attribute, as `protection` in a policy. */
const protections: [string, string][] = [
  ["undecided", "nobody has decided yet: nothing is published"],
  ["l", "l of the guarantee"],
  ["t", "t of the guarantee"],
  ["beta", "beta of the guarantee"],
  ["groups", "published apart, in groups"],
  ["nothing", "nothing: published as it is"],
];

/** What is to be changed so that attributes have another role. */
export function roleEdits(policy: PolicyView, paths: string[], role: string): Edit[] {
  const roles = paths.flatMap((attribute) => {
    const said = policy.attributes.find((a) => a.path === attribute)?.protection;
    const taken = said && role !== "sensitive" ? [{ attribute, key: "protection", value: undefined }] : [];
    return [{ attribute, key: "role", value: role }, ...taken];
  });
  return [...roles, ...(role === "quasi" ? [] : forgetting(policy.attackers, paths))];
}

type ChoiceProps = { own: AttributeView; words?: Record<string, string>; setRole: (role: string) => void; edit: (edits: Edit[]) => void };

/** The role of an attribute, and what protects it if it is sensitive. */
export function RoleChoice({ own, words = {}, setRole, edit }: ChoiceProps) {
  const { path, role, protection } = own;
  return (
    <>
      <select aria-label={`Role of ${path}`} value={role} onChange={(event) => setRole(event.currentTarget.value)}>
        {roles.map((name) => (
          <option value={name}>{words[name] ?? name}</option>
        ))}
        {!roles.includes(role) && <option>{role}</option>}
      </select>
      {(role === "sensitive" || protection) && (
        <select
          aria-label={`What protects ${path}`}
          value={protection ?? ""}
          onChange={(event) => edit([{ attribute: path, key: "protection", value: event.currentTarget.value || undefined }])}
        >
          <option value="">protection: not said</option>
          {protections.map(([name, meaning]) => (
            <option value={name} disabled={name === "undecided"}>
              {meaning}
            </option>
          ))}
        </select>
      )}
    </>
  );
}

export function PolicyPage({ path, project, reload }: { path: string; project: Project; reload: () => void }) {
  const { policy, settings, error, load, edit, write } = usePolicy(path);
  const { shown: _, ...values } = useValues();
  const [search, setSearch] = useState("");
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const [text, setText] = useState<string | null>(null);
  // What a check found is not asked for before its end.
  const [isAsked, ask] = useState(false);
  const check = useJob(`fits ${path}`, () => {
    reload();
    void load().then(() => ask(false));
  });
  const risk = useJob(`risk ${path}`);
  const attacked = result<Attacked>(risk.running);
  const shown = (policy?.attributes ?? []).filter(
    (a) => a.path.toLowerCase().includes(search.toLowerCase()) || a.role === search,
  );
  const { piece, more } = usePieces(shown);
  if (!policy) return error ? <Notice kind="error">{error.message}</Notice> : <p>Loading…</p>;
  const isDone = check.running.job?.state === "done";
  const privacy = settings["privacy"] ?? {};
  const takesAttackers = project.models.find((model) => model.name === privacy["model"])?.takes.includes("attacker");
  const setRole = (paths: string[], role: string) => void edit(roleEdits(policy, paths, role));
  return (
    <>
      <h1>Policy</h1>
      {error && (
        <Notice kind="error">
          {error.message}{" "}
          {error.isOld && (
            <>
              <button type="button" onClick={() => (setText(null), void load())}>
                Load it again
              </button>{" "}
              {text !== null && (
                <button type="button" onClick={() => void load()}>
                  Keep my text, to be saved over it
                </button>
              )}
            </>
          )}
        </Notice>
      )}
      <p class="sentence" aria-live="polite">
        {policy.sentence ? `If it holds: ${policy.sentence}.` : "Nothing is claimed yet: the policy has errors or no model."}
      </p>
      <Diagnostics all={policy.diagnostics} />
      <Next>
        {policy.sentence ? (
          <>
            go through the roles, check the policy with its data, then see the <a href={link("hierarchies", { policy: path })}>hierarchies</a>{" "}
            or go on to the result.
          </>
        ) : (
          "mend what is marked in the file, or say below what somebody may know."
        )}
      </Next>
      <div class="row">
        <button type="button" class="main" disabled={isBusy(check.running)} onClick={() => (ask(true), void check.start({ command: "check", policy: path, ...values }))}>
          Check it with its data
        </button>
        <button type="button" disabled={isBusy(risk.running)} onClick={() => void risk.start({ command: "attack", policy: path, ...values })}>
          Risk of the raw data
        </button>
        <a class="button" href={link("result", { policy: path })}>
          On to the result
        </a>
      </div>
      <JobPanel running={check.running} version={policy.version} />
      {isDone && policy.fits && <Notice kind="good">The policy fits its data.</Notice>}
      {isDone && !policy.fits && !isAsked && !isOld(check.running, policy.version) && (
        <Notice kind="warning">Its data or its hierarchies changed since: check it again.</Notice>
      )}
      <JobPanel running={risk.running} version={policy.version} />
      {attacked && <RiskSentence attacked={attacked} />}
      {attacked && <Attack attacked={attacked} />}
      <div class="columns">
        <div>
          <Guarantee models={project.models} privacy={privacy} attackers={policy.attackers.length} edit={(edits) => void edit(edits)} />
          {(policy.attackers.length > 0 || takesAttackers) && (
            <Attackers attackers={policy.attackers} attributes={policy.attributes} k={privacy["k"]} edit={(edits) => void edit(edits)} />
          )}
          <div class="row">
            <label>
              Search attributes
              <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
            </label>
            <label>
              Role of the {chosen.size} chosen
              <select
                value=""
                disabled={chosen.size === 0}
                onChange={(event) => {
                  setRole([...chosen], event.currentTarget.value);
                  choose(new Set());
                }}
              >
                <option value="" disabled>
                  choose
                </option>
                {roles.map((role) => (
                  <option>{role}</option>
                ))}
              </select>
            </label>
          </div>
          <Wide label="Attributes table">
            <table>
              <caption>{shown.length} attributes</caption>
              <thead>
                <tr>
                  <th scope="col">
                    <input
                      type="checkbox"
                      aria-label="Choose all that are listed"
                      checked={shown.length > 0 && shown.every((a) => chosen.has(a.path))}
                      onChange={(event) => choose(new Set(event.currentTarget.checked ? shown.map((a) => a.path) : []))}
                    />
                  </th>
                  <th scope="col">Attribute</th>
                  <th scope="col">Role</th>
                  <th scope="col">Hierarchy</th>
                  <th scope="col">Why this role</th>
                </tr>
              </thead>
              <tbody>
                {piece.map((a) => (
                  <tr>
                    <td>
                      <input
                        type="checkbox"
                        aria-label={`Choose ${a.path}`}
                        checked={chosen.has(a.path)}
                        onChange={() => {
                          const next = new Set(chosen);
                          if (!next.delete(a.path)) next.add(a.path);
                          choose(next);
                        }}
                      />
                    </td>
                    <th scope="row">
                      <Path path={a.path} />
                    </th>
                    <td>
                      <RoleMark role={a.role} />
                      <RoleChoice own={a} setRole={(role) => setRole([a.path], role)} edit={(edits) => void edit(edits)} />
                    </td>
                    <td>
                      <code>{a.hierarchy ?? "–"}</code>
                    </td>
                    <td>
                      {a.why ?? (a.comment ? <span class="help">Comment: {a.comment}</span> : "–")}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
          {more}
        </div>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text !== null) void write(text).then((isTaken) => isTaken && setText(null));
          }}
        >
          <h2>The file</h2>
          <TomlText text={text ?? policy.text} diagnostics={text === null ? policy.diagnostics : []} change={setText} />
          <div class="row">
            <button disabled={text === null || text === policy.text}>Save the text</button>
            {text !== null && (
              <button type="button" onClick={() => setText(null)}>
                Undo
              </button>
            )}
          </div>
        </form>
      </div>
    </>
  );
}
