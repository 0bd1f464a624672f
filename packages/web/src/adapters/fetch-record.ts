import { ApiError } from "@imprint/client";
import type { Adapter } from "@imprint/contracts";
import { api } from "../api.js";
import { NOTHING, readRecord, type TrainingRecord } from "./training-record.js";

/** What training.json recorded of an adapter. */
export async function fetchRecord({ adapter_id: id, files }: Adapter, signal: AbortSignal): Promise<TrainingRecord> {
  if (!files.some(({ name }) => name === "training.json")) return NOTHING;
  const response = await api.adapters.file(id, "training.json", { signal }).catch((error: unknown) => {
    if (error instanceof ApiError) return null;
    throw error;
  });
  return response === null ? NOTHING : readRecord(await response.json());
}
