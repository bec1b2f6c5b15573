// For whoever receives a publication: what can be done with it and what not, and what its labels stand for.

import type { Project } from "./api";
import { Drawn, ruleOf } from "./drawn";
import { isBusy, JobPanel, result, useJob } from "./job";
import { Branch } from "./pages/hierarchies";
import { count, More, Path, percent } from "./parts";
import type { CertificateView, CertifiedAttribute, KeptValues, TreeNode } from "./types";

const gone = (one: KeptValues) => (one.values && one.published !== null ? Math.max(0, one.values - one.published) / one.values : 0);

/** Paths, one after the other. */
function Paths({ all }: { all: string[] }) {
  return (
    <>
      {all.map((path, i) => (
        <>
          {i > 0 && ", "}
          <Path path={path} />
        </>
      ))}
    </>
  );
}

export function Uses({ certificate, data }: { certificate: CertificateView; data: string }) {
  const attributes = certificate.policy?.attribute ?? [];
  const of = (...roles: string[]) => attributes.filter((one) => roles.includes(one.role)).map((one) => one.path);
  const kept = certificate.kept?.attributes ?? [];
  const lossy = kept.filter((one) => gone(one) >= 0.0005);
  const silent = kept.filter((one) => one.published && (one.as_anything ?? 0) / one.published >= 0.0005);
  const [coarse, asItWas, codes, removed] = [of("quasi"), of("sensitive", "insensitive"), of("pseudonym"), of("identifying", "drop")];
  const snippet = pandas(data);
  const parquet = inParquet(data);
  return (
    <div class="columns even">
      <section aria-labelledby="can">
        <h2 id="can">What you can do with it</h2>
        <ul>
          <li>Count: there are {count(certificate.records)} people in it, each once.</li>
          {coarse.length > 0 && (
            <li>
              Compare groups by <Paths all={coarse} />. These may hold labels in place of values, such as 1950-1959: take each label as a group.
            </li>
          )}
          {asItWas.length > 0 && (
            <li>
              Work with <Paths all={asItWas} /> as with the original: these values were not changed.
            </li>
          )}
          {codes.length > 0 && (
            <li>
              Follow people from release to release by <Paths all={codes} />: a person keeps their code.
            </li>
          )}
        </ul>
        {snippet && (
          <>
            <p>To begin in Python with pandas:</p>
            <pre tabIndex={0} role="region" aria-label="How to begin in Python">
              {snippet}
            </pre>
          </>
        )}
        {parquet && (
          <>
            <p>To have it in another format, such as Parquet, as it stands:</p>
            <pre tabIndex={0} role="region" aria-label="How to have another format">
              {parquet}
            </pre>
          </>
        )}
      </section>
      <section aria-labelledby="cannot">
        <h2 id="cannot">What you cannot do with it</h2>
        <ul>
          {certificate.sentence ? (
            <li>Find out who somebody is, as far as the promise goes: {certificate.sentence}.</li>
          ) : (
            <li>Rely on a guarantee: none is claimed.</li>
          )}
          {removed.length > 0 && (
            <li>
              Join it with other files by <Paths all={removed} />: that was removed.
            </li>
          )}
          {lossy.length > 0 && (
            <li>
              Add up everything there was. Not published are {lossy.map((one, i) => (
                <>
                  {i > 0 && ", "}
                  {percent(gone(one))} of <Path path={one.path} />
                </>
              ))}: sums are too small by about so much.
            </li>
          )}
          {silent.length > 0 && (
            <li>
              Read every value. A label <code>*</code> could be anything, and others say as little:{" "}
              {silent.map((one, i) => (
                <>
                  {i > 0 && ", "}
                  {percent((one.as_anything ?? 0) / (one.published ?? 1))} of <Path path={one.path} />
                </>
              ))}
              . Count these as unknown.
            </li>
          )}
          <li>Try to find people in it, also together with other data. No promise covers that, and it may be forbidden to you.</li>
        </ul>
      </section>
    </div>
  );
}

/** How pandas reads a file, by its name. */
function pandas(path: string): string | null {
  const name = path.split("/").at(-1) ?? path;
  const plain = name.replace(/\.(gz|zst)$/, "");
  const read: [RegExp, string][] = [
    [/\.(ndjson|jsonl)$/, `pd.read_json(${JSON.stringify(name)}, lines=True)`],
    [/\.json$/, `pd.read_json(${JSON.stringify(name)})`],
    [/\.csv$/, `pd.read_csv(${JSON.stringify(name)}, dtype=str)`],
    [/\.tsv$/, `pd.read_csv(${JSON.stringify(name)}, sep="\\t", dtype=str)`],
    [/\.parquet$/, `pd.read_parquet(${JSON.stringify(name)})`],
  ];
  const own = read.find(([ending]) => ending.test(plain));
  return own ? `import pandas as pd\npeople = ${own[1]}` : null;
}

/** How a file becomes Parquet; what is Parquet already becomes NDJSON. */
function inParquet(path: string): string | null {
  const name = path.split("/").at(-1) ?? path;
  const own = /^([\w.-]+)\.(ndjson|jsonl|json|csv|tsv|parquet)$/.exec(name);
  return own ? `bosket convert ${name} ${own[1]}.${own[2] === "parquet" ? "ndjson" : "parquet"}` : null;
}

/** What labels stand for, column by column. */
export function Labels({ certificate, place, project }: { certificate: CertificateView; place: string; project: Project }) {
  const all = (certificate.policy?.attribute ?? []).filter((one) => one.hierarchy !== null && one.role === "quasi");
  if (all.length === 0) return null;
  const folder = place.includes("/") ? place.replace(/[^/]*$/, "") : "";
  return (
    <More title="What the labels stand for">
      {all.map((one) => (
        <section key={one.path}>
          <h3>
            <Path path={one.path} />
          </h3>
          <Own one={one} folder={folder} project={project} />
        </section>
      ))}
    </More>
  );
}

function Own({ one, folder, project }: { one: CertifiedAttribute; folder: string; project: Project }) {
  const rule = ruleOf(one.hierarchy);
  if (rule) return <Drawn rule={rule} name={one.path} />;
  const file = `${folder}${String(one.hierarchy)}`;
  const isThere = project.files.some((other) => other.path === file);
  return isThere ? (
    <FromFile file={file} />
  ) : (
    <p>
      Its labels are in the file <code>{String(one.hierarchy)}</code>, which is not in this folder: ask the publisher for it.
    </p>
  );
}

function FromFile({ file }: { file: string }) {
  const show = useJob(`labels of ${file}`);
  const root = result<TreeNode>(show.running);
  return (
    <>
      {!root && (
        <button type="button" disabled={isBusy(show.running)} onClick={() => void show.start({ command: "hierarchy-file", file })}>
          Draw {file}
        </button>
      )}
      <JobPanel running={show.running} />
      {root && (
        <ul class="tree" role="tree" aria-label={`Labels of ${file}`}>
          <Branch node={root} isOpen />
        </ul>
      )}
    </>
  );
}
