import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe } from 'vitest';
import { pinnedCodexVersion } from '../../src/agent/codex/pinned-version.ts';
import { areRealAgentsWanted, installPackage, packageFolder } from './cached-package.ts';

const run = promisify(execFile);

/** The program and its version. */
export interface CodexBinary {
  readonly path: string;
  readonly version: string;
}

/**
 * The real Codex, for tests: `BATON_CODEX` if it is set, otherwise the pinned version from the cache folder. That one is
 * fetched on demand only if `CI` or `BATON_REAL_AGENTS` is set, because it is large. The tests run the native program, not
 * the wrapper of the package, which would be another process to end.
 */
export async function findCodex(): Promise<CodexBinary | { readonly missing: string }> {
  const { BATON_CODEX } = process.env;
  if (BATON_CODEX) return (await askVersion(BATON_CODEX)) ?? { missing: `BATON_CODEX=${BATON_CODEX} does not run.` };
  const wanted = { name: '@openai/codex', version: pinnedCodexVersion };
  try {
    if (areRealAgentsWanted()) await installPackage(wanted, (folder) => nativeProgram(folder) !== null);
  } catch (error) {
    return { missing: `Codex ${pinnedCodexVersion} could not be installed: ${String(error)}` };
  }
  const program = nativeProgram(packageFolder(wanted));
  const found = program === null ? null : await askVersion(program);
  if (found?.version === pinnedCodexVersion) return found;
  const how = 'BATON_REAL_AGENTS=1 gets it into the cache folder, BATON_CODEX=<program> names another.';
  return { missing: `Codex ${pinnedCodexVersion} is not at hand. ${how}` };
}

/**
 * A suite on the real Codex. Without it the suite is skipped with the reason; if real agents are required,
 * it fails instead.
 */
export async function describeWithCodex(title: string, suite: (codex: CodexBinary) => void): Promise<void> {
  const found = await findCodex();
  if (!('missing' in found)) {
    describe(`${title}, with Codex ${found.version}`, () => suite(found));
    return;
  }
  if (areRealAgentsWanted()) throw new Error(found.missing);
  // The reporter shows how many tests are skipped, not which.
  console.warn(`skipped: ${title}. ${found.missing}`);
  describe.skip(title, () => suite({ path: '', version: '' }));
}

/** Each platform has a package of its own with a folder for each of its targets. */
function nativeProgram(folder: string): string | null {
  const pattern = path.join(folder, 'node_modules', '@openai', 'codex-*', 'vendor', '*', 'bin', 'codex{,.exe}');
  return globSync(pattern)[0] ?? null;
}

async function askVersion(program: string): Promise<CodexBinary | null> {
  try {
    const { stdout } = await run(program, ['--version'], { timeout: 20_000 });
    return { path: program, version: stdout.trim().split(' ').at(-1) ?? '' };
  } catch {
    return null;
  }
}
