import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectWorkflow } from '../../src/workflow/inspect-workflow.ts';
import { settings as fakeSettings } from '../fake/settings.ts';
import { givenContext, givenMemory, keysIn, problemsIn, refusal } from './given.ts';

const workspaceOf = (keys: string, env: Record<string, string> = {}) =>
  givenMemory(`workspace: {${keys}}`, env).settings.workspace;
const repoOf = (repo: string, env: Record<string, string> = {}) =>
  workspaceOf(`repo: ${JSON.stringify(repo)}`, env).repo;
const refused = (keys: string, env: Record<string, string> = {}) =>
  refusal(() => givenMemory(`workspace: {${keys}}`, env));
const refusedRepo = (repo: string, env: Record<string, string> = {}) =>
  problemsIn(refused(`repo: ${JSON.stringify(repo)}`, env));

describe('the workspace section', () => {
  it('has a default for every key', () => {
    const { root, ...rest } = givenMemory('').settings.workspace;
    expect(root).toBe('/state/workspaces');
    expect(rest).toEqual({
      repo: null,
      strategy: 'none',
      branch: 'baton/{{ issue.identifier | downcase }}',
      base: null,
      copy: [],
      copyFrom: '/repo',
      setup: null,
      archive: false,
      retentionMs: 0,
      retentionMsByState: {},
      salvageRetentionDays: 0,
      branchRetentionDays: 0,
      cacheRetentionDays: 30,
      minFreeDiskMb: 250,
    });
    expect(fakeSettings().workspace).toMatchObject({ ...rest, copyFrom: '/nowhere' });
    expect(fakeSettings().agent.minFreeMemoryMb).toBe(givenMemory('').settings.agent.minFreeMemoryMb);
  });

  it('reads every key from the file', () => {
    const { settings, warnings } = givenMemory(`workspace:
  repo: ../project
  strategy: clone
  base: release/2.x
  copy: [.env, "config/*.local"]
  setup: npm ci
  archive: "true"
  retention_ms: 5
  retention_ms_by_state: {" Done ": 0, cancelled: "7"}
  salvage_retention_days: 30
  min_free_disk_mb: 0
agent: {min_free_memory_mb: 0}`);
    expect(warnings).toEqual([]);
    expect(settings.workspace).toMatchObject({
      repo: { location: '/project', shown: '/project', isLocal: true },
      strategy: 'clone',
      base: 'release/2.x',
      copy: ['.env', 'config/*.local'],
      copyFrom: '/project',
      setup: 'npm ci',
      archive: true,
      retentionMs: 5,
      retentionMsByState: { done: 0, cancelled: 7 },
      salvageRetentionDays: 30,
      branchRetentionDays: 0,
      cacheRetentionDays: 30,
      minFreeDiskMb: 0,
    });
    expect(settings.agent.minFreeMemoryMb).toBe(0);
  });

  it.each([
    'retention_ms: -1',
    'retention_ms_by_state: {done: -1}',
    'retention_ms_by_state: {Done: 1, " done": 2}',
    'salvage_retention_days: x',
    'min_free_disk_mb: 1.5',
    'archive: maybe',
    'strategy: rsync',
    'copy: .env',
    'copy: [1]',
    'setup: [a]',
    'branch: " "',
  ])('rejects %s by name', (line) => {
    const [key] = line.split(':');
    const [named] = keysIn(refused(line));
    expect(named?.startsWith(`workspace.${key}`), named ?? '').toBe(true);
  });
});

describe('workspace.strategy', () => {
  it('is worktree with a repository, and none without', () => {
    expect(workspaceOf('repo: /r').strategy).toBe('worktree');
    expect(workspaceOf('').strategy).toBe('none');
    expect(workspaceOf('repo: /r, strategy: none')).toMatchObject({ strategy: 'none', repo: { location: '/r' } });
  });

  it.each(['worktree', 'clone'])('rejects %s without a repository, and names both keys', (strategy) => {
    const error = refused(`strategy: ${strategy}`);
    expect(problemsIn(error)).toMatchObject([
      { key: 'workspace.strategy', details: { problem: 'needs_other', other: 'workspace.repo' } },
    ]);
    expect(error.message).toContain(strategy);
    expect(keysIn(refused(`strategy: ${strategy}, repo: " "`))).toEqual(['workspace.strategy']);
  });

  it('is not reported again when the repository is rejected', () => {
    expect(keysIn(refused('strategy: clone, repo: "ext::sh -c x"'))).toEqual(['workspace.repo']);
    expect(keysIn(refused('strategy: clone, repo: $NOT_SET'))).toEqual(['workspace.repo']);
  });
});

