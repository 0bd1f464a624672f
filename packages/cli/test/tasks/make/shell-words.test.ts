import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellTokens } from "../../../src/tasks/make/shell-words.js";

const textsOf = (line: string): readonly (string | readonly string[])[] =>
  shellTokens(line).map((token) => (typeof token === "string" ? token : token.words.map(({ text }) => text)));

test.each([
  ["a b  c", [["a", "b", "c"]]],
  ["a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]],
  ["a\"b\"'c'd", [["abcd"]]],
  ["a && b || c; d & e | f |& g", [["a"], "&&", ["b"], "||", ["c"], ";", ["d"], "&", ["e"], "|", ["f"], "|", ["g"]]],
  ["a 2>&1 >/dev/null <in b", [["a", "b"]]],
  ["a # b\nc", [["a"], ";", ["c"]]],
  ["a \\\n  b", [["a", "b"]]],
  ['a "$(b "c)" d)" `e f`', [["a", '$(b "c)" d)', "`e f`"]]],
  ["(cd a && b)", ["(", ["cd", "a"], "&&", ["b"], ")"]],
  ["cat <<'E' > f\na && b\nE\nc", [["cat"], ";", ["c"]]],
  ["", []],
] as const)("%j is read as a shell reads it", (line, tokens) => {
  expect(textsOf(line)).toEqual(tokens);
});

test("a here-document is its command's, where nothing in it is replaced", () => {
  const [quoted, , bare] = shellTokens("cat > a.js <<'EOF' && cat > b <<-E\n$x\nEOF\n\t$x\n\tE\n");
  expect(quoted).toMatchObject({ into: "a.js", given: "$x\n" });
  expect(bare).toMatchObject({ into: "b", given: null });
});

const WORD = fc.string({ unit: fc.constantFrom(..."ab '\"\\$`|&;()<>#*~\n\t=-".split("")), minLength: 1, maxLength: 12 });
const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
const escaped = (word: string): string => `"${word.replaceAll(/["\\$`]/g, "\\$&")}"`;

test("words come back however they were quoted", () => {
  const lines = fc.array(fc.tuple(WORD, fc.constantFrom(quoted, escaped)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(lines, fc.constantFrom(" ", "  ", "\t", " \\\n "), (words, between) => {
      const line = words.map(([word, quote]) => quote(word)).join(between);
      expect(textsOf(line)).toEqual([words.map(([word]) => word)]);
    }),
  );
});

test("a real shell reads the same words", () => {
  const plain = fc.string({ unit: fc.constantFrom("a", "b", "'", '"', "\\", "'x y'", '"z  z"'), minLength: 1, maxLength: 8 });
  const isWhole = (text: string): boolean => {
    try {
      execFileSync("sh", ["-n", "-c", text], { stdio: "ignore" });
      return !text.endsWith("\\");
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(fc.array(plain, { minLength: 1, maxLength: 4 }), (words) => {
      const line = words.join(" ");
      fc.pre(isWhole(line));
      const told = execFileSync("sh", ["-c", `for one in ${line}; do printf '%s\\0' "$one"; done`], { encoding: "utf8" });
      expect(textsOf(line)).toEqual([told.split("\0").slice(0, -1)]);
    }),
    { numRuns: 40 },
  );
});

test("any text is read to its end", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), fc.array(WORD, { maxLength: 20 }), (text, words) => {
      expect(shellTokens(text)).toBeInstanceOf(Array);
      expect(shellTokens(words.join(""))).toBeInstanceOf(Array);
    }),
  );
});
