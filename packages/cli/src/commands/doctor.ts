import path from "node:path";
import { type Config, ConfigError } from "@imprint/server/configuration";
import { dataPaths, keptCheckpoints } from "@imprint/server/stored";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { type Finding, missing, ok, warning } from "../doctor/check.js";
import { checkEngine, checkServed } from "../doctor/engine.js";
import { checkDataDir, checkDisk, checkMemory, checkNode } from "../doctor/machine.js";
import { checkModel } from "../doctor/model.js";
import { PLAN_OPTIONS, planMemory, planOptions } from "../doctor/plan.js";
import { checkPython } from "../doctor/python.js";
import { checkSessions } from "../doctor/sessions.js";
import { UsageError } from "../errors.js";
import { readFlags } from "../flags/from-schema.js";
import type { Paint } from "../output/paint.js";
import { count } from "../output/text.js";
import { inCommandWords } from "../output/wording.js";
import { configFor } from "../service/connect.js";
import { discover } from "../service/discover.js";

/** Whether something can go on whose job is over, or lost with its service. */
async function checkCheckpoints({ settings: { data_dir }, token }: Config): Promise<Finding> {
  const found = await discover({ dataDir: data_dir, token });
  const kept = found ? (await found.client.jobs.list({ limit: 1 })).left.checkpoints : await keptCheckpoints(dataPaths(data_dir));
  if (kept.length === 0) return ok("checkpoints", "nothing was left unfinished");
  const ids = kept.map(({ job_id }) => job_id).join(", ");
  return warning(
    "checkpoints",
    `can go on: ${ids}`,
    "imprint train --resume JOB goes on, imprint salvage JOB uses it as it is; of sweeps: imprint sweep --resume JOB.",
  );
}

async function checkService({ settings, token }: Config): Promise<Finding> {
  const found = await discover({ dataDir: settings.data_dir, token });
  if (found !== null) return ok("service", `running at ${found.url}`);
  return warning("service", "not running", "imprint serve starts it; commands run without it, more slowly.");
}

function modelFolders({ settings: { base_model, data_dir }, setup }: Config): readonly string[] {
  const prepared = setup?.models[base_model];
  return [...(prepared === undefined ? [] : [prepared]), path.join(data_dir, "models", base_model), base_model];
}

/** Which settings are not the defaults, and where their values come from. */
function configuration({ origins }: Config): Finding {
  const chosen = Object.entries(origins).filter(([, origin]) => origin !== "default");
  const said = chosen.map(([name, origin]) => `${name} from ${origin}`).join(", ");
  return ok("configuration", chosen.length === 0 ? "all defaults" : `${said}; the rest are defaults`);
}

const SIGNS = { ok: ["green", "✓"], warning: ["yellow", "!"], missing: ["red", "✗"] } as const;

function report(found: readonly Finding[], paint: Paint): string {
  const width = Math.max(...found.map(({ name }) => name.length));
  const lines = found.flatMap(({ name, status, detail, remedy }) => {
    const [colour, sign] = SIGNS[status];
    const indent = " ".repeat(width + 4);
    return [
      `${paint(colour, sign)} ${name.padEnd(width)}  ${detail}`,
      ...(remedy === undefined ? [] : [indent + paint("dim", remedy)]),
    ];
  });
  const absent = found.filter(({ status }) => status === "missing").length;
  return [...lines, "", absent === 0 ? "Ready to train." : `${count(absent, "thing")} missing.`].join("\n");
}

async function findings(load: () => Config): Promise<readonly Finding[]> {
  const node = checkNode(process.versions.node);
  let config: Config;
  try {
    config = load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [
      node,
      missing("configuration", error.problems.join("; "), "Correct the setting; docs/configuration.md lists them all."),
    ];
  }
  const { data_dir, python, base_model, session_limit } = config.settings;
  return [
    node,
    configuration(config),
    ...(await checkPython({ python, repoRoot: config.repoRoot })),
    await checkModel({ baseModel: base_model, folders: modelFolders(config) }),
    ...(await checkEngine(config)),
    ...(await checkServed(config)),
    await checkDataDir(data_dir),
    await checkSessions({ dataDir: data_dir, limit: session_limit }),
    await checkCheckpoints(config),
    await checkDisk(data_dir),
    checkMemory(),
    await checkService(config),
  ];
}

interface DoctorOptions extends CommonOptions {
  readonly plan?: boolean;
  readonly baseModel?: string;
}

export function doctorCommand(context: CommandContext): Command {
  const command = newCommand({
    name: "doctor",
    examples: ["doctor", "doctor --json", "doctor --plan harborline-gates", "doctor --plan --rank 64 --max-length 16384"],
    service: "data directory",
  })
    .argument("[session]", "with --plan: a stored session, by id, its beginning, or latest")
    .option("--plan", "say what memory a training takes, and what would fit");
  for (const option of planOptions()) command.addOption(option);
  return command.action(async (session: string | undefined, options: DoctorOptions) => {
    const printer = printerOf(context, options);
    if (options.plan === true) return planMemory(session, { context, printer, options });
    if (session !== undefined || Object.keys(readFlags(PLAN_OPTIONS, { ...options })).length > 0)
      throw new UsageError("SESSION and the options of a training stand beside --plan");
    const found = await findings(() => configFor(options, context.io.env));
    const { name } = context.io;
    const checks = found.map((one) => (one.remedy === undefined ? one : { ...one, remedy: inCommandWords(one.remedy, name) }));
    const ready = checks.every(({ status }) => status !== "missing");
    context.state.exitCode = ready ? 0 : 1;
    printer.result({ ready, checks }, () => report(checks, context.io.paint.out));
  });
}
