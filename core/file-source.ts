// A file on any host, read by position.

export interface OpenFile {
  readonly size: number;
  /** Undefined: it is shorter now. */
  read(from: number, length: number): Promise<Buffer | undefined>;
  sizeNow(): Promise<number>;
  close(): Promise<void>;
}

export interface FileSource {
  /** Undefined: there is no regular file. */
  open(path: string): Promise<OpenFile | undefined>;
}
