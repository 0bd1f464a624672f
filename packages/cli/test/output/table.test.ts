import { expect, it } from "vitest";
import { fields, table } from "../../src/output/table.js";

const unpainted = (_style: unknown, text: string): string => text;

it("aligns columns to the left and leaves no blanks at the end", () => {
  const rows = [
    ["a", "long value"],
    ["longer id", ""],
  ];
  expect(table(["ID", "VALUE"], rows, unpainted)).toBe("ID         VALUE\na          long value\nlonger id");
});

it("does not let a cell steer the terminal", () => {
  expect(table(["ID"], [["\u001b[2Jx"]], unpainted)).toBe("ID\n\\u001b[2Jx");
});

it("aligns names and values", () => {
  expect(
    fields(
      [
        ["id", "1"],
        ["status", "ok"],
      ],
      unpainted,
    ),
  ).toBe("id      1\nstatus  ok");
});
