import config from "./vitest.config.js";

/** `npm run check-ray`: one file, against a real head. */
export default { ...config, test: { include: ["packages/server/test/runners/ray/real-head.check.ts"] } };
