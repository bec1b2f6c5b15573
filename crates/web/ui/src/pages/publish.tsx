// What goes out: what it claims and what not, reasons, what was agreed, the annex, the signature, and the files.

import { useEffect, useState } from "preact/hooks";
import { getPublish, getRun, newKey, pack, type Project, type PublishView, save, sign } from "../api";
import { isBusy, JobPanel, result, useJob } from "../job";
import { link } from "../main";
import { Fragment, Next, NotTaken, Notice, RoleMark, sentence, TypedInput, TypedText, Wide } from "../parts";
import { Term } from "../term";
import type { Packed, Signed } from "../types";
import { usePolicy } from "./policy";
import { StateMark } from "./project";
import { useCertificate } from "./result";

type Field = { key: string; words: string; kind: "text" | "lines" | "number" | "date" | "access" };

/** What was agreed, as the policy's `[release]` has it. */
const fields: Field[] = [
  { key: "recipient", words: "Who receives it", kind: "text" },
  { key: "purpose", words: "For what", kind: "text" },
  { key: "access", words: "How they get it", kind: "access" },
  { key: "controls", words: "What else binds them, one per line", kind: "lines" },
  { key: "accepted_risk", words: "Risk that is accepted (0 to 1)", kind: "number" },
  { key: "decided_by", words: "Who decided the roles", kind: "text" },
  { key: "reviewed_on", words: "Reviewed on", kind: "date" },
  { key: "approvers", words: "Who approves it, one per line", kind: "lines" },
];

const packages = [
  ["receiver", "Package for the receiver"],
  ["officer", "Package for the officer"],
] as const;

const lines = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

