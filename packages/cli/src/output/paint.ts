import { styleText } from "node:util";
import { plain } from "./text.js";

type Style = Parameters<typeof styleText>[0];

/** Colours a text, or leaves it as it is; what steers a terminal in the text itself becomes escapes either way. */
export type Paint = (style: Style, text: string) => string;

/** No colours: for what is painted as a whole later. */
export const unpainted: Paint = (_style, text) => plain(text);

/** Colours on a terminal only, and never with NO_COLOR. FORCE_COLOR wins over the terminal. */
export function createPaint(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Paint {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "" && env.FORCE_COLOR !== "0";
  const refused = (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  const coloured = !refused && (forced || stream.isTTY === true);
  return coloured ? (style, text) => styleText(style, plain(text), { validateStream: false }) : unpainted;
}
