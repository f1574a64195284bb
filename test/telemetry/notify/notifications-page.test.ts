import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { type NotifyCause, notifyEvents } from '../../../src/core/notify/notify-cause.ts';
import { payloadOf } from '../../../src/telemetry/notify/notify-payload.ts';
import { givenMemory } from '../../workflow/given.ts';

const page = readFileSync(new URL('../../../docs/notifications.md', import.meta.url), 'utf8');
const blocks = (kind: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${kind}\n(.*?)\`\`\``, 'gs'))].map(([, text]) => text ?? '');

const cause: NotifyCause = {
  key: 'held:a1b2:1',
  event: 'held',
  nature: 'lasting',
  issue: { id: 'a1b2', identifier: 'SHOP-7', title: 'Fix the login', url: 'https://tracker.example/SHOP-7' },
  runId: 'r-42',
  code: 'retries_exhausted',
  reason: 'its last 3 runs failed: exit 1',
  since: Date.UTC(2026, 0, 5, 11, 59, 59),
  actions: ['baton issue retry SHOP-7', 'baton takeover SHOP-7'],
};

// @conforms notify.12
it('docs/notifications.md shows a message exactly as it is sent, except for whitespace', () => {
  const id = '5f0c1d3e-8a55-4c0f-8d6e-2b7a90b3c1d4';
  const sent = payloadOf({ id, project: 'shop', causes: [cause], dashboardUrl: 'http://127.0.0.1:4000/' });
  expect(blocks('json')[0]).toBe(`${JSON.stringify(sent, null, 2)}\n`);
});

it('docs/notifications.md shows a message about several causes, with nine of ten left out', () => {
  const others = Array.from({ length: 11 }, () => cause);
  const id = '9d2f7a10-0c3b-4e57-8f21-6a1b0e9c7d55';
  const sent = payloadOf({ id, project: 'shop', causes: [cause, ...others], dashboardUrl: null });
  if (sent.event !== 'several') throw new Error('it is about several');
  expect(sent.notifications).toHaveLength(10);
  const shown = { ...sent, notifications: sent.notifications.slice(0, 1) };
  expect(blocks('json')[1]).toBe(`${JSON.stringify(shown, null, 2)}\n`);
});

it('docs/notifications.md has every event, and settings that load without a warning', () => {
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| [^|]+ \|$/gm)].map(([, word]) => word);
  expect(rows).toEqual(expect.arrayContaining([...notifyEvents]));
  const [settings = ''] = blocks('yaml');
  expect(parse(settings)).toHaveProperty('notify.targets');
  const env = { SLACK_URL: 'https://s.example/x', HOOK_URL: 'https://h.example/', HOOK_SECRET: 'x'.repeat(16) };
  expect(givenMemory(settings, env).warnings).toEqual([]);
});

it('docs/notifications.md checks a signature as a receiver should', async () => {
  const [code = ''] = blocks('js');
  const source = `${code}\nexport { isFromBaton };`;
  const { isFromBaton } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  const body = '{"größe": "漢字"}';
  const headersAt = (seconds: number) => ({
    'baton-timestamp': String(seconds),
    'baton-signature': `v1=${createHmac('sha256', 's3cret').update(`${seconds}.${body}`).digest('hex')}`,
  });
  const now = Math.floor(Date.now() / 1000);
  expect(isFromBaton('s3cret', headersAt(now), body)).toBe(true);
  expect(isFromBaton('other', headersAt(now), body)).toBe(false);
  expect(isFromBaton('s3cret', headersAt(now), `${body} `)).toBe(false);
  expect(isFromBaton('s3cret', { ...headersAt(now), 'baton-timestamp': String(now - 1) }, body)).toBe(false);
  expect(isFromBaton('s3cret', headersAt(now - 400), body)).toBe(false);
});
