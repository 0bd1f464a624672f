import { readFile } from "node:fs/promises";
import path from "node:path";
import { createClient, type Imprint } from "@imprint/client";

/** A stale file or a busy service costs a command this much at most. */
const HEALTH_TIMEOUT_MS = 2_000;

export interface Found {
  readonly url: string;
  readonly client: Imprint;
}

async function addressIn(dataDir: string): Promise<string | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path.join(dataDir, "server.json"), "utf8"));
    return typeof value === "object" && value !== null && "url" in value && typeof value.url === "string" ? value.url : null;
  } catch {
    return null;
  }
}

/** The running service of a data directory: the one whose address it left there, if it answers. */
export async function discover({ dataDir, token }: { dataDir: string; token: string | null }): Promise<Found | null> {
  const url = await addressIn(dataDir);
  if (url === null || !URL.canParse(url)) return null;
  const client = createClient({ baseUrl: url, ...(token === null ? {} : { token }) });
  try {
    const { service } = await client.health({ timeoutMs: HEALTH_TIMEOUT_MS, maxRetries: 0 });
    return service === "imprint" ? { url, client } : null;
  } catch {
    return null;
  }
}
