// @module-tag full
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createSseParser } from '../../../dashboard/data/connection/sse-parser.ts';
import { now } from '../../../src/client/schema/now.ts';
import {
  addIssue,
  boardWorkflow,
  liveTest,
  rehearsal,
  soon,
  startDaemon,
  statusOf,
  stopDaemon,
  untilStatus,
} from '../live-daemon.ts';
import { baton, leaveNoPlaces, Place, startBaton, startProgram } from '../run-baton.ts';

leaveNoPlaces();

function livePlace(more = ''): Place {
  const place = new Place();
  const agent = 'agent: {backend: rehearsal, approvals: ask, isolation_write: [.]}';
  place.write('WORKFLOW.md', boardWorkflow(more).replace(/^agent: .*$/m, agent));
  return place;
}

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
  readonly json: any;
}

/** Gives a command. */
async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(`${url}/api/v1/projects/live/commands`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: answer.status, json: await answer.json() };
}

/** Counts how often each issue is told to have changed. */
async function listen(url: string): Promise<{ timesOf(issue: string): number; close(): void }> {
  const closed = new AbortController();
  const { body } = await fetch(url, { signal: closed.signal });
  const changed: string[] = [];
  const parse = createSseParser(({ event, data }) => {
    if (event === 'issue_changed') changed.push(JSON.parse(data).issue_identifier);
  });
  const read = async (): Promise<void> => {
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) parse(piece);
  };
  read().catch(() => {});
  return {
    timesOf: (issue) => changed.filter((each) => each === issue).length,
    close: () => closed.abort(),
  };
}

