import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkWorkflow } from '../../src/cli/doctor/check-workflow.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import type { Surroundings } from '../../src/cli/surroundings.ts';
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
  const lines = findings.slice(findings.findIndex(({ name }) => name === 'memory') + 1);
  return { isHealthy: lines.every(({ ok }) => ok), lines, stdout: JSON.stringify(findings) };
}

function surroundingsOf(place: Place): Surroundings {
  return {
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
    rehearsalProgram: new URL('file:///nowhere'),
    dashboardFolder: new URL('file:///nowhere'),
    interrupt: () => {},
    onSignal: () => () => {},
  };
}

function workflow(command: string, more = '', policy = ''): string {
  const codex = `codex: {command: ${JSON.stringify(command)}${policy === '' ? '' : `, ${policy}`}}`;
  return ['---', 'tracker: {kind: memory}', 'workspace: {root: workspaces}', codex, more, '---', 'Work.'].join('\n');
}

function fake(place: Place, scenario: Scenario): FakeAppServer {
  return writeFakeAppServer(path.join(place.folder, 'fake'), scenario);
}

function withAnswers(answers: NonNullable<Scenario['answers']>): Scenario {
  return { ...good, answers: { ...good.answers, ...answers } };
}

describe.concurrent('baton doctor on Codex', () => {
  it('has a line for the program, the policies, the login and a commit', async () => {
    using place = new Place();
    const codex = fake(place, good);
    const { isHealthy, lines } = await examine(place, codex.command);
    expect(lines.map(({ name, ok }) => [name, ok])).toEqual([
      ['codex', true],
      ['codex policies', true],
      ['codex login', true],
      ['codex commit', true],
    ]);
    expect(isHealthy).toBe(true);
    expect(lines[0]?.detail).toBe('0.166.0 answers');
    expect(lines[2]?.detail).toBe('account "codex": logged in with ChatGPT (plus)');
    expect(codex.trace().map(({ method, started }) => method ?? (started && 'started'))).toEqual([
      ...['started', 'initialize', 'initialized', 'thread/start', 'account/read', 'command/exec'],
    ]);
    expect(codex.sent('thread/start')).toMatchObject([{ ephemeral: true }]);
    expect(codex.sent('account/read')).toEqual([{ refreshToken: false }]);
  });

  it('says the same to people, with the command that mends it', async () => {
    using place = new Place();
    const out = { account: null, requiresOpenaiAuth: true };
    place.write('WORKFLOW.md', workflow(fake(place, withAnswers({ 'account/read': { result: out } })).command));
    const { code, stdout } = await baton(place, 'doctor', 'WORKFLOW.md');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ok {3}codex +0\.166\.0 answers$/m);
    expect(stdout).toMatch(
      /^FAIL codex login +account "codex": nobody is logged in\n +mend it with: +CODEX_HOME=\/nowhere codex login$/m,
    );
  });

  it.each([
    ['a version that is newer', 'baton/9.9.9 (Linux)', '9.9.9 answers; Baton is tested with 0.166.0'],
    ['no version', '', 'a version that it does not tell answers; Baton is tested with 0.166.0'],
    ['nonsense', 'x/\u001b[31mred y', 'red answers; Baton is tested with 0.166.0'],
  ])('notes %s, and does not fail for it', async (_what, userAgent, detail) => {
    using place = new Place();
    const { isHealthy, lines } = await examine(
      place,
      fake(place, withAnswers({ initialize: { result: { userAgent } } })).command,
    );
    expect(lines[0]).toEqual({ name: 'codex', ok: true, detail, mend: null });
    expect(isHealthy).toBe(true);
  });

  it.each([
    ['is not there', 'no-such-codex app-server', 'no-such-codex', 'npm install --global @openai/codex@0.166.0', 20_000],
    [
      'ends at once',
      'sh -c "echo no luck >&2; exit 3"',
      'exited with code 3 in the middle of its session: no luck',
      'mend codex.command',
      20_000,
    ],
    ['only prints', 'echo Welcome', 'exited with code 0', 'mend codex.command', 20_000],
    ['says nothing', 'sleep 60', 'did not answer initialize and said nothing for 1000 ms', 'mend codex.command', 1_000],
    [
      'talks without end',
      'sh -c "while sleep 0.4; do echo so; done"',
      'did not answer initialize',
      'mend codex.command',
      1_000,
    ],
  ])(
    'has one line for a command that %s, and tells what mends it',
    async (_what, command, told, mend, readMs) => {
      using place = new Place();
      const { isHealthy, lines } = await examine(place, command, `agent: {read_timeout_ms: ${readMs}}`);
      expect(isHealthy).toBe(false);
      expect(lines).toEqual([
        { name: 'codex', ok: false, detail: expect.stringContaining(told), mend: expect.stringContaining(mend) },
      ]);
    },
    60_000,
  );

  it('ends a Codex that does not want to end, and what it has started', async () => {
    using place = new Place();
    const codex = fake(place, {
      ...good,
      isStubborn: true,
      before: { ...good.before, initialize: [{ grandchild: true }] },
    });
    const { lines } = await examine(place, codex.command);
    expect(lines.every(({ ok }) => ok)).toBe(true);
  });

  it.each([
    ['thread/start', 'agent: {read_timeout_ms: 5000}'],
    ['account/read', 'agent: {read_timeout_ms: 5000}'],
  ])('does not wait for a Codex that never answers %s', async (method, more) => {
    using place = new Place();
    const { isHealthy, lines } = await examine(place, fake(place, withAnswers({ [method]: 'silence' })).command, more);
    expect(isHealthy).toBe(false);
    expect(lines).toMatchObject([
      { name: 'codex', ok: false, detail: expect.stringContaining(`did not answer ${method}`) },
    ]);
  });

  it('answers what Codex asks meanwhile, so that it does not hang', async () => {
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
  ])('does not blame an older Codex for what it cannot be asked: %j', async (error) => {
    using place = new Place();
    const older = withAnswers({ 'account/read': { error }, 'command/exec': { error } });
    const { isHealthy, lines } = await examine(place, fake(place, older).command);
    expect(lines.slice(2).map(({ detail }) => detail)).toEqual([
      'account "codex": this version does not tell who is logged in; `codex login status` does',
      'not tried: this version cannot try a command without a turn',
    ]);
    expect(isHealthy).toBe(true);
  });

  it('tells what Codex says instead of who is logged in', async () => {
    using place = new Place();
    const error = { code: -32_603, message: 'the login file cannot be read' };
    const { lines } = await examine(place, fake(place, withAnswers({ 'account/read': { error } })).command);
    expect(lines[2]).toMatchObject({
      ok: false,
      detail: expect.stringContaining('cannot be read'),
      mend: 'codex login',
    });
  });

  it('tells a broken configuration of Codex, and nothing of a login that Codex only guesses then', async () => {
    using place = new Place();
    const error = { code: -32_600, message: 'failed to load configuration: config.toml:1:10: unclosed array' };
    const { isHealthy, lines } = await examine(place, fake(place, withAnswers({ 'thread/start': { error } })).command);
    expect(isHealthy).toBe(false);
    expect(lines.map(({ name }) => name)).toEqual(['codex', 'codex policies']);
    expect(lines[1]).toMatchObject({
      ok: false,
      detail: expect.stringContaining('unclosed array'),
      mend: 'mend config.toml in /nowhere',
    });
  });
});

