import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Facts, peekFacts } from "@imprint/sessions";
import { UsageError } from "../errors.js";
import { AIDER_HISTORY, agentFolders, isThere, workspaceFolder } from "../files/agent-folders.js";
import type { Candidate } from "../files/candidate.js";
import { sourcesOf } from "../files/recorded.js";
import { type Repository, repositoryAt } from "../files/repository.js";

/** Which recordings are a project's: those of one repository. */
export interface Scope {
  /** What the project keeps: the repository's name, or its top level. */
  readonly repository: string;
  /** Where the known agents have recordings of it, among others. */
  places(env: NodeJS.ProcessEnv): Promise<readonly string[]>;
  /** Its recordings, which are asked before they are imported. */
  filter(candidates: readonly Candidate[]): Promise<readonly Candidate[]>;
}

/** Whether a text is a folder's path and no name. */
export const isPlace = (text: string): boolean => /[/\\]/.test(text) || text === "." || text === "..";

/** The folder that a recording was made in where its place says it: its text does not, and so for Gemini's, aider's and VS Code's. */
async function folderBeside(file: string): Promise<string | null> {
  const above = path.dirname(path.dirname(file));
  if (path.basename(file) === AIDER_HISTORY) return path.resolve(path.dirname(file));
  if (path.basename(path.dirname(file)) === "chatSessions") return workspaceFolder(above);
  const told = await readFile(path.join(above, ".project_root"), "utf8").catch(() => "");
  return told.trim() || null;
}

/** Gemini's folders are called by what they are of, hashed. */
const hashOf = (folder: string): string => createHash("sha256").update(folder).digest("hex");

async function factsOfCandidate(candidate: Candidate): Promise<Pick<Facts, "folder" | "repository"> | null> {
  const folder = await folderBeside(candidate.path);
  if (folder !== null) return { folder, repository: path.basename(folder) };
  try {
    return await peekFacts(sourcesOf(candidate));
  } catch {
    return null; // no recording: whoever imports it is told
  }
}

/** The recordings that were made in a repository, or of the name, among thousands of others. */
export async function scopeOf(given: string): Promise<Scope> {
  const repository: Repository | null = isPlace(given) ? await repositoryAt(given) : null;
  /** What was found of each file, until it is written to while its folder is not known yet. */
  const known = new Map<string, { readonly stamp: string; readonly isOwn: boolean | null }>();

  const isOwn = async (candidate: Candidate): Promise<boolean | null> => {
    const hash = path.basename(path.dirname(path.dirname(candidate.path)));
    if (repository !== null && hash === hashOf(repository.root)) return true;
    const facts = await factsOfCandidate(candidate);
    if (facts === null) return null;
    if (repository === null) return facts.repository === given;
    return facts.folder !== null && repository.holds(facts.folder);
  };

  return {
    repository: repository?.root ?? given,
    places: async (env) => {
      const isWanted = async (folder: string) =>
        repository === null ? path.basename(folder) === given : repository.holds(folder);
      const folders = await agentFolders(env, isWanted);
      const aider = repository && path.join(repository.root, AIDER_HISTORY);
      return aider && (await isThere(aider)) ? [...folders, aider] : folders;
    },
    filter: async (candidates) => {
      const own: Candidate[] = [];
      for (const candidate of candidates) {
        const stamp = `${candidate.size} ${candidate.modified}`;
        let found = known.get(candidate.path);
        if (found === undefined || (found.isOwn === null && found.stamp !== stamp)) {
          found = { stamp, isOwn: await isOwn(candidate) };
          known.set(candidate.path, found);
        }
        if (found.isOwn === true) own.push(candidate);
      }
      return own;
    },
  };
}

const NAME_LENGTH = 56;

/** What a repository's project is called: the repository's name, as far as a project's may be. */
export async function projectNameAt(folder: string): Promise<string> {
  const { name } = await repositoryAt(folder);
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "")
    .slice(0, NAME_LENGTH);
  if (plain === "") throw new UsageError(`${name} names no project: imprint project NAME --repository ${folder}`);
  return plain;
}
