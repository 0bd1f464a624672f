const escaped = (text) => JSON.stringify(text).slice(1, -1);
const SHORTEST = 6;

/** The piece as it stands in JSON, in JSON inside JSON, and so on. */
const writings = (piece) => {
  const all = [piece];
  for (let depth = 0; depth < 4; depth++) all.push(escaped(all.at(-1)));
  return [...new Set(all)];
};

/** Whether half of a secret in one run (6 characters at least) still stands in a text. */
export function survives(piece, text) {
  const width = Math.min(piece.length, Math.max(SHORTEST, Math.ceil(piece.length / 2)));
  for (let start = 0; start + width <= piece.length; start++)
    if (writings(piece.slice(start, start + width)).some((part) => text.includes(part))) return true;
  return false;
}

/** The pieces of a secret that count: of a key of many lines the last, short one says nothing. */
export const telling = (pieces) => pieces.filter((piece) => piece.length >= SHORTEST);

/** Whether every given text still stands in what the session became, in the same or another writing. */
export const unchanged = (given, text) => given.every((one) => writings(one).some((part) => text.includes(part)));
