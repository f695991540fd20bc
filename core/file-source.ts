// Reads files that grow while they are read, on this machine or on another.

export interface OpenFile {
  readonly size: number;
  /** Undefined if the file has become shorter since it was opened, or was replaced. */
  read(from: number, length: number): Promise<Buffer | undefined>;
  /** Zero if the file was removed or replaced. */
  sizeNow(): Promise<number>;
  close(): Promise<void>;
}

export interface FileSource {
  /** Undefined unless there is a readable regular file. */
  open(path: string): Promise<OpenFile | undefined>;
}
