import { findRepoRoot, readSetup, type Setup } from "../../src/config/setup.js";

/** What `npm run setup` prepared: the interpreter of the real trainer, and the default model. */
export const prepared = (): Setup => {
  const setup = readSetup(findRepoRoot());
  if (setup === null) throw new Error("run npm run setup first: this trains the default model");
  return setup;
};
