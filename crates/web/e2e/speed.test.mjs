// How long people wait. Bounds are wide, for machines are busy; the figures are printed.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ask, asProgram, demo, enter, job, launch, serve } from "./serve.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

test("the first page of the example's folder", { timeout: 120_000 }, async () => {
  const server = await serve();
  try {
    await demo(server.folder);
    const { page } = await enter(browser, { address: "about:blank" });
    const begun = Date.now();
    await page.goto(server.address);
    await page.getByRole("table", { name: "Policies" }).waitFor();
    const took = Date.now() - begun;
    console.log(`# the first page: ${took} ms`);
    assert.ok(took < 5_000, `${took} ms`);
  } finally {
    await server.end();
  }
});

test("from a role to what is wrong with it, among 300 attributes", { timeout: 120_000 }, async () => {
  const server = await serve();
  try {
    const names = Array.from({ length: 300 }, (_, i) => `a${i}`);
    const rows = Array.from({ length: 40 }, (_, r) => JSON.stringify(Object.fromEntries(names.map((name, i) => [name, (r * i) % 7]))));
    await mkdir(join(server.folder, "wide"));
    await writeFile(join(server.folder, "wide/data.ndjson"), `${rows.join("\n")}\n`);
    await job(server, { command: "draft", data: "wide/data.ndjson", policy: "wide/policy.toml" });
    const headers = asProgram(server);
    const see = async () => JSON.parse((await ask(server, "/api/policy?path=wide%2Fpolicy.toml", { headers })).text);
    let { version } = await see();
    const took = [];
    for (let i = 0; i < 20; i += 1) {
      const edits = [{ attribute: `a${i}`, key: "role", value: i % 2 ? "quasi" : "rol" }];
      const begun = performance.now();
      const answer = await ask(server, "/api/policy", {
        method: "PUT",
        headers,
        body: JSON.stringify({ path: "wide/policy.toml", version, edits }),
      });
      took.push(performance.now() - begun);
      const view = JSON.parse(answer.text);
      assert.ok(view.diagnostics.length > 0);
      version = view.version;
    }
    took.sort((a, b) => a - b);
    console.log(`# a role, its diagnostics: median ${took[10].toFixed(0)} ms, longest ${took[19].toFixed(0)} ms`);
    assert.ok(took[10] < 1_000, `${took[10]} ms`);
  } finally {
    await server.end();
  }
});

test("the first combination is told before the last is tried", { timeout: 240_000 }, async () => {
  const server = await serve();
  try {
    await demo(server.folder);
    const headers = asProgram(server);
    const body = JSON.stringify({ command: "sweep", policy: "bosket-demo/policy.toml", k: [2, 3, 4, 5, 6, 8, 10, 20] });
    const begun = Date.now();
    const { id } = JSON.parse((await ask(server, "/api/jobs", { method: "POST", headers, body })).text);
    const stream = await fetch(`${server.origin}/api/jobs/${id}/events`, { headers });
    let text = "";
    let first = 0;
    for await (const piece of stream.body) {
      text += Buffer.from(piece).toString();
      if (!first && text.includes('"row"')) first = Date.now() - begun;
    }
    const all = Date.now() - begun;
    assert.equal(text.match(/"row"/g).length, 8);
    console.log(`# the first of 8 combinations after ${first} ms, all after ${all} ms`);
    assert.ok(first > 0 && first < all / 2, `${first} of ${all} ms`);
  } finally {
    await server.end();
  }
});
