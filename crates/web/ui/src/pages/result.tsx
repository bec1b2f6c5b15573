// What a run gives: verdict, attack before and after, loss, and the report's own drawings.

import { useEffect, useState } from "preact/hooks";
import { getReport, type Project } from "../api";
import { isBusy, JobPanel, useJob } from "../job";
import { link } from "../main";
import { Attack, type Attacked } from "../attack";
import { Notice } from "../parts";
import { WhyPart } from "../why";

type Released = { verified: boolean; records: number; published: string; route?: string; cut_short?: boolean };

export function ResultPage({ path, project, reload }: { path: string; project: Project; reload: () => void }) {
  const state = project.policies.find((policy) => policy.path === path);
  const [force, setForce] = useState(false);
  const run = useJob((job) => {
    reload();
    if (job.state === "done") void attack.start({ command: "attack", policy: path });
  });
  const attack = useJob();
  const made = run.running.job?.state === "done" ? (run.running.job.result as Released | null) : null;
  const attacked = attack.running.job?.state === "done" ? (attack.running.job.result as Attacked | null) : null;
  const [report, setReport] = useState<string | null>(null);
  useEffect(() => {
    setReport(null);
    if (state?.report) getReport(state.report).then(setReport, () => setReport(null));
  }, [state?.report, run.running.job?.state]);
  return (
    <>
      <h1>Result</h1>
      <div class="row">
        <button
          type="button"
          disabled={isBusy(run.running)}
          onClick={() => void run.start({ command: "anonymize", policy: path, force })}
        >
          Publish and verify
        </button>
        <label class="inline">
          <input type="checkbox" checked={force} onChange={(event) => setForce(event.currentTarget.checked)} />
          replace what is there
        </label>
        {state?.publication && (
          <button
            type="button"
            disabled={isBusy(attack.running)}
            onClick={() => void attack.start({ command: "attack", policy: path })}
          >
            Play the attacker
          </button>
        )}
      </div>
      <JobPanel running={run.running} />
      {made && (
        <Notice kind={made.verified ? "good" : "error"}>
          {made.verified ? "HOLDS" : "VIOLATED"}: {made.records} records in <code>{made.published}</code>, read again and verified.{" "}
          <a href={link("publish", { policy: path })}>On to publishing</a>
        </Notice>
      )}
      <JobPanel running={attack.running} />
      {attacked && <Attack attacked={attacked} />}
      {state?.publication && <WhyPart path={path} key={run.running.job?.id} />}
      {report && (
        <>
          <h2>Report</h2>
          {/* Written by this program, with every value as text. */}
          <div class="report" dangerouslySetInnerHTML={{ __html: report }} />
        </>
      )}
    </>
  );
}
