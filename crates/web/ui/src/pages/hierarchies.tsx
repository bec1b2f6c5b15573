// Each hierarchy as a tree, drawn as far as somebody opens it.

import { useState } from "preact/hooks";
import { isBusy, JobPanel, useJob } from "../job";
import { count, Notice, usePieces } from "../parts";
import { usePolicy } from "./policy";

type Node = { label: string; leaves: number; count?: number; children?: Node[] };

export function HierarchiesPage({ path }: { path: string }) {
  const { policy, error } = usePolicy(path);
  const [chosen, choose] = useState<string | null>(null);
  const show = useJob();
  if (!policy) return error ? <Notice kind="error">{error.message}</Notice> : <p>Loading…</p>;
  const quasi = policy.attributes.filter((a) => a.role === "quasi" || a.hierarchy);
  const root = show.running.job?.state === "done" ? (show.running.job.result as Node | null) : null;
  return (
    <>
      <h1>Hierarchies</h1>
      <p>How far a value may be coarsened. Behind each label: how many values it stands for, and how many cells of the data.</p>
      <label>
        Attribute
        <select
          value={chosen ?? ""}
          disabled={isBusy(show.running)}
          onChange={(event) => {
            choose(event.currentTarget.value);
            void show.start({ command: "hierarchy", policy: path, attribute: event.currentTarget.value });
          }}
        >
          <option value="" disabled>
            choose
          </option>
          {quasi.map((a) => (
            <option>{a.path}</option>
          ))}
        </select>
      </label>
      <JobPanel running={show.running} />
      {root && (
        <ul class="tree" role="tree" aria-label={`Hierarchy of ${chosen}`}>
          <Branch node={root} isOpen />
        </ul>
      )}
    </>
  );
}

function Branch({ node, isOpen = false }: { node: Node; isOpen?: boolean }) {
  const [open, set] = useState(isOpen);
  const children = node.children ?? [];
  const { piece, more } = usePieces(children, 100);
  const text = `${node.label}: ${count(node.leaves)} ${node.leaves === 1 ? "value" : "values"}${
    node.count === undefined ? "" : `, ${count(node.count)} cells`
  }`;
  if (children.length === 0) {
    return (
      <li role="treeitem">
        <span>{text}</span>
      </li>
    );
  }
  return (
    <li role="treeitem" aria-expanded={open}>
      <button type="button" class="plain" onClick={() => set(!open)}>
        {open ? "▾" : "▸"} {text}
      </button>
      {open && (
        <ul role="group">
          {piece.map((child) => (
            <Branch node={child} />
          ))}
          {more && <li role="none">{more}</li>}
        </ul>
      )}
    </li>
  );
}
