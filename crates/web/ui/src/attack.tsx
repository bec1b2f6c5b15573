// What an attacker finds, as a table.

import { percent } from "./parts";

type Point = { m: number; n: number; unique: { value: number }; below_k: { value: number }; prosecutor: number; marketer: number };
export type Attacked = { before: { k: number; points: Point[] }; after?: { points: Point[] } };

export function Attack({ attacked }: { attacked: Attacked }) {
  const after = (p: Point) => attacked.after?.points.find((q) => q.m === p.m && q.n === p.n);
  return (
    <div class="wide">
      <table>
        <caption>Who is found by somebody who knows m values and n relations</caption>
        <thead>
          <tr>
            <th scope="col" class="number">
              m
            </th>
            <th scope="col" class="number">
              n
            </th>
            <th scope="col" class="number">
              Alone before
            </th>
            <th scope="col" class="number">
              Alone after
            </th>
            <th scope="col" class="number">
              Fewer than {attacked.before.k} before
            </th>
            <th scope="col" class="number">
              after
            </th>
          </tr>
        </thead>
        <tbody>
          {attacked.before.points.map((p) => (
            <tr>
              <td class="number">{p.m}</td>
              <td class="number">{p.n}</td>
              <td class="number">{percent(p.unique.value)}</td>
              <td class="number">{percent(after(p)?.unique.value)}</td>
              <td class="number">{percent(p.below_k.value)}</td>
              <td class="number">{percent(after(p)?.below_k.value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
