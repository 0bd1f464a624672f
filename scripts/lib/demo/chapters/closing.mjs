import { isInstalled } from "../../setup/root.mjs";
import { fromHere } from "../paper.mjs";

const IMPRINT = isInstalled() ? "imprint" : "npm run imprint --";

/** What to type next, with one's own sessions. */
export function closing({ paper, dataDir }, adapter) {
  paper.step("Your own sessions");
  for (const [command, remark] of [
    ["import ~/.claude/projects", "Claude Code; Codex, SWE-agent, OpenHands, aider and more work too"],
    ["sessions", "what is stored"],
    ["train SESSION --watch", "train an adapter on one"],
    ["serve", "keep the service running"],
  ]) {
    paper.item(`${IMPRINT} ${command.padEnd(28)}${paper.paint("dim", remark)}`);
  }
  paper.remark(`This adapter: ${IMPRINT} chat ${adapter.adapter_id} --data-dir ${fromHere(dataDir)}`);
  paper.line();
}
