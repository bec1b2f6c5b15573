// Other sources than the example: dropped or found in the folder, looked at, drafted, published.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { command, enter, launch, serve, long as LONG } from "./serve.mjs";

const some = (n, make) => Array.from({ length: n }, (_, i) => make(i)).join("");

/** A SQLite file with what these statements make; Python brings SQLite along. */
async function database(path, sql) {
  const script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.close()";
  const child = spawn("python3", ["-c", script, path, sql], { stdio: "inherit" });
  const code = await new Promise((resolve) => child.on("exit", resolve));
  assert.equal(code, 0);
}

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** From the data to a verified publication. */
async function way(page, server, data, records, record, preset) {
  await page.goto(`${server.origin}/#/look?data=${encodeURIComponent(data)}`);
  if (record || preset) {
    await page.getByRole("button", { name: "Look again" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    if (record) await page.getByLabel(/Where one record is/).fill(record);
    if (preset) await page.getByLabel("Known standard").selectOption(preset);
    await page.getByRole("button", { name: "Look again" }).click();
  }
  await page.getByRole("heading", { name: `${records} records` }).waitFor(LONG);
  await page.getByText(/can find .* of all people alone/).waitFor(LONG);
  await page.getByLabel("Draft a policy as").fill("draft.toml");
  await page.getByRole("button", { name: "Draft", exact: true }).click();
  await page.getByRole("heading", { name: "Policy" }).waitFor(LONG);
  await page.getByText("If it holds:").waitFor();
  await page.getByRole("button", { name: "Risk of the raw data" }).click();
  await page.getByRole("table", { name: /Who is found/ }).waitFor(LONG);
  await page.getByRole("link", { name: "On to the result", exact: true }).click();
  await page.getByRole("button", { name: "Publish and verify" }).click();
  await page.getByText(new RegExp(`^HOLDS: ${records} records`)).waitFor(LONG);
}

test("an XML file that is dropped", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    const person = (i) => `<person><town>${["Ulm", "Bonn"][i % 2]}</town><visit><year>${2000 + (i % 4)}</year></visit></person>`;
    const buffer = Buffer.from(`<?xml version="1.0"?><people>${some(60, person)}</people>`);
    const { page, errors } = await enter(browser, server);
    await page.getByLabel(/file/i).first().setInputFiles({ name: "people.xml", mimeType: "text/xml", buffer });
    await page.getByRole("link", { name: "people.xml" }).first().waitFor(LONG);
    await way(page, server, "people.xml", 60, "people/person");
    assert.deepEqual(errors, []);
  } finally {
    await server.end();
  }
});

test("baskets", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    const basket = (i) => `${["bread milk", "bread butter", "milk butter", "bread milk butter"][i % 4]}\n`;
    await writeFile(join(server.folder, "baskets.dat"), some(80, basket));
    const { page, errors } = await enter(browser, server);
    await way(page, server, "baskets.dat", 80);
    assert.deepEqual(errors, []);
  } finally {
    await server.end();
  }
});

test("linked tables in SQLite", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    const tables = join(server.folder, "tables");
    await mkdir(tables);
    await writeFile(join(tables, "person.csv"), `id,town\n${some(60, (i) => `${i},${["Ulm", "Bonn"][i % 2]}\n`)}`);
    await writeFile(join(tables, "visit.csv"), `id,person_id,year\n${some(120, (i) => `${i},${i % 60},${2000 + (i % 4)}\n`)}`);
    await command("convert", tables, join(server.folder, "data.sqlite"), "--parent", "visit.person_id");
    const { page, errors } = await enter(browser, server);
    await way(page, server, "data.sqlite", 60);
    assert.deepEqual(errors, []);
  } finally {
    await server.end();
  }
});

// Fourteen of fifteen tables were not read, without a word, and the risk of what was left was 0.0 %.
test("tables in SQLite of which nobody declared a key", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    const rows = (n, make) => Array.from({ length: n }, (_, i) => `(${make(i)})`).join(",");
    const sql = `CREATE TABLE person (id INTEGER, town TEXT);
      CREATE TABLE visit (id INTEGER, person_id INTEGER, year INTEGER);
      CREATE TABLE weather (day TEXT, degrees INTEGER);
      INSERT INTO person VALUES ${rows(60, (i) => `${i + 1}, '${["Ulm", "Bonn"][i % 2]}'`)};
      INSERT INTO visit VALUES ${rows(120, (i) => `${i + 1}, ${(i % 60) + 1}, ${2000 + (i % 4)}`)};
      INSERT INTO weather VALUES ${rows(9, (i) => `'2020-01-0${i + 1}', ${i}`)};`;
    await database(join(server.folder, "data.sqlite"), sql);
    const { page, errors } = await enter(browser, server);
    await page.goto(`${server.origin}/#/look?data=data.sqlite`);
    await page.getByText("Guessed from names and values: nobody has declared any key.").waitFor(LONG);
    // What is not read is told, with its name.
    await page.getByText(/weather/).first().waitFor();
    await way(page, server, "data.sqlite", 60);
    const drafted = await readFile(join(server.folder, "draft.toml"), "utf8");
    assert.match(drafted, /name *= "visit"/);
    assert.match(drafted, /parent *= "person"/);
    assert.deepEqual(errors, []);
  } finally {
    await server.end();
  }
});

