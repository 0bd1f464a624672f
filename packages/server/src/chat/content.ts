import { fieldRefused } from "../common/problem.js";

/** A part of a message's content; what it holds depends on its type. */
export interface ContentPart {
  readonly type: string;
  readonly text?: string;
}

export type Content = string | readonly ContentPart[] | null | undefined;

const TEXTS: ReadonlySet<string> = new Set(["text", "input_text", "output_text", "refusal"]);
const IMAGES: ReadonlySet<string> = new Set(["image", "image_url", "input_image"]);

const partText = (part: ContentPart, path: string): string => {
  if (IMAGES.has(part.type)) throw fieldRefused(path, "is an image, and the models here read text only: leave it out");
  const { refusal } = part as { readonly refusal?: unknown };
  const text = part.type === "refusal" ? refusal : part.text;
  if (!TEXTS.has(part.type))
    throw fieldRefused(`${path}.type`, `is ${JSON.stringify(part.type)}, and only text can be read here`);
  if (typeof text !== "string") throw fieldRefused(`${path}.text`, "is required");
  return text;
};

/** The text of a content, its parts joined by line breaks. Throws ProblemError for what is no text. */
export const textOf = (content: Content, path: string): string =>
  typeof content === "string" ? content : (content ?? []).map((part, at) => partText(part, `${path}.${at}`)).join("\n");
