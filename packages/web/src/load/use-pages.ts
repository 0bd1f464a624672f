import { type ChangeEvent, useState } from "react";
import { type Loaded, useLoad } from "./use-load.js";

/** Rows of a page: few enough to be drawn at once, however many are stored. */
const ROWS = 50;

interface Cursor {
  readonly limit: number;
  readonly after?: string;
}

export interface Pages<T> extends Loaded<T> {
  /** For a field by which the list is filtered: sets its text, and shows the first page of what passes. */
  readonly filtering: (set: (text: string) => void) => (event: ChangeEvent<{ readonly value: string }>) => void;
  /** To the page behind this one, and before it; null where there is none. */
  readonly older: (() => void) | null;
  readonly newer: (() => void) | null;
}

/** A long list, a page at a time: `load` asks for the page behind a cursor. The page that is shown stays until the next is there. */
export function usePages<T extends { readonly next: string | null }>(
  key: string,
  load: (cursor: Cursor, signal: AbortSignal) => Promise<T>,
): Pages<T> {
  const [passed, setPassed] = useState<readonly string[]>([]);
  const after = passed.at(-1);
  const loaded = useLoad(key, (signal) => load({ limit: ROWS, ...(after !== undefined && { after }) }, signal));
  const show = (cursors: readonly string[]): void => {
    setPassed(cursors);
    loaded.reload();
  };
  const next = loaded.value?.next ?? null;
  return {
    ...loaded,
    filtering: (set) => (event) => {
      set(event.target.value);
      show([]);
    },
    older: next === null ? null : () => show([...passed, next]),
    newer: passed.length === 0 ? null : () => show(passed.slice(0, -1)),
  };
}
