#!/usr/bin/env node
import { readFileSync, readlinkSync } from 'node:fs';
import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { systemChance } from '../clock/system-chance.ts';
import { systemClock } from '../clock/system-clock.ts';
import { closeInherited } from '../process/close-inherited.ts';
import { runCommandLine } from './command-line.ts';

// The only place that reads the process it runs in. Everything else gets it as a value.
const packageFile = new URL('../../package.json', import.meta.url);
const extension = import.meta.filename.endsWith('.ts') ? 'ts' : 'js';

// What Node and the driver of PostgreSQL read at any time. A daemon has no other variable in its own environment once it
// has read them: a report of Node, a library, or a program that is started by mistake without an environment of its own
// finds no secret.
const readLater = /^(?:PATH|HOME|TMPDIR|TZ|TERM|LANG|LC_\w+|NO_COLOR|FORCE_COLOR|(?:NODE|SSL|UV)_\w+|PG\w+)$/;

// A closed reader (`baton validate | head`) is not an error, and must not end Baton before its agents.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

process.exitCode = await runCommandLine(process.argv.slice(2), {
  clock: systemClock,
  chance: systemChance,
  // A copy: a daemon removes the variables of its own process.
  env: { ...process.env },
  cwd: process.cwd(),
  homeDir: homedir(),
  accountHome: accountHome(),
  tmpDir: tmpdir(),
  get timeZone() {
    return timeZone();
  },
  uid: process.getuid?.() ?? null,
  hostName: hostname(),
  userName: userName(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  batonPath: extension === 'ts' ? fileURLToPath(new URL('../../bin/baton', import.meta.url)) : 'baton',
  nodePath: process.execPath,
  nodeVersion: process.versions.node,
  platform: process.platform,
  version: JSON.parse(readFileSync(packageFile, 'utf8')).version,
  agentProgram: (backend) => new URL(`../agent/${backend}/program.${extension}`, import.meta.url),
  dashboardFolder: new URL(extension === 'ts' ? '../../dist/dashboard/' : '../dashboard/', import.meta.url),
  closeInherited: () => {
    closeInherited();
    for (const name of Object.keys(process.env)) if (!readLater.test(name)) delete process.env[name];
  },
  interrupt: () => void process.kill(process.pid, 'SIGINT'),
  onSignal: (signal, listener) => {
    process.on(signal, listener);
    return () => process.off(signal, listener);
  },
});

/** The home that the system has for the user; undefined for a user whom it does not know. */
function accountHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** A container may have a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER ?? 'somebody';
  }
}

/** A machine may have a time zone without a name; then UTC applies. */
function timeZone(): string {
  const linked = process.env.TZ === undefined ? linkedTimeZone() : null;
  if (linked !== null) return linked;
  const name: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return name === undefined || name === 'Etc/Unknown' ? 'UTC' : name;
}

/** The zone that a link names; null: `Intl` has to find it, which takes 12 ms and 5 MB. */
function linkedTimeZone(): string | null {
  try {
    const name = /\/zoneinfo\/([A-Z][\w+-]*(?:\/[A-Z][\w+-]*)*)$/.exec(readlinkSync('/etc/localtime'))?.[1] ?? null;
    return name === 'Etc/UTC' ? 'UTC' : name;
  } catch {
    return null;
  }
}
