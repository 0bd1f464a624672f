/** A dropped file as the client sends it: bytes, since a session may be compressed. */
export const readFile = async (file: File): Promise<Uint8Array> => new Uint8Array(await file.arrayBuffer());
