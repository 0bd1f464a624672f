import { dataPaths, unreadSessions } from "@imprint/server/stored";
import { count } from "../output/text.js";
import { type Finding, ok, warning } from "./check.js";

/** Strays that are named. */
const NAMED = 5;

/** Whether all that lies in the sessions' folder is read by the service. */
export async function checkSessions({ dataDir, limit }: { dataDir: string; limit: number }): Promise<Finding> {
  const unread = await unreadSessions(dataPaths(dataDir).sessions, limit);
  if (unread.length === 0) return ok("sessions", "every file can be opened");
  const named = unread.slice(0, NAMED).map(({ name, why }) => `${name}: ${why}`);
  const more = unread.length > NAMED ? [`and ${unread.length - NAMED} more`] : [];
  return warning(
    "sessions",
    `${count(unread.length, "file")} not read (${[...named, ...more].join("; ")})`,
    "Put regular files into the sessions folder of the data directory, or raise session_limit.",
  );
}
