import { type Imprint, NotFoundError } from "@imprint/client";
import { UsageError } from "../errors.js";
import { fullId } from "./full-id.js";

interface Given {
  readonly client: Imprint;
  readonly note: (text: string) => void;
}

/** A base model by its name, or an adapter by its id, the beginning of it, or latest. */
export async function modelOf(given: string, { client, note }: Given): Promise<string> {
  const { data } = await client.models.list();
  return data.some(({ id }) => id === given) ? given : fullId(given, { kind: "adapter", client, note });
}

/** The same, and the tokens that it reads, where its files say. Throws a UsageError for one that is not there. */
export async function knownModel(given: string, { client, note }: Given): Promise<{ id: string; context: number | null }> {
  const id = await modelOf(given, { client, note });
  const { data } = await client.models.list();
  const listed = data.find((model) => model.id === id);
  if (listed) return { id, context: listed.context_length };
  try {
    const { base_model: base } = await client.adapters.get(id);
    return { id, context: data.find((model) => model.id === base)?.context_length ?? null };
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw new UsageError(`there is no adapter or base model "${given}": imprint adapters and imprint models list them`);
  }
}
