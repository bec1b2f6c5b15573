// Hierarchies: built, taken from a file, changed and taken back; large ones drawn as far as somebody looks.

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { enter, launch, serve, violations, long as LONG } from "./serve.mjs";

const people = (names) => names.map((town, i) => `${JSON.stringify({ town, age: 20 + (i % 50) })}\n`).join("");
const policy = (hierarchy) => `version = 1
# A comment that stays.
[source]
format = "ndjson"
path = "data.ndjson"
[[attribute]]
path = "town"
role = "quasi"
hierarchy = ${hierarchy}
[[attribute]]
path = "age"
role = "quasi"
hierarchy = { build = "fanout", fanout = 5 }
[privacy]
model = "kmn"
k = 2
m = 1
n = 0
[publish]
path = "published.ndjson"
`;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

test("hierarchies are built, taken from files, changed and taken back", { timeout: 240_000 }, async () => {
  const server = await serve();
  try {
    await mkdir(join(server.folder, "own/trees"), { recursive: true });
    const file = (name) => join(server.folder, "own", name);
    await writeFile(file("data.ndjson"), people(Array.from({ length: 40 }, (_, i) => ["Ulm", "Bonn", "Kiel", "Jena"][i % 4])));
    await writeFile(file("trees/towns.csv"), "Ulm;South;*\nBonn;West;*\nKiel;North;*\nHamm;West;*\n");
    await writeFile(file("policy.toml"), policy('{ build = "prefix" }'));
    const { page, errors } = await enter(browser, server);
    await page.goto(`${server.origin}/#/hierarchies?policy=own%2Fpolicy.toml`);
    await page.getByLabel("Attribute").selectOption("age");
    await page.getByRole("tree").waitFor(LONG);
    await page.getByText("Build it, or take a file").click();
    await page.getByLabel("lowest value").fill("0");
    await page.getByLabel("highest value").fill("99");
    await page.getByLabel(/widths/).fill("10, 50");
    await page.getByRole("button", { name: "Build", exact: true }).click();
    await page.getByText('build = "interval"').first().waitFor({ state: "attached", ...LONG });
    await page.getByRole("button", { name: /0-49: 50 values, 30 cells/ }).waitFor(LONG);
    const text = await readFile(file("policy.toml"), "utf8");
    assert.match(text, /hierarchy = \{ build = "interval", .*widths = \[10, ?50\]/);
    assert.match(text, /# A comment that stays/);

    // One town is not in the file: that is told, and its name only to whoever asks.
    await page.getByLabel("Attribute").selectOption("town");
    await page.getByRole("tree").waitFor(LONG);
    await page.getByText("Build it, or take a file").click();
    await page.getByLabel("CSV file of the folder").selectOption("own/trees/towns.csv");
    await page.getByRole("button", { name: "Take the file" }).click();
    await page.getByText("This hierarchy does not fit the data").waitFor(LONG);
    await page.getByRole("button", { name: /West: 2 values/ }).waitFor(LONG);
    assert.equal(await page.getByText("Jena").count(), 0);
    await page.getByLabel("Show values").check();
    await page.getByText(/Jena/).first().waitFor(LONG);
    await page.getByLabel("Show values").uncheck();
    await page.getByRole("button", { name: /West: 2 values/ }).waitFor(LONG);
    await writeFile(file("trees/towns.csv"), "Ulm;South;*\nBonn;West;*\nKiel;North;*\nHamm;West;*\nJena;North;*\n");

    // The file changed behind the page: its edit is refused, and comes after loading it again.
    await page.getByText("Change own/trees/towns.csv").click();
    await page.getByLabel("Label", { exact: true }).fill("West");
    await page.getByLabel("New label").fill("<b>Rhine; Ruhr</b>");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByText("somebody else changed this hierarchy").waitFor(LONG);
    await page.getByRole("button", { name: "Load it again" }).click();
    await page.getByRole("button", { name: /West: 2 values, 10 cells/ }).waitFor(LONG);
    const forms = page.getByText("Change own/trees/towns.csv");
    await forms.waitFor(LONG);
    await forms.click();
    await page.getByLabel("Label", { exact: true }).fill("West");
    await page.getByLabel("New label").fill("<b>Rhine; Ruhr</b>");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("button", { name: /<b>Rhine; Ruhr<\/b>: 2 values/ }).waitFor(LONG);
    await page.getByLabel("Label or value").fill("Jena");
    await page.getByLabel("goes below").fill("South");
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await page.getByRole("button", { name: /South: 2 values, 20 cells/ }).waitFor(LONG);
    assert.match(await readFile(file("trees/towns.csv"), "utf8"), /^Jena;South;\*$/m);
    assert.deepEqual(await violations(page), []);
    for (const back of [/South: 1 value, 10 cells/, /West: 2 values, 10 cells/]) {
      await page.getByRole("button", { name: "Undo the last change" }).click();
      await page.getByRole("button", { name: back }).waitFor(LONG);
    }
    assert.match(await readFile(file("trees/towns.csv"), "utf8"), /^Jena;North;\*$/m);
    // The one refusal that was meant.
    assert.ok(errors.every((error) => error.includes("409") || error.includes("404")), errors.join("\n"));
  } finally {
    await server.end();
  }
});

test("a hierarchy of 100,000 leaves is drawn as far as somebody looks", { timeout: 240_000 }, async () => {
  const server = await serve();
  try {
    const folder = join(server.folder, "large");
    await mkdir(folder);
    const leaves = Array.from({ length: 100_000 }, (_, i) => `v${i};group ${i % 1000};part ${(i % 1000) % 10};*\n`);
    await writeFile(join(folder, "tree.csv"), leaves.join(""));
    await writeFile(join(folder, "data.ndjson"), people(Array.from({ length: 200 }, (_, i) => `v${i * 17}`)));
    await writeFile(join(folder, "policy.toml"), policy('"tree.csv"'));
    const { page } = await enter(browser, server);
    await page.goto(`${server.origin}/#/hierarchies?policy=large%2Fpolicy.toml`);
    const begun = Date.now();
    await page.getByLabel("Attribute").selectOption("town");
    await page.getByRole("button", { name: /part 3: 10,000 values/ }).click(LONG);
    const opened = Date.now();
    assert.ok(opened - begun < 30_000, `opened after ${opened - begun} ms`);
    await page.getByRole("button", { name: /group 3: 100 values/ }).click();
    await page.getByText(/^v3: 1 value/).waitFor();
    assert.ok(Date.now() - opened < 3_000, `further after ${Date.now() - opened} ms`);
    assert.ok((await page.getByRole("treeitem").count()) < 500);
  } finally {
    await server.end();
  }
});
