// The second half of npm run build: bundles the programs that the compiler left in dist, and builds the dashboard.
import { bundle } from "./lib/bundle.mjs";
import { buildDashboard } from "./lib/dashboard.mjs";
import { ROOT } from "./lib/setup/main.mjs";

await bundle({ root: ROOT });
await buildDashboard({ root: ROOT });
