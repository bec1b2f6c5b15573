// Whether values of people may be shown: no, until somebody switches it on; never kept.

import { createContext } from "preact";
import { useContext } from "preact/hooks";

export const Values = createContext(false);

/** What a command is told about it. */
export function useValues(): { shown: boolean; show_values?: true } {
  const shown = useContext(Values);
  return shown ? { shown, show_values: true } : { shown };
}
