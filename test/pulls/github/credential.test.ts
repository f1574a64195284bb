import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { createRedactor } from '../../../src/core/text/redact.ts';
import { Secret } from '../../../src/core/text/secret.ts';
import { githubCredential } from '../../../src/pulls/github/github-credential.ts';
import { fakeGh } from '../../fake/github/fake-gh.ts';
import { scratchFolder } from '../../workspace/scratch-folder.ts';

function withGh(acts: string) {
  const folder = scratchFolder();
  const daemonEnv = {
    PATH: `${fakeGh(folder, acts)}:${process.env.PATH}`,
    HOME: folder,
    GH_TOKEN: 'of another program',
  };
  // A gh that hangs is ended after its time, which passes quickly here.
  const clock = { ...systemClock, schedule: (ms: number, act: () => void) => systemClock.schedule(ms / 50, act) };
  const deps = { clock, containment: 'marker_sweep' as const, daemonId: 'd', daemonEnv, redactor: createRedactor([]) };
  return { folder, credential: githubCredential(null, 'github.example.org', deps), deps };
}

const asked = 'auth token --hostname github.example.org []\n';

describe('the login of gh', () => {
  it('is asked for once, for the host, without a token of the environment, and again after GitHub refused it', async () => {
    const { folder, credential, deps } = withGh(`n=$(wc -l < "$HOME/asked"); echo gho_token_number_$n`);
    const token = async () => (await credential.token()).reveal();
    expect(await Promise.all([token(), token()])).toEqual(['gho_token_number_1', 'gho_token_number_1']);
    expect(readFileSync(path.join(folder, 'asked'), 'utf8')).toBe(asked);
    credential.refused();
    expect(await token()).toBe('gho_token_number_2');
    expect(deps.redactor.redact('a gho_token_number_2 in a log')).toBe('a [secret] in a log');
  });

  it.each([
    ['fails', 'echo "no oauth token" >&2; exit 1', 'no oauth token'],
    ['is empty', 'exit 0', 'it gave no token'],
    ['is no token', 'echo "To get started, run gh auth login"', 'it gave no token'],
    ['hangs', 'sleep 3600', 'it did not end within 20 seconds'],
  ])('that %s is a missing login, with the reason, and is asked for again', async (_what, acts, said) => {
    const { credential } = withGh(acts);
    for (let time = 0; time < 2; time += 1)
      await expect(credential.token()).rejects.toMatchObject({
        code: 'github_login_missing',
        details: { host: 'github.example.org', said },
      });
  });

  it('is missing without the program, and not needed with a token of the settings', async () => {
    const { deps } = withGh('exit 1');
    const without = { ...deps, daemonEnv: { PATH: '/nonexistent', HOME: '/' } };
    await expect(githubCredential(null, 'github.com', without).token()).rejects.toMatchObject({
      code: 'github_login_missing',
    });
    const given = githubCredential(new Secret('ghp_given'), 'github.com', without);
    expect((await given.token()).reveal()).toBe('ghp_given');
  });
});
