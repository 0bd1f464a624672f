import { ApiError } from "@imprint/client";
import type { Adapter } from "@imprint/contracts";
import { api } from "../api.js";

/** The loss of each step as training.json recorded it; null for an adapter that was made without steps. */
export async function fetchLosses({ adapter_id: id, files }: Adapter, signal: AbortSignal): Promise<readonly number[] | null> {
  if (!files.some(({ name }) => name === "training.json")) return null;
  const response = await api.adapters.file(id, "training.json", { signal }).catch((error: unknown) => {
    if (error instanceof ApiError) return null;
    throw error;
  });
  if (response === null) return null;
  const record: unknown = await response.json();
  const losses = typeof record === "object" && record !== null && "losses" in record ? record.losses : null;
  return Array.isArray(losses) && losses.length > 0 && losses.every((loss) => typeof loss === "number") ? losses : null;
}
