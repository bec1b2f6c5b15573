// Each hierarchy as a tree, drawn as far as somebody opens it.

import { useEffect, useState } from "preact/hooks";
import type { Project } from "../api";
import { Builder } from "../builder";
import { isBusy, JobPanel, result, useJob } from "../job";
import { link } from "../main";
import { count, Next, NotTaken, Notice, usePieces } from "../parts";
import type { Listed, TreeNode } from "../types";
import { ruleOf } from "../drawn";
import { MOST_GROUPED } from "../groups";
import { Shaped } from "../shaped";
import { Term } from "../term";
import { TreeForms, useTree } from "../treeedit";
import { useValues } from "../values";
import { usePolicy } from "./policy";

type Props = { path: string; attribute: string | null; project: Project; reload: () => void };

export function HierarchiesPage({ path, attribute, project, reload }: Props) {
  const { policy, error, edit, load } = usePolicy(path);
  const [chosen, choose] = useState<string | null>(attribute);
  const { shown: showsValues, ...values } = useValues();
  // A tree that does not cover the data is drawn as its file says, below what is wrong.
  const alone = useJob(`tree alone ${path} ${chosen}`);
  const show = useJob(`tree ${path} ${chosen}`);
  const look = (attribute = chosen) => {
    if (attribute) void show.start({ command: "hierarchy", policy: path, attribute, ...values });
  };
  // After a run: where the labels of the tree are published.
  const cut = useJob(`cut ${path} ${chosen}`);
  const listed = result<Listed>(cut.running);
  const labels = listed?.attributes.find((one) => one.path === chosen)?.labels;
  const places = labels && new Map(labels.map((one) => [one.label, one.places]));
  // What is built by a rule has no file.
  const isFile = policy?.attributes.some((a) => a.path === chosen && a.hierarchy && a.rule === null);
  const tree = useTree(path, isFile ? chosen : null, () => look());
  const failed = show.running.job?.state === "failed";
  const file = tree.view?.path;
  useEffect(() => look(), [chosen, showsValues]);
  useEffect(() => {
    if (failed && file) void alone.start({ command: "hierarchy-file", file });
  }, [failed, file, show.running.job?.id]);
  if (!policy) return error ? <Notice kind="error">{error.message}</Notice> : <p>Loading…</p>;
  const quasi = policy.attributes.filter((a) => a.role === "quasi" || a.hierarchy);
  const own = quasi.find((a) => a.path === chosen);
  const drawn = failed ? alone.running.job : show.running.job;
  const root = drawn?.state === "done" ? (drawn.result as TreeNode | null) : null;
  const counts = root && countsOf(root);
  // The leaves of these rules are values of the data.
  const hides = !showsValues && ofData.includes(String(ruleOf(own?.rule)?.["build"] ?? (own?.rule ? "from" : "")));
  const take = (attribute: string, hierarchy: unknown) =>
    void edit([{ attribute, key: "hierarchy", value: hierarchy }]).then((isTaken) => isTaken && tree.load());
  return (
    <>
      <h1>Hierarchies</h1>
      <p>How far a value may be coarsened: its <Term name="hierarchy" />. Behind each <Term name="label" />: how many values it stands for, and how many cells of the data.</p>
      <NotTaken error={error} load={load} />
      <Next>
        choose an attribute; when every one has a hierarchy that covers its values, go on to the{" "}
        <a href={link("tradeoff", { policy: path })}>trade-off</a> or straight to the <a href={link("result", { policy: path })}>result</a>.
      </Next>
      <div class="row">
        <label>
          Attribute
          <select
            value={chosen ?? ""}
            disabled={isBusy(show.running)}
            onChange={(event) => {
              choose(event.currentTarget.value);
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
        {own && (
          <button type="button" disabled={isBusy(show.running)} onClick={() => look()}>
            Look again
          </button>
        )}
        {own && project.policies.some((one) => one.path === path && one.publication) && (
          <button
            type="button"
            disabled={isBusy(cut.running)}
            onClick={() => void cut.start({ command: "why", policy: path, attribute: own.path })}
          >
            Draw what is published
          </button>
        )}
      </div>
      {own && (
        <>
          <Shaped key={`shaped ${own.path}`} values={hides ? "hidden" : root ? leavesOf(root) : "read"} name={own.path} rule={own.rule} {...(counts && { counts })} take={(rule) => take(own.path, rule)} />
          <details>
            <summary>As the policy says it</summary>
            <code>{own.hierarchy ?? "nothing"}</code>
          </details>
          <Builder
            key={own.path}
            policy={path}
            files={project.files.map((file) => file.path).filter((name) => name.endsWith(".csv"))}
            reload={reload}
            take={(hierarchy) => take(own.path, hierarchy)}
          />
          <TreeForms tree={tree} key={`${own.path} ${tree.view?.path}`} />
        </>
      )}
      <JobPanel running={show.running} version={policy.version} />
      {failed && (
        <Notice kind="error">
          This hierarchy does not fit the data: nothing can be published with it.
          {!showsValues && " Switch on “Show values” to see which values are not covered."}
        </Notice>
      )}
      <JobPanel running={cut.running} version={policy.version} />
      {root && (
        <ul class="tree" role="tree" aria-label={`Hierarchy of ${chosen}`}>
          <Branch node={root} places={places} hides={hides} isOpen />
        </ul>
      )}
    </>
  );
}

/** Rules whose trees end in the values of the data. */
const ofData = ["prefix", "letters", "icd10", "atc", "fanout", "from"];

/** All values below a label, if they are few. */
function leavesOf(root: TreeNode): string[] | "many" {
  if (root.leaves > MOST_GROUPED) return "many";
  const below = (node: TreeNode): string[] => (node.children?.length ? node.children.flatMap(below) : [node.label]);
  return below(root);
}

/** Labels beyond so many are not looked up. */
const MOST = 20_000;

/** How many cells each label has. */
function countsOf(root: TreeNode): Map<string, number | null> {
  const counts = new Map<string, number | null>();
  const open = [root];
  for (let node = open.pop(); node && counts.size < MOST; node = open.pop()) {
    counts.set(node.label, node.count);
    // Values are drawn by nobody.
    for (const child of node.children ?? []) if (child.children && child.children.length > 0) open.push(child);
  }
  return counts;
}

type BranchProps = { node: TreeNode; places?: Map<string, number>; hides?: boolean; isOpen?: boolean };

/** A label with all below it; values are hidden where they are those of people. */
export function Branch({ node, places, hides = false, isOpen = false }: BranchProps) {
  const [open, set] = useState(isOpen);
  const children = node.children ?? [];
  const { piece, more } = usePieces(children, 100);
  const text = `${hides && children.length === 0 ? "a value" : node.label}: ${count(node.leaves)} ${node.leaves === 1 ? "value" : "values"}${
    node.count === null ? "" : `, ${count(node.count)} cells`
  }`;
  const published = places?.get(node.label);
  const mark = published !== undefined && !(hides && children.length === 0) && <strong class="cut"> ◆ published {count(published)} times</strong>;
  if (children.length === 0) {
    return (
      <li role="treeitem">
        <span>{text}</span>
        {mark}
      </li>
    );
  }
  return (
    <li role="treeitem" aria-expanded={open}>
      <button type="button" class="plain" onClick={() => set(!open)}>
        {open ? "▾" : "▸"} {text}
      </button>
      {mark}
      {open && (
        <ul role="group">
          {piece.map((child) => (
            <Branch node={child} places={places} hides={hides} />
          ))}
          {more && <li role="none">{more}</li>}
        </ul>
      )}
    </li>
  );
}
