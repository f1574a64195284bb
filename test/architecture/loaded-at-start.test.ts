// @module-tag full
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { scratchFolder } from '../workspace/scratch-folder.ts';

const root = path.resolve(import.meta.dirname, '..', '..');

/** The packages that a daemon needs before its first poll; each other one waits for its first use. */
const neededAtStart = [
  ...['chokidar', 'commander', 'hono', 'kysely', 'liquidjs', 'pino', 'readdirp', 'yaml', 'zod'],
  // Parts of pino.
  ...['@pinojs/redact', 'atomic-sleep', 'on-exit-leak-free', 'pino-std-serializers', 'quick-format-unescaped'],
  ...['safe-stable-stringify', 'sonic-boom', 'thread-stream'],
];

/** Files of ours that wait as well, for what they load. */
const waiting = [
  ...[
    'src/http/undici-transport.ts',
    'src/server/api/create-api.ts',
    'src/server/api/metrics.ts',
    'src/server/mcp-endpoint.ts',
  ],
  ...['src/store/postgres/open-postgres.ts', 'src/cli/dry-run.ts'],
];

it('a daemon that has started has loaded only what a start needs', async () => {
  const folder = scratchFolder();
  const list = path.join(folder, 'loaded.txt');
  const settings = {
    tracker: { kind: 'board' },
    workspace: { root: 'workspaces' },
    agent: { backend: 'command', command: 'true' },
  };
  writeFileSync(path.join(folder, 'WORKFLOW.md'), `---\n${JSON.stringify(settings)}\n---\nWork.\n`);
  const noteLoads = path.join(folder, 'note-loads.mjs');
  writeFileSync(
    noteLoads,
    `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({ load: (url, context, next) => { appendFileSync(${JSON.stringify(list)}, url + '\\n'); return next(url, context); } });
`,
  );
  const args = ['start', 'WORKFLOW.md', '--json', '--state-dir', path.join(folder, 'state')];
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--import', noteLoads, path.join(root, 'src/cli/main.ts'), ...args],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stderr })) if (line.includes('"orchestrator_started"')) break;
  const loaded = readFileSync(list, 'utf8').split('\n');
  child.kill('SIGTERM');
  await ended;
  const packages = loaded.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
  expect([...new Set(packages)].filter((name) => !neededAtStart.includes(name)).sort()).toEqual([]);
  expect(loaded.some((url) => url.endsWith('/src/daemon/daemon.ts'))).toBe(true);
  expect(waiting.filter((file) => loaded.some((url) => url.endsWith(`/${file}`)))).toEqual([]);
}, 60_000);
