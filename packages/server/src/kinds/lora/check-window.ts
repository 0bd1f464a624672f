import { ProblemError } from "../../http/problem.js";

/** How many windows there are is known only once the sessions were read. */
export const checkWindow = (window: number | null, windows: number): void => {
  if (window === null || window <= windows) return;
  const message = `must be at most ${windows}, the number of windows that these sessions make`;
  throw new ProblemError("VALIDATION_FAILED", `Field window ${message}.`, { errors: [{ path: "/window", message }] });
};
