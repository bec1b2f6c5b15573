// The policy: attributes with their roles, what may be known, and the text beside it. The file is the state.

import { useEffect, useState } from "preact/hooks";
import { type Edit, editPolicy, getPolicy, type PolicyView, Refused, writePolicy } from "../api";
import { Attack, type Attacked } from "../attack";
import { isBusy, JobPanel, useJob } from "../job";
import { link } from "../main";
import { Diagnostics, Notice, RoleMark, roles, usePieces } from "../parts";

const models: [string, string][] = [
  ["kmn", "a few values of a person, and how they belong together (k^(m,n))"],
  ["km", "a few items of a person's set (k^m)"],
  ["k-anonymity", "all quasi values of a person (k-anonymity)"],
  ["l-diversity", "all quasi values, and wants a sensitive one (l-diversity)"],
];
const numbers: [string, string][] = [
  ["k", "at least so many people fit (k)"],
  ["m", "values known (m)"],
  ["n", "relations known (n)"],
  ["l", "sensitive values among them (l)"],
];

/** Loads a policy, and sends edits one after the other. */
export function usePolicy(path: string) {
  const [policy, set] = useState<PolicyView | null>(null);
  const [error, setError] = useState<{ message: string; isOld: boolean } | null>(null);
  const fail = (refused: Error) =>
    setError({ message: refused.message, isOld: refused instanceof Refused && refused.status === 409 });
  const load = () => getPolicy(path).then((loaded) => (set(loaded), setError(null)), fail);
  useEffect(() => void load(), [path]);
  const take = (made: Promise<PolicyView>) => made.then((next) => (set(next), setError(null)), fail);
  return {
    policy,
    error,
    load,
    edit: (edits: Edit[]) => policy && take(editPolicy(policy, edits)),
    write: (text: string) => policy && take(writePolicy(policy, text)),
  };
}

export function PolicyPage({ path }: { path: string }) {
  const { policy, error, load, edit, write } = usePolicy(path);
  const [search, setSearch] = useState("");
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const [text, setText] = useState<string | null>(null);
  const check = useJob();
  const risk = useJob();
  const attacked = risk.running.job?.state === "done" ? (risk.running.job.result as Attacked | null) : null;
  const shown = (policy?.attributes ?? []).filter(
    (a) => a.path.toLowerCase().includes(search.toLowerCase()) || a.role === search,
  );
  const { piece, more } = usePieces(shown);
  if (!policy) return error ? <Notice kind="error">{error.message}</Notice> : <p>Loading…</p>;
  const privacy = policy.settings["privacy"] ?? {};
  const setRole = (paths: string[], role: string) =>
    void edit(paths.map((attribute) => ({ attribute, key: "role", value: role })));
  return (
    <>
      <h1>Policy</h1>
      {error && (
        <Notice kind="error">
          {error.message}{" "}
          {error.isOld && (
            <button type="button" onClick={() => (setText(null), void load())}>
              Load it again
            </button>
          )}
        </Notice>
      )}
      <p class="sentence" aria-live="polite">
        {policy.sentence ? `If it holds: ${policy.sentence}.` : "Nothing is claimed yet: the policy has errors or no model."}
      </p>
      <Diagnostics all={policy.diagnostics} />
      <div class="columns">
        <div>
          <fieldset>
            <legend>What may somebody know?</legend>
            <label>
              Whoever knows
              <select
                value={String(privacy["model"] ?? "")}
                onChange={(event) => void edit([{ key: "privacy.model", value: event.currentTarget.value }])}
              >
                <option value="" disabled>
                  choose
                </option>
                {models.map(([name, words]) => (
                  <option value={name}>{words}</option>
                ))}
                {!models.some(([name]) => name === privacy["model"]) && privacy["model"] !== undefined && (
                  <option value={String(privacy["model"])}>{String(privacy["model"])}</option>
                )}
              </select>
            </label>
            <div class="row">
              {numbers.map(([key, words]) => (
                <label>
                  {words}
                  <input
                    type="number"
                    min={0}
                    value={privacy[key] === undefined ? "" : String(privacy[key])}
                    onChange={(event) => {
                      const typed = event.currentTarget.value;
                      void edit([{ key: `privacy.${key}`, value: typed === "" ? undefined : Number(typed) }]);
                    }}
                  />
                </label>
              ))}
            </div>
          </fieldset>
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
          <div class="wide">
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
                      <code>{a.path}</code>
                    </th>
                    <td>
                      <RoleMark role={a.role} />
                      <select
                        aria-label={`Role of ${a.path}`}
                        value={a.role}
                        onChange={(event) => setRole([a.path], event.currentTarget.value)}
                      >
                        {roles.map((role) => (
                          <option>{role}</option>
                        ))}
                        {!roles.includes(a.role) && <option>{a.role}</option>}
                      </select>
                    </td>
                    <td>
                      <code>{a.hierarchy ?? "–"}</code>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {more}
        </div>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text !== null) void write(text)?.then(() => setText(null));
          }}
        >
          <label>
            The file
            <textarea
              class="toml"
              spellcheck={false}
              rows={Math.min(60, policy.text.split("\n").length + 2)}
              value={text ?? policy.text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
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
      <div class="row">
        <button type="button" disabled={isBusy(check.running)} onClick={() => void check.start({ command: "check", policy: path })}>
          Check it with its data
        </button>
        <button type="button" disabled={isBusy(risk.running)} onClick={() => void risk.start({ command: "attack", policy: path })}>
          Risk of the raw data
        </button>
        <a href={link("result", { policy: path })}>On to the result</a>
      </div>
      <JobPanel running={check.running} />
      {check.running.job?.state === "done" && <Notice kind="good">The policy fits its data.</Notice>}
      <JobPanel running={risk.running} />
      {attacked && <Attack attacked={attacked} />}
    </>
  );
}
