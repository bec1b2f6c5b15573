// Whatever files and people say is text, wherever it is shown.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { enter, launch, long as LONG, serve } from "./serve.mjs";

const EVIL = '<script>window.hit=1</script><img src=x onerror="window.hit=2">';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

test("a script in every text field is text", { timeout: 240_000 }, async () => {
  const server = await serve();
  try {
    const town = (i) => `${EVIL} ${i % 3}`;
    const rows = Array.from({ length: 60 }, (_, i) => ({ [`town ${EVIL}`]: town(i), note: EVIL, age: 20 + (i % 4) }));
    await writeFile(join(server.folder, `data <b>.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const tree = [0, 1, 2].map((i) => `"${town(i).replaceAll('"', '""')}";"${EVIL.replaceAll('"', '""')}";*\n`).join("");
    await writeFile(join(server.folder, "tree.csv"), tree);
    const { page, errors } = await enter(browser, server);
    const missing = [];
    page.on("response", (answer) => answer.status() === 404 && missing.push(new URL(answer.url()).pathname));
    const isUnhit = async () => {
      assert.equal(await page.evaluate(() => window.hit), undefined);
      assert.equal(await page.locator("main img, main script, nav b, main b:has(script)").count(), 0);
    };
    await page.getByLabel("Show values").check();
    await page.getByRole("link", { name: "data <b>.ndjson" }).first().click();
    await page.getByRole("heading", { name: "60 people" }).waitFor(LONG);
    await page.getByText(/<script>window/).first().waitFor(LONG);
    await isUnhit();
    await page.getByText("All settings").click();
    await page.getByRole("link", { name: "Look", exact: true }).click();
    await page.getByRole("heading", { name: "60 records" }).waitFor(LONG);
    await page.getByRole("cell", { name: /<script>window/ }).first().waitFor(LONG);
    await page.getByText(/can find .* of all people alone/).waitFor(LONG);
    await isUnhit();
    await page.getByLabel("Search attributes").fill(EVIL);
    await page.getByLabel("Search attributes").fill("");
    await page.getByLabel("Draft a policy as").fill("own <i>.toml");
    await page.getByRole("button", { name: "Draft", exact: true }).click();
    await page.getByRole("heading", { name: "Policy" }).waitFor(LONG);
    await page.getByText("If it holds:").waitFor();
    await page.getByLabel("Role of note").selectOption("insensitive");
    await page.getByRole("row", { name: /note/ }).getByText("insensitive").first().waitFor();
    await page.getByLabel(/^Role of .*town/).selectOption("quasi");
    await page.getByRole("link", { name: "Hierarchies", exact: true }).click();
    // The page before has something of that name, too.
    const attribute = page.locator("label:has-text('Attribute') select");
    await attribute.locator("option").first().waitFor({ state: "attached" });
    const named = await attribute.locator("option").allTextContents();
    await attribute.selectOption(named.find((name) => name.includes("town")));
    await page.getByText("Build it, or take a file").waitFor(LONG);
    await page.getByText("Build it, or take a file").click();
    await page.getByLabel("CSV file of the folder").selectOption("tree.csv");
    await page.getByRole("button", { name: "Take the file" }).click();
    await page.getByText("Change tree.csv").waitFor(LONG);
    await page.getByRole("button", { name: /script/ }).first().waitFor(LONG);
    await page.getByText("Change tree.csv").click();
    await page.getByLabel("Label", { exact: true }).fill(EVIL);
    await page.getByLabel("New label").fill(`${EVIL}!`);
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("button", { name: /onerror="window.hit=2">!/ }).waitFor(LONG);
    await isUnhit();
    await page.getByRole("link", { name: "3 What comes out", exact: true }).click();
    await page.getByRole("button", { name: "Publish and verify" }).click();
    await page.getByText(/^HOLDS: 60 records/).waitFor(LONG);
    await page.getByRole("heading", { name: /Record .* before and after/ }).first().waitFor(LONG);
    await page.getByRole("heading", { name: "What it cost" }).waitFor(LONG);
    await isUnhit();
    await page.getByRole("link", { name: "on to publishing" }).click();
    await page.getByLabel("I have read what is not claimed").check();
    await page.getByLabel("Why note is published as it is").fill(EVIL);
    await page.getByLabel("Why note is published as it is").press("Tab");
    for (const name of ["Who receives it", "For what", "What else binds them", "Who decided the roles", "Who approves it"]) {
      await page.getByLabel(name).fill(EVIL);
      await page.getByLabel(name).press("Tab");
      await page.waitForTimeout(150);
    }
    await page.getByRole("button", { name: "Show the annex" }).click();
    await page.locator(".report").getByText("window.hit").first().waitFor(LONG);
    await isUnhit();
    const text = await readFile(join(server.folder, "own <i>.toml"), "utf8");
    assert.ok(text.includes("why = ") && text.includes("[release]"), text);
    // Nothing was looked for that is not there.
    assert.deepEqual([...new Set(missing)], []);
    assert.deepEqual(errors, []);
  } finally {
    await server.end();
  }
});
