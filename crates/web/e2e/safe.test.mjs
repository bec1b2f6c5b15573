// The forbidden requests, each made.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ask as askServer, asProgram, command, demo, job as runJob, serve } from "./serve.mjs";

let server;
before(async () => {
  server = await serve();
  await mkdir(join(server.folder, "in"));
  await writeFile(join(server.folder, "in/data.ndjson"), '{"a":1}\n');
  await symlink("/etc/hostname", join(server.folder, "link"));
});
after(() => server?.end());

const ask = (path, options) => askServer(server, path, options);
const bearer = () => ({ authorization: `Bearer ${server.token}` });
const json = { "content-type": "application/json" };

test("it listens on this machine only", async () => {
  const { port } = new URL(server.origin);
  const others = Object.values((await import("node:os")).networkInterfaces()).flat();
  for (const other of others.filter((one) => one.family === "IPv4" && !one.internal)) {
    const refused = await new Promise((resolve) => {
      const socket = connect({ host: other.address, port: Number(port) });
      socket.on("connect", () => resolve(false));
      socket.on("error", () => resolve(true));
    });
    assert.ok(refused, other.address);
  }
});

test("nobody enters without the secret, and the address works once", async () => {
  for (const path of ["/", "/app.js", "/api/project", `/?token=${"0".repeat(64)}`]) {
    assert.equal((await ask(path)).status, 401, path);
  }
  assert.equal((await ask("/api/project", { headers: { authorization: `Bearer ${server.token.slice(1)}` } })).status, 401);
  const first = await ask(`/?token=${server.token}`);
  assert.equal(first.status, 303);
  const cookie = first.headers["set-cookie"][0];
  assert.match(cookie, /^bosket-\d+=[0-9a-f]{64}; HttpOnly; SameSite=Strict/);
  assert.ok(!cookie.includes(server.token));
  assert.equal((await ask(`/?token=${server.token}`)).status, 401);
  assert.equal((await ask("/api/project", { headers: { cookie: cookie.split(";")[0] } })).status, 200);
});

test("a name that was rebound to this machine is refused", async () => {
  const { port } = new URL(server.origin);
  for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1", "127.0.0.1:1", `127.0.0.1.evil.example:${port}`]) {
    assert.equal((await ask("/api/project", { headers: { ...bearer(), host } })).status, 421, host);
  }
  for (const host of [`localhost:${port}`, `[::1]:${port}`]) {
    assert.equal((await ask("/api/project", { headers: { ...bearer(), host } })).status, 200, host);
  }
});

test("other pages change nothing, and only JSON is taken", async () => {
  const body = JSON.stringify({ command: "inspect", data: "in/data.ndjson" });
  const post = (headers) => ask("/api/jobs", { method: "POST", headers: { ...bearer(), ...headers }, body });
  assert.equal((await post({ ...json, origin: "http://evil.example" })).status, 403);
  assert.equal((await post({ ...json, origin: "null" })).status, 403);
  assert.equal((await post({ ...json, origin: server.origin.replace("http:", "https:") })).status, 403);
  assert.equal((await post({ "content-type": "text/plain", origin: server.origin })).status, 415);
  assert.equal((await post({ ...json, origin: server.origin })).status, 201);
  const answer = await ask("/api/project", { headers: { ...bearer(), origin: "http://evil.example" } });
  assert.ok(!Object.keys(answer.headers).some((name) => name.startsWith("access-control")));
});

test("every answer says what a page may load", async () => {
  for (const path of ["/", "/app.js", "/api/project", "/nowhere"]) {
    const { headers } = await ask(path, { headers: bearer() });
    assert.equal(
      headers["content-security-policy"],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    );
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.equal(headers["cache-control"], "no-store");
  }
});

