// The forbidden requests, each made.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
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

/** Enters as a page does. */
const enterAs = (other, token, headers = {}) =>
  askServer(other, "/api/enter", { method: "POST", headers: { ...json, origin: other.origin, ...headers }, body: JSON.stringify({ token }) });

test("nobody enters without the secret, and the address works once", async () => {
  // The program of the page is the same for everybody, and says nothing of the folder.
  for (const path of ["/", "/app.js", "/app.css", "/report.css"]) {
    const open = await ask(path);
    assert.equal(open.status, 200, path);
    assert.ok(!open.text.includes(server.folder) && !open.headers["set-cookie"], path);
  }
  for (const path of ["/api/project", "/api/jobs", "/api/file?path=in%2Fdata.ndjson", `/api/project?token=${server.token}`]) {
    assert.equal((await ask(path)).status, 401, path);
  }
  assert.equal((await ask("/api/project", { headers: { authorization: `Bearer ${server.token.slice(1)}` } })).status, 401);
  assert.equal((await enterAs(server, "0".repeat(64))).status, 401);
  assert.equal((await enterAs(server, server.token, { origin: "http://evil.example" })).status, 403);
  const first = await enterAs(server, server.token);
  assert.equal(first.status, 200);
  const { session } = JSON.parse(first.text);
  assert.match(session, /^[0-9a-f]{64}$/);
  assert.notEqual(session, server.token);
  assert.equal((await enterAs(server, server.token)).status, 401);
  assert.equal((await ask("/api/project", { headers: { authorization: `Bearer ${session}` } })).status, 200);
  // A cookie would be sent to whoever listens at another port of this machine: none is given, none is taken.
  assert.equal(first.headers["set-cookie"], undefined);
  const { port } = new URL(server.origin);
  for (const cookie of [`bosket-${port}=${session}`, `bosket-${port}=${server.token}`, `session=${session}`]) {
    assert.equal((await ask("/api/project", { headers: { cookie } })).status, 401);
  }
});

test("a file is fetched by a ticket, once, and by nothing else", async () => {
  const post = (path, headers = asProgram(server)) =>
    ask("/api/file", { method: "POST", headers, body: JSON.stringify({ path }) });
  assert.equal((await post("in/data.ndjson", { ...json, origin: server.origin })).status, 401);
  assert.equal((await post("/etc/hostname")).status, 403);
  assert.equal((await post("in/nowhere")).status, 404);
  const { address } = JSON.parse((await post("in/data.ndjson")).text);
  assert.equal((await ask(`${address.slice(0, -1)}x`)).status, 401);
  const saved = await ask(address);
  assert.equal(saved.text, '{"a":1}\n');
  assert.match(saved.headers["content-disposition"], /^attachment; filename="data.ndjson"$/);
  assert.equal((await ask(address)).status, 401);
  assert.equal((await ask(`/api/file?ticket=${"0".repeat(64)}&path=in%2Fdata.ndjson`)).status, 401);
});

test("who says nothing is not waited for", { timeout: 60_000 }, async () => {
  const { hostname, port } = new URL(server.origin);
  const begun = Date.now();
  await new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("connect", () => socket.write("GET / HTTP/1.1\r\nHost: "));
    socket.on("close", resolve);
    socket.on("error", reject);
    socket.resume();
    setTimeout(() => reject(new Error("still open")), 40_000).unref();
  });
  assert.ok(Date.now() - begun > 5_000);
});

