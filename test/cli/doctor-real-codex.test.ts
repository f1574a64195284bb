// @module-tag full
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { codexHome } from '../fake/openai/codex-home.ts';
import { startFakeOpenAi } from '../fake/openai/fake-openai.ts';
import { describeWithCodex } from '../real/codex-binary.ts';
import { folderOnDisk } from '../temporary-folder.ts';
import { baton, leaveNoPlaces, Place, startProgram } from './run-baton.ts';

leaveNoPlaces();

/** As the fake's configuration has it, but with OpenAI as the provider: nothing that reaches for a network. */
const quiet =
  '[analytics]\nenabled = false\n[features]\napps = false\nplugins = false\nremote_plugin = false\nplugin_discovery_prefetch = false\n';

const known = '[user]\n\tname = A\n\temail = a@example.org\n';

interface Line {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly next_step: string | null;
}

type Seen = Readonly<Record<string, Line>>;

await describeWithCodex('baton doctor', (codex) => {
  /** What the doctor finds with this configuration of Codex, by what it looked at. */
  async function examine(
    place: Place,
    config: string,
    settings = '{}',
    command = 'codex app-server',
    isolation = 'namespaces',
  ): Promise<Seen> {
    mkdirSync(path.join(place.home, 'bin'), { recursive: true });
    symlinkSync(codex.path, path.join(place.home, 'bin', 'codex'));
    // A login shell has a PATH of its own.
    place.write('home/.bash_profile', 'PATH=$HOME/bin:$PATH\n');
    place.write('home/.codex/config.toml', config);
    const more = settings.slice(1, -1);
    const codexSettings = `codex: {command: ${JSON.stringify(command)}${more === '' ? '' : `, ${more}`}}`;
    const base = ['tracker: {kind: board}', 'workspace: {root: workspaces}', `agent: {isolation: ${isolation}}`];
    const lines = ['---', ...base, codexSettings, '---', 'Work.'];
    place.write('WORKFLOW.md', lines.join('\n'));
    return look(place);
  }

  async function look(place: Place): Promise<Seen> {
    const { stdout, stderr } = await baton(place, 'doctor', 'WORKFLOW.md', '--json');
    expect(stderr).toBe('');
    expect(stdout).not.toContain('canary');
    expect(place.pids()).toEqual([]);
    const { findings } = JSON.parse(stdout) as { findings: Line[] };
    return Object.fromEntries(findings.map((each) => [each.check, each]));
  }

  // @conforms tools.26
  it('reports a working one, and asks no model', async () => {
    await using model = await startFakeOpenAi();
    using place = new Place({}, folderOnDisk());
    place.write('home/.gitconfig', known);
    const { home } = codexHome(place.folder, model.url);
    const config = readFileSync(path.join(home, 'config.toml'), 'utf8');
    const seen = await examine(place, '', `{}`, `env CODEX_HOME=${home} codex app-server`);
    expect(seen).toMatchObject({
      codex: { status: 'ok', details: { version: expect.stringMatching(/^\d+\.\d+\.\d+/) } },
      codex_policies: { status: 'ok', code: 'ok' },
      codex_login: { status: 'ok', code: 'not_needed' },
      codex_commit: { status: 'ok', code: 'ok', details: { sandbox: 'workspaceWrite' } },
    });
    expect(Object.keys(seen)).not.toContain('git_identity');
    expect(model.requests).toEqual([]);
    // Codex would note there that it trusts the folder.
    expect(readFileSync(path.join(home, 'config.toml'), 'utf8')).toBe(config);
  });

  // @conforms tools.26
  it('reports one without a login, and one with a key', async () => {
    await using model = await startFakeOpenAi();
    using place = new Place({ OPENAI_API_KEY: 'sk-canary' }, folderOnDisk());
    place.write('home/.gitconfig', known);
    const out = await examine(place, `openai_base_url = "${model.url}"\n${quiet}`);
    // A variable alone is no login: the app server does not read it.
    expect(out.codex_login).toMatchObject({
      status: 'failed',
      code: 'logged_out',
      next_step: expect.stringMatching(/^codex login\b.*printenv OPENAI_API_KEY \| codex login --with-api-key$/),
    });
    // As a person types it.
    const [withKey = ''] = /printenv .*$/.exec(out.codex_login?.next_step ?? '') ?? [];
    expect((await startProgram(place, 'bash', ['-lc', withKey]).ended).code).toBe(0);
    const loggedIn = await look(place);
    expect(loggedIn.codex_login).toMatchObject({
      status: 'ok',
      code: 'ok',
      details: { kind: 'apiKey' },
      message: expect.stringContaining('printenv OPENAI_API_KEY | codex login --with-api-key'),
    });
    expect(Object.values(loggedIn).filter(({ status }) => status === 'failed')).toEqual([]);
    // It may look which models there are; it asks none.
    expect(model.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('reports settings that Codex cannot read', async () => {
    using place = new Place({}, folderOnDisk());
    const { codex_policies: policies } = await examine(place, `${quiet}model = [`);
    expect(policies).toMatchObject({
      status: 'failed',
      code: 'broken_config',
      message: expect.stringContaining('config.toml'),
      next_step: expect.stringMatching(/config\.toml.*\.codex$/),
    });
  });

  it.each([
    ['{approval_policy: on-failure}', 'codex_policies', 'codex.approval_policy'],
    ['{approval_policy: {granular: {rules: perhaps}}}', 'codex_policies', 'codex.approval_policy'],
    ['{thread_sandbox: sandy}', 'codex_policies', 'codex.thread_sandbox'],
    ['{turn_sandbox_policy: {type: sandy}}', 'codex_commit', 'codex.turn_sandbox_policy'],
  ])('reports a policy that Codex refuses: %s', async (settings, check, key) => {
    using place = new Place({}, folderOnDisk());
    const seen = await examine(place, quiet, settings);
    expect(seen[check]).toMatchObject({
      status: 'failed',
      code: 'refused',
      next_step: expect.stringContaining(key),
    });
  });

  it('accepts the default policy, and reports that git has no name', async () => {
    using place = new Place({}, folderOnDisk());
    expect(await examine(place, quiet)).toMatchObject({
      codex_policies: { status: 'ok', code: 'ok' },
      codex_commit: { status: 'ok', code: 'ok', details: { sandbox: 'workspaceWrite' } },
      git_identity: {
        status: 'failed',
        code: 'unknown',
        next_step: expect.stringContaining('git config --global user.name'),
      },
    });
  });

  it('reports a sandbox that is not available here', async () => {
    using place = new Place({}, folderOnDisk());
    const poor = `echo 0 > /proc/sys/user/max_mnt_namespaces; exec codex app-server`;
    expect(await examine(place, quiet, '{}', `unshare --user --map-root-user sh -c '${poor}'`, 'none')).toMatchObject({
      codex: { status: 'ok' },
      codex_commit: {
        status: 'failed',
        code: 'no_sandbox_here',
        message: expect.stringContaining('bwrap'),
        next_step: expect.stringContaining('user.max_user_namespaces'),
      },
    });
  });

  it('reports that a commit cannot be signed; isolated, it is not signed', async () => {
    using place = new Place({}, folderOnDisk());
    place.write('home/.gitconfig', `${known}[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = false\n`);
    expect((await examine(place, quiet)).codex_commit).toMatchObject({ status: 'ok' });
    rmSync(path.join(place.home, 'bin'), { recursive: true });
    expect((await examine(place, quiet, '{}', undefined, 'none')).codex_commit).toMatchObject({
      status: 'failed',
      code: 'not_signed',
      next_step: expect.stringContaining('gpgsign false'),
    });
  });
});
