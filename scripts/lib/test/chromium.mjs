import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { CommandFailure } from "../process/failures.mjs";
import { run } from "../process/run.mjs";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const ELSEWHERE = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];
const INSTALL_MS = 10 * 60_000;

export const NO_CHROMIUM =
  "The dashboard's tests need Chromium: install it (Debian, Ubuntu: apt-get install chromium), or set IMPRINT_CHROMIUM to its program.";

const onPath = (name, env) => (env.PATH ?? "").split(path.delimiter).map((folder) => path.join(folder, name));

/** The browser's program: what IMPRINT_CHROMIUM names, else the first that is found; null without one. */
export function findChromium({ env = process.env, exists = existsSync } = {}) {
  const places = env.IMPRINT_CHROMIUM ? [env.IMPRINT_CHROMIUM] : [...NAMES.flatMap((name) => onPath(name, env)), ...ELSEWHERE];
  return places.find((place) => exists(place)) ?? null;
}

const isDebianRoot = (env) => process.getuid?.() === 0 && onPath("apt-get", env).some((place) => existsSync(place));

/** Installs Debian's Chromium where there is none and it may. Otherwise the tests themselves say what is missing. */
export async function provideChromium({ env, signal, print }) {
  if (findChromium({ env }) !== null || env.IMPRINT_CHROMIUM || !isDebianRoot(env)) return;
  print("Installing Chromium for the dashboard's tests.");
  const options = { env: { ...env, DEBIAN_FRONTEND: "noninteractive" }, signal, timeoutMs: INSTALL_MS };
  const apt = (args) => run("apt-get", args, { ...options, name: `apt-get ${args[0]}` });
  try {
    // The package lists may be old or not there at all.
    await apt(["update"]);
    await apt(["install", "-y", "--no-install-recommends", "chromium"]);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    print(error.message);
  }
}
