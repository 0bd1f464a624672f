import type { ImportedFile, ImportedSession } from "./import-files.js";

/** An older service does not count the turns to learn from. */
const lessons = ({ trainable_turns, assistant_turns }: ImportedSession): number => trainable_turns ?? assistant_turns;

/** The session with the most to learn from, of equals the last; null when a training of any would be refused. */
function bestOf(sessions: readonly ImportedSession[]): ImportedSession | null {
  const trainable = sessions.filter((session) => session.own !== true && session.outcome !== "failure" && lessons(session) > 0);
  return trainable.reduce<ImportedSession | null>(
    (best, session) => (best === null || lessons(session) >= lessons(best) ? session : best),
    null,
  );
}

/** What to do with what was imported, new sessions before those that were stored before: a command that works, or why none does. `name` is how it is called. */
export function nextStep(files: readonly ImportedFile[], name: string): readonly string[] {
  const of = (status: ImportedFile["status"]): readonly ImportedSession[] =>
    files.flatMap((file) => (file.status === status ? file.sessions : []));
  const [stored, known] = [of("stored"), of("known")];
  const best = bestOf(stored) ?? bestOf(known);
  if (best !== null) return [`Train on one: ${name} train ${best.session_id} --watch`];
  if (of("readable").length > 0) return ["Store them: the same command without --dry-run."];
  const failed = [...stored, ...known].find((session) => session.own !== true && lessons(session) > 0);
  if (failed !== undefined)
    return [
      "None of these sessions is trained on as it is: all of them ended in failure.",
      `  to train all the same:     ${name} train ${failed.session_id} --include-unsuccessful --watch`,
      `  to say that it succeeded:  ${name} label ${failed.session_id} success`,
    ];
  if (stored.length + known.length === 0) return [];
  const own = [...stored, ...known].find((session) => session.own === true && lessons(session) > 0);
  if (own !== undefined)
    return [
      "None of these sessions is trained on as it is: their words are those of adapters and base models of this service.",
      `  to train all the same:     ${name} train ${own.session_id} --watch`,
    ];
  return ["None of these sessions can be trained on: no agent says anything in them after a task. Import others."];
}
