import { CannotStartError } from "../config/errors.js";

/** The registry was written by a newer Imprint: this one would misread it. */
export class SchemaTooNewError extends CannotStartError {
  override readonly name = "SchemaTooNewError";

  constructor({
    registry,
    found,
    known,
    remedy,
  }: {
    readonly registry: string;
    readonly found: number;
    readonly known: number;
    /** What to do where there is no newer Imprint. */
    readonly remedy: string;
  }) {
    super(
      `${registry} has schema version ${found}, and this Imprint knows ${known}: run a newer Imprint, or use another ${remedy}`,
    );
  }
}
