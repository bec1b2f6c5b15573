// A publication and a certificate, nothing else needed.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Project } from "../api";
import { isBusy, JobPanel, result, useJob } from "../job";
import { bring, count, FilePicker, Next, Notice, sentence, Wide } from "../parts";
import { Labels, Uses } from "../receiver";
import { Term } from "../term";
import type { Checked, Witness } from "../types";
import { useValues } from "../values";
import { useCertificate } from "./result";

export function CheckPage({ project, query, reload }: { project: Project; query: URLSearchParams; reload: () => void }) {
  const all = project.publications;
  const own = all.find((one) => one.policy !== null && one.policy === query.get("policy"));
  const [certificate, setCertificate] = useState(query.get("certificate") ?? own?.certificate ?? "");
  const [publication, setPublication] = useState(query.get("publication") ?? "");
  const [key, setKey] = useState("");
  const [isForeign, setForeign] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const { shown: showsValues, ...values } = useValues();
  const chosen = certificate || all[0]?.certificate || "";
  const known = all.find((one) => one.certificate === chosen);
  const data = publication || known?.publication || "";
  // What was said of other files, or with another key, is not said of these.
  const check = useJob(`check ${chosen} ${data} ${key.trim()} ${isForeign}`, reload);
  const found = result<Checked>(check.running);
  const text = useCertificate(found ? chosen : null, check.running.job?.id);
  const keys = project.files.map((file) => file.path).filter((path) => path.endsWith(".pub"));
  const take = (files: FileList | null) =>
    void bring(files).then((problem) => {
      setError(problem);
      reload();
    });
  // What a policy published elsewhere, such as in a database.
  const ofPolicy = data === "" && known?.policy && !project.check_only ? { policy: known.policy } : {};
  return (
    <div
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        take(event.dataTransfer?.files ?? null);
      }}
    >
      <h1>Check</h1>
      <p>
        Does a <Term name="publication" /> keep what its <Term name="certificate" /> says? Nothing else is needed.
      </p>
      {all.length === 0 && (
        <Notice kind="warning">No certificate is in this folder: drop a publication and its certificate (…certificate.json) on this page.</Notice>
      )}
      <Next>
        {found
          ? "read what is not claimed and what counts as known: whether that is right, only you can judge."
          : "choose the certificate, paste the publisher's public key if you have it, and check."}
      </Next>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void check.start({
            command: "verify",
            certificate: chosen,
            ...(data && { publication: data }),
            ...ofPolicy,
            ...(key.trim() && { key: key.trim() }),
            ...(isForeign && { foreign: true }),
            ...values,
          });
        }}
      >
        <label>
          Certificate
          <select value={chosen} required onChange={(event) => (setCertificate(event.currentTarget.value), setPublication(""))}>
            {!all.some((one) => one.certificate === chosen) && <option value={chosen}>{chosen || "none"}</option>}
            {all.map((one) => (
              <option>{one.certificate}</option>
            ))}
          </select>
        </label>
        <label>
          Publication
          <input list="files" value={data} required={!("policy" in ofPolicy)} onInput={(event) => setPublication(event.currentTarget.value)} />
          <datalist id="files">
            {project.files.slice(0, 200).map((file) => (
              <option value={file.path} />
            ))}
          </datalist>
        </label>
        <label>
          Public key of who signed it, or its file; if you have it
          <input list="keys" value={key} placeholder="RWQ…" onInput={(event) => setKey(event.currentTarget.value)} />
          <datalist id="keys">
            {keys.map((path) => (
              <option value={path} />
            ))}
          </datalist>
        </label>
        <label class="inline">
          <input type="checkbox" checked={isForeign} onChange={(event) => setForeign(event.currentTarget.checked)} />
          Another program has written it again
        </label>
        <button class="main" disabled={isBusy(check.running) || chosen === ""}>Check</button>
        <FilePicker label="Add files…" take={take} />
      </form>
      {error && <Notice kind="error">{error}</Notice>}
      <JobPanel running={check.running} />
      {found && (
        <Verdict found={found} isSignedThere={known?.signature ?? null} showsValues={showsValues}>
          {text && found.holds && <Uses certificate={text} data={data} />}
          {text && <Labels certificate={text} place={chosen} project={project} />}
        </Verdict>
      )}
      {found && text && (
        <>
          <h2>What is claimed</h2>
          <p class="sentence">{text.sentence ? sentence(text.sentence) : "Nothing."}</p>
          <h2>What is not claimed</h2>
          <ul>
            {text.not_claimed.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

type VerdictProps = { found: Checked; isSignedThere: string | null; showsValues: boolean; children: ComponentChildren };

function Verdict({ found, isSignedThere, showsValues, children }: VerdictProps) {
  const { signature, certificate } = found;
  const judged = found.records !== null;
  // The claim alone: the whole may fail for its files.
  const isBroken = found.witness !== null || (found.left_over ?? []).length > 0 || (found.misplaced ?? []).length > 0;
  const open = found.not_protected;
  const asTheyAre = (open ?? certificate)?.published_as_they_are.map((one) => `${one.path} (${one.role})`) ?? [];
  return (
    <>
      {signature && (
        <Notice kind={signature.holds ? "good" : "error"}>
          <b>{signature.holds ? "AS SIGNED" : "NOT AS SIGNED"}</b>
          {signature.holds ? ` by the key ${signature.key_id}` : `: ${signature.problem ?? ""}`}
          {signature.holds && signature.trusted_comment && `; the signer says: ${signature.trusted_comment}`}
        </Notice>
      )}
      {!signature && isSignedThere && (
        <Notice kind="warning">
          A signature is there ({isSignedThere}), but no public key was given: who signed it was not checked.
        </Notice>
      )}
      {!signature && !isSignedThere && <Notice kind="warning">It is not signed: the certificate finds accidents, not forgers.</Notice>}
      {judged && (
        <Notice kind={found.holds ? "good" : "error"}>
          <b>{found.holds ? "HOLDS" : isBroken ? "VIOLATED" : "NOT AS IT SHOULD BE"}</b> for {count(found.records ?? 0)} records
          {!found.holds && !isBroken && ": what is wrong with it stands below, or is said by the command line"}
        </Notice>
      )}
      <List title="Should not be in it at all" all={found.left_over ?? []} />
      <List title="On the wrong side" all={(found.misplaced ?? []).map((one) => `${one.path}: ${one.reason}`)} />
      {found.witness && <WitnessTable witness={found.witness} showsValues={showsValues} />}
      {certificate && (
        <Notice kind={certificate.holds ? "good" : "error"}>
          {certificate.holds ? "AS CERTIFIED: the files are those of the certificate" : "NOT AS CERTIFIED"}
        </Notice>
      )}
      {children}
      {certificate && (
        <>
          <List title="Problems" all={certificate.problems} />
          <List title="Counts as known" all={certificate.known} />
          <List title="Published as it is, without protection" all={asTheyAre} isAlways />
          <List title="Shifted per person; not anonymity" all={(open?.shifted ?? []).map((one) => `${one.path} (by up to ${one.days} days)`)} />
          <List title="Pseudonyms, which link releases; not anonymity" all={open?.pseudonyms ?? []} />
          <List title="Keys, which must say nothing" all={open?.keys ?? []} />
          <List title="Not checked" all={[...certificate.not_checked, ...(found.not_checked ?? [])]} isText />
          <List title="Foreign: not looked at" all={found.not_looked_at ?? []} isText />
          <List title="To be kept in mind" all={found.warnings ?? []} isText />
        </>
      )}
    </>
  );
}

function WitnessTable({ witness, showsValues }: { witness: Witness; showsValues: boolean }) {
  return (
    <>
      <h2>Who would be found</h2>
      <Wide label="Who would be found table">
      <table>
        <caption>
          This knowledge fits {count(witness.support ?? 0)} {witness.support === 1 ? "record" : "records"}
        </caption>
        <thead>
          <tr>
            <th scope="col">Attribute</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {(witness.values ?? []).map((one) => (
            <tr>
              <th scope="row">
                <code>{one.path}</code>
              </th>
              <td>
                {one.absent && "not "}
                {showsValues ? one.value : "hidden until “Show values” is on"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      </Wide>
    </>
  );
}

function List({ title, all, isAlways = false, isText = false }: { title: string; all: string[]; isAlways?: boolean; isText?: boolean }) {
  if (all.length === 0 && !isAlways) return null;
  return (
    <>
      <h2>{title}</h2>
      {all.length === 0 ? (
        <p>Nothing.</p>
      ) : (
        <ul>
          {all.map((one) => (
            <li>{isText ? one : <code>{one}</code>}</li>
          ))}
        </ul>
      )}
    </>
  );
}
