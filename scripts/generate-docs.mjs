// Writes docs/errors.md, docs/configuration.md and docs/guarantees.md from the code. Run after `npm run build`; a test compares them.
import { writeFile } from "node:fs/promises";
import { ERRORS } from "@imprint/contracts";
import { environmentName, flagName, Settings } from "@imprint/server";
import { renderConfiguration } from "./lib/docs/configuration-page.mjs";
import { renderErrors } from "./lib/docs/errors-page.mjs";
import { renderGuarantees } from "./lib/docs/guarantees-page.mjs";
import { PROMISES } from "./lib/guarantees/promises.mjs";

const docs = new URL("../docs/", import.meta.url);
await writeFile(new URL("errors.md", docs), renderErrors(ERRORS));
await writeFile(new URL("configuration.md", docs), renderConfiguration(Settings, { environmentName, flagName }));
await writeFile(new URL("guarantees.md", docs), renderGuarantees(PROMISES));
