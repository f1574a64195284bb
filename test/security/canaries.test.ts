// @module-tag full
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { addIssue, answer, runsOf, soon, startDaemon, statusOf, stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { apiRoutes, type CanaryName, CanaryScene, homeFiles, spies } from './canary-scene.ts';
import { describeIsolated, hasNamespaces } from './machine.ts';

leaveNoPlaces();

async function aDay(scene: CanaryScene): Promise<void> {
  const { place } = scene;
  place.write('api-url', 'http://127.0.0.1:9');
  const daemon = await startDaemon(place);
  const url: string = (await statusOf(place)).api;
  place.write('api-url', url);
  place.write('socket-path', socketIn(place.folder));
  const closing = new AbortController();
  const stream = listen(`${url}/api/v1/events`, closing.signal, (text) => scene.served('event stream', text));

  for (const title of ['first', 'second', 'third']) await addIssue(place, `Make the ${title}.`);
  await soon(async () => expect((await answer(place, 'pr', 'list')).pulls).toHaveLength(2));
  await soon(async () => {
    for (const number of ['1', '2']) expect((await answer(place, 'pr', 'show', number)).pull.checks).toBe('green');
  });
  await soon(async () => {
    const failed = (await runsOf(place)).filter(({ issue_identifier }) => issue_identifier === 'BAT-2');
    expect(failed[0]).toMatchObject({ outcome: 'failed' });
  });
  // Its workspace goes, and what was in no commit is saved.
  await answer(place, 'issue', 'move', 'BAT-2', 'cancelled');
  await soon(async () => expect((await answer(place, 'salvage', 'list')).saved?.length ?? 0).toBeGreaterThan(0));

  for (const route of await routes(
    url,
    (await runsOf(place)).map(({ run_id }) => `${run_id}`),
  ))
    scene.served('API', await (await fetch(`${url}${route}`)).text());
  await scene.type(commands);
  await soon(() => expect(scene.notifications.length).toBeGreaterThan(0));
  closing.abort();
  await stream;
  await stopDaemon(daemon);
  scene.served('output of the daemon', daemon.stdout() + daemon.stderr());
  const isBareRoot = process.geteuid?.() === 0 && !scene.isIsolated;
  expect(daemon.stderr().includes('"runs_as_root"')).toBe(isBareRoot);
  await scene.type([['doctor', 'WORKFLOW.md']]);
}

function socketIn(folder: string): string {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).find((entry) => entry.isSocket());
  return found === undefined ? expect.fail('no socket') : path.join(found.parentPath, found.name);
}

/** Every address of the API that answers without changing anything, for these runs. */
async function routes(url: string, runs: readonly string[]): Promise<readonly string[]> {
  const { paths } = await (await fetch(`${url}/api/v1/openapi.json`)).json();
  const patterns = Object.entries(paths as Record<string, object>).flatMap(([route, of]) =>
    'get' in of ? [route] : [],
  );
  expect(patterns.length).toBeGreaterThan(25);
  const values: Readonly<Record<string, readonly string[]>> = {
    project: ['canaries'],
    issue: ['BAT-1', 'BAT-2', 'BAT-3'],
    issue_identifier: ['BAT-1', 'BAT-2', 'BAT-3'],
    run: runs,
    pull: ['1', '2'],
    question: ['BAT-1'],
    task: ['intake:1'],
  };
  const filled = patterns
    .filter((route) => !route.endsWith('/events') || route.includes('{run}'))
    .flatMap((route) => {
      const [, name] = /\{(\w+)\}/.exec(route.replace('{project}', '')) ?? [];
      const of = name === undefined ? [''] : (values[name] ?? expect.fail(`no value for ${route}`));
      return of.map((value) => route.replace('{project}', 'canaries').replace(`{${name}}`, value));
    });
  const whole = filled.filter((route) => /runs\/.*\/events$/.test(route)).map((route) => `${route}?whole=1`);
  return [...filled, ...whole, '/metrics', '/healthz', '/readyz', '/api/v1/projects/canaries/search?q=canary'];
}

async function listen(url: string, signal: AbortSignal, onText: (text: string) => void): Promise<void> {
  const { body } = await fetch(url, { signal });
  const read = async (): Promise<void> => {
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) onText(piece);
  };
  await read().catch(() => {});
}

const commands = [
  ...[['status'], ['validate'], ['doctor'], ['requests'], ['jobs'], ['board'], ['usage'], ['salvage', 'list']],
  ...[
    ['explain', 'BAT-2'],
    ['ask', 'list', '--all'],
    ['runs', 'list'],
    ['workspace', 'list'],
    ['pr', 'list'],
  ],
  ...['BAT-1', 'BAT-2', 'BAT-3'].flatMap((issue) => [
    ['runs', 'show', issue],
    ['runs', 'log', issue],
    ['issue', 'show', issue],
  ]),
  ...['1', '2'].flatMap((pull) => [
    ['pr', 'show', pull],
    ['pr', 'diff', pull],
  ]),
];

/** What an agent said is told here, and kept here. */
const outlets: readonly string[] = [
  ...['API', 'baton issue', 'baton pr', 'baton runs', 'baton status', 'event stream', 'notifications'],
  ...['output of the daemon', 'state/baton.db', 'state/log', 'state/transcripts'],
];
const inWorkflow: readonly CanaryName[] = ['account_key', 'hook_secret', 'hook_url'];
const ofEnvironment: readonly CanaryName[] = ['env_key', 'env_plain', 'env_proxy', 'env_token'];
const inState: Readonly<Partial<Record<CanaryName, string>>> = {
  tokens: 'state/baton/tokens.json',
  planted: 'state/baton/planted',
};
const fileOf = Object.fromEntries(Object.entries(homeFiles).map(([file, name]) => [name, `home/${file}`]));

