// What pages say is true of what is there now, and complete.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { command, demo, enter, job, launch, long as LONG, serve, shot } from "./serve.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const POLICY = `version = 1

[source]
format = "ndjson"
path = "people.ndjson"

[[attribute]]
path = "town"
role = "quasi"
hierarchy = { build = "prefix" }

[[attribute]]
path = "note"
role = "insensitive"
why = "it says nothing"
acknowledge = true

[privacy]
model = "kmn"
k = 3
m = 1
n = 0

[publish]
path = "out.ndjson"
`;

/** A folder with people and a policy. */
async function people(server) {
  const rows = Array.from({ length: 60 }, (_, i) => `${JSON.stringify({ town: ["Ulm", "Bonn"][i % 2], note: ["a", "b"][i % 2] })}\n`);
  await writeFile(join(server.folder, "people.ndjson"), rows.join(""));
  await writeFile(join(server.folder, "policy.toml"), POLICY);
}

test("an attribute that is published as it is was an empty bullet for whoever receives it", { timeout: 120_000 }, async () => {
  const server = await serve();
  try {
    await people(server);
    await job(server, { command: "anonymize", policy: "policy.toml" });
    const { page, errors } = await enter(browser, server);
    await page.goto(`${server.origin}/#/check?certificate=out.ndjson.certificate.json`);
    await page.getByRole("button", { name: "Check", exact: true }).click();
    await page.getByText("AS CERTIFIED").first().waitFor(LONG);
    const list = page.locator("h2:has-text('Published as it is, without protection') + ul > li");
    assert.deepEqual(await list.allTextContents(), ["note (insensitive)"]);
    await shot(page, "check-bullet-full");
    // No list of the page has an empty entry.
    for (const text of await page.locator("main li").allTextContents()) assert.notEqual(text.trim(), "");
    // Another key: what was said with the one before is not said of this one.
    await page.getByLabel("Public key of who signed it").fill("RWQ");
    await page.getByText("HOLDS").waitFor({ state: "detached" });
    assert.deepEqual(errors, []);
  } finally {
    await server.end();
  }
});

test("a green “fits its data” stayed after an edit", { timeout: 120_000 }, async () => {
  const server = await serve();
  try {
    await people(server);
    const { page } = await enter(browser, server);
    await page.goto(`${server.origin}/#/policy?policy=policy.toml`);
    const fits = page.getByText("The policy fits its data.");
    const old = page.getByText("The policy was edited since: this was said of its earlier text.");
    const check = () => page.getByRole("button", { name: "Check it with its data" }).click();
    await check();
    await fits.waitFor(LONG);
    assert.equal(await old.count(), 0);
    await page.getByLabel("at least so many people fit (k)").fill("4");
    await page.getByLabel("at least so many people fit (k)").press("Tab");
    await old.first().waitFor(LONG);
    assert.equal(await fits.count(), 0);
    await shot(page, "policy-old-full");
    // Nor after it was loaded again, nor where the data changed.
    await page.reload();
    await old.first().waitFor(LONG);
    await check();
    await fits.waitFor(LONG);
    await page.reload();
    await fits.waitFor(LONG);
    await writeFile(join(server.folder, "people.ndjson"), '{"town":"Ulm","note":"a"}\n'.repeat(80));
    await page.reload();
    await page.getByText("Its data or its hierarchies changed since").waitFor(LONG);
    assert.equal(await fits.count(), 0);
    // A verdict about a publication, likewise.
    await page.goto(`${server.origin}/#/result?policy=policy.toml`);
    await page.getByRole("button", { name: "Publish and verify" }).click();
    await page.getByText(/^HOLDS: 80 records/).waitFor(LONG);
    await writeFile(join(server.folder, "policy.toml"), POLICY.replace("k = 3", "k = 2"));
    await page.reload();
    await page.getByText(/HELD when it was published: 80 records/).waitFor(LONG);
    assert.equal(await page.getByText(/HOLDS/).count(), 0);
    await shot(page, "result-old-full");
  } finally {
    await server.end();
  }
});

test("a reload lost the job that ran, and a second tab did not know of it", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    await command("generate", "clinic", "--people", "3000", "--out", join(server.folder, "clinic"));
    const { page, context } = await enter(browser, server);
    const place = `${server.origin}/#/tradeoff?policy=clinic%2Fpolicy.toml`;
    await page.goto(place);
    await page.getByLabel("k", { exact: true }).fill("2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20");
    await page.getByRole("button", { name: "Compare" }).click();
    const stop = (tab) => tab.getByRole("button", { name: "Stop", exact: true });
    await stop(page).waitFor(LONG);
    await page.reload();
    await stop(page).waitFor(LONG);
    const second = await context.newPage();
    await second.goto(place);
    await stop(second).waitFor(LONG);
    await second.getByRole("table", { name: /combinations?/ }).waitFor(LONG);
    // One and the same attacker for all of them.
    await second.getByText(/All of them are attacked by somebody who knows up to 2 values of a person and 1 relation/).waitFor(LONG);
    await shot(second, "tradeoff-same-full");
    await stop(second).click();
    await page.getByText("Stopped; nothing was written.").waitFor(LONG);
    await second.getByText("Stopped; nothing was written.").waitFor(LONG);
  } finally {
    await server.end();
  }
});

test("a file is saved by a click, though no cookie tells who clicks", { timeout: 120_000 }, async () => {
  const server = await serve();
  try {
    await demo(server.folder);
    const { page, context, errors } = await enter(browser, server);
    await page.getByRole("heading", { name: "Project" }).waitFor();
    assert.ok(!page.url().includes("token"), page.url());
    assert.deepEqual(await context.cookies(), []);
    await page.goto(`${server.origin}/#/publish?policy=bosket-demo%2Fpolicy.toml`);
    await page.getByLabel("I have read what is not claimed").check();
    const saved = page.waitForEvent("download");
    await page.getByRole("link", { name: "bosket-demo/published.ndjson", exact: true }).click();
    const download = await saved;
    assert.equal(download.suggestedFilename(), "published.ndjson");
    assert.ok((await download.path()).length > 0);
    assert.deepEqual(errors, []);
  } finally {
    await server.end();
  }
});
