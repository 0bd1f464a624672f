import { ERRORS } from "@imprint/contracts";
import { expect, test } from "vitest";
import { startService } from "../support/service.js";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const OLD_KEYWORDS = ["additionalItems", "definitions", "dependencies", "nullable"];

interface Operation {
  readonly tags: string[];
  readonly summary: string;
  readonly responses: Record<string, object>;
}
interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
}

/** Routes as the router prints them: an indented tree of path parts with methods in brackets. */
const routesOf = (printed: string): string[] => {
  const stack: string[] = [];
  const found: string[] = [];
  for (const line of printed.split("\n")) {
    const [, indent = "", part = "", methods] = /^([│ ]*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/u.exec(line) ?? [];
    if (part === "") continue;
    const depth = indent.length / 4;
    stack.length = depth;
    stack[depth] = part;
    for (const method of methods?.split(", ") ?? []) found.push(`${method} ${stack.join("")}`);
  }
  return found;
};

test("the document and the router name the same calls", async () => {
  const service = await startService();
  const { openapi, paths } = (await service.get("/openapi.json")).json<Document>();
  expect(openapi).toBe("3.1.0");
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
  );
  const routed = routesOf(service.app.printRoutes({ commonPrefix: false })).filter(
    (route) => METHODS.includes(route.split(" ", 1)[0] ?? "") && !/ (\/|\/docs.*|\/assets.*)$/.test(route),
  );
  expect(documented.sort()).toEqual(routed.sort());
  expect(documented.length).toBeGreaterThan(15);
});

test("every call is described, and every problem it names exists", async () => {
  const service = await startService();
  const { paths } = (await service.get("/openapi.json")).json<Document>();
  for (const [path, operations] of Object.entries(paths))
    for (const [method, { tags, summary, responses }] of Object.entries(operations)) {
      expect(tags, `${method} ${path}`).toHaveLength(1);
      expect(summary.length).toBeGreaterThan(5);
      for (const [, code = ""] of JSON.stringify(responses).matchAll(/`([A-Z_]+)`/g)) expect(Object.keys(ERRORS)).toContain(code);
    }
});

/** Every object of a value, with where it stands. */
const objectsIn = (value: unknown, path = ""): readonly (readonly [path: string, object: Record<string, unknown>])[] => {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.entries(value).flatMap(([name, one]) => objectsIn(one, `${path}/${name}`));
  return Array.isArray(value) ? inside : [[path, value as Record<string, unknown>], ...inside];
};

test("every schema of the document is of JSON Schema 2020-12: no list of items, no keyword of an older draft", async () => {
  const service = await startService();
  const objects = objectsIn((await service.get("/openapi.json")).json());
  expect(objects.length).toBeGreaterThan(1_000);
  const lists = objects.filter(([, { items }]) => Array.isArray(items)).map(([path]) => path);
  const old = objects.filter(([path, object]) => !path.endsWith("/properties") && OLD_KEYWORDS.some((name) => name in object));
  expect([...lists, ...old.map(([path]) => path)]).toEqual([]);
});

test("the page under /docs loads nothing from elsewhere", async () => {
  const service = await startService();
  const page = await service.get("/docs");
  expect(page.headers["content-security-policy"]).toContain("default-src 'self'");
  const assets = [...page.body.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(
    ([, url = ""]) => new URL(url, `${service.url}/docs`).pathname,
  );
  expect(assets).toHaveLength(3);
  for (const url of assets) {
    const asset = await service.get(url);
    expect(asset.statusCode, url).toBe(200);
    expect(asset.headers["content-type"]).toMatch(/^text\/(css|javascript)/);
  }
  for (const name of ["index.html", "..%2fpackage.json", "constructor", "toString"])
    expect((await service.get(`/docs/${name}`)).statusCode, name).toBe(404);
});
