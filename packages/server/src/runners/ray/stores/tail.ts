/** A file of the shared storage that grows, read from where it was read to. */
export interface Tail {
  /** Passes on what is new; answers whether anything was. Rejects where the storage does not answer. */
  read(upTo?: number): Promise<boolean>;
  bytes(): number;
  sha256(): string;
  /** Whether the file is there at all. */
  begun(): boolean;
}
