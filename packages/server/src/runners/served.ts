/** A model that another server answers for. */
export interface ServedModel {
  readonly id: string;
  readonly owned_by: string;
  /** Seconds since the epoch. */
  readonly created: number;
  /** Null where that server does not say. */
  readonly context_length: number | null;
}

/** What another server serves, asked anew each time: it may start, stop and change as it likes. */
export interface Served {
  /** Without the adapters that this service handed over. Rejects with ImprintError where the server does not answer. */
  models(): Promise<readonly ServedModel[]>;
}

const SCHEME = "upstream:";

/** How a chat's `base_model` names a model that only another server has. */
export const servedElsewhere = (id: string): string => `${SCHEME}${id}`;

/** Null for a model of this machine. */
export const idElsewhere = (base_model: string): string | null =>
  base_model.startsWith(SCHEME) ? base_model.slice(SCHEME.length) : null;

/** The header by which a service tells another that it asks. */
export const FROM_SERVICE = "x-imprint-upstream";
