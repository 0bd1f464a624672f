import { fromHere } from "../paper.mjs";

/** What to type next, with one's own sessions. */
export function closing({ paper, dataDir }, adapter) {
  paper.step("Your own sessions");
  for (const [command, remark] of [
    ["import ~/.claude/projects", "Claude Code; Codex, SWE-agent, OpenHands, aider and more work too"],
    ["sessions", "what is stored"],
    ["train SESSION --watch", "train an adapter on one"],
    ["serve", "keep the service running"],
  ]) {
    paper.item(`npm run imprint -- ${command.padEnd(28)}${paper.paint("dim", remark)}`);
  }
  paper.remark(`This adapter: npm run imprint -- chat ${adapter.adapter_id} --data-dir ${fromHere(dataDir)}`);
  paper.line();
}
