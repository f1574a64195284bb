// @module-tag full
import { describe, expect, it } from 'vitest';
import { liveTest, soon } from '../../cli/live-daemon.ts';
import { baton, leaveNoPlaces } from '../../cli/run-baton.ts';
import type { Step } from '../../fake/app-server/scenario.ts';
import { handOver, patientAgent, useDaemon } from './codex-daemon.ts';

leaveNoPlaces();

const failed = (codexErrorInfo: unknown, message: string): Step => ({
  complete: 'failed',
  error: { message, codexErrorInfo, additionalDetails: null },
});

describe('an account without quota', liveTest, () => {
  const daemon = useDaemon(() => ({
    settings: [`agent: {${patientAgent}, max_concurrent_agents: 1}`],
    tickets: {
      limited: {
        acrossProcesses: true,
        turns: [
          {
            steps: [
              { say: 'half way' },
              // Counted from here, and long enough to be seen.
              { usedUpForSeconds: 10 },
              failed('usageLimitExceeded', 'You hit your usage limit.'),
            ],
          },
          { steps: [handOver] },
        ],
      },
      behind: { turns: [{ steps: [handOver] }] },
    },
  }));

  // @conforms X4
  it('waits until its reset: no attempt is spent, nothing else starts on it, and then all work continues', async () => {
    let readyAt = Number.POSITIVE_INFINITY;
    // All of one moment: a second look may come after the reset.
    await soon(async () => {
      const status = await daemon().status();
      expect(status).toMatchObject({
        accounts: [{ name: 'codex', unavailable_because: 'quota', windows: [{ used_percent: 100 }] }],
        running: [],
        waiting_quota: [{ issue_identifier: daemon().idOf('limited'), kind: 'quota', attempt: null }],
        skipped: [{ issue_identifier: daemon().idOf('behind'), code: 'waiting_quota' }],
      });
      const [{ windows, unavailable_until }] = status.accounts;
      readyAt = Date.parse(unavailable_until);
      expect(readyAt).toBeGreaterThanOrEqual(Date.parse(windows[0].resets_at));
      expect(daemon().hasStarted('behind')).toBe(false);
    });

    await soon(() => expect(daemon().fake('limited').answerTo(900)).toBeDefined());
    expect(Date.now()).toBeGreaterThanOrEqual(readyAt);
    const runs = await daemon().endedRuns('limited');
    expect(runs).toMatchObject([
      { outcome: 'failed', error_code: 'agent_quota_exhausted', attempt: null },
      { outcome: 'succeeded', retry_kind: 'quota', attempt: null, session_id: runs[0]?.session_id },
    ]);
    expect(daemon().fake('limited').sent('thread/resume')).toMatchObject([{ threadId: runs[0]?.session_id }]);
    expect(await daemon().endedRuns('behind')).toMatchObject([{ outcome: 'succeeded' }]);
    expect((await daemon().status()).accounts).toMatchObject([{ unavailable_until: null }]);
  });
});

describe('an account without a login', liveTest, () => {
  const daemon = useDaemon(() => ({
    settings: [`agent: {${patientAgent}, max_concurrent_agents: 1}`],
    tickets: {
      refused: {
        acrossProcesses: true,
        turns: [
          { steps: [failed({ httpConnectionFailed: { httpStatusCode: 401 } }, 'unexpected status 401 Unauthorized')] },
          { steps: [handOver] },
        ],
      },
      behind: { turns: [{ steps: [handOver] }] },
    },
  }));

  // @conforms daemon.4
  it('holds its issue with the login command, and continues after a retry', async () => {
    const { code, reason } = await daemon().held('refused');
    expect(code).toBe('agent_auth_failed');
    expect(reason).toContain('`codex login`');
    expect(reason).toContain(`baton issue retry ${daemon().idOf('refused')}`);
    expect((await daemon().tell('status')).status.accounts).toMatchObject([{ unavailable_because: 'auth' }]);
    await soon(async () => expect((await daemon().status()).skipped).toMatchObject([{ code: 'waiting_quota' }]));
    const { stdout } = await baton(daemon().place, 'status');
    expect(stdout).toMatch(/^\S.*"codex" .*401 Unauthorized.*`codex login`/m);
    expect(stdout).toMatch(/^ +BAT-1 .*baton issue retry BAT-1$/m);
    expect(stdout).toMatch(/^ +BAT-2 +\S/m);
    // However many wait for it.
    expect(stdout.match(/401 Unauthorized/g)).toHaveLength(1);
    await daemon().tell('issue', 'retry', daemon().idOf('refused'));
    await soon(() => expect(daemon().fake('refused').answerTo(900)).toBeDefined());
    expect(await daemon().endedRuns('refused')).toMatchObject([
      { outcome: 'failed', error_code: 'agent_auth_failed' },
      { outcome: 'succeeded' },
    ]);
  });
});

describe('a conversation that became too long', liveTest, () => {
  const daemon = useDaemon(() => ({
    settings: ['agent: {read_timeout_ms: 25000, max_retry_backoff_ms: 200}'],
    tickets: {
      long: {
        acrossProcesses: true,
        turns: [
          { steps: [{ say: 'reading everything' }, failed('contextWindowExceeded', 'ran out of room')] },
          { steps: [handOver] },
        ],
      },
    },
  }));

  // @conforms 4.87
  it('is shortened before the next attempt continues it', async () => {
    const fake = daemon().fake('long');
    await soon(() => expect(fake.answerTo(900)).toBeDefined());
    const runs = await daemon().endedRuns('long');
    expect(runs).toMatchObject([
      { outcome: 'failed', error_code: 'agent_context_exhausted' },
      { outcome: 'succeeded', retry_kind: 'failure', attempt: 1, session_id: runs[0]?.session_id },
    ]);
    const second = fake.trace().findLastIndex(({ started }) => started !== undefined);
    const methods = fake
      .trace()
      .slice(second)
      .map(({ method }) => method);
    const inOrder = ['initialize', 'thread/resume', 'thread/compact/start', 'turn/start'];
    expect(methods.filter((method) => inOrder.includes(method ?? ''))).toEqual(inOrder);
    expect(fake.sent('thread/compact/start')).toEqual([{ threadId: runs[0]?.session_id }]);
  });
});
