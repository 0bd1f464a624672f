/** A step of the schema. Released steps are never edited: a change is a new step. */
export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}
