import { vi } from "vitest";

/** `vi.waitFor` gives up after a second by itself, which a busy machine takes for what needs a tenth of one. */
const PATIENCE_MS = 15_000;

const { waitFor } = vi;
if (!waitFor.isPatient) {
  const patient = (callback, options) =>
    waitFor(callback, typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options });
  vi.waitFor = Object.assign(patient, { isPatient: true });
}
