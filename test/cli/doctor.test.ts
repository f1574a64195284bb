import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commit, git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { batonHere } from './baton-here.ts';
import { baton, batonCommand, type Ended, leaveNoPlaces, Place, startProgram, workflowText } from './run-baton.ts';

leaveNoPlaces();

describe.concurrent('baton doctor', () => {
  it('tells of the machine, one line a thing', async () => {
    using place = new Place();
    const { code, stdout, stderr } = await baton(place, 'doctor');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of ['node', 'git', 'process custody', 'temporary files'])
      expect(stdout).toMatch(new RegExp(`^ok {3}${name} `, 'm'));
    expect(place.pids()).toEqual([]);
  });

  it('tells of a workflow file too, as JSON', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', workflowText('exec sh'));
    const { code, stdout, stderr } = await baton(place, 'doctor', 'WORKFLOW.md', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { healthy, findings } = JSON.parse(stdout);
    expect(healthy).toBe(true);
    expect(findings.map(({ name }: { name: string }) => name)).toEqual([
      ...['node', 'git', 'process custody', 'temporary files'],
      ...['workflow file', 'workspace root', 'state folder', 'repository', 'memory', 'agent program'],
    ]);
    for (const finding of findings) expect(finding).toMatchObject({ ok: true, mend: null, detail: expect.any(String) });
  });

  it('fails for an agent program that is not there, and says what mends it', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', workflowText('KEY=1 no-such-agent --flag'));
    const { code, stdout } = await batonHere(place, 'doctor', 'WORKFLOW.md');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^FAIL agent program .*"no-such-agent" is not on the PATH\n +mend it with: +install no-such-agent/m,
    );
    const json = await batonHere(place, 'doctor', 'WORKFLOW.md', '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      healthy: false,
      findings: expect.arrayContaining([
        { name: 'agent program', ok: false, detail: expect.any(String), mend: expect.any(String) },
      ]),
    });
  });

  it.each(['cd . && sh', '"sh" -c true', '$HOME/bin/agent', 'if true; then sh; fi'])(
    'does not call the shell text %j missing',
    async (command) => {
      using place = new Place();
      place.write('WORKFLOW.md', workflowText(command));
      const { code, stdout } = await batonHere(place, 'doctor', 'WORKFLOW.md');
      expect(stdout).toMatch(/^ok {3}agent program /m);
      expect(code).toBe(0);
    },
  );

  it('fails for a bad or missing workflow file and names the command that tells more', async () => {
    using place = new Place();
    const { code, stdout } = await batonHere(place, 'doctor', 'nowhere.md');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^FAIL workflow file .*missing_workflow_file\]\n +mend it with: +baton validate '.*nowhere\.md'$/m,
    );
  });

  it('fails for a machine without git, and says what mends it', async () => {
    using place = new Place();
    place.write('bin/keep', '');
    for (const program of ['sh', 'node'])
      symlinkSync(program === 'sh' ? '/bin/sh' : process.execPath, path.join(place.folder, 'bin', program));
    using poor = new Place({ PATH: path.join(place.folder, 'bin') });
    const { code, stdout } = await batonHere(poor, 'doctor');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL git .*\n +mend it with: +install git/m);
    expect(stdout).toMatch(/^ok {3}process custody +marker_sweep/m);
  });

  it.each([
    ['git version 2.35.9', false],
    ['git version 1.99.0', false],
    ['git version 2.36.0', true],
    ['git version 2.100.0 (a vendor 7)', true],
    ['git version 3.0.rc1', true],
    ['nonsense', false],
  ])('judges the git that calls itself %j', async (version, isFit) => {
    using place = new Place();
    chmodSync(place.write('bin/git', `#!/bin/sh\necho '${version}'\n`), 0o755);
    using other = new Place({ PATH: `${place.folder}/bin:${process.env.PATH}` });
    const { code, stdout } = await batonHere(other, 'doctor');
    expect(code).toBe(isFit ? 0 : 1);
    expect(stdout).toMatch(
      isFit ? /^ok {3}git +git version/m : /^FAIL git .*\n +mend it with: +install git 2\.36 or later/m,
    );
  });

  it('fails for a workspace root that cannot be written', async () => {
    using place = new Place();
    place.write('workspaces', 'a file where a folder should be');
    place.write('WORKFLOW.md', workflowText('sh'));
    const { code, stdout } = await batonHere(place, 'doctor', 'WORKFLOW.md');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL workspace root .*\n +mend it with: /m);
  });
});

interface Line {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly mend: string | null;
}

interface Seen {
  readonly code: number | null;
  readonly findings: Readonly<Record<string, Line>>;
  readonly text: string;
}

const isRoot = process.getuid?.() === 0;

/** What the doctor says of a workflow with these settings of the workspace, by the names of its lines. */
async function examine(place: Place, workspace: string, run = runDoctor): Promise<Seen> {
  place.write('WORKFLOW.md', workflowText('sh').replace('{root: workspaces}', `{root: workspaces, ${workspace}}`));
  const { code, stdout, stderr } = await run(place);
  expect(stderr).toBe('');
  const { findings } = JSON.parse(stdout) as { findings: Line[] };
  return { code, text: stdout, findings: Object.fromEntries(findings.map((each) => [each.name, each])) };
}

