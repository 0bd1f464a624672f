import { execFileSync } from "node:child_process";
import { TrainHypernetworkRequest, TrainLoraRequest } from "@imprint/contracts";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { commandLine, requestOf } from "../../../web/src/train/read-form.js";
import { UsageError } from "../../src/errors.js";
import { resumeRequest, trainingOptions, trainingRequest } from "../../src/flags/training.js";

/** What commander makes of a command line with the training options. */
function parse(...args: string[]): Record<string, unknown> {
  const command = new Command().exitOverride().configureOutput({ outputError: () => undefined });
  for (const option of trainingOptions()) command.addOption(option);
  return command.parse(args, { from: "user" }).opts();
}

const lora = (...args: string[]): unknown => trainingRequest(["s"], "lora", parse(...args)).body;

it("there is a flag for every field of either request but the session", () => {
  const fields = new Set([...Object.keys(TrainLoraRequest.properties), ...Object.keys(TrainHypernetworkRequest.properties)]);
  fields.delete("session_id");
  fields.delete("session_ids");
  fields.delete("trajectory_ids");
  fields.delete("resume_from"); // --resume
  expect(
    trainingOptions()
      .map(({ long }) => long?.slice(2).replaceAll("-", "_"))
      .sort(),
  ).toEqual([...fields].sort());
});

it("every flag is described", () => {
  expect(trainingOptions().filter(({ description }) => description.replace(/\[.*\]/, "").trim() === "")).toEqual([]);
});

describe("trainingRequest", () => {
  it("sends nothing that was not asked for", () => {
    expect(lora()).toEqual({ session_id: "s" });
    expect(trainingRequest(["s"], "hypernetwork", parse())).toEqual({ method: "hypernetwork", body: { trajectory_ids: ["s"] } });
  });

  it("reads every kind of value as the schema's type", () => {
    const args = "--epochs 3 --learning-rate 2e-4 --target-modules q_proj,v_proj --quantization none --include-unsuccessful";
    expect(lora(...args.split(" "), "--metadata", "ticket=42", "--metadata", "note=a=b")).toEqual({
      session_id: "s",
      epochs: 3,
      learning_rate: 2e-4,
      target_modules: ["q_proj", "v_proj"],
      quantization: "none",
      include_unsuccessful: true,
      metadata: { ticket: "42", note: "a=b" },
    });
  });

  it("names several sessions, and says which turns to learn from", () => {
    const several = trainingRequest(["s", "t"], "lora", parse("--train-on", "successful_steps", "--reasoning"));
    expect(several.body).toEqual({ session_ids: ["s", "t"], train_on: "successful_steps", reasoning: true });
    expect(lora("--train-on", "turns:3,1,3")).toEqual({ session_id: "s", train_on: { turns: [3, 1] } });
  });

  it.each([
    [["--max-length", "auto"], { max_length: "auto" }],
    [["--max-length", "512"], { max_length: 512 }],
    [["--holdout", "none"], { holdout: "none" }],
    [["--holdout", "0.25"], { holdout: 0.25 }],
    [["--holdout", "s1,s2"], { holdout: ["s1", "s2"] }],
    [["--profile", "learn"], { profile: "learn" }],
    [["--within", "20m"], { within: "20m" }],
  ])("reads %j", (args, fields) => expect(lora(...args)).toEqual({ session_id: "s", ...fields }));

  it("takes true or false where the service is asked to do without what it does by itself", () => {
    expect(lora("--skip-invalid", "false")).toEqual({ session_id: "s", skip_invalid: false });
    expect(lora("--skip-invalid", "true")).toEqual({ session_id: "s", skip_invalid: true });
  });

  it.each([
    [["s", "s"], "lora", [], "a SESSION is named twice"],
    [["s", "../t"], "lora", [], "SESSION must be"],
    [["s", "t"], "lora", ["--train-on", "turns:1"], "turns of one SESSION"],
    [["s", "t"], "hypernetwork", [], "takes one SESSION"],
  ])("refuses the sessions %j of method %s with %j", (sessions, method, args, sentence) => {
    expect(() => trainingRequest(sessions, method, parse(...args))).toThrow(sentence);
  });

  it.each([
    [["--train-on", "turns:"], "--train-on takes all, successful_steps, final_answer or turns:1,3"],
    [["--train-on", "some"], 'not "some"'],
    [["--epochs", "0"], "--epochs must be >= 1"],
    [["--within", "soon"], "--within must be"],
    [["--within", "0m"], "--within must be"],
    [["--epochs", "three"], '--epochs takes a whole number, not "three"'],
    [["--epochs", "1.5"], "--epochs must be integer"],
    [["--rank", "1000"], "--rank must be <= 256"],
    [["--learning-rate", "0"], "--learning-rate must be > 0"],
    [["--learning-rate", "0x10"], '--learning-rate takes a number, not "0x10"'],
    [["--max-length", "long"], '--max-length takes n|auto, not "long"'],
    [["--max-length", "63"], "--max-length takes 64 to 131072, auto"],
    [["--holdout", "0.9"], "--holdout takes auto, none, more than 0 to 0.5, a,b,..."],
    [["--adapter-id", "No Spaces"], "--adapter-id must be"],
    [["--metadata", "novalue"], "--metadata takes name=text"],
    [["--scaling", "2"], "--scaling is an option of --method hypernetwork"],
  ])("refuses %j in a sentence that names the flag", (args, sentence) => {
    expect(() => lora(...args)).toThrow(UsageError);
    expect(() => lora(...args)).toThrow(sentence);
  });

  it("names the session when its id cannot be one", () => {
    expect(() => trainingRequest(["../secret"], "lora", {})).toThrow("SESSION must be");
    expect(() => trainingRequest(["../secret"], "hypernetwork", {})).toThrow("SESSION must be");
  });
});

