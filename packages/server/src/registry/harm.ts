import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { harmSentence, type Proof } from "@imprint/contracts";

const CARD = "README.md";

/** The model is worse with the adapter, and nobody asked to keep it all the same. */
export class HarmfulAdapterError extends Error {
  override readonly name = "HarmfulAdapterError";

  constructor(readonly proof: Proof) {
    super(harmSentence(proof));
  }
}

/** Says on the card of an adapter that harms what its proof says, below the title. */
export const markCard = async (folder: string, proof: Proof): Promise<void> => {
  const path = join(folder, CARD);
  const card = await readFile(path, "utf8");
  const mark = `> **This adapter makes the model worse; it was kept on request.** ${harmSentence(proof)}`;
  await writeFile(
    path,
    card.replace(/^# .*$/m, (title) => `${title}\n\n${mark}`),
  );
};
