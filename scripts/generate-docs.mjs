// Writes docs/errors.md and docs/configuration.md from the code. Run after `npm run build`; a test compares them.
import { writeFile } from "node:fs/promises";
import { ERRORS } from "@imprint/contracts";
import { environmentName, flagName, Settings } from "@imprint/server";
import { renderConfiguration } from "./lib/docs/configuration-page.mjs";
import { renderErrors } from "./lib/docs/errors-page.mjs";

const docs = new URL("../docs/", import.meta.url);
await writeFile(new URL("errors.md", docs), renderErrors(ERRORS));
await writeFile(new URL("configuration.md", docs), renderConfiguration(Settings, { environmentName, flagName }));
