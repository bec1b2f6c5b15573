// Labels of a hierarchy that is a CSV file: renamed, moved, and taken back.

import { useEffect, useState } from "preact/hooks";
import { editHierarchy, getHierarchy, type HierarchyView, Refused, type TreeEdit } from "./api";
import { NotTaken, type Refusal } from "./parts";

/** The file of an attribute's hierarchy, and edits of it one after the other. */
export function useTree(policy: string, attribute: string | null, changed: () => void) {
  const [view, set] = useState<HierarchyView | null>(null);
  const [undo, setUndo] = useState<TreeEdit[]>([]);
  const [error, setError] = useState<Refusal | null>(null);
  const load = () => {
    set(null);
    setUndo([]);
    setError(null);
    // A file that cannot be changed is drawn all the same.
    if (attribute) getHierarchy(policy, attribute).then(set, () => set(null));
  };
  useEffect(load, [policy, attribute]);
  const send = (edit: TreeEdit, then: (view: HierarchyView) => void) => {
    if (!view || !attribute) return;
    editHierarchy(policy, attribute, view.version, edit).then(
      (next) => {
        set(next);
        setError(null);
        then(next);
        changed();
      },
      (refused: Error) => setError({ message: refused.message, isOld: refused instanceof Refused && refused.status === 409 }),
    );
  };
  return {
    view,
    error,
    load: () => (load(), changed()),
    edit: (edit: TreeEdit) => send(edit, (next) => next.undo && setUndo([...undo, next.undo])),
    undo: undo.length === 0 ? null : () => send(undo[undo.length - 1]!, () => setUndo(undo.slice(0, -1))),
  };
}

export function TreeForms({ tree }: { tree: ReturnType<typeof useTree> }) {
  const [label, setLabel] = useState("");
  const [to, setTo] = useState("");
  const [node, setNode] = useState("");
  const [under, setUnder] = useState("");
  if (!tree.view) return null;
  return (
    <details>
      <summary>
        Change <code>{tree.view.path}</code>
      </summary>
      <NotTaken error={tree.error} load={tree.load} />
      <form class="row" onSubmit={(event) => (event.preventDefault(), tree.edit({ rename: { label, to } }))}>
        <label>
          Label
          <input value={label} required onInput={(event) => setLabel(event.currentTarget.value)} />
        </label>
        <label>
          New label
          <input value={to} required onInput={(event) => setTo(event.currentTarget.value)} />
        </label>
        <button>Rename</button>
      </form>
      <form class="row" onSubmit={(event) => (event.preventDefault(), tree.edit({ move: { label: node, under } }))}>
        <label>
          Label or value
          <input value={node} required onInput={(event) => setNode(event.currentTarget.value)} />
        </label>
        <label>
          goes below
          <input value={under} required onInput={(event) => setUnder(event.currentTarget.value)} />
        </label>
        <button>Move</button>
      </form>
      <button type="button" disabled={!tree.undo} onClick={() => tree.undo?.()}>
        Undo the last change
      </button>
    </details>
  );
}
