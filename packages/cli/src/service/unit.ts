import { homedir } from "node:os";
import path from "node:path";

/** What starts a program at login and again where it fails. */
export interface Unit {
  readonly file: string;
  readonly text: string;
  /** Programs with arguments: those that start it now and at each login, and those that end that. */
  readonly start: readonly (readonly string[])[];
  readonly stop: readonly (readonly string[])[];
}

interface Place {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly user: number;
}

const NAME = "imprint";
/** Apple's names are reversed addresses; this one is nobody's. */
const LABEL = "local.imprint";

/** One argument as systemd reads it: systemd.service(5), "Command lines". */
const quoted = (word: string): string =>
  `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;

/** A job that runs is let end before the service is killed. */
const PATIENCE_S = 90;

function systemd(command: readonly string[], { env }: Place): Unit {
  const settings = env.XDG_CONFIG_HOME || path.join(homedir(), ".config");
  const control = ["systemctl", "--user"];
  return {
    file: path.join(settings, "systemd", "user", `${NAME}.service`),
    text: `[Unit]
Description=Imprint: adapters from recorded coding sessions

[Service]
ExecStart=${command.map(quoted).join(" ")}
Restart=on-failure
RestartSec=5
KillMode=mixed
TimeoutStopSec=${PATIENCE_S}
Nice=10

[Install]
WantedBy=default.target
`,
    start: [
      [...control, "daemon-reload"],
      [...control, "enable", "--now", NAME],
    ],
    stop: [[...control, "disable", "--now", NAME]],
  };
}

const xml = (word: string): string => word.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function launchd(command: readonly string[], { user }: Place): Unit {
  const file = path.join(homedir(), "Library", "LaunchAgents", `${LABEL}.plist`);
  return {
    file,
    text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    <string>${xml(word)}</string>`).join("\n")}
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>${PATIENCE_S}</integer>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
`,
    start: [["launchctl", "bootstrap", `gui/${user}`, file]],
    stop: [["launchctl", "bootout", `gui/${user}/${LABEL}`]],
  };
}

/** Null where neither systemd nor launchd starts programs. */
export function unitFor(command: readonly string[], place: Place): Unit | null {
  if (place.platform === "linux") return systemd(command, place);
  return place.platform === "darwin" ? launchd(command, place) : null;
}
