import { api } from "../api.js";
import { useLoad } from "../load/use-load.js";
import { hrefOf } from "../router/route.js";
import { Page } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { EvaluationReport } from "./report.js";

/** The last evaluation of an adapter, from what is on disk. */
export function EvaluationPage({ adapterId }: { readonly adapterId: string }) {
  const { value, error, isLoading } = useLoad(adapterId, (signal) => api.adapters.evaluation(adapterId, { signal }));
  const actions = (
    <a className="button" href={hrefOf(["adapters", adapterId])}>
      Adapter
    </a>
  );
  return (
    <Page title={`Evaluation of ${adapterId}`} actions={actions}>
      {isLoading && <p role="status">Loading…</p>}
      <Problem error={error} />
      {value && <EvaluationReport result={value} />}
    </Page>
  );
}
