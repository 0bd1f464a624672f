import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSecrets } from "../../src/redact/find-secrets.js";
import { planted, random } from "../support/planted-secrets.js";

const kindsIn = (text: string): string[] => findSecrets(text).map((hit) => hit.kind);
const textsIn = (text: string): string[] => findSecrets(text).map((hit) => text.slice(hit.start, hit.end));

describe("findSecrets", () => {
  it("finds every one of 40 planted secrets of 15 and more kinds, wherever they stand", () => {
    const secrets = planted(random(7));
    expect(secrets.length).toBeGreaterThanOrEqual(40);
    expect(new Set(secrets.map((one) => one.kind)).size).toBeGreaterThanOrEqual(15);
    for (const { kind, line, secret } of secrets)
      for (const text of [line, `before\n${line}\nafter`, JSON.stringify({ command: `cat x\n${line}\n` }), `    ${line}`]) {
        const found = findSecrets(text).find((hit) => hit.kind === kind);
        expect(found, `${kind} in ${text}`).toBeDefined();
        const said = JSON.stringify(secret).slice(1, -1);
        expect([secret, said], text).toContain(text.slice(found?.start, found?.end));
      }
  });

  it("finds them whatever their random parts are", () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const missed = planted(random(seed)).filter(({ kind, line }) => !kindsIn(line).includes(kind));
        expect(missed.map((one) => one.line)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    [
      "a lock file's integrity",
      '"integrity": "sha512-9NET910DNaIPngYnLLPeg+Ogzqsi9uM4mSboU5y6p8S5DzMTVEsJZrawi+BoDNUVBa2DhJqQYUFvMDfgU062LQ=="',
    ],
    [
      "a commit and a checksum",
      "commit 4b15c1d0aa34e5f6a7b8c9d0e1f2a3b4c5d6e7f8\nsha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
    ["a uuid that no name calls a secret", 'request_id = "123e4567-e89b-12d3-a456-426614174000"'],
    ["an environment lookup", 'API_KEY = os.environ["OPENAI_API_KEY"]\nconst key = process.env.STRIPE_SECRET_KEY;'],
    [
      "stand-ins",
      'password = "changeme123"\nAPI_KEY=your-api-key-here-123\ntoken: "xxxxxxxxxxxxxxxx1"\nsecret = "{{ vault.secret_12 }}"',
    ],
    [
      "code that handles passwords",
      'password: z.string().min(8)\nif (password === other.password2) {}\npasswordField = "user_password2"',
    ],
    ["identifiers with sk-", "class='sk-toggleable__label-arrow sk-estimator-doc-link' task-runner-component-v2-Main"],
    ["a key's header in code", 'if (pem.startsWith("-----BEGIN PRIVATE KEY-----")) return parse(pem);'],
    [
      "addresses that are none",
      "icon@2x.png react@18.2.0 W@x.shape git@github.com:a/b.git @decorator\nnpm i pkg@next.js a@example.com noreply@anthropic.com",
    ],
    [
      "homes of no person",
      "/home/user/project /home/node/app https://a.com/home/alice/x ./home/alice/y /usr/home_x /Users/Shared/z",
    ],
    [
      "addresses without a password",
      "https://example.com:8080/@scope/pkg postgres://localhost:5432/db https://user@host/x redis://:password@redis",
    ],
  ])("lets %s stand", (_, text) => expect(textsIn(text)).toEqual([]));

  it.each([
    ["an address with @ in its password", "DATABASE_URL=postgres://app:maple@4x7z!21@db:5432/app", "maple@4x7z!21"],
    ["an address with / in its password", "mysql://app:fQ9/x2+Lw8@db/app", "fQ9/x2+Lw8"],
    ["words and a digit in an environment", "DB_HOST=db\nDB_PASSWORD=garden-coffee-planet-7", "garden-coffee-planet-7"],
    ["words and a digit in code", 'DB_PASSWORD = "castlecoffee4"', "castlecoffee4"],
    ["an argument of a client", 'const acme = require("acme")("dj38fkw0slq7xz5m");', "dj38fkw0slq7xz5m"],
    ["an environment's value of any name", "ACME=Zk3vQ9xWbT7mRf2LsD8y", "Zk3vQ9xWbT7mRf2LsD8y"],
    ["a key that a comment names", "// acme key: 5f0c2e9b7d4a1836f2c90be47d5a6138", "5f0c2e9b7d4a1836f2c90be47d5a6138"],
    ["a column's value", "INSERT INTO users (id, password) VALUES (1, 'Tiger3045!');", "Tiger3045!"],
    ["the second row's", "insert into t (token, n) values ('', 1), ('5f0c2e9b7d4a1836f2c9', 2)", "5f0c2e9b7d4a1836f2c9"],
    ["an element in an element", "<Password><Value>Tiger3045!</Value></Password>", "Tiger3045!"],
    ["a list of accounts", "chpasswd:\n  list: |\n    ubuntu:Tiger3045!\n", "Tiger3045!"],
  ])("finds %s", (_, text, secret) => expect(textsIn(text)).toEqual([secret]));

  it.each([
    [
      "numbers of objects and hashes",
      'BUILD_ID=Zk3vQ9xWbT7mRf2LsD8y\nOBJECT_HASH="Zk3vQ9xWbT7mRf2LsD8y"\n--run-id Zk3vQ9xWbT7mRf2LsD8y',
    ],
    ["arguments of what takes no secret", 'new ObjectId("5f0c2e9b7d4a1836f2c90be4")\nexpect("Zk3vQ9xWbT7mRf2LsD8y").toBe(x)'],
    ["keys of a page's lists", '<Row key="PrJ1crj3nNdrUkRS5QK40" />\ncache key: 5f0c2e9b7d4a1836f2c90be47d5a6138'],
    ["ports, paths and hosts with @", "http://localhost:8080/@vite/client https://a.com:443/users/@me redis://cache:6379/0"],
  ])("lets %s stand", (_, text) => expect(textsIn(text)).toEqual([]));

  it("stays precise on code that it did not see before", () => {
    const words = fc.constantFrom(
      "const",
      "token",
      "=",
      "key",
      ":",
      "secretName",
      "readPassword(",
      ")",
      '"value"',
      "apiKey.id",
      "{",
      "}",
      "\n",
      "0x1F",
      "getToken",
      "=>",
      "'a-b-c'",
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 60 }), (code) => {
        expect(textsIn(code.join(" "))).toEqual([]);
      }),
    );
  });

  it("names what is found once, without overlaps, in order", () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(fc.nat(60), { maxLength: 8 }), (seed, picks) => {
        const secrets = planted(random(seed));
        const text = picks.map((pick) => secrets[pick % secrets.length]?.line).join(" ; ");
        const hits = findSecrets(text);
        for (const [index, hit] of hits.entries()) {
          expect(hit.end).toBeGreaterThan(hit.start);
          expect(hit.start).toBeGreaterThanOrEqual(hits[index - 1]?.end ?? 0);
        }
      }),
    );
  });

  it("takes time in proportion to the length of hostile text", () => {
    const parts = [
      "-----BEGIN PRIVATE KEY-----\n",
      `-----BEGIN PRIVATE KEY-----\n${"a: b ".repeat(500)}`,
      "a".repeat(2000),
      "://",
      ":".repeat(500),
      "@".repeat(500),
      "eyJ".repeat(700),
      "password=",
      '"',
      "curl -u ",
      "api.key=",
      "Ab3dEf7hIj9kLm2nOp4q",
      "key=Ab3dEf7hIj9kLm2nOp4q",
      "abandon ",
      "5Kb8",
      "insert into t (token) values (",
      "chpasswd:\n a:b",
      "mysql://a:b/",
      "//a:b@c:",
      'new Client("',
      "\\n".repeat(500),
      "/home/",
    ];
    const milliseconds = (part: string, length: number): number => {
      const text = part.repeat(Math.ceil(length / part.length));
      const start = process.cpuUsage();
      findSecrets(text);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    };
    // Eight times the text takes eight times as long; 64 times, were it searched from each of its places again.
    for (const part of parts) {
      const few = Math.max(milliseconds(part, 25_000), 10);
      expect(milliseconds(part, 200_000) / few, part.slice(0, 30)).toBeLessThan(24);
    }
  });
});
