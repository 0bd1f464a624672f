import { createHash } from "node:crypto";

/** A session of a project as the choice sees it. */
export interface Member {
  readonly session_id: string;
  readonly content: string;
  /** Recordings that resume or fork one another begin alike. */
  readonly opening: string;
  readonly at: string;
  readonly tokens: number;
}

/** A session as it was chosen: once it has grown it is another. */
export interface Picked {
  readonly session_id: string;
  readonly content: string;
}

/** What a run trains on and is tested on. */
export interface Chosen {
  readonly new: readonly Picked[];
  readonly replayed: readonly Picked[];
  readonly held_out: readonly Picked[];
  /** What it was chosen from, hashed: a run that did not end goes on while this is the same. */
  readonly basis: string;
}

export interface Choice {
  /** Sessions that can be trained on. */
  readonly members: readonly Member[];
  /** What completed runs were trained or tested on. */
  readonly seen: readonly Picked[];
  /** What the latest adapter, or one before it, has learned. */
  readonly learned: readonly Picked[];
  readonly replayTokens: number;
  readonly seed: number;
  /** Whatever else makes another training. */
  readonly settings: unknown;
}

/** Why there is nothing to train, as the end of a sentence. */
export interface NothingToTrain {
  readonly reason: string;
}

/** Sessions that one run takes at most: what a training and an evaluation take. */
const MOST_TRAINED = 1000;
/** Of the families, the newest fifth is held out: at least one, ... */
const HELD_OUT_SHARE = 5;
/** ... and at most so many as a verdict needs. What is held out is learned by a later run: few, so that it does not wait for long. */
const MOST_HELD_OUT = 5;
const MOST_TESTED = 100;
/** One session of fewer tokens says little beyond itself. */
const SHORT = 4_096;
/** Families of which two can be spared. */
const ENOUGH = 4;

const keyOf = ({ session_id, content }: Picked): string => `${session_id} ${content}`;
const pickOf = ({ session_id, content }: Member): Picked => ({ session_id, content });
const byTime = (a: Member, b: Member): number => Date.parse(a.at) - Date.parse(b.at) || (a.session_id < b.session_id ? -1 : 1);

const hash = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

/** Sessions that begin alike stand on one side; oldest first, each family as old as its newest session. */
const familiesOf = (members: readonly Member[]): readonly (readonly Member[])[] => {
  const families = new Map<string, Member[]>();
  for (const member of members.toSorted(byTime)) {
    const family = families.get(member.opening) ?? [];
    families.delete(member.opening);
    families.set(member.opening, [...family, member]);
  }
  return [...families.values()];
};

/** How many families are held out, where enough of what is new remains. */
const heldOutOf = (families: readonly (readonly Member[])[]): number => {
  const tokens = (families.at(-1) ?? []).reduce((sum, one) => sum + one.tokens, 0);
  const least = families.length >= ENOUGH && tokens < SHORT ? 2 : 1;
  return Math.min(MOST_HELD_OUT, Math.max(least, Math.floor(families.length / HELD_OUT_SHARE)));
};

/** Whole sessions in this order, each that still fits. */
const fitting = (members: readonly Member[], budget: number): readonly Member[] => {
  let left = budget;
  return members.filter(({ tokens }) => {
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
};

/**
 * Of what was learned before: half of the budget for the newest, the other half for a spread over all others, the same for the same seed.
 * Newest first, and by a seeded hash; a session that does not fit any more is passed over.
 */
export const chooseReplay = (
  learned: readonly Member[],
  { budget, seed }: { readonly budget: number; readonly seed: number },
): readonly Member[] => {
  const newest = fitting(learned.toSorted(byTime).reverse(), Math.floor(budget / 2));
  const rest = budget - newest.reduce((sum, { tokens }) => sum + tokens, 0);
  const order = ({ session_id }: Member): string => hash([seed, session_id]);
  const others = learned.filter((member) => !newest.includes(member)).toSorted((a, b) => (order(a) < order(b) ? -1 : 1));
  return [...newest, ...fitting(others, rest)].toSorted(byTime);
};

/**
 * What the next run trains on and is tested on. The newest are held out, whole families of them; what no adapter up to the latest has
 * learned is new, and trained on; of the others as many are replayed as the budget allows.
 */
export const chooseForRun = ({ members, seen, learned, replayTokens, seed, settings }: Choice): Chosen | NothingToTrain => {
  const known = new Set(seen.map(keyOf));
  const held = new Set(learned.map(keyOf));
  const families = familiesOf(members);
  if (members.length === 0) return { reason: "none of its sessions can be trained on" };
  if (families.length === 1)
    return { reason: "one session is to learn from and another to be tested on: it goes on with the next session" };
  if (members.every((member) => known.has(keyOf(member)))) return { reason: "every session was trained or tested on already" };

  // Where all that is new would be held out, fewer are.
  for (let out = heldOutOf(families); out > 0; out -= 1) {
    const tested = families.slice(-out).flat().toSorted(byTime).slice(-MOST_TESTED);
    const others = families.slice(0, -out).flat();
    const fresh = others
      .filter((member) => !held.has(keyOf(member)))
      .toSorted(byTime)
      .slice(-MOST_TRAINED);
    if (fresh.length === 0) continue;
    const before = others.filter((member) => held.has(keyOf(member)));
    const replayed = chooseReplay(before, { budget: replayTokens, seed });
    return {
      new: fresh.map(pickOf),
      replayed: replayed.slice(Math.max(0, replayed.length + fresh.length - MOST_TRAINED)).map(pickOf),
      held_out: tested.map(pickOf),
      basis: hash([members.map(keyOf).toSorted(), learned.map(keyOf).toSorted(), replayTokens, settings]),
    };
  }
  return { reason: "the new session is the newest, which is kept to be tested on: the next session brings it in" };
};