/** What holds in every mode: of all that Baton wrote, printed, answered and sent. */
function expectBatonTellsNone(scene: CanaryScene): void {
  const found = scene.find();
  for (const name of ofEnvironment.filter((each) => hasNamespaces || each !== 'env_plain'))
    expect([name, found(name)]).toEqual([name, [fileOf[name] ?? []].flat()]);
  for (const name of inWorkflow) expect([name, found(name)]).toEqual([name, ['WORKFLOW.md']]);
  // The search finds what is there: in the store, in transcripts, in objects of git, and in what Baton tells.
  expect(found('transcript')).toEqual(
    expect.arrayContaining(['API', 'baton runs', 'state/baton.db', 'state/transcripts']),
  );
  expect(found('committed')).toContain('git project');
  for (const where of ['API', 'event stream', 'output of the daemon', 'baton doctor', 'baton validate'])
    expect(scene.bytesServed(where), where).toBeGreaterThan(0);
}

/** What everything that Baton started saw in its environment, among processes, at the socket and at the API. */
function expectNoneByOtherWays(scene: CanaryScene): void {
  for (const who of spies) {
    // Nothing answers at a socket that is hidden. At one that is not, every program that Baton started is refused.
    const atSocket = scene.isIsolated ? '7 000' : '0 403';
    expect([who, new Set(scene.tried(who, 'socket'))]).toEqual([who, new Set([atSocket])]);
    // Agents may read their own project; a setup and a check are of none.
    const answers = who.startsWith('BAT-') ? ['0 200'] : ['0 200', '0 403'];
    expect([who, scene.tried(who, 'api').filter((each) => !answers.includes(each))]).toEqual([who, []]);
    for (const way of ['socket', 'api'] as const)
      expect(scene.tried(who, way).length, `${who} ${way}`).toBeGreaterThanOrEqual(apiRoutes.length);
  }
  const visible = Object.entries(scene.visible());
  // Each of the seven looked in each of the five ways.
  expect(visible).toHaveLength(35);
  for (const [who, seen] of visible) {
    const own = who.startsWith('BAT-') ? ['account_key'] : [];
    if (who.endsWith(' environment')) expect([who, seen]).toEqual([who, own]);
    // Without namespaces every program of the user can read the environment that the daemon began with, and those of agents.
    if (who.endsWith(' processes'))
      expect([who, seen]).toEqual([who, hasNamespaces ? own : expect.arrayContaining([...own, ...ofEnvironment])]);
    // Agents may read their own project.
    if (/ (?:socket|api)$/.test(who))
      expect([who, seen.filter((name) => name !== 'transcript' && name !== 'committed')]).toEqual([who, []]);
  }
}

/** What was seen in files, apart from commits, which every agent may read once they are published. */
function filesSeen(scene: CanaryScene): readonly (readonly [who: string, seen: readonly CanaryName[]])[] {
  return Object.entries(scene.visible())
    .filter(([who]) => who.endsWith(' files'))
    .map(([who, seen]) => [who, seen.filter((name) => name !== 'committed')]);
}

const longTest = { timeout: 600_000 };

describeIsolated('secrets around a day of Baton', longTest, () => {
  it('stay where they are with isolation', async () => {
    await using scene = await CanaryScene.open('namespaces');
    await aDay(scene);
    expectNoneByOtherWays(scene);
    for (const [who, seen] of filesSeen(scene)) {
      const own = who.startsWith('after_run') ? ['workspace'] : [];
      expect([who, seen]).toEqual([who, [...inWorkflow, ...own]]);
    }
    expectBatonTellsNone(scene);
    const found = scene.find();
    for (const [name, file] of Object.entries({ ...fileOf, ...inState }))
      expect([name, found(name as CanaryName)]).toEqual([name, [file]]);
    // The hook of the first workspace sees it, prints it and fails, so the log has it.
    const logged = ['output of the daemon', 'state/log'];
    expect(found('workspace').filter((where) => !logged.includes(where))).toEqual(['workspaces']);
  });
});

describe('secrets around a day of Baton', longTest, () => {
  it('are, without isolation, what a program of yours can read, and Baton tells none that it knows', async () => {
    await using scene = await CanaryScene.open('none');
    await aDay(scene);
    expectNoneByOtherWays(scene);
    const everyFile = [...Object.values(homeFiles), ...Object.keys(inState), ...inWorkflow];
    for (const [who, seen] of filesSeen(scene)) {
      // Also, once they are there, the transcript and the workspace of the first; and in transcripts what agents found in
      // the environment of the daemon, if nothing marks it as a secret.
      const later: readonly CanaryName[] = [
        'transcript',
        'workspace',
        ...(hasNamespaces ? [] : ['env_plain' as const]),
      ];
      const others = seen.filter((name) => !later.includes(name));
      expect([who, others]).toEqual([who, everyFile.toSorted()]);
    }
    expectBatonTellsNone(scene);
    // A file that an agent may read is what the agent says. Baton cannot know that it is a secret, so it tells it on.
    const found = scene.find();
    expect(found('letter')).toEqual(expect.arrayContaining(['API', 'state/baton.db', 'state/transcripts']));
    for (const [name, file] of Object.entries({ ...fileOf, ...inState })) {
      const elsewhere = found(name as CanaryName).filter((where) => where !== file && !outlets.includes(where));
      expect([name, elsewhere]).toEqual([name, []]);
    }
  });
});
