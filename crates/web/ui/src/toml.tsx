// The text of a policy with numbers at its lines, and marks where something is wrong.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Diagnostic } from "./api";

export function TomlText({ text, diagnostics, change }: { text: string; diagnostics: Diagnostic[]; change: (text: string) => void }) {
  const area = useRef<HTMLTextAreaElement | null>(null);
  const gutter = useRef<HTMLDivElement | null>(null);
  // A long text takes longer to lay out than all the rest: it comes a moment later, or when somebody goes there.
  const [shown, show] = useState(text);
  const catchUp = () => {
    if (area.current && area.current.value !== text) area.current.value = text;
    show(text);
  };
  useEffect(() => {
    if (shown === text) return undefined;
    const later = setTimeout(catchUp, document.activeElement === area.current ? 0 : 150);
    return () => clearTimeout(later);
  }, [text]);
  const lines = shown.split("\n");
  const at = new Map(diagnostics.flatMap((one) => (one.line === null ? [] : [[one.line, one] as const])));
  const goTo = (line: number) => {
    catchUp();
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    area.current?.focus();
    area.current?.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    if (area.current) area.current.scrollTop = Math.max(0, (line - 4) * 20);
  };
  return (
    <>
      <div class="editor">
        <div class="gutter" aria-hidden="true" ref={gutter}>
          {lines.map((_, i) => `${at.has(i + 1) ? "▶ " : ""}${i + 1}`).join("\n")}
        </div>
        <textarea
          class="toml"
          aria-label="The file"
          spellcheck={false}
          wrap="off"
          rows={Math.min(44, lines.length + 1)}
          value={shown}
          ref={area}
          onFocus={catchUp}
          onScroll={(event) => gutter.current && (gutter.current.scrollTop = event.currentTarget.scrollTop)}
          onInput={(event) => {
            show(event.currentTarget.value);
            change(event.currentTarget.value);
          }}
        />
      </div>
      {at.size > 0 && (
        <ul class="lines">
          {[...at].map(([line, one]) => (
            <li class={one.severity}>
              <button type="button" class="plain" onClick={() => goTo(line)}>
                line {line}: {one.message}
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
