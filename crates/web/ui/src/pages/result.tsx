// What comes out of a run: verdict, worst attacker, what is kept, three records; all else behind headings.

import { useEffect, useState } from "preact/hooks";
import { type Edit, getCertificate, getRun, type Project, type RunView } from "../api";
import { Attack, WorstAttacker } from "../attack";
import { isBusy, isKept, JobPanel, result, useJob } from "../job";
import { Invented, KeptBars } from "../kept";
import { link } from "../main";
import { count, Fragment, More, Next, Notice, Sections, sentence, Wide } from "../parts";
import { Term } from "../term";
import type { Attacked, CertificateView, Listed, Released } from "../types";
import { useValues } from "../values";
import { WhyPart } from "../why";
import { usePolicy } from "./policy";
import { StateMark } from "./project";

export function ResultPage({ path, project, reload }: { path: string; project: Project; reload: () => void }) {
  const state = project.policies.find((policy) => policy.path === path);
  const { shown: showsValues, ...values } = useValues();
  const [force, setForce] = useState(false);
  const again = () => {
    void attack.start({ command: "attack", policy: path, ...values });
    void list.start({ command: "why", policy: path });
    void report.start({ command: "report", policy: path, ...values });
  };
  const run = useJob(`run ${path}`, (job) => {
    reload();
    if (job.state === "done") again();
  });
  const attack = useJob(`attack ${path}`);
  const list = useJob(`labels ${path}`);
  const named = `report ${path} ${showsValues}`;
  const report = useJob(named);
  const made = result<Released>(run.running);
  const attacked = result<Attacked>(attack.running);
  const listed = result<Listed>(list.running);
  const certificate = useCertificate(state?.certificate ?? null, run.running.job?.id);
  const isChanged = state?.state === "changed";
  const shown = useRun(report.running.job?.state === "done" ? report.running.job.id : null);
  const people = certificate?.records ?? made?.records;
  const guess = certificate?.guess ? `${certificate.guess.sentence}. Checked ${certificate.guess.checked}` : made?.guess;
  // Values that are switched on later show the records of the same publication.
  useEffect(() => {
    if (showsValues && state?.publication && !isKept(named)) void report.start({ command: "report", policy: path, ...values });
  }, [showsValues]);
  return (
    <>
      <h1>What comes out</h1>
      {state && (
        <p>
          <code>{path}</code>: <StateMark state={state.state} />
        </p>
      )}
      <Next>
        {state?.publication ? (
          <>
            look at what is left and at who can still be found, then go <a href={link("publish", { policy: path })}>on to publishing</a>, where you sign it
            and hand it over; or go back to <a href={link("who", { policy: path })}>who may know what</a>.
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
          <button type="button" disabled={isBusy(attack.running) || isBusy(report.running)} onClick={again}>
            Look at it again
          </button>
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
      {state?.certificate && certificate && (
        <section class="verdict-beside" aria-label="What is claimed">
          <p class="sentence">{certificate.sentence ? sentence(certificate.sentence) : "Nothing is claimed."}</p>
        </section>
      )}
      {guess && (
        <p class="labels">
          <Term name="what labels tell">What labels tell</Term>: {guess}.
        </p>
      )}
      {made?.beyond && !isChanged && <Notice kind="warning">Beyond the promise: {made.beyond.sentence}.</Notice>}
      <JobPanel running={attack.running} />
      {attacked?.after && (
        <section aria-labelledby="worst">
          <h2 id="worst">The worst attacker</h2>
          <WorstAttacker attacked={attacked} claim={certificate?.claim} people={people} />
        </section>
      )}
      {certificate?.kept && (
        <section aria-labelledby="kept">
          <h2 id="kept">What is kept</h2>
          <KeptBars kept={certificate.kept} listed={listed} />
        </section>
      )}
      {state?.publication && (
        <section aria-labelledby="records">
          <h2 id="records">Three records, before and after</h2>
          {!showsValues && listed && (
            <>
              <p>Nobody has these records. Their labels are published ones; the values before the arrows are made up.</p>
              <Wide label="Invented records">
                <Invented listed={listed} />
              </Wide>
            </>
          )}
          {!showsValues && <p>Real ones are values of people: switch on “Show values” at the top to see them here.</p>}
          {showsValues && shown?.records && <Fragment html={shown.records} />}
          {showsValues && shown?.records?.includes("no mapping") && <KeepMapping path={path} reload={reload} />}
          {showsValues && shown && !shown.records && <p>This publication shows nobody before and after: its two sides are apart.</p>}
        </section>
      )}
      {state?.publication && (
        <p>
          <a class="button" href={link("publish", { policy: path })}>
            Sign it and hand it over
          </a>
        </p>
      )}
      {state?.certificate && certificate && (
        <More title={`What is not claimed (${certificate.not_claimed.length})`}>
          <ul>
            {certificate.not_claimed.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
        </More>
      )}
      {attacked && (
        <More title="All attackers, and whoever knows more">
          <Attack attacked={attacked} claim={certificate?.claim} />
        </More>
      )}
      {state?.publication && (
        <More title="Why not finer?">
          <WhyPart path={path} list={list} key={run.running.job?.id} />
        </More>
      )}
      <JobPanel running={report.running} />
      {shown && <Sections html={shown.report} />}
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
