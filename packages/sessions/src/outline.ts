import { createHash } from "node:crypto";
import type { Session, Step } from "@imprint/contracts";

/** What tells a session from others, and how long it is, without its text. */
export interface Outline {
  /** The same for every recording that resumes or forks the same one: how they begin. */
  readonly opening: string;
  /** Another as soon as the session has grown or changed. */
  readonly content: string;
  /** Of all that was said, called and answered. */
  readonly characters: number;
}

const said = ({ source, text, tool_calls = [] }: Step) => [
  source,
  text,
  tool_calls.map(({ name, arguments: given }) => [name, given]),
];

const heard = ({ observations = [] }: Step) => observations.map(({ content }) => content);

const hash = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

/** Ids and times do not count. */
export function outlineOf({ steps }: Pick<Session, "steps">): Outline {
  const request = steps.find(({ source }) => source === "user");
  const answer = steps.find(({ source }) => source === "agent");
  const texts = steps.flatMap((step) => [
    step.text,
    ...(step.tool_calls ?? []).map(({ arguments: given }) => given),
    ...heard(step),
  ]);
  return {
    opening: hash([request, answer].map((step) => step && said(step))),
    content: hash(steps.map((step) => [said(step), heard(step)])),
    characters: texts.reduce((sum, { length }) => sum + length, 0),
  };
}
