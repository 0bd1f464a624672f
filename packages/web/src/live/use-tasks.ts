import type { TaskReport } from "@imprint/contracts";
import { useEffect } from "react";
import { api } from "../api.js";
import { type Loaded, useLoad } from "../load/use-load.js";

const LOOK_EVERY_MS = 3_000;

/** What was measured of an adapter on tasks, looked at again while a command may measure on. */
export function useTasks(adapterId: string): Loaded<TaskReport> {
  const loaded = useLoad(`tasks ${adapterId}`, (signal) => api.adapters.tasks(adapterId, { signal }));
  const { value, reload } = loaded;
  const goesOn = value !== null && value.verdict === null;
  useEffect(() => {
    if (!goesOn) return;
    const timer = setInterval(reload, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [goesOn, reload]);
  return loaded;
}
