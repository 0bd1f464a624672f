import type { Imprint } from "@imprint/client";
import { type Command, Option } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { findId } from "../ids/full-id.js";
import { ask, canAsk, isYes } from "../output/ask.js";
import { withService } from "../service/connect.js";

const DELETABLE = ["session", "adapter", "project"] as const;
type Deletable = (typeof DELETABLE)[number];
/** A project is meant where --kind says so, by its whole name: what its adapters begin with is no way to delete it. */
const BY_ID = ["session", "adapter"] as const;

interface Doomed {
  readonly kind: Deletable;
  readonly id: string;
}

interface DeleteOptions extends CommonOptions {
  readonly kind?: Deletable;
  readonly purge?: boolean;
  readonly yes?: boolean;
}

/** What an id, the beginning of one, or `latest` means. Throws a UsageError when that is nothing, two things, or a job. */
async function doomed(given: string, kinds: readonly (typeof BY_ID)[number][], client: Imprint): Promise<Doomed> {
  const found: Doomed[] = [];
  for (const kind of kinds) {
    const id = await findId(given, kind, client);
    if (id !== null) found.push({ kind, id });
  }
  const exact = found.filter(({ id }) => id === given);
  const [one, other] = exact.length > 0 ? exact : found;
  if (one !== undefined && other !== undefined)
    throw new UsageError(
      `"${given}" is the ${one.kind} ${one.id} or the ${other.kind} ${other.id}: add --kind session or --kind adapter`,
    );
  if (one !== undefined) return one;
  const job = await findId(given, "job", client);
  if (job !== null)
    throw new UsageError(`${job} is a job, and jobs are not deleted: the service forgets them. imprint cancel ${job} stops it`);
  if (await isProject(given, client)) throw new UsageError(`${given} is a project: add --kind project`);
  throw new UsageError(`there is no ${kinds.join(" or ")} ${given}: imprint sessions and imprint adapters list the ids`);
}

const isProject = async (name: string, client: Imprint): Promise<boolean> =>
  (await client.projects.list()).projects.some((project) => project.name === name);

async function doomedProject(name: string, client: Imprint): Promise<Doomed> {
  if (await isProject(name, client)) return { kind: "project", id: name };
  throw new UsageError(`there is no project ${name}: imprint projects lists their names`);
}

const remains = ({ kind }: Doomed, purged: boolean): string => {
  if (kind === "project") return "; its sessions and adapters stay";
  return kind === "session" || purged ? "" : " from the lists; its files stay";
};

const shown = ({ kind, id }: Doomed): string => `${kind} ${id}`;

export function deleteCommand(context: CommandContext): Command {
  return newCommand({
    name: "delete",
    examples: ["delete 5b0f6d1e", "delete gates-v1 gates-v2 --purge --yes", "delete shop --kind project"],
  })
    .argument("<id...>", "ids of sessions or adapters, or their beginnings; with --kind project, names of projects")
    .addOption(new Option("--kind <kind>", "only ids of this kind").choices(DELETABLE))
    .option("--purge", "remove the files of adapters too, not only the adapters from lists")
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      "\nAn adapter's id stays taken. Adapters trained on a deleted session stay, and keep what it taught them.\nOf a project its runs and NAME@latest go; its sessions and adapters stay.",
    )
    .action(async (given: string[], options: DeleteOptions) => {
      const { io, state } = context;
      const printer = printerOf(context, options);
      if (!options.yes && !canAsk(io)) throw new UsageError("without a terminal to ask on, delete wants --yes");
      const { kind: only } = options;
      if (only === "project" && options.purge) throw new UsageError("--purge is for adapters: those of a project stay");
      await withService({ io, options, note: printer.note }, async ({ client }) => {
        const all: Doomed[] = [];
        for (const one of given)
          all.push(only === "project" ? await doomedProject(one, client) : await doomed(one, only ? [only] : BY_ID, client));
        const each = [...new Map(all.map((one) => [shown(one), one])).values()];
        if (!options.yes) {
          const question = `Delete ${each.map(shown).join(", ")}${options.purge ? " and all files" : ""}? [y/N] `;
          const answer = await ask(io, question);
          if (!isYes(answer)) {
            state.exitCode = 1;
            return printer.result({ deleted: [] }, () => "Nothing is deleted.");
          }
        }
        for (const { kind, id } of each) {
          if (kind === "session") await client.sessions.delete(id);
          else if (kind === "project") await client.projects.delete(id);
          else await client.adapters.delete(id, { purge: options.purge === true });
        }
        const purged = options.purge === true;
        printer.result({ deleted: each, purged }, () =>
          each.map((one) => `Deleted ${shown(one)}${remains(one, purged)}.`).join("\n"),
        );
      });
    });
}
