import { expect, it } from "vitest";
import { AGENTS, HUB, type Target } from "../../src/launch/agents.js";

const BASE = "http://127.0.0.1:7878/record/someone";
const TOKEN = "s3cret-of-the-service";
const TARGET: Target = {
  base: BASE,
  token: TOKEN,
  model: "gates-v1",
  context: 8192,
  output: 2048,
  file: (name) => `/temporary/${name}`,
};
const agents = Object.entries(AGENTS);

const all = (values: Readonly<Record<string, string>>): string => Object.values(values).join("\n");

it.each(agents)("%s is told where to ask and for which model", (_, { settings }) => {
  const { args, env, files } = settings(TARGET);
  const told = [...args, all(env), all(files)].join("\n");
  expect(told).toContain(BASE);
  expect(told).toContain("gates-v1");
});

it.each(agents)("%s gets the token where no list of processes shows it", (_, { settings }) => {
  const { args, env, files } = settings(TARGET);
  expect(args.join(" ")).not.toContain(TOKEN);
  expect(`${all(env)}${all(files)}`).toContain(TOKEN);
});

it.each(agents)("%s is pointed at every file that is written for it or by it, and at no other", (_, { name, settings }) => {
  const { args, env, files } = settings(TARGET);
  const pointed = [...args, all(env)].join("\n").match(/\/temporary\/[\w.]+/g) ?? [];
  expect(pointed.sort()).toEqual(
    [...Object.keys(files), ...(name === "cline" ? [HUB] : [])].map((file) => `/temporary/${file}`).sort(),
  );
});

it.each(agents)("%s is recorded under a name that an address takes", (_, { name }) => {
  expect(name).toMatch(/^[a-z0-9-]+$/);
});

it("lets opencode compact only where there is room beside its prompt", () => {
  const settingsAt = (context: number) => AGENTS.opencode?.settings({ ...TARGET, context }).env.OPENCODE_CONFIG_CONTENT ?? "{}";
  expect(JSON.parse(settingsAt(8192))).toMatchObject({ compaction: { auto: false } });
  expect(JSON.parse(settingsAt(32_768))).toMatchObject({ compaction: { auto: true } });
});

const settingsOfClaude = () => JSON.parse(AGENTS.claude?.settings(TARGET).files["settings.json"] ?? "{}");

it("lets Claude Code delete no recording that is older than its user's own limit", () => {
  const { cleanupPeriodDays } = settingsOfClaude();
  expect(cleanupPeriodDays).toBeGreaterThan(10_000);
});

it("keeps Claude Code out of the mode whose check its own servers make", () => {
  expect(settingsOfClaude().permissions).toEqual({ disableAutoMode: "disable" });
});

it("gives Claude Code fewer tools where the window is small", () => {
  const toolsAt = (context: number) => AGENTS.claude?.settings({ ...TARGET, context }).args.filter((one) => /^--tools/.test(one));
  expect(toolsAt(8192)).toHaveLength(1);
  expect(toolsAt(131_072)).toEqual([]);
});

it("tells Claude Code its window, which it would take for a million tokens, where there is room to compact in", () => {
  const windowAt = (context: number) => AGENTS.claude?.settings({ ...TARGET, context }).env.CLAUDE_CODE_MAX_CONTEXT_TOKENS;
  expect([8192, 32_768].map(windowAt)).toEqual([undefined, "32768"]);
});
