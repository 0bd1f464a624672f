/** What runners say at their end, of the tests that failed and of those that passed. */
const FAILED = [
  /^=+ .*\b[1-9]\d* (?:failed|errors?)\b.* =+$/m, // pytest
  /^[1-9]\d* (?:failed|errors?)\b.* in [\d.]+s/m, // pytest -q
  /^FAILED \((?:failures|errors|unexpected)/m, // unittest
  /^\s*(?:Tests|Test Files|Test Suites):?\s+.*\b[1-9]\d* failed/m, // vitest, jest
  /^\s*[1-9]\d* failing\b/m, // mocha
  /^(?:#|ℹ) fail [1-9]/m, // node --test
  /^(?:FAIL|--- FAIL)\b/m, // go
  /^test result: FAILED/m, // cargo
  /^error(?:\[E\d+\])?: /m, // cargo, where it does not compile
  /^not ok \d/m, // TAP
  /^\s*[1-9]\d* fail$/m, // bun
  /no tests ran|ERROR: file or directory not found|ERROR collecting|ModuleNotFoundError: /,
  /^make: \*\*\* |^npm ERR! |ERR_PNPM/m,
];
const PASSED = [
  /^=+ .*\b[1-9]\d* passed\b.* =+$/m,
  /^[1-9]\d* passed\b.* in [\d.]+s/m,
  /^OK(?: \(.*\))?\s*$/m,
  /^\s*(?:Tests|Test Files):?\s+.*\b[1-9]\d* passed/m,
  /^\s*[1-9]\d* passing\b/m,
  /^(?:#|ℹ) fail 0\s*$/m,
  /^ok\s+\S+\s+(?:[\d.]+s|\(cached\))/m,
  /^test result: ok\./m,
  /^1\.\.[1-9]\d*$/m,
  /^\s*0 fail$/m,
];
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, "g");

/** Whether tests passed by their runner's own words; null where it says nothing that is known. */
export function saidResult(output: string): boolean | null {
  const plain = output.replaceAll(COLOURS, "").replaceAll("\r", "");
  if (FAILED.some((one) => one.test(plain))) return false;
  return PASSED.some((one) => one.test(plain)) ? true : null;
}
