import { readFileSync } from "node:fs";
import { isObject } from "@imprint/contracts";
import { ConfigError, isMissing } from "../common/error.js";
import { SETTING_NAMES, type SettingName, Settings } from "./schema.js";

/** Values of one origin, unchecked. */
export type Source = Readonly<Record<string, unknown>>;

export const environmentName = (name: SettingName): string => `IMPRINT_${name.toUpperCase()}`;
export const flagName = (name: SettingName): string => `--${name.replaceAll("_", "-")}`;

/** The text of a flag or variable as the setting's type; text that is none stays text, for the schema to refuse. */
const parseText = (name: SettingName, text: string): unknown => {
  const { type } = Settings.properties[name] as { readonly type?: string };
  if (type === "integer" || type === "number") return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (type === "boolean") return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : text;
  if (type === "array") return text === "" ? [] : text.split(",").map((part) => part.trim());
  return text;
};

/** An empty variable counts as not set, but for these: the service would be open where its user thinks it is not. */
export const PROTECTING: readonly SettingName[] = ["token"];

export const fromEnvironment = (env: NodeJS.ProcessEnv): Source =>
  Object.fromEntries(
    SETTING_NAMES.flatMap((name) => {
      const text = env[environmentName(name)];
      return text === undefined || (text === "" && !PROTECTING.includes(name)) ? [] : [[name, parseText(name, text)]];
    }),
  );

export const fromFlags = (flags: Source): Source =>
  Object.fromEntries(
    Object.entries(flags)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        name,
        typeof value === "string" && name in Settings.properties ? parseText(name as SettingName, value) : value,
      ]),
  );

/** @throws ConfigError when the file is there and is not a JSON object */
export const fromFile = (path: string): Source => {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return {};
    throw new ConfigError([`config.json cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Falls through to the same sentence: it is no JSON object.
  }
  throw new ConfigError(["config.json in the data directory is not a JSON object"]);
};
