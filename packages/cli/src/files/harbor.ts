import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Outcome } from "@imprint/contracts";
import { rewardVerdict, type Verdict, verdictOf } from "@imprint/sessions";

/** The trial whose agent wrote a file: Harbor keeps what agents write in `<trial>/agent`. */
function trialOf(file: string): string | null {
  const parts = path.resolve(file).split(path.sep);
  const at = parts.lastIndexOf("agent");
  return at > 0 && at < parts.length - 1 ? parts.slice(0, at).join(path.sep) : null;
}

const textOf = (file: string): Promise<string | null> => readFile(file, "utf8").catch(() => null);

function judged(text: string | null): Verdict | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? verdictOf({ ...value }) : rewardVerdict(value);
  } catch {
    return null;
  }
}

/** How a session ended by the reward that Harbor's verifier gave its trial; undefined where the file is of none, or was not judged. */
export async function harborOutcome(file: string): Promise<Outcome | undefined> {
  const trial = trialOf(file);
  if (trial === null) return undefined;
  for (const place of ["result.json", "verifier/reward.json", "verifier/reward.txt"]) {
    const outcome = judged(await textOf(path.join(trial, place)))?.outcome ?? "unknown";
    if (outcome !== "unknown") return outcome;
  }
  return undefined;
}
