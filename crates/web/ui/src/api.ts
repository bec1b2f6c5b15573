// What the server answers, and asking it.

export type Diagnostic = {
  severity: "error" | "warning";
  message: string;
  place: string;
  line: number | null;
  help: string | null;
};

export type PolicyState = {
  path: string;
  state: "broken" | "draft" | "published" | "changed";
  model: string | null;
  source: string | null;
  publication: string | null;
  certificate: string | null;
  report: string | null;
};

export type Named = { path: string; bytes: number };

export type Project = {
  folder: string;
  check_only: boolean;
  policies: PolicyState[];
  files: Named[];
  certificates: Named[];
  more: boolean;
};

export type AttributeView = { path: string; role: string; hierarchy: string | null };

export type PolicyView = {
  path: string;
  text: string;
  version: string;
  diagnostics: Diagnostic[];
  sentence: string | null;
  settings: Record<string, Record<string, unknown>>;
  attributes: AttributeView[];
};

export type Edit = { key: string; attribute?: string; value?: unknown };

export type TreeEdit = { rename: { label: string; to: string } } | { move: { label: string; under: string } };

export type HierarchyView = { path: string; version: string; undo: TreeEdit | null };

export type JobState = "waiting" | "running" | "done" | "failed" | "stopped";

export type JobView = { id: number; line: string; state: JobState; code: number | null; result: unknown };

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

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Refused(0, "The server has ended. Start `bosket serve` again and open the address that it prints.", []);
  }
  const said: unknown = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const refusal = said as { error?: string; diagnostics?: Diagnostic[] };
    throw new Refused(answer.status, refusal.error ?? answer.statusText, refusal.diagnostics ?? []);
  }
  return said as T;
}

const at = (path: string) => `path=${encodeURIComponent(path)}`;

export const getProject = () => ask<Project>("GET", "/api/project");
export const getPolicy = (path: string) => ask<PolicyView>("GET", `/api/policy?${at(path)}`);
export const editPolicy = (policy: PolicyView, edits: Edit[]) =>
  ask<PolicyView>("PUT", "/api/policy", { path: policy.path, version: policy.version, edits });
export const writePolicy = (policy: PolicyView, text: string) =>
  ask<PolicyView>("PUT", "/api/policy", { path: policy.path, version: policy.version, text });
export const getHierarchy = (policy: string, attribute: string) =>
  ask<HierarchyView>("GET", `/api/hierarchy?${new URLSearchParams({ policy, attribute }).toString()}`);
export const editHierarchy = (policy: string, attribute: string, version: string, edit: TreeEdit) =>
  ask<HierarchyView>("PUT", "/api/hierarchy", { policy, attribute, version, edit });
export const startJob = (command: Record<string, unknown>) => ask<JobView>("POST", "/api/jobs", command);
export const getJob = (id: number) => ask<JobView>("GET", `/api/jobs/${id}`);
export const stopJob = (id: number) => ask<JobView>("POST", `/api/jobs/${id}/cancel`, {});
export const fileAddress = (path: string) => `/api/file?${at(path)}`;

export async function getReport(path: string): Promise<string> {
  const answer = await fetch(`/api/report?${at(path)}`);
  if (!answer.ok) throw new Refused(answer.status, "The report cannot be read.", []);
  return answer.text();
}

export async function upload(file: File): Promise<void> {
  const answer = await fetch(`/api/upload?${at(file.name)}`, {
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body: file,
  });
  if (!answer.ok) {
    const said = (await answer.json().catch(() => ({}))) as { error?: string };
    throw new Refused(answer.status, said.error ?? answer.statusText, []);
  }
}
