import { type Logger, pino } from "pino";

/** What every line has, and a person does not need. */
interface Entry {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
  readonly pid?: number;
  readonly hostname?: string;
}

const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, " ");

/** A line of the log for a person: when, how bad, what, with what; the trace of an error below. */
export const plainLine = (line: string): string => {
  const { level, time, msg = "", err, pid: _pid, hostname: _host, ...fields } = JSON.parse(line) as Entry;
  const values = Object.entries(fields).map(
    ([name, value]) => `  ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const said = oneLine([msg, ...values, ...(err?.message === undefined ? [] : [`  ${err.message}`])].join(""));
  const trace =
    err?.stack
      ?.split("\n")
      .slice(1)
      .map((at) => `\n  ${oneLine(at).trim()}`) ?? [];
  return `${new Date(time).toTimeString().slice(0, 8)} ${pino.levels.labels[level]} ${said}${trace.join("")}\n`;
};

/** What the service logs, on standard error: plain lines on a terminal, else JSON. */
export const createLog = (level: string, stream: Pick<NodeJS.WriteStream, "isTTY" | "write"> = process.stderr): Logger =>
  pino(
    { level },
    stream.isTTY ? { write: (line) => void stream.write(plainLine(line)) } : pino.destination({ dest: 2, sync: true }),
  );
