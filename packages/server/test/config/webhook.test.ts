import { chmodSync } from "node:fs";
import { expect, test } from "vitest";
import { configFor, makeFolder, secretFile } from "../support/service.js";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

const webhookOf = (flags: Readonly<Record<string, unknown>>) => configFor(makeFolder(), flags).webhook;

test("there is no webhook unless one is configured", () => {
  expect(webhookOf({})).toBeNull();
});

test.each(["http://127.0.0.1:9000/hook", "http://localhost/hook", "http://[::1]:9000/hook"])(
  "%s is this machine",
  (webhook_url) => {
    expect(webhookOf({ webhook_url, webhook_secret_file: secretFile(SECRET) })).toEqual({
      url: webhook_url,
      key: Buffer.alloc(32, 7),
    });
  },
);

test("another host has to be named", () => {
  const webhook_url = "https://hooks.example:8443/x";
  const webhook_secret_file = secretFile(SECRET);
  expect(() => webhookOf({ webhook_url, webhook_secret_file })).toThrow(/hooks\.example:8443.*webhook_hosts/);
  expect(() => webhookOf({ webhook_url, webhook_secret_file, webhook_hosts: ["example", "hooks.example:443"] })).toThrow(
    /webhook_hosts/,
  );
  for (const host of ["hooks.example", "hooks.example:8443"])
    expect(webhookOf({ webhook_url, webhook_secret_file, webhook_hosts: [host] })?.url).toBe(webhook_url);
});

test("the secret comes from a file that nobody else can read, and is strong", () => {
  const webhook_url = "http://127.0.0.1:9000/";
  const webhook_secret_file = secretFile(SECRET);
  expect(webhookOf({ webhook_url, webhook_secret_file })?.key).toHaveLength(32);
  chmodSync(webhook_secret_file, 0o644);
  expect(() => webhookOf({ webhook_url, webhook_secret_file })).toThrow("chmod 600");
  expect(() => webhookOf({ webhook_url })).toThrow("needs webhook_secret_file");
  for (const secret of ["whsec_", "plain text", `whsec_${Buffer.alloc(8).toString("base64")}`])
    expect(() => webhookOf({ webhook_url, webhook_secret_file: secretFile(secret) })).toThrow("24 to 64 bytes");
});

test.each(["ftp://127.0.0.1/", "http://user:pass@127.0.0.1/", "not an address"])(
  "%s is no address for a webhook",
  (webhook_url) => {
    expect(() => webhookOf({ webhook_url, webhook_secret_file: secretFile(SECRET) })).toThrow("without a user");
  },
);
