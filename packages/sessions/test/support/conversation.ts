/** One small conversation that every format can hold: a request, a call with its result, an answer, a second exchange. */
export const TASK = "Make `slugify` keep digits.\nUse the tests as they are.";
export const FIRST_ANSWER = "I'll read the file — it's short.";
export const CALL = { id: "call_Ab12", name: "read_file", arguments: '{"path":"src/slug.ts"}' };
export const RESULT = "export const slugify = (t) => t.toLowerCase();\n";
export const LAST_ANSWER = "Done: digits stay.\n\n```ts\nconst a = 1;\n```\n";
export const SECOND_TASK = "Also trim dashes, s'il te plaît 🎉";
export const SECOND_ANSWER = "Trimmed «-».";
