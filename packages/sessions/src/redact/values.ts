import { entropy } from "./hit.js";

/** Values that stand for a secret and are none. */
const STAND_IN =
  /example|placeholder|changeme|change[_-]me|your[_-]?|redacted|xxxx|\*{3}|\.{3}|(?<![a-z])(?:dummy|sample|todo|fake|mock)|^test|^none$|^null$|^true$|^false$|^password|^secret|^token|\$\{|\{\{|%s|process\.env|environ|getenv|0{6}|12345678|abcdef/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Words, identifiers, dotted names and paths: code rather than a secret. */
const CODE_LIKE =
  /^(?:[A-Za-z]+(?:[._/-][A-Za-z]+)*\d{0,2}|[a-z]+(?:[A-Z][a-z]+)+\d{0,2}|[A-Z]+(?:_[A-Z]+)*|\.{0,2}\/.*|[\w-]+(?:\.[A-Za-z_]\w*)+)$/;

/** Whether a value that is named as a key or token really looks like one. */
export const isKeyValue = (value: string): boolean =>
  /\d/.test(value) &&
  /[A-Za-z]/.test(value) &&
  entropy(value) >= 3.5 &&
  !STAND_IN.test(value) &&
  !CODE_LIKE.test(value) &&
  !UUID.test(value);

/** Whether a value that is named as a password really looks like one. */
export const isPassword = (value: string): boolean =>
  /[A-Za-z]/.test(value) &&
  /[\d!@#$%^&*?~]/.test(value) &&
  entropy(value) >= 2.7 &&
  !STAND_IN.test(value) &&
  !CODE_LIKE.test(value);
