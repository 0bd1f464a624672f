import { beforeAll, expect, test } from "vitest";
import { build } from "../support/process.js";
import { startService } from "../support/service.js";

beforeAll(build, 240_000);

const assetsOf = (page: string): readonly string[] =>
  [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = ""]) => url.replace(/^\.\//, "/"));

test("the page is asked for each time, and answered 304 while it is the same", async () => {
  const service = await startService();
  const page = await service.get("/");
  expect(page.statusCode).toBe(200);
  expect(page.headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
  expect(page.headers["content-security-policy"]).toMatch(/^default-src 'self'; object-src 'none'; base-uri 'none'/);
  const again = await service.call({ method: "GET", url: "/", headers: { "if-none-match": String(page.headers.etag) } });
  expect([again.statusCode, again.body]).toEqual([304, ""]);
  expect((await service.call({ method: "HEAD", url: "/" })).statusCode).toBe(200);
});

test("its assets are kept forever, under names that change with their content", async () => {
  const service = await startService();
  const assets = assetsOf((await service.get("/")).body);
  expect(assets.length).toBeGreaterThanOrEqual(3);
  for (const url of assets) {
    const asset = await service.get(url);
    expect(asset.statusCode, url).toBe(200);
    expect(url).toMatch(/^\/assets\/[\w-]+-[\w-]{8}\.(js|css|svg)$/);
    expect(asset.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(asset.headers["content-type"]).toMatch(/^(text\/javascript|text\/css|image\/svg\+xml)/);
  }
});

test.each(["/assets/", "/assets/none.js", "/assets/..%2findex.html", "/assets/../built.json", "/index.html", "/built.json"])(
  "%s is nothing",
  async (url) => {
    expect((await (await startService()).get(url)).statusCode).toBe(404);
  },
);

test("with a token the page loads without it, its data does not, and the token buys a cookie", async () => {
  const token = "a-token-of-more-than-22-characters";
  const service = await startService({ flags: { token } });
  const page = await service.get("/");
  expect(page.statusCode).toBe(200);
  for (const url of assetsOf(page.body)) expect((await service.get(url)).statusCode, url).toBe(200);
  expect((await service.get("/jobs")).statusCode).toBe(401);

  const wrong = await service.post("/sign-in", { token: `${token}x` });
  expect([wrong.statusCode, wrong.json().code, wrong.headers["set-cookie"]]).toEqual([401, "UNAUTHORIZED", undefined]);
  const right = await service.post("/sign-in", { token });
  expect(right.statusCode).toBe(204);
  const cookie = String(right.headers["set-cookie"]);
  expect(cookie).toMatch(/^imprint-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(cookie).not.toContain(token);

  const [pair = ""] = cookie.split(";");
  const withCookie = (value: string, headers = {}) =>
    service.call({ method: "GET", url: "/jobs", headers: { cookie: value, ...headers } }).then(({ statusCode }) => statusCode);
  expect(await withCookie(pair)).toBe(200);
  expect(await withCookie(`other=1; ${pair}`)).toBe(200);
  expect(await withCookie(`${pair}x`)).toBe(401);
  expect(await withCookie(pair.replace(/=.*/, `=${token}`))).toBe(401);
  expect(await withCookie(pair.replace(/^imprint-\d+/, "imprint-1"))).toBe(401);
  expect(await withCookie(pair, { origin: "https://evil.com" })).toBe(403);
});

test("without a token there is nothing to sign in to, and no cookie is set", async () => {
  const service = await startService();
  const answer = await service.post("/sign-in", { token: "anything" });
  expect([answer.statusCode, answer.headers["set-cookie"]]).toEqual([204, undefined]);
  expect((await service.post("/sign-in", { token: "anything", more: 1 })).statusCode).toBe(422);
});
