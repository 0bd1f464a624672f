import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../common/clock.js";

/** Where nodes say that an attempt has something new to read. */
const NEWS_PATH = "/cluster/news";

/** What a node tells: nothing that anybody believes, so that whoever forges it changes no more than when files are read. */
export interface News {
  /** The attempt's submission id. */
  readonly attempt: string;
  /** Of events, so far. */
  readonly bytes: number;
  readonly ended: boolean;
}

/** `refused` whatever the reason: no such attempt, another token, told before, or over. */
export type Heard = "heard" | "refused" | "too_often";

export interface Callbacks {
  /** What nodes post to, and what this service calls it. */
  readonly url: string;
  readonly path: string;
  /** A token for one attempt, which is good until the attempt is closed, or told that it ended. */
  open(attempt: string): string;
  /** Whom to wake; the attempt is open. */
  listen(attempt: string, onNews: () => void): void;
  close(attempt: string): void;
  hear(news: News, token: string): Heard;
}

const TOKEN_BYTES = 32;
const AT_MOST = 20; // of one attempt in a second: a supervisor says it five times
const SECOND_MS = 1_000;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
const NOBODY = randomBytes(32); // compared with where there is no such attempt: the answer takes as long

interface Line {
  readonly hash: Buffer;
  readonly onNews: () => void;
  readonly told: number;
  readonly since: number;
  readonly count: number;
}

/** Tokens of the attempts that are under way: of each only its hash, in memory only. */
export const createCallbacks = ({ url, clock }: { readonly url: string; readonly clock: Clock }): Callbacks => {
  const lines = new Map<string, Line>();
  return {
    url: `${url}${NEWS_PATH}`,
    path: NEWS_PATH,
    open(attempt) {
      const token = randomBytes(TOKEN_BYTES).toString("hex");
      lines.set(attempt, { hash: digest(token), onNews: () => {}, told: 0, since: clock.now(), count: 0 });
      return token;
    },
    listen(attempt, onNews) {
      const line = lines.get(attempt);
      if (line) lines.set(attempt, { ...line, onNews });
    },
    close: (attempt) => void lines.delete(attempt),
    hear({ attempt, bytes, ended }, token) {
      const line = lines.get(attempt);
      const isRight = timingSafeEqual(digest(token), line?.hash ?? NOBODY);
      if (!line || !isRight || (!ended && bytes <= line.told)) return "refused";
      const now = clock.now();
      const isNext = now - line.since >= SECOND_MS;
      const count = isNext ? 1 : line.count + 1;
      if (count > AT_MOST && !ended) return "too_often";
      if (ended) lines.delete(attempt);
      else lines.set(attempt, { ...line, told: bytes, since: isNext ? now : line.since, count });
      line.onNews();
      return "heard";
    },
  };
};
