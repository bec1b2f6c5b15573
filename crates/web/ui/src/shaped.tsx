// A hierarchy is shaped by buttons and numbers: what stands in the policy follows from them.

import { useState } from "preact/hooks";
import { dateLevels, Drawn, levelsOf, numbersOf, type Rule, ruleOf, wrongWidths } from "./drawn";
import { Groups, MOST_GROUPED } from "./groups";
import { Notice, TypedInput } from "./parts";

/** The values of the data, as far as they may be shown; a reason where they may not. */
export type Values = string[] | "hidden" | "many" | "read";

type Props = { values: Values; name: string; rule: unknown; counts?: ReadonlyMap<string, number | null>; take: (rule: Rule) => void };

/** Rules that need nothing else, as buttons. */
const ready: [string, string][] = [
  ["prefix", "text, from the left"],
  ["letters", "first letters of names"],
  ["icd10", "diagnoses (ICD-10)"],
  ["atc", "medicines (ATC)"],
];

export function Shaped({ values, name, rule, counts, take }: Props) {
  const said = ruleOf(rule);
  // A kind that was chosen, and is not in the policy before its bounds are known.
  const [begun, begin] = useState<Rule | null>(null);
  const own = begun ?? said;
  const [refused, refuse] = useState<"hidden" | "many" | "read" | null>(null);
  const build = String(own?.["build"] ?? "");
  const save = (next: Rule) => {
    const isWhole = next["build"] === "date" ? Boolean(next["min"] && next["max"]) : wrongWidths(Number(next["min"]), Number(next["max"]), numbersOf(next["widths"])) === null;
    if (!isWhole) return begin(next);
    begin(null);
    take(next);
  };
  const choose = (kind: string) => {
    if (kind === build) return;
    refuse(null);
    if (kind === "order") {
      if (!Array.isArray(values)) return refuse(values);
      begin(null);
      return take({ build: "order", groups: values });
    }
    if (kind === "date") return begin({ build: "date", levels: ["month", "year", "decade"] });
    if (kind === "interval") return begin({ build: "interval", widths: [5, 10, 50] });
    begin(null);
    take({ build: kind });
  };
  const kinds = [["date", "dates"], ["interval", "numbers"], ...ready, ["order", "groups of my own"]] as [string, string][];
  return (
    <section class="shaped" aria-label="How it is made coarser">
      <fieldset>
        <legend>What kind of values are these?</legend>
        <div class="row buttons">
          {kinds.map(([kind, words]) => (
            <button type="button" aria-pressed={build === kind} onClick={() => choose(kind)}>
              {words}
            </button>
          ))}
        </div>
      </fieldset>
      {refused === "hidden" && <Notice kind="warning">Groups are made of values: switch on “Show values” at the top, then choose them.</Notice>}
      {refused === "read" && <Notice kind="warning">The values are still being read: choose groups again when the tree is there.</Notice>}
      {refused === "many" && <Notice kind="warning">There are more than {MOST_GROUPED} values: group them in a CSV file, and take the file below.</Notice>}
      {own && build === "order" && <Groups rule={own} save={take} />}
      {own && build === "date" && <Dates rule={own} save={save} />}
      {own && build === "interval" && <Numbers rule={own} save={save} />}
      {own && build !== "order" && <Drawn rule={own} name={name} {...(counts && { counts })} />}
    </section>
  );
}

function Dates({ rule, save }: { rule: Rule; save: (rule: Rule) => void }) {
  const levels = levelsOf(rule);
  const toggle = (level: (typeof dateLevels)[number]) => {
    const next = dateLevels.filter((one) => (one === level ? !levels.includes(one) : levels.includes(one)));
    if (next.length > 0) save({ ...rule, levels: next });
  };
  return (
    <fieldset>
      <legend>Steps</legend>
      <div class="row buttons">
        <button type="button" aria-pressed={true} disabled>
          day
        </button>
        {dateLevels.map((level) => (
          <button type="button" aria-pressed={levels.includes(level)} onClick={() => toggle(level)}>
            {level}
          </button>
        ))}
      </div>
      <div class="row">
        <label>
          first day
          <TypedInput type="date" value={String(rule["min"] ?? "")} save={(min) => save({ ...rule, min })} />
        </label>
        <label>
          last day
          <TypedInput type="date" value={String(rule["max"] ?? "")} save={(max) => save({ ...rule, max })} />
        </label>
        <Outside rule={rule} save={save} />
      </div>
      {!(rule["min"] && rule["max"]) && <p class="help">Say the first and the last day. Take round ones, for they are published.</p>}
    </fieldset>
  );
}

function Numbers({ rule, save }: { rule: Rule; save: (rule: Rule) => void }) {
  const widths = numbersOf(rule["widths"]);
  const wrong = wrongWidths(Number(rule["min"] ?? NaN), Number(rule["max"] ?? NaN), widths);
  const number = (typed: string) => (typed.trim() === "" ? undefined : Number(typed));
  return (
    <fieldset>
      <legend>Steps</legend>
      <div class="row">
        <label>
          from
          <TypedInput type="number" step="any" value={String(rule["min"] ?? "")} save={(typed) => save({ ...rule, min: number(typed) })} />
        </label>
        <label>
          to
          <TypedInput type="number" step="any" value={String(rule["max"] ?? "")} save={(typed) => save({ ...rule, max: number(typed) })} />
        </label>
        <Outside rule={rule} save={save} />
      </div>
      <div class="row">
        {widths.map((width, at) => (
          <label key={at}>
            step {at + 1}: width
            <TypedInput
              type="number"
              step="any"
              value={String(width)}
              save={(typed) => save({ ...rule, widths: typed.trim() === "" ? widths.filter((_, i) => i !== at) : widths.map((old, i) => (i === at ? Number(typed) : old)) })}
            />
          </label>
        ))}
        <button type="button" onClick={() => save({ ...rule, widths: [...widths, 2 * (widths.at(-1) ?? 2.5)] })}>
          Add a coarser step
        </button>
        {widths.length > 1 && (
          <button type="button" onClick={() => save({ ...rule, widths: widths.slice(0, -1) })}>
            Take the coarsest away
          </button>
        )}
      </div>
      {wrong && <Notice kind="warning">{wrong} Until then the policy stays as it was.</Notice>}
    </fieldset>
  );
}

function Outside({ rule, save }: { rule: Rule; save: (rule: Rule) => void }) {
  return (
    <label>
      what lies outside
      <select
        value={String(rule["clamp"] ?? "none")}
        onChange={(event) => {
          const { clamp: _, ...rest } = rule;
          save(event.currentTarget.value === "none" ? rest : { ...rest, clamp: event.currentTarget.value });
        }}
      >
        <option value="none">is an error</option>
        <option value="top">above: shares one label</option>
        <option value="bottom">below: shares one label</option>
        <option value="both">above and below: share one label each</option>
      </select>
    </label>
  );
}