test("a folder of linked CSV tables", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    const tables = join(server.folder, "tables");
    await mkdir(tables);
    await writeFile(join(tables, "person.csv"), `id,town\n${some(60, (i) => `${i},${["Ulm", "Bonn"][i % 2]}\n`)}`);
    await writeFile(join(tables, "visit.csv"), `id,person_id,year\n${some(120, (i) => `${i},${i % 60},${2000 + (i % 4)}\n`)}`);
    const { page, errors } = await enter(browser, server);
    const row = page.getByRole("row", { name: /^tables folder of linked tables, 2 files no policy yet/ });
    await row.waitFor(LONG);
    await way(page, server, "tables", 60);
    await page.getByRole("link", { name: "Project" }).click();
    await page.getByRole("row", { name: /^tables folder of linked tables, 2 files read by draft.toml/ }).waitFor(LONG);
    await page.getByRole("row", { name: /draft.toml/ }).getByText("verified", { exact: true }).first().waitFor();
    assert.deepEqual(errors, []);
  } finally {
    await server.end();
  }
});

test("a folder of FHIR bundles, and a database that a policy names", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    const folder = join(server.folder, "bundles");
    await mkdir(folder);
    for (let i = 0; i < 30; i += 1) {
      const resource = { resourceType: "Patient", id: `p${i}`, gender: ["female", "male"][i % 2], birthDate: `19${50 + (i % 10)}-01-01` };
      await writeFile(join(folder, `b${i}.json`), JSON.stringify({ resourceType: "Bundle", type: "collection", entry: [{ resource }] }));
    }
    const url = "postgres://reader@db.example/people";
    await writeFile(
      join(server.folder, "db.toml"),
      `version = 1\n[source]\nformat = "postgres"\nurl = "${url}"\n[[source.table]]\nname = "person"\nkey = ["id"]\n[[attribute]]\npath = "person.town"\nrole = "drop"\n`,
    );
    const { page, errors } = await enter(browser, server);
    await page.getByRole("row", { name: /^bundles folder of documents/ }).waitFor(LONG);
    await page.getByRole("row", { name: /^postgres:\/\/reader@db.example\/people database, named by a policy read by db.toml/ }).waitFor();
    await page.goto(`${server.origin}/#/look?data=bundles`);
    await page.getByRole("heading", { name: "30 records" }).waitFor(LONG);
    assert.deepEqual(errors, []);
  } finally {
    await server.end();
  }
});

test("why not finer where labels are local and no mapping is kept", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    await command("generate", "clinic", "--people", "800", "--out", join(server.folder, "clinic"));
    const place = join(server.folder, "clinic/policy.toml");
    const text = await readFile(place, "utf8");
    await writeFile(place, text.replace(/^mapping = .*\n/m, ""));
    assert.match(text, /recoding = "local"/);
    const { page, errors } = await enter(browser, server);
    await page.goto(`${server.origin}/#/result?policy=clinic%2Fpolicy.toml`);
    await page.getByRole("button", { name: "Publish and verify" }).click();
    await page.getByText(/--set=publish.mapping=/).waitFor({ state: "attached" });
    await page.getByText(/^HOLDS: 800 records/).waitFor(LONG);
    await page.getByRole("heading", { name: "Why not finer?" }).click();
    await page.getByLabel("Published attribute").selectOption("birth_year", LONG);
    await page.getByLabel("Published label").selectOption({ index: 1 });
    await page.getByRole("button", { name: "Why not finer?" }).click();
    await page.getByText(/published [\d,]+ times/).last().waitFor(LONG);
    // Nor is it needed for records before and after.
    await page.getByLabel("Show values").check();
    await page.getByRole("heading", { name: /Record .* before and after/ }).first().waitFor(LONG);
    assert.equal(await page.getByText("no mapping says").count(), 0);
    assert.deepEqual(errors, []);
  } finally {
    await server.end();
  }
});

test("bundles of FHIR", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    const bundle = (i) => ({
      resourceType: "Bundle",
      type: "collection",
      entry: [
        { resource: { resourceType: "Patient", id: `p${i}`, gender: ["female", "male"][i % 2], birthDate: `19${50 + (i % 40)}-01-01` } },
        {
          resource: {
            resourceType: "Condition",
            id: `c${i}`,
            subject: { reference: `Patient/p${i}` },
            code: { coding: [{ system: "http://hl7.org/fhir/sid/icd-10-cm", code: ["J45", "E11", "I10"][i % 3] }] },
          },
        },
      ],
    });
    await writeFile(join(server.folder, "bundles.ndjson"), some(60, (i) => `${JSON.stringify(bundle(i))}\n`));
    const { page, errors } = await enter(browser, server);
    await way(page, server, "bundles.ndjson", 60, undefined, "fhir-r4");
    assert.deepEqual(errors, []);
  } finally {
    await server.end();
  }
});
