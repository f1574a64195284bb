import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
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
  it('checks the machine, one line per check', async () => {
    using place = new Place();
    const { code, stdout, stderr } = await baton(place, 'doctor');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of ['node', 'git', 'containment', 'temporary files'])
      expect(stdout).toMatch(new RegExp(`^ok {3}${name} `, 'm'));
    expect(place.pids()).toEqual([]);
  });

  it('also checks a workflow file, and prints JSON', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', workflowText('exec sh'));
    const { code, stdout, stderr } = await baton(place, 'doctor', 'WORKFLOW.md', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { healthy, findings: all } = JSON.parse(stdout);
    expect(healthy).toBe(true);
    // It warns of root, and only of root.
    const ofUser = all.filter(({ check }: Line) => check === 'user').map(({ code }: Line) => code);
    expect(ofUser).toEqual(process.getuid?.() === 0 ? ['root'] : []);
    const findings = all.filter(({ check }: Line) => check !== 'user');
    expect(findings.map(({ check }: Line) => check)).toEqual([
      ...['node', 'git', 'containment', 'isolation', 'temporary_files'],
      ...['workflow_file', 'workspace_root', 'state_folder', 'repository', 'memory', 'agent_program'],
    ]);
    for (const finding of findings)
      expect(finding).toEqual({
        check: expect.any(String),
        status: 'ok',
        code: expect.stringMatching(/^[a-z_]+$/),
        message: expect.stringMatching(/\S/),
        next_step: null,
        details: expect.any(Object),
      });
  });

  // Root may search every folder.
  it.skipIf(process.getuid?.() === 0)('passes over a folder of the PATH that may not be searched', async () => {
    using closed = new Place();
    const bin = path.join(closed.folder, 'bin');
    mkdirSync(bin, { mode: 0o000 });
    using place = new Place({ PATH: `${bin}:${process.env.PATH}` });
    place.write('WORKFLOW.md', workflowText('git --version'));
    const { findings } = seenBy(await batonHere(place, 'doctor', '--json'));
    chmodSync(bin, 0o700);
    expect(findings).toMatchObject({ agent_program: { status: 'ok' } });
  });

  it('names the owner of a folder of another user, and no command that would not help', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', workflowText('true'));
    // Only root can give a folder to another user.
    const canGive = process.getuid?.() === 0;
    mkdirSync(place.state, { mode: 0o500 });
    if (canGive) chownSync(place.state, 12_345, 12_345);
    const { findings } = await examine(place, '', asOrdinaryUser);
    chmodSync(place.state, 0o700);
    const details = canGive ? { owner: 12_345, owned_by_you: false } : { owned_by_you: true };
    expect(findings.state_folder).toMatchObject({ status: 'failed', code: 'not_writable', details });
    expect(findings.state_folder?.next_step?.includes('chmod')).toBe(!canGive);
  });

  it('fails for a missing agent program, with the fix', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', workflowText('KEY=1 no-such-agent --flag'));
    const { code, stdout } = await batonHere(place, 'doctor', 'WORKFLOW.md');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL agent program .*"no-such-agent".*\n {5}.*\bno-such-agent\b/m);
    // The file of this folder, as with every other command.
    const json = await batonHere(place, 'doctor', '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      healthy: false,
      findings: expect.arrayContaining([
        {
          check: 'agent_program',
          status: 'failed',
          code: 'not_on_path',
          message: expect.any(String),
          next_step: expect.stringContaining('no-such-agent'),
          details: { program: 'no-such-agent' },
        },
      ]),
    });
  });

  it.each(['cd . && sh', '"sh" -c true', '$HOME/bin/agent', 'if true; then sh; fi'])(
    'does not report the shell text %j as missing',
    async (command) => {
      using place = new Place();
      place.write('WORKFLOW.md', workflowText(command));
      const { code, findings } = await seenBy(await runDoctor(place));
      expect(findings.agent_program).toMatchObject({ status: 'ok' });
      expect(code).toBe(0);
    },
  );

  it('fails for an invalid or missing workflow file and names the command that shows more', async () => {
    using place = new Place();
    const { code, stdout } = await batonHere(place, 'doctor', 'nowhere.md');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL workflow file .*missing_workflow_file\]\n {5}.*baton init/m);
    const { findings } = seenBy(await batonHere(place, 'doctor', 'nowhere.md', '--json'));
    expect(findings.workflow_file).toMatchObject({
      status: 'failed',
      code: 'unusable',
      details: { problems: [{ code: 'missing_workflow_file', details: { problem: 'not_found' } }] },
    });
  });

  it('fails for a machine without git, with the fix', async () => {
    using place = new Place();
    place.write('bin/keep', '');
    for (const program of ['sh', 'node'])
      symlinkSync(program === 'sh' ? '/bin/sh' : process.execPath, path.join(place.folder, 'bin', program));
    using poor = new Place({ PATH: path.join(place.folder, 'bin') });
    const { code, findings } = seenBy(await batonHere(poor, 'doctor', '--json'));
    expect(code).toBe(1);
    expect(findings.git).toMatchObject({
      status: 'failed',
      code: 'missing',
      next_step: expect.stringContaining('apt-get install git'),
    });
    expect(findings.containment).toMatchObject({ status: 'ok', code: 'marker_sweep' });
  });

  it('warns about elements of PATH that are not absolute', async () => {
    using place = new Place({ PATH: `:./bin:${process.env.PATH}` });
    const { code, findings } = seenBy(await batonHere(place, 'doctor', '--json'));
    expect(code).toBe(0);
    expect(findings.search_path).toMatchObject({
      status: 'warning',
      code: 'relative_path',
      details: { elements: ['', './bin'] },
    });
  });

  it.each([
    ['git version 2.37.9', 'too_old'],
    ['git version 1.99.0', 'too_old'],
    ['git version 2.38.0', 'ok'],
    ['git version 2.100.0 (a vendor 7)', 'ok'],
    ['git version 3.0.rc1', 'ok'],
    ['nonsense', 'unknown_version'],
  ])('accepts or rejects the git version %j', async (version, judged) => {
    using place = new Place();
    chmodSync(place.write('bin/git', `#!/bin/sh\necho '${version}'\n`), 0o755);
    using other = new Place({ PATH: `${place.folder}/bin:${process.env.PATH}` });
    const { code, findings } = seenBy(await batonHere(other, 'doctor', '--json'));
    expect(code).toBe(judged === 'ok' ? 0 : 1);
    expect(findings.git).toMatchObject({
      code: judged,
      message: expect.stringContaining(version),
      ...(judged === 'ok' ? {} : { details: { least: '2.38' }, next_step: expect.stringContaining('2.38') }),
    });
  });

  it('fails for a workspace root that is a file', async () => {
    using place = new Place();
    place.write('workspaces', 'a file where a folder should be');
    place.write('WORKFLOW.md', workflowText('sh'));
    const { code, findings } = seenBy(await runDoctor(place));
    expect(code).toBe(1);
    expect(findings.workspace_root).toMatchObject({
      status: 'failed',
      code: 'workspace_root_unsafe',
      details: { root: path.join(place.folder, 'workspaces'), problem: 'not_a_folder' },
    });
  });
});

