// The ways in which `npm run test:attacks` runs the attacks of test/security again that differ by way (test/tiers.ts), besides
// the user who started it:
//
// - as an ordinary user, where that is root: in a mount namespace with a private layer over the repository, because
//   that user may neither read the folder of the repository nor write to it;
// - without namespaces: on a PATH without `unshare`, by which Baton makes them.
//
// A way has a reason where this machine cannot go it.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A user without a name, a home or a group; the same as in test/security/isolation-scene.ts. */
const ordinary = 21_846;

/** Each prepares a folder, in which `counts` is where the tests write their results. */
export const attackWays = [
  { name: 'as an ordinary user', reason: whyNotOrdinary(), prepare: ordinaryUser },
  { name: 'as root', reason: isRoot() ? 'done by the run of all tests' : 'the tests were not started as root' },
  { name: 'without namespaces', reason: null, prepare: withoutNamespaces },
];

function isRoot() {
  return process.geteuid?.() === 0;
}

function whyNotOrdinary() {
  if (!isRoot()) return 'done by the run of all tests';
  const tried = spawnSync('unshare', ['--mount', 'setpriv', `--reuid=${ordinary}`, '--clear-groups', 'true']);
  return tried.status === 0 ? null : 'root cannot make a mount namespace or change its user here';
}

const script = `set -e
folder=$1 root=$2 node=$3; shift 3
mount -t tmpfs -o mode=755 baton-attacks "$folder"
cd "$folder"
mkdir upper work repository bin home
mount -t overlay -o "lowerdir=$root,upperdir=$folder/upper,workdir=$folder/work" baton-attacks repository
cp "$node" bin/node
for each in .cache .vite .vite-temp; do
  rm -rf "repository/node_modules/$each"; mkdir "repository/node_modules/$each"
  chown ${ordinary}:${ordinary} "repository/node_modules/$each"
done
chown ${ordinary}:${ordinary} home
cd repository
exec setpriv --reuid=${ordinary} --regid=${ordinary} --clear-groups -- "$folder/bin/node" "$@"
`;

function ordinaryUser(folder, { root, args }) {
  const counts = path.join(os.tmpdir(), `${path.basename(folder)}-counts.json`);
  const inner = ['sh', '-c', script, 'sh', folder, root, process.execPath];
  const { TMPDIR: _ofRoot, ...env } = process.env;
  return {
    file: 'unshare',
    args: ['--mount', ...inner, ...args.map((each) => each.replace(root, path.join(folder, 'repository')))],
    env: { ...env, HOME: path.join(folder, 'home'), PATH: `${path.join(folder, 'bin')}:/usr/local/bin:/usr/bin:/bin` },
    counts,
  };
}

function withoutNamespaces(folder, { args }) {
  const bin = path.join(folder, 'bin');
  fs.mkdirSync(bin);
  for (const each of (process.env.PATH ?? '').split(':').filter((part) => path.isAbsolute(part)))
    for (const name of listed(each)) {
      if (name === 'unshare' || fs.existsSync(path.join(bin, name))) continue;
      fs.rmSync(path.join(bin, name), { force: true });
      fs.symlinkSync(path.join(each, name), path.join(bin, name));
    }
  const env = { ...process.env, PATH: bin };
  return { file: process.execPath, args, env, counts: path.join(folder, 'counts.json') };
}

function listed(folder) {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}
