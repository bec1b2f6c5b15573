// The forbidden requests, each made.

import assert from "node:assert/strict";
import { mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { serve } from "./serve.mjs";

let server;
before(async () => {
  server = await serve();
  await mkdir(join(server.folder, "in"));
  await writeFile(join(server.folder, "in/data.ndjson"), '{"a":1}\n');
  await symlink("/etc/hostname", join(server.folder, "link"));
});
after(() => server?.end());

/** An answer, with exactly the headers that are given. */
function ask(path, { method = "GET", headers = {}, body } = {}) {
  const { hostname, port } = new URL(server.origin);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, setHost: headers.host === undefined }, (answer) => {
      let text = "";
      answer.on("data", (piece) => (text += piece));
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

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
    ask("/api/hierarchy", {
      method: "PUT",
      headers: { ...bearer(), ...json, origin: server.origin },
      body: JSON.stringify({ policy: "in/tree.toml", attribute: "a", version, edit: { rename: { label: "A", to: "B" } } }),
    });
  const see = () => ask("/api/hierarchy?policy=in%2Ftree.toml&attribute=a", { headers: bearer() });
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
});

test("bodies are bounded", async () => {
  const body = JSON.stringify({ command: "inspect", data: "x".repeat(2 << 20) });
  const answer = await ask("/api/jobs", { method: "POST", headers: { ...bearer(), ...json, origin: server.origin }, body });
  assert.equal(answer.status, 413);
});
