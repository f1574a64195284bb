// Prepares a fresh clone, then runs a file with a Node that is new enough.
//
//   node scripts/bootstrap.mjs FILE [ARGS…]    prepare, then run FILE
//   node scripts/bootstrap.mjs --print-node    prepare, then print the path of the Node to use
//
// Plain JavaScript without dependencies, because it runs before anything is installed and on any Node from 20 on.
// When nothing has to be prepared it reads some small files and is silent. What it prepares:
//   1. Node 24, when the Node that runs this file is older: the platform's package from the npm registry, pinned with its
//      checksum by scripts/node-runtime/package-lock.json, kept in a cache folder that all clones of one user share.
//   2. node_modules, when it is missing or was made from another lockfile.
//   3. dist/dashboard, the web page that the daemon serves, when it is missing or was made from other sources.
// All are made under a lock, so that several starts at once prepare once; an interrupted preparation is redone.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const neededMajor = 24;
const oldestMajor = 20;
const lockWaitMs = 10 * 60_000;
// A lock file gets its content right after its creation. One that is still empty after this time was left by a crash.
const emptyLockMs = 10_000;
// The first releases of Node 24 warn at each start that they strip types; some platforms have no later one.
const nodeFlags = ['--disable-warning=ExperimentalWarning'];

main();

function main() {
  const [file, ...args] = process.argv.slice(2);
  if (file === undefined) fail('usage: node scripts/bootstrap.mjs FILE [ARGS…] | --print-node', 2);
  if (major(process.versions.node) < oldestMajor) {
    fail(
      `Node ${process.versions.node} is too old to set Baton up. Install Node ${oldestMajor} or newer and try again.`,
    );
  }
  const node = prepareNode();
  prepareDependencies(node);
  prepareDashboard(node);
  if (file === '--print-node') {
    process.stdout.write(`${node}\n`);
    return;
  }
  run(node, [path.resolve(root, file), ...args]);
}

/** The Node that Baton runs on: this one when it is new enough, otherwise the pinned one from the cache. */
function prepareNode() {
  if (major(process.versions.node) >= neededMajor) return process.execPath;
  const source = path.join(root, 'scripts', 'node-runtime');
  const home = path.join(cacheFolder(), `node-${fingerprint(path.join(source, 'package-lock.json'))}`);
  const ready = findNode(home);
  if (ready !== null) return ready;
  return underLock(() => {
    const made = findNode(home);
    if (made !== null) return made;
    say(`getting Node ${neededMajor} from the npm registry (this machine has ${process.versions.node}), once`);
    // Only the holder of the lock is here, so a draft that already exists was interrupted.
    for (const name of fs.readdirSync(cacheFolder())) {
      if (name.startsWith(`${path.basename(home)}-draft-`))
        fs.rmSync(path.join(cacheFolder(), name), { recursive: true });
    }
    const draft = fs.mkdtempSync(`${home}-draft-`);
    for (const name of ['package.json', 'package-lock.json'])
      fs.copyFileSync(path.join(source, name), path.join(draft, name));
    npm(process.execPath, ['ci', '--ignore-scripts'], draft);
    if (findNode(draft) === null) {
      fail(
        `the registry has no Node ${neededMajor} for ${process.platform}-${process.arch}. Install Node ${neededMajor} or newer yourself.`,
      );
    }
    fs.rmSync(home, { recursive: true, force: true });
    fs.renameSync(draft, home);
    return findNode(home);
  });
}

