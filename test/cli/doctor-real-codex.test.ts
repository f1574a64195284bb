import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
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

await describeWithCodex('baton doctor', (codex) => {
  /** What the doctor says of this configuration of Codex, without the lines that are not about it. */
  async function examine(place: Place, config: string, settings = '{}', command = 'codex app-server'): Promise<string> {
    mkdirSync(path.join(place.home, 'bin'), { recursive: true });
    symlinkSync(codex.path, path.join(place.home, 'bin', 'codex'));
    // A login shell has a PATH of its own.
    place.write('home/.bash_profile', 'PATH=$HOME/bin:$PATH\n');
    place.write('home/.codex/config.toml', config);
    const more = settings.slice(1, -1);
    const codexSettings = `codex: {command: ${JSON.stringify(command)}${more === '' ? '' : `, ${more}`}}`;
    const lines = ['---', 'tracker: {kind: board}', 'workspace: {root: workspaces}', codexSettings, '---', 'Work.'];
    place.write('WORKFLOW.md', lines.join('\n'));
    const { stdout, stderr } = await baton(place, 'doctor', 'WORKFLOW.md');
    expect(stderr).toBe('');
    expect(place.pids()).toEqual([]);
    return stdout.slice(stdout.search(/^.{5}codex /m));
  }

  it('tells one that works, and asks no model for it', async () => {
    await using model = await startFakeOpenAi();
    using place = new Place({}, folderOnDisk());
    place.write('home/.gitconfig', known);
    const { home } = codexHome(place.folder, model.url);
    const config = readFileSync(path.join(home, 'config.toml'), 'utf8');
    const told = await examine(place, '', `{}`, `env CODEX_HOME=${home} codex app-server`);
    expect(told).toMatch(
      new RegExp(
        [
          '^ok {3}codex +\\d+\\.\\d+\\.\\d+ answers',
          'ok {3}codex policies +Codex takes them',
          'ok {3}codex login +account "codex": its model needs no OpenAI login',
          'ok {3}codex commit +works in the sandbox, with the git directory outside of the workspace\n$',
        ].join('.*\n'),
      ),
    );
    expect(model.requests).toEqual([]);
    // Codex would note there that it trusts the folder.
    expect(readFileSync(path.join(home, 'config.toml'), 'utf8')).toBe(config);
  });

  it('tells one that nobody is logged in to, and one with a key', async () => {
    await using model = await startFakeOpenAi();
    using place = new Place({ OPENAI_API_KEY: 'sk-canary' }, folderOnDisk());
    place.write('home/.gitconfig', known);
    const out = await examine(place, `openai_base_url = "${model.url}"\n${quiet}`);
    // A variable alone is no login: the app server does not read it.
    expect(out).toMatch(
      /^FAIL codex login +account "codex": nobody is logged in\n +mend it with: +codex login, or with your key: printenv OPENAI_API_KEY \| codex login --with-api-key$/m,
    );
    // As a person types it.
    const [, withKey = ''] = /with your key: (.*)$/m.exec(out) ?? [];
    expect((await startProgram(place, 'bash', ['-lc', withKey]).ended).code).toBe(0);
    const { code, stdout } = await baton(place, 'doctor', 'WORKFLOW.md');
    expect(stdout).toMatch(
      /^ok {3}codex login +account "codex": logged in with an API key; if it is refused: printenv/m,
    );
    expect(stdout).not.toContain('canary');
    expect(code).toBe(0);
    // It may look which models there are; it asks none.
    expect(model.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('tells settings that Codex cannot read', async () => {
    using place = new Place({}, folderOnDisk());
    const told = await examine(place, `${quiet}model = [`);
    expect(told).toMatch(/^FAIL codex policies .*config\.toml.*\n +mend it with: +mend config\.toml in .*\.codex$/m);
  });

  it.each([
    ['{approval_policy: on-failure}', 'codex policies', 'codex.approval_policy'],
    ['{approval_policy: {granular: {rules: perhaps}}}', 'codex policies', 'codex.approval_policy'],
    ['{thread_sandbox: sandy}', 'codex policies', 'codex.thread_sandbox'],
    ['{turn_sandbox_policy: {type: sandy}}', 'codex commit', 'codex.turn_sandbox_policy'],
  ])('tells a policy that Codex refuses: %s', async (settings, name, key) => {
    using place = new Place({}, folderOnDisk());
    const told = await examine(place, quiet, settings);
    expect(told).toMatch(new RegExp(`^FAIL ${name} .*Codex refused.*\n +mend it with: +mend ${key}$`, 'm'));
  });

  it('takes the policy that a file without any has, and lets git tell that it knows no name', async () => {
    using place = new Place({}, folderOnDisk());
    const told = await examine(place, quiet);
    expect(told).toMatch(/^ok {3}codex policies/m);
    expect(told).toMatch(/^ok {3}codex commit +works in the sandbox/m);
    expect(told).toMatch(/^FAIL git identity .*\n +mend it with: +git config --global user\.name/m);
  });

  it('tells a sandbox that cannot be had here', async () => {
    using place = new Place({}, folderOnDisk());
    const poor = `echo 0 > /proc/sys/user/max_mnt_namespaces; exec codex app-server`;
    const told = await examine(place, quiet, '{}', `unshare --user --map-root-user sh -c '${poor}'`);
    expect(told).toMatch(/^ok {3}codex +\d/m);
    expect(told).toMatch(
      /^FAIL codex commit +this machine does not let Codex make its sandbox: bwrap.*\n +mend it with: .*namespaces/m,
    );
  });

  it('tells that a commit cannot be signed', async () => {
    using place = new Place({}, folderOnDisk());
    place.write('home/.gitconfig', `${known}[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = false\n`);
    expect(await examine(place, quiet)).toMatch(
      /^FAIL codex commit +the commit cannot be signed.*\n +mend it with: .*gpgsign false/m,
    );
  });
});
