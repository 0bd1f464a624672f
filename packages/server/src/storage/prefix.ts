/** The end of the range of ids that begin with the prefix: no id has a character so high. */
export const afterPrefix = (prefix: string): string => `${prefix}\u{10ffff}`;
