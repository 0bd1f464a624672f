import { ImprintError } from "../../common/error.js";
import { type EngineJob, lastLine, type Reply } from "./jobs-api.js";

/** What is known of an attempt that has not written its end. Times are in milliseconds of the service's own clock. */
export interface Seen {
  readonly now: number;
  /** Its supervisor has begun. */
  readonly started: boolean;
  /** When its files last grew, or the engine last said that it waits for its turn. */
  readonly lastSign: number;
  /** The engine's last answer, and since when it answers so. */
  readonly engine: { readonly reply: Reply<EngineJob>; readonly since: number } | null;
  /** When it was told to stop for good, and whether the engine has taken that in. */
  readonly killed: { readonly at: number; readonly acknowledged: boolean } | null;
}

export interface Limits {
  /** How long files may stand still when the engine says that the job is over, or knows nothing of it. */
  readonly lostAfterMs: number;
  /** How long they may whatever the engine says. */
  readonly patienceMs: number;
  /** How long whoever kills a job waits for its end. */
  readonly killMs: number;
}

/** `gone`: nothing of it runs. `lost`: it came to nothing; `again` where the cluster is to blame, and another attempt may do. */
export type Loss = { readonly type: "gone" } | { readonly type: "lost"; readonly error: ImprintError; readonly again: boolean };

const TERMINAL = ["STOPPED", "SUCCEEDED", "FAILED"];
const OF_CLUSTER = ["JOB_SUPERVISOR_ACTOR_DIED", "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE", "JOB_SUPERVISOR_ACTOR_START_FAILURE"];

/** The last words of a supervisor that could not leave an end (imprint_node/fetch.py). */
const STORE_SAYS = /^ Ray says: (DISK_FULL|STORAGE_FAILED): /;

const overOnEngine = (reply: Reply<EngineJob>): boolean =>
  reply.type === "missing" || (reply.type === "ok" && TERMINAL.includes(reply.value.status));

const lostTo = ({ reply }: { readonly reply: Reply<EngineJob> }): Loss => {
  if (reply.type !== "ok")
    return {
      type: "lost",
      again: true,
      error: new ImprintError("CLUSTER_LOST", "The cluster knows nothing of the job any more."),
    };
  const { status, message, error_type } = reply.value;
  if (OF_CLUSTER.includes(error_type ?? ""))
    return { type: "lost", again: true, error: new ImprintError("CLUSTER_LOST", "The machine that the job ran on is gone.") };
  if (status === "STOPPED")
    return { type: "lost", again: false, error: new ImprintError("CLUSTER_LOST", "The job was stopped on the cluster.") };
  const says = message ? ` Ray says: ${lastLine(message)}` : "";
  const ofStore = STORE_SAYS.exec(says);
  if (ofStore) {
    const sentence = `The node could not use the shared storage.${says}`;
    return { type: "lost", again: false, error: new ImprintError(ofStore[1] as "DISK_FULL" | "STORAGE_FAILED", sentence) };
  }
  const code = status === "SUCCEEDED" ? "WORKER_NO_RESULT" : "WORKER_CRASHED";
  return { type: "lost", again: false, error: new ImprintError(code, `The job ended on the cluster and left no end.${says}`) };
};

/** Whether an attempt that wrote no end is over. The engine's word alone never is enough: its files have to stand still too. */
export const lossOf = ({ now, started, lastSign, engine, killed }: Seen, limits: Limits): Loss | null => {
  if (killed) {
    const neverBegins = killed.acknowledged && !started; // and would stop itself: stop.json is there
    const over = engine !== null && overOnEngine(engine.reply);
    return neverBegins || over || now - killed.at >= limits.killMs ? { type: "gone" } : null;
  }
  if (engine && overOnEngine(engine.reply) && now - Math.max(lastSign, engine.since) >= limits.lostAfterMs) return lostTo(engine);
  if (now - lastSign < limits.patienceMs) return null;
  const seconds = Math.round(limits.patienceMs / 1000);
  if (engine?.reply.type === "unreachable" || engine?.reply.type === "refused") {
    const sentence = `The cluster does not answer (${engine.reply.why}), and the job gave no sign of life for ${seconds} seconds.`;
    return { type: "lost", again: false, error: new ImprintError("CLUSTER_UNREACHABLE", sentence) };
  }
  return {
    type: "lost",
    again: true,
    error: new ImprintError("WORKER_SILENT", `The trainer on the cluster said nothing for ${seconds} seconds.`),
  };
};
