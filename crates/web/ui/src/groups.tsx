// Values in groups that somebody makes: by dragging a value into a group, or by choosing its group.

import { useState } from "preact/hooks";
import { type Rule, ruleOf } from "./drawn";
import { TypedInput } from "./parts";

/** More values are grouped in a file. */
export const MOST_GROUPED = 100;

type Group = { label: string; values: string[] };
type Grouped = { groups: Group[]; alone: string[] };

/** The groups of a rule; none where groups stand in groups, which are written by hand. */
function grouped(rule: Rule): Grouped | null {
  const all = Array.isArray(rule["groups"]) ? (rule["groups"] as unknown[]) : [];
  const found: Grouped = { groups: [], alone: [] };
  for (const one of all) {
    const values = Array.isArray(one) ? (one as unknown[]) : ruleOf(one)?.["values"];
    if (typeof one === "string") found.alone.push(one);
    else if (Array.isArray(values) && values.every((value) => typeof value === "string")) {
      const label = Array.isArray(one) ? "" : String(ruleOf(one)?.["label"] ?? "");
      found.groups.push({ label, values: values as string[] });
    } else return null;
  }
  return found;
}

const written = ({ groups, alone }: Grouped): Rule => ({
  build: "order",
  groups: [...groups.filter((one) => one.values.length > 0).map(({ label, values }) => (label ? { label, values } : values)), ...alone],
});

export function Groups({ rule, save }: { rule: Rule; save: (rule: Rule) => void }) {
  const own = grouped(rule);
  // Groups that nothing is in yet are not written.
  const [fresh, setFresh] = useState<string | null>(null);
  const [dragged, drag] = useState<string | null>(null);
  if (!own) return <p class="help">Groups stand in groups here: change them in the policy's text.</p>;
  const taken = new Set(own.groups.map((one) => one.label));
  const all = fresh !== null && !taken.has(fresh) ? [...own.groups, { label: fresh, values: [] }] : own.groups;
  const move = (value: string, to: number | null) => {
    const groups = all.map(({ label, values }, i) => ({ label, values: [...values.filter((one) => one !== value), ...(i === to ? [value] : [])] }));
    const alone = [...own.alone.filter((one) => one !== value), ...(to === null ? [value] : [])];
    if (to !== null && all[to]?.label === fresh) setFresh(null);
    save(written({ groups, alone }));
  };
  const name = (one: Group, i: number) => one.label || `group ${i + 1}`;
  const add = () => {
    const free = Array.from({ length: all.length + 1 }, (_, i) => `Group ${i + 1}`).find((label) => !all.some((one) => one.label === label));
    setFresh(free ?? null);
  };
  const values = (list: string[], at: number | null) => (
    <ul class="chips">
      {list.map((value) => (
        <li key={value} draggable onDragStart={() => drag(value)}>
          {value}{" "}
          <select aria-label={`Group of ${value}`} value={at === null ? "" : String(at)} onChange={(event) => move(value, event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}>
            <option value="">alone</option>
            {all.map((one, i) => (
              <option value={String(i)}>{name(one, i)}</option>
            ))}
          </select>
        </li>
      ))}
    </ul>
  );
  const drop = (to: number | null) => ({
    onDragOver: (event: DragEvent) => event.preventDefault(),
    onDrop: (event: DragEvent) => (event.preventDefault(), event.stopPropagation(), dragged !== null && move(dragged, to), drag(null)),
  });
  return (
    <fieldset>
      <legend>Groups</legend>
      <p class="help">Drag a value into a group, or choose its group beside it. A group is published by its name.</p>
      <div class="fields">
        {all.map((one, i) => (
          <fieldset key={i} {...drop(i)}>
            <legend>{name(one, i)}</legend>
            <label>
              Name
              <TypedInput
                value={one.label}
                save={(label) => (one.values.length === 0 ? setFresh(label) : save(written({ groups: all.map((other, at) => (at === i ? { ...one, label } : other)), alone: own.alone })))}
              />
            </label>
            {one.values.length === 0 ? <p>Nothing is in it yet.</p> : values(one.values, i)}
          </fieldset>
        ))}
        <fieldset {...drop(null)}>
          <legend>Alone</legend>
          {own.alone.length === 0 ? <p>Every value is in a group.</p> : values(own.alone, null)}
        </fieldset>
      </div>
      <button type="button" onClick={add}>
        Add a group
      </button>
    </fieldset>
  );
}
