// What the server answers and takes. Written by the tests of the crate: BOSKET_BLESS=1 cargo test -p bosket-web pages_and

export type Told = { severity: string; message: string; place: string; line: number | null; column: number | null; help: string | null; };
export type Refusal = { error: string; diagnostics: Told[]; };
export type State = "broken" | "draft" | "fits" | "published" | "verified" | "changed";
export type PolicyState = { path: string; state: State; model: string | null; source: string | null; is_database: boolean; publication: string | null; certificate: string | null; report: string | null; has_mapping: boolean; };
export type DataKind = "file" | "tables" | "documents" | "sqlite" | "database";
export type DataState = { path: string; kind: DataKind; bytes: number | null; files: number | null; policies: string[]; };
export type PublicationState = { certificate: string; publication: string | null; state: State; signature: string | null; policy: string | null; };
export type Named = { path: string; bytes: number; };
export type ModelView = { name: string; title: string; about: string; needs: string[]; takes: string[]; needs_sensitive: boolean; };
export type Project = { folder: string; check_only: boolean; policies: PolicyState[]; data: DataState[]; publications: PublicationState[]; files: Named[]; more: boolean; models: ModelView[]; };
export type AttributeView = { path: string; role: string; hierarchy: string | null; why: string | null; comment: string | null; protection: string | null; };
export type PolicyView = { path: string; text: string; version: string; diagnostics: Told[]; sentence: string | null; settings: unknown; attributes: AttributeView[]; };
export type Edit = { key: string; attribute?: string | null; value?: unknown | null; };
export type Change = { path: string; version: string; text?: string | null; edits?: Edit[] | null; };
export type TreeEdit =
  | { rename: { label: string; to: string; } }
  | { move: { label: string; under: string; } };
export type HierarchyView = { path: string; version: string; undo: TreeEdit | null; };
export type ChangeOfHierarchy = { policy: string; attribute: string; version: string; edit: TreeEdit; };
export type JobState = "waiting" | "running" | "done" | "failed" | "stopped";
export type JobView = { id: number; line: string; state: JobState; code: number | null; result: unknown | null; };
export type Asked =
  | { command: "inspect"; data: string; record?: string | null; preset?: string | null; risk?: boolean | null; show_values?: boolean | null; }
  | { command: "draft"; data: string; policy: string; record?: string | null; preset?: string | null; }
  | { command: "check"; policy: string; show_values?: boolean | null; }
  | { command: "anonymize"; policy: string; force?: boolean | null; show_values?: boolean | null; }
  | { command: "sweep"; policy: string; k?: number[] | null; m?: number[] | null; n?: number[] | null; l?: number[] | null; group_size?: number[] | null; }
  | { command: "attack"; policy: string; show_values?: boolean | null; }
  | { command: "report"; policy: string; show_values?: boolean | null; }
  | { command: "verify"; publication?: string | null; certificate: string; policy?: string | null; key?: string | null; show_values?: boolean | null; }
  | { command: "hierarchy"; policy: string; attribute: string; show_values?: boolean | null; }
  | { command: "hierarchy-file"; file: string; }
  | { command: "why"; policy: string; attribute?: string | null; label?: string | null; show_values?: boolean | null; }
  | { command: "export"; format: string; publication: string; certificate: string; out: string; force?: boolean | null; }
  | { command: "statement"; certificate: string; out: string; force?: boolean | null; }
  | { command: "demo"; folder: string; };
export type RunView = { report: string; records: string | null; annex: string | null; };
export type AsItIs = { path: string; role: string; why: string | null; };
export type PublishView = { as_it_is: AsItIs[]; signature: string | null; keys: string[]; public_keys: string[]; descriptions: string[]; };
export type Signing = { certificate: string; key: string; passphrase: string; comment?: string | null; force?: boolean | null; };
export type NewKey = { key: string; passphrase: string; };
