import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { fetchFiles } from "../export/fetch-files.js";
import { fullId } from "../ids/full-id.js";
import { configFor, withService } from "../service/connect.js";
import { runTrainer } from "../service/trainer.js";
import { wholeFiles } from "./export.js";

const MODULE = "imprint_trainer.hub";
const REPO = /^[A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9][\w.-]{0,95}$/;

interface Pushed {
  readonly repo: string;
  readonly url: string;
  readonly commit: string;
}

export function pushCommand(context: CommandContext): Command {
  return newCommand({ name: "push", examples: ["push gates-v1 my-name/gates-v1 --private"] })
    .argument("<id>", "id of the adapter, the beginning of it, or latest")
    .argument("<repo>", "repository on the hub, owner/name; made when it is not there")
    .option("--private", "make a new repository private")
    .addHelpText(
      "after",
      "\nThe token is HF_TOKEN, or that of the hub's own login (hf auth login). HF_ENDPOINT names another hub.",
    )
    .action(async (given: string, repo: string, options: CommonOptions & { private?: boolean }) => {
      if (!REPO.test(repo)) throw new UsageError(`<repo> is owner/name, not "${repo}"`);
      const printer = printerOf(context, options);
      const config = configFor(options, context.io.env);
      const folder = await mkdtemp(path.join(tmpdir(), "imprint-push-"));
      try {
        const adapterId = await withService({ io: context.io, options, note: printer.note }, async (service) => {
          const adapterId = await fullId(given, { kind: "adapter", client: service.client, note: printer.note });
          const files = await wholeFiles(service, adapterId);
          await fetchFiles({ client: service.client, adapterId, files, folder });
          return adapterId;
        });
        const flags = options.private ? ["--private"] : [];
        const [pushed] = (await runTrainer(config, MODULE, [folder, repo, ...flags], { online: true })) as readonly Pushed[];
        printer.result(pushed, () => `${adapterId} is at ${pushed?.url}`);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
}
