// The three steps of whoever comes first, and what they need: words that are explained, hierarchies by buttons, packages.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { demo, enter, job, launch, long as LONG, serve, shot, violations } from "./serve.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const OF_POLICY = "policy=bosket-demo%2Fpolicy.toml";

test("from data to a package in three steps, and no value of a person on the way", { timeout: 240_000 }, async () => {
  const server = await serve();
  try {
    await demo(server.folder);
    await copyFile(join(server.folder, "bosket-demo/data.ndjson"), join(server.folder, "people.ndjson"));
    const { page, errors } = await enter(browser, server);
    const main = page.getByRole("main");
    const hasNoValues = async () => assert.doesNotMatch(await main.innerText(), /Harbourside|p0001|Oakham/);
    await page.getByRole("link", { name: "people.ndjson", exact: true }).click();
    await page.getByRole("heading", { name: "1,000 people" }).waitFor(LONG);
    await page.getByText(/can find .* of all people alone: about [\d,]+ of 1,000 people/).waitFor(LONG);
    await page.getByRole("img", { name: /The raw data: \d+ of 100 people are found alone/ }).waitFor();
    await page.getByRole("listitem").filter({ hasText: "birth_year" }).getByText("may be known: made coarser").waitFor();
    await hasNoValues();
    assert.deepEqual(await violations(page), []);
    await shot(page, "data");
    await page.getByRole("button", { name: "Begin with these proposals" }).click();
    await page.getByLabel("Role of gender", { exact: true }).selectOption("drop", LONG);
    const file = () => readFile(join(server.folder, "policy.toml"), "utf8");
    await page.waitForFunction(() => document.querySelector('[aria-label="Columns"] .role-drop'));
    assert.match(await file(), /path\s*= "gender"\nrole\s*= "drop"/);
    // Named after its data.
    assert.match(await file(), /path\s*= "people\.published\.ndjson"/);
    assert.deepEqual(await violations(page), []);

    await page.getByRole("listitem").filter({ hasText: "birth_year" }).getByRole("link", { name: "How it is made coarser" }).click();
    await page.getByText(/^steps of \d+: \d+ labels/).first().waitFor(LONG);
    await page.getByRole("link", { name: "1 Your data" }).click();
    await page.getByRole("link", { name: "who may know what", exact: true }).click();
    await page.getByRole("group", { name: "neighbour" }).waitFor(LONG);
    const slider = page.getByRole("slider");
    await slider.focus();
    await slider.press("ArrowRight");
    await page.getByText("At least 9 other people fit whatever somebody knows").waitFor();
    assert.match(await file(), /^k\s*= 10$/m);
    await slider.press("ArrowLeft");
    await page.getByText("At least 4 other people fit whatever somebody knows").waitFor();
    assert.match(await file(), /^k\s*= 5$/m);
    await page.getByRole("button", { name: "What each would cost" }).click();
    await page.getByRole("list", { name: "What each would cost" }).getByText(/of the detail is kept/).first().waitFor(LONG);
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached", ...LONG });
    assert.deepEqual(await violations(page), []);
    await shot(page, "who");

    await page.getByRole("link", { name: "On to what comes out" }).click();
    await page.getByRole("button", { name: "Publish and verify" }).click();
    await page.getByText(/^HOLDS: 1,000 records/).waitFor(LONG);
    await page.getByRole("heading", { name: "The worst attacker" }).waitFor(LONG);
    await page.getByRole("img", { name: "What comes out: 0 of 100 people are found alone" }).waitFor(LONG);
    await page.getByRole("heading", { name: "What is kept" }).waitFor();
    await page.getByRole("table", { name: /Three invented records/ }).waitFor(LONG);
    await page.getByText(/\d %.* coarser/).first().waitFor();
    await page.getByRole("heading", { name: "What it cost" }).waitFor(LONG);
    const tall = await page.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(tall < 4000, `${tall} pixels tall`);
    assert.deepEqual(await violations(page), []);

    await page.getByRole("link", { name: "Sign it and hand it over" }).click();
    for (const audience of ["receiver", "officer"]) {
      const button = page.getByRole("button", { name: `Package for the ${audience}` });
      await button.waitFor(LONG);
      if (audience === "receiver") {
        assert.ok(await button.isDisabled(), "nothing is packed before it was read");
        await page.getByLabel("I have read what is not claimed").check();
      }
      const saved = page.waitForEvent("download");
      await button.click();
      assert.equal((await saved).suggestedFilename(), `people.published.ndjson.${audience}.zip`);
    }
    const listed = (audience) => {
      const zip = join(server.folder, `people.published.ndjson.${audience}.zip`);
      const script = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print('\\n'.join(z.namelist())); print(z.read(z.namelist()[0]).decode())";
      const { stdout, stderr } = spawnSync("python3", ["-c", script, zip], { encoding: "utf8" });
      assert.equal(stderr, "");
      return stdout;
    };
    const receiver = listed("receiver");
    for (const name of ["people.published.ndjson", "people.published.ndjson.certificate.json", "HOW-TO-CHECK.txt"]) assert.match(receiver, new RegExp(`^${name}$`, "m"));
    assert.match(receiver, /1\. Run: bosket verify people\.published\.ndjson --certificate/);
    const officer = listed("officer");
    assert.doesNotMatch(officer, /^people\.published\.ndjson$/m);
    assert.match(officer, /What is not promised/);
    assert.deepEqual(errors, []);
  } finally {
    await server.end();
  }
});

