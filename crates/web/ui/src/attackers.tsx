// Who may look for somebody, and what they know: a card each.

import type { AttackerView, AttributeView, Edit } from "./api";
import { sentence, TypedInput } from "./parts";

type Props = { attackers: AttackerView[]; attributes: AttributeView[]; k: unknown; edit: (edits: Edit[]) => void };

/** As the policy takes it: what is not said is left out. */
const written = ({ name, knows, m, n, among, k }: AttackerView) => ({
  name,
  ...(knows.length > 0 && { knows }),
  m: m ?? 0,
  ...(n && { n }),
  ...(among.length > 0 && { among }),
  ...(k !== null && { k }),
});

/** What is to be changed so that nobody knows these attributes any more. */
export function forgetting(attackers: AttackerView[], paths: string[]): Edit[] {
  const isGone = (path: string) => paths.includes(path);
  if (!attackers.some((one) => one.knows.some(isGone))) return [];
  const all = attackers.map((one) => ({ ...one, knows: one.knows.filter((path) => !isGone(path)) }));
  return [{ key: "privacy.attacker", value: all.map(written) }];
}

export function Attackers({ attackers, attributes, k, edit }: Props) {
  // What repeats another attribute has no hierarchy, and is known with that.
  const knowable = attributes.filter((a) => a.role === "quasi" && a.hierarchy !== null).map((a) => a.path);
  const save = (all: AttackerView[]) => edit([{ key: "privacy.attacker", value: all.length > 0 ? all.map(written) : undefined }]);
  const freeName = () => {
    const isTaken = (name: string) => attackers.some((one) => one.name === name);
    const usual = ["neighbour", "colleague", "friend", "insurer"].find((name) => !isTaken(name));
    return usual ?? `attacker ${attackers.length + 1}`;
  };
  const add = () => save([...attackers, { name: freeName(), knows: [], m: 1, n: null, among: [], k: null, sentence: null }]);
  return (
    <fieldset>
      <legend>Who may look for somebody?</legend>
      <p class="help">The publication holds against each of them. Delete whom there is not, and add whom there is.</p>
      <div class="fields">
        {attackers.map((one, at) => (
          <Card
            key={at}
            one={one}
            knowable={knowable}
            k={k}
            change={(changed) => save(attackers.map((other, i) => (i === at ? { ...one, ...changed } : other)))}
            remove={() => save(attackers.filter((_, i) => i !== at))}
          />
        ))}
      </div>
      <button type="button" onClick={add}>
        Add an attacker
      </button>
    </fieldset>
  );
}

type CardProps = { one: AttackerView; knowable: string[]; k: unknown; change: (changed: Partial<AttackerView>) => void; remove: () => void };

function Card({ one, knowable, k, change, remove }: CardProps) {
  // What is known and no longer an attribute can still be taken away.
  const paths = [...knowable, ...one.knows.filter((path) => !knowable.includes(path))];
  const number = (typed: string) => (typed === "" ? null : Number(typed));
  return (
    <fieldset class="attacker">
      <legend>{one.name || "somebody"}</legend>
      <label>
        Name
        <TypedInput value={one.name} save={(name) => change({ name })} />
      </label>
      <fieldset class="ticks">
        <legend>Knows, all at once</legend>
        {paths.map((path) => (
          <label class="inline">
            <input
              type="checkbox"
              checked={one.knows.includes(path)}
              onChange={(event) => {
                const isKnown = event.currentTarget.checked;
                change({ knows: paths.filter((other) => (other === path ? isKnown : one.knows.includes(other))) });
              }}
            />
            <code>{path}</code>
          </label>
        ))}
      </fieldset>
      <label>
        {one.knows.length > 0 ? "and so many more things (m)" : "so many things, whichever (m)"}
        <TypedInput type="number" min={0} value={String(one.m ?? 0)} save={(typed) => change({ m: number(typed) })} />
      </label>
      <label class="inline">
        <input type="checkbox" checked={(one.n ?? 0) > 0} onChange={(event) => change({ n: event.currentTarget.checked ? 1 : null })} />
        and whether two of these belong together (n)
      </label>
      <label>
        people who must fit what they know (k), if not {String(k ?? "k of the guarantee")}
        <TypedInput type="number" min={2} value={one.k === null ? "" : String(one.k)} save={(typed) => change({ k: number(typed) })} />
      </label>
      {one.among.length > 0 && (
        <p class="help">
          What they know besides is among <code>{one.among.join(", ")}</code>: change that in the file.
        </p>
      )}
      {one.sentence && <p aria-live="polite">{sentence(one.sentence)}</p>}
      <button type="button" onClick={remove}>
        Delete {one.name || "this attacker"}
      </button>
    </fieldset>
  );
}
