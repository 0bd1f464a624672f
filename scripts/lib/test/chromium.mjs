import { existsSync } from "node:fs";
import process from "node:process";
import { installPackage, onPath } from "./debian.mjs";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const ELSEWHERE = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

export const NO_CHROMIUM =
  "The dashboard's tests need Chromium: install it (Debian, Ubuntu: apt-get install chromium), or set IMPRINT_CHROMIUM to its program.";

/** The browser's program: what IMPRINT_CHROMIUM names, else the first that is found; null without one. */
export function findChromium({ env = process.env, exists = existsSync } = {}) {
  const places = env.IMPRINT_CHROMIUM ? [env.IMPRINT_CHROMIUM] : [...NAMES.flatMap((name) => onPath(name, env)), ...ELSEWHERE];
  return places.find((place) => exists(place)) ?? null;
}

/** Installs Debian's Chromium where there is none and it may. */
export async function provideChromium({ env, ...rest }) {
  if (findChromium({ env }) !== null || env.IMPRINT_CHROMIUM) return;
  await installPackage("chromium", { ...rest, env, reason: "Installing Chromium for the dashboard's tests." });
}
