/** One line, bounded: what a client sent is echoed in errors, but never at length. */
export const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
