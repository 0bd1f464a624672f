/** What a check found: `ok`, worth knowing, or missing; what was seen, and what to do about it. */
export interface Finding {
  readonly name: string;
  readonly status: "ok" | "warning" | "missing";
  readonly detail: string;
  readonly remedy?: string;
}

export const ok = (name: string, detail: string): Finding => ({ name, status: "ok", detail });
export const warning = (name: string, detail: string, remedy: string): Finding => ({ name, status: "warning", detail, remedy });
export const missing = (name: string, detail: string, remedy: string): Finding => ({ name, status: "missing", detail, remedy });
