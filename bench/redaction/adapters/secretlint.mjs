import { load, without } from "./replace.mjs";

/** secretlint's core with its recommended rules: needs @secretlint/core and @secretlint/secretlint-rule-preset-recommend. */
export async function create(folder) {
  const { lintSource } = await load(folder, "@secretlint/core");
  const { creator } = await load(folder, "@secretlint/secretlint-rule-preset-recommend");
  const config = { rules: [{ id: creator.meta.id, rule: creator }] };
  return {
    name: "secretlint recommended",
    async redact(text) {
      const source = { filePath: "a.txt", content: text, contentType: "text", ext: ".txt" };
      const { messages } = await lintSource({ source, options: { config, noPhysicFilePath: true } });
      return without(
        text,
        messages.map((message) => message.range),
      );
    },
  };
}
