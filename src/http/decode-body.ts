import { promisify } from 'node:util';
import zlib from 'node:zlib';

/** What a request asks for. The old `deflate` is understood as well. */
export const acceptedEncodings = 'gzip, br';

/** A body that is packed more often than this is meant to harm. */
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
    // An answer that has no body (to HEAD, 204, 304) may name an encoding all the same.
    if (bytes.length > 0) bytes = await unpack(bytes, { maxOutputLength: largest });
  }
  return new TextDecoder().decode(bytes);
}

/** The last encoding that was applied is undone first. */
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