interface Line {
  readonly check: string;
  readonly status: string;
  readonly code: string;
  readonly message: string;
  readonly next_step: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

interface Seen {
  readonly code: number | null;
  readonly findings: Readonly<Record<string, Line>>;
  readonly text: string;
}

const isRoot = process.getuid?.() === 0;

/** What the doctor says of a workflow with these settings of the workspace. */
async function examine(place: Place, workspace: string, run = runDoctor): Promise<Seen> {
  place.write('WORKFLOW.md', workflowText('sh').replace('{root: workspaces}', `{root: workspaces, ${workspace}}`));
  return seenBy(await run(place));
}

/** What the doctor answers with `--json`, by what was looked at. */
function seenBy({ code, stdout, stderr }: Ended): Seen {
  expect(stderr).toBe('');
  const { findings } = JSON.parse(stdout) as { findings: Line[] };
  return { code, text: stdout, findings: Object.fromEntries(findings.map((each) => [each.check, each])) };
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

describe.concurrent('baton doctor with a repository', () => {
  it('passes without one, and says that workspaces start empty', async () => {
    using place = new Place();
    const { code, findings } = await examine(place, 'strategy: none');
    expect(code).toBe(0);
    expect(findings.repository).toMatchObject({ status: 'ok', code: 'empty_workspaces' });
    expect(findings.repository_write).toBeUndefined();
  });

  it('warns when git has no name for the commits of the agent', async () => {
    using place = new Place();
    scratchRepository(path.join(place.folder, 'source'));
    const configuration = path.join(place.home, '.gitconfig');
    // Without this setting git may make up a name from the names of the user and of the machine.
    writeFileSync(configuration, '[user]\n\tuseConfigOnly = true\n');
    const nameless = await examine(place, 'repo: source');
    expect(nameless.findings.git_identity).toMatchObject({ status: 'warning', code: 'unknown' });
    expect(nameless.code).toBe(0);
    expect((await examine(place, 'repo: source, strategy: none')).findings.git_identity).toBeUndefined();
    writeFileSync(configuration, '[user]\n\tuseConfigOnly = true\n\tname = Ada\n\temail = ada@localhost.invalid\n');
    expect((await examine(place, 'repo: source')).findings.git_identity).toBeUndefined();
  });

  it('shows the commit that an issue starts at, and changes nothing', async () => {
    using place = new Place();
    const source = scratchRepository(path.join(place.folder, 'source'));
    git(source, 'checkout', '-q', '-b', 'topic/one');
    const topic = commit(source, { 'b.txt': 'x\n' });
    const before = everything(source);
    const byHead = await examine(place, 'repo: source');
    expect(byHead.code).toBe(0);
    expect(byHead.findings.repository).toMatchObject({
      status: 'ok',
      code: 'ok',
      details: { repository: source, base: 'topic/one', commit: topic, strategy: 'worktree' },
    });
    for (const told of [source, 'topic/one', topic.slice(0, 12)])
      expect(byHead.findings.repository?.message).toContain(told);
    expect(byHead.findings.repository_write).toMatchObject({
      status: 'ok',
      code: 'ok',
      details: { path: `${source}/.git`, branches: true },
    });
    const byName = await examine(place, 'repo: source, base: main, strategy: clone');
    expect(byName.findings.repository).toMatchObject({
      details: { repository: source, base: 'main', commit: git(source, 'rev-parse', 'main'), strategy: 'clone' },
    });
    expect(byName.findings.repository?.message).toContain('workspace.base');
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
    expect(findings.repository).toMatchObject({ status: 'ok', code: 'ok', next_step: null });
    expect(findings.repository_write).toMatchObject({ status: 'ok', code: 'ok', next_step: null });
    expect(code).toBe(0);
  });

  it.each<[what: string, make: (source: string) => void, settings: string, problem: string, nextStep: RegExp]>([
    ['is not there', () => {}, '', 'path_not_found', /workspace\.repo/],
    ['is a folder without git', (source) => mkdirSync(source), '', 'no_repository', /git init/],
    [
      'is only a folder in one',
      (source) => {
        scratchRepository(path.dirname(source));
        mkdirSync(source);
      },
      '',
      'folder_in_repository',
      /workspace\.repo/,
    ],
    [
      'has no commit',
      (source) => void execFileSync('git', ['init', '-q', source]),
      '',
      'no_commit',
      /git commit --allow-empty/,
    ],
    [
      'has not that base',
      (source) => void scratchRepository(source),
      ', base: origin/main',
      'no_such_branch',
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
      'shallow',
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
      'damaged',
      /git fsck/,
    ],
  ])('fails for one that %s, and says what mends it', async (_what, make, settings, problem, nextStep) => {
    using place = new Place();
    make(path.join(place.folder, 'source'));
    const { code, findings } = await examine(place, `repo: source${settings}`);
    expect(code).toBe(1);
    expect(findings.repository).toMatchObject({
      status: 'failed',
      code: 'repository_unavailable',
      message: expect.stringContaining(path.join(place.folder, 'source')),
      next_step: expect.stringMatching(nextStep),
      details: { problem },
    });
    // What git adds to every trouble.
    expect(findings.repository?.message).not.toMatch(/access rights/);
    expect(findings.repository_write).toBeUndefined();
  });

  it('fails for a closed port, without showing the password', async () => {
    using place = new Place({ SOURCE: 'http://me:hunter2@127.0.0.1:1/x.git' });
    const { code, findings, text } = await examine(place, 'repo: $SOURCE');
    expect(code).toBe(1);
    expect(findings.repository).toMatchObject({
      status: 'failed',
      code: 'repository_unavailable',
      message: expect.stringContaining('http://127.0.0.1:1/x.git'),
      details: { repository: 'http://127.0.0.1:1/x.git', problem: 'unreachable' },
    });
    expect(text).not.toContain('hunter2');
  });

  it('does not wait forever for a silent host', async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    using place = new Place({ SOURCE: `http://me:hunter2@127.0.0.1:${port}/x.git` });
    const { code, findings, text } = await examine(place, 'repo: $SOURCE');
    server.close();
    expect(code).toBe(1);
    expect(findings.repository).toMatchObject({
      status: 'failed',
      code: 'git_timeout',
      message: expect.stringContaining(`http://127.0.0.1:${port}/x.git`),
    });
    expect(text).not.toContain('hunter2');
    expect(place.pids()).toEqual([]);
  });

  it('fails without git', async () => {
    using tools = new Place();
    mkdirSync(path.join(tools.folder, 'bin'));
    symlinkSync('/bin/sh', path.join(tools.folder, 'bin/sh'));
    using place = new Place({ PATH: path.join(tools.folder, 'bin') });
    scratchRepository(path.join(place.folder, 'source'));
    const { code, findings } = await examine(place, 'repo: source');
    expect(code).toBe(1);
    expect(findings.repository).toMatchObject({ status: 'failed', code: 'git_missing' });
  });

  it.each([
    ['the branch baton', ['branch', 'baton'], '', 'refs/heads/baton', /git branch -m/],
    ['the branch a/b', ['branch', 'a/b'], ', branch: "a/b/c-{{ issue.id }}"', 'refs/heads/a/b', /branch -m/],
    ['refs/baton', ['update-ref', 'refs/baton', 'HEAD'], '', 'refs/baton', /\S/],
  ])('fails when %s takes a needed name, packed or not', async (_what, args, settings, reference, nextStep) => {
    using place = new Place();
    const source = scratchRepository(path.join(place.folder, 'source'));
    git(source, ...args);
    for (const isPacked of [false, true]) {
      if (isPacked) git(source, 'pack-refs', '--all');
      const { code, findings } = await examine(place, `repo: source${settings}`);
      expect(code).toBe(1);
      expect(findings.repository_write).toMatchObject({
        status: 'failed',
        code: 'name_taken',
        message: expect.stringContaining(reference.replace('refs/heads/', '')),
        next_step: expect.stringMatching(nextStep),
        details: { reference },
      });
    }
  });

  it('accepts branches that Baton created before', async () => {
    using place = new Place();
    const source = scratchRepository(path.join(place.folder, 'source'));
    git(source, 'branch', 'baton/t-1');
    git(source, 'branch', 'batons');
    git(source, 'update-ref', 'refs/baton/salvage/T-1/run', 'HEAD');
    expect((await examine(place, 'repo: source')).code).toBe(0);
  });

  it.each(['objects', 'refs/heads', 'refs/heads/baton', 'refs/baton', ''])(
    'fails when .git/%s is not writable',
    async (folder) => {
      using place = new Place();
      const source = scratchRepository(path.join(place.folder, 'source'));
      git(source, 'branch', 'baton/t-1');
      git(source, 'update-ref', 'refs/baton/salvage/T-1/run', 'HEAD');
      const closed = path.join(source, '.git', folder);
      chmodSync(closed, 0o555);
      const { code, findings } = await examine(place, 'repo: source', asOrdinaryUser);
      chmodSync(closed, 0o755);
      expect(findings.repository).toMatchObject({ status: 'ok' });
      expect(findings.repository_write).toMatchObject({
        status: 'failed',
        code: 'not_writable',
        message: expect.stringContaining(closed),
        next_step: expect.stringContaining(path.join(source, '.git')),
        details: { path: closed },
      });
      expect(code).toBe(1);
    },
  );

  it('needs no base with strategy none, only write access for saved work', async () => {
    using place = new Place();
    const source = path.join(place.folder, 'source');
    execFileSync('git', ['init', '-q', source]);
    const { code, findings } = await examine(place, 'repo: source, strategy: none');
    expect(findings.repository).toMatchObject({ status: 'ok', code: 'empty_workspaces' });
    expect(findings.repository_write).toMatchObject({ status: 'ok', details: { branches: false } });
    expect(code).toBe(0);
    writeFileSync(path.join(source, '.git/HEAD'), 'spoiled');
    expect((await examine(place, 'repo: source, strategy: none')).findings.repository_write).toMatchObject({
      status: 'failed',
      code: 'repository_unavailable',
      details: { problem: 'not_a_repository' },
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
