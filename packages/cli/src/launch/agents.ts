import { writeFile } from "node:fs/promises";
import path from "node:path";
import { UsageError } from "../errors.js";

/** Where an agent is to ask, and as what. */
export interface Target {
  /** The service's address, without `/v1`. */
  readonly base: string;
  readonly token: string;
  readonly model: string;
  /** Tokens of prompt and answer together, and of the answer at most. */
  readonly context: number;
  readonly output: number;
  /** The path of a temporary file, by its name. */
  readonly file: (name: string) => string;
}

/** What makes an agent ask there: arguments before the user's own, variables, and temporary files by their names. */
export interface Settings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
}

export interface Agent {
  /** As recordings name it. */
  readonly name: string;
  readonly program: string;
  /** What installs it. */
  readonly install: string;
  readonly settings: (target: Target) => Settings;
  /** Arguments with which it does what is asked and ends, and asks nobody. */
  readonly alone: (prompt: string) => readonly string[];
}

/** The variable that holds the token for agents that can be told of one: what else they start keeps its own keys. */
const KEY = "LOCAL_MODEL_API_KEY";

/** The window for which Claude Code sends fewer tools and shorter prompts. */
const SMALL_WINDOW = 65_536;

/** Claude Code compacts some 13,000 tokens ahead of the window's end: in less room than this it would after each turn. */
const ROOM_FOR_CLAUDE = 24_576;

/** Claude Code deletes recordings that are older. */
const NEVER_DAYS = 36_500;

/** opencode's prompt alone takes 8,000 tokens: in less room than this it would compact it again and again. */
const ROOM_TO_COMPACT = 16_384;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** LiteLLM would look for a price list on another host. */
const NO_PRICES = { LITELLM_LOCAL_MODEL_COST_MAP: "True" };

const opencode = ({ base, token, model, context, output }: Target): Settings => ({
  args: [],
  env: {
    [KEY]: token,
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      autoupdate: false,
      share: "disabled",
      compaction: { auto: context >= ROOM_TO_COMPACT },
      model: `imprint/${model}`,
      small_model: `imprint/${model}`,
      provider: {
        imprint: {
          npm: "@ai-sdk/openai-compatible",
          name: "Imprint",
          options: { baseURL: `${base}/v1`, apiKey: `{env:${KEY}}` },
          models: { [model]: { name: model, limit: { context, output } } },
        },
      },
    }),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  },
  files: {},
});

