const CHARACTERS = 4; // of a token, about

/** A chat as a client records it, of about so many tokens: turns of an agent that are the texts, one after another. */
export function chatOf({ texts, tokens, turn }) {
  const messages = [];
  for (let left = tokens * CHARACTERS, at = 0; left > 0; at += 1) {
    const content = `${at + 1}. ${texts[at % texts.length]}`.slice(0, left); // numbered: what is said twice is learned once
    messages.push({ role: "user", content: `Go on (${turn}).` }, { role: "assistant", content });
    left -= content.length;
  }
  return JSON.stringify({ messages });
}