describe('workspace.repo', () => {
  it('follows the rules for paths', () => {
    const local = (path: string) => ({ location: path, shown: path, isLocal: true });
    expect(repoOf('.')).toEqual(local('/repo'));
    expect(repoOf('../x/')).toMatchObject({ isLocal: true });
    expect(repoOf('~/code')).toEqual(local('/home/me/code'));
    expect(repoOf('/a/../b')).toEqual(local('/b'));
    expect(repoOf('./a:b')).toEqual(local('/repo/a:b'));
    expect(repoOf('file:///srv/my%20repo')).toEqual(local('/srv/my repo'));
    expect(repoOf('file://localhost/srv/r')).toEqual(local('/srv/r'));
    expect(workspaceOf('repo: file:///srv/r').copyFrom).toBe('/srv/r');
  });

  it.each([
    ['https://git.example/a/b.git', 'https://git.example/a/b.git'],
    ['https://me:pw@git.example:8443/a', 'https://git.example:8443/a'],
    ['https://token@git.example/a', 'https://git.example/a'],
    ['http://me:p%40w@git.example/a?token=x#y', 'http://git.example/a'],
    ['https://a@b:pw@git.example/x', 'https://git.example/x'],
    ['git://git.example/a', 'git://git.example/a'],
    ['ssh://git@git.example:22/a', 'ssh://git@git.example:22/a'],
    ['ssh://git:pw@[::1]:22/a', 'ssh://git@[::1]:22/a'],
    ['git@git.example:a/b.git', 'git@git.example:a/b.git'],
    ['git.example:a', 'git.example:a'],
  ])('accepts the URL %s unchanged and shows it as %s', (location, shown) => {
    expect(repoOf(location)).toEqual({ location, shown, isLocal: false });
    expect(workspaceOf(`repo: ${JSON.stringify(location)}`).copyFrom).toBe('/repo');
  });

  // @conforms limits.20
  it.each([
    ['ext::sh -c "touch /tmp/x"', { problem: 'runs_program', transport: 'ext' }],
    ['fd::17', { problem: 'runs_program', transport: 'fd' }],
    ['https::https://x/y', { problem: 'runs_program', transport: 'https' }],
    ['--upload-pack=touch x', { problem: 'option' }],
    ['-oProxyCommand=x:y', { problem: 'option' }],
    ['ftp://x/y', { problem: 'unsupported_scheme', scheme: 'ftp', allowed: ['https', 'http', 'ssh', 'git', 'file'] }],
    ['HTTPS://x/y', { problem: 'unsupported_scheme', scheme: 'HTTPS' }],
    ['javascript://x', { problem: 'unsupported_scheme', scheme: 'javascript' }],
    ['ssh://-oProxyCommand=x/y', { problem: 'no_host' }],
    ['ssh://-x@host/y', { problem: 'no_host' }],
    ['git@-oProxyCommand=x:y', { problem: 'no_host' }],
    ['https:///a', { problem: 'no_host' }],
    ['https://me:hunter/2@host/a', { problem: 'no_host' }],
    ['file://other/srv/r', { problem: 'not_absolute' }],
    ['file:///%ff', { problem: 'not_a_path' }],
    ['file:///a%00b', { problem: 'not_a_path' }],
    ['/a\nb', { problem: 'control_character' }],
  ])('rejects %j with a reason', (repo, details) => {
    const problems = refusedRepo(repo);
    expect(problems).toMatchObject([
      { key: 'workspace.repo', message: expect.stringContaining('workspace.repo'), details },
    ]);
    expect(JSON.stringify(problems)).not.toContain('hunter');
  });

  it('may be exactly one variable, and an unset variable is an error', () => {
    expect(repoOf('$REPO', { REPO: ' ../x ' })?.location).toBe('/x');
    expect(repoOf('$REPO', { REPO: 'https://h/x' })?.isLocal).toBe(false);
    for (const env of [{}, { REPO: ' ' }])
      expect(refusedRepo('$REPO', env)).toMatchObject([
        { key: 'workspace.repo', details: { problem: 'not_set', variable: 'REPO' } },
      ]);
    expect(refusedRepo('$REPO', { REPO: 'ext::x' })).toMatchObject([{ details: { problem: 'runs_program' } }]);
    expect(givenMemory('workspace: {repo: $HOME/x}').warnings).toMatchObject([
      { code: 'doubtful_reference', key: 'workspace.repo' },
    ]);
  });

  // @conforms limits.21
  it('never shows its password, and warns about one in plain text', () => {
    const url = 'https://me:hunter2@git.example/a';
    const literal = givenMemory(`workspace: {repo: "${url}"}`);
    expect(literal.warnings).toMatchObject([{ code: 'literal_secret', key: 'workspace.repo' }]);
    const token = givenMemory('workspace: {repo: "https://abcdefghijklmnopqrstuvwx@git.example/a"}');
    expect(token.warnings).toMatchObject([{ code: 'literal_secret' }]);
    const via = givenMemory('workspace: {repo: $REPO}', { REPO: url });
    expect(via.warnings).toEqual([]);
    expect(via.settings.secretEnvironment).toContain('REPO');
    for (const { described, warnings } of [literal, via]) {
      expect(JSON.stringify([described, warnings])).not.toContain('hunter2');
      expect(described.find(({ key }) => key === 'workspace.repo')?.value).toBe('https://git.example/a');
    }
    expect(via.described.find(({ key }) => key === 'workspace.repo')?.origin).toMatch(/^file\b.*\$REPO$/);
    for (const misplaced of [`workspace: "${url}"`, `workspace: {repo: ["${url}"]}`])
      expect(refusal(() => givenMemory(misplaced)).message).not.toContain('hunter2');
  });

  it('withholds a variable with a password from every agent, and no other variable', () => {
    const env = { REPO: 'https://me:pw@h/x' };
    const wanted = 'workspace: {repo: $REPO}\nagent: {env: [REPO]}';
    expect(problemsIn(refusal(() => givenMemory(wanted, env)))).toMatchObject([
      { key: 'agent.env', details: { problem: 'secret_of_baton', variable: 'REPO' } },
    ]);
    expect(givenMemory(wanted, { REPO: '/srv/x' }).settings.secretEnvironment).not.toContain('REPO');
  });
});

