import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { soon } from './live-daemon.ts';
import { baton, type Ended, jsonLines, leaveNoPlaces, Place, startBaton } from './run-baton.ts';

const identifiers = Array.from({ length: 8 }, (_, at) => `WORDS-${at + 1}`);

leaveNoPlaces();

describe('baton demo --once --json', () => {
  const place = new Place();
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
  }, 120_000);

  const project = path.join(place.folder, 'demo', 'project');
  const git = (...args: string[]): string => execFileSync('git', ['-C', project, ...args], { encoding: 'utf8' });
  const rowsOf = (identifier: string) => rows.filter((row) => row.identifier === identifier);

  it('carries eight tickets through, and leaves nothing running', () => {
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(rows.at(-1)).toEqual({
      summary: { tickets: 8, done: 8, runs: 9, failed: 1, folder: path.dirname(project) },
    });
    expect(place.pids()).toEqual([]);
    expect(readdirSync(place.temporary)).toEqual([]);
  });

  it('tells each ticket from its first look to its end, one JSON object a line', () => {
    for (const row of rows.slice(0, -1)) {
      expect(Object.keys(row)).toEqual(['time', 'identifier', 'title', 'state', 'status', 'detail']);
      expect(row.status).toMatch(/^(waiting|running|retrying|review|done)$/);
    }
    for (const identifier of identifiers) {
      expect(rowsOf(identifier).some(({ status }) => status === 'running')).toBe(true);
      expect(rowsOf(identifier).at(-1)).toMatchObject({ state: 'done', status: 'done', detail: '' });
    }
  });

  it('never runs more than three agents at a time', () => {
    const running = new Set<unknown>();
    const most = rows.map(({ identifier, status }) => {
      if (status === 'running') running.add(identifier);
      else running.delete(identifier);
      return running.size;
    });
    expect(Math.max(...most)).toBe(3);
  });

  it('fails WORDS-4 once, and brings it through at the second try', () => {
    const all = rowsOf('WORDS-4');
    const failure = all.findIndex(({ status }) => status === 'retrying');
    expect(all[failure]).toMatchObject({ detail: expect.stringContaining('connection reset') });
    expect(all.slice(failure).some(({ detail }) => String(detail).startsWith('retry 1: '))).toBe(true);
    const log = jsonLines(place.read('demo/log/baton.log')).filter((line) => line.issue_identifier === 'WORDS-4');
    expect(log.filter(({ msg }) => msg === 'A run failed.')).toHaveLength(1);
    expect(log.filter(({ msg }) => msg === 'A run ended well.')).toHaveLength(1);
  });

  it('starts WORDS-5 only when WORDS-2 is done, and on top of it', () => {
    expect(rowsOf('WORDS-5')[0]).toMatchObject({
      status: 'waiting',
      detail: expect.stringMatching(/^it waits for WORDS-2 \((todo|in_progress)\)$/),
    });
    const started = rows.findIndex(({ identifier, status }) => identifier === 'WORDS-5' && status === 'running');
    const done = rows.findIndex(({ identifier, state }) => identifier === 'WORDS-2' && state === 'done');
    expect(done).toBeGreaterThan(-1);
    expect(started).toBeGreaterThan(done);
    expect(git('log', '--format=%s', 'baton/words-5')).toContain('WORDS-2: Add slugify');
  });

  it('leaves a branch a ticket in the repository, with its commit', () => {
    const branches = git('for-each-ref', '--format=%(refname:short)', 'refs/heads').trim().split('\n');
    expect(branches).toEqual([...identifiers.map((identifier) => `baton/${identifier.toLowerCase()}`), 'main']);
    for (const identifier of identifiers) {
      const [newest] = git('log', '--format=%an: %s', `baton/${identifier.toLowerCase()}`).split('\n');
      expect(newest).toMatch(new RegExp(`^Rehearsal: ${identifier}: `));
    }
    const merges = git('log', '--merges', '--format=%an: %s', 'main').trim().split('\n').toSorted();
    expect(merges.map((merge) => merge.replace(/:[^:]*$/, ''))).toEqual(
      identifiers.map((id) => `Baton demo: Merge ${id}`),
    );
  });

  it('has made code whose tests pass', () => {
    const checkout = path.join(place.folder, 'checkout');
    git('worktree', 'add', '--quiet', '--detach', checkout, 'main');
    const env = { PATH: process.env.PATH };
    const report = execFileSync(process.execPath, ['--test', '--test-reporter=tap'], {
      cwd: checkout,
      env,
      encoding: 'utf8',
    });
    expect(report).toMatch(/^# pass 7$/m);
    expect(report).toMatch(/^# fail 0$/m);
  });

  it('has written down every run and every move, by whom', async () => {
    const where = ['--json', '--workflow', 'demo/WORKFLOW.md', '--state-dir', 'demo/state'];
    const { runs } = JSON.parse((await baton(place, 'runs', 'list', ...where)).stdout);
    expect(runs.map(({ outcome }: { outcome: string }) => outcome).toSorted()).toEqual([
      'failed',
      ...Array(8).fill('succeeded'),
    ]);
    const issue = JSON.parse((await baton(place, 'issue', 'show', 'WORDS-2', ...where)).stdout);
    const moves = issue.history.filter(({ field }: { field: string }) => field === 'status');
    expect(moves.map(({ to, author }: { to: string; author: { kind: string } }) => [to, author.kind])).toEqual([
      ['in_progress', 'orchestrator'],
      ['review', 'run'],
      ['done', 'person'],
    ]);
    const log = await baton(place, 'runs', 'log', 'WORDS-2', '-f', ...where);
    expect(jsonLines(log.stdout).map(({ event }) => event)).toEqual(
      expect.arrayContaining(['session_started', 'tool_called', 'turn_completed']),
    );
  });

  it('writes over nothing that is not its own', async () => {
    place.write('mine/WORKFLOW.md', 'precious');
    const { code, stdout, stderr } = await baton(place, 'demo', '--dir', 'mine');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('demo_failed');
    expect(place.read('mine/WORKFLOW.md')).toBe('precious');
    expect(readdirSync(path.join(place.folder, 'mine'))).toEqual(['WORKFLOW.md']);
  });
});

