import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NotifyCause } from '../../../src/core/notify/notify-cause.ts';
import { slackMessage } from '../../../src/telemetry/notify/slack-message.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { cause } from '../../store/notification-cause.ts';
import { telling } from '../../telling.ts';
import { begin, facts, held, midDay, receiver, slack, until } from './notify-scene.ts';

const textOf = (causes: readonly NotifyCause[], dashboardUrl: string | null = null): string => {
  const [first = cause('k'), ...others] = causes;
  return slackMessage({ id: 'm', project: 'shop', causes: [first, ...others], dashboardUrl }).text;
};
const withTitle = (title: string, url: string | null = null): NotifyCause =>
  cause('k', { issue: { id: 'i', identifier: 'SHOP-1', title, url }, reason: title });

const title0 = (all: readonly (readonly [string, string])[]): string => all[0]?.[0] ?? '';
const textsIn = (blocks: readonly unknown[]): string[] =>
  blocks.map((block) => (block as { readonly text: { readonly text: string } }).text.text);

describe('a message for Slack', () => {
  it('says what happened, why, and what to do', () => {
    const about = cause('k', {
      issue: { id: 'i', identifier: 'SHOP-1', title: 'Mend it', url: 'https://t.example/1?a=1&b' },
    });
    expect(textOf([about], 'http://127.0.0.1:4000/').split('\n')).toEqual([
      telling('*shop*', '<https://t.example/1?a=1&amp;b|SHOP-1>', 'Mend it'),
      about.reason,
      '`baton issue retry BAT-1`',
      expect.stringMatching(/^<http:\/\/127\.0\.0\.1:4000\/\|[^<>|]+>$/),
    ]);
    const { blocks } = slackMessage({ id: 'm', project: 'shop', causes: [about], dashboardUrl: null });
    expect(blocks).toMatchObject([{ type: 'section', text: { type: 'mrkdwn', verbatim: true } }]);
  });

  it('has a different text for each event', () => {
    const events = ['needs_you', 'held', 'limit_reached', 'finished', 'unhealthy'] as const;
    expect(new Set(events.map((event) => textOf([cause('k', { event })]))).size).toBe(events.length);
  });

  // @conforms notify.8
  it.each([
    '<!channel> <!here> <@U123> <#C1|general> <https://evil.example|click>',
    '&lt;!channel&gt; &amp;',
    'see https://evil.example and www.evil.example and mailto:a@evil.example',
    '[click](https://evil.example) [x][y] @channel @here @someone',
    '```\ncode *bold* `tick`',
  ])('forms no link and mentions no one with issue text: %s', (title) => {
    const text = textOf([withTitle(title)]);
    expect(text).not.toMatch(/[<>]/);
    expect(text).not.toMatch(/:\/\/|@\w|\]\(|\]\[|www\.|mailto:|```/);
    expect(text.replaceAll(/&(?:amp|lt|gt);/g, '')).not.toContain('&');
  });

  it('links only to addresses that a browser opens', () => {
    for (const url of ['javascript:alert(1)', 'data:text/html,x', 'SHOP-1', '', 'file:///etc/passwd']) {
      expect(textOf([withTitle('t', url)])).not.toContain('<');
    }
    const odd = textOf([withTitle('t', 'https://t.example/a|b>c<d"')]);
    expect(odd.match(/[<>|]/g)).toEqual(['<', '|', '>']);
  });

  it('lists ten of many causes, and counts the others', () => {
    const many = Array.from({ length: 13 }, (_, index) => cause(`k${index}`));
    const lines = textOf(many).split('\n');
    expect(lines).toHaveLength(12);
    expect([lines[0], lines[11]]).toEqual([telling('*shop*', 13), telling(3)]);
  });

  it('is never longer than Slack allows, and never opens a bracket, whatever its content', () => {
    const hostile = fc.string({ unit: fc.constantFrom('<', '>', '&', '!', '@', 'a', '|', '`', ':', '/', '\uD83D') });
    const long = hostile.map((text) => text.repeat(200));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.oneof(hostile, long), fc.oneof(hostile, long)), { minLength: 1, maxLength: 14 }),
        (all) => {
          const causes = all.map(([title, reason], index) =>
            cause(`k${index}`, {
              reason,
              issue: { id: 'i', identifier: 'SHOP-1', title, url: `https://t.example/${'&'.repeat(title.length)}` },
            }),
          );
          const text = textOf(causes);
          expect(text.replaceAll(/<https:\/\/t\.example\/[&amp;]*\|SHOP-1>/g, '')).not.toMatch(/[<>]|@a|:\/\//);
          const [first = cause('k'), ...others] = causes;
          const { blocks } = slackMessage({
            id: 'm',
            project: title0(all),
            causes: [first, ...others],
            dashboardUrl: null,
          });
          for (const each of textsIn(blocks)) expect(each.length).toBeLessThanOrEqual(3_000);
          expect(textsIn(blocks).join('\n')).toContain('SHOP-1');
        },
      ),
    );
  });

  it('arrives unchanged', async () => {
    const there = await receiver();
    const { notifier, clock } = begin({ store: await scratchStore(midDay()), notify: { targets: [slack(there.url)] } });
    notifier.update(facts(held(1)));
    await until(clock, () => there.received.length === 1);
    expect(there.received[0]?.json).toMatchObject({ text: expect.stringContaining('SHOP-1'), link_names: false });
    expect(there.received[0]?.headers['baton-signature']).toBeUndefined();
  });
});
