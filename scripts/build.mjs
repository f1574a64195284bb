// Builds the published package: plain JavaScript in dist/, laid out like src/ so that paths between files stay the same.
// Dependencies stay outside; npm installs them.

import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { build as buildPage } from 'vite';

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
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node24',
  sourcemap: true,
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
await import('./cli/main.js');
`,
  { mode: 0o755 },
);
