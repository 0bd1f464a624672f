import { type FormEvent, useCallback, useState } from "react";
import { signIn } from "../api.js";
import { useAction } from "../load/use-action.js";
import { Page } from "../ui/page.js";
import { Problem } from "../ui/problem.js";

/** Asks for the service's token once; from then on the browser sends a cookie that no script can read. */
export function SignInPage() {
  const [token, setToken] = useState("");
  const { run, isBusy, error } = useAction(
    useCallback(async (given: string) => {
      const refusal = await signIn(given);
      if (refusal !== null) throw new Error(refusal);
    }, []),
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void run(token.trim());
  };
  return (
    <Page title="Sign in">
      <form className="card narrow" onSubmit={submit}>
        <p>This service was started with a token. It stands in the file or setting that the service was given.</p>
        <label className="stacked">
          Token
          <input
            type="password"
            autoComplete="current-password"
            required
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <Problem error={error} />
        <button type="submit" className="primary" disabled={isBusy}>
          Sign in
        </button>
      </form>
    </Page>
  );
}
