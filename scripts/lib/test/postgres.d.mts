export const NO_POSTGRES: string;
export function findPostgres(options?: {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly exists?: (file: string) => boolean;
  readonly list?: (folder: string) => string[];
}): string | null;
