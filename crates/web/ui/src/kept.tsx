// What is kept of each column, and how a record looks afterwards.

import { Path, percent } from "./parts";
import { Term } from "./term";
import type { Kept, KeptValues, Listed, ListedLabel } from "./types";

const ANYTHING = "*";

/** Shares of the values of a column; `before` stands for what is published and not known to be coarser or not. */
type Shares = { path: string; same: number; coarser: number; nothing: number; gone: number; isKnown: boolean };

const sum = (labels: ListedLabel[]) => labels.reduce((all, one) => all + one.places, 0);

function shares(own: KeptValues, listed: Listed | null): Shares | null {
  const { path, role } = own;
  const published = own.published ?? 0;
  const all = Math.max(own.values ?? published, published);
  if (all === 0) return null;
  const labels = listed?.attributes.find((one) => one.path === path)?.labels;
  const nothing = own.as_anything ?? sum((labels ?? []).filter((one) => one.label === ANYTHING));
  const told = Math.max(0, published - nothing);
  // What is listed may be counted in another way: only its proportion is taken.
  const saying = (labels ?? []).filter((one) => one.label !== ANYTHING);
  const part = saying.length === 0 ? 0 : sum(saying.filter((one) => one.splits)) / Math.max(1, sum(saying));
  const isKnown = role !== "quasi" || labels !== undefined;
  const coarser = isKnown ? told * part : 0;
  return { path, same: (told - coarser) / all, coarser: coarser / all, nothing: nothing / all, gone: (all - published) / all, isKnown };
}

const parts = [
  ["same", "as it was"],
  ["coarser", "coarser"],
  ["nothing", "says nothing"],
  ["gone", "not published"],
] as const;

function words(one: Shares): string {
  const told = parts.filter(([key]) => one[key] > 0).map(([key, word]) => `${percent(one[key])} ${key === "same" && !one.isKnown ? "published" : word}`);
  return told.join(", ") || "nothing";
}

export function KeptBars({ kept, listed }: { kept: Kept; listed: Listed | null }) {
  const all = kept.attributes.flatMap((one) => shares(one, listed) ?? []);
  if (all.length === 0) return null;
  return (
    <>
      <p class="legend">
        <span class="key same" /> as it was <span class="key coarser" /> coarser <span class="key nothing" /> <Term name="says nothing" />{" "}
        <span class="key gone" /> not published
      </p>
      <ul class="bars">
        {all.map((one) => {
          let x = 0;
          return (
            <li key={one.path}>
              <Path path={one.path} />
              <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                {parts.map(([key]) => {
                  const width = 100 * one[key];
                  x += width;
                  return <rect key={key} x={x - width} y={0} width={width} height={10} class={key} />;
                })}
              </svg>
              <span class="help">{words(one)}</span>
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** A value that a label could stand for. It is made up: nobody has looked at the data. */
export function madeUp({ label, splits }: ListedLabel, turn: number): string {
  if (!splits) return label;
  const range = /^(-?\d+)-(\d+)$/.exec(label);
  const month = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(label);
  const day = String(1 + ((turn * 11 + 4) % 28)).padStart(2, "0");
  if (month) return `${label}-${day}`;
  const quarter = /^(\d{4})-?Q([1-4])$/.exec(label);
  if (quarter) return `${quarter[1]}-${String(3 * Number(quarter[2]) - 1).padStart(2, "0")}-${day}`;
  if (range && Number(range[2]) >= Number(range[1])) {
    const [from, to] = [Number(range[1]), Number(range[2])];
    return String(from + ((turn * 7 + 3) % (to - from + 1)));
  }
  const decade = /^(\d{3})0s$/.exec(label);
  if (decade) return `${decade[1]}${(turn * 3 + 4) % 10}`;
  return label === ANYTHING ? "some value" : `one of ${label}`;
}

/** The label at a share of the way through all places, the most frequent first. */
function labelAt(labels: ListedLabel[], share: number): ListedLabel | undefined {
  const end = share * sum(labels);
  let seen = 0;
  return [...labels].sort((a, b) => b.places - a.places).find((one) => (seen += one.places) >= end);
}

const THREE = [0, 1, 2];

/** Three records that nobody has: labels that are published, and values that could stand behind them. */
export function Invented({ listed }: { listed: Listed }) {
  const all = listed.attributes.filter((one) => one.labels.length > 0);
  if (all.length === 0) return null;
  return (
    <table class="invented">
      <caption>Three invented records</caption>
      <thead>
        <tr>
          <th scope="col">Column</th>
          {THREE.map((turn) => (
            <th scope="col">Record {turn + 1}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {all.map(({ path, labels }) => (
          <tr>
            <th scope="row">
              <Path path={path} />
            </th>
            {THREE.map((turn) => {
              const own = labelAt(labels, (2 * turn + 1) / 6);
              return (
                <td>
                  {own && own.splits && (
                    <>
                      <s>{madeUp(own, turn)}</s> <span aria-hidden="true">→</span>{" "}
                    </>
                  )}
                  <b>{own?.label}</b>
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
