/** The adapter's files are not what an adapter must be; the message names the file's fault in one sentence. */
export class InvalidAdapterError extends Error {
  override readonly name = "InvalidAdapterError";
}