describe("resumeRequest", () => {
  const JOB = "0".repeat(26);
  const resume = (job: string, sessions: readonly string[], method: string, ...args: string[]): unknown =>
    resumeRequest(job, { sessions, method, options: parse(...args) }).body;

  it("names the job, and the adapter where one is asked for", () => {
    expect(resume(JOB, [], "lora")).toEqual({ resume_from: JOB });
    expect(resume(JOB, [], "lora", "--adapter-id", "again", "--metadata", "a=b")).toEqual({
      resume_from: JOB,
      adapter_id: "again",
      metadata: { a: "b" },
    });
  });

  it.each([
    [JOB, ["s"], "lora", [], "leave SESSION out"],
    [JOB, [], "hypernetwork", [], "--resume is an option of --method lora"],
    [JOB, [], "lora", ["--seed", "1"], "--seed cannot stand beside --resume"],
    [JOB, [], "lora", ["--scaling", "2"], "--scaling cannot stand beside --resume"],
    ["../x", [], "lora", [], "--resume must be"],
  ])("refuses %s with the sessions %j, method %s and %j", (job, sessions, method, args, sentence) => {
    expect(() => resume(job, sessions, method, ...args)).toThrow(UsageError);
    expect(() => resume(job, sessions, method, ...args)).toThrow(sentence);
  });

  it("is not needed where a session is named, and one of both is", () => {
    expect(() => trainingRequest([], "lora", {})).toThrow("missing required argument 'session'");
  });
});

it.each([
  ["lora", ["s1"], {}],
  ["lora", ["s1", "s2"], { rank: "8", learning_rate: "5e-4", target_modules: "q_proj, v_proj", holdout: "0.25" }],
  ["lora", ["s1"], { metadata: "note=it's $HOME; a=b\nticket=A 1", reasoning: "true", train_on: "final_answer" }],
  ["lora", ["s1"], { seed: "0", max_length: "auto" }],
  ["lora", ["s1"], { include_unsuccessful: "true", base_model: "/models/my base" }],
  ["hypernetwork", ["s1"], { scaling: "1.5", adapter_id: "gates-v1" }],
] as const)("the dashboard's command line of %s %j %j asks a shell for what its form does", (method, sessionIds, values) => {
  const form = { method, sessionIds, values };
  const words = execFileSync("sh", ["-c", `printf '%s\\0' ${commandLine(form)}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);
  const args = words.slice(2 + sessionIds.length).filter((word) => word !== "--watch");
  const at = args.indexOf("--method");
  const [, given = "lora"] = at === -1 ? [] : args.splice(at, 2);
  expect(words.slice(0, 2 + sessionIds.length)).toEqual(["imprint", "train", ...sessionIds]);
  expect(trainingRequest(sessionIds, given, parse(...args)).body).toEqual(requestOf(form));
});

it("leaves out of the dashboard's command line a switch that is off", () => {
  const values = { include_unsuccessful: "false" };
  expect(commandLine({ method: "lora", sessionIds: ["s1"], values })).toBe("imprint train s1 --watch");
});
