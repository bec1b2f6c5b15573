// A word with its explanation: on hover, on tap, and by keyboard.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { glossary } from "./glossary";

/** How wide an explanation may be, and how far from the edge it stays. */
const WIDTH = 300;
const EDGE = 8;

export function Term({ name, children }: { name: string; children?: ComponentChildren }) {
  const [at, set] = useState<{ left: number; top: number } | null>(null);
  const own = useRef<HTMLButtonElement | null>(null);
  const open = () => {
    const box = own.current?.getBoundingClientRect();
    // Fixed to the screen, for tables cut off what is wider than they are.
    if (box) set({ left: Math.max(EDGE, Math.min(box.left, innerWidth - WIDTH - EDGE)), top: box.bottom + 4 });
  };
  // What was tapped, or reached by keyboard, stays until somebody goes elsewhere; what is only pointed at does not.
  const isHeld = useRef(false);
  const hold = () => ((isHeld.current = true), open());
  const close = () => ((isHeld.current = false), set(null));
  return (
    <span class="term" onMouseEnter={open} onMouseLeave={() => isHeld.current || close()}>
      <button
        type="button"
        class="plain"
        ref={own}
        aria-expanded={at !== null}
        onClick={hold}
        onFocus={hold}
        onBlur={close}
        onKeyDown={(event) => event.key === "Escape" && close()}
      >
        {children ?? name}
      </button>
      {at && (
        <span role="status" class="explained" style={{ left: `${at.left}px`, top: `${at.top}px` }}>
          {glossary[name] ?? name}
        </span>
      )}
    </span>
  );
}

/** All words, for whoever reads them at once. */
export function Words() {
  const [isOpen, open] = useState(false);
  return (
    <details onToggle={(event) => open(event.currentTarget.open)}>
      <summary>Words</summary>
      {isOpen && (
        <dl class="words">
          {Object.entries(glossary).map(([word, meaning]) => (
            <div key={word}>
              <dt>{word}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      )}
    </details>
  );
}
