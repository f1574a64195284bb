import type { BytePath } from '../folders-of.ts';
import { notUnderstood, shown } from './git-files.ts';
import type { ObjectFormat } from './lens.ts';

/**
 * The one thing that is read of a configuration an agent may have written: how objects are named. Nothing else in it is
 * obeyed. References that are not kept in files cannot be read by hand, so such a repository is refused.
 */
export function readGitFormat(config: string): ObjectFormat {
  const extensions = valuesOf('extensions', config);
  const storage = extensions.get('refstorage') ?? 'files';
  if (storage !== 'files') throw notUnderstood(`Its references are kept as ${shown(storage)}, which is not read.`);
  const format = extensions.get('objectformat') ?? 'sha1';
  if (format === 'sha1' || format === 'sha256') return format;
  throw notUnderstood(`Its objects have names of the unknown kind ${shown(format)}.`);
}

/** The last value of each key of a section without a subsection, names in lower case. */
function valuesOf(wanted: string, config: BytePath): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let section = '';
  for (const line of config.replaceAll('\r\n', '\n').replaceAll(/\\\n/g, '').split('\n')) {
    const heading = /^\s*\[([^\]"]*)("(?:[^"\\]|\\.)*")?\]/.exec(line);
    if (heading !== null) section = heading[2] === undefined ? (heading[1] ?? '').trim().toLowerCase() : '';
    const pair = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*=(.*)$/.exec(heading === null ? line : line.slice(heading[0].length));
    if (pair === null || section !== wanted) continue;
    const [, key = '', value = ''] = pair;
    values.set(
      key.toLowerCase(),
      value
        .replace(/[#;].*$/, '')
        .replaceAll('"', '')
        .trim()
        .toLowerCase(),
    );
  }
  return values;
}
