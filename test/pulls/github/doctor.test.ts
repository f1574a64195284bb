import { afterEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/text/secret.ts';
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
    expect(scene.sent.map(({ method, job }) => [method, job])).toEqual(Array(4).fill(['GET', 'doctor']));
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

  it('tells a missing scope, missing write access, a missing base and rules apart', async () => {
    scene = await githubScene();
    const { doctor, github } = scene;
    const codes = async (base?: string) => (await codesOf(doctor({}, base))).filter(([, status]) => status !== 'ok');
    github.accounts.set(github.token, { login: 'x', canWrite: true, scopes: 'read:org, gist' });
    expect(await codes()).toEqual([['github_token', 'failed', 'missing_scope']]);
    github.accounts.set(github.token, { login: 'x', canWrite: false, scopes: null });
    expect(await codes()).toEqual([['github_repository', 'failed', 'no_write_access']]);
    expect(await codesOf(doctor({ push: false }))).toHaveLength(3);
    github.accounts.set(github.token, { login: 'x', canWrite: true, scopes: null });
    expect(await codes('develop')).toEqual([['github_base', 'failed', 'unknown_base']]);
    github.rules.branches = ['required_signatures', 'deletion'];
    expect(await codes()).toEqual([['github_push', 'warning', 'protected_branches']]);
  });
});
