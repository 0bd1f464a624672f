import { expect, test } from "vitest";
import { checkEvaluateForm, evaluateRequestOf } from "../../src/evaluation/read-evaluate-form.js";

const nothing = { sessionIds: [], control: "", values: {} };

test("nothing has to be chosen for an evaluation", () => {
  expect(evaluateRequestOf(nothing)).toEqual({});
  expect(checkEvaluateForm(nothing)).toEqual({});
});

test("what is chosen has the types of the request", () => {
  const form = { sessionIds: ["s2", "s3"], control: "other", values: { actions: "0", seed: "7" } };
  expect(evaluateRequestOf(form)).toEqual({ session_ids: ["s2", "s3"], control_adapter_id: "other", actions: 0, seed: 7 });
  expect(checkEvaluateForm(form)).toEqual({});
});

test.each([
  ["actions", "many", "must be integer"],
  ["actions", "201", "must be <= 200"],
  ["seed", "-1", "must be >= 0"],
])("%s: %s is refused at its field", (name, text, sentence) => {
  expect(checkEvaluateForm({ ...nothing, values: { [name]: text } })).toEqual({ [name]: sentence });
});
