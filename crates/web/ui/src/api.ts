// Asking the server. What it answers is in `types`, what its commands print in `results`.

import { asMyself } from "./session";
import type {
  Asked,
  CertificateView,
  Change,
  ChangeOfHierarchy,
  Edit,
  HierarchyView,
  JobView,
  NewKey,
  Packed,
  Packing,
  PolicyView,
  Project,
  PublishView,
  Refusal,
  RunView,
  Signing,
  Ticket,
  Told,
  TreeEdit,
  Wanted,
} from "./types";

export type * from "./types";
export type Diagnostic = Told;

/** A refusal, as the server words it. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly diagnostics: Diagnostic[],
  ) {
    super(message);
  }
}

const gone = () => new Refused(0, "The server has ended. Start `bosket serve` again and open the address that it prints.", []);

async function send(path: string, init: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, headers: { ...init.headers, ...asMyself() } });
  } catch {
    throw gone();
  }
  if (answer.ok) return answer;
  const said = (await answer.json().catch(() => ({}))) as Partial<Refusal>;
  throw new Refused(answer.status, said.error ?? answer.statusText, said.diagnostics ?? []);
}

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const json = body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return (await send(path, { method, ...json })).json() as Promise<T>;
}

const at = (path: string) => `path=${encodeURIComponent(path)}`;
const change = (body: Change) => ask<PolicyView>("PUT", "/api/policy", body);

export const getProject = () => ask<Project>("GET", "/api/project");
export const getPolicy = (path: string) => ask<PolicyView>("GET", `/api/policy?${at(path)}`);
export const editPolicy = ({ path, version }: PolicyView, edits: Edit[]) => change({ path, version, edits });
export const writePolicy = ({ path, version }: PolicyView, text: string) => change({ path, version, text });
export const getHierarchy = (policy: string, attribute: string) =>
  ask<HierarchyView>("GET", `/api/hierarchies?${new URLSearchParams({ policy, attribute }).toString()}`);
export const editHierarchy = (policy: string, attribute: string, version: string, edit: TreeEdit) => {
  const body: ChangeOfHierarchy = { policy, attribute, version, edit };
  return ask<HierarchyView>("PUT", "/api/hierarchies", body);
};
/** A job knows the part of a page that asked for it, so that any page finds it again. */
const of = (part: string) => `part=${encodeURIComponent(part)}`;
/** What was asked for with values of people is found by nobody else: nothing remembers that they were to be shown. */
const showsValues = (command: Asked) => "show_values" in command && command.show_values === true;
export const startJob = (part: string, command: Asked) =>
  ask<JobView>("POST", showsValues(command) ? "/api/jobs" : `/api/jobs?${of(part)}`, command);
export const getJob = (id: number) => ask<JobView>("GET", `/api/jobs/${id}`);
export const getJobs = () => ask<JobView[]>("GET", "/api/jobs");
export const stopJob = (id: number) => ask<JobView>("POST", `/api/jobs/${id}/cancel`, {});
export const getPublish = (policy: string) => ask<PublishView>("GET", `/api/publish?policy=${encodeURIComponent(policy)}`);
export const sign = (part: string, asked: Signing) => ask<JobView>("POST", `/api/sign?${of(part)}`, asked);
export const newKey = (part: string, asked: NewKey) => ask<JobView>("POST", `/api/keys?${of(part)}`, asked);
export const pack = (policy: string, audience: "receiver" | "officer") => {
  const body: Packing = { policy, audience };
  return ask<Packed>("POST", "/api/package", body);
};
export const getRun = (id: number) => ask<RunView>("GET", `/api/runs/${id}`);
export const getCertificate = (path: string) => ask<CertificateView>("GET", `/api/certificate?${at(path)}`);

/** Names what a fresh draft publishes after its data, so that two of them in a folder do not meet. */
export async function nameAfter(path: string, data: string): Promise<void> {
  const policy = await getPolicy(path);
  const settings = policy.settings as Record<string, Record<string, unknown>>;
  const published = settings["publish"]?.["path"];
  const stem = (data.replace(/\/+$/, "").split("/").at(-1) ?? "").replace(/\.(gz|zst)$/, "").replace(/\.[^.]+$/, "");
  if (typeof published !== "string" || stem === "" || !/^(published|publication)(\.\w+)?$/.test(published)) return;
  await editPolicy(policy, [{ key: "publish.path", value: `${stem}.${published}` }]);
}

/** Lets the browser save a file. It fetches it by a ticket, which is worth nothing afterwards. */
export async function save(path: string): Promise<void> {
  const wanted: Wanted = { path };
  const { address } = await ask<Ticket>("POST", "/api/file", wanted);
  const link = document.createElement("a");
  link.href = address;
  link.download = path.split("/").at(-1) ?? "";
  link.click();
}

export async function upload(file: File): Promise<void> {
  await send(`/api/upload?${at(file.name)}`, { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file });
}
