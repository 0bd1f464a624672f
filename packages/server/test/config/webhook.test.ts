import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configFor, makeFolder } from "../support/service.js";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

const webhookOf = (flags: Readonly<Record<string, unknown>>) => configFor(makeFolder(), flags).webhook;

test("there is no webhook unless one is configured", () => {
  expect(webhookOf({})).toBeNull();
});

test.each(["http://127.0.0.1:9000/hook", "http://localhost/hook", "http://[::1]:9000/hook"])(
  "%s is this machine",
  (webhook_url) => {
    expect(webhookOf({ webhook_url, webhook_secret: SECRET })).toEqual({ url: webhook_url, key: Buffer.alloc(32, 7) });
  },
);

test("another host has to be named", () => {
  const webhook_url = "https://hooks.example:8443/x";
  const webhook_secret = SECRET;
  expect(() => webhookOf({ webhook_url, webhook_secret })).toThrow(/hooks\.example:8443.*webhook_hosts/);
  expect(() => webhookOf({ webhook_url, webhook_secret, webhook_hosts: ["example", "hooks.example:443"] })).toThrow(
    /webhook_hosts/,
  );
  for (const host of ["hooks.example", "hooks.example:8443"])
    expect(webhookOf({ webhook_url, webhook_secret, webhook_hosts: [host] })?.url).toBe(webhook_url);
});

test("the secret comes from a file that nobody else can read, or from the settings, and is strong", () => {
  const webhook_url = "http://127.0.0.1:9000/";
  const webhook_secret_file = join(makeFolder(), "secret");
  writeFileSync(webhook_secret_file, `${SECRET}\n`, { mode: 0o600 });
  expect(webhookOf({ webhook_url, webhook_secret_file })?.key).toHaveLength(32);
  expect(() => webhookOf({ webhook_url, webhook_secret_file, webhook_secret: SECRET })).toThrow("exclude each other");
  expect(() => webhookOf({ webhook_url })).toThrow("needs webhook_secret_file");
  for (const webhook_secret of ["whsec_", "plain text", `whsec_${Buffer.alloc(8).toString("base64")}`])
    expect(() => webhookOf({ webhook_url, webhook_secret })).toThrow("24 to 64 bytes");
});

test.each(["ftp://127.0.0.1/", "http://user:pass@127.0.0.1/", "not an address"])(
  "%s is no address for a webhook",
  (webhook_url) => {
    expect(() => webhookOf({ webhook_url, webhook_secret: SECRET })).toThrow("without a user");
  },
);