test("a word is explained on hover, on tap and by keyboard, in the words of the list at the foot", { timeout: 120_000 }, async () => {
  const server = await serve();
  try {
    await demo(server.folder);
    const { page } = await enter(browser, server, { hasTouch: true });
    await page.getByRole("heading", { name: "Project" }).waitFor(LONG);
    await page.goto(`${server.origin}/#/who?${OF_POLICY}`);
    const said = page.getByText("Somebody who has the publication, knows some things about a person");
    const word = page.getByRole("button", { name: "attacker", exact: true });
    await word.waitFor(LONG);
    // Whoever comes to a page begins at its top.
    await page.waitForFunction(() => document.activeElement?.id === "main");
    assert.equal(await said.count(), 0);
    await word.hover();
    await said.waitFor();
    await page.mouse.move(0, 0);
    await said.waitFor({ state: "detached" });
    await word.tap();
    await said.waitFor();
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press("Escape");
    await said.waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1 }).click();
    await word.focus();
    await said.waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Words", { exact: true }).click();
    await said.waitFor();
  } finally {
    await server.end();
  }
});

test("hierarchies are shaped by buttons and numbers, and drawn with their counts", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    await mkdir(join(server.folder, "own"));
    const rows = Array.from({ length: 60 }, (_, i) => `${JSON.stringify({ born: `19${60 + (i % 30)}-0${1 + (i % 9)}-11`, weight: 40 + i, code: `B01A${"ABC"[i % 3]}` })}\n`);
    await writeFile(join(server.folder, "own/data.ndjson"), rows.join(""));
    const place = join(server.folder, "own/policy.toml");
    const attribute = (path, rule) => `[[attribute]]\npath = "${path}"\nrole = "quasi"\nhierarchy = ${rule}\n`;
    await writeFile(
      place,
      `version = 1\n[source]\nformat = "ndjson"\npath = "data.ndjson"\n${attribute("born", '{ build = "date", min = "1960-01-01", max = "1989-12-31", levels = ["year"] } # mine')}` +
        `${attribute("weight", '{ build = "interval", min = 40, max = 119, widths = [10] }')}${attribute("code", '{ build = "prefix" }')}` +
        '[privacy]\nmodel = "kmn"\nk = 2\nm = 1\nn = 0\n[publish]\npath = "out.ndjson"\n',
    );
    const { page } = await enter(browser, server);
    await page.goto(`${server.origin}/#/hierarchies?policy=own%2Fpolicy.toml`);
    await page.getByLabel("Attribute").selectOption("born");
    const pressed = (name) => page.getByRole("button", { name, exact: true }).getAttribute("aria-pressed");
    await page.getByRole("button", { name: "decade", exact: true }).waitFor(LONG);
    assert.deepEqual([await pressed("dates"), await pressed("year"), await pressed("decade")], ["true", "true", "false"]);
    await page.getByRole("button", { name: "decade", exact: true }).click();
    await page.getByText("decade: 3 labels").waitFor(LONG);
    await page.getByRole("button", { name: "month", exact: true }).click();
    await page.getByText("month: 360 labels, 1960-01 … 1989-12").waitFor(LONG);
    await page.getByRole("button", { name: /1960s: 3653 values, 20 cells|1960s: 3,653 values, 20 cells/ }).waitFor(LONG);
    // The picture has the counts, too.
    await page.locator(".piece", { hasText: "1960s" }).getByText("20", { exact: true }).waitFor();
    assert.match(await readFile(place, "utf8"), /levels = \["month", "year", "decade"\].*\} # mine/);
    await shot(page, "hierarchy-steps");
    await page.getByLabel("Attribute").selectOption("weight");
    await page.getByText("steps of 10: 8 labels").waitFor(LONG);
    await page.getByLabel("step 1: width").fill("4");
    await page.getByLabel("step 1: width").press("Tab");
    await page.getByText("steps of 4: 20 labels").waitFor(LONG);
    await page.getByRole("button", { name: "Add a coarser step" }).click();
    await page.getByText("steps of 8: 10 labels").waitFor(LONG);
    assert.match(await readFile(place, "utf8"), /widths = \[4, ?8\]/);
    // What does not nest is not written.
    await page.getByLabel("step 2: width").fill("9");
    await page.getByLabel("step 2: width").press("Tab");
    await page.getByText("Steps nest: each width is 2, 3, … times the one before.").waitFor();
    assert.match(await readFile(place, "utf8"), /widths = \[4, ?8\]/);
    assert.deepEqual(await violations(page), []);
    await page.getByLabel("Attribute").selectOption("code");
    await page.getByRole("button", { name: "medicines (ATC)" }).click();
    await page.getByText("Codes of medicines (ATC)").waitFor(LONG);
    assert.match(await readFile(place, "utf8"), /build = "atc"/);
    // Values of people are hidden, also at the ends of a tree; groups are made of them.
    await page.getByRole("tree").getByRole("button", { name: /^▸/ }).first().click(LONG);
    await page.getByRole("button", { name: "groups of my own" }).click();
    await page.getByText("Groups are made of values: switch on").waitFor();
    assert.doesNotMatch(await page.getByRole("main").innerText(), /B01A[A-C]/);
    // No TOML unless somebody opens it.
    assert.equal(await page.getByText('build = "atc"').isVisible(), false);
    await page.getByLabel("Show values").check();
    // The tree is read again with its values.
    const add = page.getByRole("button", { name: "Add a group" });
    for (let i = 0; i < 40 && (await add.count()) === 0; i += 1) {
      await page.getByRole("button", { name: "groups of my own" }).click();
      await page.waitForTimeout(250);
    }
    await page.getByText("Every value is in a group.").waitFor({ state: "detached" });
    await add.click();
    await page.getByLabel("Group of B01AA").selectOption("Group 1");
    await page.getByRole("group", { name: "Group 1" }).getByText("B01AA").waitFor(LONG);
    await page.locator("li", { has: page.getByLabel("Group of B01AB") }).dragTo(page.getByRole("group", { name: "Group 1" }), { sourcePosition: { x: 8, y: 8 } });
    await page.getByRole("group", { name: "Group 1" }).getByText("B01AB").waitFor(LONG);
    await page.getByRole("group", { name: "Group 1" }).getByLabel("Name").fill("Low");
    await page.getByRole("group", { name: "Group 1" }).getByLabel("Name").press("Tab");
    await page.getByRole("button", { name: /Low: 2 values, 40 cells/ }).waitFor(LONG);
    assert.match(await readFile(place, "utf8"), /build = "order", groups = \[\{ ?label = "Low", values = \["B01AA", ?"B01AB"\] ?\}, "B01AC"\]/);
    assert.equal(await page.getByText("Nothing is in it yet.").count(), 0);
    await shot(page, "hierarchy-groups-full");
    assert.deepEqual(await violations(page), []);
  } finally {
    await server.end();
  }
});

