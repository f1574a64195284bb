import path from 'node:path';
import { type BytePath, fromBytePath, toBytePath } from '../folders-of.ts';
import type { GitDirectory } from '../git/git-directory.ts';
import { textIn } from '../git/git-files.ts';

const mostConfigBytes = 1024 * 1024;
const mostAddressLength = 2_000;

/**
 * Where a clone that Baton did not make says it came from; null when it does not say it plainly. An agent may have written
 * it, so it is only ever text: nothing fetches from it here, and it has no form for which git would run a program.
 */
export async function readAgentOrigin({ common }: Pick<GitDirectory, 'common'>): Promise<string | null> {
  const config = await textIn(`${toBytePath(common)}/config`, mostConfigBytes).catch(() => null);
  const written = config === null ? null : originIn(config);
  return written === null ? null : plainAddress(written);
}

/** The first `url` of the section `[remote "origin"]`, which is the one that git fetches from. */
export function originIn(config: BytePath): string | null {
  let isOrigin = false;
  for (const line of config.replaceAll('\r\n', '\n').replaceAll(/\\\n/g, '').split('\n')) {
    const heading = /^\s*\[([A-Za-z0-9.-]*)(?:[ \t]+"((?:[^"\\]|\\.)*)")?\]/.exec(line);
    if (heading !== null) isOrigin = heading[1]?.toLowerCase() === 'remote' && heading[2] === 'origin';
    const pair = /^\s*url\s*=(.*)$/i.exec(heading === null ? line : line.slice(heading[0].length));
    if (pair === null || !isOrigin) continue;
    const value = readValue(pair[1] ?? '');
    const text = value === null ? '' : fromBytePath(value).toString('utf8');
    return value !== null && toBytePath(text) === value ? text : null;
  }
  return null;
}

/** A value as git reads it: quotes may stand anywhere, and a comment begins outside of them. Null when it is broken. */
function readValue(written: BytePath): BytePath | null {
  if (written.length > mostAddressLength) return null;
  const parts = /^(?:[^"\\#;]|\\["\\]|"(?:[^"\\]|\\["\\])*")*/.exec(written)?.[0] ?? '';
  if (!/^(?:$|[#;])/.test(written.slice(parts.length))) return null;
  return parts.trim().replaceAll(/\\(["\\])|"/g, (_all, escaped: string | undefined) => escaped ?? '');
}

const host = String.raw`(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9._-]*)`;
/** Some hosts take a token in place of the user; no name of a person is this long. */
const user = '[A-Za-z0-9_][A-Za-z0-9._-]{0,18}';
/** A question or a fragment may be a token, and before another `@` there may be the rest of a password. */
const below = '[^?#@]*';

const web = new RegExp(`^(https?|git)://(?:[^/?#@]*@)?(${host}(?::\\d+)?/${below})$`);
const secureShell = new RegExp(`^ssh://(?:(${user})(?::[^/?#@]*)?@)?(${host}(?::\\d+)?/${below})$`);
const shortShell = new RegExp(`^(?:${user}@)?${host}:(?!:|//)${below}$`);

/** An address of one of the plain kinds, without a password; null for every other. */
export function plainAddress(written: string): string | null {
  if (written.length > mostAddressLength || /[\p{Cc}\p{Cf}\s\uFFFD]/u.test(written.replaceAll(' ', ''))) return null;
  if (path.isAbsolute(written)) return written;
  if (/^file:\/\/\/[^?#]*$/.test(written)) return written;
  if (written.includes(' ')) return null;
  const found = web.exec(written);
  if (found !== null) return `${found[1]}://${found[2]}`;
  const shell = secureShell.exec(written);
  if (shell !== null) return `ssh://${shell[1] === undefined ? '' : `${shell[1]}@`}${shell[2]}`;
  return shortShell.test(written) ? written : null;
}
