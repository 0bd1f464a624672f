import { expect, test } from "vitest";
import { checkForm, FIELDS, type Method, problemsByField, requestOf } from "../../src/train/read-form.js";

const lora = { method: "lora", sessionIds: ["s1"], values: {} } as const;

test("fields left empty are left out, the others have the types of their schemas", () => {
  expect(requestOf(lora)).toEqual({ session_id: "s1" });
  const values = {
    rank: "8",
    learning_rate: "5e-4",
    reasoning: "true",
    train_on: "final_answer",
    target_modules: "q_proj, v_proj",
    metadata: "ticket = A-1\nlink=https://a.b/?x=1",
    task_type: "   ",
  };
  expect(requestOf({ ...lora, sessionIds: ["s1", "s2"], values })).toEqual({
    session_ids: ["s1", "s2"],
    rank: 8,
    learning_rate: 5e-4,
    reasoning: true,
    train_on: "final_answer",
    target_modules: ["q_proj", "v_proj"],
    metadata: { ticket: "A-1", link: "https://a.b/?x=1" },
  });
  expect(requestOf({ method: "hypernetwork", sessionIds: ["s1"], values: { scaling: "1.5", rank: "8" } })).toEqual({
    trajectory_ids: ["s1"],
    scaling: 1.5,
  });
});

test.each([
  ["rank", "zero", "must be integer"],
  ["rank", "0", "must be >= 1"],
  ["rank", "2.5", "must be integer"],
  ["learning_rate", "1", "must be <= 0.1"],
  ["max_length", "long", "must be integer"],
  ["max_length", "63", "must be >= 64"],
  ["holdout", "0.6", "must be <= 0.5"],
  ["holdout", ",", "must not have fewer than 1 items"],
  ["profile", "forget", "must be one of"],
  ["adapter_id", "Not Allowed", "must be small letters"],
  ["metadata", "a bad name=1", "a bad name is not a known field"],
  ["target_modules", "q_proj q_proj", "must not have duplicate items"],
])("%s: %s is refused at its field", (name, text, sentence) => {
  const problems = checkForm({ ...lora, values: { [name]: text } });
  expect(Object.keys(problems)).toEqual([name]);
  expect(problems[name]).toContain(sentence);
});

test.each([
  ["holdout", "auto", "auto"],
  ["holdout", "0.25", 0.25],
  ["holdout", "s2,", ["s2"]],
  ["holdout", "0.5,", ["0.5"]],
  ["holdout", "s1, s2", ["s1", "s2"]],
  ["max_length", "auto", "auto"],
  ["max_length", "4096", 4096],
])("%s: %s is one of its words, a number or a list", (name, text, value) => {
  const form = { method: "lora", sessionIds: ["s1", "s2"], values: { [name]: text } } as const;
  expect(requestOf(form)).toEqual({ session_ids: ["s1", "s2"], [name]: value });
  expect(checkForm(form)).toEqual({});
});

const sweep = { method: "sweep", sessionIds: ["s1"], values: { rank: "8, 16", learning_rate: "1e-4 3e-4" } } as const;

test("the lists of a sweep are numbers, however they are parted", () => {
  expect(requestOf({ ...sweep, values: { ...sweep.values, epochs: "2", early_stopping: "none", trials: "3" } })).toEqual({
    session_id: "s1",
    rank: [8, 16],
    learning_rate: [1e-4, 3e-4],
    epochs: [2],
    early_stopping: "none",
    trials: 3,
  });
  expect(checkForm(sweep)).toEqual({});
});

test.each([
  ["rank", "8, x", "must be integer"],
  ["rank", "8, 300", "must be <= 256"],
  ["rank", "8, 8", "must not have duplicate items"],
  ["learning_rate", "1e-4, 1", "must be <= 0.1"],
  ["epochs", "1.5, 2", "must be integer"],
  ["trials", "1", "must be >= 2"],
  ["trials", "65", "must be <= 64"],
  ["holdout", "none", "must hold something out"],
])("of a sweep %s: %s is refused at its field", (name, text, sentence) => {
  const problems = checkForm({ ...sweep, values: { ...sweep.values, [name]: text } });
  expect(Object.keys(problems)).toEqual([name]);
  expect(problems[name]).toContain(sentence);
});

test("a sweep that compares nothing, or too much, is refused at its trials, in the service's words", () => {
  expect(checkForm({ ...sweep, values: { rank: "8" } }).trials).toMatch(/^has nothing to compare/);
  const many = { rank: "1,2,3,4,5,6,7,8,9", epochs: "1,2,3,4,5,6,7,8" };
  expect(checkForm({ ...sweep, values: many }).trials).toMatch(/^must be at most 64, and there are 72 combinations/);
  expect(checkForm({ ...sweep, values: { ...many, trials: "5" } })).toEqual({});
});

test.each(["lora", "hypernetwork"] satisfies Method[])("%s needs a session, and nothing else", (method) => {
  expect(checkForm({ method, sessionIds: [], values: {} })).toEqual({ sessions: "choose at least one session" });
  expect(checkForm({ method, sessionIds: ["s1"], values: {} })).toEqual({});
});

test("the form offers every field of the schemas but the sessions", () => {
  expect(Object.keys(FIELDS.lora)).toContain("include_unsuccessful");
  expect(Object.keys(FIELDS.lora)).not.toContain("session_id");
  expect(Object.keys(FIELDS.sweep)).toEqual(expect.arrayContaining(["rank", "alpha", "trials", "early_stopping", "holdout"]));
  for (const name of ["session_id", "session_ids", "resume_from", "profile"])
    expect(Object.keys(FIELDS.sweep)).not.toContain(name);
  expect(Object.keys(FIELDS.hypernetwork)).not.toContain("trajectory_ids");
});

test("the service's refusals stand at the fields that they name", () => {
  expect(
    problemsByField([
      { path: "/session_ids/3", message: "is unknown" },
      { path: "/metadata/a", message: "is wrong" },
    ]),
  ).toEqual({ sessions: "is unknown", metadata: "a is wrong" });
});

test("a base model is a name, a hub id or a folder of the service's machine", () => {
  const problemOf = (base_model: string): string | undefined => checkForm({ ...lora, values: { base_model } }).base_model;
  for (const good of ["SmolLM2-135M-Instruct", "owner/name", "/models/larger model", "~/models/larger"])
    expect(problemOf(good), good).toBeUndefined();
  for (const bad of ["../models/larger", "https://example.com/model", "a/b/c", "~root/model"])
    expect(problemOf(bad), bad).toBeDefined();
});
