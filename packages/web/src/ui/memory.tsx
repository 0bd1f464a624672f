import type { MemoryPlan } from "@imprint/contracts";
import { bytes } from "../text/numbers.js";
import { Facts } from "./facts.js";

const PARTS = [
  ["Weights", "weights_mb"],
  ["Activations", "activations_mb"],
  ["Logits", "logits_mb"],
  ["Optimizer", "optimizer_mb"],
] as const;

const megabytes = (amount: number): string => bytes(amount * 1e6);

interface MemoryProps {
  readonly memory: MemoryPlan | null;
  /** Applies the settings that are suggested; left out where there is nothing to apply them to. */
  readonly onApply?: ((settings: Settings) => void) | undefined;
}

/** What a training takes at its peak, and what would fit where it does not. */
export function Memory({ memory, onApply }: MemoryProps) {
  if (memory === null) return null;
  const { total_mb: total, available_mb: available, fits, suggestion } = memory;
  const settings = settingsIn(suggestion ?? "");
  return (
    <>
      <h3>Memory</h3>
      <p className={fits ? undefined : "problem"}>
        {fits ? "It fits" : "It does not fit"}: at its peak about {megabytes(total)} of {megabytes(available)}.
      </p>
      <Facts isWide facts={PARTS.map(([name, part]) => [name, megabytes(memory[part])] as const)} />
      {suggestion !== null && (
        <div className="notice actions">
          <span>{suggestion}</span>
          {onApply && Object.keys(settings).length > 0 && (
            <button type="button" onClick={() => onApply(settings)}>
              Use these settings
            </button>
          )}
        </div>
      )}
    </>
  );
}

/** Fields of the training form, by name. */
export type Settings = Readonly<Record<string, string>>;
const SETTING = /\b(quantization|max_length|rank) (nf4|none|\d+)\b/g;

/** The settings that a memory plan's sentence names, as the form holds them; none where it names none that fits. */
export const settingsIn = (suggestion: string): Settings =>
  suggestion.startsWith("It fits with ")
    ? Object.fromEntries([...suggestion.matchAll(SETTING)].map(([, name = "", value = ""]) => [name, value]))
    : {};
