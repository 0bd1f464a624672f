// biome-ignore-all lint/suspicious/noExplicitAny: fields of three faces' answers, which other tests hold to their schemas.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Service } from "../../support/service.js";
import type { FakeOptions } from "./fake.js";
import { begin, messages } from "./support.js";

/** `FUZZ_RUNS=10000` tears more. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 150);

interface Answer {
  readonly text: string;
  /** Whether it says that it is all there is. */
  readonly isWhole: boolean;
}

type Event = Record<string, never> & { readonly type?: string };

const eventsOf = (body: string): readonly Event[] =>
  body.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));

/** Each face, what it is asked, and what its answers say. */
const FACES = {
  "/v1/chat/completions": {
    body: { messages },
    whole: ({ choices: [{ message }] }: any) => message.content ?? "",
    text: ({ choices }: any) => choices?.[0]?.delta?.content ?? "",
    ends: (body: string) => body.includes("data: [DONE]") && !body.includes('"error"'),
  },
  "/v1/messages": {
    body: { messages, max_tokens: 4000 },
    whole: ({ content }: any) => content.map((block: any) => block.text ?? "").join(""),
    text: ({ delta }: any) => delta?.text ?? "",
    ends: (body: string) => body.includes("event: message_stop"),
  },
  "/v1/responses": {
    body: { input: "Look around." },
    whole: ({ output }: any) =>
      output
        .flatMap(({ content }: any) => content ?? [])
        .map(({ text }: any) => text)
        .join(""),
    text: ({ type, delta }: any) => (type === "response.output_text.delta" ? delta : ""),
    ends: (body: string) => body.includes("event: response.completed"),
  },
} as const;

const ask = async (service: Service, url: keyof typeof FACES, stream: boolean): Promise<Answer> => {
  const face = FACES[url];
  const { statusCode, body } = await service.post(url, { model: "big-model", stream, ...face.body });
  if (statusCode !== 200) {
    expect(JSON.parse(body), body).toHaveProperty("error");
    return { text: "", isWhole: false };
  }
  if (!stream) return { text: face.whole(JSON.parse(body)), isWhole: true };
  return { text: eventsOf(body).map(face.text).join(""), isWhole: face.ends(body) };
};

/** Some of the bytes, in packets that end anywhere. */
const tearing = fc.record({
  ends: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
  share: fc.oneof({ weight: 1, arbitrary: fc.constant(1) }, { weight: 2, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) }),
  breaks: fc.boolean(),
});

test("of an answer that an upstream tears anywhere, what is told is a beginning, and is called whole only where it is", {
  timeout: 20_000 + RUNS * 100,
}, async () => {
  const { fake, service } = await begin();
  const said = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 6 });
  const [urls, streamed] = [fc.constantFrom(...(Object.keys(FACES) as (keyof typeof FACES)[])), fc.boolean()];
  await fc.assert(
    fc.asyncProperty(said, tearing, urls, streamed, async (pieces, { ends, share, breaks }, url, stream) => {
      const torn: FakeOptions["torn"] = (whole) => {
        const arrives = whole.subarray(0, Math.round(share * whole.length));
        const at = [0, ...ends.map((end) => Math.round(end * arrives.length)).sort((a, b) => a - b), arrives.length];
        return { packets: at.slice(1).map((end, index) => arrives.subarray(at[index], end)), breaks: breaks && share < 1 };
      };
      fake.change({ pieces, torn });
      const { text, isWhole } = await ask(service, url, stream);
      const whole = pieces.join("");
      expect(whole.startsWith(text), JSON.stringify(text)).toBe(true);
      if (isWhole) expect(text).toBe(whole);
      if (share === 1) expect(isWhole).toBe(true);
    }),
    { numRuns: RUNS },
  );
});
