import path from "node:path";

/** A folder as one would type it from here. */
export const fromHere = (folder) => path.relative(process.cwd(), folder) || ".";
