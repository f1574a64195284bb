import { createHash } from 'node:crypto';
import type { Issue } from '../../core/issue/issue.ts';

/** A branch name becomes a file in git's directory, and a suffix such as `.lock` has to fit after it. */
const longestBytes = 200;
const digits = 8;
/** The ending of a name that was changed. */
const hashEnding = /-[0-9a-f]{8}$/;
/**
 * Characters that git refuses in a name (`git check-ref-format`), invisible ones, and those that a shell would
 * interpret: text of issues gets into branch names, and branch names get into scripts.
 */
const unsafe = /[\p{C}\p{Z}~^:?*[\]\\{}$`"'();&|<>!]+/gu;

/**
 * The branch of an issue: the rendered text where it is a valid name, otherwise the nearest valid one. When anything
 * had to be changed, eight hex digits of the SHA-256 of the text and the issue's id follow, so that two issues never
 * get the same branch that way. They also follow a text that already ends like that: it could be the branch of another
 * issue. Blank text yields `baton/<identifier>`.
 */
export function branchName(rendered: string, issue: Pick<Issue, 'id' | 'identifier'>): string {
  const text = rendered.trim() === '' ? `baton/${issue.identifier}` : rendered.trim();
  const name = safe(text);
  const isWhole = name === text && Buffer.byteLength(name) <= longestBytes && isBranchName(name);
  if (isWhole && !hashEnding.test(name)) return name;
  const hash = createHash('sha256').update(`${text}\0${issue.id}`).digest('hex').slice(0, digits);
  const stem = cut(name, longestBytes - digits - 1) || `baton/${cut(safe(issue.identifier), 100) || 'issue'}`;
  return `${stem}-${hash}`;
}

/** Whether git accepts this as the name of a branch: the rules of `git check-ref-format --branch`. */
export function isBranchName(name: string): boolean {
  return (
    name !== '' &&
    name !== 'HEAD' &&
    name !== '@' &&
    !name.startsWith('-') &&
    name.isWellFormed() &&
    !/[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\.$/.test(name) &&
    name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  );
}

/** Removes everything that is refused from a text; the result may be empty or too long. */
function safe(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(unsafe, '-')
    .replaceAll(/\.{2,}/g, '.')
    .split('/')
    .map((part) => part.replace(/(?:\.lock|\.)+$/i, '').replace(/^\.+/, ''))
    .filter((part) => part !== '')
    .join('/')
    .replace(/^[-/.]+/, '');
}

/** Cuts to at most `mostBytes`, in whole characters, with an end that a suffix can follow. */
function cut(name: string, mostBytes: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > mostBytes) break;
    kept += character;
  }
  return kept.replace(/[-/.]+$/, '');
}
