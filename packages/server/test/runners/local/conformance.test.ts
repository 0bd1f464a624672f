import { conformance } from "../conformance.js";
import { runnerOn } from "../support.js";

conformance("the local runner", (worker, args) => runnerOn(worker, args));