describe.concurrent('an account that baton doctor looks at', () => {
  const keyLogin = 'printenv OPENAI_API_KEY | CODEX_HOME=/nowhere codex login --with-api-key';

  it.each([
    [
      { account: { type: 'apiKey' }, requiresOpenaiAuth: true },
      true,
      `logged in with an API key; if it is refused: ${keyLogin}`,
    ],
    [{ account: null, requiresOpenaiAuth: false }, true, 'its model needs no OpenAI login'],
    [{ account: { type: 'gcp' }, requiresOpenaiAuth: false }, true, 'logged in with gcp'],
    [{ account: null, requiresOpenaiAuth: true }, false, 'nobody is logged in'],
    [{ account: 7 }, false, 'nobody is logged in'],
    [{}, false, 'nobody is logged in'],
  ])('that answers %j is told apart', async (result, ok, told) => {
    using place = new Place();
    const { lines } = await examine(place, fake(place, withAnswers({ 'account/read': { result } })).command);
    expect(lines[2]).toMatchObject({ name: 'codex login', ok, detail: `account "codex": ${told}` });
  });

  it('gets its own home and variables, and its line the command with that home', async () => {
    using place = new Place({ SPARE: 'canary-secret', OPENAI_API_KEY: 'canary-of-nobody' });
    mkdirSync(path.join(place.folder, "it's here"));
    const out = { account: null, requiresOpenaiAuth: true };
    const writes = { run: 'echo "$CODEX_HOME|$OPENAI_API_KEY|$SPARE" >> "$HOME/seen"' };
    const codex = fake(place, {
      ...withAnswers({ 'account/read': { result: out } }),
      before: { ...good.before, initialize: [writes] },
    });
    const accounts = `agent: {accounts: [{name: one, home: "it's here"}, {name: two, env: {OPENAI_API_KEY: $SPARE}}, {name: three, home: gone}]}`;
    const { lines, stdout } = await examine(place, codex.command, accounts);
    // Who has a key in the variable is told how it becomes a login.
    const eitherWay = (login: string) =>
      `${login}, or with your key: printenv OPENAI_API_KEY | ${login} --with-api-key`;
    expect(place.read('home/seen')).toBe(`${place.folder}/it's here||\n|canary-secret|\n`);
    expect(stdout).not.toContain('canary');
    expect(lines.filter(({ name }) => name === 'codex login').map(({ detail, mend }) => [detail, mend])).toEqual([
      ['account "one": nobody is logged in', eitherWay(`CODEX_HOME='${place.folder}/it'\\''s here' codex login`)],
      ['account "two": nobody is logged in', eitherWay('CODEX_HOME=/nowhere codex login')],
      [
        `account "three": its home ${place.folder}/gone does not exist`,
        `mkdir -p ${place.folder}/gone && CODEX_HOME=${place.folder}/gone codex login`,
      ],
    ]);
    expect(lines.filter(({ name }) => name === 'codex commit')).toHaveLength(1);
  });

  it.each([{}, { CODEX_HOME: '/nowhere' }])(
    'in the home that Codex takes anyway needs no home in its command',
    async (env) => {
      using place = new Place(env);
      const home = 'CODEX_HOME' in env ? '/nowhere' : `${place.home}/.codex`;
      const answers = {
        initialize: { result: { userAgent: 'baton/0.166.0', codexHome: home } },
        'account/read': { result: { account: null, requiresOpenaiAuth: true } },
      };
      const { lines } = await examine(place, fake(place, withAnswers(answers)).command);
      expect(lines[2]?.mend).toBe('codex login');
    },
  );

  it('never gets a secret of the tracker, not even from a login profile', async () => {
    using place = new Place({ LINEAR_API_KEY: 'canary-key' });
    place.write('home/.bash_profile', 'export LINEAR_API_KEY=canary-profile\n');
    const codex = fake(place, { ...good, before: { ...good.before, initialize: [{ run: 'env > "$HOME/env"' }] } });
    const tracker = 'tracker: {kind: linear, provider: {project_slug: x, endpoint: "http://127.0.0.1:1/graphql"}}';
    place.write('WORKFLOW.md', workflow(codex.command).replace('tracker: {kind: memory}', tracker));
    const { stdout } = await baton(place, 'doctor', 'WORKFLOW.md');
    expect(stdout).toMatch(/^ok {3}codex commit/m);
    expect(place.read('home/env')).not.toContain('canary');
  });
});

