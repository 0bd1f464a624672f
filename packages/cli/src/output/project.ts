import { change, latestOf, type Project, type ProjectFigures, type ProjectRun, type ProjectSummary } from "@imprint/contracts";
import { VERDICTS, verdictLine } from "./evaluation.js";
import type { Paint } from "./paint.js";
import { fields, table } from "./table.js";
import { count, names, plain } from "./text.js";

const percent = (figures: ProjectFigures, delta: number): string => change(figures.base_loss, figures.base_loss + delta);

const intervalOf = (figures: ProjectFigures, interval: readonly number[] | null): string =>
  interval === null ? "" : interval.map((end) => percent(figures, end)).join(" to ");

/** What a run is, in a word: its verdict once it has one. */
const wordOf = ({ status, verdict }: ProjectRun): string => (verdict === null ? status : VERDICTS[verdict]);

const latestLine = ({ name, latest, runs }: Project, run: ProjectRun, paint: Paint): string => {
  const alias = paint("bold", latestOf(name));
  if (run.moved && latest?.adapter_id === run.adapter_id) {
    const before = run.figures?.before?.adapter_id ?? runs.find((one) => one.moved && one.run < run.run)?.adapter_id;
    return `${alias} is ${latest.adapter_id} now${before === undefined ? "" : `; it was ${before}`}.`;
  }
  return latest === null ? `${alias} is no adapter yet.` : `${alias} stays ${latest.adapter_id}.`;
};

const figureLines = ({ figures, adapter_id }: ProjectRun, paint: Paint): readonly string[] => {
  if (figures === null) return [];
  const { base_loss: base, change: delta, interval, before } = figures;
  const row = (name: string, by: number, within: readonly number[] | null): string[] => [
    name,
    (base + by).toFixed(3),
    percent(figures, by),
    intervalOf(figures, within),
  ];
  const rows = [
    ["base model", base.toFixed(3), "", ""],
    ...(before === null ? [] : [row(`${before.adapter_id}, the latest before`, before.change, before.interval)]),
    row(adapter_id, delta, interval),
  ];
  return ["", table(["LOSS ON WHAT WAS HELD OUT", "", "CHANGE", "95 % INTERVAL"], rows, paint)];
};

/** How a run ended: the verdict, its figures, and what the latest is now. `name` is how the command was called. */
export function runText(project: Project, run: ProjectRun, { paint, name }: { paint: Paint; name: string }): string {
  const latest = latestLine(project, run, paint);
  if (run.verdict !== null && run.sentence !== null)
    return [
      `${verdictLine({ verdict: run.verdict, sentence: run.sentence }, paint)}`,
      ...figureLines(run, paint),
      "",
      latest,
      ...(run.moved ? [`Try it: ${name} chat ${latestOf(project.name)}`] : []),
    ].join("\n");
  const why = run.error === null ? "." : `: ${plain(run.error.message)} (${run.error.code})`;
  return [
    `${paint("red", "✗")} Run ${run.run} of ${project.name} ${run.status === "failed" ? "failed" : `was ${run.status}`}${why}`,
    latest,
    `The same command goes on with it, or: ${name} project ${project.name} --run`,
  ].join("\n");
}

/** A project: what its latest is, and every run with its verdict and figures. */
export function projectText(project: Project, { paint, name }: { paint: Paint; name: string }): string {
  const { latest, runs } = project;
  const head = fields(
    [
      ["project", paint("bold", project.name)],
      ["latest", latest === null ? "none yet" : `${latest.adapter_id}, since ${latest.moved_at}`],
      ["base model", project.base_model],
      ["sessions", count(project.sessions, "session")],
      ...(project.folders.length === 0 ? [] : [["from", project.folders.map(plain).join(", ")] as const]),
      ...Object.entries(project.settings).map(([setting, value]) => [setting.replaceAll("_", " "), String(value)] as const),
    ],
    paint,
  );
  const rows = runs.map((run) => [
    String(run.run),
    run.adapter_id,
    wordOf(run),
    `${run.sessions.new} + ${run.sessions.replayed}`,
    names(run.sessions.held_out, "session"),
    run.figures === null ? "" : percent(run.figures, run.figures.change),
    run.figures === null ? "" : intervalOf(run.figures, run.figures.interval),
    run.figures === null ? "" : `${(run.figures.neutral_change * 100).toFixed(1).replace("-", "−")} %`,
    run.adapter_id === latest?.adapter_id ? "latest" : run.moved ? "was latest" : "",
  ]);
  const heads = ["RUN", "ADAPTER", "VERDICT", "NEW + OLD", "TESTED ON", "CHANGE", "95 % INTERVAL", "NEUTRAL", ""];
  const history =
    runs.length === 0 ? `No run yet. ${name} project ${project.name} --from FOLDER begins one.` : table(heads, rows, paint);
  return `${head}\n\n${history}`;
}

/** A line for each project. */
export const projectsText = (projects: readonly ProjectSummary[], paint: Paint): string =>
  table(
    ["PROJECT", "LATEST", "SESSIONS", "RUNS", "LAST RUN", "CHANGE", "BASE MODEL"],
    projects.map(({ name, latest, sessions, last_run: run, base_model }) => [
      name,
      latest?.adapter_id ?? "none yet",
      String(sessions),
      String(run?.run ?? 0),
      run === null ? "" : wordOf(run),
      run?.figures ? percent(run.figures, run.figures.change) : "",
      base_model,
    ]),
    paint,
  );
