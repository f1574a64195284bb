// @module-tag full
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { batonHere } from '../cli/baton-here.ts';
import { answer, soon } from '../cli/live-daemon.ts';
import { baton, type Ended, jsonLines, leaveNoPlaces, Place, startBaton } from '../cli/run-baton.ts';

const identifiers = Array.from({ length: 10 }, (_, at) => `WORDS-${at + 1}`);

interface Run {
  readonly issue_identifier: string;
  readonly outcome: string;
  readonly error_code: string | null;
  readonly retry_kind: string | null;
  readonly attempt: number | null;
  readonly thread_id: string | null;
  readonly account: string | null;
  readonly role: string;
  readonly phase: string | null;
  readonly started_at: string;
  readonly ended_at: string;
}

leaveNoPlaces();

const where = ['--workflow', 'demo/WORKFLOW.md', '--state-dir', 'demo/state'];

describe('baton demo --once --json', () => {
  // As an agent of another Baton would start it.
  const place = new Place({ BATON_RUN_ID: '01234567-89ab-4cde-8f01-23456789abcd' });
  let ended: Ended;
  let rows: Record<string, unknown>[];
  beforeAll(async () => {
    // A person who signs every commit must not be asked for a key by a demo.
    place.write(
      'home/.gitconfig',
      '[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = false\n[user]\n\tsigningkey = nobody\n',
    );
    ended = await baton(place, 'demo', '--once', '--json', '--dir', 'demo');
    rows = jsonLines(ended.stdout);
  }, 300_000);

  const project = path.join(place.folder, 'demo', 'project');
  const git = (...args: string[]): string => execFileSync('git', ['-C', project, ...args], { encoding: 'utf8' });
  const rowsOf = (identifier: string) => rows.filter((row) => row.identifier === identifier);

  it('finishes ten issues and leaves no process running', { tags: ['smoke'] }, () => {
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(rows.at(-1)).toEqual({
      summary: { issues: 10, done: 10, runs: 21, failed: 1, out_of_quota: 2, folder: path.dirname(project) },
    });
    expect(place.pids()).toEqual([]);
    expect(readdirSync(place.temporary)).toEqual([]);
  });

  it('prints each issue from its first poll to its end, one JSON object per line', () => {
    const said = rows.slice(0, -1).filter((row) => !('status' in row));
    expect(said.map(({ identifier }) => identifier).toSorted()).toEqual(['WORDS-10', 'WORDS-3', 'WORDS-6', 'WORDS-6']);
    for (const row of rows.slice(0, -1).filter((each) => !said.includes(each))) {
      expect(Object.keys(row)).toEqual([
        'time',
        'identifier',
        'title',
        'state',
        'phase',
        'status',
        'detail',
        'code',
        'until',
      ]);
      expect(row.status).toMatch(/^(waiting|running|asking|retrying|waiting_quota|review|done)$/);
    }
    for (const identifier of identifiers) {
      expect(rowsOf(identifier).some(({ status }) => status === 'running')).toBe(true);
      expect(rowsOf(identifier).at(-1)).toMatchObject({ state: 'done', status: 'done', detail: '' });
    }
  });

  it('never runs more than three agents at a time, apart from a judge', async () => {
    const { runs }: { runs: Run[] } = await answer(place, 'runs', 'list', '--limit', '100', ...where);
    const besides = runs.map(({ started_at }) =>
      runs.filter((run) => run.started_at <= started_at && run.ended_at > started_at),
    );
    const most = (isCounted: (run: Run) => boolean) => Math.max(...besides.map((all) => all.filter(isCounted).length));
    expect(most(({ role }) => role !== 'phase_judge')).toBe(3);
    expect(most(() => true)).toBeLessThanOrEqual(4);
  });

  it('takes WORDS-7 through all phases, its design twice, and WORDS-8 only through the first', async () => {
    const { runs }: { runs: Run[] } = await answer(place, 'runs', 'list', '--limit', '100', ...where);
    const of = (identifier: string) =>
      runs.flatMap(({ issue_identifier, role, phase }) => (issue_identifier === identifier ? [[role, phase]] : []));
    expect(of('WORDS-7').toReversed()).toEqual([
      ['phase', 'research'],
      ['phase', 'architecture'],
      ['phase_judge', 'architecture'],
      ['phase', 'architecture'],
      ['phase_judge', 'architecture'],
      ['phase', 'grooming'],
      ['worker', null],
    ]);
    expect(of('WORDS-8').toReversed()).toEqual([
      ['phase', 'research'],
      ['worker', null],
    ]);
  });

  it('fails WORDS-4 once and finishes it on the second try', () => {
    const all = rowsOf('WORDS-4');
    const failure = all.findIndex(({ status }) => status === 'retrying');
    expect(all[failure]).toMatchObject({ detail: expect.stringContaining('connection reset') });
    expect(all.slice(failure).some(({ detail }) => String(detail).startsWith('retry 1: '))).toBe(true);
    const log = jsonLines(place.read('demo/log/baton.log')).filter((line) => line.issue_identifier === 'WORDS-4');
    expect(log.filter(({ event }) => event === 'run_failed')).toHaveLength(1);
    expect(log.filter(({ event }) => event === 'run_succeeded')).toHaveLength(1);
  });

  it('starts WORDS-5 only after WORDS-2 is done, based on its work', () => {
    expect(rowsOf('WORDS-5')[0]).toMatchObject({
      status: 'waiting',
      code: 'blocked',
      detail: expect.stringContaining('WORDS-2'),
    });
    const started = rows.findIndex(({ identifier, status }) => identifier === 'WORDS-5' && status === 'running');
    const done = rows.findIndex(({ identifier, state }) => identifier === 'WORDS-2' && state === 'done');
    expect(done).toBeGreaterThan(-1);
    expect(started).toBeGreaterThan(done);
    expect(git('log', '--format=%s', 'baton/words-5')).toContain('WORDS-2: Add slugify');
  });

  // @conforms tools.29
  it('shows WORDS-9 without quota and until when, continues others on the other account, and finishes it', async () => {
    const shown = rowsOf('WORDS-9').filter(({ status }) => status === 'waiting_quota');
    expect(shown[0]).toMatchObject({ code: 'waiting_quota', state: 'in_progress' });
    const { time, until, detail } = shown[0] ?? {};
    expect(Date.parse(String(until))).toBeGreaterThan(Date.parse(String(time)));
    // When it goes on, and which account has no quota.
    expect(detail).toMatch(new RegExp(`(?:main|spare).* ${String(until).slice(11, 19)}$`));
    const { runs }: { runs: Run[] } = await answer(place, 'runs', 'list', '--limit', '100', ...where);
    const own = runs.filter(({ issue_identifier }) => issue_identifier === 'WORDS-9').toReversed();
    expect(own.map(({ outcome, error_code, retry_kind }) => [outcome, error_code, retry_kind])).toEqual([
      ['failed', 'agent_quota_exhausted', null],
      ['failed', 'agent_quota_exhausted', 'quota'],
      ['succeeded', null, 'quota'],
    ]);
    // What it had written is not written again: the same thread goes on.
    expect(new Set(own.map(({ thread_id }) => thread_id)).size).toBe(1);
    expect(own.map(({ attempt }) => attempt)).toEqual([null, null, null]);
    const [first] = own;
    const others = runs.filter(({ issue_identifier }) => issue_identifier !== 'WORDS-9');
    const meanwhile = others.filter(({ ended_at }) => ended_at > (first?.ended_at ?? ''));
    expect(meanwhile.length).toBeGreaterThan(0);
    expect(meanwhile.filter(({ outcome }) => outcome !== 'succeeded')).toEqual([]);
    expect(others.filter(({ account }) => account === 'spare').length).toBeGreaterThan(0);
  });

  // @conforms tools.28
  it('answers the question of WORDS-10 in place of a person, and says so', async () => {
    const all = rowsOf('WORDS-10');
    const asks = all.findIndex(({ status }) => status === 'asking');
    expect(all[asks]).toMatchObject({
      detail: expect.stringMatching(/^Shall I start, or read all of the code first\? \(start/),
    });
    const said = all.slice(asks).find((row) => 'answer' in row);
    expect(said).toMatchObject({ question: 'Shall I start, or read all of the code first?', answer: 'start' });
    const { questions } = await answer(place, 'ask', 'list', '--all', ...where);
    expect(questions).toMatchObject([
      {
        issue_identifier: 'WORDS-10',
        state: 'answered',
        answer: { author: { kind: 'person', name: said?.answered_by } },
      },
    ]);
  });

  // @conforms dashboard.52
  it('approves one change and sends one back in place of a person, whose words arrive in the next round', async () => {
    expect(rowsOf('WORDS-3').find((row) => 'approved' in row)).toMatchObject({ approved: true });
    const [sent, merged] = rowsOf('WORDS-6').filter((row) => 'sent_back' in row || 'approved' in row);
    expect(sent).toMatchObject({ comments: [{ path: 'src/reverse.js', line: 2 }] });
    expect(merged).toMatchObject({ approved: true, words_arrived: true });
    const { pull } = await answer(place, 'pr', 'show', 'WORDS-6', ...where);
    expect(pull).toMatchObject({ status: 'merged', times_sent_back: 1 });
    expect(pull.rounds[0].said.map(({ kind, status }: Record<string, string>) => [kind, status])).toEqual([
      ['note', 'delivered'],
      ['review_comment', 'delivered'],
    ]);
    const words = git('show', 'main:docs/reviews/WORDS-6.md');
    expect(words.trimEnd().split('\n')).toEqual([sent?.sent_back, expect.stringMatching(/^src\/reverse\.js:2: \S/)]);
    expect(git('show', 'main:src/reverse.js')).toContain('[...text]');
  });

  it('leaves one branch per issue in the repository, with its commit', () => {
    const branches = git('for-each-ref', '--format=%(refname:short)', 'refs/heads').trim().split('\n');
    expect(branches.toSorted()).toEqual(
      [...identifiers.map((identifier) => `baton/${identifier.toLowerCase()}`), 'main'].toSorted(),
    );
    for (const identifier of identifiers) {
      const [newest] = git('log', '--format=%an: %s', `baton/${identifier.toLowerCase()}`).split('\n');
      expect(newest).toMatch(new RegExp(`^Rehearsal: .*${identifier}\\b`));
    }
    const merges = git('log', '--merges', '--format=%an: %s', 'main').trim().split('\n').toSorted();
    expect(merges.map((merge) => merge.replace(/:[^:]*$/, '')).toSorted()).toEqual(
      identifiers.map((id) => `Baton demo: Merge ${id}`).toSorted(),
    );
  });

  it('produces code whose tests pass', () => {
    const checkout = path.join(place.folder, 'checkout');
    git('worktree', 'add', '--quiet', '--detach', checkout, 'main');
    const env = { PATH: process.env.PATH };
    const report = execFileSync(process.execPath, ['--test', '--test-reporter=tap'], {
      cwd: checkout,
      env,
      encoding: 'utf8',
    });
    expect(report).toMatch(/^# pass 9$/m);
    expect(report).toMatch(/^# fail 0$/m);
  });

  it('stores every run and every move with its author', async () => {
    const { runs } = await answer(place, 'runs', 'list', '--limit', '100', ...where);
    expect(runs.map(({ outcome }: { outcome: string }) => outcome).toSorted()).toEqual([
      ...Array(3).fill('failed'),
      ...Array(18).fill('succeeded'),
    ]);
    const issue = await answer(place, 'issue', 'show', 'WORDS-2', ...where);
    const moves = issue.history.filter(({ field }: { field: string }) => field === 'status');
    expect(moves.map(({ to, author }: { to: string; author: { kind: string } }) => [to, author.kind])).toEqual([
      ['in_progress', 'orchestrator'],
      ['review', 'orchestrator'],
      ['done', 'person'],
    ]);
    const { pulls } = await answer(place, 'pr', 'list', '--all', ...where);
    expect(pulls.map(({ status, checks }: { status: string; checks: string }) => [status, checks])).toEqual(
      Array(10).fill(['merged', 'green']),
    );
    const log = await batonHere(place, 'runs', 'log', 'WORDS-2', '-f', '--json', ...where);
    expect(jsonLines(log.stdout).map(({ event }) => event)).toEqual(
      expect.arrayContaining(['session_started', 'tool_call_completed', 'turn_completed']),
    );
  });

  it('overwrites no foreign files', async () => {
    place.write('mine/WORKFLOW.md', 'precious');
    const { code, stdout, stderr } = await baton(place, 'demo', '--json', '--dir', 'mine');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const details = { problem: 'folder_not_empty', folder: path.join(place.folder, 'mine') };
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'demo_failed', details } });
    expect(place.read('mine/WORKFLOW.md')).toBe('precious');
    expect(readdirSync(path.join(place.folder, 'mine'))).toEqual(['WORKFLOW.md']);
  });
});

