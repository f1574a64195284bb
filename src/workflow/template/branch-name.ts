import { createHash } from 'node:crypto';
import type { Issue } from '../../core/issue/issue.ts';

/** A name is a file in git's directory, and a suffix such as `.lock` has to fit behind it. */
const longestBytes = 200;
const digits = 8;
/** How a name ends that was changed. */
const hashEnding = /-[0-9a-f]{8}$/;
/**
 * What git refuses in a name (`git check-ref-format`), what is invisible, and what a shell would read as more than a
 * name: text of issues gets into branches, and branches get into scripts.
 */
const unsafe = /[\p{C}\p{Z}~^:?*[\]\\{}$`"'();&|<>!]+/gu;

/**
 * The branch of an issue: the rendered text where that is a name, otherwise the nearest one. When anything had to be
 * changed, eight hex digits of the SHA-256 of the text and the issue's id follow, so that two issues never get one
 * branch that way. They also follow a text that ends as if it had them already: it could be the branch of another.
 * Blank text gives `baton/<identifier>`.
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

/** Whether git takes this as the name of a branch: the rules of `git check-ref-format --branch`. */
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

/** What is left of a text when all that is refused is taken out; it may be nothing, or too long. */
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

/** At most `mostBytes`, whole characters, and an end that more can follow. */
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
