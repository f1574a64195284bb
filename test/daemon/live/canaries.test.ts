// @module-tag full
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { batonHere } from '../../cli/baton-here.ts';
import { filesWith } from '../../cli/linear-scene.ts';
import { soon, stateFolderOf } from '../../cli/live-daemon.ts';
import { leaveNoPlaces, type Place } from '../../cli/run-baton.ts';
import type { Step } from '../../fake/app-server/scenario.ts';
import { type FakeLinear, startFakeLinear } from '../../fake/linear/fake-linear.ts';
import { CodexDaemon, patientAgent } from './codex-daemon.ts';

leaveNoPlaces();

/** Unguessable, so that whatever is found is the thing itself. */
const canary = (name: string): string => `canary_${name}_${randomBytes(18).toString('hex')}`;

/** Writes down all that a process can see of its environment, but of what it may have only a hash. */
const lookAround = `
mask() { sed -E 's/^(OPENAI_API_KEY|CODEX_API_KEY|BATON_TOOLS_TOKEN)=.+/\\1=[masked]/'; }
env | mask > "$1-env.txt"
tr '\\0' '\\n' < /proc/self/environ | mask > "$1-environ.txt"
[ -z "$2" ] || tr '\\0' '\\n' < "/proc/$PPID/environ" | mask > "$1-parent.txt"
printf %s "$OPENAI_API_KEY" | sha256sum | cut -c1-64 > "$1-account.txt"
`;

const call = (id: number, tool: string, input: unknown): Step => ({
  ask: { id, method: 'item/tool/call', params: { callId: `call-${id}`, tool, arguments: input } },
});
/** What the agent has, of its account, of the daemon's environment and of its run, said by the agent itself. */
const has = (where: string): string => `${where} $env:OPENAI_API_KEY, $env:CODEX_API_KEY, $env:BATON_TOOLS_TOKEN.`;
/** The same as everybody else may read it. */
const hidden = (where: string): string => `${where} [secret], [secret], [secret].`;
const said = (where: string): string => expect.stringContaining(hidden(where));

const asksPerson: Step = {
  ask: {
    id: 300,
    method: 'item/commandExecution/requestApproval',
    params: { itemId: 'i', command: `printenv ${has('run')}`, reason: has('to see') },
  },
};

interface Canaries {
  /** Of the tracker and of the store; nobody but the daemon may have them. */
  readonly own: Readonly<Record<OwnSecret, string>>;
  readonly accounts: readonly [string, string];
  /** Of the daemon's environment, and on the list of what a Codex gets. */
  readonly allowed: string;
  readonly env: Readonly<Record<string, string>>;
  readonly profile: string;
}

type OwnSecret = 'inEnvironment' | 'underOtherName' | 'ofStore' | 'inProfile' | 'inProfileToo' | 'ofStoreInProfile';

/** A name that no setting names is nobody's secret: the profile exports it to all. */
function draw({ isNamed }: { readonly isNamed: boolean }): Canaries {
  const own = {
    inEnvironment: canary('usual'),
    underOtherName: canary('other'),
    ofStore: canary('store'),
    inProfile: canary('profile'),
    inProfileToo: canary('profile_other'),
    ofStoreInProfile: canary('profile_store'),
  };
  const accounts: [string, string] = [canary('first'), canary('second')];
  const allowed = canary('allowed');
  const database = (password: string): string => `postgres://baton:${password}@127.0.0.1:9/baton`;
  return {
    own,
    accounts,
    allowed,
    env: {
      LINEAR_API_KEY: own.inEnvironment,
      TICKET_KEY: own.underOtherName,
      BATON_DATABASE_URL: database(own.ofStore),
      FIRST_KEY: accounts[0],
      SECOND_KEY: accounts[1],
      CODEX_API_KEY: allowed,
    },
    profile: [
      `export LINEAR_API_KEY=${own.inProfile}`,
      ...(isNamed ? [`export TICKET_KEY=${own.inProfileToo}`] : []),
      `export BATON_DATABASE_URL=${database(own.ofStoreInProfile)}`,
      'export OTHER_EXPORT=reaches-the-agent',
      `export OPENAI_API_KEY=${ofProfile}`,
    ].join('\n'),
  };
}