/** As `--once` has it. */
const atSpeed = { BATON_REHEARSAL_SPEED: '10' };

describe('interrupting baton demo', () => {
  it('stops in order on Ctrl-C: exit code 0, a summary, no process left', async () => {
    using place = new Place(atSpeed);
    mkdirSync(path.join(place.folder, 'empty'));
    const running = startBaton(place, 'demo', '--dir', 'empty');
    await expect.poll(() => running.stdout()).toMatch(/^\d\d:\d\d:\d\d WORDS-2 /m);
    running.child.kill('SIGINT');
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(` ${path.join(place.folder, 'empty')}\n`);
    expect(stdout).toMatch(/ http:\/\/127\.0\.0\.1:\d+\n/);
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d WORDS-5 .*WORDS-2/m);
    // Issues that are done, issues, runs, runs that failed, runs without quota.
    expect(stdout).toMatch(/^\d \D+ 10 \D+ \d+ \D+ \d \D+ 0 [^\d\n]+$/m);
    expect(stdout).toMatch(/^ {2}WORDS-7 .*: /m);
    // The command as it can be typed; from a clone it begins with the path of `bin/baton`.
    expect(stdout).toMatch(new RegExp(`^ {2}\\S*baton demo --dir ${path.join(place.folder, 'empty')}$`, 'm'));
    expect(stdout.trimEnd().split('\n').at(-1)).toContain('baton.log');
    expect(place.pids()).toEqual([]);
  });

  // @conforms board.23
  it('continues where it was killed, twice, with one commit per issue, and starts again when all is done', async () => {
    using place = new Place(atSpeed);
    const folder = path.join(place.state, 'baton', 'demo');
    // Killed when work was committed and not handed over: a new run that starts over would commit it again.
    await killWhen(place, () => expect(committedIn(folder)).not.toEqual([]));
    // And in the middle of everything: some are done, some are at work, some wait.
    await killWhen(place, (stdout) => expect(stdout).toContain('"status":"done"'));
    const last = jsonLines((await baton(place, 'demo', '--once', '--json')).stdout);
    expect(last.at(-1)?.summary).toMatchObject({ issues: 10, done: 10 });
    expect(place.pids()).toEqual([]);
    const subjects = (branch: string, ...flags: string[]): string[] =>
      execFileSync('git', ['-C', path.join(folder, 'project'), 'log', '--format=%s', ...flags, branch], {
        encoding: 'utf8',
      })
        .trim()
        .split('\n');
    const ofIssues = (subject: string): boolean => /^WORDS-\d+: /.test(subject);
    const issuesIn = (branch: string): string[] =>
      subjects(branch, '--no-merges')
        .filter(ofIssues)
        .map((subject) => subject.split(':')[0] ?? '')
        .toSorted();
    expect(issuesIn('main')).toEqual(identifiers.toSorted());
    // And the beginning, and the second round of one issue.
    expect(subjects('main', '--no-merges')).toHaveLength(12);
    const merged = subjects('main', '--merges', '--first-parent').map((subject) => /WORDS-\d+/.exec(subject)?.[0]);
    expect(merged.toSorted()).toEqual(identifiers.toSorted());
    for (const identifier of identifiers) {
      const own = issuesIn(`baton/${identifier.toLowerCase()}`).filter((each) => each === identifier);
      expect(own).toEqual([identifier]);
    }

    const anew = startBaton(place, 'demo');
    await expect.poll(() => anew.stdout()).toContain(` ${folder}-finished-1\n`);
    await expect.poll(() => anew.stdout()).toMatch(/^\d\d:\d\d:\d\d WORDS-2 /m);
    // It stops when the reader of its output is gone.
    anew.child.stdout?.destroy();
    expect(await anew.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(place.pids()).toEqual([]);
  }, 300_000);
});

/** Starts the demo, and kills it when the check holds. */
async function killWhen(place: Place, check: (stdout: string) => void): Promise<void> {
  const running = startBaton(place, 'demo', '--json');
  await soon(() => check(running.stdout()));
  running.child.kill('SIGKILL');
  expect(await running.ended).toMatchObject({ signal: 'SIGKILL' });
}

/** The workspaces of a demo in which an agent has made a commit. */
function committedIn(folder: string): string[] {
  const workspaces = path.join(folder, 'workspaces');
  return readdirSync(workspaces).filter((name) => {
    const file = path.join(workspaces, name, '.git');
    const gitDir = existsSync(file) ? readFileSync(file, 'utf8').replace('gitdir: ', '').trim() : '';
    const moves = path.join(gitDir, 'logs', 'HEAD');
    return existsSync(moves) && readFileSync(moves, 'utf8').includes(`commit: ${name}: `);
  });
}
