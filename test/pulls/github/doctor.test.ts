import { afterEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/text/secret.ts';
import { githubHost } from '../../../src/pulls/github/github-host.ts';
import { git } from '../../workspace/git/scratch-repository.ts';
import { type GithubScene, githubScene, stopGithubs } from './github-scene.ts';

let scene: GithubScene;

afterEach(async () => {
  expect(scene.github.complaints).toEqual([]);
  await stopGithubs();
});

const codesOf = async (found: ReturnType<GithubScene['doctor']>) =>
  (await found).map(({ check, status, code }) => [check, status, code]);

describe('baton doctor about GitHub', () => {
  it('finds nothing wrong, and writes nothing', async () => {
    scene = await githubScene();
    expect(await codesOf(scene.doctor())).toEqual([
      ['github_token', 'ok', 'ok'],
      ['github_repository', 'ok', 'ok'],
      ['github_base', 'ok', 'ok'],
      ['github_push', 'ok', 'ok'],
    ]);
    expect(scene.sent.map(({ method, job }) => [method, job])).toEqual(Array(5).fill(['GET', 'doctor']));
  });

  it('tells a wrong token, a wrong repository, SSO and an unreachable host apart, each with a next step', async () => {
    scene = await githubScene();
    const { doctor, github } = scene;
    const one = async (over: Parameters<typeof doctor>[0]) => {
      const [finding] = await doctor(over);
      expect(finding?.nextStep).toMatch(/./);
      expect(JSON.stringify(finding)).not.toContain(github.token);
      return finding?.code;
    };
    expect(await one({ token: new Secret('ghp_wrongTokenOfSomeone') })).toBe('github_auth');
    expect(await one({ repository: 'acme/other' })).toBe('github_not_found');
    expect(await one({ apiUrl: 'http://127.0.0.1:9/api/v3' })).toBe('github_unreachable');
    expect(await one({ token: null })).toBe('github_login_missing');
    expect(await one({ repository: 'acme' })).toBe('unsupported_setting');
    github.accounts.set(github.token, { login: 'x', canWrite: true, needsSso: true, scopes: null });
    expect(await one({})).toBe('github_sso');
  });

  it('tells an address of another repository', async () => {
    scene = await githubScene();
    const { gitUrl } = scene.github;
    const about = async (location: string) => {
      const repo = { location, shown: location, isLocal: false };
      const found = await githubHost.doctor?.({ ...scene.parts(), repo }, { base: null, branch: 'baton/example-1' });
      return found?.map(({ code }) => code);
    };
    expect(await about(gitUrl.replace('/app', '/other'))).toEqual(['unsupported_setting']);
    expect(await about(gitUrl)).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  it('warns where the clone on this machine is of another repository', async () => {
    scene = await githubScene();
    const { github, source, doctor } = scene;
    const warnings = async () => (await codesOf(doctor())).filter(([, status]) => status !== 'ok');
    const remote = (name: string, url: string) => git(source, 'remote', 'add', name, url);
    remote('elsewhere', 'https://gitlab.example.org/acme/other.git');
    expect(await warnings()).toEqual([]);
    remote('origin', github.gitUrl.replace('/app', '/Other'));
    expect(await warnings()).toEqual([['github_repository', 'warning', 'another_repository']]);
    // The usual clone of a fork.
    remote('upstream', github.gitUrl.replace('/acme/app', '/Acme/App'));
    expect(await warnings()).toEqual([]);
  });

  it('tells a missing scope, missing write access, a missing base and rules apart', async () => {
    scene = await githubScene();
    const { doctor, github } = scene;
    const codes = async (base?: string) => (await codesOf(doctor({}, base))).filter(([, status]) => status !== 'ok');
    github.accounts.set(github.token, { login: 'x', canWrite: true, scopes: 'read:org, gist' });
    expect(await codes()).toEqual([['github_token', 'failed', 'missing_scope']]);
    github.accounts.set(github.token, { login: 'x', canWrite: false, scopes: null });
    expect(await codes()).toEqual([
      ['github_repository', 'failed', 'no_write_access'],
      ['github_push', 'failed', 'no_write_access'],
      ['github_pulls', 'failed', 'no_pull_request_access'],
    ]);
    expect(await codesOf(doctor({ push: false }))).toHaveLength(5);
    github.accounts.set(github.token, { login: 'x', canWrite: true, scopes: null });
    // What such a token may do shows only when it tries.
    const fine = { login: 'x', canWrite: true, scopes: null };
    github.accounts.set(github.token, { ...fine, canPush: false });
    expect(await codes()).toEqual([['github_push', 'failed', 'no_write_access']]);
    github.accounts.set(github.token, { ...fine, canWritePulls: false });
    expect(await codes()).toEqual([['github_pulls', 'failed', 'no_pull_request_access']]);
    github.accounts.set(github.token, { ...fine, canReadChecks: false });
    expect(await codes()).toEqual([['github_checks', 'warning', 'checks_unreadable']]);
    github.accounts.set(github.token, fine);
    expect(await codes()).toEqual([]);
    expect(github.pulls).toEqual([]);
    expect(await codes('develop')).toEqual([['github_base', 'failed', 'unknown_base']]);
    for (const rule of ['required_signatures', 'pull_request', 'branch_name_pattern']) {
      github.rules.branches = ['deletion', rule];
      const found = (await doctor()).filter(({ status }) => status !== 'ok');
      const data = { code: 'protected_branches', details: { rules: [rule] }, nextStep: expect.stringMatching(/./) };
      expect(found).toMatchObject([{ check: 'github_push', status: 'warning', ...data }]);
    }
    github.rules.branches = ['deletion'];
    expect(await codes()).toEqual([]);
  });
});
