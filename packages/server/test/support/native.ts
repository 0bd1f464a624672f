/** A session of the native trajectory shape, as a user drops it into the data directory. */
export const makeNative = (sessionId: string, changes: object = {}): string =>
  JSON.stringify({
    session_id: sessionId,
    task_description: `Write a function for ${sessionId}.`,
    task_type: "code-gen",
    adapter_ids: [],
    outcome: "success",
    timestamp: "2026-01-01T00:00:00Z",
    steps: [
      {
        generated_code: "def f(): return 1",
        stdout: "",
        stderr: "AssertionError",
        exit_code: 1,
        tests_passed: false,
        attempt: 1,
      },
      { generated_code: "def f(): return 2", stdout: "ok", stderr: "", exit_code: 0, tests_passed: true, attempt: 2 },
    ],
    ...changes,
  });
