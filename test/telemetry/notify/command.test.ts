import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { notifyEvents } from '../../../src/core/notify/notify-cause.ts';
import { Secret } from '../../../src/core/text/secret.ts';
import { runNotifyCommand } from '../../../src/daemon/services/run-notify-command.ts';
import { childEnvironment, usualVariables } from '../../../src/process/child-environment.ts';
import type { RunCommand } from '../../../src/telemetry/notify/send-message.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { telling } from '../../telling.ts';
import { begin, facts, held, midDay, nobodyNeeded, until } from './notify-scene.ts';

function scratch(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-notify-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** As the daemon runs it: a complete environment from the usual variables, and an end with everything it started. */
const inBash =
  (cwd: string, daemonEnv: Record<string, string> = {}): RunCommand =>
  ({ env, ...request }) =>
    runNotifyCommand(
      {
        ...request,
        cwd,
        runId: systemChance.id(),
        env: childEnvironment({
          from: { PATH: process.env.PATH, ...daemonEnv },
          allow: usualVariables,
          deny: ['HOOK_SECRET'],
          add: env,
        }),
      },
      { clock: systemClock, containment: 'marker_sweep', daemonId: systemChance.id() },
    );

const command = (run: string | Secret) => ({ kind: 'command', run, events: notifyEvents }) as const;
const hostile = `$(touch pwned) \`touch pwned\` "; touch pwned; ' \u0000 \u001b]0;x\u0007\nnext`;

// @conforms notify.9
it('runs a command with the facts as variables and as JSON, without interpreting them', async () => {
  const folder = scratch();
  const run =
    'cat > "$BATON_NOTIFY_ISSUE.json"; env | grep ^BATON_NOTIFY_ | sort > env.txt; echo $BATON_NOTIFY_TITLE > /dev/null; : > done';
  const { notifier, clock, logger } = begin({
    store: await scratchStore(midDay()),
    notify: { targets: [command(run)] },
    runCommand: inBash(folder, { HOOK_SECRET: 'hidden', OTHER: 'hidden' }),
  });
  const issue = { id: 'i1', identifier: 'SHOP-1', title: hostile, url: null };
  notifier.update(facts(held(1, { issue, reason: hostile })));
  await until(clock, () => logger.events().includes('notification_sent'));
  const names = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
  const payload = JSON.parse(names('SHOP-1.json'));
  expect(payload).toMatchObject({ event: 'held', project: 'shop', issue: { identifier: 'SHOP-1' } });
  const variables = Object.fromEntries(
    names('env.txt')
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  expect(variables).toEqual({
    BATON_NOTIFY_ID: payload.id,
    BATON_NOTIFY_EVENT: 'held',
    BATON_NOTIFY_PROJECT: 'shop',
    BATON_NOTIFY_COUNT: '1',
    BATON_NOTIFY_ISSUE: 'SHOP-1',
    BATON_NOTIFY_ISSUE_ID: 'i1',
    BATON_NOTIFY_TITLE: payload.issue.title,
    BATON_NOTIFY_URL: '',
    BATON_NOTIFY_RUN_ID: 'r1',
    BATON_NOTIFY_CODE: 'retries_exhausted',
    BATON_NOTIFY_REASON: payload.reason,
    BATON_NOTIFY_SINCE: '2026-01-05T11:59:59.000Z',
    BATON_NOTIFY_DASHBOARD_URL: '',
  });
  expect(() => names('pwned')).toThrow();
});

it('tries a failed command again with the same id, and logs its output', async () => {
  const folder = scratch();
  const run = new Secret('echo $BATON_NOTIFY_ID >> ids; [ $(wc -l < ids) -ge 3 ] || { echo "not yet" >&2; exit 3; }');
  const { notifier, clock, logger } = begin({
    store: await scratchStore(midDay()),
    notify: { targets: [command(run)] },
    runCommand: inBash(folder),
  });
  notifier.update({ ...nobodyNeeded, finished: [{ issue: held(1).issue ?? never(), state: 'Done', at: clock.now() }] });
  const failures = () => logger.events().filter((event) => event === 'notification_failed').length;
  await until(clock, () => failures() === 1);
  await clock.advance(11_000);
  await until(clock, () => failures() === 2);
  await clock.advance(22_000);
  await until(clock, () => logger.events().includes('notification_sent'));
  const ids = readFileSync(path.join(folder, 'ids'), 'utf8').trimEnd().split('\n');
  expect([ids.length, new Set(ids).size]).toEqual([3, 1]);
  expect(logger.lines.find(({ level }) => level === 'warn')?.fields.error).toMatchObject({
    code: 'notification_failed',
    details: { exit: 3, timed_out: false },
    message: telling('not yet'),
  });
});

it('treats a command that was cut short as failed, even with a good exit code', async () => {
  const asked: number[] = [];
  const runCommand: RunCommand = async ({ timeoutMs }) => {
    asked.push(timeoutMs);
    return { code: 0, timedOut: asked.length === 1, stderr: '', isTooLong: false };
  };
  const targets = [command('sleep 100')];
  const { notifier, clock, logger } = begin({ store: await scratchStore(midDay()), notify: { targets }, runCommand });
  notifier.update(facts(held(1)));
  await clock.advance(12_000);
  expect(asked).toEqual([30_000, 30_000]);
  expect(logger.lines.find(({ level }) => level === 'warn')?.fields.error).toMatchObject({
    code: 'notification_failed',
    details: { timed_out: true },
    message: telling('30 s'),
  });
});

// @conforms notify.19
it.each(['1', '2'])('ends a command that floods its output %s at once, and does not run it again', async (output) => {
  const folder = scratch();
  // A flood that would last until the command is ended for its time, from a child of the command's own.
  const run = `echo run >> runs; yes 'a line of no use' >&${output}; : > outlived`;
  const { notifier, clock, logger } = begin({
    store: await scratchStore(midDay()),
    notify: { targets: [command(run)] },
    runCommand: inBash(folder),
  });
  const began = performance.now();
  notifier.update(facts(held(1)));
  await until(clock, () => logger.events().includes('notification_given_up'));
  // Its time would be 30 seconds.
  expect(performance.now() - began).toBeLessThan(25_000);
  expect(logger.lines.find(({ level }) => level === 'warn')?.fields.error).toMatchObject({
    code: 'notification_refused',
    details: { most_bytes: 65_536 },
  });
  await clock.advance(24 * 3_600_000);
  expect(readFileSync(path.join(folder, 'runs'), 'utf8')).toBe('run\n');
  expect(existsSync(path.join(folder, 'outlived'))).toBe(false);
});

it.each([
  [64 * 1024, 'notification_sent'],
  [64 * 1024 + 1, 'notification_given_up'],
])('lets a command write %i bytes to an output: %s', async (bytes, said) => {
  for (const output of ['1', '2']) {
    const { notifier, clock, logger } = begin({
      store: await scratchStore(midDay()),
      notify: { targets: [command(`head -c ${bytes} /dev/zero >&${output}`)] },
      runCommand: inBash(scratch()),
    });
    notifier.update(facts(held(1)));
    await until(clock, () => logger.lines.some(({ level }) => level === 'info' || level === 'warn'));
    expect(logger.events()).toEqual([said]);
  }
});

it('ends a command with the notifier, and records no result', async () => {
  const folder = scratch();
  const { notifier, clock, logger } = begin({
    store: await scratchStore(midDay()),
    notify: { targets: [command(': > begun; sleep 60')] },
    runCommand: inBash(folder),
  });
  notifier.update(facts(held(1)));
  await until(clock, () => existsSync(path.join(folder, 'begun')));
  await notifier.close();
  expect(logger.events()).toEqual([]);
});

function never(): never {
  throw new Error('it has an issue');
}