const codex = ({ base, token, model, context }: Target): Settings => {
  const provider = {
    name: "Imprint",
    base_url: `${base}/v1`,
    wire_api: "responses",
    env_key: KEY,
    stream_idle_timeout_ms: 900_000,
  };
  const values = {
    model,
    model_provider: "imprint",
    model_context_window: context,
    web_search: "disabled",
    check_for_update_on_startup: false,
    "analytics.enabled": false,
    ...Object.fromEntries(Object.entries(provider).map(([name, value]) => [`model_providers.imprint.${name}`, value])),
  };
  // Each of these looks for another host, or offers tools that need one.
  const features = ["plugins", "apps", "remote_plugin", "multi_agent", "goals"];
  return {
    args: [
      // TOML writes texts and numbers as JSON does.
      ...Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${JSON.stringify(value)}`]),
      ...features.flatMap((feature) => ["--disable", feature]),
    ],
    env: { [KEY]: token },
    files: {},
  };
};

const claude = ({ base, token, model, context, output, file }: Target): Settings => {
  const isSmall = context < SMALL_WINDOW;
  const env = {
    ANTHROPIC_BASE_URL: base,
    ANTHROPIC_AUTH_TOKEN: token,
    ANTHROPIC_API_KEY: "",
    ANTHROPIC_MODEL: model,
    ANTHROPIC_SMALL_FAST_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_AUTOUPDATER: "1",
    // A prompt that begins differently each time is read anew each time.
    CLAUDE_CODE_ATTRIBUTION_HEADER: "0",
    CLAUDE_STREAM_IDLE_TIMEOUT_MS: "900000",
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(output),
    // Of a model that it does not know it takes the window for a million tokens.
    ...(context >= ROOM_FOR_CLAUDE && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(context) }),
    ...(isSmall && { MAX_THINKING_TOKENS: "0", CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: "1" }),
  };
  return {
    args: ["--settings", file("settings.json"), ...(isSmall ? ["--tools=Bash,Edit,Read,Write,Glob,Grep"] : [])],
    env,
    // The variables of the user's and the repository's settings go over those of the process; these go over both.
    // No start on an adapter deletes recordings that are older than the user's own limit: they may not be imported yet. The check
    // of "auto mode" runs on Anthropic's servers: without it each action would be held up.
    files: { "settings.json": json({ env, cleanupPeriodDays: NEVER_DAYS, permissions: { disableAutoMode: "disable" } }) },
  };
};

const aider = ({ base, token, model, context, output, file }: Target): Settings => {
  const known = { max_input_tokens: context, max_output_tokens: output, input_cost_per_token: 0, output_cost_per_token: 0 };
  return {
    args: [
      ...["--model", `openai/${model}`, "--model-metadata-file", file("models.json")],
      ...["--openai-api-base", `${base}/v1`, "--env-file", file("aider.env")],
      ...["--no-check-update", "--no-show-model-warnings", "--no-show-release-notes", "--analytics-disable"],
    ],
    env: NO_PRICES,
    files: {
      "models.json": json({ [`openai/${model}`]: { ...known, litellm_provider: "openai", mode: "chat" } }),
      // Read after the repository's own .env, over which it goes.
      "aider.env": `OPENAI_API_KEY='${token}'\n`,
    },
  };
};

const mini = ({ base, token, model }: Target): Settings => ({
  args: ["-m", `openai/${model}`],
  env: {
    ...NO_PRICES,
    OPENAI_API_BASE: `${base}/v1`,
    OPENAI_API_KEY: token,
    MSWEA_CONFIGURED: "true",
    MSWEA_COST_TRACKING: "ignore_errors",
    MSWEA_SILENT_STARTUP: "1",
  },
  files: {},
});

const pi = ({ base, token, model, context, output, file }: Target): Settings => {
  const one = {
    id: model,
    name: model,
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: context,
    maxTokens: output,
  };
  const provider = { baseUrl: `${base}/v1`, api: "openai-completions", apiKey: KEY, models: [one] };
  return {
    args: ["--extension", file("imprint.ts"), "--provider", "imprint", "--model", model],
    env: { [KEY]: token, PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" },
    files: { "imprint.ts": `export default (pi) => pi.registerProvider("imprint", ${json(provider).trimEnd()});\n` },
  };
};

const continueCli = ({ base, token, model, context, output, file }: Target): Settings => ({
  args: ["--config", file("config.yaml")],
  env: { CONTINUE_TELEMETRY_ENABLED: "0", CONTINUE_CLI_ENABLE_TELEMETRY: "0" },
  files: {
    // YAML reads JSON.
    "config.yaml": json({
      name: "Imprint",
      version: "1.0.0",
      schema: "v1",
      models: [
        {
          name: model,
          provider: "openai",
          model,
          apiBase: `${base}/v1`,
          apiKey: token,
          roles: ["chat"],
          capabilities: ["tool_use"],
          defaultCompletionOptions: { contextLength: context, maxTokens: output },
        },
      ],
    }),
  },
});

/** Where Cline's hub says how it is found, apart from the user's own: it would answer the user's next sessions, without settings. */
export const HUB = "hub.json";

const cline = ({ base, token, model, file }: Target): Settings => {
  const provider = "openai-compatible";
  const settings = { provider, apiKey: token, model, baseUrl: `${base}/v1` };
  const known = { [provider]: { settings, updatedAt: new Date(0).toISOString(), tokenSource: "manual" } };
  return {
    args: ["--provider", provider, "--model", model],
    env: {
      CLINE_PROVIDER_SETTINGS_PATH: file("providers.json"),
      // A hub would be shared with sessions of other models, and would outlive this one; its terminal starts one all the same.
      CLINE_SESSION_BACKEND_MODE: "local",
      CLINE_HUB_DISCOVERY_PATH: file(HUB),
      CLINE_TELEMETRY_DISABLED: "1",
      OTEL_SDK_DISABLED: "true",
      CLINE_NO_AUTO_UPDATE: "1",
    },
    files: { "providers.json": json({ version: 1, lastUsedProvider: provider, modes: {}, providers: known }) },
  };
};

/** By the names that the command takes. */
export const AGENTS: Readonly<Record<string, Agent>> = {
  opencode: {
    name: "opencode",
    program: "opencode",
    install: "npm install -g opencode-ai",
    settings: opencode,
    alone: (prompt) => ["run", prompt],
  },
  codex: {
    name: "codex",
    program: "codex",
    install: "npm install -g @openai/codex",
    settings: codex,
    alone: (prompt) => ["exec", "--dangerously-bypass-approvals-and-sandbox", prompt],
  },
  claude: {
    name: "claude-code",
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    settings: claude,
    alone: (prompt) => ["-p", prompt, "--permission-mode", "acceptEdits", "--allowedTools=Bash"],
  },
  aider: {
    name: "aider",
    program: "aider",
    install: "uv tool install aider-chat",
    settings: aider,
    alone: (prompt) => ["--message", prompt, "--yes-always", "--no-pretty", "--no-detect-urls", "--no-auto-commits"],
  },
  mini: {
    name: "mini-swe-agent",
    program: "mini",
    install: "uv tool install mini-swe-agent --with mcp",
    settings: mini,
    alone: (prompt) => ["-t", prompt, "-y", "--exit-immediately"],
  },
  pi: {
    name: "pi",
    program: "pi",
    install: "npm install -g @earendil-works/pi-coding-agent",
    settings: pi,
    alone: (prompt) => ["-p", prompt],
  },
  continue: {
    name: "continue",
    program: "cn",
    install: "npm install -g @continuedev/cli",
    settings: continueCli,
    alone: (prompt) => ["-p", prompt, "--auto"],
  },
  cline: { name: "cline", program: "cline", install: "npm install -g cline", settings: cline, alone: (prompt) => [prompt] },
};

/** The agent of a name. Throws a UsageError that says which there are. */
export function agentOf(name: string, where: string): Agent {
  const agent = Object.hasOwn(AGENTS, name) ? AGENTS[name] : undefined;
  if (agent === undefined) throw new UsageError(`${where} is one of ${Object.keys(AGENTS).join(", ")}, not "${name}"`);
  return agent;
}

/** Where the model's files do not say how much it reads. */
const CONTEXT = 32_768;
const LONGEST_ANSWER = 4096;

interface Asked extends Pick<Target, "base" | "token" | "model"> {
  /** Tokens, where they are known. */
  readonly context: number | null;
  /** Where the temporary files are to be. */
  readonly folder: string;
}

/** What makes an agent ask there: with `folder` for its files, and room for answers within the context. */
export function settingsFor(agent: Agent, { context, folder, ...asked }: Asked): Settings {
  const window = context ?? CONTEXT;
  const output = Math.min(LONGEST_ANSWER, Math.floor(window / 4));
  return agent.settings({ ...asked, context: window, output, file: (name) => path.join(folder, name) });
}

/** Writes the files of settings, which hold a token, for their owner alone. */
export async function writeFiles(folder: string, { files }: Settings): Promise<void> {
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(folder, file), text, { mode: 0o600 });
}
