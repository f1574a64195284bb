import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { sleep } from '../src/clock/clock.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import { startFakeLinear } from '../test/fake/linear/fake-linear.ts';
import { type BuiltBaton, buildBaton } from './built-baton.ts';
import type { Figure } from './report.ts';
import { Scratch } from './scratch.ts';

/** The work of a daemon for one issue, from the moment its tracker has it until its workspace is gone. */
export interface WorkPerIssue {
  /** Programs that Baton starts itself; the shells and wrappers inside are not counted. */
  readonly processes: number;
  /** Each is on the disk before it counts, so there are as many calls of `fsync`. */
  readonly commits: number;
  readonly files: number;
  readonly procReads: number;
  readonly requests: number;
  readonly logLines: number;
}

export type CountedMode = 'continue' | 'namespaces' | 'review';

const countedModes: readonly CountedMode[] = ['continue', 'namespaces', 'review'];

const issueCount = 5;
const patienceMs = 60_000;

/** Counts what the daemon does for one issue. Unlike times, these are the same on every machine, within one or two. */
export async function benchCounts(): Promise<readonly Figure[]> {
  using built = await buildBaton();
  const figures: Figure[] = [];
  for (const mode of countedModes) {
    const work = await countWork(built, mode);
    const seen = Object.entries(work).map(([what, count]) => `${what} ${count.toFixed(1)}`);
    figures.push({ what: `work for one issue, ${titles[mode]}`, seen: seen.join(', '), aim: null, ratio: null });
  }
  return figures;
}

const titles: Readonly<Record<CountedMode, string>> = {
  continue: '`after_success: continue` without isolation, on Linear',
  namespaces: 'the same with `isolation: namespaces`',
  review: '`after_success: review` with a commit, without isolation, on Linear',
};

/** One issue after the other, each alone, with a daemon that polls every second; the mean of all but the first. */
export async function countWork({ program }: BuiltBaton, mode: CountedMode): Promise<WorkPerIssue> {
  using scratch = new Scratch();
  await using linear = await startFakeLinear();
  await using server = createServer((request, response) => {
    linear.updateIssue(request.url?.slice(1) ?? '', { state: 'Done' });
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = scratch.write('agent/agent.mjs', agentText((server.address() as AddressInfo).port, mode));
  const repo = mode === 'review' ? { repo: makeSource(scratch), base: 'main' } : {};
  const settings = {
    project: { name: 'bench' },
    tracker: {
      kind: 'linear',
      project_slug: 'baton',
      states: { review: 'In Review' },
      provider: { endpoint: linear.url, api_key: linear.apiKey },
    },
    polling: { interval_ms: 1_000 },
    workspace: { root: 'workspaces', ...repo },
    agent: {
      backend: 'command',
      command: `cat >/dev/null; exec '${process.execPath}' '${agent}'`,
      isolation: mode === 'namespaces' ? 'namespaces' : 'none',
      ...(mode === 'namespaces' ? { isolation_read: [path.dirname(agent), path.dirname(process.execPath)] } : {}),
      ...(mode === 'review' ? { after_success: 'review' } : {}),
    },
  };
  const workflow = scratch.write('WORKFLOW.md', `---\n${JSON.stringify(settings)}\n---\nWork.\n`);
  const report = path.join(scratch.folder, 'report.json');
  const counter = scratch.write('count.mjs', counterText(report));
  const args = ['start', workflow, '--json', '--state-dir', path.join(scratch.folder, 'state')];
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--import', counter, program, ...args],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  const logged = (event: string): number => lines.filter((line) => line.includes(`"event":"${event}"`)).length;
  const isOver = mode === 'review' ? 'change_in_review' : 'workspace_removed';
  try {
    await until(() => logged('orchestrator_started') > 0 && linear.requests.length > 0, lines);
    let before: Counted | null = null;
    for (let index = 0; index <= issueCount; index += 1) {
      linear.addIssue({ title: `Issue ${index}` });
      await until(() => logged(isOver) > index, lines);
      // What follows the end of a run is written within a moment.
      await sleep(systemClock, 1_000);
      if (index === 0)
        before = { ...(await counted(child, report)), requests: linear.requests.length, logLines: lines.length };
    }
    const after = { ...(await counted(child, report)), requests: linear.requests.length, logLines: lines.length };
    const mean = (of: keyof Counted): number => (after[of] - (before?.[of] ?? 0)) / issueCount;
    return {
      processes: mean('processes'),
      commits: mean('commits'),
      files: mean('files'),
      procReads: mean('procReads'),
      requests: mean('requests'),
      logLines: mean('logLines'),
    };
  } finally {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
  }
}

type Counted = { -readonly [Name in keyof WorkPerIssue]: number };

async function counted(
  child: ChildProcess,
  report: string,
): Promise<Pick<Counted, 'processes' | 'commits' | 'files' | 'procReads'>> {
  rmSync(report, { force: true });
  child.kill('SIGUSR2');
  await until(() => existsSync(report), []);
  return JSON.parse(readFileSync(report, 'utf8')) as Counted;
}

async function until(isSo: () => boolean, lines: readonly string[]): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`it took too long\n${lines.slice(-10).join('\n')}`);
    await sleep(systemClock, 5);
  }
}

