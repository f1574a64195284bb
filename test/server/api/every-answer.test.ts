import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Caller } from '../../../src/server/api/caller.ts';
import { begun } from '../../orchestrator/scene.ts';
import { send } from '../raw-request.ts';
import { apiOf, projectOf } from './api-scene.ts';

function dashboard(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-dashboard-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, 'index.html'), '<!doctype html><title>Baton</title>');
  return folder;
}

describe('every answer', () => {
  // @conforms api.63
  it('has headers that isolate the page, also on a refusal and the event stream', async () => {
    const { listener, url } = await apiOf([projectOf(await begun())], undefined, { dashboardFolder: dashboard() });
    const { port } = listener.address;
    const host = `127.0.0.1:${port}`;
    const over = new AbortController();
    const stream = await fetch(`${url}/api/v1/events`, { signal: over.signal });
    const answers = [
      { status: stream.status, headers: Object.fromEntries(stream.headers) },
      await send(port, { path: '/', headers: { host } }),
      await send(port, { path: '/healthz', headers: { host } }),
      await send(port, { path: '/api/v1/state', headers: { host } }),
      await send(port, { path: '/nowhere', headers: { host } }),
      await send(port, { path: '/nowhere', headers: { host, accept: 'text/html' } }),
      await send(port, { method: 'DELETE', path: '/healthz', headers: { host } }),
      await send(port, { path: '/', headers: { host: 'evil.example' } }),
      await send(port, { path: '/', headers: { host, origin: 'https://evil.example' } }),
    ];
    over.abort();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404, 404, 405, 421, 403]);
    for (const { status, headers } of answers) {
      expect(headers['content-security-policy'], String(status)).toContain("default-src 'none'");
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['cross-origin-resource-policy']).toBe('same-origin');
    }
  });

  it('to an unknown address is 404 for any method; a person gets the page', async () => {
    const { listener } = await apiOf([projectOf(await begun())], undefined, { dashboardFolder: dashboard() });
    const { port } = listener.address;
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'])
      expect((await send(port, { method, path: '/nowhere/at/all' })).status, method).toBe(404);
    const lost = await send(port, { path: '/nowhere/at/all', headers: { accept: 'text/html' } });
    expect([lost.status, lost.text]).toEqual([404, expect.stringContaining('<title>Baton')]);
    expect(lost.headers['content-type']).toContain('text/html');
    const page = await send(port, { path: '/board', headers: { accept: 'text/html' } });
    expect([page.status, page.text]).toEqual([200, lost.text]);
    const program = await send(port, { path: '/nowhere/at/all' });
    expect(JSON.parse(program.text).error.code).toBe('not_found');
    const below = await send(port, { path: '/api/v1/projects/none/issues', headers: { accept: 'text/html' } });
    expect(JSON.parse(below.text).error.code).toBe('project_not_found');
    expect((await send(port, { method: 'POST', path: '/board' })).status).toBe(405);
  });
});

describe('POST /api/v1/refresh', () => {
  it('requires the scope operate, because it spends requests', async () => {
    const reader: Caller = { scopes: new Set(['read']), author: { kind: 'person', name: 'r' } };
    const { ask } = await apiOf([projectOf(await begun())], reader);
    expect((await ask('POST', '/api/v1/refresh')).status).toBe(403);
    const own = await apiOf([projectOf(await begun())]);
    expect((await own.ask('POST', '/api/v1/refresh')).status).toBe(202);
  });
});
