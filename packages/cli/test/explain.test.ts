import { ApiError } from "@imprint/client";
import { ERRORS, type ErrorCode } from "@imprint/contracts";
import { expect, it } from "vitest";
import { UsageError } from "../src/errors.js";
import { explain } from "../src/explain.js";

const NAME = "npx imprint";
const CODES = Object.keys(ERRORS) as ErrorCode[];

/** Words of HTTP, and names of JSON fields. */
const OF_THE_WIRE =
  /\b(?:GET|POST|PUT|PATCH|DELETE|HTTP|JSON object|Authorization|Content-Type)\b|\/[a-z]|[a-z]_[a-z]|\b[45]\d\d\b/;

const refused = (code: ErrorCode, problem: object = {}): string =>
  explain(new ApiError(ERRORS[code].status ?? 500, { code, detail: ERRORS[code].hint, ...problem }), NAME).lines.join("\n");

it.each(CODES)("%s is explained in the words of the command", (code) => {
  const said = refused(code);
  expect(said.replaceAll(/docs\/[a-z]+\.md|[a-z_]+ in config\.json/g, "")).not.toMatch(OF_THE_WIRE);
  expect(said.replaceAll(NAME, "")).not.toMatch(/\bimprint (?:serve|doctor|import|models|adapters|jobs|sessions)/);
});

it.each(["npx imprint", "imprint", "npm run imprint --", "node packages/cli/bin/imprint.mjs"])(
  "a sentence that names the command as %s already names it once",
  (name) => {
    const said = explain(new UsageError(`no service runs here: ${name} serve starts one`), name);
    expect(said.lines).toEqual([`no service runs here: ${name} serve starts one`]);
  },
);

it("wrong fields are named by their flags, sessions as the command line calls them", () => {
  const errors = [
    { path: "/learning_rate", message: "must be <= 0.1" },
    { path: "/target_modules/3", message: "must be string" },
    { path: "/session_id", message: "must be string" },
    { path: "/resume_from", message: "cannot stand beside max_length" },
  ];
  const said = refused("VALIDATION_FAILED", { detail: "Field learning_rate must be <= 0.1.", errors });
  expect(said.split("\n")).toEqual([
    "--learning-rate must be <= 0.1",
    "--target-modules must be string",
    "SESSION must be string",
    "--resume cannot stand beside --max-length",
    "npx imprint COMMAND --help lists the options.",
  ]);
});

it("a sentence of the service keeps its meaning and names commands as this one was called", () => {
  const said = refused("ADAPTER_ID_TAKEN", { detail: "The adapter_id gates is taken: choose another, or leave adapter_id out." });
  expect(said).toContain("The --adapter-id gates is taken: choose another, or leave --adapter-id out.");
  const path = "recordings/session_id/adapter_id.json, base_model.jsonl: session_limit is 1";
  expect(refused("SESSION_UNREADABLE", { detail: path })).toContain(path.replace("session_limit", "--session-limit"));
  expect(refused("WORKER_START_FAILED")).toContain("npx imprint doctor says what is missing");
});
