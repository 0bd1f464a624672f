import { existsSync } from "node:fs";
import path from "node:path";
import type { Session } from "@imprint/contracts";
import { UsageError } from "../../errors.js";
import { inTemporary } from "../folders.js";
import type { Sandbox } from "../sandbox.js";
import { type LoadedTask, writeTask } from "../task-file.js";
import { installedIn, makeWorkspace } from "../workspace.js";
import { endCommit } from "./end-commit.js";
import { type Git, gitIn, linesOf } from "./git.js";
import { type Solution, solutionBetween } from "./patch.js";
import { type Recorded, recordedWork } from "./recorded.js";
import { replayed } from "./replay.js";
import { commandIn, type Request, requestsOf } from "./request.js";
import { type Start, startCommit } from "./start-commit.js";
import { checkOf, checksIn, type TestRun, testRuns } from "./test-runs.js";
import { tryTask } from "./try-task.js";

export interface MakeTask {
  readonly session: Session;
  /** A folder that git keeps. */
  readonly repo: string;
  /** The folder that the task's file goes to. */
  readonly into: string;
  readonly sandbox: Sandbox;
  readonly signal?: AbortSignal;
  /** Told what goes on. */
  readonly note: (text: string) => void;
}

/** A task that was verified and written, with what speaks for it; or why there is none. */
export type MadeTask = { readonly loaded: LoadedTask; readonly evidence: readonly string[] } | NotMade;

interface NotMade {
  /** As a sentence's part. */
  readonly why: string;
  readonly evidence: readonly string[];
}

const MOST_CHECKS = 3; // commands that are tried, each in a sandbox for minutes
const NAME_LENGTH = 48;

/** The first words of a request, as a task may be called. */
function nameOf(request: string, session: Session): string {
  const words = request.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const whole = words.join("-");
  const short = whole.length > NAME_LENGTH ? whole.slice(0, NAME_LENGTH).replace(/-[^-]*$/, "") : whole;
  return (
    short ||
    `session-${session.session_id
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .slice(0, NAME_LENGTH)}`
  );
}

/** What sets up a check: a virtual environment's programs come first, as where it is activated. */
async function setUpOf(loaded: LoadedTask): Promise<string> {
  const found = (await installedIn(loaded)).map((place) => path.basename(place)).find((name) => name.endsWith("venv"));
  return found === undefined ? "" : `export PATH="$PWD/${found}/bin:$PATH" && `;
}

/** The states that the session may have left, the surest first. */
async function solutionsOf(git: Git, given: { start: Start; work: Recorded; base: LoadedTask }): Promise<readonly Solution[]> {
  const { start, work, base } = given;
  const end = await endCommit({ git, start: start.commit, ...work });
  const committed = end && (await solutionBetween(git, [start.commit, end.commit], end.from));
  const own =
    work.edits.length === 0
      ? null
      : await inTemporary(async (workspace) => {
          await makeWorkspace(base, workspace);
          return replayed({ workspace, ...work });
        });
  return [committed, own].filter((one) => one !== null);
}

/** What was asked until the tests passed that check it. */
function promptUntil(run: TestRun, requests: readonly Request[]): readonly string[] {
  const [first, ...later] = requests;
  return first === undefined ? [] : [first, ...later.filter(({ at }) => at < run.step)].map(({ text }) => text);
}

/** What the start, the check and the solution rest on. */
function evidenceOf(start: Start, run: TestRun | undefined, solution: Solution | undefined): readonly string[] {
  const { different, commit, evidence } = start;
  return [
    `It begins at ${commit.slice(0, 10)}: ${evidence.join("; ")}.`,
    ...(different.length === 0
      ? []
      : [
          `Changes that were not committed when it began are not known: ${different.slice(0, 3).join(", ")} ${different.length === 1 ? "was" : "were"} read otherwise.`,
        ]),
    ...(run === undefined ? [] : [`The check is \`${checkOf(run)}\`, which passed in the recording.`]),
    ...(solution === undefined ? [] : [`The solution is ${solution.from}.`]),
  ];
}

/** Makes a task of a session in a repository, checks that it fails before and passes with what the session left, and writes it. Throws a UsageError where its file is there. */
export async function makeTask({ session, repo, into, sandbox, signal, note }: MakeTask): Promise<MadeTask> {
  const git = gitIn(repo);
  const none = (why: string, evidence: readonly string[] = []): MadeTask => ({ why, evidence });
  if (linesOf(await git("rev-list", "--all", "--max-count=1")).length === 0) return none(`${repo} holds no commit of git`);
  const requests = requestsOf(session);
  const command = commandIn(session);
  if (requests[0] === undefined)
    return none(
      command === null
        ? "nobody asks for anything in the recording"
        : `nobody asks for anything in the recording but by ${command}, whose text is the agent's own`,
    );
  const known = new Set(linesOf(await git("log", "--all", "--format=", "--name-only", "--no-renames")));
  const work = recordedWork(session, known);
  if (work === null) return none("none of the files that it names was ever in the repository");
  const { checks, why } = checksIn(testRuns(work.ran, work.root));
  if (why !== null) return none(why);
  const start = await startCommit({ git, known, branch: session.source.branch ?? null, ...work });
  if (typeof start === "string") return none(start);

  const repository = path.relative(into, repo) || ".";
  const bare = {
    name: nameOf(requests[0].text, session),
    repository,
    commit: start.commit,
    prompt: requests[0].text,
    check: "true",
  };
  const loadedOf = (task: LoadedTask["task"]): LoadedTask => ({ task, file: path.join(path.resolve(into), `${task.name}.yaml`) });
  const { file } = loadedOf(bare);
  if (existsSync(file)) throw new UsageError(`${file} is there: remove it with tasks rm ${bare.name}, or choose another folder`);
  const solutions = await solutionsOf(git, { start, work, base: loadedOf(bare) });
  if (solutions.length === 0)
    return none("it left no change that its edits or a commit hold", evidenceOf(start, undefined, undefined));

  const setUp = await setUpOf(loadedOf(bare));
  const reasons: NotMade[] = [];
  for (const run of checks.slice(0, MOST_CHECKS))
    for (const solution of solutions) {
      note(`trying ${checkOf(run)} before and after ${solution.from}`);
      const prompt = promptUntil(run, requests).join("\n\n");
      const tests = Object.keys(solution.tests).length === 0 ? {} : { check_files: solution.tests };
      const task = { ...bare, prompt, check: setUp + checkOf(run), ...tests, solution: solution.patch };
      const tried = await tryTask(loadedOf(task), { known, sandbox, ...(signal && { signal }) });
      const evidence = evidenceOf(start, run, solution);
      if (signal?.aborted) return none("it was interrupted", evidence);
      if (typeof tried !== "string") return { loaded: { ...tried, file: await writeTask(into, tried.task) }, evidence };
      reasons.push({ why: tried, evidence });
    }
  return reasons[0] ?? none("its tests failed at the end");
}
