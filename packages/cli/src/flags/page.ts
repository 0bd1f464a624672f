import type { Command } from "commander";
import { UsageError } from "../errors.js";

export interface PageOptions {
  readonly limit?: string;
  readonly after?: string;
}

export const pageOptions = (command: Command): Command =>
  command.option("--limit <n>", "at most so many (1-1000)").option("--after <id>", "go on after this one");

/** The query of a list call. Throws a UsageError for a limit that is no number. */
export function pageQuery({ limit, after }: PageOptions): { readonly limit?: number; readonly after?: string } {
  if (limit !== undefined && !(/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= 1000)) {
    throw new UsageError(`--limit takes a whole number from 1 to 1000, not "${limit}"`);
  }
  return { ...(limit !== undefined && { limit: Number(limit) }), ...(after !== undefined && { after }) };
}
