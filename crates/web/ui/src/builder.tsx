// A hierarchy by a rule or a file: what the policy is to say.

import { useState } from "preact/hooks";
import { upload } from "./api";

type Field = { name: string; words: string; kind: "number" | "text" | "numbers" | "levels" | "clamp" | "groups"; isOptional?: boolean };

const bounds: Field[] = [
  { name: "min", words: "lowest value", kind: "number" },
  { name: "max", words: "highest value", kind: "number" },
];
const clamp: Field = { name: "clamp", words: "values outside", kind: "clamp" };
const builders: Record<string, { words: string; fields: Field[] }> = {
  interval: {
    words: "interval: numbers in nested intervals",
    fields: [...bounds, { name: "widths", words: "widths, finest first, such as 5, 10, 50", kind: "numbers" }, clamp],
  },
  date: {
    words: "date: days by month, quarter, year, decade",
    fields: [
      { name: "min", words: "first day, such as 1990-01-01", kind: "text" },
      { name: "max", words: "last day", kind: "text" },
      { name: "levels", words: "levels, finest first (all if empty)", kind: "levels", isOptional: true },
      { name: "format", words: "how the data writes days, such as %d.%m.%Y", kind: "text", isOptional: true },
      clamp,
    ],
  },
  prefix: { words: "prefix: text masked from the right", fields: [] },
  letters: { words: "letters: names by their first letters", fields: [] },
  icd10: { words: "icd10: chapters, blocks, categories of ICD-10", fields: [] },
  atc: { words: "atc: groups of medicines by their ATC codes", fields: [] },
  fanout: { words: "fanout: a balanced tree over the sorted values", fields: [{ name: "fanout", words: "children per label", kind: "number" }] },
  order: { words: "order: groups that are written down", fields: [{ name: "groups", words: "a group per line: label: value, value", kind: "groups" }] },
};

const pieces = (text: string) =>
  text
    .split(",")
    .map((piece) => piece.trim())
    .filter((piece) => piece !== "");

/** Groups as the policy writes them: a line is `label: value, value`, or values without a label. */
function groups(text: string) {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const at = line.indexOf(":");
      const values = pieces(line.slice(at + 1));
      if (at >= 0) return { label: line.slice(0, at).trim(), values };
      return values.length === 1 ? values[0] : values;
    });
}

function value(field: Field, text: string): unknown {
  switch (field.kind) {
    case "number":
      return Number(text);
    case "numbers":
      return pieces(text).map(Number);
    case "levels":
      return pieces(text);
    case "groups":
      return groups(text);
    default:
      return text;
  }
}

/** How a file of the folder is named by a policy in another folder of it. */
export function seenFrom(policy: string, file: string): string {
  const from = policy.split("/").slice(0, -1);
  const to = file.split("/");
  let same = 0;
  while (same < from.length && same < to.length - 1 && from[same] === to[same]) same += 1;
  return [...from.slice(same).map(() => ".."), ...to.slice(same)].join("/");
}

export function Builder({ policy, files, take, reload }: { policy: string; files: string[]; take: (hierarchy: unknown) => void; reload: () => void }) {
  const [name, setName] = useState("interval");
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [file, setFile] = useState("");
  const [error, setError] = useState<string | null>(null);
  const fields = builders[name]?.fields ?? [];
  const text = (field: Field) => texts[field.name] ?? "";
  const set = (field: Field, said: string) => setTexts({ ...texts, [field.name]: said });
  return (
    <details>
      <summary>Build it, or take a file</summary>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const said = fields.filter((field) => text(field) !== "").map((field) => [field.name, value(field, text(field))]);
          take({ build: name, ...Object.fromEntries(said) });
        }}
      >
        <label>
          Builder
          <select value={name} onChange={(event) => (setName(event.currentTarget.value), setTexts({}))}>
            {Object.entries(builders).map(([key, { words }]) => (
              <option value={key}>{words}</option>
            ))}
          </select>
        </label>
        {fields.map((field) => (
          <label key={`${name}.${field.name}`}>
            {field.words}
            {field.kind === "clamp" ? (
              <select value={text(field)} onChange={(event) => set(field, event.currentTarget.value)}>
                <option value="">are an error</option>
                <option value="top">above share one label</option>
                <option value="bottom">below share one label</option>
                <option value="both">above and below share one each</option>
              </select>
            ) : field.kind === "groups" ? (
              <textarea rows={4} required value={text(field)} onInput={(event) => set(field, event.currentTarget.value)} />
            ) : (
              <input
                type={field.kind === "number" ? "number" : "text"}
                step="any"
                required={!field.isOptional}
                value={text(field)}
                onInput={(event) => set(field, event.currentTarget.value)}
              />
            )}
          </label>
        ))}
        <button>Build</button>
      </form>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          take(seenFrom(policy, file));
        }}
      >
        <label>
          CSV file of the folder
          <select value={file} required onChange={(event) => setFile(event.currentTarget.value)}>
            <option value="" disabled>
              choose
            </option>
            {files.map((one) => (
              <option>{one}</option>
            ))}
          </select>
        </label>
        <button disabled={file === ""}>Take the file</button>
        <label>
          Bring one into the folder
          <input
            type="file"
            accept=".csv"
            onChange={(event) => {
              const given = event.currentTarget.files?.[0];
              if (given)
                upload(given).then(
                  () => (setError(null), setFile(given.name), reload()),
                  (refused: Error) => setError(refused.message),
                );
            }}
          />
        </label>
        {error && <p role="alert">{error}</p>}
      </form>
    </details>
  );
}
