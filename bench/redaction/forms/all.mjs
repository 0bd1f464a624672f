import { files } from "./files.mjs";
import { cloudIssuers } from "./issuers-cloud.mjs";
import { codeIssuers } from "./issuers-code.mjs";
import { peopleIssuers } from "./issuers-people.mjs";
import { lines } from "./lines.mjs";
import { recorded } from "./recorded.mjs";

/** Every way a secret is written: `make` gives a text in which `hide` marks what must not survive. */
export const FORMS = [...cloudIssuers, ...codeIssuers, ...peopleIssuers, ...files, ...lines, ...recorded];
