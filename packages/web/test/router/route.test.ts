import fc from "fast-check";
import { expect, test } from "vitest";
import { hrefOf, parseRoute } from "../../src/router/route.js";

test("every address leads back to the route that it was made from", () => {
  const part = fc.string({ minLength: 1, unit: "grapheme" });
  fc.assert(
    fc.property(fc.array(part), fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), part), (path, query) => {
      expect(parseRoute(hrefOf(path, query))).toEqual({ path, query });
    }),
  );
});

test("an address that nobody made is still a route", () => {
  expect(parseRoute("")).toEqual({ path: [], query: {} });
  expect(parseRoute("#/jobs/%zz?")).toEqual({ path: ["jobs", "%zz"], query: {} });
  expect(hrefOf(["jobs"], { status: undefined })).toBe("#/jobs");
});
