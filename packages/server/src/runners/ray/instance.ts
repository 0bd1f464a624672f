import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const read = (file: string): string | null => {
  try {
    const text = readFileSync(file, "utf8").trim();
    return /^[0-9a-f]{12}$/.test(text) ? text : null;
  } catch {
    return null;
  }
};

/** What tells the jobs of this data directory from those of others on the same cluster; made once. */
export const instanceOf = (dataDir: string): string => {
  const file = join(dataDir, "instance");
  const known = read(file);
  if (known !== null) return known;
  const made = randomBytes(6).toString("hex");
  const whole = `${file}.${made}`;
  writeFileSync(whole, `${made}\n`, { mode: 0o600 });
  renameSync(whole, file);
  return made;
};
