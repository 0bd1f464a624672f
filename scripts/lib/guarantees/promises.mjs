const server = (name) => `packages/server/${name}`;
const cli = (name) => `packages/cli/${name}`;
const trainer = (name) => `trainer/src/imprint_trainer/${name}`;
const pytest = (name) => `trainer/tests/${name}`;

/**
 * What Imprint promises, the faults that each promise withstands, the tests that hold it, and a mutant: the change of one file that
 * breaks the promise, which those tests must find.
 */
export const PROMISES = [
  {
    promise: "A job moves along the table of states alone; what has ended never changes",
    faults: "any order of starts, cancels, failures and ends",
    tests: [server("test/jobs/state-machine.test.ts"), server("test/jobs/jobs.model.test.ts")],
    mutant: {
      file: server("src/jobs/state-machine.ts"),
      is: '(change.type === "confirm_cancel" && !job.cancel_requested)',
      becomes: "false",
    },
  },
  {
    promise: "No more jobs run than there are slots, and each slot is free again after every end",
    faults: "failures, cancels, trainers that do not start",
    tests: [server("test/jobs/scheduler.test.ts")],
    mutant: { file: server("src/jobs/scheduler.ts"), is: "slots : 1)", becomes: "slots + 1 : 1)" },
  },
  {
    promise: "An adapter is listed only if its files are whole, on the disk, and what its trainer reported",
    faults: "a trainer that lies, damaged files",
    tests: [server("test/registry/publish.test.ts")],
    mutant: { file: server("src/registry/publish.ts"), is: "if (!sameFiles(made, result.files)) throw", becomes: "if (false) throw" },
  },
  {
    promise: "What harms the model is refused unless it is asked for",
    faults: "trainings that overfit, sessions that teach nothing",
    tests: [server("test/registry/publish.test.ts"), server("test/routes/harm.test.ts")],
    mutant: { file: server("src/registry/publish.ts"), is: "if (harms && !keepHarmful)", becomes: "if (harms && keepHarmful)" },
  },
  {
    promise: "A start finds nothing half-made: staged files go, and a folder without a row is set aside",
    faults: "a crash at any moment of a publication or a purge",
    tests: [server("test/registry/clean-up.test.ts")],
    mutant: {
      file: server("src/registry/clean-up.ts"),
      is: "for (const name of staging) await rm",
      becomes: "for (const name of []) await rm",
    },
  },
  {
    promise: "What a request does in the database is committed before its answer, or not at all",
    faults: "handlers that fail, clients that leave, a commit that fails",
    tests: [server("test/http/transaction.test.ts")],
    mutant: { file: server("src/http/transaction.ts"), is: "reply.statusCode < 400", becomes: "reply.statusCode < 600" },
  },
  {
    promise: "An import stores all of a file or nothing; what was stored before stays",
    faults: "kills, full disks, two imports of one session at once",
    tests: [server("test/sessions/killed.test.ts"), server("test/sessions/races.test.ts")],
    mutant: { file: server("src/sessions/save.ts"), is: "for (const step of undo) await step();", becomes: "" },
  },
  {
    promise: "One process works on a data directory",
    faults: "two services, a command beside a service, a killed one",
    tests: [server("test/storage/lock.test.ts")],
    mutant: { file: server("src/storage/lock.ts"), is: "begin exclusive", becomes: "begin" },
  },
  {
    promise: "The same call with the same Idempotency-Key is done once",
    faults: "retries, also while the first is under way",
    tests: [server("test/launch/idempotency.test.ts")],
    mutant: { file: server("src/launch/idempotency.ts"), is: "earlier; earlier = entries", becomes: "false; earlier = entries" },
  },
  {
    promise: "A follower of events gets each in its order, or is told that some are missing",
    faults: "reconnects, slow readers, restarts",
    tests: [server("test/events/streams.test.ts")],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a program
    mutant: { file: server("src/events/follow.ts"), is: '${at === null ? "" : RESYNC}', becomes: "" },
  },
  {
    promise: "A killed trainer leaves no process behind",
    faults: "crashes, cancels, trainers that ignore TERM and start others",
    tests: [server("test/runners/local/death.test.ts"), server("test/runners/local/leftovers.test.ts")],
    mutant: { file: server("src/runners/local/process.ts"), is: "if (GROUPS) process.kill(-pid, signal);", becomes: "if (false) return;" },
  },
  {
    promise: "No page of another site, and no name that leads here by a trick, reaches the service",
    faults: "DNS rebinding, forms and scripts of other sites, forged headers",
    tests: [server("test/http/host-guard.test.ts")],
    mutant: { file: server("src/http/host-guard.ts"), is: "LOOPBACK.test(host)", becomes: "true" },
  },
  {
    promise: "With a token set nothing but the health check answers without it, and guessing is slow",
    faults: "wrong, missing and repeated secrets",
    tests: [server("test/http/host-guard.test.ts"), server("test/http/sign-in-attempts.test.ts")],
    mutant: { file: server("src/http/host-guard.ts"), is: "if (!isGuess || !(await", becomes: "if (!isGuess && !(await" },
  },
  {
    promise: "A body is read as it was meant, or refused: no key twice, none dropped, no prototype set",
    faults: "hostile and broken JSON",
    tests: [server("test/http/strict-json.test.ts")],
    mutant: { file: server("src/http/strict-json.ts"), is: "if (keys?.has(key))", becomes: "if (false)" },
  },
  {
    promise: "A webhook is signed, and sent again until it is taken or half an hour is over",
    faults: "receivers that fail, redirect, or do not answer",
    tests: [server("test/webhooks/webhooks.test.ts")],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a program
    mutant: { file: server("src/webhooks/webhooks.ts"), is: "`${id}.${timestamp}.${body}`", becomes: "`${id}.${body}`" },
  },
  {
    promise: "An engine that answers as if it had no adapter is found before anyone chats with it",
    faults: "servers that ignore adapters, other weights",
    tests: [server("test/chat/upstream/adapters.test.ts")],
    mutant: { file: server("src/chat/applied.ts"), is: "const applied = !isAlike &&", becomes: "const applied = true ||" },
  },
  {
    promise: "A secret that is found is stored nowhere in a session: text, calls, results, names",
    faults: "secrets in any field, cut by lines, escaped",
    tests: ["packages/sessions/test/redact/redact-session.test.ts", "packages/sessions/test/redact/planted.test.ts"],
    mutant: {
      file: "packages/sessions/src/redact/redact-session.ts",
      is: "content: change(one.content),",
      becomes: "content: one.content,",
    },
  },
  {
    promise: "The archive keeps all that a pass saw, whatever an agent deletes, cuts or rewrites later",
    faults: "deleted, shortened and replaced recordings, crashes",
    tests: [cli("test/archive/archive.test.ts")],
    mutant: { file: cli("src/archive/store.ts"), is: "rewrites || read.prefix === known.sha256", becomes: "true" },
  },
  {
    promise: "A task's agent has no network, no home, and a system that it cannot change",
    faults: "hostile commands, programs that outlive the task",
    tests: [cli("test/tasks/sandbox/arguments.test.ts"), cli("test/tasks/sandbox/escapes.test.ts")],
    mutant: { file: cli("src/tasks/sandbox/bubblewrap.ts"), is: '"--unshare-all", ', becomes: "" },
  },
  {
    promise: "Only what the agent wrote is trained",
    faults: "templates that rewrite history, long outputs, tokens across roles",
    tests: [pytest("lora/test_train.py"), pytest("data/test_render.py")],
    mutant: {
      file: trainer("lora/loss.py"),
      is: "targets = [index for index, supervised in enumerate(window.supervised) if supervised and index > 0]",
      becomes: "targets = [index for index, _ in enumerate(window.supervised) if index > 0]",
    },
  },
  {
    promise: "A resumed training ends with the bytes of one that was never interrupted",
    faults: "a stop after any step, between micro-batches, twice",
    tests: [pytest("lora/test_resume.py")],
    mutant: {
      file: trainer("lora/checkpoint.py"),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a program
      is: 'torch.set_rng_state(checkpoint.tensors[f"{RNG}cpu"].clone())',
      becomes: "pass",
    },
  },
  {
    promise: "A damaged checkpoint is refused by name, and never trained on",
    faults: "bytes that changed, files that are missing",
    tests: [pytest("lora/test_checkpoint.py")],
    mutant: { file: trainer("lora/checkpoint.py"), is: "if sha256_of(weights) != state.sha256:", becomes: "if False:" },
  },
  {
    promise: "The same request on the same machine gives the same adapter to the byte",
    faults: "another order of jobs, other jobs before",
    tests: [pytest("publish/test_prove.py")],
    mutant: { file: trainer("lora/adapter.py"), is: "    torch.manual_seed(seed)", becomes: "    torch.seed()" },
  },
  {
    promise: "An adapter that changes nothing, or holds no numbers, is no adapter",
    faults: "trainings that diverge or do nothing",
    tests: [pytest("publish/test_prove.py")],
    mutant: { file: trainer("lora/adapter.py"), is: "if not torch.isfinite(tensor).all():", becomes: "if False:" },
  },
  {
    promise: "What is held out to test an adapter was not trained on, in no copy of it",
    faults: "resumed and forked recordings, turns that two sessions share",
    tests: [pytest("data/test_holdout.py")],
    mutant: {
      file: trainer("data/holdout.py"),
      is: "related = [group for group in groups if group[1] & one.turns]",
      becomes: "related = []",
    },
  },
];
