import type { Log } from "../../src/common/error.js";

/** A log that remembers its lines. */
export function quietLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const keep = (level: string) => (_fields: object, message: string) => void lines.push(`${level}: ${message}`);
  return { lines, info: keep("info"), warn: keep("warn"), error: keep("error") };
}