/** The daemon of the test: Linear, two accounts, hooks, tools in both ways, a person who is asked. */
function startWithCanaries(linear: FakeLinear, drawn: Canaries, apiKey: string): Promise<CodexDaemon> {
  return CodexDaemon.start({
    env: drawn.env,
    settings: (place) => [
      'project: {name: canaries}',
      `store: {url: "sqlite:${place.folder}/kept/baton.db"}`,
      `tracker: {kind: linear, project_slug: baton, provider: {endpoint: "${linear.url}", api_key: ${apiKey}}}`,
      'polling: {interval_ms: 1000}',
      `agent: {${patientAgent}, approvals: ask, accounts: [`,
      '  {name: first, env: {OPENAI_API_KEY: $FIRST_KEY}}, {name: second, env: {OPENAI_API_KEY: $SECOND_KEY}}]}',
      'hooks: {before_run: sh ../../look.sh before, after_run: sh ../../look.sh after}',
    ],
    codex: { keys: ['tools: mcp'] },
    tickets: {
      curious: {
        acrossProcesses: true,
        turns: [
          {
            steps: [
              { run: 'sh ../../look.sh first parent' },
              call(201, 'get_issue', {}),
              call(202, 'linear_graphql', { query: 'query Nosy { viewer { id name } }' }),
              call(203, 'linear_graphql', { query: 'query Mine { issues(first: 5) { nodes { identifier } } }' }),
              call(204, 'comment', { body: has('Looked around.') }),
              call(205, 'report_progress', { text: has('Half of it.') }),
              call(206, 'no such tool', { text: has('And more.') }),
              { say: has('I found') },
              asksPerson,
              { stderr: has('nothing of interest') },
              { raw: 'no frame, but a line\n' },
              {
                complete: 'failed',
                error: { message: has('You hit the usage limit of'), codexErrorInfo: 'usageLimitExceeded' },
              },
            ],
          },
          {
            steps: [
              { run: 'sh ../../look.sh second parent' },
              call(900, 'update_issue_status', { status: 'In Review' }),
              { say: has('At last') },
            ],
          },
        ],
      },
    },
    prepare: (place, names) => {
      // The shell of agents is bash, that of hooks is sh; each has a profile of its own.
      for (const name of profiles) place.write(name, drawn.profile);
      place.write('look.sh', lookAround);
      place.write('kept/.here', '');
      for (const title of names) linear.addIssue({ title });
    },
  });
}

/** What the person uses by hand: an agent has the key of its account all the same. */
const ofProfile = 'key-of-the-person';
const profiles = ['home/.bash_profile', 'home/.profile'];
const looks = ['before', 'first', 'second', 'after'];
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Whatever a person may type to look; both for people and for programs. */
const commands = [
  ...[['status'], ['validate'], ['doctor'], ['requests'], ['jobs'], ['explain', 'BAT-1'], ['ask', 'list', '--all']],
  ...[
    ['runs', 'list'],
    ['runs', 'show', 'BAT-1'],
    ['runs', 'log', 'BAT-1'],
  ],
];

/** Where it is written makes a difference to these alone. */
const fewCommands = [['validate'], ['doctor'], ['explain', 'BAT-1']];

async function typed(place: Place, all: readonly (readonly string[])[]): Promise<string> {
  let told = '';
  for (const args of all) {
    for (const json of [[], ['--json']]) {
      const { stdout, stderr } = await batonHere(place, ...args, ...json);
      expect(stdout.length + stderr.length, args.join(' ')).toBeGreaterThan(0);
      told += stdout + stderr;
    }
  }
  return told;
}

/** All that is kept of what an agent told. */
function transcriptOf(place: Place, runId: string): string {
  const folder = stateFolderOf(place);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const [file] = names.filter((name) => path.basename(name) === `${runId}.jsonl`);
  return readFileSync(path.join(folder, file ?? expect.fail('the run has a transcript')), 'utf8');
}

function expectHidden(text: string | undefined, ...places: readonly string[]): void {
  for (const place of places) expect(text).toContain(hidden(place));
}

/** The token of the live run, as only its agent has it. */
function tokenOf(place: Place): string {
  const environments = place.pids().map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8');
    } catch {
      return '';
    }
  });
  const tokens = environments.flatMap((text) => /(?:^|\0)BATON_TOOLS_TOKEN=([^\0]+)/.exec(text)?.[1] ?? []);
  return tokens[0] ?? expect.fail('the agent has a token');
}

function callOverMcp(url: string, token: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'agent', version: '1' } },
    }),
  });
}

/** A test types two dozen commands. */
const longTest = { timeout: 240_000 };

