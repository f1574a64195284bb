// Prepares a fresh clone, then runs a file with a Node that is new enough.
//
//   node scripts/bootstrap.mjs FILE [ARGS…]            prepare, then run FILE
//   node scripts/bootstrap.mjs --print-node [ARGS…]    prepare for `baton ARGS…`, then print the path of the Node to use
//
// Plain JavaScript without dependencies, because it runs before anything is installed and on any Node from 20 on.
// When nothing has to be prepared it reads some small files and is silent. What it prepares:
//   1. Node 24, when the Node that runs this file is older: the platform's package from the npm registry, kept in a cache folder
//      that all clones of one user share. scripts/node-runtime pins the checksum of the package (package-lock.json) and of the
//      program in it (checksums.json). The program is compared before its first use, and again when the file has changed.
//   2. node_modules, when it is missing or was made from another lockfile: for Baton itself only what running needs, without
//      install scripts; for every other FILE also the development packages. The stamp in it says which.
//   3. dist/dashboard, the web page that the daemon serves, when it is missing or was made from other sources. Only commands
//      that start a daemon wait for it. Where the development packages are missing, the few that build the page are
//      installed next to its sources for as long as the build takes.
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
const baton = path.join(root, 'src', 'cli', 'main.ts');
/** The commands that start a daemon, which serves the page. */
const servingCommands = ['start', 'demo'];
/** The development packages that build the page, without their own dependencies. */
const pagePackages = ['@preact/signals', 'highlight.js', 'micromark', 'micromark-extension-gfm', 'preact', 'vite'];

main();

