import { afterAll, beforeAll } from "vitest";
import { type FakeHead, startFakeHead } from "../../fixtures/ray/fake-head.js";
import { conformance } from "../conformance.js";
import { rayRunnerOn } from "./support.js";

let head: FakeHead;
beforeAll(async () => {
  head = await startFakeHead({ token: "a-token-of-the-cluster" });
});
afterAll(() => head.close());

conformance("the Ray runner", (worker, args) =>
  rayRunnerOn({ worker, args, address: head.address, token: "a-token-of-the-cluster" }),
);
