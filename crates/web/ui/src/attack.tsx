// What an attacker finds: in a sentence, and as a table.

import { count, percent, Wide } from "./parts";
import { People } from "./people";
import { Term } from "./term";
import type { Attacked, AttackerFinds, Claimed, Point } from "./types";

const known = (p: Point) =>
  p.m === null
    ? "knows all that may be known of a person"
    : `knows ${p.m} ${p.m === 1 ? "value" : "values"} of a person${p.n ? ` and ${p.n} ${p.n === 1 ? "relation" : "relations"}` : ""}`;

const finds = (one: AttackerFinds) => one.promised.unique.value;

/** The attacker of the policy who finds most in the raw data; nobody where it names none. */
function worstBefore(attacked: Attacked): AttackerFinds | null {
  const told = attacked.before.attackers?.filter((one) => one.name !== null) ?? [];
  return told.reduce<AttackerFinds | null>((a, b) => (a && finds(a) >= finds(b) ? a : b), null);
}

/** The strongest who is not beyond the usual claim. */
function usual(points: Point[]): Point | undefined {
  return points.filter((p) => p.m === null || p.m <= 2).at(-1) ?? points.at(-1);
}

/** A share of so many people, in people. */
const inPeople = (share: number, people: number) => {
  const found = Math.round(share * people);
  return found === 0 ? `nobody of ${count(people)}` : `about ${count(found)} of ${count(people)} people`;
};

/** How it is before anything was done, by the worst attacker of the policy, or the strongest who is not beyond the usual claim. */
export function RiskSentence({ attacked, people }: { attacked: Attacked; people?: number }) {
  const worst = worstBefore(attacked);
  const point = usual(attacked.before.points);
  const share = worst ? finds(worst) : point?.unique.value;
  if (share === undefined) return null;
  return (
    <>
      <p class="sentence">
        As it is, {worst ? `the ${worst.name}, who knows ${worst.knows},` : point && `whoever ${known(point)}`} can find <b>{percent(share)}</b> of all
        people alone{people !== undefined && `: ${inPeople(share, people)}`}.
      </p>
      <People share={share} caption="The raw data" about="are found alone" />
    </>
  );
}

/** Who is worst in what comes out, and what they found before. */
export function WorstAttacker({ attacked, claim, people }: { attacked: Attacked; claim?: Claimed | null; people?: number }) {
  const { before, after } = attacked;
  if (!after) return null;
  const named = (after.attackers ?? []).flatMap((one, at) => {
    const old = before.attackers?.[at];
    return one.name !== null && old ? [{ one, old }] : [];
  });
  const worst = named.reduce<(typeof named)[number] | null>((a, b) => {
    if (!a) return b;
    const more = [finds(b.one) - finds(a.one), b.one.one_more.unique.value - a.one.one_more.unique.value].find((x) => x !== 0);
    return (more ?? 0) > 0 ? b : a;
  }, null);
  const at = (points: Point[]) => points.find((p) => p.m === (claim?.m ?? null) && p.n === (claim?.n ?? null)) ?? usual(points);
  const [old, now] = worst ? [worst.old.promised, worst.one.promised] : [at(before.points), at(after.points)];
  if (!old || !now) return null;
  const more = worst?.one.one_more.unique.value;
  return (
    <>
      <p class="sentence">
        {worst ? `The ${worst.one.name}, who knows ${worst.one.knows},` : `Whoever ${known(now)}`} found <b>{percent(old.unique.value)}</b> of all people
        alone in the raw data, and finds <b>{percent(now.unique.value)}</b> in what comes out
        {people !== undefined && `: ${inPeople(now.unique.value, people)}`}.
      </p>
      <div class="pictures">
        <People share={old.unique.value} caption="The raw data" about="are found alone" />
        <People share={now.unique.value} caption="What comes out" about="are found alone" />
        {more !== undefined && <People share={more} caption="To who knows one thing more" about="are found alone: that is not promised" />}
      </div>
      {more !== undefined && (
        <p class="help">
          The promise ends where somebody knows <Term name="one thing more" /> than it says.
        </p>
      )}
    </>
  );
}

/** With what is claimed, who is beyond it is marked. */
export function Attack({ attacked, claim }: { attacked: Attacked; claim?: Claimed | null }) {
  const isBeyond = (p: Point) => (p.m ?? 0) > (claim?.m ?? Infinity) || (p.n ?? 0) > (claim?.n ?? Infinity);
  const told = attacked.before.attackers?.filter((one) => one.name !== null) ?? [];
  // Attackers who are told have a table of their own.
  const isMarked = claim?.m !== undefined && told.length === 0;
  const after = (p: Point) => attacked.after?.points.find((q) => q.m === p.m && q.n === p.n);
  const head = (text: string, term?: string) => (
    <th scope="col" class="number">
      {term ? <Term name={term}>{text}</Term> : text}
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
              {head("m", "m")}
              {head("n", "n")}
              {head("Alone before", "found alone")}
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
  const head = (text: string, term?: string) => (
    <th scope="col" class="number">
      {term ? <Term name={term}>{text}</Term> : text}
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
            {head("Alone before", "found alone")}
            {attacked.after && head("Alone after")}
            {head("Too few before", "too few")}
            {attacked.after && head("Too few after")}
            {attacked.after && head("Alone with one thing more", "one thing more")}
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
