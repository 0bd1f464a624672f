import { createHash } from "node:crypto";

/** The writing of the corpus that is split; what the others hold is open. */
const SPLIT = 2;
const isHeldOut = (name) => createHash("sha256").update(`split 2 ${name}`).digest()[0] % 2 === 0;

/** An entry's half: by the hash of its name, so that it never changes sides when others are added; the other writings are open. */
export const half = ({ name, writing = 1 }) => (writing === SPLIT && isHeldOut(name) ? "held-out" : "tune");
