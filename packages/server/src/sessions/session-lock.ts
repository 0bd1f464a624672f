import { createKeyedLock, type KeyedLock } from "../common/keyed-lock.js";
import type { Leases } from "../storage/leases.js";

/** Leases of a database are few: one is of all sessions whose ids have the same sum. */
const STRIPES = 64;

const stripeOf = (sessionId: string): string => {
  let sum = 0;
  for (let at = 0; at < sessionId.length; at += 1) sum = (Math.imul(sum, 31) + sessionId.charCodeAt(at)) >>> 0;
  return `sessions:${sum % STRIPES}`;
};

/** For whoever changes a session, or has to see no change of it: in this service, and in those that share its sessions. */
export const createSessionLock = (leases: Leases): KeyedLock => {
  const lock = createKeyedLock();
  if (!leases.shared) return lock;
  return (ids, work) => lock(ids, () => leases.hold([...new Set(ids.map(stripeOf))], work));
};
