import { createHash } from "node:crypto";

/** Half of the names by their hash, so that a name never changes sides when others are added. */
export const half = (name) => (createHash("sha256").update(`split 1 ${name}`).digest()[0] % 2 === 0 ? "tune" : "held-out");
