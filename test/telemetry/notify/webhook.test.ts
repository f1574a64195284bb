import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { scratchStore } from '../../fake/scratch-store.ts';
import { settings } from '../../fake/settings.ts';
import {
  begin,
  facts,
  held,
  midDay,
  quietly,
  receiver,
  secret,
  slack,
  status,
  until,
  webhook,
} from './notify-scene.ts';

const minute = 60_000;

describe('a webhook', () => {
  // @conforms notify.1
  it('gets a cause once, signed, with everything that a person needs', async () => {
    const there = await receiver();
    const store = await scratchStore(midDay());
    const { notifier, clock } = begin({
      store,
      notify: { targets: [webhook(there.url)] },
      more: { dashboardUrl: () => 'http://127.0.0.1:4000' },
    });
    notifier.update(facts(held(7)));
    await until(clock, () => there.received.length === 1);
    const [first] = there.received;
    expect(first?.json).toEqual({
      version: 1,
      id: first?.headers['baton-delivery'],
      project: 'shop',
      event: 'held',
      issue: { id: 'i7', identifier: 'SHOP-7', title: 'Mend door 7', url: 'https://t.example/7' },
      run_id: 'r7',
      code: 'retries_exhausted',
      reason: 'its last 3 runs failed: exit 7',
      since: '2026-01-05T11:59:59.000Z',
      actions: ['baton issue retry SHOP-7', 'baton takeover SHOP-7'],
      dashboard_url: 'http://127.0.0.1:4000/',
    });
    const timestamp = String(first?.headers['baton-timestamp']);
    expect(timestamp).toBe(String(clock.now() / 1000));
    const expected = createHmac('sha256', secret).update(`${timestamp}.${first?.body}`).digest('hex');
    expect(first?.headers['baton-signature']).toBe(`v1=${expected}`);
    expect(first?.headers).toMatchObject({ 'baton-event': 'held', 'content-type': 'application/json; charset=utf-8' });
    for (let look = 0; look < 5; look += 1) {
      notifier.update(facts(held(7, { reason: `another ${look}` })));
      await clock.advance(minute);
    }
    await quietly(clock);
    expect(there.received).toHaveLength(1);
  });

  // @conforms notify.2
  it('that fails is tried again after growing waits, always with the same id', async () => {
    const there = await receiver();
    const cut = (response: { readonly socket: { destroy(): unknown } | null }): void => void response.socket?.destroy();
    there.next.push(status(500), cut as never, status(503), status(502));
    const { notifier, clock } = begin({
      store: await scratchStore(midDay()),
      notify: { targets: [webhook(there.url)] },
    });
    notifier.update(facts(held(1)));
    for (const [tries, waitMs] of [
      [1, 10_000],
      [2, 20_000],
      [3, 40_000],
      [4, 80_000],
    ] as const) {
      await until(clock, () => there.received.length === tries);
      await quietly(clock);
      await clock.advance(waitMs - 1);
      await quietly(clock);
      expect(there.received).toHaveLength(tries);
      await clock.advance(waitMs * 0.1 + 1);
    }
    await until(clock, () => there.received.length === 5);
    const ids = new Set(there.received.map(({ headers }) => headers['baton-delivery']));
    expect(ids.size).toBe(1);
    const times = there.received.map(({ headers }) => Number(headers['baton-timestamp']));
    expect(times.toSorted((a, b) => a - b)).toEqual(times);
    expect(new Set(times).size).toBe(5);
    await quietly(clock);
    await clock.advance(25 * 60 * minute);
    await quietly(clock);
    expect(there.received).toHaveLength(5);
  });

  // @conforms notify.3
  it('that names a time is tried again then, and not before', async () => {
    const there = await receiver();
    there.next.push(status(429, { 'retry-after': '600' }));
    const { notifier, clock } = begin({
      store: await scratchStore(midDay()),
      notify: { targets: [webhook(there.url)] },
    });
    notifier.update(facts(held(1)));
    await until(clock, () => there.received.length === 1);
    await quietly(clock);
    notifier.update(facts(held(1), held(2)));
    await quietly(clock);
    await clock.advance(600_000 - 1);
    await quietly(clock);
    expect(there.received).toHaveLength(1);
    await clock.advance(minute);
    await until(clock, () => there.received.length === 3);
    expect(there.received.map(({ json }) => json.issue.identifier).toSorted()).toEqual(['SHOP-1', 'SHOP-1', 'SHOP-2']);
  });

  // @conforms notify.20
  it.each<[string, (response: ServerResponse) => void]>([
    ['never ends', (response) => void response.writeHead(200).write('still thinking')],
    ['is longer than any answer may be', flood],
    [
      'is cut',
      (response) => void response.writeHead(200, { 'content-length': '9' }).write('a', () => response.destroy()),
    ],
    ['is not what its head says', (response) => void response.writeHead(202, { 'content-encoding': 'gzip' }).end('x')],
  ])('that accepts the message is not tried again when its answer %s', async (_, answer) => {
    const there = await receiver();
    there.next.push(answer);
    const { notifier, clock, logger } = begin({
      store: await scratchStore(midDay()),
      notify: { targets: [webhook(there.url)] },
    });
    notifier.update(facts(held(1)));
    await until(clock, () => logger.events().length > 0);
    expect(logger.events()).toEqual(['notification_sent']);
    await clock.advance(60 * minute);
    await quietly(clock);
    expect(there.received).toHaveLength(1);
    // The connection was given up, and the next message finds its way all the same.
    notifier.update(facts(held(1), held(2)));
    await until(clock, () => there.received.length === 2);
  });

  it('that refuses with a long body is read by its status', async () => {
    const there = await receiver();
    there.next.push((response) => void response.writeHead(404).write('no end'));
    const { notifier, clock, logger } = begin({
      store: await scratchStore(midDay()),
      notify: { targets: [webhook(there.url)] },
    });
    notifier.update(facts(held(1)));
    await until(clock, () => logger.events().length > 0);
    expect(logger.lines[0]?.fields).toMatchObject({
      error: { code: 'notification_refused', details: { status: 404 } },
    });
  });

  it.each([301, 400, 401, 404, 410])('that answers %i is not tried again, and a warning is logged', async (code) => {
    const there = await receiver();
    there.next.push(status(code, { location: there.url }));
    const { notifier, clock, logger } = begin({
      store: await scratchStore(midDay()),
      notify: { targets: [webhook(there.url)] },
    });
    notifier.update(facts(held(1)));
    await until(clock, () => logger.events().includes('notification_given_up'));
    await clock.advance(25 * 60 * minute);
    await quietly(clock);
    expect(there.received).toHaveLength(1);
    expect(logger.lines.find(({ level }) => level === 'warn')?.fields).toMatchObject({
      error: { code: 'notification_refused', details: { status: code } },
    });
    notifier.update(facts(held(1), held(2)));
    await until(clock, () => there.received.length === 2);
  });

  it('that never works is given up after a day', async () => {
    const store = await scratchStore(midDay());
    const targets = [webhook('http://127.0.0.1:9/hook')];
    let sent = 0;
    const transport = {
      send: () => {
        sent += 1;
        return Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }));
      },
      [Symbol.asyncDispose]: async () => {},
    };
    const { notifier, clock, logger } = begin({ store, notify: { targets }, transport });
    notifier.update(facts(held(1)));
    await clock.advance(24 * 60 * minute);
    expect(sent).toBeGreaterThan(25);
    expect(sent).toBeLessThan(40);
    const before = sent;
    await clock.advance(48 * 60 * minute);
    expect(sent - before).toBeLessThan(2);
    expect(logger.events().filter((event) => event === 'notification_given_up')).toHaveLength(1);
    expect(await store.notifications.open('shop')).toEqual([]);
  });

  it('that does not answer delays no other target, and is tried again', async () => {
    const [silent, other] = [await receiver(), await receiver()];
    silent.next.push(() => {});
    const targets = [webhook(silent.url), slack(other.url)];
    const { notifier, clock } = begin({ store: await scratchStore(midDay()), notify: { targets } });
    notifier.update(facts(held(1)));
    await until(clock, () => silent.received.length === 1 && other.received.length === 1);
    notifier.update(facts(held(1), held(2)));
    await until(clock, () => other.received.length === 2);
    await clock.advance(31_000);
    await quietly(clock);
    await clock.advance(12_000);
    await until(clock, () => silent.received.length === 3);
    expect(other.received).toHaveLength(2);
  });

  // @conforms notify.10
  it('gets no secret of the settings, in any message or log line', async () => {
    const there = await receiver();
    there.next.push(status(500), status(404));
    const canary = 'canary-key-0f3b-9c2d';
    const url = `${there.url}?token=canary-token-77aa`;
    const { provider, ...rest } = settings().tracker;
    const { Secret } = await import('../../../src/core/text/secret.ts');
    const all = {
      ...settings({ notify: { targets: [webhook(url)] } }),
      tracker: { ...rest, provider: { ...provider, key: new Secret(canary) } },
    };
    const { notifier, clock, logger } = begin({
      store: await scratchStore(midDay()),
      notify: {},
      more: { settings: () => all },
    });
    const issue = { id: 'i1', identifier: 'SHOP-1', title: `t ${canary}`, url: `https://t.example/?k=${canary}` };
    notifier.update(facts(held(1, { reason: `it printed ${canary} and ${secret}`, issue })));
    await until(clock, () => there.received.length === 1);
    await quietly(clock);
    await clock.advance(12_000);
    await until(clock, () => there.received.length === 2);
    await quietly(clock);
    expect(there.received[0]?.json).toMatchObject({ reason: 'it printed [secret] and [secret]' });
    const shown = JSON.stringify([there.received.map(({ body }) => body), logger.lines]);
    for (const each of [canary, secret, 'canary-token-77aa']) expect(shown).not.toContain(each);
  });
});

/** Writes for as long as somebody reads. */
function flood(response: ServerResponse): void {
  response.writeHead(200);
  const piece = Buffer.alloc(1024 * 1024, 'x');
  let left = 200;
  const more = (): void => {
    left -= 1;
    if (left > 0 && !response.destroyed) response.write(piece, more);
  };
  more();
}
