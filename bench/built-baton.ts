import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { lighterParts } from '../scripts/lighter-parts.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Baton as published, in plain JavaScript: from its sources it would also load the code that strips types. */
export interface BuiltBaton extends Disposable {
  readonly program: string;
  /** `watch-loop.ts`, to be loaded before the program. */
  readonly watchLoop: string;
}

const entry = `if (process.argv[2] === 'start')
  for (const flag of ['--semi-space-growth-factor=1', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'])
    process.getBuiltinModule('node:v8').setFlagsFromString(flag);
process.getBuiltinModule('node:module').enableCompileCache(import.meta.dirname + '/.compiled');
await import('./cli/main.js');
`;

/** Builds like `scripts/build.mjs`. */
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
      external: ['pg-native'],
      plugins: [lighterParts],
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      platform: 'node',
      format: 'esm',
      target: 'node24',
      minifyWhitespace: true,
      minifySyntax: true,
      logLevel: 'warning',
    });
    writeFileSync(path.join(home, 'dist', 'baton.js'), entry);
    symlinkSync(path.join(root, 'dist', 'dashboard'), path.join(home, 'dist', 'dashboard'));
  } catch (thrown) {
    dispose();
    throw thrown;
  }
  const at = (name: string): string => path.join(home, 'dist', name);
  return { program: at('baton.js'), watchLoop: at('watch-loop.js'), [Symbol.dispose]: dispose };
}
