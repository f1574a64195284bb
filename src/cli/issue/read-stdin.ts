import { BatonError } from '../../core/baton-error.ts';

interface Input {
  readonly stdin: AsyncIterable<string | Uint8Array>;
}

/** The text itself; for `-` the text on standard input, without its final line feed. */
export async function textOrStdin(text: string, surroundings: Input, mostBytes: number): Promise<string> {
  if (text !== '-') return text;
  const bytes = await readStdin(surroundings, mostBytes);
  return bytes.toString('utf8').replace(/\r?\n$/, '');
}

/** Everything on standard input; refuses more than the limit before it fills the memory. */
export async function readStdin({ stdin }: Input, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.byteLength;
    if (size > mostBytes) throw new BatonError('usage_error', `There are more than ${mostBytes} bytes on stdin.`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
