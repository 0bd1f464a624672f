/** What ends a stream of each API, and what its whole answer has. */
const APIS = {
  "/v1/chat/completions": { ends: (data) => data === "[DONE]", whole: "choices" },
  "/v1/responses": { ends: (data) => /^\{"type":"response\.(?:completed|incomplete)"/.test(data), whole: "output" },
  "/v1/messages": { ends: (data) => data.startsWith('{"type":"message_stop"'), whole: "content" },
};
const CUT = /"finish_reason":"length"|"status":"incomplete"|"stop_reason":"max_tokens"/;
const OVERFLOW = /context_length_exceeded|prompt is too long: \d+ tokens > \d+ maximum/;

/** How an answer ended: `{end: "whole" | "cut" | "overflow" | "left"}`, or `{end: "wrong", why}`. */
export function judgeAnswer({ api, status, text, left }) {
  const known = APIS[api];
  if (status >= 400 || known === undefined) return refusalOf(`${status}`, text);
  const whole = { end: CUT.test(text) ? "cut" : "whole" };
  if (!text.includes("data: ")) return text.includes(`"${known.whole}"`) ? whole : refusalOf("no answer in it", text);
  const events = text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice("data: ".length)] : []));
  const failed = events.find((data) => /^\{"(?:error|type":"(?:error|response\.failed))"/.test(data));
  if (failed !== undefined) return refusalOf("an error in the stream", failed);
  if (events.some(known.ends)) return whole;
  return left ? { end: "left" } : refusalOf("a stream without an end", events.at(-1) ?? "");
}

const refusalOf = (what, text) =>
  OVERFLOW.test(text) ? { end: "overflow" } : { end: "wrong", why: `${what}: ${text.slice(0, 300)}` };

const REASON = /error|incomplete|limit|too long|context/i;
const REMARKS = { whole: "whole answers", cut: "answers cut off", overflow: "prompts too long", left: "answers that it left" };

/** What an agent's talk with a real model left wrong, in sentences, and what happened, in words. */
export function judgeTalk({ failure, answers, said }) {
  const wrong = answers.flatMap(({ api, end, why }) => (end === "wrong" ? [`${api} was answered with ${why}`] : []));
  const count = (end) => answers.filter((answer) => answer.end === end).length;
  const short = count("cut") + count("overflow");
  if (count("whole") + short === 0) wrong.push("it was given no answer");
  // The limit of answers, the room for prompts, and how long a model that never comes to an end is talked to: none is the agent's fault.
  if (failure !== null && short === 0 && !(failure.timedOutMs != null && count("whole") > 0)) wrong.push(failure.message);
  // Who does not understand an answer asks for it once more.
  const requests = answers.filter(({ request }) => request !== "").map(({ request }) => request);
  const again = requests.length - new Set(requests).size;
  if (again > 0) wrong.push(`it sent ${again} of ${requests.length} requests again as they were`);
  if (count("overflow") > 0 && !said.some((line) => /context|too long|tokens/i.test(line)))
    wrong.push("it did not say that the prompt is too long");
  const parts = ["whole", "cut", "overflow", "left"].map((end) => [REMARKS[end], count(end)]);
  const told = parts.filter(([, times]) => times > 0).map(([words, times]) => `${words} ${times}`);
  const reason = said.findLast((line) => REASON.test(line)) ?? said.findLast((line) => line.trim() !== "");
  const ended = failure === null ? "exit code 0" : `${failure.message} and said: ${reason?.trim()}`;
  return { wrong, remark: [...told, ended].join(", ") };
}
