#!/usr/bin/env node
// node scripts/record-corpus.mjs MIRRORS OUT [hypernetwork|efficacy]: the sessions that bench/NAME/corpus.json names, as canonical
// JSON in OUT/SPLIT/GROUP. MIRRORS holds a git directory OWNER+NAME for each repository.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { importSessions } from "../packages/sessions/dist/index.js";
import { chooseSessions, namedSessions } from "./lib/recorded-corpus.mjs";
import { userPath } from "./lib/trainer.mjs";

// What the hypernetwork reads is chosen here from all that is recorded; groups of the study name their sessions, oldest first.
const CHOICES = { hypernetwork: chooseSessions, efficacy: (sessions, _seen, row) => namedSessions(sessions, row) };

const [mirrors, out] = process.argv.slice(2, 4).map(userPath);
const name = process.argv[4] ?? "hypernetwork";
const choose = Object.hasOwn(CHOICES, name) ? CHOICES[name] : undefined;
if (!out || !choose) {
  process.stderr.write("Name the folder of git mirrors, the folder to write to, and hypernetwork or efficacy.\n");
  process.exit(2);
}

function gitDirectory(repository) {
  const folder = path.join(mirrors, repository.replace("/", "+"));
  return ["", "repo/.git", "repo"].map((part) => path.join(folder, part)).find((one) => existsSync(path.join(one, "HEAD")));
}

async function sessionsOf(directory, commit, file) {
  const bytes = execFileSync("git", ["--git-dir", directory, "show", `${commit}:${file}`], { maxBuffer: 2 ** 28 });
  try {
    return (await importSessions([{ name: path.basename(file), bytes }])).sessions;
  } catch (error) {
    if (error?.code !== "SESSION_UNREADABLE") throw error;
    return [];
  }
}

const seen = new Set();
const manifest = new URL(`../bench/${name}/corpus.json`, import.meta.url);
for (const row of JSON.parse(readFileSync(manifest, "utf8"))) {
  const { group, split, repository, recorded_in = repository, commit, paths } = row;
  const directory = gitDirectory(recorded_in);
  if (!directory) {
    process.stdout.write(`${group}: no mirror of ${recorded_in}\n`);
    continue;
  }
  const sessions = [];
  for (const file of paths) sessions.push(...(await sessionsOf(directory, commit, file)));
  const chosen = choose(sessions, seen, row);
  const folder = path.join(out, split, group);
  mkdirSync(folder, { recursive: true });
  for (const [index, session] of chosen.entries())
    writeFileSync(path.join(folder, `${String(index + 1).padStart(2, "0")}.json`), JSON.stringify(session));
  process.stdout.write(`${group}: ${chosen.length} of ${sessions.length} sessions\n`);
}
