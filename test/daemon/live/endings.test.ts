// @module-tag full
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { liveTest, soon } from '../../cli/live-daemon.ts';
import { leaveNoPlaces } from '../../cli/run-baton.ts';
import type { Step } from '../../fake/app-server/scenario.ts';
import { patientAgent, ticket, useDaemon } from './codex-daemon.ts';

leaveNoPlaces();

const failed = (codexErrorInfo: unknown, message = 'no'): Step => ({
  complete: 'failed',
  error: { message, codexErrorInfo, additionalDetails: null },
});
const chatter = (ms: number): Step[] => [
  { waitMs: ms },
  { send: { method: 'turn/diff/updated', params: { diff: '' } } },
];

// Long enough that a busy machine is not taken for a silent agent.
describe('the time limit of a turn', liveTest, () => {
  const daemon = useDaemon(() => ({
    settings: [`agent: {${patientAgent}, turn_timeout_ms: 8000, turn_wall_time_ms: 20000}`],
    tickets: {
      chatty: ticket(...chatter(3000), ...chatter(3000), ...chatter(3000)),
      silent: { turns: [{ steps: [{ say: 'hm' }, { forever: true }] }] },
      endless: { turns: [{ steps: Array.from({ length: 40 }, () => chatter(1000)).flat() }] },
    },
  }));

  // @conforms A4
  it('allows a turn longer than turn_timeout_ms while events arrive', async () => {
    expect(await daemon().endedRuns('chatty')).toMatchObject([{ outcome: 'succeeded', turns: 1 }]);
  });

  // @conforms A5
  it('interrupts a turn after a silence of turn_timeout_ms', async () => {
    expect(await daemon().endedRuns('silent')).toMatchObject([
      { outcome: 'timed_out', error_code: 'agent_turn_timeout', error_message: expect.stringContaining('8000 ms') },
    ]);
    expect(daemon().fake('silent').sent('turn/interrupt')).toHaveLength(1);
  });

  // @conforms daemon.6
  it('ends a turn that is never silent after turn_wall_time_ms', async () => {
    expect(await daemon().endedRuns('endless')).toMatchObject([
      {
        outcome: 'timed_out',
        error_code: 'agent_turn_timeout',
        error_message: expect.stringContaining('agent.turn_wall_time_ms'),
      },
    ]);
  });
});

describe('a turn', liveTest, () => {
  const daemon = useDaemon(() => ({
    settings: [`agent: {${patientAgent}}`],
    tickets: {
      failed: { turns: [{ steps: [failed('internalServerError', 'the model fell over')] }] },
      interrupted: { turns: [{ steps: [{ complete: 'interrupted' }] }] },
      idle: { turns: [{ steps: [{ say: 'I wait for instructions.' }] }] },
      flood: { turns: [{ steps: [{ raw: 'x'.repeat(1_000_000), times: 20 }, { forever: true }] }] },
    },
  }));

  // @conforms X4
  it('that completes as failed or interrupted fails its attempt: a backoff follows and no further turn', async () => {
    expect(await daemon().endedRuns('failed')).toMatchObject([
      {
        outcome: 'failed',
        error_code: 'agent_turn_failed',
        error_message: expect.stringContaining('fell over'),
        turns: 1,
      },
    ]);
    expect(await daemon().endedRuns('interrupted')).toMatchObject([
      { outcome: 'failed', error_code: 'agent_turn_failed', turns: 1 },
    ]);
    const { retrying } = (await daemon().tell('status')).status;
    for (const name of ['failed', 'interrupted']) {
      const wait = retrying.find((each: { issue_identifier: string }) => each.issue_identifier === daemon().idOf(name));
      expect(wait).toMatchObject({ kind: 'failure', attempt: 1 });
      expect(Date.parse(wait.due_at)).toBeGreaterThan(Date.now());
      expect(daemon().fake(name).sent('turn/start')).toHaveLength(1);
    }
  });

  // @conforms X16
  it('that sends 20 MB without a line end fails cleanly, and the daemon does not grow', async () => {
    expect(await daemon().endedRuns('flood')).toMatchObject([
      { outcome: 'failed', error_code: 'agent_protocol_error' },
    ]);
    expect(peakMemoryMb(daemon().process.child.pid ?? 0)).toBeLessThan(400);
  });

  // @conforms daemon.5
  it('that changes nothing and says the same three times holds the issue', async () => {
    expect(await daemon().held('idle')).toMatchObject({
      code: 'run_stalemate',
      reason: expect.stringContaining('I wait for instructions.'),
    });
    expect(await daemon().runs('idle')).toMatchObject([{ outcome: 'failed', turns: 3 }]);
    expect(daemon().fake('idle').sent('turn/start')).toHaveLength(3);
  });
});

