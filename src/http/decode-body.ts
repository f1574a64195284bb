import { promisify } from 'node:util';
import zlib from 'node:zlib';

/** The encodings that a request accepts. The old `deflate` is decoded as well. */
export const acceptedEncodings = 'gzip, br';

/** A body with more layers of compression is an attack. */
const mostLayers = 2;

type Unpack = (packed: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const unpackers: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ['gzip', promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip)],
  ['x-gzip', promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip)],
  ['deflate', promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.inflate)],
  ['br', promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress)],
]);

/** Unpacks a body, never beyond `largest` bytes, and reads it as UTF-8. */
export async function decodeBody(body: Buffer, contentEncoding: string, largest: number): Promise<string> {
  let bytes = body;
  for (const unpack of unpackersFor(contentEncoding)) {
    // An answer without a body (HEAD, 204, 304) may still name an encoding.
    if (bytes.length > 0) bytes = await unpack(bytes, { maxOutputLength: largest });
  }
  return new TextDecoder().decode(bytes);
}

/** Undoes the last applied encoding first. */
function unpackersFor(contentEncoding: string): readonly Unpack[] {
  const names = contentEncoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  return names.toReversed().map((name) => {
    const unpack = unpackers.get(name);
    if (unpack !== undefined && names.length <= mostLayers) return unpack;
    throw Object.assign(new Error('a content encoding that was not asked for'), { code: 'UNKNOWN_ENCODING' });
  });
}
