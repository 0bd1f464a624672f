import { useSyncExternalStore } from "react";

const dark = window.matchMedia("(prefers-color-scheme: dark)");

const subscribe = (listener: () => void): (() => void) => {
  dark.addEventListener("change", listener);
  return () => dark.removeEventListener("change", listener);
};

/** Changes when the colours do: a canvas does not follow the style sheet by itself. */
export const useColorScheme = (): string => useSyncExternalStore(subscribe, () => (dark.matches ? "dark" : "light"));

/** The value of a custom property of the style sheet. */
export const colorOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
