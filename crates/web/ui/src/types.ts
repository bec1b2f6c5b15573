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
export type AttributeView = { path: string; role: string; hierarchy: string | null; rule: unknown | null; why: string | null; comment: string | null; protection: string | null; };
export type AttackerView = { name: string; knows: string[]; m: number | null; n: number | null; among: string[]; k: number | null; sentence: string | null; };
export type PolicyView = { path: string; text: string; version: string; diagnostics: Told[]; sentence: string | null; settings: unknown; attributes: AttributeView[]; attackers: AttackerView[]; fits: boolean; };
export type Edit = { key: string; attribute?: string | null; value?: unknown | null; };
export type Change = { path: string; version: string; text?: string | null; edits?: Edit[] | null; };
export type TreeEdit =
  | { rename: { label: string; to: string; } }
  | { move: { label: string; under: string; } };
export type HierarchyView = { path: string; version: string; undo: TreeEdit | null; };
export type ChangeOfHierarchy = { policy: string; attribute: string; version: string; edit: TreeEdit; };
export type Entering = { token: string; };
export type Entered = { session: string; };
export type Wanted = { path: string; };
export type Ticket = { address: string; };
export type JobState = "waiting" | "running" | "done" | "failed" | "stopped";
export type JobView = { id: number; line: string; part: string | null; about: string | null; state: JobState; code: number | null; result: unknown | null; };
export type Asked =
  | { command: "inspect"; data: string; record?: string | null; preset?: string | null; risk?: boolean | null; show_values?: boolean | null; }
  | { command: "draft"; data: string; policy: string; record?: string | null; preset?: string | null; }
  | { command: "check"; policy: string; show_values?: boolean | null; }
  | { command: "anonymize"; policy: string; force?: boolean | null; show_values?: boolean | null; }
  | { command: "sweep"; policy: string; k?: number[] | null; m?: number[] | null; n?: number[] | null; l?: number[] | null; group_size?: number[] | null; }
  | { command: "attack"; policy: string; show_values?: boolean | null; }
  | { command: "report"; policy: string; show_values?: boolean | null; }
  | { command: "verify"; publication?: string | null; certificate: string; policy?: string | null; key?: string | null; foreign?: boolean | null; show_values?: boolean | null; }
  | { command: "hierarchy"; policy: string; attribute: string; show_values?: boolean | null; }
  | { command: "hierarchy-file"; file: string; }
  | { command: "why"; policy: string; attribute?: string | null; label?: string | null; show_values?: boolean | null; }
  | { command: "export"; format: string; publication: string; certificate: string; out: string; force?: boolean | null; }
  | { command: "statement"; certificate: string; out: string; force?: boolean | null; }
  | { command: "demo"; folder: string; };
export type RunView = { report: string; records: string | null; annex: string | null; };
export type AsItIs = { path: string; role: string; why: string | null; };
export type PublishView = { as_it_is: AsItIs[]; signature: string | null; keys: string[]; public_keys: string[]; descriptions: string[]; };
export type Packing = { policy: string; audience: string; };
export type Packed = { path: string; files: string[]; };
export type Signing = { certificate: string; key: string; passphrase: string; comment?: string | null; force?: boolean | null; };
export type NewKey = { key: string; passphrase: string; };
export type Share = { value: number; };
export type Point = { m: number | null; n: number | null; unique: Share; below_k: Share; prosecutor: number; marketer: number; };
export type AttackerFinds = { name: string | null; knows: string; k: number; promised: Point; one_more: Point; };
export type Risk = { k: number; points: Point[]; attackers: AttackerFinds[] | null; };
export type Attacked = { before: Risk; after: Risk | null; };
export type LookedClass = { path: string; vertices: number; records: number; max_per_record: number; };
export type LookedValue = { value: string; count: number; };
export type LookedAttribute = { path: string; type: string; distinct: number; uniqueness: number; records_without: number; role: string; reason: string; values: LookedValue[] | null; };
export type LookedTable = { name: string; parent: string | null; foreign_key: string[]; };
export type Linked = { guessed: boolean; tables: LookedTable[]; notes: string[]; };
export type Looked = { format: string; records: number; classes: LookedClass[]; attributes: LookedAttribute[]; linked: Linked | null; risk: Attacked | null; uncounted: string | null; };
export type Beyond = { sentence: string; };
export type Released = { verified: boolean; records: number; published: string; certificate: string | null; cut_short: boolean | null; beyond: Beyond | null; guess: string | null; };
export type Figure = { value: number | null; };
export type Figures = { figures: Record<string, Figure>; };
export type Attacker = { m: number | null; n: number | null; sentence: string; marketer: number | null; };
export type Row = { setting: Record<string, unknown>; reached: boolean; why: string[] | null; loss: Figures | null; attacker: Attacker | null; };
export type Said = { state: string | null; stage: string | null; share: number | null; left: number | null; diagnostic: Told | null; line: string | null; row: Row | null; };
export type ListedLabel = { label: string; places: number; splits: boolean; };
export type ListedAttribute = { path: string; labels: ListedLabel[]; };
export type Listed = { attributes: ListedAttribute[]; };
export type NotFiner = { path: string; label: string; sentence: string; breaks: boolean | null; };
export type TreeNode = { label: string; leaves: number; count: number | null; children: TreeNode[] | null; };
export type Knowledge = { path: string; value: string; absent: boolean | null; count: number | null; };
export type Inferred = { path: string; share: number; };
export type Witness = { values: Knowledge[]; records: number[]; support: number; sensitive: Inferred | null; };
export type Signature = { holds: boolean; key_id: string; public_key: string; trusted_comment: string | null; signature_file: string; problem: string | null; };
export type PathWithRole = { path: string; role: string; };
export type Shifted = { path: string; days: number; };
export type NotProtected = { published_as_they_are: PathWithRole[]; shifted: Shifted[]; pseudonyms: string[]; keys: string[]; };
export type CertificateChecked = { holds: boolean; problems: string[]; known: string[]; published_as_they_are: PathWithRole[]; not_checked: string[]; };
export type Misplaced = { path: string; reason: string; };
export type Checked = { holds: boolean; signature: Signature | null; records: number | null; witness: Witness | null; left_over: string[] | null; misplaced: Misplaced[] | null; not_protected: NotProtected | null; warnings: string[] | null; not_looked_at: string[] | null; not_checked: string[] | null; certificate: CertificateChecked | null; };
export type Claimed = { m: number | null; n: number | null; };
export type Guess = { sentence: string; checked: string; };
export type KeptValues = { path: string; role: string; values: number | null; published: number | null; as_anything: number | null; };
export type Kept = { attributes: KeptValues[]; };
export type CertifiedAttribute = { path: string; role: string; hierarchy: unknown | null; };
export type CertifiedPolicy = { attribute: CertifiedAttribute[] | null; };
export type CertificateView = { claim: Claimed | null; sentence: string | null; not_claimed: string[]; records: number; digest: string; verified: boolean; guess: Guess | null; kept: Kept | null; policy: CertifiedPolicy | null; };
export type Made = { key_id: string; public_key: string; secret_key_file: string; public_key_file: string; };
export type Signed = { signature_file: string; key_id: string; public_key: string; trusted_comment: string; digest: string; };
