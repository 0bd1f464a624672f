export interface Rule {
  readonly kind: string;
  /** Without one of these the text is not searched. */
  readonly keywords: readonly string[];
  /** Global, with indices. */
  readonly pattern: RegExp;
  /** A last look at what was found. */
  readonly accept?: (secret: string, match: string) => boolean;
}

export const RULES: readonly Rule[] = [
  {
    kind: "email",
    keywords: ["@"],
    pattern: /(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}(?![\w-])/dg,
  },
];
