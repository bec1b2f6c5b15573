// A person's whole way, by roles and labels only.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { demo, enter, launch, serve, violations } from "./serve.mjs";

const shots = process.env.BOSKET_SCREENSHOTS;
const shot = async (page, name) => shots && (await page.screenshot({ path: join(shots, `${name}.png`), fullPage: false }));
const LONG = { timeout: 60_000 };

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

test("from an empty folder to a checked publication", { timeout: 240_000 }, async () => {
  const server = await serve();
  try {
    const { page, errors } = await enter(browser, server);
    await page.getByRole("heading", { name: "Project" }).waitFor();
    await page.getByText("Nothing is here yet").waitFor();
    await shot(page, "empty");
    await page.getByRole("button", { name: "Start with the example" }).click();
    await page.getByText("bosket demo bosket-demo").waitFor();
    const policies = page.getByRole("table", { name: "Policies" });
    await policies.getByText("published and verified").waitFor(LONG);
    await shot(page, "project");

    await page.getByRole("link", { name: "bosket-demo/data.ndjson" }).click();
    await page.getByRole("heading", { name: "2,000 records" }).waitFor(LONG);
    await page.getByRole("cell", { name: "identifying" }).first().waitFor();
    await shot(page, "look");

    await page.getByLabel("Draft a policy as").fill("bosket-demo/own.toml");
    await page.getByRole("button", { name: "Draft", exact: true }).click();
    await page.getByRole("heading", { name: "Policy" }).waitFor(LONG);
    await page.getByText("If it holds:").waitFor();
    await page.getByLabel("at least so many people fit (k)").fill("4");
    await page.getByLabel("at least so many people fit (k)").press("Tab");
    await page.getByText("at least 4 people").waitFor();
    const text = await readFile(join(server.folder, "bosket-demo/own.toml"), "utf8");
    assert.match(text, /k = 4/);
    await shot(page, "policy");

    await page.goto(`${server.origin}/#/policy?policy=bosket-demo%2Fpolicy.toml`);
    await page.getByRole("link", { name: "Hierarchies" }).click();
    await page.getByLabel("Attribute").selectOption("home.town");
    await page.getByRole("tree").waitFor(LONG);
    await page.getByRole("button", { name: /North: 4 values/ }).click();
    await page.getByText(/Harbourside: 1 value/).waitFor();
    await page.getByRole("button", { name: "Draw what is published" }).click();
    await page.getByText(/published \d+ times/).first().waitFor(LONG);
    await shot(page, "hierarchies");

    await page.getByRole("link", { name: "Trade-off" }).click();
    await page.getByLabel("k", { exact: true }).fill("2, 5");
    await page.getByLabel("m", { exact: true }).fill("1, 2");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByRole("table", { name: "4 combinations" }).waitFor(LONG);
    await page.getByRole("button", { name: "Take m = 2, k = 5" }).click();
    await page.getByText("The policy now says").waitFor();
    await shot(page, "tradeoff");

    await page.getByRole("link", { name: "Result" }).click();
    await page.getByLabel("replace what is there").check();
    await page.getByRole("button", { name: "Publish and verify" }).click();
    await page.getByText(/^HOLDS: 2000 records/).waitFor(LONG);
    await page.getByRole("table", { name: /Who is found/ }).waitFor(LONG);
    await page.getByRole("button", { name: "List what is coarser than it was" }).click();
    const attribute = page.getByLabel("Published attribute");
    await attribute.waitFor(LONG);
    await attribute.selectOption({ index: 1 });
    await page.getByLabel("Published label").selectOption({ index: 1 });
    await page.getByRole("button", { name: "Why not finer?" }).click();
    const told = page.getByText(/published [\d,]+ times: one step finer/);
    await told.waitFor(LONG);
    await told.scrollIntoViewIfNeeded();
    await shot(page, "result");

    await page.getByRole("link", { name: "Publish", exact: true }).click();
    await page.getByLabel("I have read what is not claimed").check();
    await page.getByRole("link", { name: "bosket-demo/published.ndjson", exact: true }).waitFor();
    await shot(page, "publish");
    assert.deepEqual(errors, []);

    // Somebody else, with nothing but the files.
    const other = await mkdtemp(join(tmpdir(), "bosket-check-"));
    for (const name of ["published.ndjson", "published.ndjson.certificate.json"]) {
      await copyFile(join(server.folder, "bosket-demo", name), join(other, name));
    }
    const checker = await serve(other, "--check");
    try {
      const second = await enter(browser, checker);
      await second.page.getByRole("button", { name: "Check" }).click();
      await second.page.getByText("HOLDS").waitFor(LONG);
      await second.page.getByText("AS CERTIFIED").first().waitFor();
      await shot(second.page, "check");
      assert.equal(await second.page.getByRole("link", { name: "Project" }).count(), 0);
      const forged = (await readFile(join(other, "published.ndjson"), "utf8")).replace(/\n.*?\n/, "\n");
      await writeFile(join(other, "published.ndjson"), forged);
      await second.page.getByRole("button", { name: "Check" }).click();
      await second.page.getByText("NOT AS CERTIFIED").waitFor(LONG);
    } finally {
      await checker.end();
    }
  } finally {
    await server.end();
  }
});