test("no file outside of the folder is read, written or run", async () => {
  for (const path of ["/etc/hostname", "../../etc/hostname", "link", "in/../../x"]) {
    const answer = await ask(`/api/file?path=${encodeURIComponent(path)}`, { headers: bearer() });
    assert.ok([403, 404].includes(answer.status), `${path}: ${answer.status}`);
  }
  const upload = (path) =>
    ask(`/api/upload?path=${encodeURIComponent(path)}`, {
      method: "POST",
      headers: { ...bearer(), origin: server.origin, "content-type": "application/octet-stream" },
      body: "x",
    });
  assert.equal((await upload("../out.txt")).status, 403);
  assert.equal((await upload("in/data.ndjson")).status, 409);
  assert.equal((await upload("in/brought.toml")).status, 403, "policies may name databases");
  assert.equal((await upload("new.txt")).status, 201);
  assert.equal((await stat(join(server.folder, "new.txt"))).mode & 0o077, 0);
  const job = (command) =>
    ask("/api/jobs", { method: "POST", headers: { ...bearer(), ...json, origin: server.origin }, body: JSON.stringify(command) });
  assert.equal((await job({ command: "inspect", data: "/etc/hostname" })).status, 403);
  assert.equal((await job({ command: "shell", line: "true" })).status, 422);
  for (const text of [
    '[source]\nformat = "ndjson"\npath = "/etc/hostname"\n',
    '[source]\nformat = "ndjson"\npath = "data.ndjson"\n[publish]\npath = "../../../tmp/out.ndjson"\n',
    '[source]\nformat = "ndjson"\npath = "data.ndjson"\n[[attribute]]\npath = "a"\nhierarchy = "/etc/passwd"\n',
  ]) {
    await writeFile(join(server.folder, "in/policy.toml"), text);
    assert.equal((await job({ command: "check", policy: "in/policy.toml" })).status, 403, text);
  }
});

test("a hierarchy is changed inside of the folder only, over nobody else's change, and never data", async () => {
  const put = (version) =>
    ask("/api/hierarchies", {
      method: "PUT",
      headers: { ...bearer(), ...json, origin: server.origin },
      body: JSON.stringify({ policy: "in/tree.toml", attribute: "a", version, edit: { rename: { label: "A", to: "B" } } }),
    });
  const see = () => ask("/api/hierarchies?policy=in%2Ftree.toml&attribute=a", { headers: bearer() });
  const say = (source, hierarchy) =>
    writeFile(
      join(server.folder, "in/tree.toml"),
      `version = 1\n[source]\nformat = "csv"\npath = "${source}"\n[[attribute]]\npath = "a"\nrole = "quasi"\nhierarchy = "${hierarchy}"\n`,
    );
  await writeFile(join(server.folder, "in/tree.csv"), "x;A;*\ny;A;*\n");
  await say("data.csv", "/etc/passwd");
  assert.equal((await see()).status, 403);
  assert.equal((await put("")).status, 403);
  await say("tree.csv", "../in/tree.csv");
  assert.equal((await put("")).status, 400);
  await say("data.csv", "tree.csv");
  assert.equal((await put("")).status, 409);
  assert.equal((await put(JSON.parse((await see()).text).version)).status, 200);
});

