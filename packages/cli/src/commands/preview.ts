import { type PreviewReport, PreviewRequest, TrainLoraPreviewRequest } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { optionOf, type Properties, readFlags } from "../flags/from-schema.js";
import { checkLoraRequest, sessionsOf } from "../flags/training.js";
import { storedSessions } from "../ids/full-id.js";
import { memoryOf } from "../output/memory.js";
import type { Paint } from "../output/paint.js";
import { waitingFor } from "../output/printer.js";
import { fields, table } from "../output/table.js";
import { count, duration, heldOutSessions, plain, shorten } from "../output/text.js";
import { namedBaseModel } from "../service/base-model.js";
import { withService } from "../service/connect.js";
import { leftOutLines } from "../watch/outcome.js";

const OPTIONS: Properties = PreviewRequest.properties;

const counted = (counts: PreviewReport["dropped"]): string =>
  counts.map(({ reason, count: times }) => `${times} × ${plain(reason).replaceAll("_", " ")}`).join(", ") || "nothing";

const heldOut = ({ held_out: held }: PreviewReport): string =>
  held === null
    ? "nothing"
    : `of ${heldOutSessions(held)}; measured on ${count(held.supervised_tokens, "token")} in ${count(held.windows, "window")}`;

function numbers(preview: PreviewReport, paint: Paint): string {
  const table = fields(
    [
      ["supervised", `${count(preview.supervised_tokens, "token")} in ${count(preview.supervised_turns, "turn")}`],
      ["read", `${count(preview.tokens, "token")} in ${count(preview.windows, "window")}`],
      ["at most", `${count(preview.max_steps, "step")}, ${count(preview.max_tokens, "token")}`],
      [
        "time",
        preview.estimated_seconds === null
          ? preview.estimate
          : `${duration(preview.estimated_seconds)}  ${paint("dim", preview.estimate)}`,
      ],
      ["held out", heldOut(preview)],
      ["memory", preview.memory?.fits === false ? paint("red", memoryOf(preview.memory)) : memoryOf(preview.memory)],
      ["left out", counted(preview.dropped)],
      ["changed", counted(preview.changed)],
    ],
    paint,
  );
  return [table, ...[...preview.remarks.map(plain), ...leftOutLines(preview)].map((line) => paint("yellow", `! ${line}`))].join(
    "\n",
  );
}

/** The text as the model sees it; what it learns is green, and between « and » where there are no colours. */
function masked(preview: PreviewReport, paint: Paint): string {
  const coloured = paint("green", "x") !== "x";
  const mark = (text: string): string => (coloured ? paint("green", text) : `«${text}»`);
  const windows = preview.text.map((spans, index) => {
    const body = spans.map(({ text, supervised }) => (supervised ? mark(plain(text)) : paint("dim", plain(text)))).join("");
    return `${paint("bold", `── window ${preview.first_window + index} of ${preview.windows}`)}\n${body}`;
  });
  const cut = preview.text_left_out ?? 0;
  const next = preview.first_window + preview.text.length;
  const hidden = preview.windows - next + 1;
  const notes = [
    ...(cut > 0 ? [`[${count(cut, "character")} more: --window ${preview.first_window} shows all of it]`] : []),
    ...(hidden > 0 ? [`and ${count(hidden, "window")} more: --window ${next} shows the next one`] : []),
  ];
  return [...windows, ...notes.map((note) => paint("dim", note))].join("\n");
}

/** Every agent turn by the number that --train-on takes, and why it is not learned. */
function turnTable(preview: PreviewReport, paint: Paint): string {
  const rows = preview.turns.map(({ session_id, turn, reason, text }) => [
    session_id,
    String(turn),
    reason === null ? "learned" : reason.replaceAll("_", " "),
    shorten(text, 60),
  ]);
  const hidden = preview.turns_left_out ?? 0;
  const more = hidden > 0 ? `\n${paint("dim", `and ${count(hidden, "turn")} more: preview their session alone`)}` : "";
  return table(["SESSION", "TURN", "", "TEXT"], rows, paint) + more;
}

interface PreviewOptions extends CommonOptions {
  readonly text?: boolean;
  readonly turns?: boolean;
  readonly window?: string;
  readonly baseModel?: string;
}

export function previewCommand(context: CommandContext): Command {
  const command = newCommand({
    name: "preview",
    examples: [
      "preview harborline-gates",
      "preview harborline-gates --text --train-on final_answer",
      "preview latest --window 3",
    ],
  })
    .argument("<session...>", "ids of the sessions, their beginnings, or latest")
    .option("--turns", "list the turns, and why some are not learned")
    .option("--text", "show the text and which of it is supervised");
  for (const [name, schema] of Object.entries(OPTIONS)) command.addOption(optionOf(name, schema));
  return command.action(async (sessions: string[], options: PreviewOptions) => {
    const printer = printerOf(context, options);
    const baseModel = await namedBaseModel(options.baseModel, options, context.io.env);
    const request = { ...sessionsOf(sessions), ...readFlags(OPTIONS, { ...options, baseModel }) };
    checkLoraRequest(request, TrainLoraPreviewRequest);
    const { note } = printer;
    await withService({ io: context.io, options, note }, async ({ client }) => {
      const ids = await storedSessions(sessions, { client, note });
      const named = { ...request, ...sessionsOf(ids) };
      checkLoraRequest(named, TrainLoraPreviewRequest);
      const preview = await waitingFor("reading what a training takes", client.train.preview(named), note);
      const paint = context.io.paint.out;
      const all = [numbers, ...(options.turns ? [turnTable] : []), ...(options.text ? [masked] : [])];
      const [parts, shown] =
        options.window === undefined ? [all, preview] : [[masked], { ...preview, text: preview.text.slice(0, 1) }];
      printer.result(preview, () => parts.map((part) => part(shown, paint)).join("\n\n"));
    });
  });
}
