import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { Hono, type MiddlewareHandler } from 'hono';

interface ServedFile {
  readonly type: string;
  readonly etag: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  /** Compressed on first use. */
  packed(): Uint8Array<ArrayBuffer>;
  /** Its name changes with its content. */
  readonly isHashed: boolean;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** The addresses that the page routes itself. */
const pages = [
  ...['/', '/board', '/queue', '/pipeline', '/tasks', '/costs', '/system', '/search'],
  ...['/issue/:project/:issue', '/review/:project/:pull', '/run/:project/:run'],
];

export interface StaticFiles {
  readonly files: Hono;
  /** For an unknown address, a person gets the page, which shows the way back; a program gets the listener's 404. */
  readonly notFoundPage: MiddlewareHandler;
}

/**
 * The built dashboard, read once at the start and served from memory, so no request can name a path on the disk. Null
 * when it was not built.
 */
export function staticFiles(folder: string): StaticFiles | null {
  const files = readAll(folder);
  const index = files.get('/index.html');
  if (index === undefined) return null;
  const app = new Hono();
  for (const page of pages) app.get(page, (context) => answer(context.req.raw, index));
  for (const [name, file] of files) app.get(name, (context) => answer(context.req.raw, file));
  const notFoundPage: MiddlewareHandler = async (context, next) => {
    await next();
    if (context.res.status !== 404 || !isForPerson(context.req.raw)) return;
    // Clear the old response first: its headers would stay on the new one.
    context.res = undefined;
    context.res = answer(context.req.raw, index, 404);
  };
  return { files: app, notFoundPage };
}

function isForPerson(request: Request): boolean {
  return (
    ['GET', 'HEAD'].includes(request.method) &&
    (request.headers.get('accept') ?? '').includes('text/html') &&
    !new URL(request.url).pathname.startsWith('/api/')
  );
}

function answer(
  request: Request,
  { type, etag, plain, packed, isHashed }: ServedFile,
  status: 200 | 404 = 200,
): Response {
  const headers = {
    'content-type': type,
    etag,
    vary: 'accept-encoding',
    'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  if (status === 200 && request.headers.get('if-none-match') === etag)
    return new Response(null, { status: 304, headers });
  const isPacked = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '');
  return isPacked
    ? new Response(packed(), { status, headers: { ...headers, 'content-encoding': 'gzip' } })
    : new Response(plain, { status, headers });
}

function readAll(folder: string): ReadonlyMap<string, ServedFile> {
  let entries: string[];
  try {
    entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    // The dashboard was not built.
    return new Map();
  }
  const files = entries.flatMap((entry) => {
    const type = types[path.extname(entry)];
    if (type === undefined) return [];
    const plain = Uint8Array.from(readFileSync(path.join(folder, entry)));
    const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
    const isHashed = /-[\w-]{8,}\.\w+$/.test(entry);
    let compressed: Uint8Array<ArrayBuffer> | undefined;
    const packed = (): Uint8Array<ArrayBuffer> => {
      compressed ??= Uint8Array.from(gzipSync(plain));
      return compressed;
    };
    const file: ServedFile = { type, etag, plain, packed, isHashed };
    return [[`/${entry.split(path.sep).join('/')}`, file] as const];
  });
  return new Map(files);
}