/** Finishes its issue, or commits and leaves it to the review. */
function agentText(port: number, mode: CountedMode): string {
  if (mode === 'review')
    return `import { execSync } from 'node:child_process';
execSync('echo hi > new-$BATON_ISSUE_IDENTIFIER; git add -A; git commit -qm Work', { shell: '/bin/sh' });
`;
  return `import { get } from 'node:http';
get('http://127.0.0.1:${port}/' + process.env.BATON_ISSUE_ID, { agent: false }, (answer) => answer.resume());
`;
}

function makeSource(scratch: Scratch): string {
  const source = path.join(scratch.folder, 'source');
  mkdirSync(source);
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-C', source, '-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...args]);
  git('init', '-q', '-b', 'main');
  git('commit', '-q', '--allow-empty', '-m', 'Start');
  return source;
}

/** Loaded into the daemon before its own program; on SIGUSR2 it writes what it counted. */
function counterText(report: string): string {
  return `import child from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';
const counts = { processes: 0, commits: 0, files: 0, procReads: 0 };
const wrap = (object, name, note) => {
  const real = object[name];
  object[name] = function (...args) {
    note.call(this, args);
    return real.apply(this, args);
  };
};
wrap(child, 'spawn', () => { counts.processes += 1; });
const noteFile = ([file, flags]) => {
  if (typeof flags === 'string' && /[wax]/.test(flags)) return;
  if (String(file).startsWith('/proc/')) counts.procReads += 1;
  else counts.files += 1;
};
for (const name of ['openSync', 'readFileSync', 'readFile', 'open']) wrap(fs, name, noteFile);
for (const name of ['readFile', 'open']) wrap(fs.promises, name, noteFile);
let isInside = false;
const noteSql = (text) => {
  if (/^\\s*begin/i.test(text)) isInside = true;
  else if (/^\\s*rollback/i.test(text)) isInside = false;
  else if (/^\\s*commit/i.test(text)) {
    isInside = false;
    counts.commits += 1;
  } else if (!isInside && /^\\s*(insert|update|delete)/i.test(text)) counts.commits += 1;
};
for (const name of ['run', 'all', 'get']) wrap(StatementSync.prototype, name, function () { noteSql(this.sourceSQL); });
wrap(DatabaseSync.prototype, 'exec', ([text]) => noteSql(text));
syncBuiltinESMExports();
process.on('SIGUSR2', () => {
  fs.writeFileSync(${JSON.stringify(`${report}.new`)}, JSON.stringify(counts));
  fs.renameSync(${JSON.stringify(`${report}.new`)}, ${JSON.stringify(report)});
});
`;
}
