import { ApiError } from "@imprint/client";

/** What a person is told of an error: the service's sentence, or this client's. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiError && error.errors.length > 0 && error.errors.every(({ path }) => path === "")) return error.detail;
  return error instanceof Error ? error.message : String(error);
}

/** An error as a sentence; nothing without one. */
export function Problem({ error }: { readonly error: unknown }) {
  return error === null || error === undefined ? null : (
    <p className="problem" role="alert">
      {sentenceOf(error)}
    </p>
  );
}