describe('baton demo in the middle', () => {
  it('stops in order at Ctrl-C: exit code 0, a summary, nothing left', async () => {
    using place = new Place();
    mkdirSync(path.join(place.folder, 'empty'));
    const running = startBaton(place, 'demo', '--dir', 'empty');
    await expect.poll(() => running.stdout(), { timeout: 25_000 }).toContain('WORDS-2 running');
    running.child.kill('SIGINT');
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Baton demo: eight tickets/);
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d WORDS-5 waiting +it waits for WORDS-2/m);
    expect(stdout).toMatch(/^\d of 8 tickets done in \d+ runs; (1 run|\d runs) failed\.$/m);
    expect(stdout).toMatch(/^ {2}WORDS-7 is left: /m);
    expect(stdout.trimEnd().split('\n').at(-1)).toContain('baton.log');
    expect(place.pids()).toEqual([]);
  });

  it('goes on where it was killed, twice, with one commit a ticket, and begins anew when all is done', async () => {
    using place = new Place();
    const folder = path.join(place.state, 'baton', 'demo');
    // Killed when work was committed and not handed over: whoever begins again would commit it again.
    await killWhen(place, () => expect(committedIn(folder)).not.toEqual([]));
    // And in the middle of everything: some are done, some are at work, some wait.
    await killWhen(place, (stdout) => expect(stdout).toMatch(/WORDS-\d done/));
    const last = jsonLines((await baton(place, 'demo', '--once', '--json')).stdout);
    expect(last.at(-1)?.summary).toMatchObject({ tickets: 8, done: 8 });
    expect(place.pids()).toEqual([]);
    const subjects = (branch: string, ...flags: string[]): string[] =>
      execFileSync('git', ['-C', path.join(folder, 'project'), 'log', '--format=%s', ...flags, branch], {
        encoding: 'utf8',
      })
        .trim()
        .split('\n');
    const ofTickets = (subject: string): boolean => /^WORDS-\d: /.test(subject);
    const ticketsIn = (branch: string): string[] =>
      subjects(branch, '--no-merges')
        .filter(ofTickets)
        .map((subject) => subject.split(':')[0] ?? '')
        .toSorted();
    expect(ticketsIn('main')).toEqual(identifiers);
    expect(subjects('main', '--no-merges')).toHaveLength(9);
    const merged = subjects('main', '--merges', '--first-parent').map((subject) => /WORDS-\d/.exec(subject)?.[0]);
    expect(merged.toSorted()).toEqual(identifiers);
    for (const identifier of identifiers) {
      const own = ticketsIn(`baton/${identifier.toLowerCase()}`).filter((each) => each === identifier);
      expect(own).toEqual([identifier]);
    }

    const anew = startBaton(place, 'demo');
    await expect.poll(() => anew.stdout(), { timeout: 25_000 }).toContain('The last demo is over; it is kept in');
    await expect.poll(() => anew.stdout(), { timeout: 25_000 }).toContain('WORDS-2 running');
    anew.child.kill('SIGINT');
    expect(await anew.ended).toMatchObject({ code: 0 });
  }, 120_000);

  it('stops when whoever reads its output has gone', async () => {
    using place = new Place();
    const running = startBaton(place, 'demo');
    await expect.poll(() => running.stdout(), { timeout: 25_000 }).toContain('WORDS-2 running');
    running.child.stdout?.destroy();
    expect(await running.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(place.pids()).toEqual([]);
  });
});

/** Starts the demo, and kills it when the check holds. */
async function killWhen(place: Place, check: (stdout: string) => void): Promise<void> {
  const running = startBaton(place, 'demo');
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
