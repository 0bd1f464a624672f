export const NO_CHROMIUM: string;
export function findChromium(options?: {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly exists?: (file: string) => boolean;
}): string | null;
