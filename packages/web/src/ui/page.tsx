import { type ReactNode, useEffect, useRef } from "react";

interface PageProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Beside the heading. */
  readonly actions?: ReactNode;
}

/** A page: its heading gets the focus when it opens, so that keyboard and screen reader begin there. */
export function Page({ title, children, actions }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Imprint`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <main id="main">
      <header className="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}

/** What to know before the start, one sentence each. */
export function Remarks({ remarks }: { readonly remarks: readonly string[] }) {
  return remarks.map((remark) => (
    <p key={remark} className="notice">
      {remark}
    </p>
  ));
}
