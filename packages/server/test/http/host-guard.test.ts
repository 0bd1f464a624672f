import { request } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { type Service, startService } from "../support/service.js";

/** Status of the answer to raw bytes. */
const raw = (service: Service, text: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = "";
    socket.on("data", (data) => {
      answer += data;
      socket.end();
    });
    socket.on("close", () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])));
    socket.on("error", reject);
  });

const portOf = (service: Service): string => new URL(service.url).port;

test.each(["localhost:PORT", "127.0.0.1:PORT", "[::1]:PORT", "box.lan:PORT", "box.lan", "proxy.lan:8443"])(
  "Host %s is answered",
  async (host) => {
    const service = await startService({ flags: { allow_host: ["box.lan", "proxy.lan:8443"] } });
    const headers = { host: host.replace("PORT", portOf(service)) };
    expect((await service.call({ method: "GET", url: "/jobs", headers })).statusCode).toBe(200);
  },
);

test.each(["localhost:9000", "127.0.0.1:9000", "127.8.0.255:9000", "[::1]:9000", "localhost", "127.0.0.1"])(
  "a tunnel's Host %s is answered to its own pages, not to those of another port",
  async (host) => {
    const service = await startService();
    const get = async (origin: string) =>
      (await service.call({ method: "GET", url: "/jobs", headers: { host, origin } })).statusCode;
    expect(await get(`http://${host}`)).toBe(200);
    expect(await get("http://localhost:3000")).toBe(403);
    expect(await get("http://evil.com:9000")).toBe(403);
  },
);

test.each([
  "evil.com",
  "evil.com:PORT",
  "127.0.0.1.evil.com:PORT",
  "localhost.evil.com:PORT",
  "LOCALHOST:PORT",
  "localhost.:PORT",
  "localhost:",
  "localhost:9000.evil.com",
  "127.0.0.256:9000",
  "127.0.0.1.evil.com:9000",
  "127.1:9000",
  "evil.com:9000",
  "localhost@evil.com:PORT",
  "evil.com@localhost:PORT",
  "[::ffff:127.0.0.1]:PORT",
  "2130706433:PORT",
  "0x7f000001:PORT",
  "0.0.0.0:PORT",
  "proxy.lan:PORT",
  " localhost:PORT",
])("Host %s is refused, and no handler runs", async (host) => {
  const service = await startService({ flags: { allow_host: ["proxy.lan:8443"] } });
  const headers = { host: host.replace("PORT", portOf(service)), "content-type": "application/json" };
  for (const url of ["/health", "/jobs/%zz", "/nothing", "/docs"]) {
    const response = await service.call({ method: "GET", url, headers });
    expect(response.statusCode).toBe(403);
    expect(response.json().code).toBe("HOST_NOT_ALLOWED");
  }
  const start = await service.call({ method: "POST", url: "/train/lora", payload: { session_id: "s" }, headers });
  expect(start.statusCode).toBe(403);
  expect(service.jobs.counts()).toMatchObject({ queued: 0, running: 0, failed: 0 });
});

test("a missing Host, two Hosts, and an absolute request line are refused on the wire", async () => {
  const service = await startService();
  const host = `Host: localhost:${portOf(service)}\r\n`;
  expect(await raw(service, "GET /health HTTP/1.0\r\n\r\n")).toBe(403);
  expect(await raw(service, "GET /health HTTP/1.1\r\n\r\n")).toBe(403);
  expect(await raw(service, `GET /health HTTP/1.1\r\n${host}${host}\r\n`)).toBe(403);
  expect(await raw(service, `GET /health HTTP/1.1\r\n${host}Host: evil.com\r\n\r\n`)).toBe(403);
  expect(await raw(service, `GET http://evil.com/health HTTP/1.1\r\n${host}\r\n`)).toBe(403);
  expect(
    await raw(service, `GET /health HTTP/1.1\r\nHost: evil.com\r\nX-Forwarded-Host: localhost:${portOf(service)}\r\n\r\n`),
  ).toBe(403);
  expect(await raw(service, `GET /health HTTP/1.1\r\n${host}\r\n`)).toBe(200);
});

const ROUTES = [
  "/health",
  "/train/lora",
  "/train/hypernetwork",
  "/jobs",
  "/jobs/x/cancel",
  "/sessions",
  "/adapters/a",
  "/adapters/a/verify",
  "/docs",
];

test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "GET"])(
  "%s from a foreign page is refused everywhere",
  async (method) => {
    const service = await startService();
    for (const path of ROUTES) {
      for (const headers of [
        { origin: "https://evil.com" },
        { origin: "null" },
        { origin: `http://localhost:1` },
        { origin: `${service.url}.evil.com` },
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { origin: service.url, "sec-fetch-site": "cross-site" },
      ]) {
        const status = await new Promise<number>((resolve, reject) =>
          request(`${service.url}${path}`, { method, headers: { ...headers, "user-agent": "curl/8" } }, (response) => {
            response.resume();
            expect(response.headers["access-control-allow-origin"]).toBeUndefined();
            resolve(response.statusCode ?? 0);
          })
            .on("error", reject)
            .end(),
        );
        expect(status, `${method} ${path} ${JSON.stringify(headers)}`).toBe(403);
      }
    }
  },
);

test("the service's own page is answered, and so is a program without Origin", async () => {
  const service = await startService();
  const post = (headers: Record<string, string>) =>
    service.call({
      method: "POST",
      url: "/train/lora",
      payload: { session_id: "s" },
      headers: { "content-type": "application/json", ...headers },
    });
  expect((await post({ origin: service.url, "sec-fetch-site": "same-origin" })).statusCode).toBe(200);
  expect((await post({ origin: service.url.replace("127.0.0.1", "localhost") })).statusCode).toBe(200);
  expect((await post({ "sec-fetch-site": "none" })).statusCode).toBe(200);
  expect((await post({})).statusCode).toBe(200);
});

test("a link on another site may open a page, but never change anything", async () => {
  const service = await startService();
  const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  expect((await service.call({ method: "GET", url: "/docs", headers })).statusCode).toBe(200);
  const post = {
    method: "POST",
    url: "/train/lora",
    payload: "{}",
    headers: { ...headers, "content-type": "application/json" },
  } as const;
  expect((await service.call(post)).statusCode).toBe(403);
});

test("with a token, everything but the liveness probe needs it", async () => {
  const token = "correct-horse-battery-staple";
  const service = await startService({ flags: { token } });
  const get = (url: string, authorization?: string) =>
    service.call({ method: "GET", url, headers: authorization === undefined ? {} : { authorization } });
  expect((await get("/health")).statusCode).toBe(200);
  for (const wrong of [undefined, "", "Bearer", `Bearer ${token}x`, `Basic ${token}`, token]) {
    const refused = await get("/jobs", wrong);
    expect(refused.statusCode).toBe(401);
    expect(refused.headers["www-authenticate"]).toBe("Bearer");
  }
  expect((await get("/nothing")).statusCode).toBe(401);
  expect((await get("/jobs", `Bearer ${token}`)).statusCode).toBe(200);
  expect((await get(`/jobs?token=${token}`)).statusCode).toBe(401);
});

test("every answer carries the security headers", async () => {
  const service = await startService();
  for (const url of ["/health", "/nothing", "/jobs/x", "/docs", "/jobs/%zz"]) {
    const { headers } = await service.get(url);
    expect(headers["x-content-type-options"], url).toBe("nosniff");
    expect(headers["content-security-policy"]).toContain("default-src 'self'");
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(headers["cross-origin-resource-policy"]).toBe("same-origin");
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect(headers["content-type"]).toContain("charset=utf-8");
  }
});
