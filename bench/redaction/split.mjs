/** The writing of the corpus that no rule is made on; what earlier writings hold is open. */
const HELD_OUT = 2;

/** An entry's half, by the writing that it is of (the first where it does not say). */
export const half = ({ writing = 1 }) => (writing === HELD_OUT ? "held-out" : "tune");
