import { homedir } from "node:os";
import { join } from "node:path";
import { fieldErrors } from "@imprint/contracts/fields";
import { ConfigError } from "../common/error.js";
import { asFolder, isPath, isStoreUrl, toPath } from "./paths.js";
import { type Ray, resolveRay } from "./ray.js";
import { SETTING_NAMES, type SettingName, Settings } from "./schema.js";
import { resolveToken } from "./secrets.js";
import { findRepoRoot, readSetup, type Setup } from "./setup.js";
import { environmentName, flagName, fromEnvironment, fromFile, fromFlags, PROTECTING, type Source } from "./sources.js";
import { resolveUpstream, type Upstream } from "./upstream.js";

export type Origin = "flag" | "environment" | "file" | "setup" | "default";

export interface Config {
  readonly settings: Settings;
  readonly origins: Readonly<Record<SettingName, Origin>>;
  /** The bearer token that requests must carry. */
  readonly token: string | null;
  readonly upstream: Upstream | null;
  /** The cluster that jobs run on; null where they run here. */
  readonly ray: Ray | null;
  readonly setup: Setup | null;
  /** The checkout: where the trainer's sources are. */
  readonly repoRoot: string;
  readonly warnings: readonly string[];
}

export interface LoadOptions {
  /** Named as the settings; text is read as the setting's type. Undefined counts as not given. */
  readonly flags?: Source;
  readonly env?: NodeJS.ProcessEnv;
  readonly home?: string;
  readonly repoRoot?: string;
}

type Layer = readonly [Origin, Source];

/** Relative paths are relative to where the service is started. A base model is a path only when it looks like one. */
const resolvePaths = (values: Settings, home: string): Settings => {
  const full = (path: string): string => toPath(path, home);
  return {
    ...values,
    data_dir: full(values.data_dir),
    upstream_token_file: values.upstream_token_file === null ? null : full(values.upstream_token_file),
    ray_token_file: values.ray_token_file === null ? null : full(values.ray_token_file),
    storage: values.storage === null || isStoreUrl(values.storage) ? values.storage : full(values.storage),
    python: values.python !== null && isPath(values.python) ? full(values.python) : values.python,
    base_model: asFolder(values.base_model, home) ?? values.base_model,
    model_roots: values.model_roots.map(full),
  };
};

const nameIn = (origin: Origin, name: string): string => {
  if (origin === "flag") return flagName(name as SettingName);
  if (origin === "environment") return environmentName(name as SettingName);
  return origin === "file" ? `${name} in config.json` : name;
};

const problemsOf = ([origin, source]: Layer): readonly string[] =>
  Object.entries(source).flatMap(([name, value]) => {
    if (!(SETTING_NAMES as readonly string[]).includes(name)) return [`${nameIn(origin, name)} is not a setting`];
    if (value === "" && PROTECTING.includes(name as SettingName))
      return [`${nameIn(origin, name)} is empty, which would protect nothing: give it a value, or leave it out`];
    const [first] = fieldErrors(Settings.properties[name as SettingName], value);
    return first ? [`${nameIn(origin, name)} ${first.message}`] : [];
  });

/** Variables of `imprint setup`, which a user may have set for good. */
const OF_SETUP: readonly string[] = ["IMPRINT_CACHE_DIR", "IMPRINT_SETUP_PYTHON"];

const unknownVariables = (env: NodeJS.ProcessEnv): readonly string[] =>
  Object.keys(env)
    .filter((key) => key.startsWith("IMPRINT_") && !OF_SETUP.includes(key))
    .filter((key) => !SETTING_NAMES.some((name) => environmentName(name) === key))
    .map((key) => `the environment variable ${key} is not a setting of the service`);

/** What has no use beside the other settings: commands that need none of it go on. */
const unusedSettings = ({ upstream, upstream_token_file }: Settings): readonly string[] =>
  upstream === null && upstream_token_file !== null
    ? ["upstream_token_file is not used: upstream, the address that it is for, is not set"]
    : [];

/**
 * Resolves every setting: flag, then environment, then `<data dir>/config.json`, then what setup prepared, then the default.
 * @throws ConfigError naming each unknown or invalid value and its origin
 */
export const loadConfig = ({
  flags = {},
  env = process.env,
  home = homedir(),
  repoRoot = findRepoRoot(),
}: LoadOptions = {}): Config => {
  const setup = readSetup(repoRoot);
  const outer: readonly Layer[] = [
    ["flag", fromFlags(flags)],
    ["environment", fromEnvironment(env)],
  ];
  const defaults = Object.fromEntries(
    SETTING_NAMES.map((name) => [name, (Settings.properties[name] as { readonly default?: unknown }).default]),
  );
  const dataDir = outer.map(([, source]) => source.data_dir).find((value) => value !== undefined) ?? defaults.data_dir;
  const file = fromFile(join(toPath(String(dataDir), home), "config.json"));
  if ("data_dir" in file)
    throw new ConfigError(["data_dir in config.json is not allowed: the file is read from the data directory"]);

  const layers: readonly Layer[] = [
    ...outer,
    ["file", file],
    ["setup", setup ? { python: setup.python, base_model: setup.default_model } : {}],
    ["default", defaults],
  ];
  const problems = layers.flatMap(problemsOf);
  if (problems.length > 0) throw new ConfigError(problems);

  const chosen = SETTING_NAMES.map((name) => {
    const [origin, source] = layers.find(([, candidate]) => candidate[name] !== undefined) ?? ["default", defaults];
    return { name, origin, value: source[name] };
  });
  const values = Object.fromEntries(chosen.map(({ name, value }) => [name, value])) as Settings;
  const settings = resolvePaths(values, home);
  return {
    settings,
    origins: Object.fromEntries(chosen.map(({ name, origin }) => [name, origin])) as Record<SettingName, Origin>,
    token: resolveToken(settings),
    upstream: resolveUpstream(settings),
    ray: resolveRay(settings),
    setup,
    repoRoot,
    warnings: [...unknownVariables(env), ...unusedSettings(settings)],
  };
};
