import { Hono } from 'hono';
import { expect, it, onTestFinished } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openListener } from '../../src/server/listener.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { send } from './raw-request.ts';

const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

// What browsers say of a request, and whether it is heard.
// @conforms api.62
it.each<[string, string, string, Record<string, string>, boolean]>([
  ['a program that says nothing', 'GET', '/api/v1/state', {}, true],
  ['our own page', 'GET', '/api/v1/state', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }, true],
  ['our own page', 'POST', '/api/v1/refresh', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }, true],
  ['a person who types', 'GET', '/api/v1/state', { 'sec-fetch-site': 'none', ...link }, true],
  ['a link of another site', 'GET', '/', { 'sec-fetch-site': 'cross-site', ...link }, true],
  ['a link of another site', 'GET', '/issue/p/1', { 'sec-fetch-site': 'same-site', ...link }, true],
  ['a link of another site', 'GET', '/api/v1/state', { 'sec-fetch-site': 'cross-site', ...link }, false],
  ['a link of another site', 'GET', '/metrics', { 'sec-fetch-site': 'cross-site', ...link }, false],
  ['a form of another site', 'POST', '/', { 'sec-fetch-site': 'cross-site', ...link }, false],
  [
    'a frame of another site',
    'GET',
    '/',
    { 'sec-fetch-site': 'cross-site', ...link, 'sec-fetch-dest': 'iframe' },
    false,
  ],
  ['a picture', 'GET', '/api/v1/state', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, false],
  ['a script', 'GET', '/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, false],
  ['a page of another port', 'GET', '/healthz', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }, false],
  ['what nobody knows', 'GET', '/healthz', { 'sec-fetch-site': 'x' }, false],
])('%s: %s %s with %j is heard: %s', async (_, method, path, headers, isHeard) => {
  const parts = { clock: systemClock, chance: systemChance, logger: memoryLogger() };
  const listener = await openListener({ host: '127.0.0.1', port: 0, ...parts });
  onTestFinished(() => listener.close());
  listener.mount(
    '/',
    new Hono().all('*', (context) => context.text('heard')),
  );
  const answer = await send(listener.address.port, { method, path, headers });
  expect(answer.status).toBe(isHeard ? 200 : 403);
  if (!isHeard) expect(JSON.parse(answer.text).error.code).toBe('foreign_origin');
});
