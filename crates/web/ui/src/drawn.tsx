// A hierarchy that is built by a rule, drawn: which labels each step gives.

import { count, Wide } from "./parts";

export type Rule = Record<string, unknown>;
/** Where a label begins and ends, as shares of the whole. */
type Piece = { label: string; from: number; to: number };
export type Level = { name: string; pieces: Piece[]; all: number };

/** More labels are not written into their places. */
const MOST_WRITTEN = 12;
/** More are not drawn at all. */
const MOST_DRAWN = 3000;

export const dateLevels = ["month", "quarter", "year", "decade"] as const;
export type DateLevel = (typeof dateLevels)[number];

export const ruleOf = (rule: unknown): Rule | null => (rule !== null && typeof rule === "object" ? (rule as Rule) : null);
export const numbersOf = (value: unknown): number[] => (Array.isArray(value) ? value.map(Number).filter((n) => Number.isFinite(n)) : []);
export function levelsOf(rule: Rule): DateLevel[] {
  const said = Array.isArray(rule["levels"]) ? (rule["levels"] as string[]) : [];
  return said.length === 0 ? [...dateLevels] : dateLevels.filter((level) => said.includes(level));
}

/** What is wrong with widths, if anything. */
export function wrongWidths(min: number, max: number, widths: number[]): string | null {
  if (!Number.isFinite(min) || !Number.isFinite(max) || min > max) return "The lowest value has to be a number below the highest.";
  if (widths.length === 0 || widths.some((width) => !(width > 0))) return "Each step needs a width above 0.";
  const isNested = widths.every((width, i) => i === 0 || (width > widths[i - 1]! && Math.abs(width / widths[i - 1]! - Math.round(width / widths[i - 1]!)) < 1e-9));
  return isNested ? null : "Steps nest: each width is 2, 3, … times the one before.";
}

function intervalLevels(rule: Rule): Level[] {
  const [min, max, widths] = [Number(rule["min"]), Number(rule["max"]), numbersOf(rule["widths"])];
  if (wrongWidths(min, max, widths)) return [];
  const isWhole = [min, max, ...widths].every(Number.isInteger);
  const plain = (n: number) => String(Number(n.toFixed(9)));
  const step = (width: number): Level => {
    const all = Math.floor((max - min) / width + 1e-9) + 1;
    const pieces = Array.from({ length: Math.min(all, MOST_DRAWN) }, (_, i) => {
      const [from, to] = [min + i * width, min + (i + 1) * width];
      const label = isWhole && min >= 0 ? `${from}-${to - 1}` : `[${plain(from)},${plain(to)})`;
      const end = isWhole ? max + 1 : Math.max(max, min + width);
      return { label, from: (from - min) / (end - min), to: Math.min(1, (to - min) / (end - min)) };
    });
    return { name: `steps of ${plain(width)}`, pieces, all };
  };
  return widths.map(step);
}

/** The number and the label of the span of a level that a month is in; months are counted from year 0. */
function span(level: DateLevel, month: number): [number, string] {
  const year = Math.floor(month / 12);
  const four = String(year).padStart(4, "0");
  const inYear = month - 12 * year;
  if (level === "month") return [month, `${four}-${String(inYear + 1).padStart(2, "0")}`];
  if (level === "quarter") return [Math.floor(month / 3), `${four}-Q${Math.floor(inYear / 3) + 1}`];
  if (level === "year") return [year, four];
  return [Math.floor(year / 10), `${String(10 * Math.floor(year / 10)).padStart(4, "0")}s`];
}

function calendarLevels(rule: Rule): Level[] {
  const monthOf = (text: unknown) => {
    const found = /^(\d{4})-(\d{2})-\d{2}$/.exec(String(text));
    return found ? 12 * Number(found[1]) + Number(found[2]) - 1 : null;
  };
  const [first, last] = [monthOf(rule["min"]), monthOf(rule["max"])];
  if (first === null || last === null || first > last) return [];
  const months = last - first + 1;
  return levelsOf(rule).map((level) => {
    const pieces: Piece[] = [];
    let before: number | null = null;
    for (let month = first; month <= last; month += 1) {
      const [number, label] = span(level, month);
      if (number !== before) pieces.push({ label, from: (month - first) / months, to: 1 });
      before = number;
      pieces.at(-1)!.to = (month - first + 1) / months;
    }
    return { name: level, pieces: pieces.slice(0, MOST_DRAWN), all: pieces.length };
  });
}

/** The steps of rules that have no bounds, by an example. */
const examples: Record<string, [string, string[]]> = {
  prefix: ["Text loses its last characters, one per step.", ["55455", "5545*", "554**", "55***", "5****", "*"]],
  letters: ["Names by their first letters.", ["Mueller", "M…", "*"]],
  icd10: ["Codes of diagnoses (ICD-10): code, category, block, chapter.", ["J45.0", "J45", "J40-J4A", "J00-J99", "*"]],
  atc: ["Codes of medicines (ATC): substance and its groups.", ["A10BA02", "A10BA", "A10B", "A10", "A", "*"]],
};

