// What a run gives: verdict, attack before and after, loss, why not finer, and the report's own drawings.

import { useEffect, useState } from "preact/hooks";
import { type Edit, getCertificate, getRun, type Project, type RunView } from "../api";
import { Attack } from "../attack";
import { isBusy, isKept, JobPanel, result, useJob } from "../job";
import { link } from "../main";
import { count, Fragment, Next, Notice, sentence } from "../parts";
import type { Attacked, CertificateView, Released } from "../types";
import { useValues } from "../values";
import { WhyPart } from "../why";
import { usePolicy } from "./policy";
import { StateMark } from "./project";

export function ResultPage({ path, project, reload }: { path: string; project: Project; reload: () => void }) {
  const state = project.policies.find((policy) => policy.path === path);
  const { shown: showsValues, ...values } = useValues();
  const [force, setForce] = useState(false);
  const run = useJob(`run ${path}`, (job) => {
    reload();
    if (job.state === "done") {
      void attack.start({ command: "attack", policy: path, ...values });
      void report.start({ command: "report", policy: path, ...values });
    }
  });
  const attack = useJob(`attack ${path}`);
  const named = `report ${path} ${showsValues}`;
  const report = useJob(named);
  const made = result<Released>(run.running);
  const attacked = result<Attacked>(attack.running);
  const certificate = useCertificate(state?.certificate ?? null, run.running.job?.id);
  const isChanged = state?.state === "changed";
  const shown = useRun(report.running.job?.state === "done" ? report.running.job.id : null);
  // Values that are switched on later show the records of the same publication.
  useEffect(() => {
    if (showsValues && state?.publication && !isKept(named)) void report.start({ command: "report", policy: path, ...values });
  }, [showsValues]);
  return (
    <>
      <h1>Result</h1>
      {state && (
        <p>
          <code>{path}</code>: <StateMark state={state.state} />
        </p>
      )}
      <Next>
        {state?.publication ? (
          <>
            look at what is left and at who can still be found, then go <a href={link("publish", { policy: path })}>on to publishing</a>; or change the{" "}
            <a href={link("policy", { policy: path })}>policy</a> and publish again.
          </>
        ) : (
          "publish and verify: nothing is handed out by that, a file is written into the folder."
        )}
      </Next>
      <div class="row">
        <button type="button" class="main" disabled={isBusy(run.running)} onClick={() => void run.start({ command: "anonymize", policy: path, force, ...values })}>
          Publish and verify
        </button>
        <label class="inline">
          <input type="checkbox" checked={force} onChange={(event) => setForce(event.currentTarget.checked)} />
          replace what is there
        </label>
        {state?.publication && (
          <>
            <button type="button" disabled={isBusy(attack.running)} onClick={() => void attack.start({ command: "attack", policy: path, ...values })}>
              Play the attacker
            </button>
            <button type="button" disabled={isBusy(report.running)} onClick={() => void report.start({ command: "report", policy: path, ...values })}>
              Show loss, risk and cuts
            </button>
          </>
        )}
      </div>
      <JobPanel running={run.running} />
      {isChanged && (
        <Notice kind="warning">
          The policy, its data or the publication changed since: what stands here is about what was published before. Publish again.
        </Notice>
      )}
      {made && (
        <Notice kind={made.verified && !isChanged ? "good" : "warning"}>
          <b>{made.verified ? (isChanged ? "HELD when it was published" : "HOLDS") : "Nothing is claimed"}</b>: {count(made.records)} records in <code>{made.published}</code>, read again
          {made.verified && " and verified"}. {made.cut_short && "The search was cut short: with more time less would have been lost. "}
        </Notice>
      )}
      {made?.beyond && !isChanged && <Notice kind="warning">Beyond the promise: {made.beyond.sentence}.</Notice>}
      {state?.certificate && certificate && (
        <section class="verdict-beside" aria-label="What is claimed, and what is not">
          <p class="sentence">{certificate.sentence ? sentence(certificate.sentence) : "Nothing is claimed."}</p>
          <details>
            <summary>What is not claimed ({certificate.not_claimed.length})</summary>
            <ul>
              {certificate.not_claimed.map((line) => (
                <li>{line}</li>
              ))}
            </ul>
          </details>
        </section>
      )}
      <JobPanel running={attack.running} />
      {attacked && <Attack attacked={attacked} claim={certificate?.claim} />}
      {state?.publication && <WhyPart path={path} key={run.running.job?.id} />}
      {state?.publication && (
        <section aria-labelledby="records">
          <h2 id="records">Three records, before and after</h2>
          {!showsValues && <p>They are values of people: switch on “Show values” at the top to see them here.</p>}
          {showsValues && shown?.records && <Fragment html={shown.records} />}
          {showsValues && shown?.records?.includes("no mapping") && <KeepMapping path={path} reload={reload} />}
          {showsValues && shown && !shown.records && <p>This publication shows nobody before and after: its two sides are apart.</p>}
        </section>
      )}
      <JobPanel running={report.running} />
      {shown && (
        <>
          <h2>Report</h2>
          <Fragment html={shown.report} />
        </>
      )}
    </>
  );
}

/** Offers what the next run needs to say which record became which. */
function KeepMapping({ path, reload }: { path: string; reload: () => void }) {
  const { policy, edit } = usePolicy(path);
  const wanted: Edit = { key: "publish.mapping", value: "private/mapping.csv" };
  return (
    <p>
      <button type="button" disabled={!policy} onClick={() => void edit([wanted]).then(reload)}>
        Keep a private mapping from the next run on
      </button>{" "}
      or publish again in this page.
    </p>
  );
}

/** A certificate, read again when a run has replaced it. */
export function useCertificate(path: string | null, again: unknown): CertificateView | null {
  const [certificate, set] = useState<CertificateView | null>(null);
  useEffect(() => {
    if (path) getCertificate(path).then(set, () => set(null));
    else set(null);
  }, [path, again]);
  return certificate;
}

/** What a report shows. */
function useRun(id: number | null): RunView | null {
  const [view, set] = useState<RunView | null>(null);
  useEffect(() => {
    set(null);
    if (id !== null) getRun(id).then(set, () => set(null));
  }, [id]);
  return view;
}