describe('secrets', longTest, () => {
  // @conforms A22
  it.each([
    ['named by a variable', true],
    ['written into the workflow file', false],
  ])('a tracker key that is %s reaches no agent, hook or tool, and is written nowhere', async (_how, isNamed) => {
    const drawn = draw({ isNamed });
    const { own, accounts, allowed } = drawn;
    await using linear = await startFakeLinear({ apiKey: own.underOtherName });
    // Linear itself tells it to whoever asks.
    const message = `the key ${own.underOtherName} was wrong`;
    linear.faults.next.push({ kind: 'graphql_errors', data: 'null', message, operation: 'Mine' });
    const daemon = await startWithCanaries(linear, drawn, isNamed ? '$TICKET_KEY' : own.underOtherName);
    using place = daemon.place;

    await daemon.until('questions', 'curious');
    const token = tokenOf(place);
    const [start] = daemon.fake('curious').sent('thread/start');
    const config = start?.config as { mcp_servers: { baton: { url: string } } } & Record<string, unknown>;
    // A login shell of the agent's commands would read the profile, and with it what was unset.
    expect(config).toMatchObject({ allow_login_shell: false });
    const { url } = config.mcp_servers.baton;
    const opened = await callOverMcp(url, token);
    expect(opened.status).toBe(200);
    let told = await opened.text();
    const asked = await typed(place, [['ask', 'show', 'BAT-1']]);
    told += asked + (await typed(place, [['status']]));
    told += JSON.stringify(await daemon.tell('ask', 'answer', 'BAT-1', 'no'));

    await soon(() => expect(linear.stateOf('BAT-1')).toBe('In Review'));
    const runs = await daemon.endedRuns('curious');
    expect(runs).toMatchObject([
      { account: 'first', error_code: 'agent_quota_exhausted', error_message: said('usage limit of') },
      { account: 'second', outcome: 'succeeded', last_message: said('At last') },
    ]);
    expect((await callOverMcp(url, token)).status).toBe(401);
    told += await typed(place, isNamed ? commands : fewCommands);
    await daemon.stop();
    told += daemon.process.stdout() + daemon.process.stderr();

    // All of it took place.
    const read = (name: string): string => place.read(`workspaces/BAT-1/${name}.txt`);
    for (const look of looks) expect(read(`${look}-env`)).toContain('OTHER_EXPORT=reaches-the-agent');
    for (const look of ['first', 'second']) expect(read(`${look}-parent`)).toContain('OPENAI_API_KEY=[masked]');
    expect(read('first-account').trim()).toBe(sha(accounts[0]));
    expect(read('second-account').trim()).toBe(sha(accounts[1]));
    for (const hook of ['before', 'after']) expect(read(`${hook}-account`).trim()).toBe(sha(ofProfile));
    const answers = [201, 202, 203, 204].map((id) => JSON.stringify(daemon.fake('curious').answerTo(id)?.result));
    expect(answers[2]).toContain('was wrong');
    expect(linear.commentsOf('BAT-1')).toMatchObject([{ body: said('Looked around.') }]);
    // What the agent told of itself is there, wherever it was to be, and all three are hidden in it.
    expect(asked).toContain(hidden('to see'));
    expect(asked).toContain(hidden('run'));
    const [first, second] = runs.map(({ run_id }) => transcriptOf(place, run_id));
    expectHidden(first, 'I found', 'And more.', 'You hit the usage limit of');
    expectHidden(second, 'At last');
    expect(told).toContain(hidden('Half of it.'));

    // And nothing of it is anywhere, but where the test has put it.
    expect(filesWith(stateFolderOf(place), 'BAT-1').length).toBeGreaterThan(0);
    expect(filesWith(path.join(place.folder, 'kept'), 'BAT-1').length).toBeGreaterThan(0);
    const profile = profiles.map((name) => path.join(place.folder, name));
    const planted: Readonly<Record<string, readonly string[]>> = {
      inProfile: profile,
      inProfileToo: isNamed ? profile : [],
      ofStoreInProfile: profile,
      underOtherName: isNamed ? [] : [path.join(place.folder, 'WORKFLOW.md')],
    };
    for (const [name, secret] of Object.entries(own)) {
      expect(filesWith(place.folder, secret).sort(), name).toEqual(planted[name] ?? []);
      expect(told.includes(secret), `${name} in what was printed`).toBe(false);
    }
    for (const secret of [...accounts, allowed, token]) {
      expect(filesWith(place.folder, secret)).toEqual([]);
      expect(told.includes(secret)).toBe(false);
    }
  });
});
