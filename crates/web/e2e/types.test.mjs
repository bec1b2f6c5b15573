// What commands print fits the types that pages read: the server hands on nothing else, and the compiler looks at what it hands on.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ask, asProgram, command, job, serve } from "./serve.mjs";

const ui = fileURLToPath(new URL("../ui", import.meta.url));
const compile = () => spawnSync(process.execPath, [join(ui, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", ui], { encoding: "utf8" });

/** Some people with a note that is published as it is, a date that is shifted, and a sensitive value that nothing protects. */
const people = Array.from({ length: 60 }, (_, i) => `${JSON.stringify({ town: ["Ulm", "Bonn"][i % 2], note: ["a", "b"][i % 2], mood: ["x", "y"][i % 2] })}\n`).join("");
const policy = `version = 1
source = { format = "ndjson", path = "people.ndjson" }
attribute = [
  { path = "town", role = "quasi", hierarchy = { build = "prefix" } },
  { path = "note", role = "insensitive", why = "it says nothing", acknowledge = true },
  { path = "mood", role = "insensitive", why = "it says nothing", acknowledge = true },
]
privacy = { model = "kmn", k = 3, m = 1, n = 0 }
publish = { path = "people.out.ndjson" }
`;

test("results have the types that pages read", { timeout: 480_000 }, async () => {
  const server = await serve();
  const source = join(ui, "src/compared.ts");
  try {
    await command("demo", join(server.folder, "d"), "--people", "800");
    await writeFile(join(server.folder, "people.ndjson"), people);
    await writeFile(join(server.folder, "people.toml"), policy);
    const [demo, certificate] = ["d/policy.toml", "d/published.ndjson.certificate.json"];
    const own = { publication: "people.out.ndjson", certificate: "people.out.ndjson.certificate.json" };
    const publication = "d/published.ndjson";
    const headers = asProgram(server);
    const sent = async (path, body) => {
      const { text } = await ask(server, path, { method: "POST", headers, body: JSON.stringify(body) });
      const { id } = JSON.parse(text);
      for (;;) {
        const view = JSON.parse((await ask(server, `/api/jobs/${id}`, { headers })).text);
        if (!["waiting", "running"].includes(view.state)) return view;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const jobs = [
      ["Looked", { command: "inspect", data: "d/data.ndjson", risk: true, show_values: true }],
      ["Attacked", { command: "attack", policy: demo }],
      ["Released", { command: "anonymize", policy: demo, force: true }],
      ["Row[]", { command: "sweep", policy: demo, k: [2, 500] }],
      ["Listed", { command: "why", policy: demo }],
      ["TreeNode", { command: "hierarchy", policy: demo, attribute: "home.town" }],
      ["TreeNode", { command: "hierarchy-file", file: "d/hierarchies/town.csv" }],
      ["Checked", { command: "verify", publication, certificate }],
      ["Released", { command: "anonymize", policy: "people.toml" }],
      ["Checked", { command: "verify", ...own }],
    ];
    const lines = ['import type * as T from "./types";'];
    const add = (type, value) => {
      assert.ok(value !== null, type);
      lines.push(`const v${lines.length}: T.${type} = ${JSON.stringify(value)};`, `export const t${lines.length} = v${lines.length};`);
    };
    const results = [];
    for (const [type, asked] of jobs) {
      const view = await job(server, asked);
      const events = await (await fetch(`${server.origin}/api/jobs/${view.id}/events`, { headers })).text();
      assert.equal(view.state, "done", `${JSON.stringify(asked)}: ${events}`);
      results.push(view.result);
      add(type, view.result);
      const said = events.split("\n").filter((line) => line.startsWith("data:"));
      assert.ok(said.length > 0);
      for (const one of said.slice(0, 20)) lines.push(`export const e${lines.length}: Partial<T.Said> = ${one.slice(5)};`);
    }
    // What nothing protects has a path and a role, for whoever receives it.
    const { published_as_they_are: open } = results.at(-1).not_protected;
    assert.deepEqual(open.map((one) => one.path), ["note", "mood"]);
    assert.deepEqual(results.at(-1).certificate.published_as_they_are, open);
    const made = await sent("/api/keys", { key: "d/own.key", passphrase: "secret words" });
    add("Made", made.result);
    const signed = await sent("/api/sign", { certificate, key: "d/own.key", passphrase: "secret words" });
    add("Signed", signed.result);
    add("Checked", (await job(server, { command: "verify", publication, certificate, key: "d/own.pub" })).result);
    const label = results[4].attributes.flatMap((one) => one.labels.filter((l) => l.splits).map((l) => ({ attribute: one.path, label: l.label })))[0];
    add("NotFiner", (await job(server, { command: "why", policy: demo, ...label })).result);
    for (const [type, path] of [
      ["CertificateView", `certificate?path=${encodeURIComponent(certificate)}`],
      ["Project", "project"],
      ["PolicyView", `policy?path=${encodeURIComponent(demo)}`],
      ["PublishView", `publish?policy=${encodeURIComponent(demo)}`],
      ["JobView[]", "jobs"],
    ])
      add(type, JSON.parse((await ask(server, `/api/${path}`, { headers })).text));
    await writeFile(source, lines.join("\n"));
    const { status, stdout } = compile();
    assert.equal(status, 0, stdout);
    // It can fail.
    await writeFile(source, lines.join("\n").replaceAll('"records":', '"recorded":'));
    assert.notEqual(compile().status, 0);
  } finally {
    await rm(source, { force: true });
    await server.end();
  }
});
