// The second half of npm run build: bundles the programs that the compiler left in dist.
import { bundle } from "./lib/bundle.mjs";
import { ROOT } from "./lib/setup/main.mjs";

await bundle({ root: ROOT });