test("whoever receives a file is told what can be done with it, and what its labels stand for", { timeout: 120_000 }, async () => {
  const server = await serve();
  try {
    await demo(server.folder);
    const checker = await serve(join(server.folder, "bosket-demo"), "--check");
    try {
      const { page, errors } = await enter(browser, checker);
      await page.getByRole("button", { name: "Check", exact: true }).click();
      await page.getByText("AS CERTIFIED").first().waitFor(LONG);
      await page.getByText("Count: there are 1,000 people in it, each once.").waitFor();
      await page.getByText(/Join it with other files by/).waitFor();
      await page.getByText('pd.read_json("published.ndjson", lines=True)').waitFor();
      await page.getByRole("heading", { name: "What the labels stand for" }).click();
      await page.getByText("steps of 40: 3 labels").waitFor();
      await page.getByRole("button", { name: "Draw hierarchies/town.csv" }).click();
      await page.getByRole("tree").getByText(/North: 4 values/).waitFor(LONG);
      assert.deepEqual(await violations(page), []);
      await shot(page, "check-receiver-full");
      // Other jobs stay forbidden.
      await assert.rejects(job(checker, { command: "inspect", data: "data.ndjson" }), /403/);
      assert.deepEqual(errors, []);
    } finally {
      await checker.end();
    }
  } finally {
    await server.end();
  }
});

