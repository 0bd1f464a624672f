import { load } from "./replace.mjs";

const CREDENTIALS = /AWS|API_KEY|PRIVATE_KEY|TOKEN|SECRET|AZURE_STORAGE|PASSWORD|DATABASE|CONNECTION/;

/** openredaction with its patterns for credentials; those for persons are left out, as they are another question. */
export async function create(folder) {
  const { OpenRedaction, allPatterns } = await load(folder, "openredaction");
  const patterns = allPatterns.map((pattern) => pattern.type).filter((type) => CREDENTIALS.test(type));
  const redactor = new OpenRedaction({ patterns });
  return { name: "openredaction", redact: async (text) => (await redactor.detect(text)).redacted };
}
