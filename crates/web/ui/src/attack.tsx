// What an attacker finds: in a sentence, and as a table.

import { percent, Wide } from "./parts";
import type { Attacked, AttackerFinds, Claimed, Point } from "./types";

const known = (p: Point) =>
  p.m === null
    ? "knows all that may be known of a person"
    : `knows ${p.m} ${p.m === 1 ? "value" : "values"} of a person${p.n ? ` and ${p.n} ${p.n === 1 ? "relation" : "relations"}` : ""}`;

/** How it is before anything was done, by the worst attacker of the policy, or the strongest who is not beyond the usual claim. */
export function RiskSentence({ attacked }: { attacked: Attacked }) {
  const finds = (one: AttackerFinds) => one.promised.unique.value;
  const told = attacked.before.attackers?.filter((one) => one.name !== null) ?? [];
  const worst = told.reduce<AttackerFinds | null>((a, b) => (a && finds(a) >= finds(b) ? a : b), null);
  if (worst) {
    return (
      <p class="sentence">
        As it is, the {worst.name}, who knows {worst.knows}, can find <b>{percent(finds(worst))}</b> of all people alone.
      </p>
    );
  }
  const all = attacked.before.points;
  const point = all.filter((p) => p.m === null || p.m <= 2).at(-1) ?? all.at(-1);
  if (!point) return null;
  return (
    <p class="sentence">
      As it is, whoever {known(point)} can find <b>{percent(point.unique.value)}</b> of all people alone.
    </p>
  );
}

/** With what is claimed, who is beyond it is marked. */
export function Attack({ attacked, claim }: { attacked: Attacked; claim?: Claimed | null }) {
  const isBeyond = (p: Point) => (p.m ?? 0) > (claim?.m ?? Infinity) || (p.n ?? 0) > (claim?.n ?? Infinity);
  const told = attacked.before.attackers?.filter((one) => one.name !== null) ?? [];
  // Attackers who are told have a table of their own.
  const isMarked = claim?.m !== undefined && told.length === 0;
  const after = (p: Point) => attacked.after?.points.find((q) => q.m === p.m && q.n === p.n);
  const head = (text: string) => (
    <th scope="col" class="number">
      {text}
    </th>
  );
  const k = attacked.before.k;
  return (
    <>
      {told.length > 0 && <Told attacked={attacked} />}
      <Wide label="Who is found table">
        <table>
          <caption>Who is found by somebody who knows m values and n relations</caption>
          <thead>
            <tr>
              {head("m")}
              {head("n")}
              {head("Alone before")}
              {attacked.after && head("Alone after")}
              {head(`Fewer than ${k} before`)}
              {attacked.after && head(`Fewer than ${k} after`)}
              {isMarked && <th scope="col">Claim</th>}
            </tr>
          </thead>
          <tbody>
            {attacked.before.points.map((p) => (
              <tr>
                <td class="number">{p.m ?? "all"}</td>
                <td class="number">{p.n ?? "all"}</td>
                <td class="number">{percent(p.unique.value)}</td>
                {attacked.after && <td class="number">{percent(after(p)?.unique.value)}</td>}
                <td class="number">{percent(p.below_k.value)}</td>
                {attacked.after && <td class="number">{percent(after(p)?.below_k.value)}</td>}
                {isMarked && <td>{isBeyond(p) ? "beyond the claim" : "covered"}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </>
  );
}

/** What the attackers of the policy find, and who knows one thing more than they. */
function Told({ attacked }: { attacked: Attacked }) {
  const after = (at: number) => attacked.after?.attackers?.[at];
  const head = (text: string) => (
    <th scope="col" class="number">
      {text}
    </th>
  );
  return (
    <Wide label="Attackers of the policy table">
      <table>
        <caption>What the attackers of the policy find: who is alone, whom fewer people fit than asked for, and who is alone to somebody who knows one thing more</caption>
        <thead>
          <tr>
            <th scope="col">Attacker</th>
            <th scope="col">Knows</th>
            {head("Alone before")}
            {attacked.after && head("Alone after")}
            {head("Too few before")}
            {attacked.after && head("Too few after")}
            {attacked.after && head("Alone with one thing more")}
          </tr>
        </thead>
        <tbody>
          {attacked.before.attackers?.map((one, at) => (
            <tr>
              <th scope="row" class="who">
                {one.name ?? "nobody in particular"}
              </th>
              <td>{one.knows}</td>
              <td class="number">{percent(one.promised.unique.value)}</td>
              {attacked.after && <td class="number">{percent(after(at)?.promised.unique.value)}</td>}
              <td class="number">{percent(one.promised.below_k.value)}</td>
              {attacked.after && <td class="number">{percent(after(at)?.promised.below_k.value)}</td>}
              {attacked.after && <td class="number">{percent(after(at)?.one_more.unique.value)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