test("words were broken in the middle on a small screen", { timeout: 180_000 }, async () => {
  const server = await serve();
  try {
    await demo(server.folder);
    const { page } = await enter(browser, server, { viewport: { width: 390, height: 800 } });
    /** Words of letters alone that stand on two lines. */
    const broken = () =>
      page.evaluate(() => {
        const found = [];
        const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
          if (!node.parentElement.checkVisibility()) continue;
          for (const { 0: word, index } of node.textContent.matchAll(/(?<![^\s])[\p{L}]{3,}(?![^\s,.;:])/gu)) {
            const range = document.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) found.push(word);
          }
        }
        return found;
      });
    for (const place of [`data?data=bosket-demo%2Fdata.ndjson`, `data?${OF_POLICY}`, `who?${OF_POLICY}`, `policy?${OF_POLICY}`, `result?${OF_POLICY}`, `publish?${OF_POLICY}`, `check?${OF_POLICY}`, "project"]) {
      await page.goto(`${server.origin}/#/${place}`);
      await page.getByRole("heading", { level: 1 }).first().waitFor(LONG);
      if (place.startsWith("data?data")) await page.getByText(/can find .* of all people alone/).waitFor(LONG);
      if (place.startsWith("result")) {
        await page.getByRole("button", { name: "Look at it again" }).click();
        await page.getByRole("table", { name: /Three invented records/ }).waitFor(LONG);
        await page.getByRole("heading", { name: "What it cost" }).waitFor(LONG);
      }
      if (place.startsWith("check")) {
        await page.getByRole("button", { name: "Check", exact: true }).click();
        await page.getByText("AS CERTIFIED").first().waitFor(LONG);
      }
      await page.waitForTimeout(300);
      assert.deepEqual(await broken(), [], place);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${place}: ${over} pixels too wide`);
      await shot(page, `${place.split("?")[0]}-390-full`);
    }
  } finally {
    await server.end();
  }
});
