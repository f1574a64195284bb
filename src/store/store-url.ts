import path from 'node:path';
import { BatonError } from '../core/baton-error.ts';

/** Where a store is. */
export type StoreLocation =
  | { readonly engine: 'sqlite'; readonly file: string }
  | { readonly engine: 'postgres'; readonly url: string };

/** Reads `sqlite:/absolute/path` or `postgres://…`; anything else is `store_url_unsupported`. Never repeats a password. */
export function parseStoreUrl(url: string): StoreLocation {
  if (/^postgres(?:ql)?:\/\//i.test(url)) return { engine: 'postgres', url };
  const file = /^sqlite:(?:\/\/(?=\/))?(?<file>.+)$/i.exec(url)?.groups?.file;
  if (file !== undefined && path.isAbsolute(file)) return { engine: 'sqlite', file: path.normalize(file) };
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? 'no scheme';
  throw new BatonError('store_url_unsupported', `Baton does not support this address of a store (${scheme}).`);
}

/** The address as it may be shown and logged: without user, password and options. */
export function describeLocation(location: StoreLocation): string {
  if (location.engine === 'sqlite') return location.file;
  try {
    const { host, pathname } = new URL(location.url);
    return `postgres://${host}${pathname}`;
  } catch {
    return 'postgres';
  }
}
