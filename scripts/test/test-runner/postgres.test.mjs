import path from "node:path";
import { expect, test } from "vitest";
import { findPostgres } from "../../lib/test/postgres.mjs";

const DEBIAN = path.join("/", "usr", "lib", "postgresql");
const having = ({ versions = [], bins = [], env = {} }) => {
  const files = bins.flatMap((bin) => [path.join(bin, "initdb"), path.join(bin, "postgres")]);
  return {
    env: { PATH: path.join("/", "opt", "pg"), ...env },
    list: () => [...versions],
    exists: (file) => files.includes(file),
  };
};

test("Debian's newest version comes first, then what is on the path", () => {
  const bin = (version) => path.join(DEBIAN, version, "bin");
  expect(findPostgres(having({ versions: ["9", "15", "16"], bins: [bin("9"), bin("15")] }))).toBe(bin("15"));
  expect(findPostgres(having({ bins: [path.join("/", "opt", "pg")] }))).toBe(path.join("/", "opt", "pg"));
  expect(findPostgres(having({ versions: ["15"] }))).toBeNull();
});

test("what IMPRINT_POSTGRES names is taken or nothing is", () => {
  const named = path.join("/", "opt", "mine");
  const env = { IMPRINT_POSTGRES: named };
  expect(findPostgres(having({ bins: [named], env }))).toBe(named);
  expect(findPostgres(having({ bins: [path.join("/", "opt", "pg")], env }))).toBeNull();
});
