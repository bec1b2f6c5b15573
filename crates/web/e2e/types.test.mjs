// What commands print is what the pages take it for: the compiler compares.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { command, printed } from "./serve.mjs";

const ui = fileURLToPath(new URL("../ui", import.meta.url));

test("results have the types that pages read", { timeout: 240_000 }, async () => {
  const place = await mkdtemp(join(tmpdir(), "bosket-types-"));
  const source = join(ui, "src/compared.ts");
  try {
    const at = (name) => join(place, "d", name);
    await command("demo", join(place, "d"), "--people", "600");
    const policy = at("policy.toml");
    const certificate = at("published.ndjson.certificate.json");
    const commands = [
      ["Looked", ["inspect", at("data.ndjson"), "--risk", "--show-values"]],
      ["Attacked", ["attack", "--policy", policy]],
      ["Released", ["anonymize", policy, "--force"]],
      ["Row[]", ["sweep", policy, "--k", "2,500", "--m", "1"]],
      ["Listed", ["why", policy]],
      ["NotFiner", ["why", policy, "--path", "birth_year", "--label", "*"]],
      ["TreeNode", ["hierarchy", "show", "--policy", policy, "--path", "home.town"]],
      ["Checked", ["verify", at("published.ndjson"), "--certificate", certificate]],
      ["Checked", ["verify", at("data.ndjson"), "--policy", policy]],
      ["Made", ["certificate", "keygen", "--out", at("own.key"), "--passphrase-fd", "0"], "secret words\n"],
      ["Signed", ["certificate", "sign", certificate, "--key", at("own.key"), "--passphrase-fd", "0"], "secret words\n"],
      ["Checked", ["verify", at("published.ndjson"), "--certificate", certificate, "--key", at("own.pub")]],
    ];
    const lines = ['import type * as R from "./results";'];
    for (const [type, words, input] of commands) {
      const { code, out } = await printed([...words, "--json"], input);
      if (type === "NotFiner" && code !== 0) continue;
      assert.ok(code === 0 || code === 1, `${words.join(" ")}: ${code}`);
      lines.push(`const v${lines.length} = ${out.trim()};`, `export const t${lines.length}: R.${type} = v${lines.length};`);
    }
    lines.push(`const c = ${await readFile(certificate, "utf8")};`, "export const certificate: R.Certificate = c;");
    await writeFile(source, lines.join("\n"));
    const { status, stdout } = spawnSync(process.execPath, [join(ui, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", ui], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
    // It can fail.
    await writeFile(source, lines.join("\n").replaceAll('"records": ', '"recorded": '));
    const wrong = spawnSync(process.execPath, [join(ui, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", ui], { encoding: "utf8" });
    assert.notEqual(wrong.status, 0);
  } finally {
    await rm(source, { force: true });
    await rm(place, { recursive: true, force: true });
  }
});
