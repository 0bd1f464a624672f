/** The length of the longest piece of `value` that stands in `text`. */
export function longestRun(value: string, text: string): number {
  let longest = 0;
  for (let start = 0; start + longest < value.length; start++)
    while (start + longest < value.length && text.includes(value.slice(start, start + longest + 1))) longest++;
  return longest;
}