test("addresses of databases do not come from the page", async () => {
  const text = 'version = 1\n[source]\nformat = "postgres"\nurl = "postgres://a@localhost/b"\n';
  await writeFile(join(server.folder, "in/db.toml"), text);
  const policy = JSON.parse((await ask("/api/policy?path=in%2Fdb.toml", { headers: bearer() })).text);
  const put = (body) =>
    ask("/api/policy", { method: "PUT", headers: { ...bearer(), ...json, origin: server.origin }, body: JSON.stringify(body) });
  const other = { path: "in/db.toml", version: policy.version, text: text.replace("localhost", "elsewhere") };
  assert.equal((await put(other)).status, 403);
  const edits = [{ key: "source.url", value: "postgres://elsewhere" }];
  assert.equal((await put({ path: "in/db.toml", version: policy.version, edits })).status, 403);
  // Nor by a file that was brought, nor where a path stands, and what looks like a password is not shown.
  await writeFile(join(server.folder, "in/db.txt"), text);
  const job = (policy) =>
    ask("/api/jobs", { method: "POST", headers: asProgram(server), body: JSON.stringify({ command: "check", policy }) });
  assert.equal((await job("in/db.txt")).status, 403);
  await writeFile(join(server.folder, "in/path.toml"), text.replace("url =", "path ="));
  assert.equal((await job("in/path.toml")).status, 403);
  await writeFile(join(server.folder, "in/secret.toml"), text.replace("a@", "a:geheim@"));
  const shown = await ask("/api/policy?path=in%2Fsecret.toml", { headers: bearer() });
  assert.equal(shown.status, 200);
  assert.ok(!shown.text.includes("geheim"), shown.text);
  const listed = await ask("/api/project", { headers: bearer() });
  assert.ok(!listed.text.includes("geheim"));
});

test("bodies are bounded", async () => {
  const body = JSON.stringify({ command: "inspect", data: "x".repeat(2 << 20) });
  const answer = await ask("/api/jobs", { method: "POST", headers: { ...bearer(), ...json, origin: server.origin }, body });
  assert.equal(answer.status, 413);
  // It is refused by its length, before anything of it comes.
  const { port } = new URL(server.origin);
  const head = ["POST /api/upload?path=large.bin HTTP/1.1", `host: 127.0.0.1:${port}`, `authorization: Bearer ${server.token}`];
  head.push(`origin: ${server.origin}`, "content-type: application/octet-stream", `content-length: ${5 * 2 ** 30}`, "", "");
  const said = await new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: Number(port) });
    socket.on("data", (piece) => (resolve(String(piece)), socket.destroy()));
    socket.on("error", reject);
    socket.write(head.join("\r\n"));
  });
  assert.match(said, /^HTTP\/1.1 413/);
  await assert.rejects(stat(join(server.folder, "large.bin")));
});

/** Opens a stream of events; what it answers, and what came within a moment. */
const listen = (id, headers = {}) =>
  fetch(`${server.origin}/api/jobs/${id}/events`, { headers: { ...bearer(), ...headers } });

/** The events of a job that is over. */
const events = async (id, headers) => {
  const text = await (await listen(id, headers)).text();
  return text
    .split("\n\n")
    .filter((piece) => piece.includes("data:"))
    .map((piece) => ({ id: Number(/^id: ?(\d+)$/m.exec(piece)[1]), data: JSON.parse(/^data: ?(.*)$/m.exec(piece)[1]) }));
};

test("events go on after the last that was heard", async () => {
  const { id } = await runJob(server, { command: "inspect", data: "in/data.ndjson" });
  const all = await events(id);
  assert.deepEqual(all.map((event) => event.data.state).filter(Boolean), ["running", "done"]);
  const rest = await events(id, { "last-event-id": String(all[0].id) });
  assert.deepEqual(rest, all.slice(1));
  assert.deepEqual(await events(id, { "last-event-id": String(all.at(-1).id) }), []);
});