describe.concurrent('a project of Codex without a repository', () => {
  it.each([
    ['', true],
    ['hooks: {after_create: "git clone -q elsewhere ."}', false],
    ['hooks: {before_run: "git pull -q"}', false],
  ])('is warned of by baton doctor, and does not fail for it, with %j: %s', async (more, isWarned) => {
    using place = new Place();
    place.write('WORKFLOW.md', workflow(fake(place, good).command, more));
    const { code, stdout } = await baton(place, 'doctor', 'WORKFLOW.md');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      isWarned
        ? /^warn repository +none: .* in no branch\n {5}mend it with: +set workspace\.repo .*\nok {3}/m
        : /^ok {3}repository +none: workspaces begin empty\nok {3}/m,
    );
  });
});

describe.concurrent('a commit that baton doctor tries', () => {
  const ended = (stderr: string, exitCode: unknown = 128): Scenario =>
    withAnswers({ 'command/exec': { result: { exitCode, stdout: '', stderr } } });

  it.each([
    [
      'bwrap: Creating new namespace failed: Operation not permitted',
      'this machine does not let Codex make its sandbox: bwrap',
      'namespaces',
    ],
    ['error: gpg failed to sign the data', 'the commit cannot be signed', 'commit.gpgsign false'],
    [
      "fatal: Unable to create '/x/index.lock': Read-only file system",
      'fails in the sandbox: fatal: Unable to create',
      'codex.turn_sandbox_policy',
    ],
    ['', 'fails in the sandbox: exit code 128', 'codex.turn_sandbox_policy'],
    ['\u001b[31mred\u001b[0m\u202e', 'fails in the sandbox: red', 'codex.turn_sandbox_policy'],
  ])('and that ends with %j is explained', async (stderr, told, mend) => {
    using place = new Place();
    const { isHealthy, lines } = await examine(place, fake(place, ended(stderr)).command);
    expect(isHealthy).toBe(false);
    expect(lines[3]).toEqual({
      ...{ name: 'codex commit', ok: false },
      detail: expect.stringContaining(told),
      mend: expect.stringContaining(mend),
    });
    expect(lines[3]?.detail).not.toMatch(/\p{Cc}|\u202e/u);
  });

  it('is not believed when there is none', async () => {
    using place = new Place();
    const { isHealthy, lines } = await examine(place, fake(place, { ...good, before: {} }).command);
    expect(isHealthy).toBe(false);
    expect(lines[3]).toMatchObject({ ok: false, detail: 'Codex told of a commit, and there is none' });
  });

  it.each(['{}', '{hooks: {after_create: "git config user.name A; git config user.email a@example.org"}}'])(
    'without a name is told apart from a broken sandbox, with %s',
    async (more) => {
      using place = new Place();
      const result = { exitCode: 128, stdout: '', stderr: '*** Please tell me who you are.' };
      const { isHealthy, lines } = await examine(
        place,
        fake(place, withAnswers({ 'command/exec': { result } })).command,
        more === '{}' ? '' : more.slice(1, -1),
      );
      expect(isHealthy).toBe(false);
      expect(lines.slice(3).map(({ name, ok }) => [name, ok])).toEqual([
        ['codex commit', false],
        ['git identity', more !== '{}'],
      ]);
    },
  );

  it.each([
    ['thread_sandbox: read-only', 'not tried: in a read-only sandbox'],
    ['thread_sandbox: danger-full-access', 'there is no sandbox'],
    [
      'turn_sandbox_policy: {type: externalSandbox, networkAccess: restricted}',
      'leaves the sandbox to what is around it',
    ],
  ])('with %s is told for what it is', async (policy, told) => {
    using place = new Place();
    const { isHealthy, lines } = await examine(place, fake(place, good).command, '', policy);
    expect(lines[3]).toMatchObject({ name: 'codex commit', detail: expect.stringContaining(told) });
    expect(isHealthy).toBe(true);
  });
});
