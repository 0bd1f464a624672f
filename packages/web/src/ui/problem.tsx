import { sentenceOf } from "../text/sentence.js";

/** An error as a sentence; nothing without one. */
export function Problem({ error }: { readonly error: unknown }) {
  return error === null || error === undefined ? null : (
    <p className="problem" role="alert">
      {sentenceOf(error)}
    </p>
  );
}
