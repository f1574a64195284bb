// @module-tag full
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { fakeModelVariables } from '../fake/anthropic/claude-home.ts';
import { startFakeAnthropic } from '../fake/anthropic/fake-anthropic.ts';
import { describeWithClaude } from '../real/claude-binary.ts';
import { folderOnDisk } from '../temporary-folder.ts';
import { baton, leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

/** With these it asks no server but this one, where nothing listens. */
const nowhere = 'http://127.0.0.1:9';
const alone = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  ANTHROPIC_BASE_URL: nowhere,
  ANTHROPIC_BEDROCK_BASE_URL: nowhere,
  CLAUDE_CODE_SKIP_BEDROCK_AUTH: '1',
};

await describeWithClaude('baton doctor', (claude) => {
  /** What the doctor finds about Claude Code, by what it looked at. */
  async function examine(place: Place, section = '{}', hasProgram = true): Promise<Readonly<Record<string, unknown>>> {
    mkdirSync(path.join(place.home, 'bin'), { recursive: true });
    if (hasProgram) symlinkSync(claude.path, path.join(place.home, 'bin', 'claude'));
    // A login shell has a PATH of its own.
    place.write('home/.bash_profile', 'PATH=$HOME/bin:$PATH\n');
    const base = ['tracker: {kind: board}', 'workspace: {root: workspaces}', 'agent: {backend: claude}'];
    place.write('WORKFLOW.md', ['---', ...base, `claude: ${section}`, '---', 'Work.'].join('\n'));
    return look(place);
  }

  async function look(place: Place): Promise<Readonly<Record<string, unknown>>> {
    const { stdout } = await baton(place, 'doctor', 'WORKFLOW.md', '--json');
    expect(place.pids()).toEqual([]);
    const { findings } = JSON.parse(stdout) as { findings: { check: string }[] };
    return Object.fromEntries(findings.map((each) => [each.check, each]));
  }

  it('reports a working one with a key, and asks no model', async () => {
    await using model = await startFakeAnthropic();
    using place = new Place(fakeModelVariables(model.url), folderOnDisk());
    expect(await examine(place)).toMatchObject({
      claude: { status: 'ok', details: { version: expect.stringMatching(/^\d+\.\d+\.\d+/) } },
      claude_login: { status: 'ok', details: { kind: 'api_key' } },
    });
    expect(model.requests).toEqual([]);
  }, 60_000);

  it.each([
    ['a cloud provider', { CLAUDE_CODE_USE_BEDROCK: '1' }, { kind: 'third_party', provider: 'bedrock' }],
    ['a token', { CLAUDE_CODE_OAUTH_TOKEN: 'not-a-token' }, { kind: 'oauth_token' }],
  ])(
    'reports the login by %s',
    async (_, env, details) => {
      using place = new Place({ ...alone, ...env }, folderOnDisk());
      expect(await examine(place)).toMatchObject({ claude: { status: 'ok' }, claude_login: { status: 'ok', details } });
    },
    60_000,
  );

  it('tells logged out and expired apart', async () => {
    using place = new Place(alone, folderOnDisk());
    expect(await examine(place)).toMatchObject({
      claude: { status: 'ok' },
      claude_login: { status: 'failed', code: 'logged_out', next_step: expect.stringContaining('claude auth login') },
    });
    const hourMs = 3_600_000;
    const login = (endsAt: number): string =>
      JSON.stringify({
        claudeAiOauth: {
          accessToken: 'not-a-token',
          refreshToken: 'not-a-token',
          expiresAt: endsAt,
          refreshTokenExpiresAt: endsAt,
          scopes: ['user:inference', 'user:profile'],
          subscriptionType: 'max',
        },
      });
    place.write('home/.claude/.credentials.json', login(Date.now() + hourMs));
    expect(await look(place)).toMatchObject({
      claude_login: { status: 'ok', details: { kind: 'claude.ai', plan: 'max' } },
    });
    place.write('home/.claude/.credentials.json', login(Date.now() - hourMs));
    expect(await look(place)).toMatchObject({ claude_login: { status: 'failed', code: 'expired' } });
  }, 90_000);

  it('says that there is none, or that it does not start with these settings', async () => {
    using without = new Place({}, folderOnDisk());
    expect(await examine(without, '{}', false)).toMatchObject({ claude: { status: 'failed', code: 'not_found' } });
    using broken = new Place({}, folderOnDisk());
    expect(await examine(broken, '{args: [--no-such-flag]}')).toMatchObject({
      claude: { status: 'failed', code: 'does_not_start' },
    });
  }, 60_000);
});
