// Small things that several pages show.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Diagnostic, upload } from "./api";

export function Notice({ kind, children }: { kind: "error" | "warning" | "good"; children: ComponentChildren }) {
  const word = { error: "Error: ", warning: "Note: ", good: "" }[kind];
  return (
    <div class={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>
      <b>{word}</b>
      {children}
    </div>
  );
}

/** What the server did not take: an error of the request, or text that somebody else has changed meanwhile. */
export interface Refusal {
  message: string;
  isOld: boolean;
}

export function NotTaken({ error, load }: { error: Refusal | null; load: () => unknown }) {
  if (!error) return null;
  return (
    <Notice kind="error">
      {error.message}{" "}
      {error.isOld && (
        <button type="button" onClick={() => void load()}>
          Load it again
        </button>
      )}
    </Notice>
  );
}

export function Diagnostics({ all }: { all: Diagnostic[] }) {
  if (all.length === 0) return null;
  return (
    <ul class="diagnostics">
      {all.map((one) => (
        <li class={one.severity}>
          <b>{one.severity}:</b> {one.message}
          {one.place && <span class="place"> ({one.place})</span>}
          {one.help && <div class="help">{one.help}</div>}
        </li>
      ))}
    </ul>
  );
}

export const roles = ["quasi", "sensitive", "identifying", "insensitive", "key", "drop", "pseudonym"];

/** A role, by its word and by its mark. */
export function RoleMark({ role }: { role: string }) {
  return <span class={`role role-${role}`}>{role || "no role"}</span>;
}

/** The path of an attribute, which breaks where its parts end and nowhere else. */
export function Path({ path }: { path: string }) {
  const pieces = path.split(/(?<=[.\]/_])/);
  return <code class="path">{pieces.flatMap((piece, i) => (i === 0 ? [piece] : [<wbr />, piece]))}</code>;
}

export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined) return "–";
  const all = 100 * share;
  if (all > 0 && all < 0.05) return "< 0.1 %";
  // Near all nothing is rounded up.
  return `${(all > 99 ? Math.floor(10 * all + 1e-9) / 10 : all).toFixed(1)} %`;
}

/** A sentence with a capital, and a full stop. */
export const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

export const count = (n: number) => n.toLocaleString("en-US");

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  if (n < 1e6) return `${(n / 1e3).toFixed(1)} kB`;
  return n < 1e9 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(1)} GB`;
}

/** Rows of a long list, a page at a time, so that hundreds stay usable. */
export function usePieces<T>(all: T[], size = 100) {
  const [shown, show] = useState(size);
  const more = all.length > shown && (
    <button type="button" onClick={() => show(shown + size)}>
      Show {Math.min(size, all.length - shown)} more of {count(all.length)}
    </button>
  );
  return { piece: all.slice(0, shown), more };
}

/** What to do next on a page, always at the same place. */
export function Next({ children }: { children: ComponentChildren }) {
  return (
    <p class="next">
      <b>Next:</b> {children}
    </p>
  );
}

/** Takes files into the folder by choosing them. */
export function FilePicker({ label, accept, take }: { label: string; accept?: string; take: (files: FileList | null) => void }) {
  return (
    <label class="button">
      {label}
      <input type="file" multiple accept={accept} class="hidden" onChange={(event) => take(event.currentTarget.files)} />
    </label>
  );
}

/** Brings files into the folder one after the other; what went wrong with which. */
export async function bring(files: FileList | null): Promise<string | null> {
  let error: string | null = null;
  for (const file of Array.from(files ?? [])) {
    try {
      await upload(file);
    } catch (refused) {
      error = `${file.name}: ${(refused as Error).message}`;
    }
  }
  return error;
}

/** What may be wider than the screen: it scrolls by itself, by keyboard too. */
export function Wide({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="wide" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

/** A part of a page that is read by whoever opens it. */
export function More({ title, children, isOpen = false }: { title: string; children: ComponentChildren; isOpen?: boolean }) {
  return (
    <details class="more" open={isOpen}>
      <summary>
        <h2>{title}</h2>
      </summary>
      {children}
    </details>
  );
}

/** A report in its sections, each behind its heading; what stands before the first one is its verdict. */
export function Sections({ html }: { html: string }) {
  const [first = "", ...pieces] = html.split("<h2>");
  return (
    <>
      <More title="The report's verdict and figures">
        <Fragment html={first} />
      </More>
      {pieces.map((piece) => {
        const [title = "", ...rest] = piece.split("</h2>");
        const plain = new DOMParser().parseFromString(title, "text/html").body.textContent ?? title;
        return (
          <More title={plain} key={plain}>
            <Fragment html={rest.join("</h2>")} />
          </More>
        );
      })}
    </>
  );
}

/** A piece of a report, which this program wrote in a folder of its own, with every value as text. */
export function Fragment({ html }: { html: string }) {
  const own = useRef<HTMLDivElement | null>(null);
  useEffect(() => own.current?.querySelectorAll<HTMLElement>(".scroll").forEach((part) => (part.tabIndex = 0)), [html]);
  return <div class="report" ref={own} dangerouslySetInnerHTML={{ __html: html }} />;
}

/** What is being typed stays, whatever answers come meanwhile; it is saved when somebody leaves the field. */
export function useTyped(value: string, save: (text: string) => void) {
  const [typed, set] = useState(value);
  useEffect(() => set(value), [value]);
  return {
    value: typed,
    onInput: (event: { currentTarget: { value: string } }) => set(event.currentTarget.value),
    onChange: (event: { currentTarget: { value: string } }) => save(event.currentTarget.value),
  };
}

type FieldProps = { value: string; save: (text: string) => void; type?: string; label?: string; class?: string; min?: number; max?: number; step?: string };

export function TypedInput({ value, save, label, ...more }: FieldProps) {
  return <input {...more} aria-label={label} {...useTyped(value, save)} />;
}

export function TypedText({ value, save }: { value: string; save: (text: string) => void }) {
  return <textarea rows={2} {...useTyped(value, save)} />;
}
