import path from "node:path";
import { type Facts, peekFacts } from "@imprint/sessions";
import { UsageError } from "../errors.js";
import { AIDER_HISTORY, agentFolders, isThere } from "../files/agent-folders.js";
import type { Candidate } from "../files/candidate.js";
import { hashOf } from "../files/folder-beside.js";
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

/** Whether the folder that a recording lies in is called by the hash of another, as Gemini's were. */
const isKeptOf = ({ path: file }: Candidate, folder: string): boolean =>
  path.basename(path.dirname(path.dirname(file))) === hashOf(folder);

/** Where a recording was made; null where it is none. */
export async function factsOfCandidate(candidate: Candidate): Promise<Pick<Facts, "folder" | "repository"> | null> {
  const { folder } = candidate;
  if (folder !== undefined) return { folder, repository: path.basename(folder) };
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
    if (repository !== null && isKeptOf(candidate, repository.root)) return true;
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
        // Gemini's folder is called by the hash of this one, which nothing else may know.
        const folder = candidate.folder ?? (repository && isKeptOf(candidate, repository.root) ? repository.root : undefined);
        if (found.isOwn === true) own.push(folder === undefined ? candidate : { ...candidate, folder });
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
