/** Fields of the training form, by name. */
export type Settings = Readonly<Record<string, string>>;

const SETTING = /\b(quantization|max_length|rank) (nf4|none|\d+)\b/g;

/** The settings that a memory plan's sentence names, as the form holds them; none where it names none that fits. */
export const settingsIn = (suggestion: string): Settings =>
  suggestion.startsWith("It fits with ")
    ? Object.fromEntries([...suggestion.matchAll(SETTING)].map(([, name = "", value = ""]) => [name, value]))
    : {};
