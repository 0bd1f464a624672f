import { createClient } from "@imprint/client";

type Listener = () => void;
const listeners = new Set<Listener>();
let signedOut = false;

const setSignedOut = (now: boolean): void => {
  signedOut = now;
  for (const listener of listeners) listener();
};

/** Whether the service asked for a token: an external store, since any call may find it out. */
export const signedOutStore = {
  subscribe: (listener: Listener): Listener => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  get: (): boolean => signedOut,
};

/** `fetch` that notices when the service asks for its token. */
const watchedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.status === 401) setSignedOut(true);
  return response;
};

// The page may lie under a path of a proxy, and the service with it: addresses are relative to the page.
export const api = createClient({ baseUrl: new URL(".", window.location.href).href, fetch: watchedFetch });

/** Changes the token for a cookie. Resolves with a sentence when the service refuses it, else with null. */
export async function signIn(token: string): Promise<string | null> {
  const headers = { "content-type": "application/json" };
  const response = await fetch("sign-in", { method: "POST", headers, body: JSON.stringify({ token }) });
  if (!response.ok) return ((await response.json()) as { readonly detail: string }).detail;
  setSignedOut(false);
  return null;
}