describe('workspace.base', () => {
  it('must be a possible branch name', () => {
    expect(workspaceOf('base: " develop "').base).toBe('develop');
    expect(workspaceOf('base: ""').base).toBeNull();
    for (const bad of ['a..b', '-x', 'a b', 'x.lock', 'HEAD~1', '@{u}', '/a'])
      expect(keysIn(refused(`base: ${JSON.stringify(bad)}`)), bad).toEqual(['workspace.base']);
  });
});

describe('workspace.copy', () => {
  it('must stay inside the folder', () => {
    const good = ['.env', '.env.*', 'a/**/b', '.env{,.local}', '..env', 'a..b'];
    expect(workspaceOf(`copy: ${JSON.stringify(good)}`).copy).toEqual(good);
    const bad = ['/etc/passwd', '../x', 'a/../../b', '..', '{..,a}/x', '@(..|a)/x', '~/x', '~', ' ', ''];
    expect(keysIn(refused(`copy: ${JSON.stringify(bad)}`))).toEqual(bad.map((_, index) => `workspace.copy[${index}]`));
  });
});

describe('workspace.branch', () => {
  it('rejects invalid Liquid with its text, and without a line number', () => {
    const error = refused('branch: "b/{{ issue.identifier"');
    expect(problemsIn(error)).toEqual([
      expect.objectContaining({ key: 'workspace.branch', details: { problem: 'not_liquid' } }),
    ]);
    expect(error.message).toContain('b/{{ issue.identifier');
    expect(error.message).not.toMatch(/line \d/);
    expect(keysIn(refused('branch: "{{ issue.id | no_such_filter }}"'))).toEqual(['workspace.branch']);
  });

  it.each([
    ['"b/{{ attempt }}"', 'template_render_error', 'attempt', {}],
    ['"b/{{ issue.nope }}"', 'template_render_error', 'issue.nope', {}],
    ['work', 'invalid_workflow_config', '"work"', { problem: 'shared_branch', branch: 'work' }],
  ])('%s is found by validation', (branch, code, named, details) => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-branch-'));
    try {
      const file = join(folder, 'WORKFLOW.md');
      writeFileSync(file, `---\ntracker: {kind: memory}\nworkspace: {repo: /r, branch: ${branch}}\n---\nDo it.\n`);
      const { problems } = inspectWorkflow(file, givenContext());
      expect(problems).toMatchObject([{ code, severity: 'error', key: 'workspace.branch', details }]);
      expect(problems[0]?.message).toContain(named);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
