/**
 * What one of several services on a data directory has to itself, by name. The database lets go of it when the service is gone, however
 * it went. A service that loses its connection takes again what it had once it is back.
 */
export interface Leases {
  /** Whether other services may work on the data directory. */
  readonly shared: boolean;
  /** Takes a name; false where another service has it. Twice is fine, and is let go of twice. */
  take(name: string): Promise<boolean>;
  release(name: string): Promise<void>;
  /** Has all of the names while it works, and waits for them. */
  hold<Result>(names: readonly string[], work: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Of the service that has the data directory to itself. */
export const soleLeases: Leases = {
  shared: false,
  take: async () => true,
  release: async () => undefined,
  hold: (_names, work) => work(),
  close: async () => undefined,
};

/** Leases end with their service: what they are of. */
export const leaseOf = {
  service: (id: string): string => `service:${id}`,
  job: (id: string): string => `job:${id}`,
  adapter: (id: string): string => `adapter:${id}`,
};

/** The job whose lease a name is; null for other leases. */
export const jobOfLease = (name: string): string | null => /^job:(.+)$/.exec(name)?.[1] ?? null;

/** Whether another service has it. */
export const isLeasedElsewhere = async (leases: Leases, name: string): Promise<boolean> => {
  if (!(await leases.take(name))) return true;
  await leases.release(name);
  return false;
};