export function PublishPage({ path, project, reload }: { path: string; project: Project; reload: () => void }) {
  const state = project.policies.find((policy) => policy.path === path);
  const { policy, settings, error, edit, load } = usePolicy(path);
  const [view, setView] = useState<PublishView | null>(null);
  const [read, setRead] = useState(false);
  const [lost, setLost] = useState<string | null>(null);
  const look = () => void getPublish(path).then(setView, () => setView(null));
  const signing = useJob(`sign ${path}`, () => (look(), reload()));
  const making = useJob(`key ${path}`, look);
  const annexJob = useJob(`annex ${path}`);
  const describe = useJob(`describe ${path}`, look);
  const certificate = useCertificate(state?.certificate ?? null, state?.state);
  const [packed, setPacked] = useState<Packed | null>(null);
  const bundle = (audience: "receiver" | "officer") =>
    void pack(path, audience)
      .then((made) => (setPacked(made), setLost(null), save(made.path)))
      .catch((refused: Error) => setLost(refused.message));
  const [annex, setAnnex] = useState<string | null>(null);
  useEffect(look, [path, policy?.version]);
  const annexId = annexJob.running.job?.state === "done" ? annexJob.running.job.id : null;
  useEffect(() => {
    setAnnex(null);
    if (annexId !== null) getRun(annexId).then((run) => setAnnex(run.annex), () => setAnnex(null));
  }, [annexId]);
  if (!state?.certificate || !state.publication) {
    return (
      <>
        <h1>Publish</h1>
        <Notice kind="warning">
          Nothing is published yet: <a href={link("result", { policy: path })}>make a publication first</a>.
        </Notice>
      </>
    );
  }
  const missing = (view?.as_it_is ?? []).filter((one) => !one.why).length;
  const release = settings["release"] ?? {};
  const signed = result<Signed>(signing.running);
  const isFile = project.files.some((file) => file.path === state.publication);
  const out = [
    ...(isFile ? [state.publication] : []),
    state.certificate,
    ...(view?.signature ? [view.signature] : []),
    ...(view?.public_keys ?? []),
    ...(state.report ? [state.report] : []),
    ...(view?.descriptions ?? []),
  ];
  const steps: [boolean, string][] = [
    [read, "read what is not claimed"],
    [missing === 0, "say why attributes are published as they are"],
    [lines(String((release["approvers"] as string[] | undefined)?.join("\n") ?? "")).length > 0, "fill in what was agreed and who approves"],
    [view?.signature !== null && view !== null, "sign the certificate"],
    [false, "hand out the files below, and the public key on another way"],
  ];
  const next = steps.find(([isDone]) => !isDone);
  return (
    <>
      <h1>Publish</h1>
      <p>
        <code>{state.publication}</code>: <StateMark state={state.state} />
      </p>
      {state.state === "changed" && (
        <Notice kind="warning">
          The policy, the data or the publication changed after the certificate was written:{" "}
          <a href={link("result", { policy: path })}>publish again</a> before you sign.
        </Notice>
      )}
      {next && <Next>{next[1]}.</Next>}
      <NotTaken error={error} load={load} />
      {certificate && (
        <section aria-labelledby="claims">
          <h2 id="claims">What is claimed</h2>
          <p class="sentence">{certificate.sentence ? sentence(certificate.sentence) : "Nothing."}</p>
          <h2>What is not claimed</h2>
          <ul>
            {certificate.not_claimed.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
          <label class="inline">
            <input type="checkbox" checked={read} onChange={(event) => setRead(event.currentTarget.checked)} />I have read what is not claimed
          </label>
          <p>
            Digest <code>{certificate.digest}</code>
          </p>
        </section>
      )}
      <section aria-labelledby="reasons">
        <h2 id="reasons">Published as it is</h2>
        {view && view.as_it_is.length === 0 && <p>Nothing: everything that is published is protected by the claim.</p>}
        {view && view.as_it_is.length > 0 && (
          <>
            {missing > 0 && <Notice kind="warning">{`${missing} of ${view.as_it_is.length} have no reason yet: why is it right to publish them as they are?`}</Notice>}
            <Wide label="Published as it is table">
              <table>
                <caption>Attributes that the claim leaves as they are</caption>
                <thead>
                  <tr>
                    <th scope="col">Attribute</th>
                    <th scope="col">Role</th>
                    <th scope="col">Why that is right</th>
                  </tr>
                </thead>
                <tbody>
                  {view.as_it_is.map((one) => (
                    <tr>
                      <th scope="row">
                        <code>{one.path}</code>
                      </th>
                      <td>
                        <RoleMark role={one.role} />
                      </td>
                      <td>
                        <TypedInput
                          class="long"
                          label={`Why ${one.path} is published as it is`}
                          value={one.why ?? ""}
                          save={(typed) => void edit([{ attribute: one.path, key: "why", value: typed.trim() === "" ? undefined : typed.trim() }])}
                        />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Wide>
          </>
        )}
      </section>
      <section aria-labelledby="agreed">
        <h2 id="agreed">What was agreed</h2>
        <p>It stands in the policy and in the annex; nothing of it goes into the certificate.</p>
        <div class="fields">
          {fields.map((field) => (
            <ReleaseField
              key={field.key}
              field={field}
              value={release[field.key]}
              save={(value) => void edit([{ key: `release.${field.key}`, value }])}
            />
          ))}
        </div>
        <button
          type="button"
          disabled={isBusy(annexJob.running)}
          onClick={() => void annexJob.start({ command: "report", policy: path })}
        >
          Show the annex
        </button>
        <JobPanel running={annexJob.running} />
        {annex && <Fragment html={annex} />}
      </section>
      <section aria-labelledby="signature">
        <h2 id="signature">
          <Term name="signature">Signature</Term>
        </h2>
        {view?.signature ? (
          <Notice kind="good">
            Signed: <code>{view.signature}</code>
          </Notice>
        ) : (
          <p>The certificate is not signed: whoever receives it cannot tell who made it.</p>
        )}
        <KeyForm
          folder={path.includes("/") ? path.replace(/[^/]*$/, "") : ""}
          isBusy={isBusy(making.running)}
          make={(key, passphrase) => void making.order((part) => newKey(part, { key, passphrase }))}
        />
        <JobPanel running={making.running} />
        <SignForm
          keys={view?.keys ?? []}
          isReady={read && !isBusy(signing.running)}
          isThere={Boolean(view?.signature)}
          send={(asked) => void signing.order((part) => sign(part, { certificate: state.certificate!, ...asked }))}
        />
        {!read && <p class="help">Read what is not claimed first: it is what you sign.</p>}
        <JobPanel running={signing.running} />
        {signed && (
          <Notice kind="good">
            Signed by the key {signed.key_id}. Whoever receives it needs the public key <code>{signed.public_key}</code>, on another way than the files.
          </Notice>
        )}
      </section>
      <section aria-labelledby="files">
        <h2 id="files">Files to hand out</h2>
        <ul>
          {out.map((file) => (
            <li>
              {read ? (
                <a
                  href={`#save-${file}`}
                  onClick={(event) => {
                    event.preventDefault();
                    save(file).then(() => setLost(null), (refused: Error) => setLost(refused.message));
                  }}
                >
                  {file}
                </a>
              ) : (
                <span>{file} (after reading)</span>
              )}
            </li>
          ))}
        </ul>
        {isFile && (
          <>
            <p>Or all of it in one file, which is put beside the publication:</p>
            <div class="row">
              {packages.map(([audience, words]) => (
                <button type="button" disabled={!read || state.state === "changed"} onClick={() => bundle(audience)}>
                  {words}
                </button>
              ))}
            </div>
            <p class="help">
              For the receiver: the publication, its certificate, and how to check them. For the officer: the certificate, the report if there is one, and a
              page to be signed by hand. In both: the signature and the public key, if it is signed.
            </p>
            {packed && (
              <Notice kind="good">
                Packed as <code>{packed.path}</code>: {packed.files.join(", ")}.
              </Notice>
            )}
          </>
        )}
        {lost && <Notice kind="error">{lost}</Notice>}
        {!isFile && (
          <p>
            <code>{state.publication}</code> is a folder or a database: hand it out as a whole.
          </p>
        )}
        <div class="row">
          {(["croissant", "dcat"] as const).map((format) => (
            <button
              type="button"
              disabled={isBusy(describe.running)}
              onClick={() =>
                void describe.start({
                  command: "export",
                  format,
                  publication: state.publication!,
                  certificate: state.certificate!,
                  out: `${state.certificate}.${format}.json`,
                  force: true,
                })
              }
            >
              Describe it for catalogues ({format})
            </button>
          ))}
        </div>
        <JobPanel running={describe.running} />
        <p>
          Whoever receives them checks them with <a href={link("check", { certificate: state.certificate, policy: path })}>Check</a>, or{" "}
          <code>bosket serve --check</code>.
        </p>
      </section>
    </>
  );
}

function ReleaseField({ field, value, save }: { field: Field; value: unknown; save: (value: unknown) => void }) {
  const text = Array.isArray(value) ? value.join("\n") : value === undefined ? "" : String(value);
  const take = (typed: string) => {
    if (typed.trim() === "") return save(undefined);
    save(field.kind === "lines" ? lines(typed) : field.kind === "number" ? Number(typed) : typed.trim());
  };
  return (
    <label>
      {field.words}
      {field.kind === "access" ? (
        <select value={text} onChange={(event) => take(event.currentTarget.value)}>
          <option value="">not said</option>
          <option value="open">anybody, openly</option>
          <option value="contract">under a contract</option>
          <option value="secure-environment">in a secure environment</option>
        </select>
      ) : field.kind === "lines" ? (
        <TypedText value={text} save={take} />
      ) : (
        <TypedInput type={field.kind} {...(field.kind === "number" && { min: 0, max: 1, step: "any" })} value={text} save={take} />
      )}
    </label>
  );
}

function KeyForm({ folder, isBusy, make }: { folder: string; isBusy: boolean; make: (key: string, passphrase: string) => void }) {
  const [key, setKey] = useState(`${folder}signing.key`);
  const [first, setFirst] = useState("");
  const [second, setSecond] = useState("");
  return (
    <details>
      <summary>I have no key yet</summary>
      <form
        class="row"
        autocomplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          make(key, first);
          setFirst("");
          setSecond("");
        }}
      >
        <label>
          Secret key file
          <input value={key} required onInput={(event) => setKey(event.currentTarget.value)} />
        </label>
        <label>
          New passphrase
          <input type="password" autocomplete="new-password" required value={first} onInput={(event) => setFirst(event.currentTarget.value)} />
        </label>
        <label>
          The same again
          <input type="password" autocomplete="new-password" required value={second} onInput={(event) => setSecond(event.currentTarget.value)} />
        </label>
        <button disabled={isBusy || first === "" || first !== second}>Make a key</button>
        {second !== "" && first !== second && <p role="alert">The two differ.</p>}
      </form>
    </details>
  );
}

type Signature = { key: string; passphrase: string; comment?: string; force?: boolean };

function SignForm({ keys, isReady, isThere, send }: { keys: string[]; isReady: boolean; isThere: boolean; send: (asked: Signature) => void }) {
  const [key, setKey] = useState("");
  const [passphrase, setPassphrase] = useState("");
  const [comment, setComment] = useState("");
  const chosen = key || keys[0] || "";
  return (
    <form
      class="row"
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        send({ key: chosen, passphrase, ...(comment && { comment }), ...(isThere && { force: true }) });
        setPassphrase("");
      }}
    >
      <label>
        Secret key
        <input list="secret-keys" required value={chosen} onInput={(event) => setKey(event.currentTarget.value)} />
        <datalist id="secret-keys">
          {keys.map((one) => (
            <option value={one} />
          ))}
        </datalist>
      </label>
      <label>
        Passphrase
        <input type="password" autocomplete="off" required value={passphrase} onInput={(event) => setPassphrase(event.currentTarget.value)} />
      </label>
      <label>
        What you say with it, if anything
        <input value={comment} onInput={(event) => setComment(event.currentTarget.value)} />
      </label>
      <button class="main" disabled={!isReady || passphrase === "" || chosen === ""}>{isThere ? "Sign again" : "Sign"}</button>
    </form>
  );
}
