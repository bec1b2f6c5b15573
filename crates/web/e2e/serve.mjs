// A server on a folder of its own, and a browser on it.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const program = process.env.BOSKET ?? fileURLToPath(new URL("../../../target/debug/bosket", import.meta.url));
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
    token: url.searchParams.get("token"),
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

export const launch = () => chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });

/** A page that has entered. */
export async function enter(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
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

export const demo = (folder) => command("demo", join(folder, "bosket-demo"), "--people", "600");
