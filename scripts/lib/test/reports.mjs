/**
 * Both readers give `{passed, failed, skipped}`: a count, and the names of those that failed or were skipped.
 * A file that could not be loaded counts as one failed test.
 */
export function readVitest(json) {
  const found = { passed: 0, failed: [], skipped: [] };
  for (const file of JSON.parse(json).testResults) {
    const tests = file.assertionResults;
    if (file.status === "failed" && !tests.some((test) => test.status === "failed")) found.failed.push(file.name);
    for (const test of tests) {
      if (test.status === "passed") found.passed += 1;
      else (test.status === "failed" ? found.failed : found.skipped).push(test.fullName);
    }
  }
  return found;
}

const TESTCASE = /<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g;

/** JUnit XML as pytest writes it. */
export function readJunit(xml) {
  const found = { passed: 0, failed: [], skipped: [] };
  for (const [, attributes, body = ""] of xml.matchAll(TESTCASE)) {
    const name = `${attribute(attributes, "classname")}.${attribute(attributes, "name")}`;
    if (/<(?:failure|error)\b/.test(body)) found.failed.push(name);
    else if (/<skipped\b/.test(body)) found.skipped.push(name);
    else found.passed += 1;
  }
  return found;
}

const attribute = (text, name) => new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(text)?.[1] ?? "";
