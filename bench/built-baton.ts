import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Baton as published, in plain JavaScript: from its sources it would also load the code that strips types. */
export interface BuiltBaton extends Disposable {
  readonly program: string;
  /** `watch-loop.ts`, to be loaded before the program. */
  readonly watchLoop: string;
}

/** Builds like `scripts/build.mjs`, next to the packages that it needs. */
export async function buildBaton(): Promise<BuiltBaton> {
  const cache = path.join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const home = mkdtempSync(path.join(cache, 'baton-bench-'));
  const remove = (): void => rmSync(home, { recursive: true, force: true });
  process.once('exit', remove);
  const dispose = (): void => {
    process.off('exit', remove);
    remove();
  };
  try {
    writeFileSync(path.join(home, 'package.json'), '{"type":"module","version":"0.0.0"}');
    await build({
      absWorkingDir: root,
      entryPoints: { 'cli/main': 'src/cli/main.ts', 'watch-loop': 'bench/watch-loop.ts' },
      outdir: path.join(home, 'dist'),
      bundle: true,
      splitting: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'node24',
      logLevel: 'warning',
    });
  } catch (thrown) {
    dispose();
    throw thrown;
  }
  const at = (name: string): string => path.join(home, 'dist', name);
  return { program: at('cli/main.js'), watchLoop: at('watch-loop.js'), [Symbol.dispose]: dispose };
}
