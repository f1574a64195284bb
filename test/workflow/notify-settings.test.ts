import { describe, expect, it } from 'vitest';
import { notifyEvents } from '../../src/core/notify/notify-cause.ts';
import { Secret } from '../../src/core/text/secret.ts';
import { given, givenMemory, keysIn, refusal } from './given.ts';

const env = {
  HOOK_URL: 'https://hooks.example/hunter1',
  HOOK_SECRET: 'hunter2-hunter2-hunter2',
  SLACK_URL: 'https://hooks.slack.com/services/T/B/hunter3',
  RUN_IT: 'curl -H hunter4',
  SHORT: 'hunter5',
  FTP: 'ftp://hunter6.example',
  PLAIN: 'http://hooks.example/hunter7',
  USER: 'https://me:hunter8@hooks.example/',
  NONSENSE: 'hunter9',
};

const loaded = (section: string) => givenMemory(`notify: ${section}`, env);
const targetsOf = (list: string) => loaded(`{targets: ${list}}`).settings.notify.targets;
const refused = (list: string) => refusal(() => loaded(`{targets: ${list}}`));

describe('notify', () => {
  it('sends nothing by default', () => {
    const { notify } = givenMemory('').settings;
    expect(notify).toEqual({ targets: [], quietHours: null, timeZone: 'Asia/Tokyo', evenInQuietHours: false });
    expect(loaded('{targets: []}').settings.notify).toEqual(notify);
  });

  it('accepts webhooks, Slack and commands, each for the listed events or for all', () => {
    const [webhook, slack, command, script] = targetsOf(
      '[{kind: webhook, url: $HOOK_URL, secret: $HOOK_SECRET, events: [held, held, finished]}, {kind: slack, url: $SLACK_URL}, {kind: command, run: "notify-send $BATON_NOTIFY_EVENT"}, {kind: command, run: $RUN_IT}]',
    );
    expect(webhook).toMatchObject({ kind: 'webhook', events: ['held', 'finished'], allowInsecure: false });
    expect(slack).toMatchObject({ kind: 'slack', events: notifyEvents });
    expect(command).toEqual({ kind: 'command', run: 'notify-send $BATON_NOTIFY_EVENT', events: [...notifyEvents] });
    expect(webhook?.kind === 'webhook' && [webhook.url.reveal(), webhook.secret.reveal()]).toEqual([
      env.HOOK_URL,
      env.HOOK_SECRET,
    ]);
    expect(script?.kind === 'command' && script.run instanceof Secret && script.run.reveal()).toBe(env.RUN_IT);
  });

  it('has quiet hours in its own time zone, or in that of polling', () => {
    const hours = (text: string) => givenMemory(text).settings.notify.quietHours;
    expect(hours('notify: {quiet_hours: "22:00-06:30"}')).toEqual({
      fromMinute: 1320,
      toMinute: 390,
      timeZone: 'Asia/Tokyo',
    });
    const polling = 'polling: {mode: adaptive, time_zone: Europe/Berlin}';
    expect(hours(`${polling}\nnotify: {quiet_hours: "22:00-06:30"}`)?.timeZone).toBe('Europe/Berlin');
    expect(hours(`${polling}\nnotify: {quiet_hours: "22:00-06:30", time_zone: UTC}`)?.timeZone).toBe('UTC');
    expect(givenMemory('notify: {even_in_quiet_hours: true}').settings.notify.evenInQuietHours).toBe(true);
  });

  it('allows plain http on this machine, and elsewhere only with allow_insecure_endpoint', () => {
    const url = (text: string) => targetsOf(`[{kind: slack, url: ${text}}]`)[0];
    expect(url('"http://127.0.0.1:9000/x"')).toBeDefined();
    expect(url('$PLAIN, allow_insecure_endpoint: true')).toMatchObject({ allowInsecure: true });
  });

  it.each([
    ['no list', '{kind: slack}', 'notify.targets'],
    ['a text', '[https://hooks.example/hunter1]', 'notify.targets[0]'],
    ['no kind', '[{url: $HOOK_URL}]', 'notify.targets[0].kind'],
    ['a kind that is none', '[{kind: hunter, url: $HOOK_URL}]', 'notify.targets[0].kind'],
    ['a webhook without a secret', '[{kind: webhook, url: $HOOK_URL}]', 'notify.targets[0].secret'],
    ['a blank address', '[{kind: slack, url: " "}]', 'notify.targets[0].url'],
    ['a blank command', '[{kind: command, run: ""}]', 'notify.targets[0].run'],
    ['a key that is none', '[{kind: slack, url: $SLACK_URL, event: [held]}]', 'notify.targets[0].event'],
    ['an event that is none', '[{kind: slack, url: $SLACK_URL, events: [hunter]}]', 'notify.targets[0].events[0]'],
    ['no event', '[{kind: slack, url: $SLACK_URL, events: []}]', 'notify.targets[0].events'],
    ['a variable that is not set', '[{kind: slack, url: $NOT_THERE}]', 'notify.targets[0].url'],
    ['a variable that every object has', '[{kind: slack, url: $constructor}]', 'notify.targets[0].url'],
    ['a short secret', '[{kind: webhook, url: $HOOK_URL, secret: $SHORT}]', 'notify.targets[0].secret'],
    ['no web address', '[{kind: slack, url: $FTP}]', 'notify.targets[0].url'],
    ['no address', '[{kind: slack, url: $NONSENSE}]', 'notify.targets[0].url'],
    ['http beyond this machine', '[{kind: slack, url: $PLAIN}]', 'notify.targets[0].url'],
    ['a password in the address', '[{kind: slack, url: $USER}]', 'notify.targets[0].url'],
    ['a command with NUL', '[{kind: command, run: "a\\0b"}]', 'notify.targets[0].run'],
    ['the same place twice', '[{kind: slack, url: $SLACK_URL}, {kind: slack, url: $SLACK_URL}]', 'notify.targets[1]'],
  ])('rejects %s and names the key without showing the value', (_what, list, key) => {
    const error = refused(list);
    expect(keysIn(error)).toEqual([key]);
    expect(error.message).not.toContain('hunter');
  });

  it('warns about secrets in plain text without showing them', () => {
    const list =
      '[{kind: webhook, url: "https://hooks.example/x", secret: hunter2-hunter2-hunter2}, {kind: slack, url: "https://hooks.slack.com/hunter3"}, {kind: slack, url: "https://x.example/$HUNTER"}]';
    const { warnings, described, settings } = loaded(`{targets: ${list}}`);
    expect(warnings.map(({ code, key }) => [code, key])).toEqual([
      ['literal_secret', 'notify.targets[0].secret'],
      ['literal_secret', 'notify.targets[1].url'],
      ['doubtful_reference', 'notify.targets[2].url'],
      ['literal_secret', 'notify.targets[2].url'],
    ]);
    expect(JSON.stringify([warnings, described, settings])).not.toMatch(/hunter[0-9]/);
  });

  it('is described without secrets', () => {
    const { described } = loaded(
      '{targets: [{kind: webhook, url: $HOOK_URL, secret: $HOOK_SECRET, events: [held]}, {kind: command, run: $RUN_IT, events: [held]}, {kind: command, run: beep, events: [held]}]}',
    );
    expect(described.find(({ key }) => key === 'notify.targets')?.value).toEqual([
      { kind: 'webhook', url: '[secret]', secret: '[secret]', events: ['held'], allow_insecure_endpoint: false },
      { kind: 'command', run: '[secret]', events: ['held'] },
      { kind: 'command', run: 'beep', events: ['held'] },
    ]);
    expect(JSON.stringify(described)).not.toContain('hunter');
  });

  // @conforms notify.11
  it('withholds its variables from every agent, like those of the tracker', () => {
    const list = '[{kind: webhook, url: $HOOK_URL, secret: $HOOK_SECRET}, {kind: command, run: $RUN_IT}]';
    const { secretEnvironment } = loaded(`{targets: ${list}}`).settings;
    expect(secretEnvironment).toEqual(expect.arrayContaining(['HOOK_URL', 'HOOK_SECRET', 'RUN_IT']));
    const handedOn = refusal(() => givenMemory(`notify: {targets: ${list}}\nagent: {env: [HOOK_SECRET]}`, env));
    expect(keysIn(handedOn)).toEqual(['agent.env']);
    const ofAccount = 'agent: {accounts: [{name: a, env: {KEY: $HOOK_SECRET}}]}';
    expect(keysIn(refusal(() => givenMemory(`notify: {targets: ${list}}\n${ofAccount}`, env)))).toEqual([
      'agent.accounts[0].env.KEY',
    ]);
  });

  it('may have its own request budget', () => {
    const { settings } = given('tracker: {kind: memory}\npolling: {budget: {requests_per_hour: {notify: 60}}}');
    expect(settings.polling.budget.requestsPerHour).toEqual({ notify: 60 });
  });
});
