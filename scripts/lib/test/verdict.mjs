/** Tests that may be skipped, by full name, each with the reason. None is. */
export const MAY_SKIP = [];

/** One suite's outcome: a skip that is not listed fails; so does a suite that died, or that ran nothing. */
export function judgeSuite({ name, report, exited, maySkip = MAY_SKIP }) {
  if (report === null)
    return { passed: 0, failures: [`${name}: ended without a report${exited.problem ? ` (${exited.problem})` : ""}`] };
  const failures = [
    ...report.failed.map((test) => `${name}: ${test}`),
    ...report.skipped.filter((test) => !maySkip.includes(test)).map((test) => `${name}: skipped, which is not allowed: ${test}`),
  ];
  if (failures.length === 0 && report.passed === 0) failures.push(`${name}: ran no test`);
  if (failures.length === 0 && exited.problem) failures.push(`${name}: ${exited.problem}, though no test failed`);
  return { passed: report.passed, failures };
}

/** The sum over all parts, and the line that closes the run. */
export function sum(outcomes) {
  const passed = outcomes.reduce((total, outcome) => total + outcome.passed, 0);
  const failures = outcomes.flatMap((outcome) => outcome.failures);
  return { passed, failures, line: `${passed} passed, ${failures.length} failed` };
}