const inWords = (text: string) => text.replaceAll(/\s+/g, " ");

type Counts = ReadonlyMap<string, number | null>;

/** A hierarchy by its rule; with counts, how many cells of the data each label has. */
export function Drawn({ rule, counts, name }: { rule: Rule; counts?: Counts; name: string }) {
  const build = String(rule["build"] ?? (rule["from"] ? "from" : ""));
  const levels = build === "interval" ? intervalLevels(rule) : build === "date" ? calendarLevels(rule) : [];
  if (levels.length > 0) {
    const finest = build === "date" ? "the day itself" : "the number itself";
    return (
      <Wide label={`Steps of ${name}`}>
        <ol class="drawn" aria-label="Steps, coarsest first">
          <li>
            <span class="step">
              <code>*</code>: anything
            </span>
            <div class="ruler">
              <span class="piece" style={{ flexGrow: 1 }}>
                *
              </span>
            </div>
          </li>
          {[...levels].reverse().map((level) => (
            <Ruler level={level} counts={counts} />
          ))}
          <li>
            <span class="step">{finest}</span>
          </li>
        </ol>
        {rule["clamp"] !== undefined && rule["clamp"] !== "none" && <p class="help">{outside(rule)}</p>}
      </Wide>
    );
  }
  const example = examples[build];
  if (example) {
    return (
      <div class="drawn">
        <p>{example[0]} For example:</p>
        <ol class="chain" aria-label="An example, finest first">
          {example[1].map((label) => (
            <li>
              <code>{label}</code>
            </li>
          ))}
        </ol>
      </div>
    );
  }
  if (build === "order" && Array.isArray(rule["groups"])) return <Groups groups={rule["groups"]} />;
  if (build === "fanout") return <p class="drawn">Sorted values in groups of about {String(rule["fanout"])}, and these in groups again, up to <code>*</code>.</p>;
  if (build === "from") return <p class="drawn">Each value lies below what stands beside it in <code>{[rule["from"]].flat().join(", ")}</code>.</p>;
  if (build === "range") return <p class="drawn">Each group of people gets the narrowest range of numbers that they all fit.</p>;
  if (build === "order") return <p class="drawn">Groups that were written down. A certificate does not tell them: it tells that there are {String(rule["groups"])}.</p>;
  return build === "" ? null : <p class="drawn">Built by the rule {build}.</p>;
}

function outside(rule: Rule): string {
  const { min, max, clamp } = rule;
  const [low, high] = [`what is below becomes <${String(min)}`, `what is above becomes >${String(max)}`];
  return inWords(`Outside: ${clamp === "both" ? `${low}, ${high}` : clamp === "top" ? high : low}.`);
}

function Ruler({ level, counts }: { level: Level; counts: Counts | undefined }) {
  const { name, pieces, all } = level;
  const cells = (piece: Piece) => counts?.get(piece.label);
  const said = all === 1 ? "1 label" : `${count(all)} labels`;
  if (pieces.length <= MOST_WRITTEN) {
    return (
      <li>
        <span class="step">
          {name}: {said}
        </span>
        <div class="ruler">
          {pieces.map((piece) => {
            const number = cells(piece);
            return (
              <span class="piece" style={{ flexGrow: piece.to - piece.from }}>
                {piece.label}
                {number !== undefined && number !== null && <small>{count(number)}</small>}
              </span>
            );
          })}
        </div>
      </li>
    );
  }
  const most = Math.max(1, ...pieces.map((piece) => cells(piece) ?? 0));
  const hasCounts = counts !== undefined && pieces.some((piece) => cells(piece));
  return (
    <li>
      <span class="step">
        {name}: {said}, {pieces[0]!.label} … {pieces.at(-1)!.label}
      </span>
      <svg class="counts" viewBox="0 0 1000 40" preserveAspectRatio="none" role="img" aria-label={`${name}: ${said}${hasCounts ? ", the higher the more cells" : ""}`}>
        {pieces.map((piece) => {
          const high = hasCounts ? (38 * (cells(piece) ?? 0)) / most : 38;
          return <rect x={1000 * piece.from} width={1000 * (piece.to - piece.from)} y={40 - high} height={high} />;
        })}
      </svg>
    </li>
  );
}

/** Groups as they are written down. */
function Groups({ groups }: { groups: unknown[] }) {
  return (
    <ul class="drawn tree">
      {groups.map((group) => {
        const own = ruleOf(group);
        if (Array.isArray(group)) return <li>{group.map(String).join(", ")}</li>;
        if (!own) return <li>{String(group)}</li>;
        return (
          <li>
            <b>{String(own["label"] ?? "a group")}</b>
            {Array.isArray(own["values"]) && <Groups groups={own["values"]} />}
          </li>
        );
      })}
    </ul>
  );
}
