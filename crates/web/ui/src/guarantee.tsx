// What may somebody know? It leads to the guarantee and its numbers.

import type { Edit, ModelView } from "./api";
import { TypedInput } from "./parts";

/** Who attacks, in words, for each guarantee. */
const words: Record<string, string> = {
  kmn: "a few values of a person, and how they belong together",
  km: "a few items of a person's set",
  "k-anonymity": "everything that others may know of a person",
  "l-diversity": "everything that others may know, and wants a sensitive value",
  anatomy: "everything, and wants a sensitive value; nothing is made coarser",
  delta: "the same, and similar sensitive values give away as much",
};
const numbers: Record<string, [string, number]> = {
  k: ["at least so many people fit (k)", 5],
  m: ["values known (m)", 2],
  n: ["relations known (n)", 1],
  l: ["sensitive values among them (l)", 2],
  group_size: ["people in a group (group_size)", 3],
};

type Props = { models: ModelView[]; privacy: Record<string, unknown>; attackers: number; edit: (edits: Edit[]) => void };

export function Guarantee({ models, privacy, attackers, edit }: Props) {
  // Attackers who are told say how much they know.
  const isTold = (key: string) => attackers > 0 && (key === "m" || key === "n");
  const own = models.find((model) => model.name === privacy["model"]);
  const take = (name: string) => {
    const next = models.find((model) => model.name === name);
    const edits: Edit[] = [{ key: "privacy.model", value: name }];
    const keepsAttackers = next?.takes.includes("attacker");
    if (attackers > 0 && !keepsAttackers) edits.push({ key: "privacy.attacker" });
    for (const key of Object.keys(numbers)) {
      if (isTold(key) && keepsAttackers) continue;
      if (privacy[key] !== undefined && !next?.takes.includes(key)) edits.push({ key: `privacy.${key}` });
      if (privacy[key] === undefined && next?.needs.includes(key)) edits.push({ key: `privacy.${key}`, value: numbers[key]![1] });
    }
    // An algorithm belongs to its guarantee; each has a usual one.
    edit([...edits, { key: "method.algorithm" }]);
  };
  return (
    <fieldset>
      <legend>What may somebody know?</legend>
      <label>
        Whoever knows
        <select value={String(privacy["model"] ?? "")} onChange={(event) => take(event.currentTarget.value)}>
          <option value="" disabled>
            choose
          </option>
          {models.map((model) => (
            <option value={model.name}>
              {words[model.name] ?? model.about} ({model.name})
            </option>
          ))}
          {!own && privacy["model"] !== undefined && <option value={String(privacy["model"])}>{String(privacy["model"])}</option>}
        </select>
      </label>
      {own && (
        <p class="help">
          {own.title}: {own.about}.{own.needs_sensitive && " At least one attribute must be sensitive."}
        </p>
      )}
      <div class="row">
        {Object.entries(numbers)
          .filter(([key]) => own?.takes.includes(key) ?? privacy[key] !== undefined)
          .map(([key, [about]]) => (
            <label key={key}>
              {isTold(key) ? `${about} by somebody else` : about}
              {(!own?.needs.includes(key) || isTold(key)) && ", if wanted"}
              <TypedInput
                type="number"
                min={0}
                value={privacy[key] === undefined ? "" : String(privacy[key])}
                save={(typed) => edit([{ key: `privacy.${key}`, value: typed === "" ? undefined : Number(typed) }])}
              />
            </label>
          ))}
      </div>
    </fieldset>
  );
}
