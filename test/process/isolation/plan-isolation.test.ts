import { describe, expect, it } from 'vitest';
import { isHiddenBy, ruleFor } from '../../../src/process/isolation/isolation-plan.ts';
import { type IsolationGround, planIsolation } from '../../../src/process/isolation/plan-isolation.ts';
import { homePaths, homeSecrets } from '../../../src/process/isolation/usual-paths.ts';

const ground: IsolationGround = {
  homes: ['/home/me'],
  stateFolders: ['/home/me/.local/state/baton/project', '/home/me/.local/state/baton'],
  workspaceRoot: '/home/me/.local/state/baton/project/workspaces',
  reads: ['/home/me/code/project', '/home/me/code/project/WORKFLOW.md'],
  searchPath: '/usr/bin:/home/me/tools/bin:/home/me/.cloud/bin:/home/me/.nvm/versions/node/bin:/opt/tool/bin',
  gitConfiguration: '[user]\n\tname = Me\n',
  readSetting: [],
  writeSetting: [],
  hasLayers: true,
};
const own = `${ground.workspaceRoot}/BAT-1`;
const place = {
  workspace: own,
  writes: ['/home/me/.local/state/baton/project/git/BAT-1', '/home/me/.codex'],
  reads: ['/home/me/.local/state/baton/project/git/caches'],
};

function accessTo(path: string, more: Partial<IsolationGround> = {}, reads: string[] = place.reads): string | null {
  const { rules } = planIsolation({ ...ground, ...more }, { ...place, reads });
  return ruleFor(rules, path)?.access ?? null;
}

describe('the view of an isolated agent', () => {
  it.each([
    [`${own}/src/file`, 'write'],
    ['/home/me/.local/state/baton/project/git/BAT-1/HEAD', 'write'],
    ['/home/me/.codex/auth.json', 'write'],
    ['/home/me/code/project/.git/config', 'read'],
    ['/home/me/code/project/WORKFLOW.md', 'read'],
    ['/home/me/.local/state/baton/project/git/caches/objects', 'read'],
    ['/home/me/tools/bin/tool', 'read'],
    ['/home/me/tools/lib/library', 'read'],
    ['/home/me/.cloud/bin/tool', 'read'],
    ['/home/me/.cloud/login', 'private'],
    ['/home/me/.nvm/versions/node/bin/node', 'layered'],
    ['/home/me/.cargo/bin/cargo', 'layered'],
    ['/home/me/.cargo/credentials.toml', 'hidden'],
    ['/home/me/letters', 'private'],
    ['/home/me/.config/my-tool', 'private'],
    ['/tmp/socket', 'private'],
    ['/run/user/1000/bus', 'hidden'],
    // A group of the user may make it root there, and a socket needs no file system for writing.
    ['/var/snap/lxd/common/lxd/unix.socket', 'hidden'],
    ['/var/lib/lxd/unix.socket', 'hidden'],
    ['/var/lib/incus/unix.socket', 'hidden'],
    ['/home/me/.local/state/baton/tokens.json', 'hidden'],
    ['/home/me/.local/state/baton/project/baton.db', 'hidden'],
    [`${ground.workspaceRoot}/BAT-2/file`, 'hidden'],
    ['/opt/tool/bin/tool', null],
    ['/nix/store/program', null],
    ['/usr/bin/git', null],
  ])('%s: %s', (path, access) => {
    expect(accessTo(path)).toBe(access);
  });

  it.each(homeSecrets)('hides ~/%s, also in a home that is shown', (secret) => {
    const plan = planIsolation({ ...ground, readSetting: ['/home/me'] }, place);
    expect(isHiddenBy(plan, `/home/me/${secret}`)).toBe(true);
    expect(isHiddenBy(plan, '/home/me/letters')).toBe(false);
  });

  it('shows a place of secrets that a setting names', () => {
    expect(accessTo('/home/me/.ssh/key', { readSetting: ['/home/me/.ssh'] })).toBe('read');
  });

  it('has no layers on a machine without them', () => {
    const { rules } = planIsolation({ ...ground, hasLayers: false }, place);
    expect(rules.filter(({ access }) => access === 'layered')).toEqual([]);
    expect(homePaths.some(({ access }) => access === 'layered')).toBe(true);
  });

  it.each([
    ['the home', '/home/me', '/home/me/letters', 'private'],
    ['the folder for temporary files', '/tmp', '/tmp/socket', 'private'],
    ['a folder around homes', '/home', '/home/me/letters', 'private'],
    ['the root', '/', '/home/me/letters', 'private'],
    ['services', '/run', '/run/user/1000/bus', 'hidden'],
    ['devices', '/dev/null', '/dev/null', null],
  ])('does not change because a workflow file or a program is in %s', (_, folder, path, access) => {
    expect(accessTo(path, { reads: [folder] })).toBe(access);
    expect(accessTo(path, {}, [folder, `${folder}/.`])).toBe(access);
  });

  it('keeps the workflow file from being written in a folder for writing', () => {
    const writeSetting = ['/home/me/code/project'];
    expect(accessTo('/home/me/code/project/src', { writeSetting })).toBe('write');
    expect(accessTo('/home/me/code/project/WORKFLOW.md', { writeSetting })).toBe('read');
  });

  it('lets a setting win over the folder of a program', () => {
    const program = ['/home/me/work/agent.sh', '/home/me/work/', '/home/me/work/lib/'];
    const writeSetting = ['/home/me/work/'];
    for (const each of ['/home/me/work/log', '/home/me/work/lib/log', '/home/me/work/agent.sh'])
      expect(accessTo(each, { writeSetting }, program)).toBe('write');
    expect(accessTo('/home/me/work/lib/library', {}, program)).toBe('read');
  });

  it('has a workspace for reading in a read-only session, whatever a setting lets the agent write', () => {
    const writeSetting = [ground.workspaceRoot, `${own}/build`, '/home/me/work'];
    const { rules } = planIsolation({ ...ground, writeSetting }, { ...place, isReadOnly: true });
    const accessOf = (each: string) => ruleFor(rules, each)?.access;
    for (const each of [own, `${own}/src/file`, `${own}/build/file`]) expect(accessOf(each)).toBe('read');
    expect(accessOf('/home/me/work/file')).toBe('write');
    expect(accessOf('/home/me/.codex/auth.json')).toBe('write');
  });

  it('keeps the state folder hidden when a setting names a folder around it', () => {
    const writeSetting = ['/home/me/.local/state'];
    expect(accessTo('/home/me/.local/state/other', { writeSetting })).toBe('write');
    expect(accessTo('/home/me/.local/state/baton/tokens.json', { writeSetting })).toBe('hidden');
  });
});
