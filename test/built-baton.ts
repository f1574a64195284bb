import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';

/*
 * Baton as the tests start it in a process of its own: built once from these sources, laid out like the published
 * package, and with its dependencies in the same few files. Loading a thousand files of sources took most of the time
 * of most processes that the tests start. With BATON_TEST_SOURCES=1 the tests start the sources as they are, for
 * example to see their lines in a stack trace.
 */

const root = path.resolve(import.meta.dirname, '..');
/** Compiled code of all builds; see `NODE_COMPILE_CACHE`. */
export const compileCache: string = path.join(root, 'node_modules', '.cache', 'baton-tests');
const builds = path.join(root, 'node_modules', '.cache', 'baton-tests-built');
const oldMs = 24 * 60 * 60_000;

const programs = {
  'cli/main': 'src/cli/main.ts',
  'agent/rehearsal/program': 'src/agent/rehearsal/program.ts',
  'fake/acp': 'test/fake/acp/program.ts',
  'fake/app-server': 'test/fake/app-server/program.ts',
  'fake/claude-code': 'test/fake/claude-code/program.ts',
  'fault/kill-at': 'test/fault/kill-at.ts',
  'fault/stubborn-agent': 'test/fault/stubborn-agent.ts',
  'security/isolated': 'test/security/isolated-program.ts',
  'store/other': 'test/store/store-program.ts',
} as const;

let made: string | undefined;

/** The file to start with Node. The first call builds, unless a run of the tests has built from the same sources. */
export function builtProgram(name: keyof typeof programs): string {
  if (process.env.BATON_TEST_SOURCES !== undefined) return path.join(root, programs[name]);
  made ??= make(path.join(builds, fingerprint()));
  return path.join(made, 'dist', `${name}.js`);
}

function make(home: string): string {
  if (existsSync(home)) return home;
  mkdirSync(builds, { recursive: true });
  for (const name of readdirSync(builds)) removeOld(path.join(builds, name));
  const draft = mkdtempSync(path.join(builds, 'draft-'));
  // Some tests run it as another user.
  chmodSync(draft, 0o755);
  buildSync({
    absWorkingDir: root,
    entryPoints: { ...programs },
    outdir: path.join(draft, 'dist'),
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // An optional part of a dependency, which is not installed.
    external: ['pg-native'],
    // For dependencies in the older module format.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
  copyFileSync(path.join(root, 'package.json'), path.join(draft, 'package.json'));
  symlinkSync(path.join(root, 'dist', 'dashboard'), path.join(draft, 'dist', 'dashboard'));
  try {
    renameSync(draft, home);
  } catch (error) {
    // Another process has made the same build in the meantime.
    rmSync(draft, { recursive: true });
    if (!existsSync(home)) throw error;
  }
  return home;
}

/** Another run of the tests may use a build of the last day. */
function removeOld(folder: string): void {
  const madeAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (madeAt < Date.now() - oldMs) rmSync(folder, { recursive: true, force: true });
}

/** Of all that goes into a build. */
function fingerprint(): string {
  const sources = globSync('{src,demo,test/fake/acp,test/fake/app-server,test/fake/claude-code}/**/*.{ts,json}', {
    cwd: root,
  }).sort();
  const hash = createHash('sha256');
  const own = ['package.json', 'package-lock.json', 'test/built-baton.ts', 'test/fault/kill-plan.ts'];
  for (const file of [...new Set([...own, ...Object.values(programs), ...sources])])
    hash.update(`${file}\0`).update(readFileSync(path.join(root, file)));
  return hash.digest('hex').slice(0, 16);
}
