import { mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiClient } from '../../src/client/api-client.ts';
import { overSocket } from '../../src/client/send.ts';
import type { Clock } from '../../src/clock/clock.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import { type ApiProject, createApiProjects } from '../../src/server/api/api-project.ts';
import { createApi } from '../../src/server/api/create-api.ts';
import { createIdentify, type FindPeer, type LocalPeer } from '../../src/server/api/identify.ts';
import { createMetrics } from '../../src/server/api/metrics.ts';
import { openLocalProofs } from '../../src/server/local-proofs.ts';
import { openLocalSocket } from '../../src/server/local-socket.ts';
import { runStart } from '../conformance/store.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { begun } from '../orchestrator/scene.ts';
import { projectOf } from './api/api-scene.ts';

function socketFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-socket-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'baton.sock');
}

/** The whole API on a local socket, as a daemon has it. Every client is found to be this peer. */
async function open(
  more: Partial<ApiProject> = {},
  clock: Clock = systemClock,
  findPeer: FindPeer = async () => ({ kind: 'user' }),
) {
  const file = socketFile();
  // A file that an earlier daemon left behind.
  writeFileSync(file, '');
  const logger = memoryLogger();
  const projects = createApiProjects();
  const stage = await begun();
  projects.add(projectOf(stage, 'test', more));
  const proofs = await openLocalProofs(findPeer, logger);
  const identify = createIdentify({
    tokens: { find: () => null },
    isLoopback: true,
    userName: 'ada',
    findPeer: async () => ({ kind: 'unidentified' }),
    proofs,
    logger,
  });
  const delay = { read: () => ({ p50: 0, p99: 0, max: 0 }), close: () => {} };
  const known = { projects, clock, chance: systemChance, logger, metrics: createMetrics(projects, delay) };
  const parts = { ...known, identify, proofs };
  const api = createApi({ ...parts, version: '0.0.0', dashboardFolder: '/nowhere' });
  const socket = await openLocalSocket({ path: file, clock: systemClock, chance: systemChance, logger });
  socket.mount('/', api.app);
  onTestFinished(async () => {
    api.close();
    await proofs[Symbol.asyncDispose]();
    await socket.close();
  });
  return { file, stage, logger, socket, project: new ApiClient(overSocket(file, systemClock)).project('test') };
}

/** Says something raw and gives everything that comes back until the connection ends. */
function say(file: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    const connection = createConnection(file, () => connection.write(text));
    let answer = '';
    connection.on('data', (chunk) => {
      answer += chunk;
    });
    connection.on('error', () => resolve(answer));
    connection.on('close', () => resolve(answer));
  });
}

