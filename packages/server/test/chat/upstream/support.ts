import { type Service, secretFile, startService } from "../../support/service.js";
import { type FakeOptions, startFake } from "./fake.js";

export const TOKEN = "a-token-of-the-upstream";
export const messages = [{ role: "user", content: "Look around." }];
export const tools = [{ type: "function", function: { name: "bash", description: "Runs.", parameters: { type: "object" } } }];

export const begin = async (options: FakeOptions = {}, flags: Readonly<Record<string, unknown>> = {}) => {
  const fake = await startFake(options);
  const service = await startService({ flags: { upstream: `${fake.url}/v1`, upstream_token_file: secretFile(TOKEN), ...flags } });
  const chats = () => fake.asked.filter(({ path, body }) => path.includes("completions") && body.stream);
  return { fake, service, chats };
};
export const ask = (service: Service, body: object = {}) =>
  service.post("/v1/chat/completions", { model: "big-model", messages, ...body });
