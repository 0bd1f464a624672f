import { useMemo, useSyncExternalStore } from "react";
import { parseRoute, type Route } from "./route.js";

const subscribe = (listener: () => void): (() => void) => {
  window.addEventListener("hashchange", listener);
  return () => window.removeEventListener("hashchange", listener);
};

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  return useMemo(() => parseRoute(hash), [hash]);
}

export const goTo = (href: string): void => {
  window.location.hash = href;
};
