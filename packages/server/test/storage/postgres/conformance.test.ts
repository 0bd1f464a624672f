import { openPostgres } from "../../../src/storage/postgres/open.js";
import { useCluster } from "../../support/postgres.js";
import { conformance } from "../conformance.js";

const cluster = useCluster();

conformance("Postgres", async () => {
  const url = await cluster().create();
  return { open: async (migrations) => (await openPostgres({ url, ...(migrations && { migrations }) })).database };
});
