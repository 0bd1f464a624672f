import { useEffect, useMemo, useRef } from "react";
import { plain } from "../text/plain.js";
import { Card } from "../ui/card.js";

const NEAR_END_PX = 24;

/** The trainer's log as text; follows its end while that is in view. */
export function Log({ log }: { readonly log: string }) {
  const text = useMemo(() => plain(log), [log]);
  const box = useRef<HTMLPreElement>(null);
  const isFollowing = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text is what moves the end.
  useEffect(() => {
    if (box.current && isFollowing.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  const look = (): void => {
    const element = box.current;
    if (element) isFollowing.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
  };
  return (
    <Card title="Log">
      {text === "" ? (
        <p className="muted">The trainer has said nothing yet.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable with the keyboard (WCAG 2.1.1).
        <pre ref={box} className="log" tabIndex={0} onScroll={look}>
          {text}
        </pre>
      )}
    </Card>
  );
}
