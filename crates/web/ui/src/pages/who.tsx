// The second step: who may look for somebody, what they know, and how many people have to fit it.

import type { Project } from "../api";
import { Attackers } from "../attackers";
import { Guarantee } from "../guarantee";
import { isBusy, JobPanel, result, useJob } from "../job";
import { link } from "../main";
import { Diagnostics, Next, NotTaken, Notice, percent, sentence } from "../parts";
import { Term } from "../term";
import type { Row } from "../types";
import { usePolicy } from "./policy";
import { dot, yardstick } from "./tradeoff";

/** What can be chosen by sliding. */
export const stops = [2, 5, 10, 20, 50];

export function WhoPage({ path, project }: { path: string; project: Project }) {
  const { policy, settings, error, edit, load } = usePolicy(path);
  if (!policy) return error ? <Notice kind="error">{error.message}</Notice> : <p>Loading…</p>;
  const privacy = settings["privacy"] ?? {};
  const model = project.models.find((one) => one.name === privacy["model"]);
  const hasAttackers = policy.attackers.length > 0 || model?.takes.includes("attacker");
  const hasK = model?.takes.includes("k") ?? false;
  return (
    <>
      <h1>Who may know what</h1>
      <NotTaken error={error} load={load} />
      <p class="sentence" aria-live="polite">
        {policy.sentence ? `If it holds: ${policy.sentence}.` : "Nothing is promised yet: the policy has errors, or says no guarantee."}
      </p>
      <Diagnostics all={policy.diagnostics.filter((one) => one.severity === "error")} />
      <Next>
        name whoever may look for somebody (an <Term name="attacker" />) and tick what they know, choose how much protection there is to be, then see{" "}
        <a href={link("result", { policy: path })}>what comes out</a>.
      </Next>
      {hasAttackers ? (
        <Attackers attackers={policy.attackers} attributes={policy.attributes} k={privacy["k"]} edit={(edits) => void edit(edits)} />
      ) : (
        <Guarantee models={project.models} privacy={privacy} attackers={0} edit={(edits) => void edit(edits)} />
      )}
      {hasK && (
        <Slider path={path} k={Number(privacy["k"] ?? 0)} version={policy.version} take={(k) => void edit([{ key: "privacy.k", value: k }])} />
      )}
      <p>
        <a class="button" href={link("result", { policy: path })}>
          On to what comes out
        </a>
      </p>
    </>
  );
}

function words(k: number): string {
  if (k < 2) return "Nothing is chosen yet.";
  const others = k === 2 ? "one other person fits" : `${k - 1} other people fit`;
  const right = k === 2 ? "every second time" : `at most once in ${k} times`;
  return `At least ${others} whatever somebody knows: who guesses is right ${right}.`;
}

/** Between telling more and protecting more. */
function Slider({ path, k, version, take }: { path: string; k: number; version: string; take: (k: number) => void }) {
  const sweep = useJob(`sweep ${path}`);
  const final = result<Row[]>(sweep.running);
  const rows = Array.isArray(final) ? final : sweep.running.rows;
  const figure = yardstick(rows);
  // The stop that is nearest, where somebody has written another number.
  const at = stops.reduce((best, stop, i) => (Math.abs(stop - k) < Math.abs(stops[best]! - k) ? i : best), 0);
  const isBetween = k > 0 && !stops.includes(k);
  return (
    <fieldset class="slider">
      <legend>How much protection?</legend>
      <div class="between" aria-hidden="true">
        <span>tells more</span>
        <span>protects more</span>
      </div>
      <input
        type="range"
        min={0}
        max={stops.length - 1}
        step={1}
        value={at}
        aria-label="How many people must fit (k)"
        aria-valuetext={`${stops[at]} people`}
        onChange={(event) => take(stops[Number(event.currentTarget.value)]!)}
      />
      <div class="between stops" aria-hidden="true">
        {stops.map((stop) => (
          <span>{stop}</span>
        ))}
      </div>
      <p aria-live="polite">
        <b>
          <Term name="k">k</Term> = {k || "–"}.
        </b>{" "}
        {words(k)}
        {isBetween && ` The number was written by hand; the slider stands at ${stops[at]}.`}
      </p>
      <button type="button" disabled={isBusy(sweep.running)} onClick={() => void sweep.start({ command: "sweep", policy: path, k: stops })}>
        What each would cost
      </button>
      <JobPanel running={sweep.running} version={version} />
      {rows.length > 0 && (
        <ul class="bars" aria-label="What each would cost">
          {rows.map((row) => {
            const point = dot(row, figure);
            const own = Object.entries(row.setting).map(([key, value]) => `${key.replace(/^privacy\./, "")} = ${String(value)}`);
            return (
              <li>
                <b>{own.join(", ")}</b>
                <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                  <rect x={0} y={0} width={100 * (1 - (point?.loss ?? 1))} height={10} class="same" />
                  <rect x={100 * (1 - (point?.loss ?? 1))} y={0} width={100 * (point?.loss ?? 1)} height={10} class="gone" />
                </svg>
                <span class="help">
                  {point
                    ? `verified; ${percent(1 - point.loss)} of the detail is kept (${figure}), and who guesses is right for ${percent(point.risk)} of all people on average`
                    : `not reached${row.why ? `: ${row.why.map(sentence).join(" ")}` : ""}`}
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </fieldset>
  );
}