function runDoctor(place: Place): Promise<Ended> {
  return batonHere(place, 'doctor', 'WORKFLOW.md', '--json');
}

/** Every file below a folder with its time and content: what changed shows. */
function everything(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const file = path.join(folder, name);
      const found = statSync(file);
      return `${name} ${found.mtimeMs} ${found.isFile() ? readFileSync(file, 'latin1') : ''}`;
    });
}

describe.concurrent('baton doctor on a repository', () => {
  it('says plainly that workspaces begin empty without one', async () => {
    using place = new Place();
    const { code, findings } = await examine(place, 'strategy: none');
    expect(code).toBe(0);
    expect(findings.repository?.detail).toBe('none: workspaces begin empty');
    expect(findings['repository write']).toBeUndefined();
  });

  it('tells what a ticket begins at, and changes nothing', async () => {
    using place = new Place();
    const source = scratchRepository(path.join(place.folder, 'source'));
    git(source, 'checkout', '-q', '-b', 'topic/one');
    const topic = commit(source, { 'b.txt': 'x\n' });
    const before = everything(source);
    const byHead = await examine(place, 'repo: source');
    expect(byHead.code).toBe(0);
    expect(byHead.findings.repository?.detail).toBe(
      `${source}: each ticket gets a checkout of its own that begins at topic/one (its HEAD) at ${topic.slice(0, 12)}`,
    );
    expect(byHead.findings['repository write']).toMatchObject({
      ok: true,
      detail: `${source}/.git takes branches and saved work (refs/baton)`,
    });
    const byName = await examine(place, 'repo: source, base: main, strategy: clone');
    expect(byName.findings.repository?.detail).toBe(
      `${source}: each ticket gets a clone of its own that begins at main (workspace.base) at ${git(source, 'rev-parse', '--short=12', 'main')}`,
    );
    expect(everything(source)).toEqual(before);
    expect(existsSync(place.state)).toBe(false);
    expect(place.pids()).toEqual([]);
  });

  it.each<[what: string, make: (source: string) => void]>([
    ['a bare one', (source) => git('/', 'clone', '-q', '--bare', scratchRepository(`${source}-whole`), source)],
    ['a linked worktree', (source) => git(scratchRepository(`${source}-whole`), 'worktree', 'add', '-q', source)],
    ['one with packed references', (source) => git(scratchRepository(source), 'gc', '-q')],
    ['one with other ids', (source) => void scratchRepository(source, ['--object-format=sha256'])],
  ])('takes %s', async (_what, make) => {
    using place = new Place();
    make(path.join(place.folder, 'source'));
    const { code, findings } = await examine(place, 'repo: source');
    expect(findings.repository).toMatchObject({ ok: true, mend: null });
    expect(findings['repository write']).toMatchObject({ ok: true, mend: null });
    expect(code).toBe(0);
  });

  it.each<[what: string, make: (source: string) => void, settings: string, detail: RegExp, mend: RegExp]>([
    ['is not there', () => {}, '', / does not exist\.$/, /workspace\.repo/],
    ['is a folder without git', (source) => mkdirSync(source), '', /folder without a git repository\.$/, /git init/],
    [
      'is only a folder in one',
      (source) => {
        scratchRepository(path.dirname(source));
        mkdirSync(source);
      },
      '',
      /but a folder in one: \S+\.$/,
      /workspace\.repo/,
    ],
    [
      'has no commit',
      (source) => void execFileSync('git', ['init', '-q', source]),
      '',
      /no commit yet\.$/,
      /first commit/,
    ],
    [
      'has not that base',
      (source) => void scratchRepository(source),
      ', base: origin/main',
      /no branch origin\/main: .*plain name/,
      /\(main\?\)/,
    ],
    [
      'is shallow',
      (source) => {
        const whole = scratchRepository(`${source}-whole`);
        commit(whole, { 'b.txt': 'x\n' });
        git('/', 'clone', '-q', '--depth=1', `file://${whole}`, source);
      },
      '',
      /is shallow/,
      /--unshallow/,
    ],
    [
      'has lost its objects',
      (source) => {
        scratchRepository(source);
        rmSync(path.join(source, '.git/objects'), { recursive: true });
        mkdirSync(path.join(source, '.git/objects'));
      },
      '',
      /^The repository .*source /,
      /./,
    ],
  ])('fails for one that %s, and says what mends it', async (_what, make, settings, detail, mend) => {
    using place = new Place();
    make(path.join(place.folder, 'source'));
    const { code, findings } = await examine(place, `repo: source${settings}`);
    expect(code).toBe(1);
    expect(findings.repository).toMatchObject({
      ok: false,
      detail: expect.stringMatching(detail),
      mend: expect.stringMatching(mend),
    });
    expect(findings.repository?.detail).not.toMatch(/access rights/);
    expect(findings['repository write']).toBeUndefined();
  });

  it('fails for a port that is closed, and keeps the password to itself', async () => {
    using place = new Place({ SOURCE: 'http://me:hunter2@127.0.0.1:1/x.git' });
    const { code, findings, text } = await examine(place, 'repo: $SOURCE');
    expect(code).toBe(1);
    expect(findings.repository).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^The repository http:\/\/127\.0\.0\.1:1\/x\.git cannot be reached\. git said: /),
      mend: expect.stringContaining('network'),
    });
    expect(text).not.toContain('hunter2');
  });

  it('does not wait for ever for a host that never answers', async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    using place = new Place({ SOURCE: `http://me:hunter2@127.0.0.1:${port}/x.git` });
    const { code, findings, text } = await examine(place, 'repo: $SOURCE');
    server.close();
    expect(code).toBe(1);
    expect(findings.repository?.detail).toMatch(
      new RegExp(`^http://127\\.0\\.0\\.1:${port}/x\\.git: git ls-remote took longer than`),
    );
    expect(text).not.toContain('hunter2');
    expect(place.pids()).toEqual([]);
  });

  it('fails when there is no git at all', async () => {
    using tools = new Place();
    mkdirSync(path.join(tools.folder, 'bin'));
    symlinkSync('/bin/sh', path.join(tools.folder, 'bin/sh'));
    using place = new Place({ PATH: path.join(tools.folder, 'bin') });
    scratchRepository(path.join(place.folder, 'source'));
    const { code, findings } = await examine(place, 'repo: source');
    expect(code).toBe(1);
    expect(findings.repository).toMatchObject({ ok: false, mend: expect.stringContaining('Install git 2.36') });
  });

  it.each([
    ['the branch baton', ['branch', 'baton'], '', /branch baton is in the way/, /git branch -m/],
    ['the branch a/b', ['branch', 'a/b'], ', branch: "a/b/c-{{ issue.id }}"', /branch a\/b is in the way/, /branch -m/],
    ['refs/baton', ['update-ref', 'refs/baton', 'HEAD'], '', /refs\/baton is in the way/, /another name/],
  ])('fails where %s is in the way, packed or not', async (_what, args, settings, detail, mend) => {
    using place = new Place();
    const source = scratchRepository(path.join(place.folder, 'source'));
    git(source, ...args);
    for (const isPacked of [false, true]) {
      if (isPacked) git(source, 'pack-refs', '--all');
      const { code, findings } = await examine(place, `repo: source${settings}`);
      expect(code).toBe(1);
      expect(findings['repository write']).toMatchObject({
        ok: false,
        detail: expect.stringMatching(detail),
        mend: expect.stringMatching(mend),
      });
    }
  });

  it('finds nothing in the way of branches that were made already', async () => {
    using place = new Place();
    const source = scratchRepository(path.join(place.folder, 'source'));
    git(source, 'branch', 'baton/t-1');
    git(source, 'branch', 'batons');
    git(source, 'update-ref', 'refs/baton/salvage/T-1/run', 'HEAD');
    expect((await examine(place, 'repo: source')).code).toBe(0);
  });

  it.each(['objects', 'refs/heads', 'refs/heads/baton', 'refs/baton', ''])(
    'fails for one whose .git/%s cannot be written',
    async (folder) => {
      using place = new Place();
      const source = scratchRepository(path.join(place.folder, 'source'));
      git(source, 'branch', 'baton/t-1');
      git(source, 'update-ref', 'refs/baton/salvage/T-1/run', 'HEAD');
      const closed = path.join(source, '.git', folder);
      chmodSync(closed, 0o555);
      const { code, findings } = await examine(place, 'repo: source', asOrdinaryUser);
      chmodSync(closed, 0o755);
      expect(findings.repository).toMatchObject({ ok: true });
      expect(findings['repository write']).toMatchObject({
        ok: false,
        detail: expect.stringContaining(`${closed} cannot be written: `),
        mend: expect.stringContaining('let the user that runs Baton write'),
      });
      expect(code).toBe(1);
    },
  );

  it('of strategy none needs no base in it, only room for saved work', async () => {
    using place = new Place();
    const source = path.join(place.folder, 'source');
    execFileSync('git', ['init', '-q', source]);
    const { code, findings } = await examine(place, 'repo: source, strategy: none');
    expect(findings.repository?.detail).toContain('workspaces begin empty');
    expect(findings['repository write']?.detail).toContain('takes saved work');
    expect(code).toBe(0);
    writeFileSync(path.join(source, '.git/HEAD'), 'spoiled');
    expect((await examine(place, 'repo: source, strategy: none')).findings['repository write']).toMatchObject({
      ok: false,
      detail: expect.stringContaining('is no git repository'),
    });
  });
});

/** To root nothing is closed, unless it gives that right up. */
function asOrdinaryUser(place: Place): Promise<Ended> {
  if (!isRoot) return runDoctor(place);
  const without = ['--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-dac_override,-dac_read_search'];
  const command = batonCommand('doctor', 'WORKFLOW.md', '--json');
  return startProgram(place, 'setpriv', [...without, 'sh', '-c', command]).ended;
}