describe('a silent agent', liveTest, () => {
  const daemon = useDaemon(() => ({
    settings: ['agent: {read_timeout_ms: 7000, stall_timeout_ms: 12000, max_retry_backoff_ms: 600000}'],
    tickets: {
      mute: { answers: { initialize: 'silence' } },
      begun: { turns: [{ steps: [{ forever: true }] }] },
    },
  }));

  // @conforms daemon.7
  it('that never answers the first request is stopped by read_timeout_ms', async () => {
    expect(await daemon().endedRuns('mute')).toMatchObject([
      { outcome: 'failed', error_code: 'agent_launch_failed', error_message: expect.stringContaining('initialize') },
    ]);
  });

  // @conforms daemon.8
  it('that falls silent after its session started counts as stalled', async () => {
    expect(await daemon().endedRuns('begun')).toMatchObject([
      { outcome: 'stalled', error_code: 'run_stalled', session_id: expect.stringMatching(/^thread-/) },
    ]);
  });
});

describe('the end of a run', liveTest, () => {
  const daemon = useDaemon(() => ({
    settings: ({ folder }) => [
      `agent: {${patientAgent}, isolation: none}`,
      'hooks:',
      '  timeout_ms: 3000',
      `  before_run: ${JSON.stringify(beforeRun())}`,
      `  after_run: touch '${folder}'/after-"$BATON_ISSUE_IDENTIFIER"`,
    ],
    tickets: {
      root: ticket(),
      outside: ticket(),
      slowHook: ticket(),
      stubborn: {
        isStubborn: true,
        turns: [{ steps: [{ grandchild: true }, { say: 'here to stay' }, { forever: true }] }],
      },
      canceled: { turns: [{ steps: [{ grandchild: true }, { say: 'at work' }, { forever: true }] }] },
    },
  }));
  /** Of a ticket for which no agent was ever started. */
  const refusedRuns = async (name: string): Promise<readonly unknown[]> => {
    await daemon().until('retrying', name);
    expect(daemon().fake(name).trace()).toEqual([]);
    return daemon().runs(name);
  };

  const processesWith = (text: string): number[] =>
    daemon()
      .place.pids()
      .filter((pid) => givenTo(pid).includes(text));

  // @conforms A1
  it('refuses a workspace that is a link to the root, and starts nothing', async () => {
    expect(await refusedRuns('root')).toMatchObject([
      { outcome: 'failed', error_code: 'workspace_symlink_escape', turns: 0 },
    ]);
  });

  // @conforms A2
  it('refuses a workspace that is a link out of the root, and starts nothing', async () => {
    expect(await refusedRuns('outside')).toMatchObject([
      { outcome: 'failed', error_code: 'workspace_symlink_escape', turns: 0 },
    ]);
  });

  // @conforms X5
  it('ends a hook that takes too long, with all its processes', async () => {
    expect(await refusedRuns('slowHook')).toMatchObject([{ outcome: 'failed', error_code: 'workspace_hook_timeout' }]);
    expect(processesWith('sleep\x0299')).toEqual([]);
  });

  // @conforms X6
  it('of a cancelled issue interrupts the turn, runs after_run, and frees the slot when all processes are gone', async () => {
    const id = daemon().idOf('canceled');
    await soon(async () => {
      const { running } = await daemon().status();
      expect(running).toContainEqual(expect.objectContaining({ issue_identifier: id, last_message: 'at work' }));
    });
    expect(processesWith(`BATON_ISSUE_IDENTIFIER=${id}`).length).toBeGreaterThanOrEqual(2);
    await daemon().tell('issue', 'move', id, 'cancelled');
    const runs = await daemon().endedRuns('canceled');
    expect(processesWith(`BATON_ISSUE_IDENTIFIER=${id}`)).toEqual([]);
    expect(runs).toMatchObject([{ outcome: 'canceled_by_reconciliation', error_code: 'run_cancelled' }]);
    expect(daemon().fake('canceled').sent('turn/interrupt')).toHaveLength(1);
    expect(existsSync(`${daemon().place.folder}/after-${id}`)).toBe(true);
  });

  // @conforms X5
  it('ends an agent that ignores closed input and signals, with its grandchild', async () => {
    const id = daemon().idOf('stubborn');
    await soon(async () => {
      const { running } = await daemon().status();
      expect(running).toContainEqual(expect.objectContaining({ issue_identifier: id, last_message: 'here to stay' }));
    });
    await daemon().tell('issue', 'stop', id);
    expect(await daemon().endedRuns('stubborn')).toMatchObject([{ outcome: 'canceled_by_reconciliation' }]);
    expect(processesWith(`BATON_ISSUE_IDENTIFIER=${id}`)).toEqual([]);
  });
});

/** Puts something else in the place of two workspaces, and never ends for a third. */
function beforeRun(): string {
  const instead = 'cd .. && rm -rf "$BATON_WORKSPACE" &&';
  return [
    'case "$BATON_ISSUE_TITLE" in',
    `  root) ${instead} ln -s . "$BATON_WORKSPACE" ;;`,
    `  outside) mkdir -p ../../outside && ${instead} ln -s ../outside "$BATON_WORKSPACE" ;;`,
    '  slowHook) (setsid sleep 299 &); sleep 299 ;;',
    'esac',
  ].join('\n');
}

/** What a process was given: its environment and its arguments. Empty when it has ended since it was found. */
function givenTo(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8') + readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function peakMemoryMb(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
