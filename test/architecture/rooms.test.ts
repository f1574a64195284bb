import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const source = path.join(root, 'src');
const files = globSync('**/*.ts', { cwd: source }).toSorted();
const rooms = roomTable(readFileSync(path.join(root, 'docs/architecture.md'), 'utf8'));

/** The rows of the table in docs/architecture.md: what each room may import. */
function roomTable(page: string): Map<string, readonly string[]> {
  const rows = page.matchAll(/^\| `(?<room>[a-z]+)` \| [^|]* \| (?<allowed>[^|]*)\|$/gm);
  return new Map(
    [...rows].map(({ groups }) => [
      groups?.room ?? '',
      (groups?.allowed ?? '')
        .split(',')
        .map((each) => each.trim())
        .filter((each) => each !== ''),
    ]),
  );
}

/** Everything a file imports, type imports and dynamic ones included. */
function importsOf(file: string): string[] {
  const text = readFileSync(path.join(source, file), 'utf8');
  return [...text.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)'(?<target>[^']+)'/gm)].map(
    ({ groups }) => groups?.target ?? '',
  );
}

/** The file an import leads to, relative to src/, or null for a package. */
function targetOf(file: string, specifier: string): string | null {
  return specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : null;
}

function isAllowed(file: string, target: string): boolean {
  const room = file.split('/')[0] ?? '';
  const allowed = [room, ...(rooms.get(room) ?? [])];
  return allowed.some((each) => target === each || target.startsWith(`${each}/`));
}

describe('the rooms', () => {
  it('are exactly those of the table', () => {
    expect([...new Set(files.map((file) => file.split('/')[0]))]).toEqual([...rooms.keys()].toSorted());
  });

  it('import only what their row allows', () => {
    const broken = files.flatMap((file) =>
      importsOf(file)
        .map((specifier) => targetOf(file, specifier))
        .filter((target) => target !== null && !isAllowed(file, target))
        .map((target) => `src/${file} imports ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('keep the store out of every tracker but the board', () => {
    const broken = files
      .filter((file) => file.startsWith('tracker/') && !file.startsWith('tracker/board/'))
      .filter((file) => importsOf(file).some((specifier) => targetOf(file, specifier)?.startsWith('store/')));
    expect(broken).toEqual([]);
  });

  it('keep SQL inside the store', () => {
    const broken = files
      .filter((file) => !file.startsWith('store/'))
      .filter((file) => importsOf(file).some((specifier) => ['kysely', 'pg', 'node:sqlite'].includes(specifier)));
    expect(broken).toEqual([]);
  });

  it('keep core free of packages, of the platform and of async', () => {
    const broken = files
      .filter((file) => file.startsWith('core/'))
      .filter((file) => {
        const text = readFileSync(path.join(source, file), 'utf8');
        return (
          importsOf(file).some((specifier) => !specifier.startsWith('./')) ||
          /\b(?:async|await)\b/.test(withoutComments(text))
        );
      });
    expect(broken).toEqual([]);
  });

  it('leave process.env and process.argv to the command line and to programs of their own', () => {
    const programs = ['agent/rehearsal/program.ts'];
    const broken = files
      .filter((file) => !file.startsWith('cli/') && !programs.includes(file))
      .filter((file) =>
        /\bprocess\.(?:env|argv|cwd)\b/.test(withoutComments(readFileSync(path.join(source, file), 'utf8'))),
      );
    expect(broken).toEqual([]);
  });

  it('have no file with more ideas than fit into 300 lines', () => {
    // A migration is one idea however long it is: the schema at a point in time.
    const looked = files.filter((file) => !file.startsWith('store/migrations/'));
    const long = looked.filter((file) => readFileSync(path.join(source, file), 'utf8').split('\n').length > 300);
    expect(long).toEqual([]);
  });

  it('would be caught breaking the table', () => {
    expect(isAllowed('core/issue.ts', 'clock/clock.ts')).toBe(false);
    expect(isAllowed('runner/run-issue.ts', 'agent/agent.ts')).toBe(true);
    expect(isAllowed('runner/run-issue.ts', 'agent/launch-agent.ts')).toBe(false);
    expect(importsOf('cli/register-daemon-commands.ts')).toContain('./start.ts');
  });
});

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/^\s*\/\/.*$/gm, '');
}
