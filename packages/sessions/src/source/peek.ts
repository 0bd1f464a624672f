/** Bytes of which the beginning is known. */
export interface Peeked {
  /** At least `length` bytes, unless there are fewer. */
  readonly head: Uint8Array;
  /** All bytes, the head included. */
  readonly bytes: AsyncGenerator<Uint8Array>;
}

async function* prepend(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** Looks at the first `length` bytes. */
export async function peek(bytes: AsyncIterable<Uint8Array>, length: number): Promise<Peeked> {
  const iterator = bytes[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array(0);
  while (head.length < length) {
    const next = await iterator.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return { head, bytes: prepend(head, iterator) };
}
