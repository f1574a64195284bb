// Loaded with `--import` before the daemon: it wraps the builtins through which the daemon acts on the world, and kills
// the process exactly where the plan says. Nothing in `src/` knows of it.
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { type KillPlan, killPlanVariable } from './kill-plan.ts';

// Only the test that wrote it sets the variable.
const plan: KillPlan = JSON.parse(process.env[killPlanVariable] ?? '');
const pattern = new RegExp(plan.pattern, 's');
let isCounting = plan.since === undefined;
let isArmed = false;
let left = plan.occurrence ?? 1;
const since = plan.since === undefined ? null : new RegExp(plan.since, 's');

listenToLog();
if (plan.at === 'sql') listenToSql();
if (plan.at === 'spawn') listenToSpawn();
if (plan.at === 'file') listenToFiles();

// biome-ignore lint/suspicious/noExplicitAny: it wraps functions of any shape.
type Wrapped = (this: any, ...args: any[]) => any;

/** Whether to kill now. A match is counted once. */
function isIt(at: KillPlan['at'], text: string): boolean {
  if (at !== plan.at || !isCounting || left <= 0 || !pattern.test(text)) return false;
  left -= 1;
  return left === 0;
}

/** Does not return: the signal is delivered before the system call returns. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

function around(at: KillPlan['at'], text: string, act: () => unknown): unknown {
  const now = isIt(at, text);
  if (now && plan.when === 'before') die();
  const result = act();
  if (now) die();
  return result;
}

// biome-ignore lint/suspicious/noExplicitAny: builtins of many kinds.
function wrap(owner: any, name: string, make: (original: Wrapped) => Wrapped): void {
  owner[name] = make(owner[name]);
}

function listenToSql(): void {
  const owners = new WeakMap<StatementSync, DatabaseSync>();
  wrap(DatabaseSync.prototype, 'prepare', (original) => {
    return function (this: DatabaseSync, ...args) {
      const statement = original.apply(this, args);
      owners.set(statement, this);
      return statement;
    };
  });
  for (const name of ['run', 'all', 'get']) {
    wrap(StatementSync.prototype, name, (original) => {
      return function (this: StatementSync, ...parameters) {
        const { sourceSQL } = this;
        const text = `${sourceSQL} ${JSON.stringify(parameters)}`;
        const now = isIt('sql', text);
        if (since?.test(text)) isCounting = true;
        if (now && plan.when === 'before') die();
        const result = original.apply(this, parameters);
        if (isArmed && sourceSQL === 'commit') die();
        if (now && (plan.when === 'after' || owners.get(this)?.isTransaction !== true)) die();
        // A connection has one transaction at a time, so the next commit belongs to this statement.
        isArmed ||= now;
        return result;
      };
    });
  }
}

function listenToSpawn(): void {
  wrap(childProcess, 'spawn', (original) => {
    return (...args) => {
      const text = args.flat().filter(isText).join(' ');
      if (plan.when !== 'after_exit') return around('spawn', text, () => original(...args));
      const child = original(...args);
      if (isIt('spawn', text)) child.once('exit', die);
      return child;
    };
  });
  syncBuiltinESMExports();
}

/** An asynchronous call ends when its promise settles. */
function listenToFiles(): void {
  for (const name of ['rm', 'mkdir', 'writeFile', 'rename', 'appendFile']) {
    wrap(fs.promises, name, (original) => {
      return async (...args) => {
        const now = isIt('file', `${name} ${args[0]}`);
        if (now && plan.when === 'before') die();
        const result = await original.apply(fs.promises, args);
        if (now) die();
        return result;
      };
    });
  }
  for (const name of ['rmSync', 'mkdirSync', 'writeFileSync', 'renameSync', 'appendFileSync']) {
    wrap(
      fs,
      name,
      (original) =>
        (...args) =>
          around('file', `${name} ${args[0]}`, () => original.apply(fs, args)),
    );
  }
  syncBuiltinESMExports();
}

function listenToLog(): void {
  wrap(process.stderr, 'write', (original) => {
    return (...args) => {
      const text = String(args[0]);
      if (since?.test(text)) isCounting = true;
      return around('log', text, () => original.apply(process.stderr, args));
    };
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
