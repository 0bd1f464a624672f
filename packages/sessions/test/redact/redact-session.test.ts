import type { Session } from "@imprint/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactSession } from "../../src/redact/redact-session.js";
import { importText, jsonLines } from "../support/import-text.js";
import { planted, random } from "../support/planted-secrets.js";

async function sessionOf(messages: readonly object[], tools?: readonly object[]): Promise<Session> {
  const { sessions } = await importText(jsonLines({ messages, ...(tools && { tools }) }));
  const [session] = sessions;
  if (session === undefined) throw new Error("the text holds a session");
  return session;
}

const call = (id: string, command: string): object => ({
  role: "assistant",
  content: "",
  tool_calls: [{ id, type: "function", function: { name: "bash", arguments: JSON.stringify({ command }) } }],
});
const password = `q7${"Xm"}4kd!Tz`;
const token = `gh${"p_"}aB3dE5fG7hJ9kL1mN3pQ5rS7tV9wX1zAbCd2`;

describe("a session's secrets", () => {
  it("go everywhere once they are found anywhere: a password of a result also goes from the answer and from an address", async () => {
    const session = await sessionOf([
      { role: "user", content: "Connect." },
      call("c1", "cat .env"),
      { role: "tool", tool_call_id: "c1", content: `DB_PASSWORD=${password}` },
      { role: "assistant", content: `I use ${password} now: postgres://x?p=${encodeURIComponent(password)}` },
    ]);
    const said = JSON.stringify(session);
    expect(said).not.toContain(password);
    expect(said).not.toContain(encodeURIComponent(password));
    expect(session.steps.at(-1)?.text).toBe("I use <SECRET:password> now: postgres://x?p=<SECRET:password>");
  });

  it("go from the ids of calls, the same in the call and in its result", async () => {
    const session = await sessionOf([
      { role: "user", content: "Go." },
      call(token, "ls"),
      { role: "tool", tool_call_id: token, content: "ok" },
      { role: "assistant", content: "Done." },
    ]);
    const step = session.steps[1];
    expect(step?.tool_calls?.[0]?.id).toBe("<SECRET:github-token>");
    expect(step?.observations?.[0]?.call_id).toBe("<SECRET:github-token>");
  });

  it("go from the descriptions, defaults and examples of tools", async () => {
    const parameters = { type: "object", properties: { auth: { type: "string", default: token, examples: [token] } } };
    const session = await sessionOf(
      [
        { role: "user", content: "Go." },
        { role: "assistant", content: "Done." },
      ],
      [{ type: "function", function: { name: "run", description: `Uses ${token}.`, parameters } }],
    );
    expect(JSON.stringify(session.tools)).not.toContain(token);
    expect(session.tools[0]).toMatchObject({ name: "run", description: "Uses <SECRET:github-token>." });
  });

  it("go from the names of tools and of their schemas' properties, the same in the tool and in its calls", async () => {
    const named = `look_${token}`;
    const parameters = {
      type: "object",
      properties: { [token]: { type: "object", properties: { [password]: {} } } },
      required: [token],
    };
    const session = await sessionOf(
      [
        { role: "user", content: `DB_PASSWORD=${password}` },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "c1", type: "function", function: { name: named, arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c1", content: "ok" },
        { role: "assistant", content: "Done." },
      ],
      [{ type: "function", function: { name: named, parameters } }],
    );
    expect(JSON.stringify(session)).not.toMatch(new RegExp(`${token}|${password.replace("!", "\\!")}`));
    expect(session.tools[0]).toMatchObject({
      parameters: { properties: { "<SECRET:github-token>": {} }, required: ["<SECRET:github-token>"] },
    });
    expect(session.steps[1]?.tool_calls?.[0]?.name).toBe(session.tools[0]?.name);
  });

  it("are gone after one time: a second changes nothing, and arguments that were JSON stay JSON", () =>
    fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const lines = planted(random(seed)).map(({ line }) => line);
        const session = await sessionOf([
          { role: "user", content: lines.slice(0, 15).join("\n") },
          call("c1", lines.slice(15, 30).join("\n")),
          { role: "tool", tool_call_id: "c1", content: lines.slice(30).join("\n") },
          { role: "assistant", content: "Done." },
        ]);
        const again = redactSession(session);
        expect(again.steps).toEqual(session.steps);
        expect(again.redactions).toEqual(session.redactions);
        expect(() => JSON.parse(session.steps[1]?.tool_calls?.[0]?.arguments ?? "")).not.toThrow();
      }),
      { numRuns: 25 },
    ));
});

describe("names of accounts", () => {
  const answer = { role: "assistant", content: "Done." };
  const texts = async (...results: string[]): Promise<string[]> => {
    const turns = results.flatMap((content, index) => [
      call(`c${index}`, "ls"),
      { role: "tool", tool_call_id: `c${index}`, content },
    ]);
    const session = await sessionOf([{ role: "user", content: "Look." }, ...turns, answer]);
    return session.steps.flatMap((step) => step.observations ?? []).map(({ content }) => content);
  };

  it("become stand-ins that look like them, one for each throughout the session", async () => {
    const windows = "C:\\Users\\quentin\\app";
    expect(await texts("/home/quentin/app and /Users/mireille/x", `${windows} and /home/mireille/y`)).toEqual([
      "/home/dev/app and /Users/dev2/x",
      "C:\\Users\\dev\\app and /home/dev2/y",
    ]);
  });

  it("go from listings, folders named after paths, prompts and variables", async () => {
    const [, listing, folder, prompt, variable] = await texts(
      "/home/kjell/app",
      "drwxr-xr-x  3 kjell staff 96 Jan  5 10:00 src\n-rw-r--r--@ 1 root kjell 4 Jan 5 x",
      "~/.claude/projects/-home-kjell-app and -Users-kjell-b",
      "kjell@build-3:~$ id\nuid=1000(kjell) gid=1000(kjell)",
      'USER=kjell LOGNAME="kjell"',
    );
    expect(listing).toBe("drwxr-xr-x  3 dev staff 96 Jan  5 10:00 src\n-rw-r--r--@ 1 root dev 4 Jan 5 x");
    expect(folder).toBe("~/.claude/projects/-home-dev-app and -Users-dev-b");
    expect(prompt).toBe("dev@build-3:~$ id\nuid=1000(dev) gid=1000(dev)");
    expect(variable).toBe('USER=dev LOGNAME="dev"');
  });

  it("are known by a listing or a folder named after a path alone", async () => {
    expect(
      await texts(
        "total 8\ndrwxr-xr-x 3 kjell users 96 Jan 5 10:00 a\n-rw-r--r-- 1 root root 4 Jan 5 10:00 b",
        "--Users-mireille-app/x",
      ),
    ).toEqual(["total 8\ndrwxr-xr-x 3 dev users 96 Jan 5 10:00 a\n-rw-r--r-- 1 root root 4 Jan 5 10:00 b", "--Users-dev2-app/x"]);
  });

  it("stay where they are a machine's or an agent's own, or only a word", async () => {
    const kept = [
      "C:\\Users\\runneradmin\\x /home/runner/work /home/openhands/y",
      "openhands@all-hands.dev noreply@anthropic.com jane.doe@example.com",
      "import max from 'max'; Math.max(1, 2)",
    ];
    expect(await texts("/home/max/x", ...kept)).toEqual(["/home/dev/x", ...kept]);
  });
});
