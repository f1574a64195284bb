import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { systemClock } from '../src/clock/system-clock.ts';
import { runToEnd } from '../src/process/run-to-end.ts';
import { type BuiltBaton, buildBaton } from './built-baton.ts';
import { LiveDaemon } from './live-daemon.ts';
import { percentile } from './measure.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';

const rounds = 25;
const files = 2_000;
const fileBytes = 5_000;
/** The shortest realistic run. */
const runSeconds = 3;

/**
 * From the exit of an agent that has committed to its change standing in review: the end of its processes, what is left
 * uncommitted, the publication of its branch, the pull request and the move of its issue. Compared with the git commands
 * that a person would type for the same, in turns: what is left uncommitted, which commits are new, which files they
 * change, the push of the branch with its objects checked and on the disk, and where branch and base are now.
 *
 * Both work trees are as old as the run when the commit is made: git reads every file again that was written in the second
 * of its index.
 */
export async function benchReview(): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  const source = path.join(scratch.folder, 'source');
  await makeSource(source);
  const bare = await bareSide(scratch.folder, source);
  using built = await buildBaton();
  const { batons, bares } = await inTurns(scratch, built, bare);
  const [seen, base] = [percentile(batons, 0.5), percentile(bares, 0.5)];
  return [
    {
      what: `from an agent's exit to its change standing in review, ${files.toLocaleString('en')} files, median of ${rounds}`,
      seen: `${seen.toFixed(0)} ms (p99 ${percentile(batons, 0.99).toFixed(0)})`,
      aim: '1.30 times',
      ratio: ratioOf(
        seen,
        base,
        `\`git status\`, \`git rev-list\`, \`git diff\`, \`git push\` and \`git for-each-ref\` (${base.toFixed(0)} ms)`,
      ),
    },
  ];
}

async function inTurns(scratch: Scratch, built: BuiltBaton, bare: BareSide) {
  const { folder } = scratch;
  const stateDir = path.join(folder, 'state');
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const agent = scratch.write(
    'agent.sh',
    `cat >/dev/null\nsleep ${runSeconds}\n${changeAndCommit('$BATON_ISSUE_ID')}\ndate +%s%N > '${folder}/ended'\n`,
  );
  const settings = {
    project: { name: 'bench' },
    tracker: { kind: 'board' },
    polling: { interval_ms: 3_600_000 },
    workspace: { root: 'workspaces', repo: 'source', base: 'main' },
    agent: { backend: 'command', command: `exec sh '${agent}'`, after_success: 'review', isolation: 'none' },
  };
  const workflow = scratch.write('WORKFLOW.md', `---\n${JSON.stringify(settings)}\n---\nWork.\n`);
  await using daemon = new LiveDaemon(built, workflow, folder);
  await daemon.logged('orchestrator_started');
  const [batons, bares]: [number[], number[]] = [[], []];
  for (let round = -1; round < rounds; round += 1) {
    const measureBare = await bare(`bare-${round + 1}`);
    const args = ['issue', 'add', `Issue ${round}`, '--json', '--workflow', workflow, '--state-dir', stateDir];
    const child = spawn(process.execPath, [built.program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    if (code !== 0) throw new Error(`baton issue add ended with ${code}: ${said}`);
    const { issue } = JSON.parse(said) as { issue: { id: string } };
    const standsAt = (): number | null => movedAt(stateDir, issue.id);
    await daemon.until(async () => standsAt() !== null, 'a change never stood in review');
    const took = (standsAt() ?? 0) - Number(readFileSync(path.join(folder, 'ended'), 'utf8')) / 1e6;
    const bareTook = await measureBare();
    // The first of each makes the caches.
    if (round === -1) continue;
    batons.push(took);
    bares.push(bareTook);
  }
  return { batons, bares };
}

/** When the change of an issue began to stand in review; null: not yet. */
function movedAt(stateDir: string, issueId: string): number | null {
  const database = new DatabaseSync(path.join(stateDir, 'baton.db'), { timeout: 5_000, readOnly: true });
  try {
    const row = database.prepare('select moved_at from pull_requests where issue_id = ?').get(issueId);
    return (row?.moved_at as number | null | undefined) ?? null;
  } finally {
    database.close();
  }
}

/** Shell text: ten changed files and a new one, in one commit. */
function changeAndCommit(name: string): string {
  const changed = Array.from({ length: 10 }, (_, at) => `echo "${name}" >> d${at}/f${at}`);
  return [...changed, `echo "${name}" > "new-${name}"`, 'git add -A', `git commit -q -m "Work on ${name}"`].join('\n');
}

/** Makes a worktree; then, some seconds later, commits there and measures. */
type BareSide = (name: string) => Promise<() => Promise<number>>;

async function bareSide(scratch: string, source: string): Promise<BareSide> {
  const cache = path.join(scratch, 'bare-cache.git');
  await git(scratch, 'clone', '-q', '--bare', source, cache);
  return async (name) => {
    const folder = path.join(scratch, 'bare', name);
    const branch = `bare/${name}`;
    await git(cache, 'worktree', 'add', '-q', '-b', branch, folder, 'main');
    return async () => {
      await run(folder, 'sh', '-c', changeAndCommit(name));
      const began = performance.now();
      await git(folder, 'status', '--porcelain');
      await git(folder, 'rev-list', 'main..HEAD');
      await git(folder, 'diff', '--name-only', 'main...HEAD');
      await git(folder, 'push', '-q', source, `HEAD:refs/heads/${branch}`);
      await git(source, 'for-each-ref', '--format=%(objectname) %(refname)', `refs/heads/${branch}`, 'refs/heads/main');
      return performance.now() - began;
    };
  };
}

async function makeSource(source: string): Promise<void> {
  mkdirSync(source, { recursive: true });
  await git(source, 'init', '-q', '-b', 'main');
  await git(source, 'config', 'receive.fsckObjects', 'true');
  await git(source, 'config', 'core.fsync', 'all');
  for (let at = 0; at < files; at += 1) {
    const file = path.join(source, `d${at % 40}`, `f${at}`);
    mkdirSync(path.dirname(file), { recursive: true });
    const line = `${at} ${(at * 7_919).toString(36)} of the source\n`;
    writeFileSync(file, line.repeat(Math.ceil(fileBytes / line.length)));
  }
  await git(source, 'add', '-A');
  await git(source, 'commit', '-q', '-m', 'all of it');
}

/** Runs git as a person would, with an identity for commits. */
function git(cwd: string, ...args: readonly string[]): Promise<void> {
  return run(cwd, 'git', ...args);
}

async function run(cwd: string, command: string, ...args: readonly string[]): Promise<void> {
  const who = { GIT_AUTHOR_NAME: 'Bench', GIT_AUTHOR_EMAIL: 'bench@example.invalid' };
  const committer = { GIT_COMMITTER_NAME: who.GIT_AUTHOR_NAME, GIT_COMMITTER_EMAIL: who.GIT_AUTHOR_EMAIL };
  const env = { PATH: process.env.PATH ?? '', HOME: cwd, ...who, ...committer };
  const request = { command, args, cwd, env, runId: 'bench', timeoutMs: 120_000 };
  const deps = { clock: systemClock, containment: 'group_only', daemonId: 'bench' } as const;
  const { code, stderr } = await runToEnd(request, deps);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
