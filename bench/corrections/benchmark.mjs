import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startDemoService } from "../../scripts/lib/demo/service.mjs";
import { defaultModel, userPath } from "../../scripts/lib/trainer.mjs";
import { drawing } from "../harness/draw.mjs";
import { trainings } from "../tasks/rows.mjs";

/** What is asked in a session, and in the next one; what an agent would run, and what else a person may want. */
const TOPICS = [
  "Run the tests of {it}.|Do the tests of {it} pass?|npm test|pnpm vitest run|bun test|make check",
  "Add the package {it}.|We need {it}: install it.|npm install|pnpm add|yarn add|bun add",
  "Where is {it} used?|Find every place that names {it}.|grep -rn|rg|git grep -n|ag",
  "Format the file {it}.py.|Please tidy {it}.py.|black|ruff format|yapf -i|./tools/fmt",
  "Start the service {it}.|Bring {it} up.|docker compose up -d|podman-compose up -d|just up|nerdctl compose up -d",
  "Delete the file {it}.txt.|{it}.txt can go.|rm|git rm|trash-put|./tools/retire",
  "Check the types of {it}.|Are the types in {it} right?|mypy|pyright|ty check|pyre check",
  "Show the log of {it}.|What does the log of {it} say?|cat|journalctl -u|stern|./tools/logs",
  "Fetch the page {it}.|Get the page {it} for me.|curl -s|http --body|wget -qO-|xh",
  "List the files of {it}.|What is in {it}?|ls|fd .|eza -la|tree -L 2",
].map((line) => line.split("|"));
const NAMES = "basket ledger harbor meadow lantern copper violet anchor timber saddle pepper marble".split(" ");
const [REPOSITORIES, OF_EACH] = [10, 6];

const SYSTEM = { role: "system", content: "You work in a repository with the tool bash." };
const parameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const tools = [{ type: "function", function: { name: "bash", description: "Runs a command.", parameters } }];
const user = (content) => ({ role: "user", content });
const result = (tool_call_id, content) => ({ role: "tool", tool_call_id, content });
const call = (id, content, command) => {
  const made = { name: "bash", arguments: JSON.stringify({ command }) };
  return { role: "assistant", content, tool_calls: [{ id, type: "function", function: made }] };
};
const REJECTED = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:";

/** Corrections of one repository, each a session: a call was refused with what to do instead, or taken back afterwards. */
export function correctionsOf(seed, at) {
  const draw = drawing(`${seed} corrections ${at}`);
  const topics = draw.shuffled(TOPICS).slice(0, OF_EACH);
  return topics.map(([asked, next, habit, ...others], number) => {
    const wanted = draw.pick(others);
    const [it, later] = draw.shuffled(NAMES);
    const refused = number % 2 === 0;
    const why = `use ${wanted} instead of ${habit}`;
    const messages = [
      ...[SYSTEM, user(asked.replaceAll("{it}", it)), call("a", "I do that.", `${habit} ${it}`)],
      ...(refused ? [result("a", `${REJECTED}\n${why}`)] : [result("a", "done"), user(`No, ${why}.`)]),
      ...[call("b", `I use ${wanted}.`, `${wanted} ${it}`), result("b", "done"), { role: "assistant", content: "Done." }],
    ];
    return { habit, wanted, refused, session: JSON.stringify({ messages, tools }), next: next.replaceAll("{it}", later) };
  });
}

export const benchmark = {
  name: "corrections",
  description: "whether an agent does what a person corrected in a session before (half an hour)",
  options: { base: { type: "string" }, seed: { type: "string", default: "first" } },
  async run({ options, print }) {
    const dataDir = mkdtempSync(path.join(tmpdir(), "imprint-corrections-"));
    const folder = options.base === undefined ? defaultModel() : userPath(options.base);
    const { client, baseModel, close } = await startDemoService({ dataDir, flags: { base_model: folder } });
    /** The first command of a model. */
    const commandOf = async (model, next) => {
      const messages = [SYSTEM, user(next)];
      const answer = await client.chat.completions.create({ model, messages, tools, temperature: 0, max_tokens: 96 });
      return String(JSON.parse(answer.choices[0].message.tool_calls?.[0]?.function.arguments ?? "{}").command ?? "");
    };
    const { train } = trainings({ client, baseModel, print });
    const cells = [];
    try {
      for (let at = 1; at <= REPOSITORIES; at += 1) {
        const corrections = correctionsOf(options.seed, at);
        const { model } = await train(
          `corrections-${at}`,
          corrections.map(({ session }) => ({ text: session })),
        );
        const { proof } = await client.adapters.get(model);
        const neutral = proof.neutral_loss_after / proof.neutral_loss_before - 1;
        for (const one of corrections) {
          const { habit, wanted, refused, next } = one;
          const [before, after] = [await commandOf(baseModel, next), await commandOf(model, next)];
          const [base, kept] = [before, after].map((command) => command.startsWith(`${wanted} `));
          cells.push({ repository: at, habit, wanted, refused, before, after, base, kept, neutral });
          print(`${model}: ${wanted}, not ${habit}: ${kept ? "kept" : `not kept: ${after || "no call"}`}`);
        }
      }
    } finally {
      await close();
      rmSync(dataDir, { recursive: true, force: true });
    }
    const share = (some, name) => `${some.filter((one) => one[name]).length} of ${some.length}`;
    for (const by of [true, false]) {
      const some = cells.filter(({ refused }) => refused === by);
      print(`${by ? "refused" : "taken back"}: kept ${share(some, "kept")}, by the base ${share(some, "base")}`);
    }
    const risen = cells.reduce((sum, { neutral }) => sum + neutral, 0) / cells.length;
    print(`neutral text: ${(100 * risen).toFixed(1)} %`);
    return { cells };
  },
};
