// Asking the server. What it answers is in `types`, what its commands print in `results`.

import type {
  Asked,
  Change,
  ChangeOfHierarchy,
  Edit,
  HierarchyView,
  JobView,
  NewKey,
  PolicyView,
  Project,
  PublishView,
  Refusal,
  RunView,
  Signing,
  Told,
  TreeEdit,
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
    answer = await fetch(path, init);
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
export const startJob = (command: Asked) => ask<JobView>("POST", "/api/jobs", command);
export const getJob = (id: number) => ask<JobView>("GET", `/api/jobs/${id}`);
export const getJobs = () => ask<JobView[]>("GET", "/api/jobs");
export const stopJob = (id: number) => ask<JobView>("POST", `/api/jobs/${id}/cancel`, {});
export const getPublish = (policy: string) => ask<PublishView>("GET", `/api/publish?policy=${encodeURIComponent(policy)}`);
export const sign = (asked: Signing) => ask<JobView>("POST", "/api/sign", asked);
export const newKey = (asked: NewKey) => ask<JobView>("POST", "/api/keys", asked);
export const getRun = (id: number) => ask<RunView>("GET", `/api/runs/${id}`);
export const fileAddress = (path: string) => `/api/file?${at(path)}`;
export const getFile = <T,>(path: string) => ask<T>("GET", fileAddress(path));

export async function upload(file: File): Promise<void> {
  await send(`/api/upload?${at(file.name)}`, { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file });
}
