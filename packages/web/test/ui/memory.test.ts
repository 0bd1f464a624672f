import { expect, test } from "vitest";
import { checkForm } from "../../src/train/read-form.js";
import { settingsIn } from "../../src/ui/memory.jsx";

test("the settings of a memory plan's suggestion fill the form", () => {
  const values = settingsIn("It fits with quantization nf4 and max_length 2048 and rank 8: 11.2 GB of 12.0 GB.");
  expect(values).toEqual({ quantization: "nf4", max_length: "2048", rank: "8" });
  expect(checkForm({ method: "lora", sessionIds: ["s1"], values })).toEqual({});
});

test("where nothing fits there is nothing to apply", () => {
  expect(settingsIn("No setting fits: the least takes 31.0 GB. Take a smaller base model.")).toEqual({});
});
