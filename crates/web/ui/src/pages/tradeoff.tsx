// The plane of loss and risk: one dot per verified combination, as they come.

import { useState } from "preact/hooks";
import type { Asked, Project } from "../api";
import { isBusy, JobPanel, useJob } from "../job";
import { link } from "../main";
import { Next, Notice, percent, Wide } from "../parts";
import { Term } from "../term";
import type { Row } from "../types";
import { usePolicy } from "./policy";

/** What is compared unless somebody says otherwise. */
const usual: Record<string, string> = { k: "2, 5, 10, 20", m: "1, 2, 3", n: "", l: "2, 3, 4", group_size: "2, 3, 5" };

const list = (text: string) =>
  text
    .split(/[,\s]+/)
    .map(Number)
    .filter((n) => Number.isInteger(n) && n > 0);

/** The figure of loss that all rows have, as in the text of `bosket sweep`: NCP where there is one. */
export function yardstick(rows: Row[]): string {
  const names = rows.flatMap((row) => Object.entries(row.loss?.figures ?? {}).flatMap(([name, { value }]) => (value === null ? [] : [name])));
  return ["NCP", "LM", ...names].find((name) => names.includes(name)) ?? "NCP";
}

/** What is drawn of a combination. */
export function dot(row: Row, figure: string): { loss: number; risk: number } | null {
  const loss = row.loss?.figures[figure]?.value;
  const risk = row.attacker?.marketer;
  return loss === null || loss === undefined || risk === null || risk === undefined ? null : { loss, risk };
}

const words = (setting: Record<string, unknown>) =>
  Object.entries(setting)
    .map(([key, value]) => `${key.replace(/^privacy\./, "")} = ${String(value)}`)
    .join(", ");

export function TradeoffPage({ path, project }: { path: string; project: Project }) {
  const { policy, settings, error, edit } = usePolicy(path);
  const [lists, setLists] = useState(usual);
  const [taken, take] = useState<string | null>(null);
  const sweep = useJob(`sweep ${path}`);
  if (!policy) return error ? <Notice kind="error">{error.message}</Notice> : <p>Loading…</p>;
  const final = sweep.running.job?.result;
  const rows = Array.isArray(final) ? (final as Row[]) : sweep.running.rows;
  const model = project.models.find((one) => one.name === settings["privacy"]?.["model"]);
  // How much is known stands with the attackers of the policy, if it names any.
  const isTold = (key: string) => policy.attackers.length > 0 && (key === "m" || key === "n");
  const keys = Object.keys(usual).filter((key) => (model?.needs.includes(key) ?? key === "k") && !isTold(key));
  const figure = yardstick(rows);
  const attacker = rows.find((row) => row.attacker)?.attacker?.sentence;
  const dots = rows.flatMap((row) => {
    const at = dot(row, figure);
    return at ? [{ row, ...at }] : [];
  });
  const widest = Math.max(0.01, ...dots.map((d) => d.loss));
  const most = Math.max(0.01, ...dots.map((d) => d.risk));
  const use = (row: Row) => {
    void edit(Object.entries(row.setting).map(([key, value]) => ({ key, value })));
    take(words(row.setting));
  };
  return (
    <>
      <h1>Trade-off</h1>
      <p>
        What each guarantee would cost. Every dot is a publication that was made and verified; its risk is the mean chance that one and the same
        attacker picks the right person.
      </p>
      <Next>write down the numbers to compare, wait for the dots, and take one that no other is below and left of: it loses little for what it risks.</Next>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const asked = Object.fromEntries(keys.map((key) => [key, list(lists[key] ?? "")]));
          void sweep.start({ command: "sweep", policy: path, ...asked } as Asked);
        }}
      >
        {keys.map((key) => (
          <label key={key}>
            {key}
            <input value={lists[key]} onInput={(event) => setLists({ ...lists, [key]: event.currentTarget.value })} />
          </label>
        ))}
        <button class="main" disabled={isBusy(sweep.running)}>Compare</button>
      </form>
      <JobPanel running={sweep.running} version={taken ? undefined : policy.version} />
      {taken && (
        <Notice kind="good">
          {`The policy now says ${taken}.`} <a href={link("result", { policy: path })}>Publish with it</a>
        </Notice>
      )}
      {attacker && (
        <p class="sentence">
          All of them are attacked by <b>{attacker}</b>, the strongest that any of these guarantees is about.
        </p>
      )}
      {dots.length > 0 && (
        <Wide label="The plane">
        <svg class="plane" viewBox="0 0 640 400" role="img" aria-label="Loss against risk; the table below has the same figures">
          <line x1={50} y1={350} x2={630} y2={350} class="axis" />
          <line x1={50} y1={20} x2={50} y2={350} class="axis" />
          <text x={340} y={390}>
            {`loss (${figure}), less to the left`}
          </text>
          <text x={4} y={12}>
            risk, less below
          </text>
          {[0.5, 1].map((y) => (
            <text x={46} y={354 - 320 * y} text-anchor="end">
              {`${(100 * most * y).toFixed(0)} %`}
            </text>
          ))}
          {[0, 0.5, 1].map((x) => (
            <text x={50 + 520 * x} y={368} text-anchor="middle">
              {(widest * x).toPrecision(2)}
            </text>
          ))}
          {dots.map((d, i) => {
            const [x, y] = [50 + 520 * (d.loss / widest), 350 - 320 * (d.risk / most)];
            return (
              <g class="choice" onClick={() => use(d.row)}>
                <circle cx={x} cy={y} r={7} class="dot">
                  <title>{`${words(d.row.setting)}: loss ${percent(d.loss)}, mean risk ${percent(d.risk)}`}</title>
                </circle>
                <text x={d.loss > 0.7 * widest ? x - 11 : x + 11} text-anchor={d.loss > 0.7 * widest ? "end" : "start"} y={y + (i % 2 === 0 ? -4 : 12)}>
                  {words(d.row.setting)}
                </text>
              </g>
            );
          })}
        </svg>
        </Wide>
      )}
      {rows.length > 0 && (
        <Wide label="Combinations table">
        <table>
          <caption>{rows.length} combinations</caption>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Reached</th>
              <th scope="col" class="number">
                <Term name="loss">Loss</Term> ({figure})
              </th>
              <th scope="col" class="number">
                <Term name="mean risk">Mean risk</Term>
              </th>
              <th scope="col">
                <span class="hidden">Take it</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const at = dot(row, figure);
              return (
                <tr>
                  <th scope="row">{words(row.setting)}</th>
                  <td>{row.reached ? "verified" : `not reached${row.why ? `: ${row.why.join("; ")}` : ""}`}</td>
                  <td class="number">{percent(at?.loss)}</td>
                  <td class="number">{percent(at?.risk)}</td>
                  <td>
                    {row.reached && (
                      <button type="button" onClick={() => use(row)} aria-label={`Take ${words(row.setting)}`}>
                        Take it
                      </button>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
        </Wide>
      )}
    </>
  );
}
