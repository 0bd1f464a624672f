import { expect, test } from "vitest";
import { judgeAnswer, judgeTalk } from "../../lib/agents/answers.mjs";
import { parseArguments } from "../../lib/agents/arguments.mjs";
import { limited } from "../../lib/agents/watched.mjs";

const CHAT = "/v1/chat/completions";
const RESPONSES = "/v1/responses";
const MESSAGES = "/v1/messages";
const stream = (...data) => data.map((one) => `data: ${one}\n\n`).join("");
const OVERFLOW = '{"error":{"message":"too long","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}';

test.each([
  [CHAT, 200, '{"choices":[{"finish_reason":"stop"}]}', "whole"],
  [CHAT, 200, '{"choices":[{"index":0,"finish_reason":"length"}]}', "cut"],
  [CHAT, 200, stream('{"choices":[{"delta":{"content":"Hi"}}]}', "[DONE]"), "whole"],
  [CHAT, 200, stream('{"choices":[{"delta":{"content":"Hi"}}]}'), "wrong"],
  [CHAT, 200, stream('{"choices":[]}', '{"error":{"message":"no","code":"worker_crashed"}}'), "wrong"],
  [CHAT, 200, stream('{"choices":[]}', OVERFLOW), "overflow"],
  [CHAT, 400, OVERFLOW, "overflow"],
  [CHAT, 422, '{"error":{"message":"Field x is not known."}}', "wrong"],
  [RESPONSES, 200, stream('{"type":"response.created"}', '{"type":"response.completed"}'), "whole"],
  [RESPONSES, 200, stream('{"type":"response.incomplete","response":{"status":"incomplete"}}'), "cut"],
  [RESPONSES, 200, stream('{"type":"response.failed","response":{"error":{"code":"context_length_exceeded"}}}'), "overflow"],
  [RESPONSES, 200, stream('{"type":"response.created"}'), "wrong"],
  [MESSAGES, 200, stream('{"type":"message_start"}', '{"type":"message_stop"}'), "whole"],
  [MESSAGES, 200, stream('{"type":"error","error":{"message":"no"}}'), "wrong"],
  [MESSAGES, 400, '{"type":"error","error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}', "overflow"],
  ["/v1/unheard-of", 404, "{}", "wrong"],
])("%s answered with %i %s is %s", (api, status, text, end) => {
  expect(judgeAnswer({ api, status, text, left: false }).end).toBe(end);
});

test("a client that leaves in the middle of a stream has what it wants", () => {
  expect(judgeAnswer({ api: RESPONSES, status: 200, text: stream('{"type":"response.created"}'), left: true }).end).toBe("left");
});

const whole = { api: CHAT, request: "{}", end: "whole" };
const failure = new Error("pi exited with code 1");

test.each([
  ["an answer that ends", { answers: [whole] }, []],
  ["nothing at all", { answers: [] }, [/given no answer/]],
  ["an answer that was understood by nobody", { answers: [whole], failure }, [/exited with code 1/]],
  ["a cut answer, which some take for a failure", { answers: [{ ...whole, end: "cut" }], failure }, []],
  [
    "a model that comes to no end",
    { answers: [whole], failure: Object.assign(new Error("pi ran longer"), { timedOutMs: 1 }) },
    [],
  ],
  ["a refusal", { answers: [whole, { api: CHAT, request: "1", end: "wrong", why: "422: no" }] }, [/answered with 422: no/]],
  ["the same question twice", { answers: [whole, whole] }, [/1 of 2 requests again/]],
  ["an overflow that it explains", { answers: [{ ...whole, end: "overflow" }], failure, said: ["Prompt is too long"] }, []],
  ["an overflow that it keeps to itself", { answers: [{ ...whole, end: "overflow" }], failure }, [/did not say/]],
])("a talk with %s is judged", (_, talk, wrong) => {
  const judged = judgeTalk({ failure: null, said: [], ...talk }).wrong;
  expect(judged).toEqual(wrong.map((sentence) => expect.stringMatching(sentence)));
});

test("a request's answer is limited in the field that its client uses, and all else stays", () => {
  expect(limited(CHAT, { model: "m", max_completion_tokens: 4096 }, 32)).toEqual({ model: "m", max_completion_tokens: 32 });
  expect(limited(CHAT, { model: "m", max_tokens: 8 }, 32)).toEqual({ model: "m", max_tokens: 8 });
  expect(limited(RESPONSES, { model: "m" }, 32)).toEqual({ model: "m", max_output_tokens: 32 });
});

test("the command takes names, and one half of the check", () => {
  expect(parseArguments([])).toEqual({ names: [], only: null });
  expect(parseArguments(["--real", "pi"])).toEqual({ names: ["pi"], only: "real" });
  expect(parseArguments(["emacs"]).problem).toMatch(/no agent emacs\. Usage: .*opencode/);
  expect(parseArguments(["--fast"]).problem).toMatch(/no option --fast/);
  expect(parseArguments(["--real", "--scripted"]).problem).toMatch(/exclude each other/);
});
