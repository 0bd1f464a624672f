// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what this removes (ECMA-48, 5.4 and 5.6).
const ESCAPES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|[ -/]*[0-~])/g;
/** Control characters but line break and tab. */
const CONTROL = /(?![\n\t])\p{Cc}/gu;

/** A log's text without terminal escapes; a line that was overwritten by a carriage return shows its last state. */
export const plain = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replaceAll(/[^\n]*\r(?=[^\n])/g, "")
    .replaceAll(ESCAPES, "")
    .replaceAll(CONTROL, "");
