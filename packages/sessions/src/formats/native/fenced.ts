/** The code in a Markdown block whose fence is longer than any run of backticks inside. */
export function fenced(code: string, language: string): string {
  const longest = (code.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${code.endsWith("\n") ? code : `${code}\n`}${fence}`;
}