describe('the local socket', () => {
  // @conforms board.9
  it('accepts store changes and returns the status, for its own user only', async () => {
    const heard: string[] = [];
    const { file, project } = await open({ storeChanged: (change) => void heard.push(change) });
    await project.storeChanged('written');
    await project.storeChanged('restored');
    expect(heard).toEqual(['written', 'restored']);
    expect(await project.status()).toMatchObject({ counts: { running: 1 }, waiting_commands: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('identifies its caller as the user, the named person, or the named run', async () => {
    const authors: unknown[] = [];
    const { file, stage } = await open({
      submit: async (_request, author) => {
        authors.push(author);
        throw new BatonError('command_refused', 'No.');
      },
    });
    await stage.store.runs.start(runStart('r 1', { project: stage.project, issueId: '7', identifier: 'T-7' }));
    const as = [undefined, { kind: 'person', name: 'Zoë & co' }, { kind: 'run', runId: 'r 1' }] as const;
    for (const author of as) {
      const client = new ApiClient(overSocket(file, systemClock), author === undefined ? {} : { author });
      await expect(client.project('test').submit({ kind: 'pause' })).rejects.toMatchObject({ code: 'command_refused' });
    }
    expect(authors).toEqual([{ kind: 'person', name: 'ada' }, ...as.slice(1)]);
  });

  // @conforms api.72
  it.each<[LocalPeer, unknown]>([
    [
      { kind: 'run', runId: 'r7' },
      { kind: 'run', runId: 'r7' },
    ],
    [{ kind: 'unidentified' }, null],
    [{ kind: 'other' }, null],
    [{ kind: 'unsupported' }, { kind: 'person', name: 'ceo' }],
  ])('finds out who calls, whatever the caller says: %j', async (peer, found) => {
    const authors: unknown[] = [];
    const submit = async (_request: unknown, author: unknown): Promise<never> => {
      authors.push(author);
      throw new BatonError('command_refused', 'No.');
    };
    const { file, stage } = await open({ submit }, systemClock, async () => peer);
    await stage.store.runs.start(runStart('r7', { project: stage.project, issueId: '7', identifier: 'T-7' }));
    const client = new ApiClient(overSocket(file, systemClock), { author: { kind: 'person', name: 'ceo' } });
    await expect(client.project('test').submit({ kind: 'pause' })).rejects.toMatchObject({ code: 'command_refused' });
    // An agent of an unknown run reaches no project.
    expect(authors).toEqual(found === null ? [] : [found]);
  });

  it('takes a caller without a proof for an agent, and refuses a proof that it did not give', async () => {
    const authors: unknown[] = [];
    const submit = async (_request: unknown, author: unknown): Promise<never> => {
      authors.push(author);
      throw new BatonError('command_refused', 'No.');
    };
    const { file } = await open({ submit });
    const post = (headers: string) =>
      say(
        file,
        `POST /api/v1/projects/test/commands HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n${headers}Content-Length: 16\r\n\r\n{"kind":"pause"}`,
      );
    expect(await post('')).toMatch(/^HTTP\/1.1 403 /);
    expect(await post('baton-proof: made-up\r\n')).toMatch(/^HTTP\/1.1 401 /);
    expect(authors).toEqual([]);
  });

  it('gives its client a new proof after a restart', async () => {
    const first = await open();
    expect(await first.project.status()).toMatchObject({ counts: { running: 1 } });
    const second = await open({}, systemClock, async () => ({ kind: 'user' }));
    await first.socket.close();
    renameSync(second.file, first.file);
    expect(await first.project.status()).toMatchObject({ counts: { running: 1 } });
  });

  it.each([
    ['garbage', 'what?\r\n\r\n', 400],
    ['no name of ours', 'GET /api/v1/projects HTTP/1.1\r\nHost: evil.example\r\n\r\n', 421],
    ['another address', 'POST /stop HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 404],
    [
      'no JSON',
      'POST /api/v1/projects/test/store-changes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/plain\r\nbaton-acting-run: own\r\nContent-Length: 1\r\n\r\nx',
      415,
    ],
  ])('answers %s and changes nothing', async (_what, text, status) => {
    const heard: string[] = [];
    const { file, project, stage } = await open({ storeChanged: (change) => void heard.push(change) });
    await stage.store.runs.start(runStart('own', { project: stage.project, issueId: '7', identifier: 'T-7' }));
    expect(await say(file, text)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(heard).toEqual([]);
    expect(await project.status()).toMatchObject({ counts: { running: 1 } });
  });

  it('returns the code when an explanation fails, and keeps serving', async () => {
    const { logger, project } = await open({
      explain: async (issue) => {
        if (issue === 'defect') throw new TypeError('x is not a function');
        throw new BatonError('tracker_issue_not_found', `There is no issue "${issue}".`);
      },
    });
    await expect(project.explain(' BAT-9 ')).rejects.toMatchObject({
      code: 'tracker_issue_not_found',
      message: 'There is no issue "BAT-9".',
    });
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
    await expect(project.explain('defect')).rejects.toMatchObject({ code: 'internal_error' });
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    expect(await project.status()).toMatchObject({ counts: { running: 1 } });
  });

  it.each([
    ['a blank name', ' \t'],
    ['a name too long', 'x'.repeat(501)],
  ])('refuses to explain %s', async (_what, name) => {
    let asked = 0;
    const { project } = await open({
      explain: async () => {
        asked += 1;
        throw new Error('it is not asked');
      },
    });
    await expect(project.explain(name)).rejects.toMatchObject({ code: 'usage_error' });
    expect(asked).toBe(0);
  });

  it('stops waiting for an explanation that takes too long, with a code', async () => {
    const clock = new SimulatedClock();
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const explain = (): Promise<never> => {
      resolve();
      return new Promise(() => {});
    };
    const { project } = await open({ explain }, clock);
    const answer = project.explain('BAT-1');
    const refused = expect(answer).rejects.toMatchObject({ code: 'tracker_request', retryable: true });
    await asked;
    await clock.advance(15_000);
    await refused;
  });

  it('survives a caller that disconnects before the answer', async () => {
    const { promise: allowed, resolve } = Promise.withResolvers<void>();
    const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
    const { file, project, stage } = await open({
      explain: async () => {
        isAsked();
        await allowed;
        throw new BatonError('tracker_request', 'late');
      },
    });
    const path = '/api/v1/projects/test/issues/BAT-1/explanation';
    const own = `baton-acting-run: ${stage.runs[0]?.request.runId}`;
    const visitor = createConnection(file, () =>
      visitor.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${own}\r\n\r\n`),
    );
    await asked;
    visitor.destroy();
    resolve();
    expect(await project.status()).toMatchObject({ counts: { running: 1 } });
  });

  it('serves many callers at once', async () => {
    const heard: string[] = [];
    const { project } = await open({ storeChanged: (change) => void heard.push(change) });
    await Promise.all(Array.from({ length: 50 }, () => project.storeChanged('written')));
    expect(heard).toHaveLength(50);
  });

  it('is gone after it was closed, also with a connected caller', async () => {
    const { file, socket, project } = await open();
    const visitor = say(file, 'GET /api');
    await socket.close();
    await visitor;
    const nowhere = new ApiClient(overSocket('/nowhere/at/all.sock', systemClock));
    await expect(project.status()).rejects.toMatchObject({ code: 'daemon_unreachable' });
    await expect(nowhere.projects()).rejects.toMatchObject({ code: 'daemon_unreachable' });
  });

  it('is abandoned by its client when no answer comes', async () => {
    const clock = new SimulatedClock();
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const { file } = await open({
      requests: () => {
        resolve();
        return new Promise(() => {});
      },
    });
    const answer = new ApiClient(overSocket(file, clock)).project('test').requests(1);
    const refused = expect(answer).rejects.toMatchObject({ code: 'daemon_unreachable' });
    await asked;
    await clock.advance(5_000);
    await refused;
  });

  it('cannot be opened without a folder, or where another daemon listens', async () => {
    const parts = { clock: systemClock, chance: systemChance, logger: memoryLogger() };
    const opening = openLocalSocket({ path: '/nowhere/baton.sock', ...parts });
    await expect(opening).rejects.toMatchObject({ code: 'local_socket_failed' });
    const { file } = await open();
    await expect(openLocalSocket({ path: file, ...parts })).rejects.toMatchObject({ code: 'local_socket_failed' });
  });
});
