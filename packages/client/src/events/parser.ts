/** One server-sent event. `id` is the last id that the stream has given up to here. */
export interface Message {
  readonly event: string;
  readonly data: string;
  readonly id: string;
}

export interface Parser {
  /** The events that are whole with this piece of the stream. */
  push(text: string): readonly Message[];
}

/**
 * Reads a stream of server-sent events in pieces of any size (HTML Living Standard, section 9.2.6). What follows the last empty line
 * is no event yet, and is none when the stream ends there.
 */
export function createParser(lastId = ""): Parser {
  let rest = "";
  let begun = false;
  let id = lastId;
  let event = "";
  let data: string[] = [];

  const dispatch = (): readonly Message[] => {
    const message = { event: event || "message", data: data.join("\n"), id };
    const whole = data.length > 0;
    event = "";
    data = [];
    return whole ? [message] : [];
  };

  const read = (line: string): readonly Message[] => {
    if (line === "") return dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    else if (field === "id" && !value.includes("\0")) id = value;
    return [];
  };

  return {
    push(text) {
      if (text === "") return [];
      rest += text;
      if (!begun) rest = rest.replace(/^\uFEFF/, "");
      begun = true;
      // A carriage return at the end may be half of a line's end.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      return lines.flatMap(read);
    },
  };
}
