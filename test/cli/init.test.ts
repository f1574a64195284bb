import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { workspaceLines } from '../../src/cli/init/planned-workspaces.ts';
import { until } from '../process/real-children.ts';
import { hasNamespaces } from '../security/machine.ts';
import { git, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { batonHere } from './baton-here.ts';
import { answer, refusal } from './live-daemon.ts';
import { baton, batonCommand, type Ended, leaveNoPlaces, Place, startProgram } from './run-baton.ts';

leaveNoPlaces();

interface Written {
  readonly tracker: {
    readonly kind: string;
    readonly required_labels?: string[];
    readonly trusted_authors?: string[];
    readonly states?: Record<string, string>;
  };
  readonly agent: { readonly backend: string; readonly command?: string; readonly after_success?: string };
  readonly polling: { readonly mode: string; readonly quiet_hours?: string; readonly time_zone?: string };
  readonly judge?: { readonly agents: string[] };
  readonly workspace?: { readonly repo?: string; readonly root?: string };
}

/** The front matter of the file, read apart from the code under test. */
function writtenIn(place: Place, name = 'WORKFLOW.md'): Written {
  const [, front] = /^---\n(.*?)^---$/ms.exec(place.read(name)) ?? [];
  return parse(front ?? '');
}

describe.concurrent('baton init with options', () => {
  it.each([
    { args: [], tracker: { kind: 'board' }, agent: { backend: 'rehearsal' } },
    { args: ['--yes'], tracker: { kind: 'board' }, agent: { backend: 'rehearsal' } },
    { args: ['--tracker', 'memory'], tracker: { kind: 'memory' }, agent: { backend: 'rehearsal' } },
    {
      args: ['--agent', 'command', '--command', 'claude -p', '--label', '-', '--repo', '-'],
      tracker: { kind: 'board' },
      agent: { backend: 'command', command: 'claude -p' },
    },
    { args: ['--command', './mine'], tracker: { kind: 'board' }, agent: { backend: 'command', command: './mine' } },
    {
      args: ['--label', ' baton ', '--agent', 'rehearsal', '--tracker', 'board'],
      tracker: { kind: 'board', required_labels: ['baton'] },
      agent: { backend: 'rehearsal' },
    },
  ])('$args writes a valid file', async ({ args, tracker, agent }) => {
    using place = new Place();
    const { code, stdout, stderr } = await baton(place, 'init', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`${place.folder}/WORKFLOW.md`);
    expect(writtenIn(place).tracker).toEqual(tracker);
    expect(writtenIn(place).agent).toEqual({ ...agent, max_concurrent_agents: 2 });
    expect(writtenIn(place).workspace).toBeUndefined();
    expect(await answer(place, 'validate')).toMatchObject({ valid: true });
  });

  // @conforms cadence.25
  it.each(['board', 'memory'])('writes no quiet hours for %s, where they would have no effect', async (tracker) => {
    using place = new Place({ TZ: 'America/New_York' });
    expect((await baton(place, 'init', '--tracker', tracker)).code).toBe(0);
    expect(writtenIn(place).polling).toEqual({ mode: 'adaptive' });
    expect((await answer(place, 'validate')).warnings).toEqual([]);
  });

  it.each([{}, { LINEAR_API_KEY: 'canary' }])(
    'writes a file for Linear that names its key without its value',
    async (env) => {
      using place = new Place({ TZ: 'Europe/Berlin', ...env });
      const { code, stdout } = await baton(place, 'init', '--tracker', 'linear', '--project-slug', 'x-0123');
      expect(code).toBe(0);
      expect(stdout).toContain('export LINEAR_API_KEY=…');
      expect(writtenIn(place)).toMatchObject({
        tracker: {
          kind: 'linear',
          provider: { api_key: '$LINEAR_API_KEY', project_slug: 'x-0123' },
          required_labels: ['baton'],
          trusted_authors: [],
        },
        polling: { mode: 'adaptive', quiet_hours: '00:00-07:00', time_zone: 'Europe/Berlin' },
      });
      expect(place.read('WORKFLOW.md')).toMatch(/^ {2}# \S.*\n {2}quiet_hours: 00:00-07:00$/m);
      // An empty list needs an explanation.
      expect(place.read('WORKFLOW.md')).toMatch(/^ {2}# \S.*\n {2}trusted_authors: \[\]$/m);
      expect(stdout + place.read('WORKFLOW.md')).not.toContain('canary');
    },
  );

  it.each(['', 'Nonsense/Zone', ':/etc/nowhere'])('writes UTC when TZ=%j names no time zone', async (zone) => {
    using place = new Place({ TZ: zone, LINEAR_API_KEY: 'canary' });
    const linear = ['--tracker', 'linear', '--project-slug', 'x-0123'];
    expect((await baton(place, 'init', ...linear)).code).toBe(0);
    expect(writtenIn(place).polling.time_zone).toBe('UTC');
    expect(await answer(place, 'validate')).toMatchObject({ valid: true, warnings: [] });
  });

  it.each([
    ['board', [], 'review'],
    ['linear', ['--project-slug', 'x-0123'], 'In Review'],
    ['memory', [], 'Done'],
  ])('tells Codex to commit and then to move its %s issue', async (tracker, more, state) => {
    using place = new Place({ LINEAR_API_KEY: 'canary' });
    const { code, stdout, stderr } = await batonHere(place, 'init', '--agent', 'codex', '--tracker', tracker, ...more);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(writtenIn(place).agent).toEqual({ backend: 'codex', max_concurrent_agents: 2 });
    const [, prompt = ''] = place.read('WORKFLOW.md').split(/^---$/m).slice(1);
    expect(prompt).toMatch(new RegExp(`\\bcommit\\b[^]*\`${state}\`[^]*\`update_issue_status\``, 'i'));
    expect(prompt).toContain('`ask_person`');
    expect(stdout).toMatch(
      /^ {2}codex login +# .*printenv OPENAI_API_KEY \| codex login --with-api-key\n {2}baton doctor /m,
    );
    const { valid, warnings, settings } = await answer(place, 'validate');
    expect({ valid, warnings }).toEqual({ valid: true, warnings: [] });
    // A state that is active would be worked on again.
    const active = settings.find(({ key }: { key: string }) => key === 'tracker.active_states');
    expect(JSON.stringify(active)).not.toContain(state);
  });

  it.each([
    ['rehearsal', []],
    ['command', ['BATON_TOOLS_URL', 'BATON_TOOLS_TOKEN']],
  ])(
    'tells %s how to finish an issue, and where the tools are unless Baton connects them',
    async (agent, variables) => {
      using place = new Place();
      const { stdout } = await batonHere(place, 'init', '--agent', agent, '--command', './mine');
      const [, prompt = ''] = place.read('WORKFLOW.md').split(/^---$/m).slice(1);
      expect(prompt).toMatch(/\bcommit\b[\s\S]*`review`[\s\S]*`update_issue_status`/i);
      expect(prompt.match(/BATON_\w+/g) ?? []).toEqual(variables);
      expect(stdout).not.toContain('codex');
    },
  );

  // @conforms codex.19
  it('keeps the workspaces of Codex out of the temporary folder, one root per file', async () => {
    using place = new Place();
    mkdirSync(path.join(place.folder, "it's"));
    const roots: string[] = [];
    for (const name of ['WORKFLOW.md', 'other.md', "it's/WORKFLOW.md"]) {
      expect((await batonHere(place, 'init', name, '--agent', 'codex')).code).toBe(0);
      const { root } = writtenIn(place, name).workspace ?? {};
      expect(root).toMatch(/^~\/baton\/workspaces\/[\w.-]+-[0-9a-f]{12}$/);
      const { valid, warnings, settings } = await answer(place, 'validate', name);
      expect({ valid, warnings }).toEqual({ valid: true, warnings: [] });
      const inForce = settings.find(({ key }: { key: string }) => key === 'workspace.root').value;
      expect(inForce).toBe(root?.replace('~', place.home));
      expect(path.relative(place.temporary, inForce)).toMatch(/^\.\./);
      roots.push(inForce);
    }
    expect(new Set(roots).size).toBe(roots.length);
  });

  // @conforms codex.20
  it('prints what Codex may do without asking, matching the settings in force', async () => {
    using place = new Place();
    const { stdout } = await batonHere(place, 'init', '--agent', 'codex');
    for (const told of ['codex.approval_policy: on-request', '`baton ask list`']) expect(stdout).toContain(told);
    const text = place.read('WORKFLOW.md');
    expect(text).toMatch(/^ {2}# .*codex\.approval_policy: on-request.*\n {2}backend: codex$/m);
    const inForce = async (name: string) => {
      const { settings } = await answer(place, 'validate', name);
      const value = (key: string) => settings.find((each: { key: string }) => each.key === key).value;
      return [value('codex.approval_policy'), value('agent.approvals'), value('codex.thread_sandbox')];
    };
    const nothing = { reject: { sandbox_approval: true, rules: true, mcp_elicitations: true } };
    expect(await inForce('WORKFLOW.md')).toEqual([nothing, 'ask', 'workspace-write']);
    // As the line says.
    place.write('asks.md', text.replace('agent:\n', 'codex:\n  approval_policy: on-request\nagent:\n'));
    expect(await inForce('asks.md')).toEqual(['on-request', 'ask', 'workspace-write']);
  });

  it('writes a file that fits on a screen', async () => {
    using place = new Place();
    await batonHere(place, 'init', '--label', 'x', '--command', './mine', '--repo', '.');
    expect(place.read('WORKFLOW.md').split('\n').length).toBeLessThanOrEqual(30);
    await batonHere(place, 'init', 'codex.md', '--label', 'x', '--agent', 'codex', '--repo', '.');
    expect(place.read('codex.md').split('\n').length).toBeLessThanOrEqual(30);
    await batonHere(place, 'init', 'claude.md', '--label', 'x', '--agent', 'claude', '--repo', '.');
    expect(place.read('claude.md').split('\n').length).toBeLessThanOrEqual(30);
  });

  it.runIf(hasNamespaces)('lets Claude run commands where the machine isolates them', async () => {
    using place = new Place();
    await batonHere(place, 'init', '--label', 'x', '--agent', 'claude', '--repo', '.');
    expect(place.read('WORKFLOW.md')).toContain('claude:\n  allowed_tools:\n    - Bash\n');
  });

  it('does not let Claude run commands where the machine cannot isolate them, and explains it in a comment', async () => {
    using place = new Place();
    chmodSync(place.write('bin/setpriv', '#!/bin/sh\nexit 1\n'), 0o755);
    using poor = new Place({ PATH: `${place.folder}/bin:${process.env.PATH}` });
    await batonHere(poor, 'init', '--label', 'x', '--agent', 'claude', '--repo', '.');
    expect(poor.read('WORKFLOW.md')).toMatch(/^claude:\n {2}# .*allowed_tools.*\n {2}permission_mode: acceptEdits$/m);
    expect(poor.read('WORKFLOW.md')).not.toMatch(/^ +allowed_tools/m);
  });

  it.runIf(hasNamespaces)(
    'names the program of an ACP agent, and lets it work where the machine isolates it',
    async () => {
      using place = new Place();
      await batonHere(place, 'init', '--label', 'x', '--preset', 'opencode', '--repo', '.');
      expect(place.read('WORKFLOW.md')).toMatch(/^ {2}backend: acp\n {2}approvals: auto\n {2}ask_timeout_ms: 900000$/m);
      expect(place.read('WORKFLOW.md')).toContain('acp:\n  preset: opencode\n');
      await batonHere(place, 'init', 'usual.md', '--label', 'x', '--agent', 'acp', '--repo', '.');
      expect(place.read('usual.md')).toContain('acp:\n  preset: claude-agent-acp\n');
      await batonHere(place, 'init', 'codex.md', '--label', 'x', '--preset', 'codex-acp', '--repo', '.');
      expect(place.read('codex.md')).toContain('ask_timeout_ms: 240000\n');
    },
  );

  it('lets an ACP agent ask where the machine cannot isolate it', async () => {
    using place = new Place();
    chmodSync(place.write('bin/setpriv', '#!/bin/sh\nexit 1\n'), 0o755);
    using poor = new Place({ PATH: `${place.folder}/bin:${process.env.PATH}` });
    await batonHere(poor, 'init', '--label', 'x', '--agent', 'acp', '--repo', '.');
    expect(poor.read('WORKFLOW.md')).not.toContain('approvals:');
  });

  it('prints what it wrote as JSON', async () => {
    using place = new Place();
    expect(await answer(place, 'init', 'flow.md', '--label', 'x', '--repo', 'https://example.invalid/r.git')).toEqual({
      path: `${place.folder}/flow.md`,
      tracker: 'board',
      agent: 'rehearsal',
      pipeline: false,
      preset: null,
      command: null,
      label: 'x',
      repo: 'https://example.invalid/r.git',
      judge: false,
      review: { host: null, problem: 'no_host' },
      setup: false,
      project_slug: null,
      workspaces: {
        strategy: 'worktree',
        repository: 'https://example.invalid/r.git',
        is_in_repository: false,
        problem: null,
      },
    });
    expect(readdirSync(place.folder).sort()).toEqual(['flow.md', 'home', 'tmp']);
  });

  it('prints next steps that a shell accepts, whatever the folder name', async () => {
    using place = new Place();
    const name = `it's $(touch owned) "here".md`;
    const { stdout } = await batonHere(place, 'init', name);
    const [line = ''] = stdout.split('\n').filter((each) => each.includes('baton start'));
    const words = execFileSync('sh', ['-c', line.replace('baton', "printf '%s\\n'")], { cwd: place.folder });
    expect(words.toString()).toBe(`start\n${path.join(place.folder, name)}\n--dry-run\n`);
    expect(existsSync(path.join(place.folder, 'owned'))).toBe(false);
  });

  it.each([
    ['a tracker without its project', ['--tracker', 'linear'], 'missing_linear_project_slug', 'project_slug'],
    ['a tracker that nobody knows', ['--tracker', 'fax'], 'unsupported_tracker_kind', 'fax'],
    ['an agent that nobody knows', ['--agent', 'fax'], 'unsupported_agent_backend', 'fax'],
    ['an agent without its program', ['--agent', 'command'], 'missing_agent_command', 'agent.command'],
  ])('refuses %s, and writes nothing', async (_what, args, code, named) => {
    using place = new Place({ LINEAR_API_KEY: 'canary' });
    const error = await refusal(place, 'init', ...args);
    expect(error).toMatchObject({ code, message: expect.stringContaining(named) });
    expect(JSON.stringify(error)).not.toContain('canary');
    expect(existsSync(path.join(place.folder, 'WORKFLOW.md'))).toBe(false);
  });

  it('never replaces an existing file, not even a dangling link', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', 'mine');
    symlinkSync('nowhere', path.join(place.folder, 'link.md'));
    for (const name of ['WORKFLOW.md', 'link.md', '.']) {
      expect(await refusal(place, 'init', name)).toMatchObject({
        code: 'init_refused',
        details: { path: path.join(place.folder, name), problem: 'exists' },
      });
    }
    expect(place.read('WORKFLOW.md')).toBe('mine');
    expect(existsSync(path.join(place.folder, 'nowhere'))).toBe(false);
  });

  it.each(['no/such/folder.md', 'file/below.md', '/proc/workflow.md'])(
    'reports that it cannot write %s',
    async (name) => {
      using place = new Place();
      place.write('file', '');
      const { code, stdout, stderr } = await batonHere(place, 'init', name);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain('code: init_refused\n');
      expect(stderr).not.toContain('    at ');
      const file = path.resolve(place.folder, name);
      expect(await refusal(place, 'init', name)).toMatchObject({ details: { path: file, problem: 'not_writable' } });
    },
  );
});

describe.concurrent('an answer', () => {
  const nasty = [
    `it's "quoted" \`touch owned\` $(touch owned); touch owned & \\`,
    'two\nlines\n---\nkey: value',
    '--upload-pack=touch owned',
    ': - # & * ! | > % @ {a: [b]}',
    '{{ issue.title }} {% if %}',
    'null',
    '\u202e\u2028日本',
  ];

  it.each(nasty)('%j stays one value and cannot break the file', async (text) => {
    using place = new Place();
    expect((await batonHere(place, 'init', '--label', text, '--command', text)).code).toBe(0);
    const { tracker, agent } = writtenIn(place);
    expect(tracker.required_labels).toEqual([text]);
    expect(agent.command).toBe(text);
    expect(await answer(place, 'validate')).toMatchObject({ valid: true });
  });

  it.each(nasty)('%j as a repository is a path, or is refused and nothing is written', async (text) => {
    using place = new Place();
    const { code, stderr } = await batonHere(place, 'init', '--repo', text);
    if (/^--|\n/.test(text)) {
      expect({ code, isThere: existsSync(path.join(place.folder, 'WORKFLOW.md')) }).toEqual({
        code: 1,
        isThere: false,
      });
      expect(stderr).toContain('workspace.repo');
    } else {
      expect(writtenIn(place).workspace?.repo).toBe(text);
      expect(await answer(place, 'validate')).toMatchObject({ valid: true });
    }
    expect(existsSync(path.join(place.folder, 'owned'))).toBe(false);
  });
});

/** Runs it in a folder below the place, as a person would who went there. */
function initIn(place: Place, folder: string, ...args: string[]): Promise<Ended> {
  return startProgram(place, 'sh', ['-c', `cd '${folder}' && exec ${batonCommand('init', ...args)}`]).ended;
}

describe.concurrent('the repository that baton init suggests', () => {
  it.each([
    ['at its top', '.', 'WORKFLOW.md', '.'],
    ['below it', 'src', 'WORKFLOW.md', '..'],
    ['far below it', 'src/deep/er', 'WORKFLOW.md', '../../..'],
    ['at its top, for a file below', '.', 'src/deep/flow.md', '../..'],
    ['below it, for a file at the top', 'src', '../flow.md', '.'],
    ['below it, for a file beside', 'src', '../docs/flow.md', '..'],
  ])('is the one around the current folder %s', async (_where, folder, file, repo) => {
    using place = new Place();
    const source = scratchRepository(path.join(place.folder, 'source'));
    for (const each of ['src/deep/er', 'docs']) mkdirSync(path.join(source, each), { recursive: true });
    const { code, stdout, stderr } = await initIn(place, path.join(source, folder), file, '--yes', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const written = path.join('source', folder, file);
    expect(writtenIn(place, written).workspace).toEqual({ repo });
    expect(JSON.parse(stdout).workspaces).toMatchObject({ strategy: 'worktree', repository: source, problem: null });
    const { settings } = await answer(place, 'validate', written);
    expect(settings).toContainEqual(expect.objectContaining({ key: 'workspace.repo', value: source }));
  });

  const statesOfLinear = { todo: 'Todo', in_progress: 'In Progress', review: 'In Review', done: 'Done' };
  it.each([
    ['board', [], undefined],
    ['linear', ['--project-slug', 'x-0123'], statesOfLinear],
  ])('leads the changes of a %s issue to review in a repository, and not without one', async (kind, more, states) => {
    using place = new Place();
    scratchRepository(place.folder);
    for (const [file, repo, expected] of [
      ['WORKFLOW.md', [], { after: 'review', states }],
      ['without.md', ['--repo', '-'], { after: undefined, states: undefined }],
      ['remote.md', ['--repo', 'https://example.invalid/r.git'], { after: undefined, states: undefined }],
    ] as const) {
      expect((await batonHere(place, 'init', file, '--tracker', kind, ...more, ...repo)).code).toBe(0);
      const { agent, tracker } = writtenIn(place, file);
      expect({ after: agent.after_success, states: tracker.states }).toEqual(expected);
      const isTold = place.read(file).includes('`create_pr`');
      expect(isTold).toBe(expected.after === 'review');
    }
  });

  it.each(['https://github.com/acme/app.git', 'git@github.com:acme/app.git', 'ssh://git@github.com/acme/app'])(
    'leads changes to pull requests on GitHub for %s',
    async (repo) => {
      using place = new Place();
      expect(await answer(place, 'init', '--repo', repo)).toMatchObject({ review: { host: 'github', problem: null } });
      expect(writtenIn(place)).toMatchObject({
        agent: { after_success: 'review' },
        review: { host: 'github', repository: 'acme/app' },
        workspace: { repo },
      });
      expect(await answer(place, 'validate')).toMatchObject({ valid: true, warnings: [] });
    },
  );

  it.each([
    ['no_repository', ['--repo', '-']],
    ['no_host', ['--repo', 'https://github.com.example.invalid/acme/app.git']],
    ['no_review_state', ['--repo', 'https://github.com/acme/app.git', '--tracker', 'memory']],
  ])('says why no change leads to review: %s', async (problem, flags) => {
    using place = new Place();
    expect(await answer(place, 'init', ...flags)).toMatchObject({ review: { host: null, problem } });
    expect(writtenIn(place)).not.toHaveProperty('review');
    expect(writtenIn(place).agent).not.toHaveProperty('after_success');
  });

  // @conforms judge.5
  it.each([
    [['--yes'], undefined],
    [['--yes', '--no-judge'], undefined],
    [['--yes', '--judge'], { agents: ['default'] }],
    [['--judge'], { agents: ['default'] }],
  ])('has a judge only when it is asked for: %j', async (flags, judge) => {
    using place = new Place();
    scratchRepository(place.folder);
    expect((await batonHere(place, 'init', ...flags)).code).toBe(0);
    expect(writtenIn(place).judge).toEqual(judge);
    expect(await answer(place, 'validate')).toMatchObject({ valid: true });
  });

  // @conforms setup.1
  it.each([
    [['--yes'], false],
    [['--yes', '--no-setup'], false],
    [['--yes', '--setup'], true],
    [['--setup'], true],
  ])('names a setup as the last step only when it is asked for: %j', async (flags, isWanted) => {
    using place = new Place();
    scratchRepository(place.folder);
    const { code, stdout } = await batonHere(place, 'init', ...flags);
    const file = path.join(place.folder, 'WORKFLOW.md');
    expect([code, stdout.includes(` setup --wait --workflow ${file}\n`)]).toEqual([0, isWanted]);
    // A setup runs when a person asks, so the file is the same.
    await batonHere(place, 'init', 'other.md', '--yes');
    expect(place.read('other.md')).toBe(place.read('WORKFLOW.md'));
    expect(await answer(place, 'init', 'third.md', ...flags)).toMatchObject({ setup: isWanted });
  });

  // @conforms setup.1
  it('refuses a setup without a repository, and writes no file', async () => {
    using place = new Place();
    const refused = await refusal(place, 'init', '--setup', '--repo', '-');
    expect(refused).toMatchObject({ code: 'init_refused', details: { problem: 'nothing_to_set_up' } });
    expect(existsSync(path.join(place.folder, 'WORKFLOW.md'))).toBe(false);
  });

  // @conforms judge.5
  it('refuses a judge where nothing leads to review, and writes no file', async () => {
    using place = new Place();
    const refused = await refusal(place, 'init', '--judge', '--repo', '-');
    expect(refused).toMatchObject({ code: 'init_refused', details: { problem: 'nothing_to_judge' } });
    expect(existsSync(path.join(place.folder, 'WORKFLOW.md'))).toBe(false);
  });

  it('leads nothing to review for a tracker without a state for it', async () => {
    using place = new Place();
    scratchRepository(place.folder);
    expect((await batonHere(place, 'init', '--tracker', 'memory')).code).toBe(0);
    expect(writtenIn(place)).toMatchObject({ workspace: { repo: '.' } });
    expect(writtenIn(place).agent).not.toHaveProperty('after_success');
  });

  it('is named by its full path in a file outside it', async () => {
    using place = new Place();
    const source = scratchRepository(path.join(place.folder, 'source'));
    expect((await initIn(place, `${source}/src`, '../../flow.md', '--yes')).code).toBe(0);
    expect(writtenIn(place, 'flow.md').workspace).toEqual({ repo: source });
  });

  it('is the one around the file when there is none around the current folder', async () => {
    using place = new Place();
    const source = scratchRepository(path.join(place.folder, 'source'));
    const { stdout } = await batonHere(place, 'init', 'source/src/flow.md');
    expect(writtenIn(place, 'source/src/flow.md').workspace).toEqual({ repo: '..' });
    // To people too.
    expect(stdout).toMatch(new RegExp(` ${source}\\.$`, 'm'));
  });

  it('is the nearest one, and may be a linked worktree', async () => {
    using place = new Place();
    const source = scratchRepository(path.join(place.folder, 'source'));
    git(source, 'worktree', 'add', '-q', 'linked');
    const { stdout } = await initIn(place, `${source}/linked/src`, '--yes', '--json');
    expect(writtenIn(place, 'source/linked/src/WORKFLOW.md').workspace).toEqual({ repo: '..' });
    expect(JSON.parse(stdout).workspaces).toMatchObject({ repository: `${source}/linked`, problem: null });
  });

  it('is empty outside any repository, and init says so', async () => {
    using place = new Place();
    const { stdout } = await batonHere(place, 'init');
    expect(writtenIn(place).workspace).toBeUndefined();
    expect(stdout).toMatch(/\bworkspace\.repo\b/);
  });

  // @conforms codex.21
  it.each([
    ['in a folder without one', [], false],
    ['where it was not wanted', ['--repo', '-'], true],
  ])('that is missing %s gets a warning when the agent commits its work', async (_where, more, isInRepository) => {
    using place = new Place();
    if (isInRepository) scratchRepository(place.folder);
    const { workspaces } = await answer(place, 'init', 'codex.md', '--agent', 'codex', ...more);
    expect(workspaces).toEqual({
      strategy: 'none',
      repository: null,
      problem: null,
      is_in_repository: isInRepository,
    });
    // One line more than to somebody whose agent makes no branch.
    const linesFor = (commitsWork: boolean): readonly string[] =>
      workspaceLines({ strategy: 'none', repository: null, isInRepository, problem: null }, commitsWork);
    expect([linesFor(true), linesFor(false)].map(({ length }) => length)).toEqual([2, 1]);
    const { stdout } = await batonHere(place, 'init', '--agent', 'codex', ...more);
    for (const line of linesFor(true)) expect(stdout).toContain(`${line}\n`);
  });

  it.each([
    ['without a commit', 'source', 'no_commit', 'git commit --allow-empty'],
    ['that is not there', 'elsewhere', 'path_not_found', '`workspace.repo`'],
  ])('gets a hint when it is one %s', async (_what, repo, problem, nextStep) => {
    using place = new Place();
    execFileSync('git', ['init', '-q', path.join(place.folder, 'source')]);
    const { code, stdout } = await batonHere(place, 'init', '--repo', repo);
    expect(code).toBe(0);
    expect(stdout).toContain(nextStep);
    expect(writtenIn(place).workspace).toEqual({ repo });
    const { workspaces } = await answer(place, 'init', 'other.md', '--repo', repo);
    expect(workspaces.problem).toMatchObject({
      code: 'repository_unavailable',
      next_step: expect.stringContaining(nextStep),
      details: { problem },
    });
  });

  it('is not contacted over the network, and shown without its password', async () => {
    using place = new Place();
    const repo = 'http://me:hunter2@127.0.0.1:1/x.git';
    const { code, stdout } = await batonHere(place, 'init', '--repo', repo);
    expect(code).toBe(0);
    expect(stdout).toMatch(/ http:\/\/127\.0\.0\.1:1\/x\.git\.\n/);
    expect(stdout).not.toContain('hunter2');
    const { workspaces } = await answer(place, 'init', 'other.md', '--repo', repo);
    expect(workspaces).toMatchObject({ repository: 'http://127.0.0.1:1/x.git', problem: null });
  });

  it('is suggested even when git cannot read it', async () => {
    using place = new Place();
    place.write('.git/HEAD', '');
    const { workspaces } = await answer(place, 'init', '--yes');
    expect(writtenIn(place).workspace).toEqual({ repo: '.' });
    expect(workspaces.problem).toMatchObject({ details: { problem: 'not_a_repository' } });
  });
});

const makeTerminal = '/usr/bin/script';

describe.skipIf(!existsSync(makeTerminal))('baton init on a terminal', { concurrent: true }, () => {
  it('asks, and takes the default on Enter', async () => {
    using place = new Place({ TERM: 'xterm' });
    const { code } = await typed(
      place,
      ['init'],
      [
        ['board', ''],
        ['-', 'ready'],
        ['rehearsal', 'command'],
        ['none', `my-agent --say "it's"`],
        ['-', ''],
      ],
    );
    expect(code).toBe(0);
    expect(writtenIn(place)).toMatchObject({
      tracker: { kind: 'board', required_labels: ['ready'] },
      agent: { backend: 'command', command: `my-agent --say "it's"` },
    });
    expect(await answer(place, 'validate')).toMatchObject({ valid: true });
  });

  it('does not ask what an option answers, and nothing with --yes', async () => {
    using place = new Place({ TERM: 'xterm' });
    const asked = await typed(
      place,
      ['init', '--tracker', 'memory', '--agent', 'rehearsal', '--label', 'x'],
      [
        ['-', 'https://example.invalid/r.git'],
        ['no', ''],
      ],
    );
    expect(asked.code).toBe(0);
    expect(asked.stdout).not.toMatch(/\[(?:board|rehearsal|none)\]/);
    expect(writtenIn(place).workspace?.repo).toBe('https://example.invalid/r.git');
    const quiet = await typed(place, ['init', 'other.md', '--yes'], []);
    expect(quiet).toMatchObject({ code: 0, stdout: expect.not.stringContaining('?') });
  });

  // @conforms judge.5
  it.each([
    ['', undefined],
    ['yes', { agents: ['default'] }],
  ])('asks for a judge where changes are reviewed, and takes %j', async (text, judge) => {
    using place = new Place({ TERM: 'xterm' });
    scratchRepository(place.folder);
    const given = ['init', '--tracker', 'board', '--agent', 'rehearsal', '--label', '-', '--repo', '.', '--no-setup'];
    expect((await typed(place, given, [['no', text]])).code).toBe(0);
    expect(writtenIn(place).judge).toEqual(judge);
  });

  // @conforms setup.1
  it.each([
    ['', false],
    ['yes', true],
  ])('asks for a setup where there is a repository, and takes %j', async (text, isWanted) => {
    using place = new Place({ TERM: 'xterm' });
    scratchRepository(place.folder);
    const given = ['init', '--tracker', 'board', '--agent', 'rehearsal', '--label', '-', '--repo', '.', '--no-judge'];
    const { code, stdout } = await typed(place, given, [['no', text]]);
    expect([code, stdout.includes(' setup --wait ')]).toEqual([0, isWanted]);
  });

  it('suggests a label for a shared tracker', async () => {
    using place = new Place({ TERM: 'xterm' });
    const { code } = await typed(
      place,
      ['init'],
      [
        ['board', 'linear'],
        ['none', 'x'],
        ['baton', ''],
        ['rehearsal', ''],
        ['-', ''],
      ],
    );
    expect(code).toBe(0);
    expect(writtenIn(place).tracker).toMatchObject({ kind: 'linear', required_labels: ['baton'] });
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('writes nothing when it is left with %s', async (_what, key) => {
    using place = new Place({ TERM: 'xterm' });
    const { code, stdout } = await typed(
      place,
      ['init'],
      [
        ['board', 'board'],
        ['-', { key }],
      ],
    );
    expect(code).toBe(1);
    expect(stdout).toContain('code: init_refused');
    expect(stdout).not.toContain('    at ');
    expect(existsSync(path.join(place.folder, 'WORKFLOW.md'))).toBe(false);
  });
});

/** Runs baton on a terminal, and types each answer when its question is there, which is known by the default it offers. */
async function typed(
  place: Place,
  args: readonly string[],
  answers: readonly (readonly [byDefault: string, answer: string | { readonly key: string }])[],
): Promise<Pick<Ended, 'code' | 'stdout'>> {
  const child = spawn(makeTerminal, ['-qec', batonCommand(...args), '/dev/null'], {
    cwd: place.folder,
    env: place.env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let seen = 0;
  for (const [byDefault, text] of answers) {
    const offered = `[${byDefault}] `;
    await until(() => stdout.includes(offered, seen), `${offered} is offered in ${JSON.stringify(stdout)}`);
    seen = stdout.indexOf(offered, seen) + offered.length;
    child.stdin.write(typeof text === 'string' ? `${text}\r` : text.key);
  }
  const code = await ended;
  return { code, stdout };
}
