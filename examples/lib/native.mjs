/** The recording in Imprint's native shape: one JSON object, one step an attempt. */
export function nativeSession({ sessionId, task, startedAt, attempts }) {
  return {
    session_id: sessionId,
    task_description: task,
    task_type: "code-gen",
    adapter_ids: [],
    outcome: attempts.at(-1).tests_passed ? "success" : "exhausted",
    timestamp: startedAt,
    steps: attempts,
  };
}
