import { commonKeys } from "./common-keys.mjs";
import { commonPlaces } from "./common-places.mjs";
import { files } from "./files.mjs";
import { cloudIssuers } from "./issuers-cloud.mjs";
import { codeIssuers } from "./issuers-code.mjs";
import { peopleIssuers } from "./issuers-people.mjs";
import { lines } from "./lines.mjs";
import { recorded } from "./recorded.mjs";
import { secondFiles } from "./second-files.mjs";
import { secondIssuers } from "./second-issuers.mjs";
import { secondLines } from "./second-lines.mjs";
import { secondRecorded } from "./second-recorded.mjs";

const first = [...cloudIssuers, ...codeIssuers, ...peopleIssuers, ...files, ...lines, ...recorded];
const second = [...secondIssuers, ...secondFiles, ...secondLines, ...secondRecorded];
const third = [...commonKeys, ...commonPlaces];

/** Every way a secret is written: `make` gives a text in which `hide` marks what must not survive. */
export const FORMS = [
  ...first,
  ...second.map((form) => ({ ...form, writing: 2 })),
  ...third.map((form) => ({ ...form, writing: 3 })),
];