test("what is wrong with a request is said by 400 and 404, and no answer tells where the folder is", async () => {
  const get = (path) => ask(path, { headers: bearer() });
  const send = (path, method, body) => ask(path, { method, headers: asProgram(server), body: JSON.stringify(body) });
  const upload = (path) =>
    ask(`/api/upload?path=${encodeURIComponent(path)}`, {
      method: "POST",
      headers: { ...bearer(), origin: server.origin, "content-type": "application/octet-stream" },
      body: "x",
    });
  await writeFile(join(server.folder, "in/wrong.toml"), "[privacy]\nmodel = 1\n");
  const bytes = join(server.folder, "in/bytes.toml");
  await writeFile(bytes, Buffer.from([0xff, 0xfe, 0xfd]));
  const wrong = [
    [400, await get("/api/policy?path=in")],
    [400, await get("/api/policy?path=in%2Fbytes.toml")],
    [404, await get("/api/policy?path=nowhere.toml")],
    [400, await get("/api/policy")],
    [400, await get("/api/file?path=in")],
    [404, await get("/api/file?path=a%00b")],
    [400, await get("/api/publish?policy=in%2Fwrong.toml")],
    [400, await get("/api/certificate?path=in%2Fdata.ndjson")],
    [404, await get("/api/jobs/123456")],
    [400, await get("/api/jobs/x")],
    [404, await get("/api/runs/123456")],
    [404, await get("/api/nowhere")],
    [404, await upload("nowhere/x.csv")],
    [400, await upload("")],
    [400, await upload("a\0b")],
    [400, await upload("x".repeat(300))],
    [400, await upload("in/data.ndjson/x")],
    [404, await send("/api/jobs", "POST", { command: "inspect", data: "nowhere" })],
    [404, await send("/api/jobs", "POST", { command: "check", policy: "nowhere.toml" })],
    [400, await send("/api/jobs", "POST", { command: "check", policy: "in" })],
    [404, await send("/api/policy", "PUT", { path: "nowhere.toml", version: "", text: "" })],
    [400, await send("/api/sign", "POST", { certificate: "in/data.ndjson", key: "in/data.ndjson", passphrase: "" })],
  ];
  for (const [i, [status, answer]] of wrong.entries()) {
    assert.equal(answer.status, status, `${i}: ${answer.text}`);
    assert.ok(!answer.text.includes(server.folder) && !answer.text.includes(tmpdir()), answer.text);
  }
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

test("a policy names nothing outside, however that is written", async () => {
  const job = (policy) =>
    ask("/api/jobs", { method: "POST", headers: asProgram(server), body: JSON.stringify({ command: "check", policy }) });
  const source = 'version = 1\nsource = { format = "ndjson", path = "data.ndjson" }\n';
  await symlink("/etc", join(server.folder, "in/etc"));
  await mkdir(join(server.folder, "in/documents"));
  await symlink("/etc/hostname", join(server.folder, "in/documents/a.json"));
  await symlink("/tmp/bosket-later", join(server.folder, "in/later.ndjson"));
  for (const text of [
    'attribute = [{ path = "a", role = "quasi", hierarchy = "/etc/passwd" }]\n',
    'attribute = [{ path = "a", role = "quasi", hierarchy = { build = "icd10", table = "/etc/passwd" } }]\n',
    'attribute = [{ path = "a", role = "quasi", hierarchy = "etc/passwd" }]\n',
    '[release]\nearlier = [{ publication = "/etc/passwd", mapping = "m" }]\n',
    'release = { earlier = [{ publication = "p", mapping = "/etc/passwd" }] }\n',
    'release.earlier = [{ publication = "p", mapping = "m", input = "/etc/passwd" }]\n',
    'publish = { path = "out.ndjson", mapping = "../../out.csv" }\n',
    'publish.path = "later.ndjson"\n',
    'publish.path = "brought.toml"\n',
  ]) {
    await writeFile(join(server.folder, "in/inline.toml"), source + text);
    assert.equal((await job("in/inline.toml")).status, 403, text);
  }
  for (const text of [
    'source = { format = "csv", table = [{ name = "t", path = "/etc/passwd" }] }\n',
    'source.lookup = [{ name = "t", path = "../../x.csv" }]\n',
    '"source"."path" = "/etc/hostname"\n',
    'source = { format = "json", path = "documents" }\n',
  ]) {
    await writeFile(join(server.folder, "in/inline.toml"), text);
    assert.equal((await job("in/inline.toml")).status, 403, text);
  }
  const looked = await ask("/api/jobs", { method: "POST", headers: asProgram(server), body: JSON.stringify({ command: "inspect", data: "in/documents" }) });
  assert.equal(looked.status, 403);
});

test("only policies are read and replaced as policies", async () => {
  await symlink(join(server.folder, "in/data.ndjson"), join(server.folder, "in/disguised.toml"));
  for (const path of ["in/data.ndjson", "in/disguised.toml", "in", "new.txt"]) {
    const asked = encodeURIComponent(path);
    assert.equal((await ask(`/api/policy?path=${asked}`, { headers: bearer() })).status, 400, path);
    assert.equal((await ask(`/api/publish?policy=${asked}`, { headers: bearer() })).status, 400, path);
    const body = JSON.stringify({ path, version: "", text: "version = 1\n" });
    assert.equal((await ask("/api/policy", { method: "PUT", headers: asProgram(server), body })).status, 400, path);
  }
  assert.equal(await readFile(join(server.folder, "in/data.ndjson"), "utf8"), '{"a":1}\n');
  // Nor does anything that is written here become one.
  const written = (path, body) => ask(path, { method: "POST", headers: asProgram(server), body: JSON.stringify(body) });
  assert.equal((await written("/api/keys", { key: "brought.toml", passphrase: "x" })).status, 403);
  const out = { certificate: "in/data.ndjson", out: "brought.toml" };
  assert.equal((await written("/api/jobs", { command: "statement", ...out })).status, 403);
});

test("a certificate names nothing outside", async () => {
  const certificate = { publication: { files: [{ name: "data.ndjson" }] }, hierarchies: [{ path: "/etc/passwd" }] };
  const post = () =>
    ask("/api/check", {
      method: "POST",
      headers: asProgram(server),
      body: JSON.stringify({ command: "verify", publication: "in/data.ndjson", certificate: "in/data.ndjson.certificate.json" }),
    });
  const place = join(server.folder, "in/data.ndjson.certificate.json");
  await writeFile(place, JSON.stringify(certificate));
  assert.equal((await post()).status, 403);
  await writeFile(place, JSON.stringify({ publication: { files: [{ name: "../../../../../../etc/hostname" }] } }));
  assert.equal((await post()).status, 403);
});

test("what runs is what was looked at, whatever the policy says when its turn comes", { timeout: 120_000 }, async () => {
  const other = await serve();
  await command("generate", "clinic", "--people", "3000", "--out", join(other.folder, "clinic"));
  const send = (path, body) => askServer(other, path, { method: "POST", headers: asProgram(other), body: JSON.stringify(body) });
  const start = async (body) => JSON.parse((await send("/api/jobs", body)).text).id;
  const over = async (id) => {
    for (;;) {
      const view = JSON.parse((await askServer(other, `/api/jobs/${id}`, { headers: asProgram(other) })).text);
      if (!["waiting", "running"].includes(view.state)) return view;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await writeFile(
    join(other.folder, "data.ndjson"),
    Array.from({ length: 40 }, (_, i) => `${JSON.stringify({ town: ["Ulm", "Bonn"][i % 2] })}\n`).join(""),
  );
  const elsewhere = await mkdtemp(join(tmpdir(), "bosket-elsewhere-"));
  const text = (out) =>
    `version = 1\n[source]\nformat = "ndjson"\npath = "data.ndjson"\n[[attribute]]\npath = "town"\nrole = "quasi"\n` +
    `hierarchy = { build = "prefix" }\n[privacy]\nmodel = "k-anonymity"\nk = 2\n[publish]\npath = "${out}"\n`;
  const policy = join(other.folder, "policy.toml");
  await writeFile(policy, text("published.ndjson"));
  const busy = await start({ command: "sweep", policy: "clinic/policy.toml", k: [2, 3, 4, 5, 6, 7, 8, 9, 10] });
  const waiting = await start({ command: "anonymize", policy: "policy.toml" });
  const led = await start({ command: "inspect", data: "data.ndjson" });
  const policies = await start({ command: "attack", policy: "policy.toml" });
  // Meanwhile the policy says something else, and a name leads elsewhere.
  await writeFile(policy, text(join(elsewhere, "out.ndjson")));
  await rename(join(other.folder, "data.ndjson"), join(elsewhere, "data.ndjson"));
  await writeFile(join(other.folder, "data.ndjson"), await readFile(join(elsewhere, "data.ndjson")));
  await send(`/api/jobs/${busy}/cancel`, {});
  const made = await over(waiting);
  assert.equal(made.state, "done", JSON.stringify(made));
  assert.equal(made.result.published, "published.ndjson");
  assert.ok(!made.line.includes("policy-copy"), made.line);
  await stat(join(other.folder, "published.ndjson"));
  assert.ok(!(await readdir(elsewhere)).includes("out.ndjson"));
  assert.equal((await over(led)).state, "done");
  await over(policies);
  // A link where there was a file.
  const slow = await start({ command: "sweep", policy: "clinic/policy.toml", k: [2, 3, 4, 5, 6, 7, 8, 9, 10] });
  const turned = await start({ command: "inspect", data: "data.ndjson" });
  await rm(join(other.folder, "data.ndjson"));
  await symlink("/etc/hostname", join(other.folder, "data.ndjson"));
  await send(`/api/jobs/${slow}/cancel`, {});
  assert.equal((await over(turned)).state, "failed");
  await other.end();
});

const isThere = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Those whom a process has started. */
const childrenOf = async (pid) => {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const all = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, "utf8").catch(() => "")));
  return [text, ...all].join(" ").split(/\s+/).filter(Boolean).map(Number);
};

for (const signal of ["SIGHUP", "SIGTERM", "SIGKILL"]) {
  test(`no job outlives a server that ends by ${signal}, and nobody finds its private folder`, { timeout: 120_000 }, async () => {
    const place = await mkdtemp(join(tmpdir(), "bosket-ends-"));
    const begin = async (folder) => {
      process.env.TMPDIR = place;
      const begun = await serve(folder);
      delete process.env.TMPDIR;
      return begun;
    };
    const folder = await mkdtemp(join(tmpdir(), "bosket-web-"));
    await command("generate", "clinic", "--people", "3000", "--out", join(folder, "clinic"));
    const lasting = await begin();
    const other = await begin(folder);
    const body = JSON.stringify({ command: "sweep", policy: "clinic/policy.toml", k: [2, 3, 4, 5, 6, 7, 8, 9, 10] });
    await askServer(other, "/api/jobs", { method: "POST", headers: asProgram(other), body });
    let jobs = [];
    for (let i = 0; jobs.length === 0 && i < 200; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      jobs = await childrenOf(other.pid);
    }
    assert.ok(jobs.length > 0, "a job runs");
    // Time for it to say that it belongs to the server.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    process.kill(other.pid, signal);
    await other.ended;
    for (let i = 0; jobs.some(isThere) && i < 100; i += 1) await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(jobs.filter(isThere), []);
    const left = async () => (await readdir(place)).filter((name) => name.startsWith("bosket-serve-"));
    assert.equal((await left()).length, signal === "SIGKILL" ? 2 : 1);
    // Whoever starts next takes away what was left, and nothing of those who still run.
    const next = await begin();
    assert.equal((await left()).length, 2);
    await next.end();
    assert.equal((await left()).length, 1);
    await lasting.end();
    assert.deepEqual(await left(), []);
  });
}

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
  assert.equal((await job("in/db.txt")).status, 400);
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
    body: JSON.stringify({ command: "sweep", policy: "clinic/policy.toml", k: [2, 3, 4, 5, 6, 7, 8, 9, 10] }),
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
  assert.equal((await post("/api/package", { policy: "bosket-demo/policy.toml", audience: "receiver" })).status, 403);
  assert.equal((await post("/api/check", { command: "demo", folder: "x" })).status, 400);
  // What labels stand for may be drawn, below the folder.
  for (const file of ["../x.csv", "/etc/hostname"]) assert.ok([403, 404].includes((await post("/api/jobs", { command: "hierarchy-file", file })).status), file);
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
