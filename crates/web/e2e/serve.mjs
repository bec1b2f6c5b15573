// A server on a folder of its own, and a browser on it.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const program = process.env.BOSKET ?? fileURLToPath(new URL("../../../target/debug/bosket", import.meta.url));
const browserPath = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Starts `bosket serve`; what it printed, and how to end it. */
export async function serve(folder, ...more) {
  const own = folder ?? (await mkdtemp(join(tmpdir(), "bosket-web-")));
  const child = spawn(program, ["serve", own, "--no-browser", ...more], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (piece) => {
      said += piece;
      if (said.includes("\n")) resolve(said.trim());
    });
    child.on("exit", (code) => reject(new Error(`bosket serve ended with ${code}`)));
  });
  const url = new URL(address);
  return {
    folder: own,
    address,
    origin: url.origin,
    token: new URLSearchParams(url.hash.slice(1)).get("token"),
    pid: child.pid,
    /** Its exit code, once it has ended by itself. */
    ended: new Promise((resolve) => child.on("exit", resolve)),
    kill: () => child.kill("SIGKILL"),
    async end() {
      const ended = new Promise((resolve) => child.on("exit", resolve));
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGINT");
        await ended;
      }
      if (!folder) await rm(own, { recursive: true, force: true });
    },
  };
}

/** An answer, with exactly the headers that are given. */
export function ask(server, path, { method = "GET", headers = {}, body } = {}) {
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

/** The headers of a program that was told the secret, and sends JSON. */
export const asProgram = (server) => ({
  authorization: `Bearer ${server.token}`,
  "content-type": "application/json",
  origin: server.origin,
});

/** Starts a job as a program does; its view once it is over. */
export async function job(server, command) {
  const headers = asProgram(server);
  const started = await ask(server, "/api/jobs", { method: "POST", headers, body: JSON.stringify(command) });
  if (started.status !== 201) throw new Error(`${started.status}: ${started.text}`);
  const { id } = JSON.parse(started.text);
  for (;;) {
    const view = JSON.parse((await ask(server, `/api/jobs/${id}`, { headers })).text);
    if (!["waiting", "running"].includes(view.state)) return view;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export const launch = () => chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });

/** A page that has entered. */
export async function enter(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  // Pages can be tried before they are built in: BOSKET_PAGES=1 takes them from where they are.
  if (process.env.BOSKET_PAGES) {
    for (const [name, path] of [["app.js", "../bundle/app.js"], ["app.css", "../ui/app.css"]]) {
      const own = fileURLToPath(new URL(path, import.meta.url));
      await context.route(`**/${name}`, (route) => route.fulfill({ path: own }));
    }
  }
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (said) => said.type() === "error" && errors.push(said.text()));
  await page.goto(server.address);
  return { page, context, errors };
}

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds on a page. It is evaluated from outside, so the page's own rules about scripts stay. */
export async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await window.axe.run(document)).violations);
  return found.map((one) => `${one.id}: ${one.help} (${one.nodes.map((node) => node.target.join(" ")).slice(0, 3).join("; ")})`);
}

/** Runs a command to its end. */
export const command = (...words) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: "ignore" });
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${words[0]}: ${code}`))));
  });

/** What a command prints, and its exit code. */
export const printed = (words, input) =>
  new Promise((resolve) => {
    const child = spawn(program, words, { stdio: [input === undefined ? "ignore" : "pipe", "pipe", "ignore"] });
    let out = "";
    child.stdout.on("data", (piece) => (out += piece));
    child.on("exit", (code) => resolve({ code, out }));
    if (input !== undefined) child.stdin.end(input);
  });

const LONG = Number(process.env.BOSKET_PATIENCE ?? 60_000);
const shots = process.env.BOSKET_SCREENSHOTS;

/** A picture of a page for its documentation, if they are wanted. */
export async function shot(page, name) {
  if (!shots) return;
  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: join(shots, `web-${name}.png`), fullPage: name.includes("full") });
}

export const long = { timeout: LONG };

export const demo = (folder) => command("demo", join(folder, "bosket-demo"), "--people", "1000");
