import type { ChatRequest } from "@imprint/client";
import type { Command } from "commander";
import { Type } from "typebox";
import { converse, noteWait, streamAnswer } from "../chat/converse.js";

import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { parseFlag } from "../flags/text.js";
import { modelOf } from "../ids/model.js";
import { withService } from "../service/connect.js";

/** Everything a stream has to say, as text. */
export async function readAll(stream: AsyncIterable<Buffer | string>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString("utf8");
}

interface ChatOptions extends CommonOptions {
  readonly prompt?: string;
  readonly maxTokens: string;
  readonly temperature: string;
  readonly seed?: string;
}

/** The sampling that the options ask for. Throws a UsageError that names the flag. */
function samplingOf({ maxTokens, temperature, seed }: ChatOptions): Pick<ChatRequest, "max_tokens" | "temperature" | "seed"> {
  const whole = (flag: string, text: string, least: number): number => {
    const value = parseFlag(flag, Type.Integer(), text) as number;
    if (!Number.isSafeInteger(value) || value < least)
      throw new UsageError(`${flag} takes a whole number from ${least}, not "${text}"`);
    return value;
  };
  const heat = parseFlag("--temperature", Type.Number(), temperature) as number;
  if (heat < 0 || heat > 2) throw new UsageError(`--temperature takes a number from 0 to 2, not "${temperature}"`);
  return {
    max_tokens: whole("--max-tokens", maxTokens, 1),
    temperature: heat,
    ...(seed !== undefined && { seed: whole("--seed", seed, 0) }),
  };
}

export function chatCommand(context: CommandContext): Command {
  return newCommand({
    name: "chat",
    examples: [
      "chat gates-v1",
      'chat gates-v1 --prompt "Which ports may a gate have?"',
      "chat SmolLM2-135M-Instruct < question.txt",
    ],
  })
    .argument("<adapter>", "id of an adapter, the beginning of it, latest, or the name of a base model")
    .option("--prompt <text>", "ask once and end (default: ask on a terminal, else read standard input)")
    .option("--max-tokens <n>", "longest answer in tokens", "256")
    .option("--temperature <x>", "0 always takes the likeliest token", "0")
    .option("--seed <n>", "of the sampling, when the temperature is above 0")
    .action(async (given: string, options: ChatOptions) => {
      const { io } = context;
      const printer = printerOf(context, options);
      const sampling = samplingOf(options);
      const interactive = options.prompt === undefined && !printer.json && io.input.isTTY === true;
      const prompt = interactive ? "" : (options.prompt ?? (await readAll(io.input))).trim();
      if (!interactive && prompt === "")
        throw new UsageError("the prompt is empty: give --prompt TEXT, or text on standard input");
      await withService({ io, options, note: printer.note }, async ({ client }) => {
        const model = await modelOf(given, { client, note: printer.note });
        if (interactive) return converse({ io, client, model, sampling });
        const request = { model, messages: [{ role: "user", content: prompt } as const], ...sampling };
        const { note } = printer;
        if (!printer.json) return void (await streamAnswer(request, { client, note, out: io.out }));
        const answered = noteWait({ client, note });
        printer.result(await client.chat.completions.create(request).finally(answered), () => "");
      });
    });
}