test("few streams are open at once, and a job that is stopped says so", { timeout: 60_000 }, async () => {
  // It waits for something to read for ever.
  await command("generate", "clinic", "--people", "3000", "--out", join(server.folder, "clinic"));
  const start = await ask("/api/jobs", {
    method: "POST",
    headers: asProgram(server),
    body: JSON.stringify({ command: "sweep", policy: "clinic/policy.toml", k: [2, 3, 4, 5, 6, 7, 8, 9, 10], m: [1, 2, 3] }),
  });
  const { id } = JSON.parse(start.text);
  const streams = [];
  for (let i = 0; i < 16; i += 1) streams.push(await listen(id));
  assert.ok(streams.every((stream) => stream.status === 200));
  assert.equal((await listen(id)).status, 503);
  await Promise.all(streams.map((stream) => stream.body.cancel()));
  const stop = await ask(`/api/jobs/${id}/cancel`, { method: "POST", headers: asProgram(server), body: "{}" });
  assert.equal(stop.status, 200);
  for (let i = 0; ; i += 1) {
    const { state } = JSON.parse((await ask(`/api/jobs/${id}`, { headers: bearer() })).text);
    if (state === "stopped") break;
    assert.ok(i < 200, state);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal((await listen(id)).status, 200);
});

test("folders of jobs are for nobody else, and end with the server", { timeout: 60_000 }, async () => {
  const place = await mkdtemp(join(tmpdir(), "bosket-places-"));
  process.env.TMPDIR = place;
  const other = await serve(undefined, "--idle", "60");
  delete process.env.TMPDIR;
  await writeFile(
    join(other.folder, "data.ndjson"),
    Array.from({ length: 40 }, (_, i) => `${JSON.stringify({ town: ["Ulm", "Bonn"][i % 2], age: 20 + (i % 4) })}\n`).join(""),
  );
  await runJob(other, { command: "draft", data: "data.ndjson", policy: "policy.toml" });
  const made = await runJob(other, { command: "anonymize", policy: "policy.toml" });
  assert.equal(made.state, "done", JSON.stringify(made));
  const [own] = (await readdir(place)).filter((name) => name.startsWith("bosket-serve-"));
  const mode = async (path) => (await stat(path)).mode & 0o777;
  assert.equal(await mode(join(place, own)), 0o700);
  const [folder] = await readdir(join(place, own));
  assert.equal(await mode(join(place, own, folder)), 0o700);
  assert.equal((await mode(join(place, own, folder, "mapping.csv"))) & 0o077, 0);
  assert.equal((await mode(join(other.folder, "published.ndjson"))) & 0o077, 0);
  await other.end();
  assert.deepEqual(await readdir(place), []);
});

test("it ends when nobody asks, if that was wanted", { timeout: 30_000 }, async () => {
  const begun = Date.now();
  const other = await serve(undefined, "--idle", "0.05");
  assert.equal(await other.ended, 0);
  assert.ok(Date.now() - begun >= 2_900);
});

test("where publications are only checked, nothing else is done", async () => {
  const other = await serve(undefined, "--check");
  await demo(other.folder);
  const headers = asProgram(other);
  const post = (path, body) => askServer(other, path, { method: "POST", headers, body: JSON.stringify(body) });
  assert.equal((await post("/api/jobs", { command: "inspect", data: "bosket-demo/data.ndjson" })).status, 403);
  assert.equal((await post("/api/jobs", { command: "anonymize", policy: "bosket-demo/policy.toml", force: true })).status, 403);
  assert.equal((await post("/api/sign", { certificate: "a", key: "b", passphrase: "c" })).status, 403);
  assert.equal((await post("/api/keys", { key: "b", passphrase: "c" })).status, 403);
  assert.equal((await post("/api/check", { command: "demo", folder: "x" })).status, 400);
  const put = await askServer(other, "/api/policy", { method: "PUT", headers, body: JSON.stringify({ path: "bosket-demo/policy.toml", version: "", text: "" }) });
  assert.equal(put.status, 403);
  const publication = "bosket-demo/published.ndjson";
  const checked = await runJob(other, { command: "verify", publication, certificate: `${publication}.certificate.json` });
  assert.equal(checked.result.holds, true);
  await other.end();
});

test("what a page says is never taken for an option", async () => {
  await writeFile(join(server.folder, "--help"), "x");
  const looked = await runJob(server, { command: "inspect", data: "--help" });
  assert.match(looked.line, /inspect/);
  assert.equal(looked.result.records, 1, "a file like any other");
  const named = await ask("/api/jobs", {
    method: "POST",
    headers: asProgram(server),
    body: JSON.stringify({ command: "inspect", data: "in/data.ndjson", record: "--draft=/tmp/x" }),
  });
  assert.match(JSON.parse(named.text).line, /--record=--draft=/);
});
