// Collects the chunks of a stream. A hostile host can send one byte per chunk, and each chunk costs about 500 bytes of memory,
// so small chunks are joined on the way.

interface Chunks {
  add(chunk: Buffer): void;
  bytes(): number;
  /** Everything so far; copies only if there is more than one chunk. */
  all(): Buffer;
}

const JOINED = 1024;

export function makeChunks(): Chunks {
  let joined: Buffer[] = [];
  let recent: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk) {
      bytes += chunk.length;
      recent.push(chunk);
      if (recent.length < JOINED) return;
      joined.push(Buffer.concat(recent));
      recent = [];
    },
    bytes: () => bytes,
    all() {
      const chunks = [...joined, ...recent];
      const whole = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
      joined = [whole];
      recent = [];
      return whole;
    },
  };
}
