import { readFileSync } from "node:fs";
import { ERRORS } from "@imprint/contracts";
import { environmentName, flagName, SETTING_NAMES, Settings } from "@imprint/server";
import { expect, test } from "vitest";
import { renderConfiguration } from "../lib/docs/configuration-page.mjs";
import { renderErrors } from "../lib/docs/errors-page.mjs";

const read = (name) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");

test("docs/errors.md says what the catalogue says", () => {
  expect(read("errors.md")).toBe(renderErrors(ERRORS));
  for (const code of Object.keys(ERRORS)) expect(read("errors.md")).toContain(`\`${code}\``);
});

test("docs/configuration.md says what the settings' schema says", () => {
  expect(read("configuration.md")).toBe(renderConfiguration(Settings, { environmentName, flagName }));
  for (const name of SETTING_NAMES) expect(read("configuration.md")).toContain(`\`${flagName(name)}\``);
});