test("no page has anything that axe finds, light and dark", { timeout: 240_000 }, async () => {
  const server = await serve();
  try {
    await demo(server.folder);
    for (const colorScheme of ["light", "dark"]) {
      const { page, context } = await enter(browser, server.entered ? { address: server.origin } : server, { colorScheme });
      if (!server.entered) server.entered = await context.cookies();
      else {
        await context.addCookies(server.entered);
        await page.goto(server.origin);
      }
      const policy = "policy=bosket-demo%2Fpolicy.toml";
      const pages = ["project", "look?data=bosket-demo%2Fdata.ndjson"];
      for (const name of ["policy", "hierarchies", "tradeoff", "result", "publish", "check"]) pages.push(`${name}?${policy}`);
      for (const place of pages) {
        await page.goto(`${server.origin}/#/${place}`);
        await page.getByRole("heading", { level: 1 }).first().waitFor(LONG);
        await page.waitForTimeout(place.startsWith("look") ? 2500 : 400);
        assert.deepEqual(await violations(page), [], `${place}, ${colorScheme}`);
      }
      await context.close();
    }
  } finally {
    await server.end();
  }
});

test("two tabs cannot overwrite each other", { timeout: 120_000 }, async () => {
  const server = await serve();
  try {
    await demo(server.folder);
    const { page, context } = await enter(browser, server);
    const place = `${server.origin}/#/policy?policy=bosket-demo%2Fpolicy.toml`;
    await page.goto(place);
    const k = (tab) => tab.getByLabel("at least so many people fit (k)");
    await k(page).waitFor();
    const second = await context.newPage();
    await second.goto(place);
    await k(second).waitFor();
    await k(page).fill("7");
    await k(page).press("Tab");
    await page.getByText("at least 7 people").waitFor();
    await k(second).fill("9");
    await k(second).press("Tab");
    await second.getByText("somebody else changed this policy").waitFor();
    assert.match(await readFile(join(server.folder, "bosket-demo/policy.toml"), "utf8"), /k = 7/);
    await second.getByRole("button", { name: "Load it again" }).click();
    await second.getByText("at least 7 people").waitFor();
  } finally {
    await server.end();
  }
});

test("a broken policy, a stopped job, a server that is gone", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    await demo(server.folder);
    const { page } = await enter(browser, server);
    await page.goto(`${server.origin}/#/policy?policy=bosket-demo%2Fpolicy.toml`);
    const file = page.getByLabel("The file");
    await file.waitFor();
    const good = await file.inputValue();
    await file.fill(good.replace('model = "kmn"', 'model = "knm" # <script>alert(1)</script>'));
    await page.getByRole("button", { name: "Save the text" }).click();
    await page.getByText("Nothing is claimed yet").waitFor();
    await page.getByText(/policy.toml:\d+/).first().waitFor();
    assert.match(await readFile(join(server.folder, "bosket-demo/policy.toml"), "utf8"), /<script>/);
    await file.fill(good);
    await page.getByRole("button", { name: "Save the text" }).click();
    await page.getByText("If it holds:").waitFor();

    await page.goto(`${server.origin}/#/tradeoff?policy=bosket-demo%2Fpolicy.toml`);
    await page.getByLabel("k", { exact: true }).fill("2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20");
    const files = (await readdir(join(server.folder, "bosket-demo"))).sort();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByRole("table", { name: /combinations/ }).waitFor(LONG);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped; nothing was written.").waitFor(LONG);
    assert.ok((await page.getByRole("row").count()) > 1, "what was verified stays");
    assert.deepEqual((await readdir(join(server.folder, "bosket-demo"))).sort(), files);

    server.kill();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByText("The server has ended").waitFor(LONG);
  } finally {
    await server.end();
  }
});

test("three hundred attributes stay usable, and what they say is text", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    const names = Array.from({ length: 300 }, (_, i) => `a${i}`);
    names[0] = "<script>x</script>";
    const rows = Array.from({ length: 40 }, (_, r) => JSON.stringify(Object.fromEntries(names.map((name, i) => [name, (r * i) % 7]))));
    await mkdir(join(server.folder, "wide"));
    await writeFile(join(server.folder, "wide/data.ndjson"), `${rows.join("\n")}\n`);
    const { page, errors } = await enter(browser, server);
    await page.goto(`${server.origin}/#/look?data=wide%2Fdata.ndjson`);
    await page.getByRole("table", { name: "300 attributes" }).waitFor(LONG);
    await page.getByRole("button", { name: "Draft", exact: true }).click();
    await page.getByRole("heading", { name: "Policy" }).waitFor(LONG);
    await page.getByLabel("Search attributes").fill("a29");
    await page.getByLabel("Choose all that are listed").check();
    const begun = Date.now();
    await page.getByLabel(/Role of the \d+ chosen/).selectOption("insensitive");
    await page.getByRole("row", { name: /a299/ }).getByText("insensitive").first().waitFor();
    assert.ok(Date.now() - begun < 5_000);
    const text = await readFile(join(server.folder, "wide/policy.toml"), "utf8");
    assert.ok((text.match(/insensitive/g) ?? []).length >= 11);
    assert.deepEqual(errors, []);
    assert.ok(existsSync(join(server.folder, "wide/policy.toml")));
  } finally {
    await server.end();
  }
});
