export interface Part {
  readonly text: string;
  /** Whether the other text lacks it. */
  readonly isOwn: boolean;
}

/** Words of one text beyond which differences are not looked for: the work grows with the square. */
const MOST = 600;

const wordsOf = (text: string): readonly string[] => text.match(/\s+|[^\s]+/g) ?? [];

/** A text in parts: those that stand in another text too, in the same order, and its own (Hunt and Szymanski's longest common subsequence, by words). */
export function differing(text: string, other: string): readonly Part[] {
  const [own, others] = [wordsOf(text), wordsOf(other)];
  if (text === "" || other === "" || own.length > MOST || others.length > MOST) return [{ text, isOwn: false }];
  const width = others.length + 1;
  const common = new Uint16Array((own.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = own.length - 1; row >= 0; row -= 1)
    for (let column = others.length - 1; column >= 0; column -= 1)
      common[row * width + column] =
        own[row] === others[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const parts: { text: string; isOwn: boolean }[] = [];
  const add = (word: string, isOwn: boolean): void => {
    const last = parts.at(-1);
    if (last?.isOwn === isOwn) last.text += word;
    else parts.push({ text: word, isOwn });
  };
  let column = 0;
  for (const [row, word] of own.entries()) {
    while (column < others.length && others[column] !== word && at(row, column + 1) === at(row, column)) column += 1;
    const isCommon = others[column] === word && at(row, column) === at(row + 1, column + 1) + 1;
    add(word, !isCommon);
    if (isCommon) column += 1;
  }
  return parts;
}
