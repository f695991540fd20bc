// Files that grow while they are read, on whatever machine they are.

export interface OpenFile {
  readonly size: number;
  /** Undefined if the file is shorter now than when it was opened, or another one is in its place. */
  read(from: number, length: number): Promise<Buffer | undefined>;
  /** Zero if it is gone or another file is in its place. */
  sizeNow(): Promise<number>;
  close(): Promise<void>;
}

export interface FileSource {
  /** Undefined if no regular file is there that can be read. */
  open(path: string): Promise<OpenFile | undefined>;
}