function main() {
  const [file, ...args] = process.argv.slice(2);
  if (file === undefined) fail('usage: node scripts/bootstrap.mjs FILE [ARGS…] | --print-node [ARGS…]', 2);
  if (major(process.versions.node) < oldestMajor) {
    fail(
      `Node ${process.versions.node} is too old to set Baton up. Install Node ${oldestMajor} or newer and try again.`,
    );
  }
  const node = prepareNode();
  const isForRunning = file === '--print-node' || path.resolve(root, file) === baton;
  prepareDependencies(node, isForRunning);
  if (!isForRunning || args.some((word) => servingCommands.includes(word))) prepareDashboard(node);
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
  const checksums = path.join(source, 'checksums.json');
  const pins = [path.join(source, 'package-lock.json'), checksums].map((file) => fs.readFileSync(file));
  const home = path.join(cacheFolder(), `node-${fingerprint(...pins)}`);
  const ready = unchangedNode(home);
  if (ready !== null) return ready;
  return underLock(() => {
    const made = unchangedNode(home) ?? checkedNode(home, checksums);
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
    const node = checkedNode(home, checksums);
    if (node === null) {
      fs.rmSync(home, { recursive: true });
      fail(
        `the Node that npm got is not the one whose checksum is in ${checksums}. Install Node ${neededMajor} or newer yourself.`,
      );
    }
    return node;
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

/** The cached Node, when its file is the one that was compared. Reading 120 MB at each start would cost half a second. */
function unchangedNode(home) {
  const file = findNode(home);
  if (file === null || !fs.existsSync(comparedNote(home))) return null;
  return fs.readFileSync(comparedNote(home), 'utf8') === identity(file) ? file : null;
}

/** The cached Node after comparing it with its checksum; null when there is none, or it is not the pinned one. */
function checkedNode(home, checksums) {
  const file = findNode(home);
  if (file === null) return null;
  const name = path.basename(path.dirname(path.dirname(file)));
  const before = identity(file);
  const found = createHash('sha256').update(fs.readFileSync(file)).digest('hex');
  if (found !== JSON.parse(fs.readFileSync(checksums, 'utf8'))[name]) {
    say(`${file} is not the Node whose checksum Baton knows`);
    return null;
  }
  fs.writeFileSync(comparedNote(home), before);
  return file;
}

function comparedNote(home) {
  return path.join(home, '.compared');
}

/** Changes with every write to the file and every replacement of it. */
function identity(file) {
  const { dev, ino, size, mtimeNs, ctimeNs } = fs.statSync(file, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

function prepareDependencies(node, isForRunning) {
  const stamp = path.join(root, 'node_modules', '.baton-lockfile');
  // Includes the platform, because another one may share the clone, for example as a volume of a container.
  const all = `${fingerprint(fs.readFileSync(path.join(root, 'package-lock.json')))} ${process.platform}-${process.arch}`;
  const running = `${all} without development packages`;
  const accepted = isForRunning ? [all, running] : [all];
  const isReady = () => fs.existsSync(stamp) && accepted.includes(fs.readFileSync(stamp, 'utf8'));
  if (isReady()) return;
  underLock(() => {
    if (isReady()) return;
    say(isForRunning ? 'installing dependencies' : 'installing dependencies, with those for development');
    npm(node, isForRunning ? ['ci', '--omit=dev', '--ignore-scripts'] : ['ci', '--include=dev'], root);
    fs.writeFileSync(stamp, isForRunning ? running : all);
  });
}

/** If the page cannot be built, Baton still starts: everything else works without it. */
function prepareDashboard(node) {
  const sources = path.join(root, 'dashboard');
  if (!fs.existsSync(sources)) return;
  const stamp = path.join(root, 'dist', 'dashboard', '.sources');
  const wanted = pageFingerprint(sources);
  const isReady = () => fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted;
  if (isReady()) return;
  underLock(() => {
    if (isReady()) return;
    say('building the dashboard');
    const own = path.join(sources, 'node_modules');
    fs.rmSync(own, { recursive: true, force: true });
    const hasPackages = pagePackages.every((name) => fs.existsSync(path.join(root, 'node_modules', name)));
    const problem =
      (hasPackages ? null : installPagePackages(node, own)) ?? buildPage(node, hasPackages ? root : sources);
    fs.rmSync(own, { recursive: true, force: true });
    if (problem === null) fs.writeFileSync(stamp, wanted);
    else
      say(`the dashboard could not be built; Baton works without it, and tries again at the next start:\n${problem}`);
  });
}

/** Installs the part of the lockfile that the page needs as the folder `target`. Answers what went wrong, or null. */
function installPagePackages(node, target) {
  const read = (name) => JSON.parse(fs.readFileSync(path.join(root, name), 'utf8'));
  const { devDependencies } = read('package.json');
  const lockfile = read('package-lock.json');
  const wanted = { dependencies: Object.fromEntries(pagePackages.map((name) => [name, devDependencies[name]])) };
  const packages = { '': wanted };
  for (const name of pagePackages) addWithDependencies('', name);
  const draft = path.join(root, 'dist', 'page-packages');
  fs.rmSync(draft, { recursive: true, force: true });
  fs.mkdirSync(draft, { recursive: true });
  fs.writeFileSync(path.join(draft, 'package.json'), JSON.stringify(wanted));
  fs.writeFileSync(path.join(draft, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
  const problem = runNpm(node, ['ci', '--ignore-scripts'], draft);
  if (problem === null) fs.renameSync(path.join(draft, 'node_modules'), target);
  fs.rmSync(draft, { recursive: true });
  return problem;

  /** Adds what `name` means for the package at `place`: in its own node_modules, or the nearest one above. */
  function addWithDependencies(place, name) {
    const found = `${place}${place && '/'}node_modules/${name}`;
    const entry = lockfile.packages[found];
    if (entry === undefined) {
      if (place !== '') addWithDependencies(place.slice(0, Math.max(place.lastIndexOf('/node_modules/'), 0)), name);
    } else if (packages[found] === undefined) {
      packages[found] = { ...entry, dev: false };
      for (const next of Object.keys({
        ...entry.dependencies,
        ...entry.optionalDependencies,
        ...entry.peerDependencies,
      }))
        addWithDependencies(found, next);
    }
  }
}

/** Answers what went wrong, or null. */
function buildPage(node, packagesIn) {
  const vite = path.join(packagesIn, 'node_modules', 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--config', path.join(root, 'dashboard', 'vite.config.ts'), '--logLevel', 'error'];
  const done = spawnSync(node, args, { cwd: root, env: environmentFor(node), encoding: 'utf8' });
  return done.status === 0 ? null : done.stderr;
}

/** Of the page's sources, and of the only folder outside of them from which it takes more than types. */
function pageFingerprint(sources) {
  const hash = createHash('sha256').update(fs.readFileSync(path.join(root, 'package-lock.json')));
  for (const folder of [sources, path.join(root, 'src', 'core', 'text')]) {
    const names = fs.readdirSync(folder, { recursive: true }).sort();
    for (const name of names.filter((name) => !name.startsWith('node_modules'))) {
      const file = path.join(folder, name);
      if (fs.statSync(file).isFile()) hash.update(`${name}\0`).update(fs.readFileSync(file));
    }
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
  const problem = runNpm(node, args, cwd);
  if (problem === null) return;
  process.stderr.write(problem);
  fail(`npm ${args[0]} failed in ${cwd}. Fix what npm reports above, then run the same command again.`);
}

/** Answers what npm reported when it failed, otherwise null. */
function runNpm(node, args, cwd) {
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
  if (done.status === 0) return null;
  return `${done.stdout ?? ''}${done.stderr ?? ''}${done.error ? `${done.error.message}\n` : ''}`;
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
  const release = () => fs.rmSync(lock, { force: true });
  // `fail` ends the process from inside of `work`.
  process.once('exit', release);
  try {
    return work();
  } finally {
    process.off('exit', release);
    release();
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

function fingerprint(...contents) {
  const hash = createHash('sha256');
  for (const content of contents) hash.update(content);
  return hash.digest('hex').slice(0, 16);
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
