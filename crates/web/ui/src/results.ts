// What commands print, as far as pages read it. A test lets the commands run and the compiler compare.

export type Share = { value: number };
export type Point = { m: number | null; n: number | null; unique: Share; below_k: Share; prosecutor: number; marketer: number };
export type Risk = { k: number; points: Point[] };
export type Attacked = { before: Risk; after?: Risk | null };

export type Looked = {
  format: string;
  records: number;
  classes: { path: string; vertices: number; records: number; max_per_record: number }[];
  attributes: {
    path: string;
    type: string;
    distinct: number;
    uniqueness: number;
    records_without: number;
    role: string;
    reason: string;
    values?: { value: string; count: number }[];
  }[];
  linked?: { guessed: boolean; tables: { name: string; parent: string | null; foreign_key: string[] }[]; notes: string[] };
  risk?: Attacked;
  uncounted?: string;
};

export type Released = { verified: boolean; records: number; published: string; certificate: string | null; cut_short?: boolean };

export type Row = {
  setting: Record<string, unknown>;
  reached: boolean;
  reason?: string;
  loss?: { figures: Record<string, { value: number | null }> };
  risk?: { points: { m: number | null; n: number | null; marketer: number; prosecutor: number }[] };
};

export type Listed = { attributes: { path: string; labels: { label: string; places: number; splits: boolean }[] }[] };
export type NotFiner = { path: string; label: string; sentence: string; breaks: boolean | null };

export type TreeNode = { label: string; leaves: number; count?: number; children?: TreeNode[] };

export type Witness = {
  values?: { path: string; value: string; absent?: boolean }[];
  records?: number[];
  support?: number;
  sensitive?: { path: string; share: number } | null;
};

export type Signature = { holds: boolean; key_id: string; public_key: string; trusted_comment: string | null; signature_file: string; problem: string | null };

export type Checked = {
  holds: boolean;
  signature?: Signature;
  records?: number;
  witness?: Witness | null;
  left_over?: unknown[];
  certificate?: { holds: boolean; problems: string[]; known: string[]; published_as_they_are: string[]; not_checked: string[] } | null;
};

export type Claimed = { m?: number; n?: number };

export type Certificate = { claim: Claimed | null; sentence: string | null; not_claimed: string[]; records: number; digest: string; verified: boolean };

export type Made = { key_id: string; public_key: string; secret_key_file: string; public_key_file: string };

export type Signed = { signature_file: string; key_id: string; public_key: string; trusted_comment: string; digest: string };
