import { isObject } from "@imprint/contracts";
import type { Call } from "./call.js";
import { accept, type Input, more, type Reading, run, space } from "./input.js";
import { jsonText, parsed } from "./json.js";
import { jsonCalls } from "./tagged.js";

/** Behind `[TOOL_CALLS]`: a list of calls, or `name{..}`, since 2025 `name[ARGS]{..}` and `name[CALL_ID]id[ARGS]{..}`. */
export function* mistralCalls(input: Input): Reading<readonly Call[]> {
  yield* space(input);
  if ((yield* more(input)) && /[[{]/.test(input.text.charAt(input.at))) return yield* jsonCalls(input);
  const name = yield* run(input, /[\w.:/-]/);
  if (name === null) return null;
  if (yield* accept(input, "[CALL_ID]")) yield* run(input, /\w/);
  yield* accept(input, "[ARGS]");
  yield* space(input);
  const json = yield* jsonText(input);
  return json !== null && isObject(parsed(json)) ? [{ name, arguments: json }] : null;
}
