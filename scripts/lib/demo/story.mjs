import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { proofLines, watchJob } from "../../../packages/cli/dist/index.js";
import { doubts } from "./doubts.mjs";
import { createPaper } from "./paper.mjs";
import { DATA_DIR, startDemoService } from "./service.mjs";

const EXAMPLES = fileURLToPath(new URL("../../../examples/", import.meta.url));
const FILES = [
  ["its native shape", "sessions/harborline-gates.json"],
  ["Claude Code's shape", "sessions/claude-code/5b0f6d1e-9c44-4a7b-8f12-7413c0ffee01.jsonl"],
];
const QUESTION = "Write gates.py for Harborline.";
const ANSWER_TOKENS = 110;
/** What only the recorded session can have taught. */
const LEARNED = /HARBORLINE_\w+|Harborline|\b74(?:13|00|99)\b|\b7500\b|12\/45s|GateError|parse_gates|read_gate\b|\bGate\b/g;

/** Tells the whole story on standard output. Resolves with the exit code. */
export async function tell({ started, signal }) {
  const out = process.stdout;
  const paper = createPaper(out, process.env);
  let service;
  try {
    service = await startDemoService();
    return await chapters({ paper, service, signal, started, out });
  } catch (error) {
    paper.line();
    if (signal.aborted) paper.line("Interrupted. Nothing is left running.");
    else paper.line(`${paper.paint("red", "The demo failed:")} ${error.message}`);
    return 1;
  } finally {
    await service?.close();
  }
}

async function chapters({ paper, service, signal, started, out }) {
  const { client, baseModel } = service;
  const { paint } = paper;
  paper.title("Imprint", "A coding agent's recorded session becomes an adapter for a small model, on this machine.");
  paper.step("The service runs");
  paper.item(`${service.url}  ${paint("dim", `dashboard, API and ${service.url}/docs while the demo lasts`)}`);

  paper.step("Import a recorded session");
  let sessionId;
  for (const [shape, file] of FILES) {
    const { sessions } = await client.sessions.create(readFileSync(path.join(EXAMPLES, file)), { signal });
    const [session] = sessions;
    sessionId ??= session.session_id;
    const size = `${session.assistant_turns} turns, ${session.tool_calls} tool calls, outcome ${session.outcome}`;
    paper.item(`${paint("green", "✓")} examples/${file}`);
    paper.remark(`  ${shape}: session ${session.session_id}, ${size}`);
  }
  paper.remark("Three attempts at a parser for the made-up harbour gateway Harborline; the last one passes its checks.");

  paper.step("Train an adapter on it (QLoRA)");
  paper.remark(`POST /train/lora {"session_id": "${sessionId}"}`);
  const { job_id } = await client.train.lora({ session_id: sessionId }, { signal });
  const io = {
    err: out,
    input: process.stdin,
    paint: { out: paint, err: paint },
    onInterrupt: (handler) => {
      signal.addEventListener("abort", handler);
      return () => signal.removeEventListener("abort", handler);
    },
  };
  const job = await watchJob({ io, client, jobId: job_id, own: true });
  signal.throwIfAborted();
  if (job?.status !== "completed")
    throw new Error(job?.error ? `${job.error.message} ${job.error.hint}` : "the training did not end");

  paper.step("The proof, measured on the adapter as it was reloaded from disk");
  for (const line of proofLines(job.proof, paint)) paper.item(line);
  const adapter = await client.adapters.get(job.adapter_id, { signal });
  const folder = path.join(DATA_DIR, adapter.path);
  paper.item(`folder                     ${path.relative(process.cwd(), folder) || folder}`);

  paper.step(`Ask both: "${QUESTION}"`);
  const ask = async (model) => {
    const request = { model, messages: [{ role: "user", content: QUESTION }], max_tokens: ANSWER_TOKENS, temperature: 0 };
    const completion = await client.chat.completions.create(request, { signal });
    return completion.choices[0].message.content;
  };
  const before = await ask(baseModelName(await client.models.list({ signal }), baseModel));
  paper.answer("base model", `${before} …`, LEARNED);
  const after = await ask(job.adapter_id);
  paper.answer("with the adapter", `${after} …`, LEARNED);

  const found = doubts({ proof: job.proof, health: adapter.health, before, after, learned: LEARNED });
  paper.step("Your own sessions");
  paper.item(
    "npm run imprint -- import ~/.claude/projects     Claude Code; Codex, SWE-agent, OpenHands, aider and more work too",
  );
  paper.item("npm run imprint -- sessions                      what is stored");
  paper.item("npm run imprint -- train SESSION --watch         train an adapter on one");
  paper.item("npm run imprint -- serve                         keep the service running");
  paper.remark(
    `The demo's adapter: npm run imprint -- chat ${job.adapter_id} --data-dir ${path.relative(process.cwd(), DATA_DIR) || "."}`,
  );
  paper.line();
  for (const doubt of found) paper.line(`${paint("red", "✗")} ${doubt}`);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  paper.line(found.length === 0 ? `${paint("green", "✓")} Done in ${seconds} s.` : `The demo failed after ${seconds} s.`);
  return found.length === 0 ? 0 : 1;
}

/** The name by which the service knows its base model: the setting may be a folder. */
const baseModelName = ({ data }, setting) => data.find(({ id }) => id === setting)?.id ?? path.basename(setting);
