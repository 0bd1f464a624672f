const SUBJECTS =
  "a queue, recursion, a hash table, a unit test, a git branch, a deadlock, a REST API, an index, a cache, a regex".split(", ");
const ASKS = [
  (subject) => `Explain ${subject} in one sentence.`,
  (subject) => `When should I not use ${subject}?`,
  (subject) => `Write a short Python example of ${subject}.`,
  (subject) => `Name two common mistakes with ${subject}.`,
  (subject) => `Who would need to know about ${subject}, and why?`,
];

/** Fifty questions. */
export const PROMPTS = ASKS.flatMap((ask) => SUBJECTS.map(ask));
