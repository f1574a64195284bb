import path from 'node:path';
import type { Git } from '../git/git.ts';
import type { GitDirectory } from '../git/read/git-directory.ts';
import { textIn } from '../git/read/git-files.ts';
import { fromBytePath, toBytePath } from '../walk-folders.ts';

const mostConfigBytes = 1024 * 1024;
const mostAddressLength = 2_000;

/**
 * The origin of a clone that Baton did not make; null when it has none in a plain form. An agent may have written it, so
 * it is only text: git reads the file as data, nothing is fetched from it here, and forms for which git would run a
 * program are refused.
 */
export async function readAgentOrigin(git: Git, { common }: Pick<GitDirectory, 'common'>): Promise<string | null> {
  const config = await textIn(`${toBytePath(common)}/config`, mostConfigBytes).catch(() => null);
  if (config === null) return null;
  const { code, stdout } = await git.ask({
    gitDir: null,
    args: ['config', '--file', '-', '--no-includes', '-z', '--get-all', 'remote.origin.url'],
    stdin: fromBytePath(config),
  });
  // Git fetches from the first one.
  const [first = ''] = stdout.split('\0');
  return code === 0 ? plainAddress(fromBytePath(first).toString('utf8')) : null;
}

const host = String.raw`(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9._-]*)`;
/** Some hosts accept a token in place of the user; no user name is this long. */
const user = '[A-Za-z0-9_][A-Za-z0-9._-]{0,18}';
/** A query or a fragment may be a token, and text before another `@` may be the rest of a password. */
const below = '[^?#@]*';

const web = new RegExp(`^(https?|git)://(?:[^/?#@]*@)?(${host}(?::\\d+)?/${below})$`);
const secureShell = new RegExp(`^ssh://(?:(${user})(?::[^/?#@]*)?@)?(${host}(?::\\d+)?/${below})$`);
const shortShell = new RegExp(`^(?:${user}@)?${host}:(?!:|//)${below}$`);

/** An address of a plain form, without a password; null for every other. */
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
