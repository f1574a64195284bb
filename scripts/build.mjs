// Builds the published package: plain JavaScript in dist/, laid out like src/ so that paths between files stay the same.
// The code of the dependencies is in the same files, because finding and reading seven hundred files takes longer than the
// rest of a start. The package still lists them: npm brings their licenses, and an audit sees them.

import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { build as buildPage } from 'vite';
import { lighterParts } from './lighter-parts.ts';

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');

fs.rmSync(dist, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: ['src/cli/main.ts', ...fs.globSync('src/agent/*/program.ts', { cwd: root })],
  outbase: 'src',
  outdir: dist,
  bundle: true,
  splitting: true,
  // An optional part of a dependency, which is not installed.
  external: ['pg-native'],
  plugins: [lighterParts],
  // For dependencies in the older module format.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  platform: 'node',
  format: 'esm',
  target: 'node24',
  // Node reads and keeps the text of all that it loads. Names stay, for the traces of errors.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
});

await buildPage({ configFile: path.join(root, 'dashboard', 'vite.config.ts'), logLevel: 'warn' });

// The entry is apart and old-fashioned, so that an older Node says what is wrong instead of failing on syntax.
fs.writeFileSync(
  path.join(dist, 'baton.js'),
  `#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error('baton: Node ' + process.versions.node + ' is too old. Install Node 24 or newer.');
  process.exit(1);
}
// In a daemon the space for young objects stays at 1 MB: at the start it would grow to 20 MB, and a daemon would keep them. A
// program starts the quicker the less memory its parent has. Other commands end sooner without this.
// The parser of HTTP is WebAssembly, and V8 would keep 11 MB that it needed once to compile it a second time, optimized.
if (process.argv[2] === 'start' || process.argv[2] === 'demo')
  for (const flag of ['--semi-space-growth-factor=1', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'])
    process.getBuiltinModule('node:v8').setFlagsFromString(flag);
// Next to the code, so that only those who may change the code may change what was compiled from it.
process.getBuiltinModule('node:module').enableCompileCache(import.meta.dirname + '/.compiled');
await import('./cli/main.js');
`,
  { mode: 0o755 },
);
