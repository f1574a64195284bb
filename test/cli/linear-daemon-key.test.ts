// @module-tag full
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { daemonHere } from './baton-here.ts';
import { atWorkUntilLet, filesWith, linearScene, linesAbout, secretKey } from './linear-scene.ts';
import { answer, liveTest, runsOf, soon, startDaemon, stateFolderOf, stopDaemon } from './live-daemon.ts';
import { baton, leaveNoPlaces } from './run-baton.ts';

leaveNoPlaces();

const wrongKey = 'lin_api_WrongWrongWrongWrongWrongWrongWrong';
const jobFailed = 'job_failed';

/** What a process was given: its environment and its arguments. Empty when it has ended since it was found. */
function givenTo(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8') + readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

describe.concurrent('the Linear key', liveTest, () => {
  // @conforms linear.21
  it('appears only in the environment of the daemon, also when Linear repeats it in errors', async () => {
    await using scene = await linearScene(
      { apiKey: '$OTHER_NAME', agent: 'backend: rehearsal' },
      { OTHER_NAME: secretKey },
    );
    const { linear, place } = scene;
    const ticket = scene.file([
      'run sh ../../look-around.sh',
      'comment Looked around.',
      ...atWorkUntilLet,
      'move Nowhere',
    ]);
    place.write('look-around.sh', 'env > env.txt; cat /proc/self/environ > environ.txt; echo looked\n');
    const daemon = await startDaemon(place);
    await soon(() => expect(linear.commentsOf(ticket)).toHaveLength(1));
    expect(place.read(`workspaces/${ticket}/env.txt`)).toContain('BATON_RUN_ID=');
    // The keeper of the key and nobody whom it started.
    const knowers = place.pids().filter((pid) => givenTo(pid).includes(secretKey));
    expect(knowers).toEqual([daemon.child.pid]);

    const repeated = `the key ${secretKey} and {"authorization":"${secretKey}"}`;
    const faults = [
      { kind: 'status', status: 500, body: repeated, headers: { 'x-key': secretKey } },
      { kind: 'status', status: 401, body: repeated },
      { kind: 'graphql_errors', data: 'null', message: repeated },
      { kind: 'garbage', body: repeated },
      { kind: 'rate_limit', status: 429, retryAfterSeconds: 1 },
    ] as const;
    for (const fault of faults) linear.faults.next.push(fault);
    await soon(() => expect(linear.faults.next).toEqual([]));
    const status = JSON.stringify(await scene.status());
    // The tool tells the agent what Linear said.
    linear.faults.next.push({ kind: 'graphql_errors', data: 'null', message: repeated, operation: 'BatonTeamStates' });
    scene.letGoOn(ticket);
    await soon(async () => expect((await runsOf(place))[0]?.outcome).toBe('failed'));
    for (const text of [status, JSON.stringify(await scene.status())]) expect(text).not.toContain(secretKey);
    for (const args of [['status'], ['runs', 'list'], ['requests'], ['jobs'], ['explain', ticket], ['validate']]) {
      const { stdout, stderr } = await baton(place, ...args, '--json');
      expect(`${stdout}${stderr}`).not.toContain(secretKey);
    }
    await stopDaemon(daemon);
    expect(daemon.stderr() + daemon.stdout()).not.toContain(secretKey);
    expect(linesAbout(daemon, jobFailed).length).toBeGreaterThanOrEqual(3);
    // The store, the log, the transcripts, the health file, the workspaces, temporary files: all of it.
    expect(filesWith(place.folder, ticket)).not.toEqual([]);
    expect(filesWith(stateFolderOf(place), 'tracker_poll').length).toBeGreaterThanOrEqual(2);
    expect(filesWith(place.folder, secretKey)).toEqual([]);
  });

  it('that is wrong is reported with the next step and few requests, and a fixed file applies at once', async () => {
    await using scene = await linearScene(
      { polling: 'interval_ms: 400' },
      { LINEAR_API_KEY: wrongKey, GOOD_KEY: secretKey },
    );
    const { linear, place } = scene;
    const ticket = scene.file(['move Done']);
    const startedAt = Date.now();
    const daemon = await startDaemon(place);
    await soon(async () => expect((await scene.status()).polling.failures).toBeGreaterThanOrEqual(4));
    const [said] = linesAbout(daemon, jobFailed);
    expect(said).toMatchObject({
      job: 'tracker_poll',
      error: { code: 'tracker_auth', next_step: expect.stringContaining('baton doctor'), details: { status: 401 } },
    });
    const { errors, jobs } = (await answer(place, 'status')).status;
    expect(errors).toMatchObject([{ error: { code: 'tracker_auth', next_step: expect.stringContaining('doctor') } }]);
    expect(jobs.find(({ name }: { name: string }) => name === 'tracker_poll')).toMatchObject({ outcome: 'failed' });
    // 0, 0.8, 2.4, 5.6 s: twice as far apart each time.
    const most = 1 + Math.ceil(Math.log2(1 + (Date.now() - startedAt) / 800));
    expect(linear.requests.length).toBeLessThanOrEqual(most);
    expect(linear.requests.every(({ status }) => status === 401)).toBe(true);

    const refusedAt = linear.requests.at(-1)?.at ?? 0;
    linear.forgetRequests();
    scene.useWorkflow({ polling: 'interval_ms: 400', apiKey: '$GOOD_KEY' });
    await scene.letCount();
    await soon(() => expect(linear.stateOf(ticket)).toBe('Done'));
    // It would have rested for 6.4 seconds.
    expect((linear.requests[0]?.at ?? 0) - refusedAt).toBeLessThan(5_500);
    expect(linear.requests.every(({ status }) => status === 200)).toBe(true);
    expect((await scene.status()).errors).toEqual([]);
    await stopDaemon(daemon);
    for (const key of [wrongKey, secretKey]) expect(filesWith(place.folder, key)).toEqual([]);
  });

  // @conforms linear.22
  it('that is replaced in the workflow file is used by the running daemon, without restarting runs', async () => {
    await using scene = await linearScene({ apiKey: secretKey }, { LINEAR_API_KEY: wrongKey });
    const { linear, place } = scene;
    const atWork = scene.file([...atWorkUntilLet, 'comment With which key?', 'move Done']);
    const daemon = await daemonHere(place);
    await soon(async () => expect((await scene.status()).running).toMatchObject([{ last_message: 'at work' }]));
    const [{ run_id }] = (await scene.status()).running;
    // A slip of the hand: the new key is in use, for Linear refuses it, and what runs is not touched by that.
    scene.useWorkflow({ apiKey: wrongKey });
    await scene.letCount();
    await soon(async () =>
      expect((await scene.status()).errors).toMatchObject([{ error: { code: 'tracker_auth' } }, {}]),
    );
    expect((await scene.status()).running).toMatchObject([{ run_id }]);
    scene.useWorkflow({ apiKey: linear.oauthToken });
    await scene.letCount();
    await soon(async () => expect(await scene.status()).toMatchObject({ errors: [], running: [{ run_id }] }));
    const refused = linear.requests.filter(({ status }) => status === 401).length;
    await scene.morePolls();
    expect(linear.requests.filter(({ status }) => status === 401)).toHaveLength(refused);
    scene.letGoOn(atWork);
    await soon(() => expect(linear.stateOf(atWork)).toBe('Done'));
    expect(linear.commentsOf(atWork)).toHaveLength(1);
    await soon(async () => expect(await runsOf(place)).toMatchObject([{ outcome: 'succeeded' }]));
    await daemon.stop();
    // Whoever writes it into the file has it in the file, and nowhere else.
    for (const key of [wrongKey, secretKey]) expect(filesWith(place.folder, key)).toEqual([]);
    expect(filesWith(place.folder, linear.oauthToken)).toEqual([path.join(place.folder, 'WORKFLOW.md')]);
  });
});
