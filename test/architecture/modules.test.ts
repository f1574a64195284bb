import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { importedFiles, importsOf, readSource } from '../../scripts/shape.ts';

const root = path.resolve(import.meta.dirname, '../..');
const source = readSource();
const modules = moduleTable(readFileSync(path.join(root, 'docs/architecture.md'), 'utf8'));

/** The rows of the table in docs/architecture.md: what each module may import. */
function moduleTable(page: string): Map<string, readonly string[]> {
  const rows = page.matchAll(/^\| `(?<module>[a-z]+)` \| [^|]* \| (?<allowed>[^|]*)\|$/gm);
  return new Map(
    [...rows].map(({ groups }) => [
      groups?.module ?? '',
      (groups?.allowed ?? '')
        .split(',')
        .map((each) => each.trim())
        .filter((each) => each !== ''),
    ]),
  );
}

function isAllowed(file: string, target: string): boolean {
  const module = file.split('/')[0] ?? '';
  const allowed = [module, ...(modules.get(module) ?? [])];
  return allowed.some((each) => target === each || target.startsWith(`${each}/`));
}

/** What a file loads at once, directly or not, outside these places. */
function loadedWith(first: string, places: readonly string[]): readonly string[] {
  const texts = new Map(source.map(({ file, text }) => [file, text]));
  const loaded = new Set([first]);
  for (const file of loaded) {
    const text = (texts.get(file) ?? '').replace(/^(?:import|export) type [^;]*;$|\bimport\(/gm, '');
    for (const target of importedFiles(file, text)) loaded.add(target);
  }
  return [...loaded].filter((file) => !places.some((place) => file.startsWith(place)));
}

describe('the modules', () => {
  it('are exactly those of the table', () => {
    expect([...new Set(source.map(({ file }) => file.split('/')[0]))]).toEqual([...modules.keys()].toSorted());
  });

  // @conforms toolchain.11
  it('import only what their row allows', () => {
    const broken = source.flatMap(({ file, imports }) =>
      imports.filter((target) => !isAllowed(file, target)).map((target) => `src/${file} imports ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('keep the store out of every tracker but the board', () => {
    const broken = source
      .filter(({ file }) => file.startsWith('tracker/') && !file.startsWith('tracker/board/'))
      .filter(({ imports }) => imports.some((target) => target.startsWith('store/')));
    expect(broken.map(({ file }) => file)).toEqual([]);
  });

  it('are loaded when a command needs them: not before, and no store or adapter while a daemon answers', () => {
    const always = ['cli/', 'clock/', 'core/', 'telemetry/harmless-text.ts'];
    expect(loadedWith('cli/main.ts', [...always, 'process/', 'workflow/table/'])).toEqual([]);
    const asking = [...always, 'client/', 'daemon/', 'server/socket-path.ts'];
    expect(loadedWith('cli/status.ts', asking)).toEqual([]);
  });

  it('keep SQL inside the store', () => {
    const broken = source
      .filter(({ file }) => !file.startsWith('store/'))
      .filter(({ text }) => importsOf(text).some((specifier) => ['kysely', 'pg', 'node:sqlite'].includes(specifier)));
    expect(broken.map(({ file }) => file)).toEqual([]);
  });

  it('let only the owner of claims write claims, retries and holds', () => {
    const writes =
      /\b(?:store|tables)\.claims\.(?:take|release|setSlot|renewAll|verify)\(|\b(?:retries|held)\.(?:put|remove)\(/;
    const writers = source.filter(({ file, text }) => !file.startsWith('store/') && writes.test(withoutComments(text)));
    const folders = new Set(writers.map(({ file }) => path.dirname(file)));
    expect([...folders]).toEqual(['orchestrator/claims']);
  });

  it('keep core free of packages, of the platform and of async', () => {
    const broken = source
      .filter(({ file }) => file.startsWith('core/'))
      .filter(
        ({ text }) =>
          importsOf(text).some((specifier) => !specifier.startsWith('.')) ||
          /\b(?:async|await)\b/.test(withoutComments(text)),
      );
    expect(broken.map(({ file }) => file)).toEqual([]);
  });

  it('read process.env and process.argv only in the command line and in standalone programs', () => {
    const programs = ['agent/rehearsal/program.ts'];
    const broken = source
      .filter(({ file }) => !file.startsWith('cli/') && !programs.includes(file))
      .filter(({ text }) => /\bprocess\.(?:env|argv|cwd)\b/.test(withoutComments(text)));
    expect(broken.map(({ file }) => file)).toEqual([]);
  });

  it('are reported if they break the table', () => {
    expect(isAllowed('core/issue/issue.ts', 'clock/clock.ts')).toBe(false);
    expect(isAllowed('runner/run-issue.ts', 'agent/agent.ts')).toBe(true);
    expect(isAllowed('runner/run-issue.ts', 'agent/launch-agent.ts')).toBe(false);
    const text = "import type { A } from '../a.ts';\nconst b = await import('./b.ts');\nimport 'pg';";
    expect(importedFiles('cli/c.ts', text)).toEqual(['a.ts', 'cli/b.ts']);
    expect(importsOf(text)).toContain('pg');
  });
});

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/^\s*\/\/.*$/gm, '');
}