/** The first line that a program in another process, perhaps of another user, is answered. */
async function askAs(url: string, uid?: number): Promise<string> {
  const { host, port } = new URL(url);
  const request = `GET /api/v1/state HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n`;
  const script = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf '${request}' >&3; head -1 <&3`;
  const child = spawn('bash', ['--norc', '-c', script], { ...(uid === undefined ? {} : { uid }), cwd: '/', env: {} });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  await once(child, 'close');
  return text.trim();
}

describe.concurrent('the API of a running daemon', liveTest, () => {
  // @conforms api.27
  it('files, answers, steers and retries with a note, and keeps its address after a kill', async () => {
    using place = livePlace();
    const daemon = await startDaemon(place);
    const url: string = (await statusOf(place)).api;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const script = rehearsal('ask Which colour?', '| red', '| blue', 'run touch chosen', 'wait 60000');
    const filed = await post(url, { kind: 'issue_file', title: 'Paint', description: script, key: 'k1' });
    expect(filed.json.command).toMatchObject({
      status: 'done',
      code: 'issue_filed',
      data: { issue: 'BAT-1' },
      facts: { identifier: 'BAT-1' },
    });
    expect(
      (await post(url, { kind: 'issue_file', title: 'Paint', description: script, key: 'k1' })).json,
    ).toMatchObject({
      command: { id: filed.json.command.id, facts: { identifier: 'BAT-1' } },
    });
    await untilStatus(place, { questions: [{ issue_identifier: 'BAT-1' }] });
    const state = await (await fetch(`${url}/api/v1/projects/live`)).json();
    const { needs_you } = now.parse(state);
    expect(needs_you).toMatchObject([
      { kind: 'question', issue_identifier: 'BAT-1', actions: expect.arrayContaining(['question_answer']) },
    ]);
    expect(
      await post(url, { kind: 'question_answer', question: needs_you[0]?.question_id, text: 'blue' }),
    ).toMatchObject({
      json: { command: { status: 'done' } },
    });
    await soon(() => expect(place.read('workspaces/BAT-1/chosen')).toBe(''));
    expect((await post(url, { kind: 'issue_steer', issue: 'BAT-1', text: 'mind the step' })).json.command.status).toBe(
      'done',
    );
    expect((await post(url, { kind: 'issue_stop', issue: 'BAT-1' })).json.command.status).toBe('done');
    await untilStatus(place, { held: [{ issue_identifier: 'BAT-1' }] });
    await post(url, { kind: 'issue_retry', issue: 'BAT-1', note: 'use the other brush' });
    await soon(async () => {
      const { runs } = (await (await fetch(`${url}/api/v1/projects/live/runs`)).json()) as {
        runs: { run_id: string }[];
      };
      expect(runs).toHaveLength(2);
      const prompt = await (await fetch(`${url}/api/v1/projects/live/runs/${runs[0]?.run_id}/prompt`)).text();
      expect(prompt).toContain('use the other brush');
    });
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    const next = await startDaemon(place);
    expect((await statusOf(place)).api).toBe(url);
    await stopDaemon(next);
  });

  // @conforms api.25
  it('identifies its own agent, which may stop its work but cannot answer its own question', async () => {
    using place = livePlace();
    place.write(
      'call.mjs',
      `const answer = await fetch(process.argv[2] + '/api/v1/projects/live/commands', { method: 'POST', headers: { 'content-type': 'application/json' }, body: process.argv[3] });
       console.log(answer.status, (await answer.json()).error?.details?.code ?? 'taken');`,
    );
    const daemon = await startDaemon(place);
    const url: string = (await statusOf(place)).api;
    const call = (body: object): string =>
      `${process.execPath} ${place.folder}/call.mjs ${url} '${JSON.stringify(body)}'`;
    const said = `${place.folder}/said.txt`;
    const lines = [
      `${call({ kind: 'resume' })} > ${said} 2>&1`,
      // It clears its environment, and is an agent all the same.
      `env -i ${call({ kind: 'issue_retry', issue: 'BAT-1' })} >> ${said} 2>&1`,
      `${call({ kind: 'issue_hold', issue: 'BAT-1' })} >> ${said} 2>&1`,
    ];
    place.write('call.sh', lines.join('\n'));
    await addIssue(place, rehearsal(`run sh ${place.folder}/call.sh`));
    await soon(() => expect(place.read('said.txt').trim().split('\n')).toHaveLength(3));
    const [first, second, third] = place.read('said.txt').trim().split('\n');
    expect(first).toBe('409 not_for_agents');
    expect(second).toBe('409 not_for_agents');
    expect(third).toBe('200 taken');
    await stopDaemon(daemon);
  });

  // @conforms api.48
  it('treats an agent as a run even when it shows the token of a person', async () => {
    using place = livePlace();
    const made = await baton(place, 'token', 'create', '--scope', 'operate', '--name', 'phone', '--json');
    const authorization = `Bearer ${JSON.parse(made.stdout).token}`;
    const daemon = await startDaemon(place);
    const url: string = (await statusOf(place)).api;
    place.write(
      'call.mjs',
      `const headers = { 'content-type': 'application/json', authorization: ${JSON.stringify(authorization)} };
       const answer = await fetch('${url}/api/v1/projects/live/commands', { method: 'POST', headers, body: '{"kind":"resume"}' });
       console.log(answer.status, (await answer.json()).error?.details?.code ?? 'taken');`,
    );
    place.write('call.sh', `${process.execPath} ${place.folder}/call.mjs > ${place.folder}/said.txt 2>&1`);
    await addIssue(place, rehearsal(`run sh ${place.folder}/call.sh`));
    await soon(() => expect(place.read('said.txt').trim()).toBe('409 not_for_agents'));
    expect((await post(url, { kind: 'pause' }, { authorization })).json.command.author).toMatchObject({
      name: 'phone',
    });
    // A file of tokens that was broken opens nothing, and breaks nothing.
    place.write('state/baton/tokens.json', '{');
    expect((await post(url, { kind: 'resume' }, { authorization })).status).toBe(401);
    expect((await post(url, { kind: 'resume' })).status).toBe(200);
    expect(daemon.stderr()).toContain('"event":"token_file_unreadable"');
    await stopDaemon(daemon);
  });

  // @conforms api.45
  it.runIf(process.platform === 'linux')('does nothing for an agent that sends a command and is gone', async () => {
    using place = livePlace();
    const daemon = await startDaemon(place);
    const { host, port } = new URL((await statusOf(place)).api);
    const body = JSON.stringify({ kind: 'issue_file', title: 'Filed by an agent' });
    const head = `POST /api/v1/projects/live/commands HTTP/1.1\\r\\nHost: ${host}\\r\\nContent-Type: application/json`;
    const request = `${head}\\r\\nContent-Length: ${body.length}\\r\\nConnection: close\\r\\n\\r\\n${body}`;
    const send = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf '${request}' >&3`;
    place.write(
      'leave.sh',
      `for i in $(seq 40); do (${send}; sleep 0.00$((i % 10))); done; sleep 1; touch ${place.folder}/left`,
    );
    await addIssue(place, rehearsal(`run bash ${place.folder}/leave.sh`));
    await soon(() => expect(place.read('left')).toBe(''));
    // The same from a person, who waits for the answer, comes after all of them.
    const { stdout } = await startProgram(place, 'bash', ['-c', `${send}; cat <&3`]).ended;
    expect(stdout).toMatch(/^HTTP\/1.1 200 .*"identifier":"BAT-2"/s);
    await stopDaemon(daemon);
  });

  // @conforms api.52
  it.runIf(process.platform === 'linux')('listens on the configured address, as its own user sees it', async () => {
    using place = livePlace('server: {host: 127.0.0.2}');
    const daemon = await startDaemon(place);
    const url: string = (await statusOf(place)).api;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.2:/);
    expect((await fetch(`${url}/api/v1/state`)).status).toBe(200);
    await stopDaemon(daemon);
  });

  // @conforms api.26
  it.runIf(process.getuid?.() === 0 && process.platform === 'linux')('answers its own user and no other', async () => {
    using place = livePlace();
    const daemon = await startDaemon(place);
    const url: string = (await statusOf(place)).api;
    expect(await askAs(url)).toContain(' 200 ');
    expect(await askAs(url, 65_534)).toContain(' 401 ');
    await stopDaemon(daemon);
  });

  // @conforms api.2
  it('reports each issue that another process or an agent changed', async () => {
    using place = livePlace();
    const daemon = await startDaemon(place);
    const url: string = (await statusOf(place)).api;
    const heard = await listen(`${url}/api/v1/events`);
    await addIssue(place, 'Nobody works on it yet.', '--status', 'backlog');
    await soon(() => expect(heard.timesOf('BAT-1')).toBe(1));
    expect((await baton(place, 'issue', 'comment', 'BAT-1', 'the roof leaks')).code).toBe(0);
    await soon(() => expect(heard.timesOf('BAT-1')).toBe(2));
    await addIssue(place, rehearsal('wait 200', 'comment half way', 'wait 60000'));
    await untilStatus(place, { running: [{ issue_identifier: 'BAT-2' }] });
    // Filed, begun, commented.
    await soon(() => expect(heard.timesOf('BAT-2')).toBeGreaterThanOrEqual(3));
    expect(heard.timesOf('BAT-1')).toBe(2);
    heard.close();
    await stopDaemon(daemon);
  });

  it('requires a token on a public address, and does not start without one', async () => {
    using place = livePlace('server: {host: 0.0.0.0, port: 0}');
    const refused = await baton(place, 'start');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('token_needed');
    const { token } = JSON.parse(
      (await baton(place, 'token', 'create', '--scope', 'read', '--name', 'me', '--json')).stdout,
    );
    const daemon = await startDaemon(place);
    const url: string = (await statusOf(place)).api;
    expect((await fetch(`${url}/api/v1/state`)).status).toBe(401);
    const authorization = `Bearer ${token}`;
    expect((await fetch(`${url}/api/v1/state`, { headers: { authorization } })).status).toBe(200);
    expect((await post(url, { kind: 'pause' }, { authorization })).status).toBe(403);
    await stopDaemon(daemon);
  });

  it('is what `baton top` shows, line by line without a terminal', async () => {
    using place = livePlace();
    const daemon = await startDaemon(place);
    const top = startBaton(place, 'top');
    await addIssue(place, rehearsal('ask Which colour?', '| red', '| blue'));
    await soon(() => expect(top.stdout()).toMatch(/BAT-1.*Which colour\?/));
    top.child.kill('SIGTERM');
    expect(await top.ended).toMatchObject({ code: 0 });
    expect(top.stdout()).not.toContain('\u001b');
    await stopDaemon(daemon);
  });
});