function findNode(home) {
  const modules = path.join(home, 'node_modules');
  if (!fs.existsSync(modules)) return null;
  for (const name of fs.readdirSync(modules)) {
    const file = path.join(modules, name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    if (fs.existsSync(file)) return file;
  }
  return null;
}

function prepareDependencies(node) {
  const stamp = path.join(root, 'node_modules', '.baton-lockfile');
  // Includes the platform, because another one may share the clone, for example as a volume of a container.
  const wanted = `${fingerprint(path.join(root, 'package-lock.json'))} ${process.platform}-${process.arch}`;
  const isReady = () => fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted;
  if (isReady()) return;
  underLock(() => {
    if (isReady()) return;
    say('installing dependencies');
    npm(node, ['ci', '--include=dev'], root);
    fs.writeFileSync(stamp, wanted);
  });
}

/** If the page cannot be built, Baton still starts: everything else works without it. */
function prepareDashboard(node) {
  const sources = path.join(root, 'dashboard');
  if (!fs.existsSync(sources)) return;
  const target = path.join(root, 'dist', 'dashboard');
  const stamp = path.join(target, '.sources');
  const wanted = sourcesFingerprint(sources);
  const isReady = () => fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted;
  if (isReady()) return;
  underLock(() => {
    if (isReady()) return;
    const vite = path.join(root, 'node_modules', 'vite', 'bin', 'vite.js');
    const args = [vite, 'build', '--config', path.join(root, 'dashboard', 'vite.config.ts'), '--logLevel', 'error'];
    const done = spawnSync(node, args, { cwd: root, env: environmentFor(node), encoding: 'utf8' });
    if (done.status === 0) fs.writeFileSync(stamp, wanted);
    else say(`the dashboard could not be built:\n${done.stderr}`);
  });
}

function sourcesFingerprint(folder) {
  const hash = createHash('sha256').update(fs.readFileSync(path.join(root, 'package-lock.json')));
  const names = fs.readdirSync(folder, { recursive: true }).sort();
  for (const name of names) {
    const file = path.join(folder, name);
    if (fs.statSync(file).isFile()) hash.update(`${name}\0`).update(fs.readFileSync(file));
  }
  return hash.digest('hex');
}

function run(node, args) {
  const child = spawn(node, [...nodeFlags, ...args], { stdio: 'inherit', env: environmentFor(node) });
  // A terminal sends Ctrl-C to the child as well; passing it on would count as a second one.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(`could not start ${node}: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function npm(node, args, cwd) {
  const [command, ...front] = npmCommand(node);
  // The last two undo options that an outer npm passes on, such as `npm pack --dry-run`.
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  const flags = [...quiet, '--no-dry-run', '--no-global'];
  const done = spawnSync(command, [...front, ...args, ...flags], {
    cwd,
    env: { ...environmentFor(node), NODE_ENV: '' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: command === 'npm.cmd',
  });
  if (done.status === 0) return;
  process.stderr.write(`${done.stdout ?? ''}${done.stderr ?? ''}`);
  fail(
    `npm ${args[0]} failed in ${cwd}${done.error ? ` (${done.error.message})` : ''}. Fix what npm reports above, then run the same command again.`,
  );
}

/** npm as a JavaScript file run by the chosen Node where that file can be found, so that npm sees that Node's version. */
function npmCommand(node) {
  const known = process.env.npm_execpath;
  if (known?.endsWith('npm-cli.js') && fs.existsSync(known)) return [node, known];
  if (process.platform === 'win32') return ['npm.cmd'];
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    const candidate = path.join(folder, 'npm');
    if (!fs.existsSync(candidate)) continue;
    const real = fs.realpathSync(candidate);
    return real.endsWith('.js') ? [node, real] : [candidate];
  }
  return fail('npm was not found on PATH. Install Node with npm and try again.');
}

function environmentFor(node) {
  const folder = path.dirname(node);
  const rest = (process.env.PATH ?? '').split(path.delimiter).filter((entry) => entry !== folder);
  return { ...process.env, PATH: [folder, ...rest].join(path.delimiter) };
}

/** Runs `work` while no other bootstrap does. A lock whose owner is dead is taken over. */
function underLock(work) {
  const lock = path.join(cacheFolder(), 'bootstrap.lock');
  const deadline = Date.now() + lockWaitMs;
  for (;;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const dead = deadOwner(lock);
      if (dead !== null) takeAway(lock, dead);
      else if (Date.now() > deadline)
        fail(`another set-up has held ${lock} for ten minutes. End that process, or remove the file.`);
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
  try {
    return work();
  } finally {
    fs.rmSync(lock, { force: true });
  }
}

/** The content of a lock whose owner is dead; null while the owner lives or is about to write its id. */
function deadOwner(lock) {
  let owner;
  try {
    owner = fs.readFileSync(lock, 'utf8');
    if (owner === '') return Date.now() - fs.statSync(lock).mtimeMs > emptyLockMs ? owner : null;
    // In a container, process ids start again at one, so the dead owner may have had our own id.
    if (owner === String(process.pid)) return owner;
    process.kill(Number(owner), 0);
    return null;
  } catch (error) {
    return error.code === 'ESRCH' ? owner : null;
  }
}

/** Removes the lock of a dead owner, unless another start removed it first and holds the lock now. */
function takeAway(lock, owner) {
  const aside = `${lock}-${process.pid}`;
  try {
    fs.renameSync(lock, aside);
    if (fs.readFileSync(aside, 'utf8') !== owner) fs.linkSync(aside, lock);
    fs.rmSync(aside);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  }
}

function cacheFolder() {
  const { BATON_CACHE_DIR, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  const home = os.homedir();
  const usual = {
    win32: () => path.join(LOCALAPPDATA ?? path.join(home, 'AppData', 'Local'), 'baton'),
    darwin: () => path.join(home, 'Library', 'Caches', 'baton'),
  }[process.platform];
  const wanted =
    BATON_CACHE_DIR ||
    (XDG_CACHE_HOME && path.join(XDG_CACHE_HOME, 'baton')) ||
    usual?.() ||
    path.join(home, '.cache', 'baton');
  for (const folder of [wanted, path.join(root, '.cache')]) {
    try {
      fs.mkdirSync(folder, { recursive: true });
      fs.accessSync(folder, fs.constants.W_OK);
      return folder;
    } catch (error) {
      if (folder !== wanted)
        fail(
          `cannot write to a cache folder: ${error.message}. Set BATON_CACHE_DIR to a folder that you can write to.`,
        );
    }
  }
}

function fingerprint(file) {
  return createHash('sha256').update(fs.readFileSync(file)).digest('hex').slice(0, 16);
}

function major(version) {
  return Number(version.split('.')[0]);
}

function say(text) {
  process.stderr.write(`baton: ${text}\n`);
}

function fail(text, code = 1) {
  say(text);
  process.exit(code);
}
