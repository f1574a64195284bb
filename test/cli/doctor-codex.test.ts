import { chmodSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkWorkflow } from '../../src/cli/doctor/check-workflow.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { Finding } from '../../src/core/finding.ts';
import type { Surroundings } from '../../src/daemon/surroundings.ts';
import type { Scenario } from '../fake/app-server/scenario.ts';
import { type FakeAppServer, writeFakeAppServer } from '../fake/app-server/write-fake-app-server.ts';
import { baton, leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

interface Seen {
  readonly isHealthy: boolean;
  /** The lines about the agent, in their order. */
  readonly lines: readonly Finding[];
  readonly stdout: string;
}

const committed = 'git -c user.name=A -c user.email=a@example.org commit --allow-empty -qm made';

/** A Codex that is logged in, and in whose sandbox a commit works. */
const good: Scenario = {
  answers: {
    initialize: { result: { userAgent: 'baton/0.166.0 (Linux)', codexHome: '/nowhere' } },
    'account/read': { result: { account: { type: 'chatgpt', planType: 'plus' }, requiresOpenaiAuth: true } },
    'command/exec': { result: { exitCode: 0, stdout: '', stderr: '' } },
  },
  before: { 'command/exec': [{ run: committed }] },
};

/** What the doctor finds; the program around it is started only where its words are looked at. */
async function examine(place: Place, command: string, more = '', policy = ''): Promise<Seen> {
  const file = place.write('WORKFLOW.md', workflow(command, more, policy));
  const findings = await checkWorkflow(file, surroundingsOf(place));
  // Whatever is found: nothing is left running, and nothing is left lying about.
  expect(place.pids()).toEqual([]);
  expect(readdirSync(place.folder, { recursive: true }).filter((name) => `${name}`.includes('baton-doctor'))).toEqual(
    [],
  );
  const lines = findings.slice(findings.findIndex(({ check }) => check === 'memory') + 1);
  const isHealthy = lines.every(({ status }) => status !== 'failed');
  return { isHealthy, lines, stdout: JSON.stringify(findings) };
}

function surroundingsOf(place: Place): Surroundings {
  return {
    clock: systemClock,
    chance: systemChance,
    env: place.env,
    cwd: place.folder,
    homeDir: place.home,
    tmpDir: place.temporary,
    timeZone: 'UTC',
    uid: process.getuid?.() ?? null,
    hostName: 'here',
    userName: 'somebody',
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    batonPath: 'baton',
    nodePath: process.execPath,
    nodeVersion: process.versions.node,
    platform: process.platform,
    version: '0.0.0',
    agentProgram: () => new URL('file:///nowhere'),
    dashboardFolder: new URL('file:///nowhere'),
    closeInherited: () => {},
    interrupt: () => {},
    onSignal: () => () => {},
  };
}

function workflow(command: string, more = '', policy = ''): string {
  const codex = `codex: {command: ${JSON.stringify(command)}${policy === '' ? '' : `, ${policy}`}}`;
  // The fakes keep their traces next to the workflow file.
  const agent = (more.includes('agent: {') ? more : `agent: {}\n${more}`).replace('{', '{isolation_write: [.], ');
  return ['---', 'tracker: {kind: memory}', 'workspace: {root: workspaces}', codex, agent, '---', 'Work.'].join('\n');
}

function fake(place: Place, scenario: Scenario): FakeAppServer {
  return writeFakeAppServer(path.join(place.folder, 'fake'), scenario);
}

function withAnswers(answers: NonNullable<Scenario['answers']>): Scenario {
  return { ...good, answers: { ...good.answers, ...answers } };
}

describe.concurrent('baton doctor with Codex', () => {
  it('has a line for the program, the policies, the login and a commit', async () => {
    using place = new Place();
    const codex = fake(place, good);
    const { isHealthy, lines } = await examine(place, codex.command);
    expect(lines.map(({ check, code, details }) => [check, code, details])).toEqual([
      ['codex', 'ok', { version: '0.166.0' }],
      ['codex_policies', 'ok', {}],
      ['codex_login', 'ok', { account: 'codex', kind: 'chatgpt', plan: 'plus' }],
      ['codex_commit', 'ok', { sandbox: 'workspaceWrite' }],
    ]);
    expect(isHealthy).toBe(true);
    expect(lines[0]?.message).toContain('0.166.0');
    expect(lines[2]?.message).toMatch(/"codex".*ChatGPT.*plus/);
    expect(codex.trace().map(({ method, started }) => method ?? (started && 'started'))).toEqual([
      ...['started', 'initialize', 'initialized', 'thread/start', 'account/read', 'command/exec'],
    ]);
    expect(codex.sent('thread/start')).toMatchObject([{ ephemeral: true }]);
    expect(codex.sent('account/read')).toEqual([{ refreshToken: false }]);
  });

  it('prints the same for people, with the command that fixes it', async () => {
    using place = new Place();
    const out = { account: null, requiresOpenaiAuth: true };
    place.write('WORKFLOW.md', workflow(fake(place, withAnswers({ 'account/read': { result: out } })).command));
    const { code, stdout } = await baton(place, 'doctor', 'WORKFLOW.md');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ok {3}codex +0\.166\.0\b/m);
    expect(stdout).toMatch(/^FAIL codex login +.*"codex".*\n {5}.* CODEX_HOME=\/nowhere codex login$/m);
  });

  it.each([
    ['a version that is newer', 'baton/9.9.9 (Linux)', '9.9.9'],
    ['no version', '', null],
    ['nonsense', 'x/\u001b[31mred y', '␛[31mred'],
  ])('warns about %s without failing', async (_what, userAgent, version) => {
    using place = new Place();
    const { isHealthy, lines } = await examine(
      place,
      fake(place, withAnswers({ initialize: { result: { userAgent } } })).command,
    );
    expect(lines[0]).toEqual({
      check: 'codex',
      status: 'ok',
      code: 'untested_version',
      nextStep: null,
      message: expect.stringContaining(version ?? '0.166.0'),
      details: { version, tested: '0.166.0' },
    });
    expect(isHealthy).toBe(true);
  });

  it.each([
    [
      'is not there',
      'no-such-codex app-server',
      { code: 'not_found', message: 'no-such-codex', nextStep: 'npm install --global @openai/codex@0.166.0' },
      { exit_code: 127 },
      20_000,
    ],
    [
      'ends at once',
      'sh -c "echo no luck >&2; exit 3"',
      { code: 'no_app_server', message: 'no luck', nextStep: 'codex.command' },
      { exit_code: 3 },
      20_000,
    ],
    [
      'only prints',
      'echo Welcome',
      { code: 'no_app_server', message: '', nextStep: 'codex.command' },
      { exit_code: 0 },
      20_000,
    ],
    [
      'says nothing',
      'sleep 60',
      { code: 'no_app_server', message: 'initialize', nextStep: 'codex.command' },
      { method: 'initialize', silence_ms: 1_000 },
      1_000,
    ],
    [
      'talks without end',
      'sh -c "while sleep 0.4; do echo so; done"',
      { code: 'no_app_server', message: 'initialize', nextStep: 'codex.command' },
      { method: 'initialize' },
      1_000,
    ],
  ])(
    'has one line for a command that %s, with the fix',
    async (_what, command, { code, message, nextStep }, details, readMs) => {
      using place = new Place();
      const { isHealthy, lines } = await examine(place, command, `agent: {read_timeout_ms: ${readMs}}`);
      expect(isHealthy).toBe(false);
      expect(lines).toMatchObject([
        {
          check: 'codex',
          status: 'failed',
          code,
          details,
          message: expect.stringContaining(message),
          nextStep: expect.stringContaining(nextStep),
        },
      ]);
    },
    60_000,
  );

  it('names the file of a Codex that only the PATH of this terminal has', async () => {
    using place = new Place();
    const bin = path.join(place.folder, 'bin');
    place.write('bin/own-codex', '#!/bin/sh\n');
    chmodSync(path.join(bin, 'own-codex'), 0o755);
    const env = { ...place.env, PATH: `${bin}:${place.env.PATH}` };
    const file = place.write('WORKFLOW.md', workflow('own-codex app-server', '', ''));
    const findings = await checkWorkflow(file, { ...surroundingsOf(place), env });
    const found = findings.find(({ check }) => check === 'codex');
    expect(found).toMatchObject({ code: 'not_found', details: { program: path.join(bin, 'own-codex') } });
    expect(found?.nextStep).toContain(`${path.join(bin, 'own-codex')} app-server`);
  });

  it('ends a Codex that does not stop, and its processes', async () => {
    using place = new Place();
    const codex = fake(place, {
      ...good,
      isStubborn: true,
      before: { ...good.before, initialize: [{ grandchild: true }] },
    });
    const { lines } = await examine(place, codex.command);
    expect(lines.map(({ code }) => code)).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  it.each([
    ['thread/start', 'agent: {read_timeout_ms: 5000}'],
    ['account/read', 'agent: {read_timeout_ms: 5000}'],
  ])('does not wait for a Codex that never answers %s', async (method, more) => {
    using place = new Place();
    const { isHealthy, lines } = await examine(place, fake(place, withAnswers({ [method]: 'silence' })).command, more);
    expect(isHealthy).toBe(false);
    expect(lines).toMatchObject([
      { check: 'codex', status: 'failed', code: 'no_answer', details: { method, silence_ms: 5000 } },
    ]);
  });

  it('answers requests of Codex meanwhile, so that it does not hang', async () => {
    using place = new Place();
    const asked = { ask: { id: 0, method: 'account/chatgptAuthTokens/refresh', params: {} } };
    const codex = fake(place, { ...good, before: { ...good.before, 'account/read': [asked] } });
    const { isHealthy } = await examine(place, codex.command);
    expect(isHealthy).toBe(true);
    expect(codex.answerTo(0)).toMatchObject({ error: { code: -32_601 } });
  });

  it.each([
    { code: -32_601, message: 'method not found' },
    { code: -32_600, message: 'Invalid request: unknown variant `account/read`, expected one of `initialize`' },
  ])('does not blame an older Codex for missing requests: %j', async (error) => {
    using place = new Place();
    const older = withAnswers({ 'account/read': { error }, 'command/exec': { error } });
    const { isHealthy, lines } = await examine(place, fake(place, older).command);
    expect(lines.slice(2)).toMatchObject([
      { check: 'codex_login', code: 'not_reported', message: expect.stringContaining('`codex login status`') },
      { check: 'codex_commit', code: 'not_tried' },
    ]);
    expect(isHealthy).toBe(true);
  });

  it('shows what Codex says instead of the login', async () => {
    using place = new Place();
    const error = { code: -32_603, message: 'the login file cannot be read' };
    const { lines } = await examine(place, fake(place, withAnswers({ 'account/read': { error } })).command);
    expect(lines[2]).toMatchObject({
      check: 'codex_login',
      status: 'failed',
      code: 'refused',
      message: expect.stringContaining('the login file cannot be read'),
      nextStep: 'codex login',
    });
  });

  it('reports a broken Codex configuration, and no guessed login', async () => {
    using place = new Place();
    const error = { code: -32_600, message: 'failed to load configuration: config.toml:1:10: unclosed array' };
    const { isHealthy, lines } = await examine(place, fake(place, withAnswers({ 'thread/start': { error } })).command);
    expect(isHealthy).toBe(false);
    expect(lines.map(({ check }) => check)).toEqual(['codex', 'codex_policies']);
    expect(lines[1]).toMatchObject({
      status: 'failed',
      code: 'broken_config',
      details: { home: '/nowhere' },
      message: expect.stringContaining('unclosed array'),
      nextStep: expect.stringMatching(/config\.toml.*\/nowhere/),
    });
  });
});

describe.concurrent('an account that baton doctor checks', () => {
  const keyLogin = 'printenv OPENAI_API_KEY | CODEX_HOME=/nowhere codex login --with-api-key';

  it.each([
    [{ account: { type: 'apiKey' }, requiresOpenaiAuth: true }, 'ok', { kind: 'apiKey' }, keyLogin],
    [{ account: null, requiresOpenaiAuth: false }, 'not_needed', {}, ''],
    [{ account: { type: 'gcp' }, requiresOpenaiAuth: false }, 'ok', { kind: 'gcp', plan: null }, 'gcp'],
    [{ account: null, requiresOpenaiAuth: true }, 'logged_out', {}, ''],
    [{ account: 7 }, 'logged_out', {}, ''],
    [{}, 'logged_out', {}, ''],
  ])('is reported by its answer %j', async (result, code, facts, told) => {
    using place = new Place();
    const { lines } = await examine(place, fake(place, withAnswers({ 'account/read': { result } })).command);
    expect(lines[2]).toMatchObject({
      check: 'codex_login',
      status: code === 'logged_out' ? 'failed' : 'ok',
      code,
      message: expect.stringContaining(told),
      details: { account: 'codex', ...facts },
    });
  });

  it('gets its own home and variables, and its login command names that home', async () => {
    using place = new Place({ SPARE: 'canary-secret', OPENAI_API_KEY: 'canary-of-nobody' });
    mkdirSync(path.join(place.folder, "it's here"));
    const out = { account: null, requiresOpenaiAuth: true };
    const writes = { run: `echo "$CODEX_HOME|$OPENAI_API_KEY|$SPARE" >> ${place.folder}/seen` };
    const codex = fake(place, {
      ...withAnswers({ 'account/read': { result: out } }),
      before: { ...good.before, initialize: [writes] },
    });
    const accounts = `agent: {accounts: [{name: one, home: "it's here"}, {name: two, env: {OPENAI_API_KEY: $SPARE}}, {name: three, home: gone}]}`;
    const { lines, stdout } = await examine(place, codex.command, accounts);
    expect(place.read('seen')).toBe(`${place.folder}/it's here||\n|canary-secret|\n`);
    expect(stdout).not.toContain('canary');
    const logins = lines.filter(({ check }) => check === 'codex_login');
    expect(logins.map(({ code, details }) => [code, details.account])).toEqual([
      ['logged_out', 'one'],
      ['logged_out', 'two'],
      ['no_home', 'three'],
    ]);
    const commands = [`CODEX_HOME='${place.folder}/it'\\''s here' codex login`, 'CODEX_HOME=/nowhere codex login'];
    for (const [index, login] of commands.entries()) {
      const nextStep = logins[index]?.nextStep ?? '';
      expect(nextStep.slice(0, login.length)).toBe(login);
      // Who has a key in the variable is told how it becomes a login.
      expect(nextStep).toContain(`printenv OPENAI_API_KEY | ${login} --with-api-key`);
    }
    expect(logins[2]).toMatchObject({
      message: expect.stringContaining(`${place.folder}/gone`),
      nextStep: `mkdir -p ${place.folder}/gone && CODEX_HOME=${place.folder}/gone codex login`,
    });
    expect(lines.filter(({ check }) => check === 'codex_commit')).toHaveLength(1);
  });

  const elsewhere = path.join(mkdtempSync(path.join(tmpdir(), 'baton-codex-home-')), 'home');
  it.each([{}, { CODEX_HOME: elsewhere }])('in the default home of Codex needs no home in its command', async (env) => {
    using place = new Place(env);
    const home = 'CODEX_HOME' in env ? elsewhere : `${place.home}/.codex`;
    const answers = {
      initialize: { result: { userAgent: 'baton/0.166.0', codexHome: home } },
      'account/read': { result: { account: null, requiresOpenaiAuth: true } },
    };
    const { lines } = await examine(place, fake(place, withAnswers(answers)).command);
    expect(lines[2]?.nextStep).toBe('codex login');
  });

  it('never gets a secret of the tracker, not even from a login profile', async () => {
    using place = new Place({ LINEAR_API_KEY: 'canary-key' });
    place.write('home/.bash_profile', 'export LINEAR_API_KEY=canary-profile\n');
    const codex = fake(place, {
      ...good,
      before: { ...good.before, initialize: [{ run: `env > ${place.folder}/env` }] },
    });
    const tracker = 'tracker: {kind: linear, provider: {project_slug: x, endpoint: "http://127.0.0.1:1/graphql"}}';
    place.write('WORKFLOW.md', workflow(codex.command).replace('tracker: {kind: memory}', tracker));
    const { stdout } = await baton(place, 'doctor', 'WORKFLOW.md');
    expect(stdout).toMatch(/^ok {3}codex commit/m);
    expect(place.read('env')).not.toContain('canary');
  });
});

describe.concurrent('a Codex project without a repository', () => {
  // @conforms codex.22
  it.each([
    ['', true],
    ['hooks: {after_create: "git clone -q elsewhere ."}', false],
    ['hooks: {before_run: "git pull -q"}', false],
  ])('gets a warning from baton doctor, without failing, with %j: %s', async (more, isWarned) => {
    using place = new Place();
    place.write('WORKFLOW.md', workflow(fake(place, good).command, more));
    const { code, stdout } = await baton(place, 'doctor', 'WORKFLOW.md');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      isWarned ? /^warn repository .*\n {5}.*workspace\.repo\b.*\nok {3}/m : /^ok {3}repository .*\nok {3}/m,
    );
  });
});

describe.concurrent('the trial commit of baton doctor', () => {
  const ended = (stderr: string, exitCode: unknown = 128): Scenario =>
    withAnswers({ 'command/exec': { result: { exitCode, stdout: '', stderr } } });

  it.each([
    [
      'bwrap: Creating new namespace failed: Operation not permitted',
      'no_sandbox_here',
      'bwrap',
      'kernel.apparmor_restrict_unprivileged_userns=0',
    ],
    ['error: gpg failed to sign the data', 'not_signed', 'gpg', 'commit.gpgsign false'],
    [
      "fatal: Unable to create '/x/index.lock': Read-only file system",
      'commit_failed',
      'fatal: Unable to create',
      'codex.turn_sandbox_policy',
    ],
    ['', 'commit_failed', '128', 'codex.turn_sandbox_policy'],
    ['\u001b[31mred\u001b[0m\u202e', 'commit_failed', 'red', 'codex.turn_sandbox_policy'],
  ])('is explained when it ends with %j', async (stderr, code, told, nextStep) => {
    using place = new Place();
    const { isHealthy, lines } = await examine(place, fake(place, ended(stderr)).command);
    expect(isHealthy).toBe(false);
    expect(lines[3]).toMatchObject({
      check: 'codex_commit',
      status: 'failed',
      code,
      message: expect.stringContaining(told),
      nextStep: expect.stringContaining(nextStep),
    });
    expect(lines[3]?.message).not.toMatch(/\p{Cc}|\u202e/u);
  });

  it('is not trusted when no commit exists', async () => {
    using place = new Place();
    const { isHealthy, lines } = await examine(place, fake(place, { ...good, before: {} }).command);
    expect(isHealthy).toBe(false);
    expect(lines[3]).toMatchObject({ check: 'codex_commit', status: 'failed', code: 'no_commit' });
  });

  it.each(['{}', '{hooks: {after_create: "git config user.name A; git config user.email a@example.org"}}'])(
    'without a name is distinguished from a broken sandbox, with %s',
    async (more) => {
      using place = new Place();
      const result = { exitCode: 128, stdout: '', stderr: '*** Please tell me who you are.' };
      const { isHealthy, lines } = await examine(
        place,
        fake(place, withAnswers({ 'command/exec': { result } })).command,
        more === '{}' ? '' : more.slice(1, -1),
      );
      expect(isHealthy).toBe(false);
      expect(lines.slice(3).map(({ check, code }) => [check, code])).toEqual([
        ['codex_commit', 'commit_failed'],
        ['git_identity', more === '{}' ? 'unknown' : 'set_by_script'],
      ]);
    },
  );

  it.each([
    ['thread_sandbox: read-only', 'read_only', {}],
    ['thread_sandbox: danger-full-access', 'ok', { sandbox: 'dangerFullAccess' }],
    ['turn_sandbox_policy: {type: externalSandbox, networkAccess: restricted}', 'ok', { sandbox: 'externalSandbox' }],
  ])('with %s is reported precisely', async (policy, code, details) => {
    using place = new Place();
    const { isHealthy, lines } = await examine(place, fake(place, good).command, '', policy);
    expect(lines[3]).toMatchObject({ check: 'codex_commit', status: 'ok', code, details });
    expect(isHealthy).toBe(true);
  });
});
