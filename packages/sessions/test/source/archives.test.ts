import { gzipSync } from "node:zlib";
import { importSessions } from "@imprint/sessions";
import { describe, expect, it } from "vitest";
import { SAMPLES } from "../support/samples.js";

const session = Buffer.from(SAMPLES.find((sample) => sample.format === "claude-code")?.text ?? "");
const bytes = (text: string): Buffer => Buffer.from(text, "latin1");

/** A tar's header is a block of 512 bytes: the name, then `ustar` at 257. */
const tarred = (content: Buffer): Buffer => {
  const header = Buffer.alloc(512);
  header.write("session.jsonl");
  header.write("ustar\x0000", 257);
  return Buffer.concat([header, content, Buffer.alloc(1024)]);
};

const importing = (content: Uint8Array, format?: "claude-code") =>
  importSessions([{ name: "folder/stored.bin", bytes: content }], format && { format });

describe("a container of other files", () => {
  it.each([
    ["a ZIP archive", Buffer.concat([bytes("PK\x03\x04\x14\x00\x00\x00\n"), session])],
    ["a ZIP archive", bytes(`PK\x05\x06${"\x00".repeat(18)}`)],
    ["a 7z archive", Buffer.concat([bytes("7z\xbc\xaf\x27\x1c\x00\x04\n"), session])],
    ["a RAR archive", Buffer.concat([bytes("Rar!\x1a\x07\x01\x00\n"), session])],
    ["an xz file", Buffer.concat([bytes("\xfd7zXZ\x00\n"), session])],
    ["a bzip2 file", Buffer.concat([bytes("BZh91AY&SY\n"), session])],
    ["an LZ4 file", Buffer.concat([bytes("\x04\x22\x4d\x18\n"), session])],
    ["a tar archive", tarred(session)],
    ["a tar archive", gzipSync(tarred(session))],
    ["an SQLite database", Buffer.concat([bytes("SQLite format 3\x00\n"), session])],
    ["a database of Goose", bytes(`SQLite format 3\x00${"\x00".repeat(3000)}create table messages (content_json text)`)],
    ["a database of Kiro CLI", bytes(`SQLite format 3\x00${"\x00".repeat(9000)}CREATE TABLE conversations_v2 (key text)`)],
    ["a database of Cursor", bytes("SQLite format 3\x00CREATE TABLE cursorDiskKV (key TEXT, value BLOB)")],
    ["a database of VS Code", bytes("SQLite format 3\x00CREATE TABLE ItemTable (key TEXT, value BLOB)")],
  ])("is refused as %s, with what to bring instead, in a forced format too", async (what, content) => {
    for (const format of [undefined, "claude-code"] as const)
      await expect(importing(content, format)).rejects.toMatchObject({
        code: "SESSION_UNREADABLE",
        message: expect.stringMatching(new RegExp(`^stored\\.bin is ${what}, which Imprint does not read; .*bring .*\\.$`)),
      });
  });

  it("is not seen in a session that speaks of one, or is only a few bytes long", async () => {
    const line = JSON.stringify({
      messages: [
        { role: "user", content: "PK\x03\x04" },
        { role: "assistant", content: "A ZIP." },
      ],
    });
    expect((await importing(bytes(line))).format).toBe("chat-jsonl");
    expect((await importing(gzipSync(session))).format).toBe("claude-code");
    await expect(importing(bytes("PK"))).rejects.toThrow(
      "is no recorded session of a known format (neither JSON nor a known transcript)",
    );
    await expect(importing(bytes('{"a":1}'))).rejects.toThrow("is no recorded session of a known format (JSON without turns)");
  });
});
