import { docs } from "./docs.mjs";
import { operations } from "./operations.mjs";
import { pipeline } from "./pipeline.mjs";
import { python } from "./python.mjs";
import { service } from "./service.mjs";

/**
 * Each draws the house of one repository: its files, what is done after a change (`finish`), and four families of tasks with two ways to
 * edit. The last family is shown in no training; its two wordings are held out, as the last two of the others are.
 */
export const KINDS = { operations, python, service, docs, pipeline };
