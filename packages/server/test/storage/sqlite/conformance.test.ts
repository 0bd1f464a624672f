import { join } from "node:path";
import { openDatabase } from "../../../src/storage/open.js";
import { makeFolder } from "../../support/service.js";
import { conformance } from "../conformance.js";

conformance("SQLite", async () => {
  const path = join(makeFolder(), "registry.db");
  return { open: async (migrations) => openDatabase({ path, ...(migrations && { migrations }) }) };
});
